//! Serving over TCP (RFC 7766): many connections, many queries on each, each answer after its time.

use super::accounts::Accounts;
use super::delayed::Delayed;
use super::{STOP_CHECK, Service};
use crate::InternetError;
use crate::answer::{Arrived, Scratch};
use dnsrig_answer::Transport;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Events taken from the system at once.
const EVENTS: usize = 256;
/// Octets of the length before each message (RFC 1035 section 4.2.2).
const LENGTH_LEN: usize = 2;
const MESSAGE_LEN: usize = 65_535;
/// With this many octets waiting to be sent or for their time, no more is read from a connection.
const PENDING_MAX: usize = 1 << 17;

struct Connection {
    stream: TcpStream,
    /// The address that it was made to.
    server: IpAddr,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    sent: usize,
    /// Octets of answers that wait for their time.
    delayed: usize,
    /// The client sends no more.
    is_ended: bool,
    /// When it was made, counted from the beginning of the service.
    made: Duration,
    used: Instant,
}

/// An answer after its length, and the connection that it is for.
struct Waiting {
    token: Token,
    octets: Vec<u8>,
}

struct Worker<'a> {
    service: &'a Service,
    registry: Registry,
    open: HashMap<Token, Connection>,
    next_token: usize,
    delayed: Delayed<Waiting>,
    scratch: Scratch,
    out: Box<[u8]>,
    accounts: Accounts,
}

fn failed(source: io::Error) -> InternetError {
    InternetError::Socket {
        protocol: "TCP",
        source,
    }
}

/// Accepts connections and answers on them until told to stop.
pub(super) fn run(
    service: &Service,
    listeners: Vec<std::net::TcpListener>,
) -> Result<(), InternetError> {
    let mut poll = Poll::new().map_err(failed)?;
    let mut listeners: Vec<TcpListener> =
        listeners.into_iter().map(TcpListener::from_std).collect();
    for (place, listener) in listeners.iter_mut().enumerate() {
        poll.registry()
            .register(listener, Token(place), Interest::READABLE)
            .map_err(failed)?;
    }
    let mut worker = Worker {
        service,
        registry: poll.registry().try_clone().map_err(failed)?,
        open: HashMap::new(),
        next_token: listeners.len(),
        delayed: Delayed::new(service.beat.unwrap_or(super::SHORTEST_BEAT)),
        scratch: Scratch::default(),
        out: vec![0; MESSAGE_LEN].into(),
        accounts: Accounts::default(),
    };
    let mut events = Events::with_capacity(EVENTS);
    let mut callers_wait = false;
    let mut checked = Instant::now();
    while !service.should_stop() {
        let next = worker.delayed.next(service.began.elapsed());
        // epoll waits whole milliseconds; without rounding up it would return at once over and over.
        let next = next.map(|next| next.max(Duration::from_millis(1)));
        let wait = next.map_or(STOP_CHECK, |next| next.min(STOP_CHECK));
        match poll.poll(&mut events, Some(wait)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        }
        let now = Instant::now();
        for event in &events {
            match event.token() {
                Token(place) if place < listeners.len() => callers_wait = true,
                token => worker.advance(token, now),
            }
        }
        if callers_wait {
            callers_wait = worker.accept(&listeners, now).map_err(failed)?;
        }
        worker.send_due(now);
        if checked.elapsed() >= STOP_CHECK {
            checked = now;
            let idle = service.options.idle_timeout;
            worker
                .open
                .retain(|_, connection| now.saturating_duration_since(connection.used) < idle);
            service.hand_on(&mut worker.accounts);
        }
    }
    service.hand_on(&mut worker.accounts);
    Ok(())
}

impl Worker<'_> {
    /// Accepts all connections that wait; whether some still do, for want of descriptors.
    fn accept(&mut self, listeners: &[TcpListener], now: Instant) -> io::Result<bool> {
        for listener in listeners {
            loop {
                let stream = match listener.accept() {
                    Ok((stream, _)) => stream,
                    Err(error) => match (error.kind(), error.raw_os_error()) {
                        (ErrorKind::WouldBlock, _) => break,
                        (ErrorKind::Interrupted | ErrorKind::ConnectionAborted, _) => continue,
                        (_, Some(libc::EMFILE | libc::ENFILE)) => return Ok(true),
                        _ => return Err(error),
                    },
                };
                self.add(stream, now)?;
            }
        }
        Ok(false)
    }

    fn add(&mut self, mut stream: TcpStream, now: Instant) -> io::Result<()> {
        if self.open.len() >= self.service.options.max_connections {
            return Ok(());
        }
        // A connection that is gone already has no address.
        let Ok(local) = stream.local_addr() else {
            return Ok(());
        };
        let _ = stream.set_nodelay(true);
        let token = Token(self.next_token);
        self.next_token += 1;
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.registry.register(&mut stream, token, interest)?;
        let connection = Connection {
            stream,
            server: local.ip(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            sent: 0,
            delayed: 0,
            is_ended: false,
            made: self.service.began.elapsed(),
            used: now,
        };
        self.open.insert(token, connection);
        self.advance(token, now);
        Ok(())
    }

    /// Reads, answers and sends as far as that needs no waiting; a connection that is over is closed.
    fn advance(&mut self, token: Token, now: Instant) {
        let Some(mut connection) = self.open.remove(&token) else {
            return;
        };
        if self.go_on(&mut connection, token, now).is_ok() && !connection.is_over() {
            self.open.insert(token, connection);
        }
    }

    fn go_on(&mut self, connection: &mut Connection, token: Token, now: Instant) -> io::Result<()> {
        loop {
            self.answer_all(connection, token);
            connection.send(now)?;
            if connection.pending() >= PENDING_MAX {
                return Ok(());
            }
            if !connection.has_query() && !connection.read(&mut self.out, now)? {
                return Ok(());
            }
        }
    }

    /// Answers what has come, until too much is pending: one read may hold thousands of queries.
    fn answer_all(&mut self, connection: &mut Connection, token: Token) {
        if !connection.has_query() {
            return;
        }
        let incoming = std::mem::take(&mut connection.incoming);
        let mut rest = &incoming[..];
        while connection.pending() < PENDING_MAX
            && let Some((length, after)) = rest.split_first_chunk::<LENGTH_LEN>()
        {
            let Some((query, after)) = after.split_at_checked(u16::from_be_bytes(*length).into())
            else {
                break;
            };
            rest = after;
            self.answer(connection, token, query);
        }
        connection.incoming = rest.to_vec();
    }

    fn answer(&mut self, connection: &mut Connection, token: Token, query: &[u8]) {
        let now = self.service.began.elapsed();
        let arrived = Arrived {
            server: connection.server,
            transport: Transport::Tcp,
            message: query,
            now,
        };
        let answer = self
            .service
            .internet
            .answer(&arrived, &mut self.scratch, &mut self.out);
        self.accounts.add(&answer, query.len(), true, &self.out);
        let Some(len) = answer.len else {
            return;
        };
        let is_full = self.delayed.octets() >= self.service.options.delayed_octets_max;
        if !answer.delay.is_zero() && is_full {
            self.service.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let octets = [&(len as u16).to_be_bytes(), &self.out[..len]].concat();
        if answer.delay.is_zero() {
            connection.outgoing.extend_from_slice(&octets);
            return;
        }
        let waiting = octets.len();
        connection.delayed += waiting;
        // The system makes connections at once; from that far away, the query could not have left before its client had heard
        // that there is one, a way there and back later.
        let came = now.max(connection.made + answer.delay);
        self.delayed.put(
            came + answer.delay,
            // Few come by TCP: to let them leave together saves nothing.
            Duration::ZERO,
            Waiting { token, octets },
            waiting,
        );
    }

    fn send_due(&mut self, now: Instant) {
        let mut due = Vec::new();
        self.delayed
            .take_due(self.service.began.elapsed(), |waiting| due.push(waiting));
        for Waiting { token, octets } in due {
            if let Some(connection) = self.open.get_mut(&token) {
                connection.delayed -= octets.len();
                connection.outgoing.extend_from_slice(&octets);
                self.advance(token, now);
            }
        }
    }
}

impl Connection {
    fn pending(&self) -> usize {
        self.outgoing.len() - self.sent + self.delayed
    }

    fn is_over(&self) -> bool {
        self.is_ended && self.pending() == 0
    }

    /// Whether a whole query has come that is not answered yet.
    fn has_query(&self) -> bool {
        let length = self.incoming.split_first_chunk::<LENGTH_LEN>();
        length
            .is_some_and(|(length, after)| after.len() >= usize::from(u16::from_be_bytes(*length)))
    }

    fn send(&mut self, now: Instant) -> io::Result<()> {
        while self.sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => {
                    self.sent += len;
                    self.used = now;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.outgoing.clear();
        self.sent = 0;
        Ok(())
    }

    /// Reads what has come; whether there was anything.
    fn read(&mut self, buffer: &mut [u8], now: Instant) -> io::Result<bool> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => {
                    self.is_ended = true;
                    return Ok(false);
                }
                Ok(len) => {
                    self.incoming.extend_from_slice(&buffer[..len]);
                    self.used = now;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::serve::accounts::ServedBy;
    use crate::serve::{InternetServer, Responding, ServeOptions};
    use crate::servers::ServerId;
    use std::net::Ipv4Addr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    const ANSWER_LEN: usize = 4000;
    const ASKED: usize = 2000;

    /// A server with long answers, which begin as the query does.
    struct Long(Duration);

    impl Responding for Long {
        fn answer(&self, arrived: &Arrived<'_>, _: &mut Scratch, out: &mut [u8]) -> Answer {
            out[..ANSWER_LEN].fill(0);
            out[..arrived.message.len()].copy_from_slice(arrived.message);
            Answer {
                len: Some(ANSWER_LEN),
                delay: self.0,
                server: None,
                rtype: 0,
            }
        }

        fn has_ipv6(&self) -> bool {
            false
        }

        fn nearest(&self) -> Option<Duration> {
            (!self.0.is_zero()).then_some(self.0)
        }

        fn served_by(&self, _: ServerId) -> ServedBy {
            unreachable!("no query is to a server with a number")
        }

        fn signatures_made(&self) -> u64 {
            0
        }

        fn zones_made(&self) -> u64 {
            0
        }

        fn octets(&self) -> usize {
            0
        }
    }

    /// Sends all queries at once, reads nothing before they are sent, and then all answers.
    fn ask_all_at_once(delay: Duration) {
        let options = ServeOptions {
            port: 0,
            threads: NonZeroUsize::MIN,
            on_loopback: true,
            ..ServeOptions::new()
        };
        let mut server = InternetServer::start(Arc::new(Long(delay)), options).unwrap();
        let mut client =
            std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, server.port())).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let queries: Vec<u8> = (0..ASKED)
            .flat_map(|number| {
                let mut query = [0; 2 + 12];
                query[1] = 12;
                query[2..4].copy_from_slice(&(number as u16).to_be_bytes());
                query
            })
            .collect();
        client.write_all(&queries).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut numbers = Vec::new();
        let mut answer = [0; 2 + ANSWER_LEN];
        for _ in 0..ASKED {
            client.read_exact(&mut answer).unwrap();
            assert_eq!(answer[..2], (ANSWER_LEN as u16).to_be_bytes());
            numbers.push(u16::from_be_bytes([answer[2], answer[3]]));
        }
        // It is closed once all is answered.
        assert_eq!(client.read(&mut answer).unwrap(), 0);
        assert_eq!(numbers, (0..ASKED as u16).collect::<Vec<_>>());
        assert_eq!(server.dropped(), 0);
        server.stop().unwrap();
    }

    #[test]
    fn all_that_came_at_once_is_answered_in_parts() {
        ask_all_at_once(Duration::ZERO);
    }

    #[test]
    fn so_is_what_has_to_wait_for_its_time() {
        ask_all_at_once(Duration::from_millis(20));
    }
}

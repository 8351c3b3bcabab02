//! TCP: pipelined queries, answers in any order, connections made when needed and made again when closed (RFC 7766).

use super::epoll::{Epoll, Ready};
use super::frame::{self, FrameReader};
use super::{Events, Handshake, SessionEvent, Transport, TransportTotals};
use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::Clock;
use crate::refusal::Refusal;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// A client takes no further query while it has more than this to write: the server does not read.
const UNWRITTEN_LIMIT: usize = 64 * 1024;

/// Octets taken from a connection by one system call.
const READ_LEN: usize = 256 * 1024;

/// After a failed attempt a client waits this long before the next.
const RETRY_NS: u64 = 50_000_000;

/// An attempt that has not succeeded after this time has failed: the kernel alone would try for minutes.
const CONNECT_TIMEOUT_NS: u64 = 3_000_000_000;

/// Written octets are kept until there are this many, since dropping them moves those behind.
const WRITTEN_KEPT: usize = 64 * 1024;

/// What a client's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is none; none is tried before this time.
    Closed { retry_ns: u64 },
    /// The handshake is under way.
    Connecting,
    /// Queries may be written.
    Open,
    /// Nothing can be written any more; what has arrived is still to be read.
    Ending,
}

struct Client {
    socket: Option<Socket>,
    state: State,
    outgoing: Vec<u8>,
    written: usize,
    frames: FrameReader,
    /// Attempts to connect so far.
    attempts: u64,
    /// When the last one began.
    tried_ns: u64,
    /// The server has sent something over this connection.
    heard: bool,
    /// Has queries that `flush` is to look at.
    queued: bool,
    /// Whether epoll was told to watch for room to write.
    wants_room: bool,
}

impl Client {
    fn new() -> Self {
        Self {
            socket: None,
            state: State::Closed { retry_ns: 0 },
            outgoing: Vec::new(),
            written: 0,
            frames: FrameReader::default(),
            attempts: 0,
            tried_ns: 0,
            heard: false,
            queued: false,
            wants_room: false,
        }
    }

    fn close(&mut self, retry_ns: u64) {
        self.socket = None;
        self.state = State::Closed { retry_ns };
        self.outgoing.clear();
        self.written = 0;
        self.frames.reset();
        self.heard = false;
        self.wants_room = false;
    }

    fn unwritten(&self) -> usize {
        self.outgoing.len() - self.written
    }

    /// Writes as much as the kernel takes.
    fn write(&mut self) {
        let Some(socket) = &mut self.socket else {
            return;
        };
        while self.written < self.outgoing.len() {
            match socket.write(&self.outgoing[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.written >= WRITTEN_KEPT {
                        self.outgoing.drain(..self.written);
                        self.written = 0;
                    }
                    return;
                }
                Err(_) => {
                    self.state = State::Ending;
                    break;
                }
            }
        }
        self.outgoing.clear();
        self.written = 0;
    }
}

/// TCP clients: each has at most one connection at a time.
pub struct Tcp {
    server: SocketAddr,
    clients: Vec<Client>,
    epoll: Epoll,
    /// Clients with `queued` set.
    queued: Vec<usize>,
    incoming: Vec<u8>,
    /// When it last looked what has arrived.
    now_ns: u64,
    /// When clients that pause may connect again; in order, since all pauses have one length.
    pauses_ns: VecDeque<u64>,
    /// When attempts to connect have failed at the latest, of which client, and its number; in order.
    deadlines: VecDeque<(u64, usize, u64)>,
}

impl Tcp {
    /// Makes `clients` clients, none of them connected yet.
    ///
    /// # Errors
    /// [`LoadError::System`]
    pub fn open(server: SocketAddr, clients: usize) -> Result<Self, LoadError> {
        Ok(Self {
            server,
            clients: (0..clients).map(|_| Client::new()).collect(),
            epoll: Epoll::new()
                .map_err(|error| LoadError::system("making an epoll instance", error))?,
            queued: Vec::new(),
            incoming: vec![0; READ_LEN],
            now_ns: 0,
            pauses_ns: VecDeque::new(),
            deadlines: VecDeque::new(),
        })
    }

    fn connect(&mut self, index: usize, now_ns: u64, events: &mut impl Events) {
        events.session(index, SessionEvent::Tried);
        match start_connecting(self.server) {
            Ok(socket) if self.epoll.watch(socket.as_fd(), index, true, false).is_ok() => {
                let client = &mut self.clients[index];
                client.socket = Some(socket);
                client.state = State::Connecting;
                client.wants_room = true;
                client.attempts += 1;
                client.tried_ns = now_ns;
                let deadline_ns = now_ns + CONNECT_TIMEOUT_NS;
                self.deadlines
                    .push_back((deadline_ns, index, client.attempts));
            }
            Ok(_) => self.fail(index, now_ns, Refusal::Send, events),
            Err(error) => self.fail(index, now_ns, refusal_of(&error), events),
        }
    }

    fn fail(&mut self, index: usize, now_ns: u64, refusal: Refusal, events: &mut impl Events) {
        events.session(index, SessionEvent::Failed(refusal));
        self.pause(index, now_ns);
        events.all_refused(index, refusal);
    }

    fn pause(&mut self, index: usize, now_ns: u64) {
        let retry_ns = now_ns + RETRY_NS;
        self.clients[index].close(retry_ns);
        self.pauses_ns.push_back(retry_ns);
    }

    /// A connection has ended. If the server never used it, the client pauses before the next.
    fn lose(&mut self, index: usize, by_peer: bool, now_ns: u64, events: &mut impl Events) {
        if by_peer {
            events.session(index, SessionEvent::ClosedByPeer);
        }
        if self.clients[index].frames.is_inside_message() {
            events.malformed(index, Malformed::Cut);
        }
        if self.clients[index].heard {
            self.clients[index].close(0);
        } else {
            self.pause(index, now_ns);
        }
        events.all_refused(index, Refusal::ConnectionLost);
    }

    /// Ends attempts to connect that have taken too long, and forgets pauses that are over.
    fn pass_time(&mut self, events: &mut impl Events) {
        let now_ns = self.now_ns;
        while self
            .pauses_ns
            .front()
            .is_some_and(|end_ns| *end_ns <= now_ns)
        {
            self.pauses_ns.pop_front();
        }
        while let Some(&(deadline_ns, index, attempt)) = self.deadlines.front()
            && deadline_ns <= now_ns
        {
            self.deadlines.pop_front();
            let client = &self.clients[index];
            if client.state == State::Connecting && client.attempts == attempt {
                self.fail(index, now_ns, Refusal::ConnectFailed, events);
            }
        }
    }

    fn flush_client(&mut self, index: usize, clock: &impl Clock, events: &mut impl Events) {
        match self.clients[index].state {
            State::Closed { retry_ns } => {
                let now_ns = clock.now_ns();
                if now_ns >= retry_ns {
                    self.connect(index, now_ns, events);
                } else {
                    self.clients[index].outgoing.clear();
                    events.all_refused(index, Refusal::ConnectFailed);
                }
            }
            State::Open => self.write(index),
            State::Connecting | State::Ending => {}
        }
    }

    /// Writes, and watches for room as long as something is left.
    fn write(&mut self, index: usize) {
        let client = &mut self.clients[index];
        client.write();
        let wants_room = client.unwritten() > 0;
        if let (true, Some(socket)) = (wants_room != client.wants_room, &client.socket) {
            // If this fails, the queries that wait for room time out; nothing hangs.
            let _ = self.epoll.watch(socket.as_fd(), index, wants_room, true);
            client.wants_room = wants_room;
        }
    }

    /// Takes what a connection is ready for; says whether all that had arrived was read.
    fn handle(&mut self, ready: Ready, clock: &impl Clock, events: &mut impl Events) -> bool {
        let index = ready.client;
        if self.clients[index].state == State::Connecting {
            let error = self.clients[index]
                .socket
                .as_ref()
                .map(|socket| socket.take_error().unwrap_or_else(Some));
            if let Some(Some(error)) = error {
                let refusal = refusal_of(&error);
                self.fail(index, clock.now_ns(), refusal, events);
                return true;
            }
            if !ready.writable {
                return true;
            }
            let client = &mut self.clients[index];
            client.state = State::Open;
            let opened = SessionEvent::Opened {
                handshake_ns: clock.now_ns().saturating_sub(client.tried_ns),
                kind: Handshake::Plain,
            };
            events.session(index, opened);
        }
        if ready.writable && self.clients[index].state == State::Open {
            self.write(index);
        }
        self.read(index, clock, events)
    }

    /// Reads once; says whether that was all there was.
    fn read(&mut self, index: usize, clock: &impl Clock, events: &mut impl Events) -> bool {
        let client = &mut self.clients[index];
        let Some(socket) = &mut client.socket else {
            return true;
        };
        match socket.read(&mut self.incoming) {
            Ok(0) => self.lose(index, true, clock.now_ns(), events),
            Ok(count) => {
                let now_ns = clock.now_ns();
                client.heard = true;
                client.frames.feed(&self.incoming[..count], |message| {
                    events.answer(index, message, now_ns)
                });
                return count < READ_LEN;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => {
                let by_peer = matches!(
                    error.kind(),
                    ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
                );
                self.lose(index, by_peer, clock.now_ns(), events);
            }
        }
        true
    }
}

impl Transport for Tcp {
    const STAMPS_ARRIVAL: bool = false;

    fn clients(&self) -> usize {
        self.clients.len()
    }

    fn has_room(&self, client: usize) -> bool {
        let client = &self.clients[client];
        match client.state {
            State::Closed { retry_ns } => retry_ns <= self.now_ns,
            State::Ending => false,
            State::Connecting | State::Open => client.unwritten() < UNWRITTEN_LIMIT,
        }
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        let queued = &mut self.clients[client];
        frame::append(&mut queued.outgoing, id, message);
        if !queued.queued {
            queued.queued = true;
            self.queued.push(client);
        }
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        while let Some(index) = self.queued.pop() {
            self.clients[index].queued = false;
            self.flush_client(index, clock, events);
        }
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        let mut drained = self.epoll.look();
        while let Some(ready) = self.epoll.next_ready() {
            drained &= self.handle(ready, clock, events);
        }
        self.now_ns = clock.now_ns();
        self.pass_time(events);
        drained
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        let until_ns = until_ns.min(self.due_ns());
        self.epoll.wait(until_ns.saturating_sub(clock.now_ns()));
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn due_ns(&self) -> u64 {
        let pause_end_ns = self.pauses_ns.front().copied();
        let deadline_ns = self.deadlines.front().map(|deadline| deadline.0);
        let never = u64::MAX;
        pause_end_ns
            .unwrap_or(never)
            .min(deadline_ns.unwrap_or(never))
    }

    fn totals(&self) -> TransportTotals {
        TransportTotals::default()
    }
}

/// A local error, such as no port or descriptor being left, is none of the server's.
fn refusal_of(error: &io::Error) -> Refusal {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED | libc::ECONNRESET | libc::ETIMEDOUT) => Refusal::ConnectFailed,
        Some(libc::EHOSTUNREACH | libc::ENETUNREACH) => Refusal::Unreachable,
        _ => Refusal::Send,
    }
}

fn start_connecting(server: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(server),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&server.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_does_not_make_the_buffer_grow() {
        // A pair of Unix sockets is a byte stream, too, and has no timers that make a full window slow.
        let (socket, mut reader) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut client = Client::new();
        client.socket = Some(socket);
        client.state = State::Open;
        let message = [7; 512];
        let mut taken = vec![0; 16 * 1024];
        for _ in 0..1_000 {
            while client.unwritten() < UNWRITTEN_LIMIT {
                frame::append(&mut client.outgoing, 1, &message);
            }
            client.write();
            reader.read_exact(&mut taken).unwrap();
        }
        let len = client.outgoing.len();
        assert!(len < WRITTEN_KEPT + UNWRITTEN_LIMIT + 1_024, "{len} octets");
    }
}

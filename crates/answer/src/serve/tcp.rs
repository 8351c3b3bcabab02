//! Serving over TCP (RFC 7766): many connections, many queries on each.

use super::connection::{Connection, State};
use super::counters::Tally;
use super::shared::Follower;
use super::{STOP_CHECK, Service};
use crate::{AnswerError, Scratch};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
/// Events taken from the system at once.
const EVENTS: usize = 256;
/// How often connections are checked for being idle.
const IDLE_CHECK: Duration = Duration::from_millis(500);
/// How long to wait for others to close when the process has no file descriptor left.
const OUT_OF_DESCRIPTORS_PAUSE: Duration = Duration::from_millis(10);

/// Memory for reading and answering, shared by the connections of a thread.
pub(super) struct Workspace<'a> {
    pub follower: Follower<'a>,
    pub scratch: Scratch,
    pub tally: Tally,
    /// Where a response is written, 65,535 octets.
    pub response: Box<[u8]>,
    /// Where octets are read to.
    pub incoming: Box<[u8]>,
}

/// Accepts connections on one listener and answers on them until told to stop.
pub(super) fn run(
    service: &Service<'_>,
    listener: std::net::TcpListener,
) -> Result<(), AnswerError> {
    let failed = service.socket_error("TCP");
    let mut listener = TcpListener::from_std(listener);
    let mut poll = Poll::new().map_err(&failed)?;
    poll.registry()
        .register(&mut listener, LISTENER, Interest::READABLE)
        .map_err(&failed)?;
    let mut events = Events::with_capacity(EVENTS);
    let mut next_token = 0;
    let mut connections = Connections {
        service,
        open: HashMap::new(),
        busy: Vec::new(),
    };
    let mut idle_check = Instant::now();
    let mut workspace = Workspace {
        follower: Follower::new(service.responder),
        scratch: Scratch::default(),
        tally: Tally::default(),
        response: vec![0; usize::from(u16::MAX)].into(),
        incoming: vec![0; usize::from(u16::MAX)].into(),
    };
    while !service.should_stop() {
        let wait = if connections.busy.is_empty() {
            STOP_CHECK
        } else {
            Duration::ZERO
        };
        match poll.poll(&mut events, Some(wait)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        }
        let now = Instant::now();
        for token in std::mem::take(&mut connections.busy) {
            connections.advance(token, &mut workspace, now);
        }
        for event in &events {
            if event.token() != LISTENER {
                connections.advance(event.token(), &mut workspace, now);
                continue;
            }
            let accepted = accept(service, &listener, &mut workspace.tally, |mut stream| {
                let token = Token(next_token);
                next_token += 1;
                poll.registry().register(
                    &mut stream,
                    token,
                    Interest::READABLE | Interest::WRITABLE,
                )?;
                connections.open.insert(token, Connection::new(stream, now));
                Ok(())
            });
            accepted.map_err(&failed)?;
        }
        if now - idle_check >= IDLE_CHECK {
            idle_check = now;
            connections.close_idle(now);
        }
        workspace.tally.add_to(service.counters);
    }
    Ok(())
}

/// The open connections of a thread.
struct Connections<'a> {
    service: &'a Service<'a>,
    open: HashMap<Token, Connection>,
    /// Those that have more to do without waiting.
    busy: Vec<Token>,
}

impl Connections<'_> {
    fn advance(&mut self, token: Token, workspace: &mut Workspace<'_>, now: Instant) {
        let Some(connection) = self.open.get_mut(&token) else {
            return;
        };
        match connection.advance(workspace, now) {
            State::Waiting => {}
            State::Busy => self.busy.push(token),
            State::Closed => {
                self.open.remove(&token);
                self.service.connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn close_idle(&mut self, now: Instant) {
        let before = self.open.len();
        self.open
            .retain(|_, connection| connection.idle(now) < self.service.config.idle_timeout);
        let closed = before - self.open.len();
        self.service
            .connections
            .fetch_sub(closed, Ordering::Relaxed);
    }
}

/// Accepts all connections that wait; those above the limit are closed at once.
fn accept(
    service: &Service<'_>,
    listener: &TcpListener,
    tally: &mut Tally,
    mut add: impl FnMut(TcpStream) -> std::io::Result<()>,
) -> std::io::Result<()> {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => match (error.kind(), error.raw_os_error()) {
                (ErrorKind::WouldBlock, _) => return Ok(()),
                (ErrorKind::Interrupted | ErrorKind::ConnectionAborted, _) => continue,
                (_, Some(libc::EMFILE | libc::ENFILE)) => {
                    std::thread::sleep(OUT_OF_DESCRIPTORS_PAUSE);
                    if service.should_stop() {
                        return Ok(());
                    }
                    continue;
                }
                _ => return Err(error),
            },
        };
        if service.connections.fetch_add(1, Ordering::Relaxed) >= service.config.max_connections {
            service.connections.fetch_sub(1, Ordering::Relaxed);
            tally.counts.connections_refused += 1;
            continue;
        }
        tally.counts.connections += 1;
        // Responses are written whole; waiting to fill a segment only delays them.
        let _ = stream.set_nodelay(true);
        add(stream)?;
    }
}

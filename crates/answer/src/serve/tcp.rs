//! Serving over TCP (RFC 7766): many connections, many queries on each.

use super::connection::{Connection, State};
use super::counters::Tally;
use super::shared::Follower;
use super::{STOP_CHECK, Service};
use crate::{AnswerError, Scratch};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
/// Events taken from the system at once.
const EVENTS: usize = 256;
/// How often connections are checked for being idle.
const IDLE_CHECK: Duration = Duration::from_millis(500);

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
    let mut connections = Connections {
        service,
        listener,
        registry: poll.registry().try_clone().map_err(&failed)?,
        callers_wait: false,
        next_token: 0,
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
            match event.token() {
                LISTENER => connections.callers_wait = true,
                token => connections.advance(token, &mut workspace, now),
            }
        }
        connections
            .accept(&mut workspace.tally, now)
            .map_err(&failed)?;
        if now - idle_check >= IDLE_CHECK {
            idle_check = now;
            connections.close_idle(now);
        }
        workspace.tally.add_to(service.counters);
    }
    Ok(())
}

/// The open connections of a thread, and the listener that new ones come from.
struct Connections<'a> {
    service: &'a Service<'a>,
    listener: TcpListener,
    registry: Registry,
    /// There may be connections to accept; the system says so once.
    callers_wait: bool,
    next_token: usize,
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

    /// Accepts all connections that wait; those above the limit are closed at once.
    ///
    /// Without a file descriptor left they go on waiting until others are closed.
    fn accept(&mut self, tally: &mut Tally, now: Instant) -> io::Result<()> {
        while self.callers_wait {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => match (error.kind(), error.raw_os_error()) {
                    (ErrorKind::WouldBlock, _) => {
                        self.callers_wait = false;
                        return Ok(());
                    }
                    (ErrorKind::Interrupted | ErrorKind::ConnectionAborted, _) => continue,
                    (_, Some(libc::EMFILE | libc::ENFILE)) => return Ok(()),
                    _ => return Err(error),
                },
            };
            let open = &self.service.connections;
            if open.fetch_add(1, Ordering::Relaxed) >= self.service.config.max_connections {
                open.fetch_sub(1, Ordering::Relaxed);
                tally.counts.connections_refused += 1;
                continue;
            }
            tally.counts.connections += 1;
            self.add(stream, now)?;
        }
        Ok(())
    }

    fn add(&mut self, mut stream: TcpStream, now: Instant) -> io::Result<()> {
        // Responses are written whole; waiting to fill a segment only delays them.
        let _ = stream.set_nodelay(true);
        let token = Token(self.next_token);
        self.next_token += 1;
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.registry.register(&mut stream, token, interest)?;
        self.open.insert(token, Connection::new(stream, now));
        Ok(())
    }
}

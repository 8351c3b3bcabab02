//! Serving over TCP (RFC 7766), and over TLS on it (RFC 7858, RFC 8484): many connections, many queries on each.

use super::certificate::{Certificate, tickets};
use super::connection::{Connection, Session, State};
use super::framed::Framed;
use super::http::Http;
use super::link::Link;
use super::workspace::Workspace;
use super::{STOP_CHECK, Service, socket_error};
use crate::{AnswerError, Transport};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Poll, Registry, Token};
use rustls::ServerConfig;
use rustls::version::{TLS12, TLS13};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
/// Events taken from the system at once.
const EVENTS: usize = 256;
/// How often connections are checked for being idle.
const IDLE_CHECK: Duration = Duration::from_millis(500);

/// What is spoken on TCP connections.
#[derive(Clone)]
pub(super) enum Protocol {
    /// DNS as it is.
    Dns,
    /// DNS over TLS.
    Dot(Arc<ServerConfig>),
    /// DNS over HTTPS.
    Doh(Arc<ServerConfig>),
}

impl Protocol {
    pub fn dot(certificate: &Certificate) -> Result<Self, AnswerError> {
        let tls = certificate.tls(b"dot", &[&TLS13, &TLS12], tickets()?)?;
        Ok(Self::Dot(Arc::new(tls)))
    }

    pub fn doh(certificate: &Certificate) -> Result<Self, AnswerError> {
        let tls = certificate.tls(b"h2", &[&TLS13, &TLS12], tickets()?)?;
        Ok(Self::Doh(Arc::new(tls)))
    }

    pub fn thread_name(&self) -> &'static str {
        match self {
            Self::Dns => "answer-tcp",
            Self::Dot(_) => "answer-dot",
            Self::Doh(_) => "answer-doh",
        }
    }

    fn connect(
        &self,
        service: &Service<'_>,
        stream: TcpStream,
        now: Instant,
    ) -> Result<Connection, rustls::Error> {
        let (link, session) = match self {
            Self::Dns => (
                Link::plain(stream),
                Session::Framed(Framed::new(Transport::Tcp)),
            ),
            Self::Dot(tls) => (
                Link::tls(stream, Arc::clone(tls))?,
                Session::Framed(Framed::new(Transport::Tls)),
            ),
            Self::Doh(tls) => (
                Link::tls(stream, Arc::clone(tls))?,
                Session::Http(Box::new(Http::new(service.config))),
            ),
        };
        Ok(Connection::new(link, session, now))
    }
}

/// Accepts connections on one listener and answers on them until told to stop.
pub(super) fn run(
    service: &Service<'_>,
    listener: std::net::TcpListener,
    protocol: &Protocol,
) -> Result<(), AnswerError> {
    let address = listener.local_addr();
    let address = address.unwrap_or(service.config.address);
    let failed = socket_error("TCP", address);
    let mut listener = TcpListener::from_std(listener);
    let mut poll = Poll::new().map_err(&failed)?;
    poll.registry()
        .register(&mut listener, LISTENER, mio::Interest::READABLE)
        .map_err(&failed)?;
    let mut events = Events::with_capacity(EVENTS);
    let mut connections = Connections {
        service,
        protocol,
        listener,
        registry: poll.registry().try_clone().map_err(&failed)?,
        callers_wait: false,
        next_token: 0,
        open: HashMap::new(),
        busy: Vec::new(),
    };
    let mut idle_check = Instant::now();
    let mut workspace = Workspace::new(service);
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
        connections.accept(&mut workspace, now).map_err(&failed)?;
        if now - idle_check >= IDLE_CHECK {
            idle_check = now;
            let timeout = service.config.idle_timeout;
            connections.close_where(&mut workspace, |connection| connection.idle(now) >= timeout);
        }
        workspace.tally.add_to(service.counters);
    }
    connections.close_where(&mut workspace, |_| true);
    workspace.tally.add_to(service.counters);
    Ok(())
}

/// The open connections of a thread, and the listener that new ones come from.
struct Connections<'a> {
    service: &'a Service<'a>,
    protocol: &'a Protocol,
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
                if let Some(connection) = self.open.remove(&token) {
                    connection.close(workspace);
                    self.service.release_connections(1);
                }
            }
        }
    }

    fn close_where(
        &mut self,
        workspace: &mut Workspace<'_>,
        mut condition: impl FnMut(&Connection) -> bool,
    ) {
        let closed = self.open.extract_if(|_, connection| condition(connection));
        let closed = closed.map(|(_, connection)| connection.close(workspace));
        self.service.release_connections(closed.count());
    }

    /// Accepts all connections that wait; those above the limit are closed at once.
    ///
    /// Without a file descriptor left they go on waiting until others are closed.
    fn accept(&mut self, workspace: &mut Workspace<'_>, now: Instant) -> io::Result<()> {
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
            let counts = &mut workspace.tally.counts;
            if !self.service.admit_connection() {
                counts.connections_refused += 1;
                continue;
            }
            counts.connections += 1;
            self.add(stream, workspace, now)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        stream: TcpStream,
        workspace: &mut Workspace<'_>,
        now: Instant,
    ) -> io::Result<()> {
        // Responses are written whole; waiting to fill a segment only delays them.
        let _ = stream.set_nodelay(true);
        let token = Token(self.next_token);
        self.next_token += 1;
        match self.protocol.connect(self.service, stream, now) {
            Ok(mut connection) => {
                connection.register(&self.registry, token)?;
                self.open.insert(token, connection);
            }
            // Without random octets from the system there is no TLS, for this client at least.
            Err(_) => {
                workspace.tally.counts.handshakes_failed += 1;
                self.service.release_connections(1);
            }
        }
        Ok(())
    }
}

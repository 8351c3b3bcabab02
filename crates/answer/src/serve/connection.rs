//! One TCP connection: what comes in goes to the protocol spoken on it, and its responses go out.

use super::framed::Framed;
use super::http::Http;
use super::link::Link;
use super::outgoing::Outgoing;
use super::workspace::Workspace;
use mio::{Registry, Token};
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// Rounds of reading, answering and sending before other connections have their turn.
const ROUNDS: usize = 16;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for the client.
    Waiting,
    /// It has more to do at once.
    Busy,
    /// It is over.
    Closed,
}

/// What is spoken on a connection.
pub(super) enum Session {
    Framed(Framed),
    Http(Box<Http>),
}

pub(super) struct Connection {
    link: Link,
    session: Session,
    outgoing: Outgoing,
    /// The client has closed its side.
    ended: bool,
    last_active: Instant,
}

impl Connection {
    pub fn new(link: Link, session: Session, now: Instant) -> Self {
        Self {
            link,
            session,
            outgoing: Outgoing::default(),
            ended: false,
            last_active: now,
        }
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.link.register(registry, token)
    }

    /// How long nothing has come in or gone out.
    pub fn idle(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last_active)
    }

    /// Reads, answers and sends as much as can be without waiting, up to a fair share.
    pub fn advance(&mut self, workspace: &mut Workspace<'_>, now: Instant) -> State {
        for _ in 0..ROUNDS {
            let Ok(progress) = self.round(workspace) else {
                return State::Closed;
            };
            if self.link.take_moved() {
                self.last_active = now;
            }
            // The system reports readiness once, so only a round without any progress may be the last.
            if !progress {
                return self.state();
            }
        }
        State::Busy
    }

    fn state(&mut self) -> State {
        let over = self.ended || self.session.is_over();
        match over && self.outgoing.is_empty() && !matches!(self.link.flush(), Ok(false)) {
            true => State::Closed,
            false => State::Waiting,
        }
    }

    /// Does everything once; whether that changed anything.
    fn round(&mut self, workspace: &mut Workspace<'_>) -> io::Result<bool> {
        let handshaking = self.link.is_handshaking();
        let answered = !handshaking && self.session.answer(workspace, &mut self.outgoing);
        let flushed = self.link.flush()?;
        let sent = flushed && self.outgoing.send(&mut self.link)?;
        let wants_more = self.outgoing.has_room() && !self.ended && !self.session.is_over();
        let received = wants_more && self.receive(workspace)?;
        let greeted = handshaking && !self.link.is_handshaking();
        Ok(answered || sent || received || greeted)
    }

    /// Reads once; whether there was anything, the end included.
    fn receive(&mut self, workspace: &mut Workspace<'_>) -> io::Result<bool> {
        match self
            .link
            .read(&mut workspace.incoming, &mut workspace.tally)
        {
            Ok(0) => {
                self.ended = true;
                self.session.end();
            }
            Ok(len) => self.session.receive(&workspace.incoming[..len]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Takes leave of the client, without waiting for it.
    pub fn close(mut self, workspace: &mut Workspace<'_>) {
        if self.link.is_handshaking() {
            workspace.tally.counts.handshakes_failed += 1;
            return;
        }
        if let Session::Http(http) = &mut self.session {
            http.go_away(&mut self.outgoing);
        }
        // The client may be gone already.
        if self.outgoing.send(&mut self.link).is_ok() {
            self.link.close();
        }
    }
}

impl Session {
    fn receive(&mut self, octets: &[u8]) {
        match self {
            Self::Framed(framed) => framed.receive(octets),
            Self::Http(http) => http.receive(octets),
        }
    }

    /// The client sends nothing more.
    fn end(&mut self) {
        if let Self::Http(http) = self {
            http.end();
        }
    }

    fn answer(&mut self, workspace: &mut Workspace<'_>, outgoing: &mut Outgoing) -> bool {
        match self {
            Self::Framed(framed) => framed.answer(workspace, outgoing),
            Self::Http(http) => outgoing.has_room() && http.answer(workspace, outgoing),
        }
    }

    /// Whether nothing more will be said on it.
    fn is_over(&self) -> bool {
        match self {
            Self::Framed(_) => false,
            Self::Http(http) => http.is_over(),
        }
    }
}

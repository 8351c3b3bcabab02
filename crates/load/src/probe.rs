//! One query before the load: is anything there that answers?

use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::{Clock, MonotonicClock};
use crate::config::{Route, TransportKind};
use crate::refusal::Refusal;
use crate::transport::{AnyTransport, Events, HandshakeFault, Mix, SessionEvent, Transport};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Queries sent before the server is called silent.
const ATTEMPTS: u32 = 3;

/// Wait for each of them.
const WAIT: Duration = Duration::from_secs(1);

/// Wait for all of them.
const WHOLE_WAIT: Duration = Duration::from_secs(WAIT.as_secs() * ATTEMPTS as u64);

/// Longest time without a look at the cancel flag.
const CANCEL_CHECK_NS: u64 = 50_000_000;

/// What the probe saw.
#[derive(Default)]
struct Seen {
    /// Any message, or the end of an open session: judging those is the load's business.
    alive: bool,
    refusal: Option<Refusal>,
    stage: Stage,
    fault: Option<HandshakeFault>,
}

/// How far the session has come that is to carry the query.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// There is none, as over UDP, or it is open.
    #[default]
    Ready,
    /// It has been tried.
    Tried,
    /// TCP's handshake is over, that of TLS is not.
    Connected,
}

impl Seen {
    /// Why nothing answers, where it is more than silence.
    fn trouble(&self, transport: TransportKind) -> Option<(Refusal, String)> {
        if let Some(refusal) = self.refusal {
            let meaning = refusal.meaning();
            let reason = match self.fault {
                Some(fault) => format!("{meaning}: {fault}"),
                None => meaning.to_owned(),
            };
            return Some((refusal, reason));
        }
        match self.stage {
            Stage::Connected => Some((
                Refusal::HandshakeTimedOut,
                format!(
                    "the connection was accepted, but the TLS handshake not completed within {} s, as at a port for \
                     DNS over TCP",
                    WHOLE_WAIT.as_secs()
                ),
            )),
            // Nothing that comes back over UDP says that a server is there.
            Stage::Tried if transport != TransportKind::Doq => {
                let refusal = Refusal::ConnectTimedOut;
                Some((refusal, refusal.meaning().to_owned()))
            }
            Stage::Tried | Stage::Ready => None,
        }
    }
}

impl Events for Seen {
    fn answer(&mut self, _client: usize, _message: &[u8], _received_ns: u64) {
        self.alive = true;
    }

    fn refused(&mut self, client: usize, _id: u16, refusal: Refusal, at_ns: u64) {
        self.all_refused(client, refusal, at_ns);
    }

    fn all_refused(&mut self, _client: usize, refusal: Refusal, _at_ns: u64) {
        match refusal {
            Refusal::ConnectionLost
            | Refusal::StreamReset
            | Refusal::HttpStatus
            | Refusal::HttpContent => self.alive = true,
            _ => self.refusal = Some(refusal),
        }
    }

    fn malformed(&mut self, _client: usize, _malformed: Malformed) {
        self.alive = true;
    }

    fn session(&mut self, _client: usize, event: SessionEvent) {
        self.stage = match event {
            SessionEvent::Tried => Stage::Tried,
            _ => Stage::Ready,
        };
    }

    fn connected(&mut self, _client: usize) {
        self.stage = Stage::Connected;
    }

    fn handshake_fault(&mut self, _client: usize, fault: HandshakeFault) {
        self.fault = Some(fault);
    }
}

/// Sends `query` until the server gives a sign of life: any message, since judging answers is the load's business, or
/// the end of an open session. Gives up without an error once `cancel` is set.
///
/// # Errors
/// [`LoadError::Unreachable`] and [`LoadError::Silent`], after some seconds at most.
pub fn probe(
    route: &Route,
    sources: &[IpAddr],
    query: &[u8],
    cancel: &AtomicBool,
) -> Result<(), LoadError> {
    let clock = MonotonicClock;
    let first_source = &sources[..sources.len().min(1)];
    let mut transport = Mix::new(vec![AnyTransport::open(route, 1, first_source)?])?;
    let mut seen = Seen::default();
    for attempt in 0..ATTEMPTS {
        let deadline_ns = clock.now_ns() + WAIT.as_nanos() as u64;
        if transport.has_room(0) {
            transport.queue(0, attempt as u16, query);
            transport.flush(&clock, &mut seen);
        }
        while clock.now_ns() < deadline_ns {
            transport.receive(&clock, &mut seen);
            if seen.alive || cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            if seen.refusal.is_some() {
                return Err(failure(route, &seen));
            }
            transport.wait(&clock, deadline_ns.min(clock.now_ns() + CANCEL_CHECK_NS));
        }
    }
    Err(failure(route, &seen))
}

fn failure(route: &Route, seen: &Seen) -> LoadError {
    match seen.trouble(route.transport) {
        Some((refusal, reason)) => LoadError::Unreachable {
            server: route.server,
            transport: route.transport.name(),
            reason,
            advice: refusal.advice(),
        },
        None => LoadError::Silent {
            server: route.server,
            transport: route.transport.name(),
            attempts: ATTEMPTS,
            waited_s: WHOLE_WAIT.as_secs(),
        },
    }
}

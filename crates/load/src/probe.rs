//! One query before the load: is anything there that answers?

use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::{Clock, MonotonicClock};
use crate::config::Route;
use crate::refusal::Refusal;
use crate::transport::{AnyTransport, Events, Mix, SessionEvent, Transport};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Queries sent before the server is called silent.
const ATTEMPTS: u32 = 3;

/// Wait for each of them.
const WAIT: Duration = Duration::from_secs(1);

/// Longest time without a look at the cancel flag.
const CANCEL_CHECK_NS: u64 = 50_000_000;

/// What the probe saw.
#[derive(Default)]
struct Seen {
    /// Any message, or the end of an open session: judging those is the load's business.
    alive: bool,
    refusal: Option<Refusal>,
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

    fn session(&mut self, _client: usize, _event: SessionEvent) {}
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
            if let Some(refusal) = seen.refusal {
                return Err(LoadError::Unreachable {
                    server: route.server,
                    transport: route.transport.name(),
                    reason: refusal.meaning(),
                    advice: refusal.advice(),
                });
            }
            transport.wait(&clock, deadline_ns.min(clock.now_ns() + CANCEL_CHECK_NS));
        }
    }
    Err(LoadError::Silent {
        server: route.server,
        transport: route.transport.name(),
        attempts: ATTEMPTS,
        waited_s: (WAIT * ATTEMPTS).as_secs(),
    })
}

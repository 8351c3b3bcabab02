//! When servers do not answer.

use crate::profile::Outage;
use crate::servers::{ServerId, ServerTable, SetId};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The schedule has not begun.
const HELD: i64 = i64::MAX;

/// Outages by a schedule, which may begin anew.
#[derive(Debug)]
pub(crate) struct Outages {
    /// Sets of servers, from when and to when in seconds after the schedule's beginning; no set: domains' own servers.
    spans: Vec<(Option<SetId>, f64, f64)>,
    /// When it began, in nanoseconds of the clock that queries arrive by; it may be before that.
    began_ns: AtomicI64,
}

impl Outages {
    /// Those of sets; the schedule begins with the clock.
    pub fn new<'a>(planned: impl Iterator<Item = (Option<SetId>, &'a Outage)>) -> Self {
        let spans = planned.map(|(set, outage)| (set, outage.from_s, outage.from_s + outage.for_s));
        Self {
            spans: spans.collect(),
            began_ns: AtomicI64::new(0),
        }
    }

    /// Has the schedule be `elapsed` old at `now`.
    pub fn begin(&self, now: Duration, elapsed: Duration) {
        // A clock of a server, and a schedule, of 292 years do.
        let began_ns = now.as_nanos() as i64 - elapsed.as_nanos() as i64;
        self.began_ns.store(began_ns, Ordering::Relaxed);
    }

    /// Ends the schedule: all servers answer until it begins again.
    pub fn hold(&self) {
        self.began_ns.store(HELD, Ordering::Relaxed);
    }

    /// Whether a server does not answer at `now`.
    pub fn has(&self, servers: &ServerTable, server: ServerId, now: Duration) -> bool {
        if self.spans.is_empty() {
            return false;
        }
        let began_ns = self.began_ns.load(Ordering::Relaxed);
        if began_ns == HELD {
            return false;
        }
        let set = match server {
            ServerId::Listed(number) => Some(servers.servers()[number as usize].set),
            ServerId::Own(_) => None,
        };
        let since_s = (now.as_nanos() as i64 - began_ns) as f64 / 1e9;
        let mut spans = self.spans.iter();
        spans.any(|(out, from, to)| *out == set && (*from..*to).contains(&since_s))
    }
}

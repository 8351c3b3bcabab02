//! What a load is asked to do.

mod route;

pub use route::{
    Certificates, HttpMethod, HttpSettings, SessionSettings, TlsSettings, TlsVersions,
    TransportKind,
};

use crate::LoadError;
use crate::in_flight::MAX_SLOTS_PER_CLIENT;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

/// Places for queries in flight over all clients, at most: about 2 GB of memory.
const MAX_SLOTS: usize = 1 << 25;

/// Fewest places of a client, so that bursts find room; fewer if there are so many clients that these would be more than
/// [`ROOMY_SLOTS`].
const MIN_SLOTS_PER_CLIENT: usize = 64;
const ROOMY_SLOTS: usize = 1 << 22;

/// A load's settings. [`LoadConfig::new`] gives dnsperf's defaults; the names in parentheses are dnsperf's options.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadConfig {
    /// The server's address and port (`-s`, `-p`).
    pub server: SocketAddr,
    /// How queries travel (`-m`).
    pub transport: TransportKind,
    /// When queries are sent (`-q`, `-Q`).
    pub schedule: ScheduleKind,
    /// When sending ends (`-l`, `-n`).
    pub stop: StopCondition,
    /// How long an answer is waited for, counted from the send (`-t`); also the longest drain after the last send.
    pub timeout: Duration,
    /// Generator threads (`-T`); `None` is one per entry of `cpus`, or one.
    pub threads: Option<usize>,
    /// Sockets or connections over all threads (`-c`); `None` is one per thread.
    pub clients: Option<usize>,
    /// CPUs to pin threads to, in turn; empty leaves it to the kernel.
    pub cpus: Vec<usize>,
    /// Permits a server that is not on this machine.
    pub allow_any_target: bool,
}

/// When queries are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ScheduleKind {
    /// A query is sent when an earlier one has ended.
    ClosedLoop {
        /// Queries in flight over all threads.
        outstanding: usize,
        /// Highest mean rate in queries per second over all threads.
        max_rate_qps: Option<f64>,
    },
    /// Evenly spaced queries, whatever the answers do.
    FixedRate {
        /// Queries per second over all threads.
        rate_qps: f64,
    },
}

/// When sending ends: at whichever comes first. With nothing set, only the cancel flag ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopCondition {
    /// Length of the measuring period.
    pub duration: Option<Duration>,
    /// Queries over all threads.
    pub queries: Option<u64>,
    /// Times through the stream.
    pub passes: Option<u64>,
}

impl LoadConfig {
    /// dnsperf's defaults: UDP, closed loop of 100, one pass, time-out 5 s, one thread with one socket.
    pub fn new(server: SocketAddr) -> Self {
        Self {
            server,
            transport: TransportKind::Udp,
            schedule: ScheduleKind::ClosedLoop {
                outstanding: 100,
                max_rate_qps: None,
            },
            stop: StopCondition {
                passes: Some(1),
                ..StopCondition::default()
            },
            timeout: Duration::from_secs(5),
            threads: None,
            clients: None,
            cpus: Vec::new(),
            allow_any_target: false,
        }
    }

    /// The number of generator threads.
    pub fn thread_count(&self) -> usize {
        self.threads.unwrap_or(self.cpus.len().max(1))
    }

    /// The number of sockets or connections over all threads.
    pub fn client_count(&self) -> usize {
        self.clients.unwrap_or(self.thread_count())
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for the first one that no load can be run with.
    pub fn check(&self) -> Result<(), LoadError> {
        let fail = |option, reason: String| Err(LoadError::Setting { option, reason });
        let threads = self.thread_count();
        if threads == 0 || threads > 1024 {
            return fail(
                "threads",
                format!("{threads} generator threads; give 1 to 1024"),
            );
        }
        let clients = self.client_count();
        if clients < threads {
            return fail(
                "clients",
                format!(
                    "{clients} clients for {threads} threads; each thread needs one of its own"
                ),
            );
        }
        if clients > 1_000_000 {
            return fail(
                "clients",
                format!("{clients} clients; give at most 1000000"),
            );
        }
        if self.timeout < Duration::from_millis(1) || self.timeout > Duration::from_secs(600) {
            return fail(
                "timeout",
                format!("{} s; give 0.001 to 600 s", self.timeout.as_secs_f64()),
            );
        }
        for (option, count) in [("queries", self.stop.queries), ("passes", self.stop.passes)] {
            if count == Some(0) {
                return fail(option, "0 would send nothing; give at least 1".to_owned());
            }
        }
        if self.stop.duration == Some(Duration::ZERO) {
            return fail("duration", "0 s would send nothing; give more".to_owned());
        }
        self.check_schedule(threads)?;
        self.check_slots(threads, clients)
    }

    /// Places for queries in flight that each client gets, a power of two.
    pub(crate) fn slots_per_client(&self) -> usize {
        let clients = self.client_count();
        let wanted = match self.schedule {
            // Four times the mean, so that slow answers to one client do not hold up the others.
            ScheduleKind::ClosedLoop { outstanding, .. } => 4 * outstanding.div_ceil(clients),
            // Twice what a silent server leaves in flight on average.
            ScheduleKind::FixedRate { rate_qps } => {
                (rate_qps * self.timeout.as_secs_f64() / clients as f64 * 2.0) as usize
            }
        };
        let least = (ROOMY_SLOTS / clients).clamp(1, MIN_SLOTS_PER_CLIENT);
        wanted
            .clamp(least, MAX_SLOTS_PER_CLIENT)
            .next_power_of_two()
    }

    fn check_slots(&self, threads: usize, clients: usize) -> Result<(), LoadError> {
        let option = match self.schedule {
            ScheduleKind::ClosedLoop { outstanding, .. } => {
                let most = outstanding.div_ceil(threads).div_ceil(clients / threads);
                if most > MAX_SLOTS_PER_CLIENT {
                    return Err(LoadError::Setting {
                        option: "outstanding",
                        reason: format!(
                            "{outstanding} queries in flight over {clients} clients are up to {most} a client, which has message IDs for \
                             {MAX_SLOTS_PER_CLIENT}; give more clients"
                        ),
                    });
                }
                "outstanding"
            }
            ScheduleKind::FixedRate { .. } => "rate_qps",
        };
        let slots = clients * self.slots_per_client();
        if slots > MAX_SLOTS {
            return Err(LoadError::Setting {
                option,
                reason: format!(
                    "{clients} clients would need {slots} places for queries in flight, more than {MAX_SLOTS}; give fewer clients or \
                     queries in flight, a lower rate, or a shorter time-out"
                ),
            });
        }
        Ok(())
    }

    fn check_schedule(&self, threads: usize) -> Result<(), LoadError> {
        let (rate_option, rate) = match self.schedule {
            ScheduleKind::ClosedLoop {
                outstanding,
                max_rate_qps,
            } => {
                if outstanding < threads || outstanding > 10_000_000 {
                    return Err(LoadError::Setting {
                        option: "outstanding",
                        reason: format!(
                            "{outstanding} queries in flight; give {threads} (one a thread) to 10000000"
                        ),
                    });
                }
                ("max_rate_qps", max_rate_qps)
            }
            ScheduleKind::FixedRate { rate_qps } => ("rate_qps", Some(rate_qps)),
        };
        match rate {
            Some(rate) if !(0.001..=1e9).contains(&rate) => Err(LoadError::Setting {
                option: rate_option,
                reason: format!("{rate} queries per second; give 0.001 to 1000000000"),
            }),
            _ => Ok(()),
        }
    }
}

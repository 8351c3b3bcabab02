//! What a load is asked to do.

mod route;
mod schedule_kind;

pub use route::{
    Certificates, HttpMethod, HttpSettings, Route, SessionSettings, TlsSettings, TlsVersions,
    TransportKind,
};

pub use schedule_kind::ScheduleKind;
pub(crate) use schedule_kind::StreamTimes;

use crate::LoadError;
use crate::dress::DressSettings;
use crate::in_flight::MAX_SLOTS_PER_CLIENT;
use dnsrig_stream::QueryStream;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The longest message in a datagram: an IPv4 packet has 65,535 octets with its header of 20 and UDP's of 8.
const LONGEST_OVER_UDP_IPV4: usize = 65_507;
/// The same over IPv6, whose length does not count its header (RFC 8200 section 3).
const LONGEST_OVER_UDP_IPV6: usize = 65_527;

/// A load's settings. [`LoadConfig::new`] gives dnsperf's defaults; the names in parentheses are dnsperf's options.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadConfig {
    /// How queries travel, and to which server; at least one way.
    pub routes: Vec<Route>,
    /// When queries are sent (`-q`, `-Q`).
    pub schedule: ScheduleKind,
    /// When sending ends (`-l`, `-n`).
    pub stop: StopCondition,
    /// How long an answer is waited for, counted from the send (`-t`); also the longest drain after the last send.
    pub timeout: Duration,
    /// Generator threads (`-T`); `None` is one per entry of `cpus`, or one.
    pub threads: Option<usize>,
    /// Local addresses of clients, in turn; empty leaves it to the kernel.
    pub sources: Vec<IpAddr>,
    /// Clients send what they sent in the stream, which is timed, each over a socket or session of its own.
    pub keep_clients: bool,
    /// What is changed in queries as they are sent; its seed is made from `seed`.
    pub dress: DressSettings,
    /// Of all that is random.
    pub seed: u64,
    /// Queries over UDP whose answer is truncated are sent again over TCP (RFC 7766 section 5), each client's over a connection that it
    /// closes when it has the answers.
    pub tcp_fallback: bool,
    /// Instead of sending queries, the schedule opens sessions; each client's earlier one is closed.
    pub sessions_only: bool,
    /// With `sessions_only`: sessions stay open until the load ends; the schedule opens those that are not.
    pub hold_sessions: bool,
    /// CPUs to pin threads to, in turn; empty leaves it to the kernel.
    pub cpus: Vec<usize>,
    /// Permits a server that is not on this machine.
    pub allow_any_target: bool,
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
        Self::over(TransportKind::Udp, server)
    }

    /// The same over another transport.
    pub fn over(transport: TransportKind, server: SocketAddr) -> Self {
        Self {
            routes: vec![Route::new(transport, server)],
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
            sources: Vec::new(),
            keep_clients: false,
            dress: DressSettings::default(),
            seed: 0,
            tcp_fallback: false,
            sessions_only: false,
            hold_sessions: false,
            cpus: Vec::new(),
            allow_any_target: false,
        }
    }

    /// The same with so many sockets or sessions over each route.
    #[must_use]
    pub fn with_clients(mut self, clients: usize) -> Self {
        for route in &mut self.routes {
            route.clients = Some(clients);
        }
        self
    }

    /// The number of generator threads.
    pub fn thread_count(&self) -> usize {
        self.threads.unwrap_or(self.cpus.len().max(1))
    }

    /// The number of sockets or connections of a route over all threads.
    pub fn clients_of(&self, route: &Route) -> usize {
        route.clients.unwrap_or(self.thread_count())
    }

    /// The number of sockets or connections over all routes and threads.
    pub fn client_count(&self) -> usize {
        self.routes.iter().map(|route| self.clients_of(route)).sum()
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
        self.check_routes(threads)?;
        let clients = self.client_count();
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
        self.schedule.check(threads)?;
        self.check_window(threads, clients)
    }

    fn check_routes(&self, threads: usize) -> Result<(), LoadError> {
        let fail = |option, reason: String| Err(LoadError::Setting { option, reason });
        if self.routes.is_empty() {
            return fail("routes", "no transport; give at least one".to_owned());
        }
        for route in &self.routes {
            route.check(self.clients_of(route), threads)?;
            let other_family = |source: &&IpAddr| source.is_ipv4() != route.server.is_ipv4();
            if let Some(source) = self.sources.iter().find(other_family) {
                return fail(
                    "sources",
                    format!("{source} cannot send to {}", route.server.ip()),
                );
            }
        }
        let of_udp = |route: &&Route| route.transport == TransportKind::Udp;
        if self.tcp_fallback && self.routes.iter().filter(of_udp).count() != 1 {
            return fail(
                "tcp_fallback",
                "it needs UDP, once, among the transports".to_owned(),
            );
        }
        if self.sessions_only && (self.routes.len() > 1 || !self.routes[0].transport.has_sessions())
        {
            return fail(
                "sessions_only",
                "give one transport that has sessions: tcp, dot, doh or doq".to_owned(),
            );
        }
        if self.hold_sessions && !self.sessions_only {
            return fail(
                "hold_sessions",
                "only sessions that are opened instead of sending queries can be held open"
                    .to_owned(),
            );
        }
        if self.sessions_only && self.keep_clients {
            return fail(
                "sessions_only",
                "the original clients send queries; leave one of both".to_owned(),
            );
        }
        Ok(())
    }

    /// Checks that each transport carries the longest message of `stream`, too.
    ///
    /// # Errors
    /// [`LoadError::BadQuery`] if it does not fit into a datagram.
    pub fn check_messages(&self, stream: &QueryStream) -> Result<(), LoadError> {
        let over_udp = self
            .routes
            .iter()
            .filter(|route| route.transport == TransportKind::Udp);
        let most = over_udp
            .map(|route| match route.server {
                SocketAddr::V4(_) => LONGEST_OVER_UDP_IPV4,
                SocketAddr::V6(_) => LONGEST_OVER_UDP_IPV6,
            })
            .min();
        let (Some(most), Some(longest)) = (most, stream.longest_message()) else {
            return Ok(());
        };
        if longest.octets <= most {
            return Ok(());
        }
        let line = longest
            .line
            .map(|line| format!(" (line {line} of its file)"));
        Err(LoadError::BadQuery {
            position: longest.index + 1,
            reason: format!(
                "it has {} octets{}, more than the {most} that UDP carries; make it shorter, or load over TCP, DoT, DoH or DoQ",
                longest.octets,
                line.unwrap_or_default(),
            ),
        })
    }

    /// Each client has message IDs for so many queries in flight, and no more.
    fn check_window(&self, threads: usize, clients: usize) -> Result<(), LoadError> {
        let ScheduleKind::ClosedLoop { outstanding, .. } = self.schedule else {
            return Ok(());
        };
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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(octets: usize, transport: TransportKind, server: &str) -> Option<String> {
        let mut stream = QueryStream::default();
        stream.push(&[0; 12]);
        stream.push(&vec![0; octets]);
        let config = LoadConfig::over(transport, server.parse().unwrap());
        let checked = config.check_messages(&stream);
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn a_message_that_no_datagram_holds_is_named_with_its_size() {
        let error = check(65_508, TransportKind::Udp, "127.0.0.1:53").unwrap();
        assert!(
            error.contains("query 2") && error.contains("65508 octets, more than the 65507"),
            "{error}"
        );
        assert_eq!(check(65_507, TransportKind::Udp, "127.0.0.1:53"), None);
        assert_eq!(check(65_527, TransportKind::Udp, "[::1]:53"), None);
        assert!(check(65_528, TransportKind::Udp, "[::1]:53").is_some());
        assert_eq!(check(65_535, TransportKind::Doq, "127.0.0.1:853"), None);
    }
}

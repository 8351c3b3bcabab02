//! What is known after a load. Its JSON is the contract of `dnsrig load --json`.

use crate::config::{ScheduleKind, TransportKind};
use crate::interval::Interval;
use crate::search::BreakingPoint;
use crate::tally::Connections;
use crate::transport::Wire;
use crate::verdict::{Bottleneck, Figures, judge};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A load's result.
///
/// `sent == answered + timed_out + refused + abandoned`. Beside those stand messages that ended no query: `unmatched`, `late` and
/// `malformed`. Percentiles are `None` where nothing was recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadReport {
    /// The server's address and port.
    pub server: String,
    /// How queries travelled; over the first of several transports, see `transports`.
    pub transport: TransportKind,
    /// When they were sent.
    pub schedule: ScheduleKind,
    /// When the first query was due, in nanoseconds since 1970-01-01 00:00:00 UTC.
    #[serde(default)]
    pub start_unix_ns: u64,
    /// Queries per second that the schedule asked for while queries were sent, on average; the highest permitted in a closed
    /// loop, if one was set.
    #[serde(default)]
    pub asked_qps: Option<f64>,
    /// Queries sent, those refused by the transport among them.
    pub sent: u64,
    /// Queries whose answer came within the time-out, with the query's ID and question.
    pub answered: u64,
    /// Queries without such an answer.
    pub timed_out: u64,
    /// Queries refused by the transport.
    pub refused: u64,
    /// Queries in flight when cancelling cut the drain short; 0 normally.
    #[serde(default)]
    pub abandoned: u64,
    /// The refused queries by cause; names and meanings are those of [`crate::Refusal`].
    pub refusals: BTreeMap<String, u64>,
    /// Answers with an HTTP status other than 200, by status (DoH); their queries are among the refused as `http_status`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub http_statuses: BTreeMap<u16, u64>,
    /// Answers whose ID or question fits no query in flight.
    pub unmatched: u64,
    /// Answers that came after their query had timed out.
    pub late: u64,
    /// Messages that are no DNS answer.
    pub malformed: u64,
    /// They by what was wrong: `short` (shorter than a header), `not_a_response` (QR = 0), `question` (it does not
    /// parse), `cut` (the connection ended inside the message).
    #[serde(default)]
    pub malformations: BTreeMap<String, u64>,
    /// Answered queries per second of the measuring period: those answered within it, divided by its length.
    pub qps: f64,
    /// Length of the measuring period in seconds. It begins with the first query and ends when sending stops for the
    /// duration or by cancelling; where the queries were used up, it ends with the last answer if that came later.
    /// Waiting for answers that never come is not in it.
    pub duration_s: f64,
    /// Seconds from the end of sending until every query had ended.
    pub drain_s: f64,
    /// Answered queries by RCODE.
    pub rcodes: BTreeMap<String, u64>,
    /// Answered queries whose answer has TC set; those moved to TCP are not among them.
    pub truncated: u64,
    /// Latency of answered queries in nanoseconds: from the send (closed loop) or the scheduled time (fixed rate).
    pub latency_ns: Distribution,
    /// The same with each timed-out query counted as if answered when its time was up.
    pub latency_with_timeouts_ns: Distribution,
    /// Actual minus scheduled send time in nanoseconds. In a closed loop a query is due when its place in the window
    /// became free, so this is the time for which places stood empty; a rate limit, or the pause after a datagram was
    /// refused, is not in it where that ends later; the pause of a client whose attempt to open a session failed is.
    pub send_error_ns: Distribution,
    /// Queries whose answer over UDP had TC set and which were sent again over TCP; 0 unless that is asked for. They count
    /// once in `sent`, and end as what TCP made of them.
    #[serde(default)]
    pub moved_to_tcp: u64,
    /// The same figures for each transport, where the load has several.
    #[serde(default)]
    pub transports: Vec<TransportReport>,
    /// Answered queries, and strays with the ID of one in flight, whose question came back in other letter case.
    #[serde(default)]
    pub case_changed: u64,
    /// What answers said of cookies, where these were sent (RFC 7873): `absent`, `learnt`, `known` (the server cookie),
    /// `bad_cookie` (the RCODE), `wrong_client` (ignored), `wrong_length`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cookies: BTreeMap<String, u64>,
    /// What answers' TSIG records said, where queries were signed (RFC 8945): `verified`; ignored: `missing`, `wrong`, `time`;
    /// the server's complaints: `bad_sig`, `bad_key`, `bad_time`, `other_error`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tsig: BTreeMap<String, u64>,
    /// The breaking point, where it was searched for; the report is that of the last trial at that rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaking_point: Option<SearchReport>,
    /// Octets of DNS messages, without headers of lower layers.
    pub bytes: Bytes,
    /// Mean octets of a query.
    pub query_bytes_mean: Option<f64>,
    /// Mean octets of an answered query's answer.
    pub response_bytes_mean: Option<f64>,
    /// How the generator fared.
    pub generator: Generator,
    /// Connections; zeros over UDP.
    pub connections: Connections,
    /// Sessions that were open when the load ended, where it was to hold one of each client; `generator.clients` says how many
    /// those are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions_held: Option<u64>,
    /// The failed attempts to open a session by cause, as in `refusals`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session_failures: BTreeMap<String, u64>,
    /// Time from the attempt to open a session until it was open, in nanoseconds: TCP's handshake with those of TLS or
    /// QUIC. A query that waits for its session has that time in its latency, too.
    #[serde(default)]
    pub handshake_ns: Distribution,
    /// What crossed the wire.
    #[serde(default)]
    pub wire: Wire,
    /// UDP datagrams that sockets of this network namespace other than the generator's had no room for (RcvbufErrors).
    /// With the server on this machine these are mostly queries that it did not read in time.
    pub udp_drops_elsewhere: u64,
    /// CPU share of the server, if the caller watched it: 1 is all the CPU it could use.
    pub server_cpu_share: Option<f64>,
    /// What limited the load.
    pub bottleneck: Bottleneck,
    /// The figures that say so, in sentences.
    pub evidence: Vec<String>,
    /// Why figures of this load may mislead; empty if nothing is known against them.
    pub tainted: Vec<String>,
    /// One entry a second of the measuring period, and one for the drain; the last 7,200 of them.
    pub intervals: Vec<Interval>,
    /// Earlier intervals, which are not kept: who wants those of a longer load takes each as it ends.
    #[serde(default)]
    pub intervals_left_out: u64,
    /// Latency histogram of answered queries (HDR, V2, deflated, base64); see [`crate::histogram`].
    pub latency_histogram: String,
}

/// What a search for the breaking point found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchReport {
    /// The breaking point.
    #[serde(flatten)]
    pub found: BreakingPoint,
    /// Answers per second that the generator itself reaches with these clients and threads; `None` where nothing was answered.
    pub generator_ceiling_qps: Option<f64>,
    /// Where that is from.
    pub generator_ceiling_from: Ceiling,
}

/// Where a generator's ceiling is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// A closed loop with the bare echo server on the same machine.
    Sink,
    /// Reckoned: the rate of the report, divided by the share of a CPU that the busiest thread used for it.
    CpuShare,
}

/// A distribution of times in nanoseconds, precise to three digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Least above zero. Send times are estimates of some microseconds' precision, which may make single ones too low.
    #[serde(default)]
    pub least: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p999: Option<u64>,
    /// Greatest.
    pub max: Option<u64>,
}

impl From<&Histogram<u64>> for Distribution {
    fn from(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |quantile| Some(histogram.value_at_quantile(quantile));
        Self {
            least: Some(histogram.min_nz()).filter(|least| *least < u64::MAX),
            mean: Some(histogram.mean().round() as u64),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: Some(histogram.max()),
        }
    }
}

/// Octets of DNS messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// Of queries.
    pub sent: u64,
    /// Of all messages received.
    pub received: u64,
}

/// How the generator fared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// CPU microseconds of all generator threads per answered query.
    pub cpu_us_per_query: Option<f64>,
    /// Share of one CPU that the busiest thread used while the load was sent: the one that ran or waited for a CPU the most.
    pub cpu_share: f64,
    /// Share of the sending time in which that thread was ready to run while others had its CPU; 0 where the kernel does
    /// not say (no schedstats).
    #[serde(default)]
    pub run_delay_share: f64,
    /// Share of the sending time in which a mean thread that had queries to send waited because too many queries were in flight, naps excepted.
    pub blocked_share: f64,
    /// Share of the sending time in which such a thread napped with too many queries in flight, to take several answers
    /// at once afterwards.
    #[serde(default)]
    pub nap_share: f64,
    /// Datagrams that the kernel dropped at the generator's own sockets.
    pub socket_drops: u64,
    /// How late the machine woke up the sleeping threads just before the load: no sender that sleeps does better.
    #[serde(default)]
    pub wake_up_ns: Distribution,
    /// How late it woke them up while they sent, from sleeps that only their end could end; without such sleeps, nothing.
    #[serde(default)]
    pub wake_up_in_load_ns: Distribution,
    /// Octets of memory that the process took more at the end of sending than before it opened its clients, for each of
    /// them; without the kernel's.
    #[serde(default)]
    pub memory_bytes_per_client: Option<f64>,
    /// Generator threads.
    pub threads: usize,
    /// Sockets or connections.
    pub clients: usize,
}

/// What one of several transports did. Names are as in [`LoadReport`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is described in LoadReport")]
pub struct TransportReport {
    pub transport: TransportKind,
    pub server: String,
    /// Share of the queries that it was to send.
    pub weight: f64,
    pub sent: u64,
    pub answered: u64,
    pub timed_out: u64,
    pub refused: u64,
    pub abandoned: u64,
    /// Queries sent again over another transport of this load.
    pub moved: u64,
    pub refusals: BTreeMap<String, u64>,
    pub unmatched: u64,
    pub late: u64,
    pub malformed: u64,
    pub malformations: BTreeMap<String, u64>,
    pub truncated: u64,
    /// Answered queries per second of the measuring period: those answered within it, divided by its length.
    pub qps: f64,
    pub rcodes: BTreeMap<String, u64>,
    pub latency_ns: Distribution,
    pub send_error_ns: Distribution,
    pub handshake_ns: Distribution,
    pub bytes: Bytes,
    pub wire: Wire,
    pub connections: Connections,
    pub clients: usize,
    pub latency_histogram: String,
}

impl LoadReport {
    /// Whether the load opened sessions and sent no queries.
    pub(crate) fn is_of_sessions(&self) -> bool {
        self.sent == 0 && self.connections.tried > 0
    }

    /// Queries sent; where the load is one of sessions, those tried.
    pub(crate) fn begun(&self) -> u64 {
        if self.is_of_sessions() {
            self.connections.tried
        } else {
            self.sent
        }
    }

    /// Whether each client has a session open, its first one: then there is no more to open.
    pub(crate) fn holds_all_sessions(&self) -> bool {
        self.connections.closed == 0 && self.connections.open() >= self.generator.clients as u64
    }

    /// Judges the bottleneck (again), with the server's CPU share if it is known by now: 1 is all the CPU that the
    /// server could use. Sets `server_cpu_share`, `bottleneck` and `evidence`.
    pub fn judge(&mut self, server_cpu_share: Option<f64>) {
        self.server_cpu_share = server_cpu_share;
        let verdict = judge(&Figures::from(&*self));
        self.bottleneck = verdict.bottleneck;
        self.evidence = verdict.evidence;
    }
}

//! What one thread counts during one interval. Tallies of threads and intervals add up losslessly.

use crate::answer::Malformed;
use crate::dress::{CookieCheck, TsigCheck};
use crate::rcode;
use crate::refusal::Refusal;
use crate::transport::{Handshake, SessionEvent};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Longest latency and send-time error told apart, one hour; longer ones count as that.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits of recorded times.
const DIGITS: u8 = 3;

/// Connections and sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Attempts to open one.
    pub tried: u64,
    /// Attempts that succeeded, with TLS or QUIC where the transport has it.
    pub opened: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Open ones that the server closed or reset.
    pub closed_by_peer: u64,
    /// Open ones that the generator closed, as its settings asked for.
    #[serde(default)]
    pub closed: u64,
    /// Full cryptographic handshakes.
    #[serde(default)]
    pub full: u64,
    /// Handshakes of resumed sessions.
    #[serde(default)]
    pub resumed: u64,
    /// Handshakes of resumed sessions whose early data the server took: always 0, since none is offered.
    #[serde(default)]
    pub early_data: u64,
}

impl Connections {
    /// Those that have been opened, and not closed by either side.
    pub(crate) fn open(&self) -> u64 {
        self.opened
            .saturating_sub(self.closed_by_peer + self.closed)
    }
}

impl AddAssign for Connections {
    fn add_assign(&mut self, other: Self) {
        self.tried += other.tried;
        self.opened += other.opened;
        self.failed += other.failed;
        self.closed_by_peer += other.closed_by_peer;
        self.closed += other.closed;
        self.full += other.full;
        self.resumed += other.resumed;
        self.early_data += other.early_data;
    }
}

/// Counts of queries and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Queries handed to the transport, refused ones among them. Each ends as exactly one of answered, timed out,
    /// abandoned, moved or refused.
    pub sent: u64,
    /// Queries whose answer came in time.
    pub answered: u64,
    /// Queries without an answer within the time-out.
    pub timed_out: u64,
    /// Queries still in flight when the caller had the drain cut short.
    pub abandoned: u64,
    /// Queries whose answer had TC set and which were then sent over TCP, where they count again.
    pub moved: u64,
    /// Queries the transport refused, by [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Answers with an ID that names no query in flight, or with another question.
    pub unmatched: u64,
    /// Answers to queries that had timed out.
    pub late: u64,
    /// Messages that are no DNS answer, by [`Malformed`].
    pub malformed: [u64; Malformed::ALL.len()],
    /// Answers with TC set, among the answered, so without those of moved queries.
    pub truncated: u64,
    /// Octets of DNS messages sent.
    pub bytes_sent: u64,
    /// Octets of all DNS messages received.
    pub bytes_received: u64,
    /// Octets of the answers of answered queries.
    pub answer_bytes: u64,
    /// Answered queries by RCODE; the last counts all higher ones.
    pub rcodes: [u64; rcode::COUNTED],
    /// Answers with an HTTP status other than 200, by status.
    pub http_statuses: BTreeMap<u16, u64>,
    /// Sessions.
    pub connections: Connections,
    /// Attempts to open a session that failed, by [`Refusal`].
    pub session_failures: [u64; Refusal::ALL.len()],
    /// Answers whose question has other letter case than the query's.
    pub case_changed: u64,
    /// Answers to queries with a cookie, by [`CookieCheck`].
    pub cookies: [u64; CookieCheck::ALL.len()],
    /// Answers to signed queries, by [`TsigCheck`].
    pub tsig: [u64; TsigCheck::ALL.len()],
}

impl Counts {
    /// Queries that the transport refused.
    pub fn refused(&self) -> u64 {
        self.refused.iter().sum()
    }

    /// Messages that are no DNS answer.
    pub fn malformed(&self) -> u64 {
        self.malformed.iter().sum()
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.sent += other.sent;
        self.answered += other.answered;
        self.timed_out += other.timed_out;
        self.abandoned += other.abandoned;
        self.moved += other.moved;
        self.unmatched += other.unmatched;
        self.late += other.late;
        self.truncated += other.truncated;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.answer_bytes += other.answer_bytes;
        for (sum, count) in self.refused.iter_mut().zip(other.refused) {
            *sum += count;
        }
        for (sum, count) in self.session_failures.iter_mut().zip(other.session_failures) {
            *sum += count;
        }
        for (status, count) in &other.http_statuses {
            *self.http_statuses.entry(*status).or_default() += count;
        }
        self.case_changed += other.case_changed;
        for (sum, count) in self.cookies.iter_mut().zip(other.cookies) {
            *sum += count;
        }
        for (sum, count) in self.tsig.iter_mut().zip(other.tsig) {
            *sum += count;
        }
        for (sum, count) in self.malformed.iter_mut().zip(other.malformed) {
            *sum += count;
        }
        self.connections += other.connections;
        for (sum, count) in self.rcodes.iter_mut().zip(other.rcodes) {
            *sum += count;
        }
    }
}

/// Counts and distributions of one interval.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The counts.
    pub counts: Counts,
    /// Latency of answered queries in nanoseconds.
    pub latency: Histogram<u64>,
    /// Waiting time of timed-out queries in nanoseconds, from where their latency would have counted.
    pub timed_out: Histogram<u64>,
    /// Actual minus scheduled send time in nanoseconds.
    pub send_error: Histogram<u64>,
    /// Time from the attempt to open a session until it was open, in nanoseconds.
    pub handshake: Histogram<u64>,
}

impl Tally {
    /// Counts what happened to a session.
    pub fn session(&mut self, event: SessionEvent) {
        let connections = &mut self.counts.connections;
        match event {
            SessionEvent::Tried => connections.tried += 1,
            SessionEvent::Failed(refusal) => {
                connections.failed += 1;
                self.counts.session_failures[refusal as usize] += 1;
            }
            SessionEvent::ClosedByPeer => connections.closed_by_peer += 1,
            SessionEvent::Closed => connections.closed += 1,
            SessionEvent::Opened { handshake_ns, kind } => {
                connections.opened += 1;
                match kind {
                    Handshake::Plain => {}
                    Handshake::Full => connections.full += 1,
                    Handshake::Resumed => connections.resumed += 1,
                }
                self.handshake.saturating_record(handshake_ns);
            }
        }
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            latency: empty_histogram(),
            timed_out: empty_histogram(),
            send_error: empty_histogram(),
            handshake: empty_histogram(),
        }
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.counts += &other.counts;
        for (sum, part) in [
            (&mut self.latency, &other.latency),
            (&mut self.timed_out, &other.timed_out),
            (&mut self.send_error, &other.send_error),
            (&mut self.handshake, &other.handshake),
        ] {
            sum.add(part)
                .expect("all tallies have histograms of the same range");
        }
    }
}

/// A histogram of nanoseconds: 1 ns to one hour, three significant digits.
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
        .expect("the bounds are constants that the library accepts")
}

//! What one thread counts during one interval. Tallies of threads and intervals add up losslessly.

use crate::rcode;
use hdrhistogram::Histogram;
use std::ops::AddAssign;

/// Longest latency and send-time error told apart, one hour; longer ones count as that.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits of recorded times.
const DIGITS: u8 = 3;

/// Why a transport refused a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The kernel did not take it.
    Send,
    /// An ICMP error came back for it: host or network unreachable, or the like.
    Unreachable,
    /// The server's host sent back that nothing listens at the port.
    PortUnreachable,
    /// No connection could be made to send it over.
    ConnectFailed,
    /// The connection it was sent over closed before its answer came.
    ConnectionLost,
}

/// Kinds of [`Refusal`].
pub const REFUSALS: usize = 5;

/// Counts of queries and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Queries handed to the transport, refused ones among them.
    pub sent: u64,
    /// Queries whose answer came in time.
    pub answered: u64,
    /// Queries without an answer within the time-out.
    pub timed_out: u64,
    /// Queries still in flight when the caller had the drain cut short.
    pub abandoned: u64,
    /// Queries the transport refused, by [`Refusal`].
    pub refused: [u64; REFUSALS],
    /// Answers with an ID that names no query in flight, or with another question.
    pub unmatched: u64,
    /// Answers to queries that had timed out.
    pub late: u64,
    /// Messages that are no DNS answer.
    pub malformed: u64,
    /// Answers with TC set, among the answered.
    pub truncated: u64,
    /// Octets of DNS messages sent.
    pub bytes_sent: u64,
    /// Octets of all DNS messages received.
    pub bytes_received: u64,
    /// Octets of the answers of answered queries.
    pub answer_bytes: u64,
    /// Answered queries by RCODE; the last counts all higher ones.
    pub rcodes: [u64; rcode::COUNTED],
}

impl Counts {
    /// Queries that the transport refused.
    pub fn refused(&self) -> u64 {
        self.refused.iter().sum()
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.sent += other.sent;
        self.answered += other.answered;
        self.timed_out += other.timed_out;
        self.abandoned += other.abandoned;
        self.unmatched += other.unmatched;
        self.late += other.late;
        self.malformed += other.malformed;
        self.truncated += other.truncated;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.answer_bytes += other.answer_bytes;
        for (sum, count) in self.refused.iter_mut().zip(other.refused) {
            *sum += count;
        }
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
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            latency: empty_histogram(),
            timed_out: empty_histogram(),
            send_error: empty_histogram(),
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

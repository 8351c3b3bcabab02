//! What happened in one interval of a load.

use crate::collector::rcodes;
use crate::config::TransportKind;
use crate::report::Distribution;
use crate::tally::{Connections, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether queries were being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Yes.
    Measure,
    /// No: the last ones' answers were waited for.
    Drain,
}

/// What happened in one interval. Sends count where they were made, answers where they were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Measuring or draining.
    pub phase: Phase,
    /// Its begin in seconds since the load's start.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Its figures over all transports.
    #[serde(flatten)]
    pub figures: IntervalFigures,
    /// Those of each transport, where the load has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<TransportInterval>,
}

/// What one of several transports did in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransportInterval {
    /// The transport.
    pub transport: TransportKind,
    /// Its figures.
    #[serde(flatten)]
    pub figures: IntervalFigures,
}

/// Figures of an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntervalFigures {
    /// Queries sent.
    pub sent: u64,
    /// Queries answered.
    pub answered: u64,
    /// Queries timed out.
    pub timed_out: u64,
    /// Queries refused.
    pub refused: u64,
    /// Answers to queries that had timed out.
    #[serde(default)]
    pub late: u64,
    /// Answers that fit no query in flight, and messages that are no answer.
    #[serde(default)]
    pub strays: u64,
    /// Answered queries whose answer has TC set; those moved to TCP are not among them.
    #[serde(default)]
    pub truncated: u64,
    /// Octets of DNS messages sent.
    #[serde(default)]
    pub bytes_sent: u64,
    /// Octets of DNS messages received.
    #[serde(default)]
    pub bytes_received: u64,
    /// Latency of the answered.
    #[serde(default)]
    pub latency_ns: Distribution,
    /// Actual minus scheduled send time.
    #[serde(default)]
    pub send_error_ns: Distribution,
    /// Time to open a session.
    #[serde(default)]
    pub handshake_ns: Distribution,
    /// What happened to sessions.
    #[serde(default)]
    pub connections: Connections,
    /// Answered queries by RCODE.
    pub rcodes: BTreeMap<String, u64>,
}

impl From<&Tally> for IntervalFigures {
    fn from(tally: &Tally) -> Self {
        let counts = &tally.counts;
        Self {
            sent: counts.sent,
            answered: counts.answered,
            timed_out: counts.timed_out,
            refused: counts.refused(),
            late: counts.late,
            strays: counts.unmatched + counts.malformed(),
            truncated: counts.truncated,
            bytes_sent: counts.bytes_sent,
            bytes_received: counts.bytes_received,
            latency_ns: Distribution::from(&tally.latency),
            send_error_ns: Distribution::from(&tally.send_error),
            handshake_ns: Distribution::from(&tally.handshake),
            connections: counts.connections,
            rcodes: rcodes(counts),
        }
    }
}

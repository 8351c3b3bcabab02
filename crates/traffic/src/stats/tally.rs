//! What one thread counts, in no order.

use super::clients::Clients;
use super::names::Names;
use super::side::Side;
use crate::read::PacketCounts;
use crate::wire::Malformed;
use serde::{Deserialize, Serialize};

/// DNS messages that are not whole, by what is wrong first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MalformedCounts {
    /// Cut off by the snapshot length inside header or question.
    pub cut_short: u64,
    /// Shorter than a header.
    pub header: u64,
    /// With a question that is not whole, or whose name is wrong.
    pub question: u64,
    /// With a record that is not whole, or whose name is wrong; header and question are counted as of any other message.
    pub record: u64,
    /// With octets after the last record; the message is counted as any other.
    pub trailing_octets: u64,
}

impl MalformedCounts {
    /// Counts a message.
    pub fn add(&mut self, why: Malformed) {
        *match why {
            Malformed::Header => &mut self.header,
            Malformed::Question => &mut self.question,
            Malformed::Record => &mut self.record,
        } += 1;
    }

    /// Adds what is in `other`.
    pub fn merge(&mut self, other: &Self) {
        self.cut_short += other.cut_short;
        self.header += other.header;
        self.question += other.question;
        self.record += other.record;
        self.trailing_octets += other.trailing_octets;
    }
}

/// Counts of one thread; those of all threads add up.
#[derive(Debug)]
pub struct Tally {
    /// When the first and the last packet were captured, in ns since 1970; the greatest and the least number before any.
    pub span_ns: (i64, i64),
    /// Octets of packets that were captured.
    pub octets: u64,
    /// Packets without DNS.
    pub left_out: PacketCounts,
    /// Messages that are not whole.
    pub malformed: MalformedCounts,
    /// UDP datagrams in which further messages follow the first.
    pub merged: u64,
    /// Queries and answers.
    pub sides: [Side; 2],
    /// Names, if they are wanted.
    pub names: Option<Names>,
    /// Clients.
    pub clients: Clients,
}

impl Tally {
    /// Counts for at most so many names (0 for none) and clients.
    pub fn new(most_names: usize, most_clients: usize) -> Self {
        Self {
            span_ns: (i64::MAX, i64::MIN),
            octets: 0,
            left_out: PacketCounts::default(),
            malformed: MalformedCounts::default(),
            merged: 0,
            sides: [Side::default(), Side::default()],
            names: (most_names > 0).then(|| Names::new(most_names)),
            clients: Clients::new(most_clients),
        }
    }

    /// Counts a packet of `len` octets.
    #[inline]
    pub fn packet(&mut self, time_ns: i64, len: u32) {
        self.span_ns = (self.span_ns.0.min(time_ns), self.span_ns.1.max(time_ns));
        self.octets += u64::from(len);
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, mut other: Self) {
        self.span_ns = (
            self.span_ns.0.min(other.span_ns.0),
            self.span_ns.1.max(other.span_ns.1),
        );
        self.octets += other.octets;
        self.left_out.add(&other.left_out);
        self.malformed.merge(&other.malformed);
        self.merged += other.merged;
        for (own, other) in self.sides.iter_mut().zip(&mut other.sides) {
            own.bring_up_to_date();
            other.bring_up_to_date();
            own.merge(other);
        }
        if let (Some(own), Some(other)) = (&mut self.names, &other.names) {
            own.merge(other);
        }
        self.clients.merge(&other.clients);
    }
}

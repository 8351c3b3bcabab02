//! Statistics of captures, which add up.

use super::clients::Clients;
use super::counter::TypeCounter;
use super::distinct::Distinct;
use super::histogram::Histogram;
use super::names::{LEVELS, Names};
use super::random_label::is_shown_random;
use super::side::Side;
use super::stored_items::StoredItems;
use super::tally::{MalformedCounts, Tally};
use super::zipf;
use crate::error::NotMergeable;
use crate::read::{AssemblyCounts, FileSummary, PacketCounts, ReadSummary, found};
use crate::wire::shown_name;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

/// What the requests of a capture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountedFrom {
    /// Queries.
    Queries,
    /// Answers, as in ISC-2008, where only these were captured.
    Answers,
}

/// Queries that have their answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Queries with an answer.
    pub queries: u64,
    /// Those whose answer has another RCODE than NOERROR.
    pub failed: u64,
    /// Those of them with RD.
    pub failed_rd: u64,
    /// Those of them by question.
    pub failed_types: TypeCounter,
    /// Time from query to answer in ns.
    pub latency_ns: Histogram,
    /// Answers without a query, or later than is waited for.
    pub unmatched: u64,
    /// Queries whose answers were no longer waited for, as there was no memory.
    pub given_up: u64,
}

impl Answered {
    fn merge(&mut self, other: &Self) {
        self.queries += other.queries;
        self.failed += other.failed;
        self.failed_rd += other.failed_rd;
        self.failed_types.merge(&other.failed_types);
        self.latency_ns.merge(&other.latency_ns);
        self.unmatched += other.unmatched;
        self.given_up += other.given_up;
    }
}

/// Names that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameStatistics {
    /// Different names.
    pub distinct: Distinct,
    /// The same, if all of them are counted exactly.
    pub count: Option<u64>,
    /// The most frequent names.
    pub top: StoredItems,
    /// The most frequent zones: top-level domains, and two levels below.
    pub zones: [StoredItems; LEVELS],
    /// Requests for names whose top-level domain is not in the root zone.
    pub unknown_tld: u64,
    /// Requests for names with a label that seems to be random.
    pub random: u64,
    /// The exponent of Zipf's law; `None` where too few names come often enough.
    pub zipf_exponent: Option<f64>,
}

impl NameStatistics {
    fn of(names: Names, stores_all: bool) -> Self {
        let (table, gone) = names.finish();
        let top = StoredItems::of(&table, stores_all, shown_name);
        Self {
            count: (table.error() == 0).then_some(table.len() as u64),
            distinct: gone.distinct,
            zipf_exponent: exponent(&top),
            top,
            zones: gone
                .zones
                .map(|zones| StoredItems::of(&zones, stores_all, shown_name)),
            unknown_tld: gone.unknown_tld,
            random: gone.random,
        }
    }

    fn merge(&mut self, other: Self) {
        self.distinct.merge(&other.distinct);
        self.top.merge(other.top);
        self.count = self.top.is_exact().then_some(self.top.items.len() as u64);
        for (own, other) in self.zones.iter_mut().zip(other.zones) {
            own.merge(other);
        }
        self.unknown_tld += other.unknown_tld;
        // Whether a single label seems to be random takes how often it came in all captures together.
        self.random = match self.top.is_exact() {
            true => random_requests(&self.top),
            false => self.random + other.random,
        };
        self.zipf_exponent = exponent(&self.top);
    }
}

/// Requests for names that seem to be random, all of which are in `top`.
fn random_requests(top: &StoredItems) -> u64 {
    let random = top
        .items
        .iter()
        .filter(|(name, count)| is_shown_random(name, *count));
    random.map(|(_, count)| count).sum()
}

fn exponent(top: &StoredItems) -> Option<f64> {
    let counts = top.items.iter().map(|(_, count)| *count);
    // What is not far above the error says nothing of the order.
    zipf::zipf_exponent(counts.take_while(|count| *count > 2 * top.error))
}

/// Clients and how much they ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatistics {
    /// Different clients.
    pub distinct: Distinct,
    /// The same, if all of them are counted exactly.
    pub count: Option<u64>,
    /// The most active clients.
    pub top: StoredItems,
    /// Clients with fewer than 10 requests, with 10 to 100, and with more.
    pub activity: [u64; 3],
    /// The requests that these sent.
    pub activity_requests: [u64; 3],
    /// Whether the activity is that of all clients; otherwise clients that are in several captures count in each of them, or there
    /// were more of them than memory.
    pub is_activity_exact: bool,
}

impl ClientStatistics {
    fn of(clients: Clients, stores_all: bool) -> Self {
        let (table, distinct) = clients.finish();
        let mut statistics = Self {
            distinct,
            count: (table.error() == 0).then_some(table.len() as u64),
            top: StoredItems::of(&table, stores_all, shown_address),
            activity: [0; 3],
            activity_requests: [0; 3],
            is_activity_exact: table.error() == 0,
        };
        table
            .iter()
            .for_each(|(_, count)| statistics.count_client(count));
        statistics
    }

    fn count_client(&mut self, requests: u64) {
        let class = match requests {
            ..10 => 0,
            10..=100 => 1,
            _ => 2,
        };
        self.activity[class] += 1;
        self.activity_requests[class] += requests;
    }

    fn merge(&mut self, other: Self) {
        self.distinct.merge(&other.distinct);
        self.top.merge(other.top);
        self.is_activity_exact = self.top.is_exact();
        self.count = self.top.is_exact().then_some(self.top.items.len() as u64);
        if self.is_activity_exact {
            (self.activity, self.activity_requests) = ([0; 3], [0; 3]);
            let counts: Vec<u64> = self.top.items.iter().map(|(_, count)| *count).collect();
            counts
                .into_iter()
                .for_each(|count| self.count_client(count));
        } else {
            for class in 0..3 {
                self.activity[class] += other.activity[class];
                self.activity_requests[class] += other.activity_requests[class];
            }
        }
    }
}

fn shown_address(octets: &[u8]) -> String {
    if let Ok(octets) = <[u8; 4]>::try_from(octets) {
        return Ipv4Addr::from(octets).to_string();
    }
    let octets = <[u8; 16]>::try_from(octets).unwrap_or([0; 16]);
    IpAddr::from(Ipv6Addr::from(octets)).to_string()
}

/// What is in captures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    version: u32,
    /// What the requests are.
    pub counted_from: CountedFrom,
    /// When the first and the last packet were captured, in ns since 1970.
    pub span_ns: Option<(i64, i64)>,
    /// How long reading took, in seconds.
    pub reading_s: f64,
    /// Packets in all files.
    pub packets: u64,
    /// Octets of them that were captured.
    pub octets: u64,
    /// The files.
    pub files: Vec<FileSummary>,
    /// Packets without DNS.
    pub left_out: PacketCounts,
    /// Messages that are not whole.
    pub malformed: MalformedCounts,
    /// UDP datagrams in which further messages follow the first, which alone is counted.
    pub merged: u64,
    /// TCP connections and fragments.
    pub assembly: AssemblyCounts,
    /// Queries.
    pub queries: Side,
    /// Answers.
    pub answers: Side,
    /// Which of them belong together.
    pub answered: Answered,
    /// Names, if they were counted.
    pub names: Option<NameStatistics>,
    /// Clients.
    pub clients: ClientStatistics,
}

impl Statistics {
    /// The version of the form in which statistics are stored. A field that was added later and is zero where it is not stored is no
    /// other version; a field that means something else is.
    ///
    /// 2: a query's failure counts where the query does, by class, type and RD; pairs of class and type with a count of their own are the
    /// lowest ones, not the first; sizes of C-DNS are those that the file tells; data at wrong places of TCP are no messages.
    pub const VERSION: u32 = 2;

    /// The version of the form in which they were stored, or will be.
    pub fn version(&self) -> u32 {
        self.version
    }

    pub(super) fn of(
        counted_from: CountedFrom,
        stores_all: bool,
        tally: Tally,
        answered: Answered,
        assembly: AssemblyCounts,
        read: ReadSummary,
        reading: Duration,
    ) -> Self {
        let packets = read.packets();
        let [mut queries, mut answers] = tally.sides;
        queries.bring_up_to_date();
        answers.bring_up_to_date();
        Self {
            version: Self::VERSION,
            counted_from,
            span_ns: (packets > 0).then_some(tally.span_ns),
            reading_s: reading.as_secs_f64(),
            packets,
            octets: tally.octets,
            files: read.files,
            left_out: tally.left_out,
            malformed: tally.malformed,
            merged: tally.merged,
            assembly,
            queries,
            answers,
            answered,
            names: tally
                .names
                .map(|names| NameStatistics::of(names, stores_all)),
            clients: ClientStatistics::of(tally.clients, stores_all),
        }
    }

    /// Adds the statistics of other captures. All counts add up exactly; of names and clients, see [`StoredItems`] and
    /// [`ClientStatistics`].
    ///
    /// # Errors
    /// [`NotMergeable`], if the requests of one are queries and those of the other answers, if names were counted in one alone, or
    /// if one was stored by another version. Then nothing was added.
    pub fn merge(&mut self, other: Self) -> Result<(), NotMergeable> {
        let refuse = |why| Err(NotMergeable { why });
        if [self.version, other.version] != [Self::VERSION; 2] {
            return refuse(
                "one was stored by another version of dnsrig; make it anew from its captures",
            );
        }
        if self.counted_from != other.counted_from {
            return refuse(
                "in one the requests are queries, in the other answers; make them anew with the same --count",
            );
        }
        match (&mut self.names, other.names) {
            (Some(own), Some(other)) => own.merge(other),
            (None, None) => {}
            _ => return refuse("names were counted in one of them only; make the other anew"),
        }
        self.span_ns = match (self.span_ns, other.span_ns) {
            (Some(own), Some(other)) => Some((own.0.min(other.0), own.1.max(other.1))),
            (own, other) => own.or(other),
        };
        self.reading_s += other.reading_s;
        self.packets += other.packets;
        self.octets += other.octets;
        self.files.extend(other.files);
        self.left_out.add(&other.left_out);
        self.malformed.merge(&other.malformed);
        self.merged += other.merged;
        self.assembly.add(&other.assembly);
        self.queries.merge(&other.queries);
        self.answers.merge(&other.answers);
        self.answered.merge(&other.answered);
        self.clients.merge(other.clients);
        Ok(())
    }

    /// The side whose messages are the requests.
    pub fn requests(&self) -> &Side {
        match self.counted_from {
            CountedFrom::Queries => &self.queries,
            CountedFrom::Answers => &self.answers,
        }
    }

    /// Whether there is any DNS message, of whatever opcode.
    pub fn has_messages(&self) -> bool {
        self.queries.opcodes.total() + self.answers.opcodes.total() > 0
    }

    /// What there is instead of DNS messages, for an error.
    pub(super) fn found(&self) -> String {
        let (left_out, malformed) = (&self.left_out, &self.malformed);
        let tcp = &self.assembly.tcp;
        let others = [
            (malformed.cut_short, "cut off by the snapshot length"),
            (malformed.header + malformed.question, "malformed"),
            (tcp.packets, "TCP segments without a whole message"),
            (self.assembly.fragments.packets, "fragments"),
        ];
        found(&self.files, left_out.reasons().into_iter().chain(others))
    }
}

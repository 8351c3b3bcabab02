//! The parts of a report.

use crate::read::{FragmentCounts, PacketCounts};
use crate::stats::distinct::Distinct;
use crate::stats::histogram::Histogram;
use crate::stats::rates::Window;
use crate::stats::side::{Edns, Side};
use crate::stats::statistics::{ClientStatistics, NameStatistics, Statistics};
use crate::stats::stored_items::StoredItems;
use crate::stats::tally::MalformedCounts;
use serde::Serialize;
use std::collections::BTreeMap;

/// Names, zones and clients that a report lists.
const LISTED: usize = 20;

/// A count, and how many of it have failed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Failing {
    /// All.
    pub count: u64,
    /// Those that failed.
    pub failed: u64,
}

/// Times far from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockReport {
    /// Requests with such a time; beside them there may be other packets.
    pub requests: u64,
    /// The time of the first packet, in ns since 1970, if it is one of them.
    pub first_unix_ns: Option<i64>,
    /// That of the last.
    pub last_unix_ns: Option<i64>,
}

impl ClockReport {
    /// What was clipped of the time span of all packets.
    pub(super) fn of(
        all_ns: Option<(i64, i64)>,
        clipped_ns: Option<(i64, i64)>,
        window: Option<&Window>,
    ) -> Option<Self> {
        let (all_ns, clipped_ns) = (all_ns?, clipped_ns?);
        (all_ns != clipped_ns).then_some(Self {
            requests: window.map_or(0, |window| window.outside),
            first_unix_ns: (all_ns.0 != clipped_ns.0).then_some(all_ns.0),
            last_unix_ns: (all_ns.1 != clipped_ns.1).then_some(all_ns.1),
        })
    }
}

/// Which answers came.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AnswerReport {
    /// Answers of opcode QUERY.
    pub count: u64,
    /// Queries with an answer in time.
    pub answered: u64,
    /// Queries without.
    pub unanswered: u64,
    /// Answers without a query, or too late.
    pub unmatched: u64,
    /// Queries whose answers were no longer waited for, for want of memory.
    pub given_up: u64,
}

/// TCP to and from DNS ports.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TcpReport {
    /// Segments.
    pub packets: u64,
    /// Connections whose opening was captured.
    pub sessions: u64,
    /// Those of them closed with FIN.
    pub closed: u64,
    /// Those of them reset.
    pub reset: u64,
    /// Those of them with neither.
    pub never_closed: u64,
    /// Connections whose opening was not captured.
    pub joined: u64,
    /// Messages taken out of connections.
    pub messages: u64,
    /// Gaps: data that were not captured.
    pub gaps: u64,
    /// Messages of which only a part was there, because of a gap or the capture's end.
    pub incomplete: u64,
    /// Segments with data that could not be used, as it is not known where in them a message begins.
    pub unplaced: u64,
    /// Ends of connections that were read from a wrong place on until what followed was no message.
    pub misplaced: u64,
    /// Segments whose data had been there before.
    pub retransmitted: u64,
    /// Segments with a header that is cut off or contradicts itself.
    pub bad_header: u64,
    /// Segments that were given up for want of memory.
    pub given_up: u64,
    /// Segments among all packets of DNS.
    pub packet_share: f64,
    /// Segments by requests: the share that ISC-2008 prints, 5.7 % of F-root's.
    pub request_share: f64,
}

/// Requests of one class and type, or of all that are `other`: see [`crate::stats::TypeCounter`].
#[derive(Clone, Debug, Serialize)]
pub struct TypeReport {
    /// The class's mnemonic.
    pub class: String,
    /// The type's mnemonic.
    #[serde(rename = "type")]
    pub qtype: String,
    /// Requests.
    pub count: u64,
    /// Those that failed.
    pub failed: u64,
}

/// What lies below which share.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quantiles {
    /// The median.
    pub p50: u64,
    /// What 90 % do not exceed.
    pub p90: u64,
    /// What 95 % do not exceed.
    pub p95: u64,
    /// What 99 % do not exceed.
    pub p99: u64,
    /// What 99.9 % do not exceed.
    pub p999: u64,
    /// The greatest.
    pub max: u64,
    /// The mean.
    pub mean: f64,
}

impl Quantiles {
    pub(super) fn of(histogram: &Histogram) -> Option<Self> {
        let quantile = |share| histogram.quantile(share);
        Some(Self {
            p50: quantile(0.5)?,
            p90: quantile(0.9)?,
            p95: quantile(0.95)?,
            p99: quantile(0.99)?,
            p999: quantile(0.999)?,
            max: histogram.max()?,
            mean: histogram.mean()?,
        })
    }
}

/// Octets of whole messages.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SizeReport {
    /// The mean of queries.
    pub query_mean: Option<f64>,
    /// The mean of answers.
    pub answer_mean: Option<f64>,
    /// Answers with TC.
    pub truncated: u64,
    /// Of queries.
    pub query: Option<Quantiles>,
    /// Of answers.
    pub answer: Option<Quantiles>,
}

/// Requests with each flag.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FlagReport {
    /// RD.
    pub rd: u64,
    /// AD.
    pub ad: u64,
    /// CD.
    pub cd: u64,
    /// DO.
    pub r#do: u64,
}

/// Requests with EDNS.
#[derive(Clone, Debug, Serialize)]
pub struct EdnsReport {
    /// Requests with an OPT record.
    pub requests: u64,
    /// Those of them with another version than 0.
    pub other_versions: u64,
    /// By the UDP payload size that they give.
    pub udp_sizes: BTreeMap<u16, u64>,
    /// Options by code.
    pub options: BTreeMap<u16, u64>,
}

/// Clients.
#[derive(Clone, Debug, Serialize)]
pub struct ClientReport {
    /// Different clients.
    pub count: u64,
    /// The standard error of the count as a share of it; 0 if it is exact.
    pub error: f64,
    /// Clients by how many requests they sent.
    pub activity: Activity,
    /// The most active ones.
    pub top: TopList,
}

/// Clients with fewer than 10 requests, with 10 to 100, and with more.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Activity {
    /// Clients.
    pub clients: [u64; 3],
    /// Their requests.
    pub requests: [u64; 3],
    /// Whether this is exact.
    pub is_exact: bool,
}

/// Names.
#[derive(Clone, Debug, Serialize)]
pub struct NameReport {
    /// Different names.
    pub count: u64,
    /// The standard error of the count as a share of it; 0 if it is exact.
    pub error: f64,
    /// The most frequent names.
    pub top: TopList,
    /// The most frequent zones: top-level domains, and two levels below.
    pub zones: Vec<TopList>,
    /// The exponent of Zipf's law.
    pub zipf_exponent: Option<f64>,
    /// Requests for names whose top-level domain is not in the root zone.
    pub unknown_tld: u64,
    /// Requests for names with a label that seems to be random.
    pub random: u64,
}

/// The most frequent of something.
#[derive(Clone, Debug, Serialize)]
pub struct TopList {
    /// Each with its count.
    pub items: Vec<(String, u64)>,
    /// By how much a count can be too small; 0 if they are exact.
    pub error: u64,
}

impl TopList {
    pub(super) fn of(stored: &StoredItems) -> Self {
        Self {
            items: stored.items.iter().take(LISTED).cloned().collect(),
            error: stored.error,
        }
    }
}

/// Packets by what they held.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PacketReport {
    /// All.
    pub read: u64,
    /// Those to or from a DNS port.
    pub dns: u64,
    /// The others.
    pub not_dns: PacketCounts,
    /// DNS messages that are not as they should be.
    pub malformed: MalformedCounts,
    /// Those that hold several UDP datagrams, the messages of which are counted each.
    pub merged: u64,
    /// Fragments.
    pub fragments: FragmentCounts,
}

/// How fast captures were read.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Throughput {
    /// Time that reading took, in seconds.
    pub seconds: f64,
    /// Packets per second.
    pub packets_per_second: f64,
    /// Octets of packets per second.
    pub bytes_per_second: f64,
}

impl AnswerReport {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let (queries, answered) = (&statistics.queries, &statistics.answered);
        Self {
            count: statistics.answers.messages,
            answered: answered.queries,
            unanswered: queries.messages.saturating_sub(answered.queries),
            unmatched: answered.unmatched,
            given_up: answered.given_up,
        }
    }
}

impl SizeReport {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let (queries, answers) = (&statistics.queries, &statistics.answers);
        Self {
            query_mean: queries.octets.mean(),
            answer_mean: answers.octets.mean(),
            truncated: answers.flags.tc,
            query: Quantiles::of(&queries.octets),
            answer: Quantiles::of(&answers.octets),
        }
    }
}

impl TcpReport {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let tcp = &statistics.assembly.tcp;
        let dns = PacketReport::of(statistics).dns;
        Self {
            packets: tcp.packets,
            sessions: tcp.sessions.opened,
            closed: tcp.sessions.closed,
            reset: tcp.sessions.reset,
            never_closed: tcp.sessions.never_closed,
            joined: tcp.sessions.joined,
            messages: tcp.messages,
            gaps: tcp.gaps,
            incomplete: tcp.incomplete,
            unplaced: tcp.unplaced,
            misplaced: tcp.misplaced,
            retransmitted: tcp.retransmitted,
            bad_header: tcp.sessions.bad_header,
            given_up: tcp.sessions.given_up,
            packet_share: tcp.packets as f64 / dns.max(1) as f64,
            request_share: tcp.packets as f64 / statistics.requests().messages.max(1) as f64,
        }
    }
}

impl FlagReport {
    pub(super) fn of(requests: &Side) -> Self {
        Self {
            rd: requests.flags.rd,
            ad: requests.flags.ad,
            cd: requests.flags.cd,
            r#do: requests.edns.dnssec_ok,
        }
    }
}

impl EdnsReport {
    pub(super) fn of(edns: &Edns) -> Self {
        Self {
            requests: edns.messages,
            other_versions: edns.other_versions,
            udp_sizes: edns.udp_sizes.iter().collect(),
            options: edns.options.iter().collect(),
        }
    }
}

/// How many there are, and the standard error of that as a share of it.
fn distinct_count(exact: Option<u64>, distinct: &Distinct) -> (u64, f64) {
    match exact {
        Some(count) => (count, 0.0),
        None => (distinct.count().round() as u64, Distinct::ERROR),
    }
}

impl ClientReport {
    pub(super) fn of(clients: &ClientStatistics) -> Self {
        let (count, error) = distinct_count(clients.count, &clients.distinct);
        Self {
            count,
            error,
            activity: Activity {
                clients: clients.activity,
                requests: clients.activity_requests,
                is_exact: clients.is_activity_exact,
            },
            top: TopList::of(&clients.top),
        }
    }
}

impl NameReport {
    pub(super) fn of(names: &NameStatistics) -> Self {
        let (count, error) = distinct_count(names.count, &names.distinct);
        Self {
            count,
            error,
            top: TopList::of(&names.top),
            zones: names.zones.iter().map(TopList::of).collect(),
            zipf_exponent: names.zipf_exponent,
            unknown_tld: names.unknown_tld,
            random: names.random,
        }
    }
}

impl PacketReport {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let fragments = statistics.assembly.fragments;
        let others = statistics.left_out.total() + statistics.assembly.not_dns;
        Self {
            read: statistics.packets,
            dns: statistics.packets.saturating_sub(others),
            not_dns: statistics.left_out,
            malformed: statistics.malformed,
            merged: statistics.merged,
            fragments,
        }
    }
}

impl Throughput {
    pub(super) fn of(statistics: &Statistics) -> Self {
        let seconds = statistics.reading_s;
        Self {
            seconds,
            packets_per_second: statistics.packets as f64 / seconds.max(1e-9),
            bytes_per_second: statistics.octets as f64 / seconds.max(1e-9),
        }
    }
}

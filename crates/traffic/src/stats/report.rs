//! What statistics say: the figures of `dnsrig traffic stats --json`.

use super::Distinct;
use super::counter::{Counter, TypeCounter};
use super::histogram::Histogram;
use super::rates::RateSummary;
use super::side::{Edns, Side};
use super::statistics::{ClientStatistics, CountedFrom, NameStatistics, Statistics};
use super::stored_items::StoredItems;
use crate::message::Transport;
use crate::read::{FileSummary, FragmentCounts, PacketCounts};
use crate::stats::MalformedCounts;
use domain::base::iana::{Class, Opcode, OptRcode, Rtype};
use serde::Serialize;
use std::collections::BTreeMap;

/// Names, zones and clients that a report lists.
const LISTED: usize = 20;
const NS_PER_S: f64 = 1e9;

/// The figures of captures. Shares are from 0 to 1.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// When the first packet was captured, in ns since 1970.
    pub start_unix_ns: Option<i64>,
    /// Time from the first packet to the last, in seconds.
    pub seconds: f64,
    /// What the requests are.
    pub counted_from: CountedFrom,
    /// Requests: messages of opcode QUERY.
    pub requests: u64,
    /// Requests whose answer has another RCODE than NOERROR.
    pub failed: u64,
    /// Queries with an answer in time, those without, and answers without a query; all zero where requests are answers.
    pub answers: AnswerReport,
    /// Requests per second.
    pub rate_qps: RateSummary,
    /// Requests with RD.
    pub rd: Failing,
    /// Answers with AA.
    pub aa: u64,
    /// TCP.
    pub tcp: TcpReport,
    /// Requests by class and type: class IN first, then the most frequent.
    pub types: Vec<TypeReport>,
    /// Answers by RCODE.
    pub rcodes: BTreeMap<String, u64>,
    /// Queries by opcode, or answers where requests are answers.
    pub opcodes: BTreeMap<String, u64>,
    /// Time from query to answer in ns.
    pub latency_ns: Option<Quantiles>,
    /// Octets of messages.
    pub sizes: SizeReport,
    /// Flags of requests.
    pub flags: FlagReport,
    /// Requests with EDNS.
    pub edns: EdnsReport,
    /// Requests by transport.
    pub transports: BTreeMap<&'static str, u64>,
    /// Requests by address family.
    pub families: BTreeMap<&'static str, u64>,
    /// Clients.
    pub clients: ClientReport,
    /// Names, if they were counted.
    pub names: Option<NameReport>,
    /// Packets.
    pub packets: PacketReport,
    /// The files.
    pub files: Vec<FileSummary>,
    /// How fast they were read.
    pub throughput: Throughput,
}

/// A count, and how many of it have failed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Failing {
    /// All.
    pub count: u64,
    /// Those that failed.
    pub failed: u64,
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
    /// Segments among all packets of DNS.
    pub packet_share: f64,
}

/// Requests of one class and type.
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
    fn of(histogram: &Histogram) -> Option<Self> {
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
    fn of(stored: &StoredItems) -> Self {
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
    /// DNS messages that are not whole.
    pub malformed: MalformedCounts,
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

impl Report {
    /// What `statistics` say.
    pub fn of(statistics: &Statistics) -> Self {
        let requests = statistics.requests();
        let (queries, answers) = (&statistics.queries, &statistics.answers);
        let answered = &statistics.answered;
        let failed_types = match statistics.counted_from {
            CountedFrom::Queries => &answered.failed_types,
            CountedFrom::Answers => &answers.failed_types,
        };
        let (failed, failed_rd) = match statistics.counted_from {
            CountedFrom::Queries => (answered.failed, answered.failed_rd),
            CountedFrom::Answers => (
                answers.messages - answers.rcodes.get(0),
                answers.flags.rd_failed,
            ),
        };
        let span_ns = statistics.span_ns.unwrap_or_default();
        let seconds = (i128::from(span_ns.1) - i128::from(span_ns.0)) as f64 / NS_PER_S;
        Self {
            start_unix_ns: statistics.span_ns.map(|(first, _)| first),
            seconds,
            counted_from: statistics.counted_from,
            requests: requests.messages,
            failed,
            answers: AnswerReport {
                count: answers.messages,
                answered: answered.queries,
                unanswered: queries.messages.saturating_sub(answered.queries),
                unmatched: answered.unmatched,
            },
            rate_qps: requests.rates.summary(requests.messages, seconds),
            rd: Failing {
                count: requests.flags.rd,
                failed: failed_rd,
            },
            aa: answers.flags.aa,
            tcp: TcpReport::of(statistics),
            types: type_reports(&requests.types, failed_types),
            rcodes: by_name(&answers.rcodes, "RCODE", |rcode| {
                OptRcode::masked_from_int(rcode).to_mnemonic_str()
            }),
            opcodes: by_name(&requests.opcodes, "OPCODE", |opcode| {
                Opcode::from_int(opcode as u8).to_mnemonic_str()
            }),
            latency_ns: Quantiles::of(&answered.latency_ns),
            sizes: SizeReport {
                query_mean: queries.octets.mean(),
                answer_mean: answers.octets.mean(),
                truncated: answers.flags.tc,
                query: Quantiles::of(&queries.octets),
                answer: Quantiles::of(&answers.octets),
            },
            flags: FlagReport::of(requests),
            edns: EdnsReport::of(&requests.edns),
            transports: Transport::ALL
                .iter()
                .zip(requests.transports)
                .filter(|(_, count)| *count > 0)
                .map(|(transport, count)| (transport.name(), count))
                .collect(),
            families: ["ipv4", "ipv6"]
                .into_iter()
                .zip(requests.families)
                .collect(),
            clients: ClientReport::of(&statistics.clients),
            names: statistics.names.as_ref().map(NameReport::of),
            packets: PacketReport::of(statistics),
            files: statistics.files.clone(),
            throughput: Throughput::of(statistics),
        }
    }
}

/// Counts by mnemonic; a number without one stands after `prefix`.
fn by_name(
    counter: &Counter,
    prefix: &str,
    mnemonic: impl Fn(u16) -> Option<&'static str>,
) -> BTreeMap<String, u64> {
    let name = |number| mnemonic(number).map_or_else(|| format!("{prefix}{number}"), str::to_owned);
    counter
        .iter()
        .map(|(number, count)| (name(number), count))
        .collect()
}

fn type_reports(types: &TypeCounter, failed: &TypeCounter) -> Vec<TypeReport> {
    let mut rows: Vec<_> = types.iter().collect();
    let internet = Class::IN.to_int();
    rows.sort_by_key(|(qclass, qtype, count)| {
        (
            *qclass != internet,
            std::cmp::Reverse(*count),
            *qclass,
            *qtype,
        )
    });
    rows.into_iter()
        .map(|(qclass, qtype, count)| TypeReport {
            class: Class::from_int(qclass).to_string(),
            qtype: Rtype::from_int(qtype).to_string(),
            count,
            failed: failed.get(qclass, qtype),
        })
        .collect()
}

impl TcpReport {
    fn of(statistics: &Statistics) -> Self {
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
            packet_share: tcp.packets as f64 / dns.max(1) as f64,
        }
    }
}

impl FlagReport {
    fn of(requests: &Side) -> Self {
        Self {
            rd: requests.flags.rd,
            ad: requests.flags.ad,
            cd: requests.flags.cd,
            r#do: requests.edns.dnssec_ok,
        }
    }
}

impl EdnsReport {
    fn of(edns: &Edns) -> Self {
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
    fn of(clients: &ClientStatistics) -> Self {
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
    fn of(names: &NameStatistics) -> Self {
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
    fn of(statistics: &Statistics) -> Self {
        let fragments = statistics.assembly.fragments;
        let others = statistics.left_out.total() + statistics.assembly.not_dns;
        Self {
            read: statistics.packets,
            dns: statistics.packets.saturating_sub(others),
            not_dns: statistics.left_out,
            malformed: statistics.malformed,
            fragments,
        }
    }
}

impl Throughput {
    fn of(statistics: &Statistics) -> Self {
        let seconds = statistics.reading_s;
        Self {
            seconds,
            packets_per_second: statistics.packets as f64 / seconds.max(1e-9),
            bytes_per_second: statistics.octets as f64 / seconds.max(1e-9),
        }
    }
}

//! What statistics say: the figures of `dnsrig traffic stats --json`.

mod parts;

pub use parts::{
    Activity, AnswerReport, ClientReport, ClockReport, EdnsReport, Failing, FlagReport, NameReport,
    PacketReport, Quantiles, SizeReport, TcpReport, Throughput, TopList, TypeReport,
};

use super::counter::{Counter, TypeCounter};
use super::rates::RateSummary;
use super::statistics::{CountedFrom, Statistics};
use crate::message::Transport;
use crate::read::FileSummary;
use domain::base::iana::{Class, Opcode, OptRcode, Rtype};
use serde::Serialize;
use std::collections::BTreeMap;

const NS_PER_S: f64 = 1e9;

/// The figures of captures. Shares are from 0 to 1.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// When the first packet was captured, in ns since 1970.
    pub start_unix_ns: Option<i64>,
    /// Time from the first packet to the last, in seconds.
    pub seconds: f64,
    /// Times that are so far from all others that the clock seems to have been wrong; `None` if there are none. Start, duration
    /// and rates are without them.
    pub clock: Option<ClockReport>,
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

impl Report {
    /// What `statistics` say.
    pub fn of(statistics: &Statistics) -> Self {
        let (requests, answers) = (statistics.requests(), &statistics.answers);
        let (failed, failed_rd, failed_types) = failures(statistics);
        let window = requests.rates.window();
        let span_ns = statistics
            .span_ns
            .map(|span_ns| window.map_or(span_ns, |window| window.clipped(span_ns)));
        let (first_ns, last_ns) = span_ns.unwrap_or_default();
        let seconds = (i128::from(last_ns) - i128::from(first_ns)) as f64 / NS_PER_S;
        let transports = Transport::ALL.map(Transport::name);
        Self {
            start_unix_ns: span_ns.map(|(first_ns, _)| first_ns),
            seconds,
            counted_from: statistics.counted_from,
            requests: requests.messages,
            failed,
            answers: AnswerReport::of(statistics),
            clock: ClockReport::of(statistics.span_ns, span_ns, window.as_ref()),
            rate_qps: window
                .map(|window| requests.rates.summary(&window, requests.messages, seconds))
                .unwrap_or_default(),
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
            latency_ns: Quantiles::of(&statistics.answered.latency_ns),
            sizes: SizeReport::of(statistics),
            flags: FlagReport::of(requests),
            edns: EdnsReport::of(&requests.edns),
            transports: transports
                .into_iter()
                .zip(requests.transports)
                .filter(|(_, count)| *count > 0)
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

/// Requests that failed, those of them with RD, and all of them by question.
fn failures(statistics: &Statistics) -> (u64, u64, &TypeCounter) {
    let (answers, answered) = (&statistics.answers, &statistics.answered);
    match statistics.counted_from {
        CountedFrom::Queries => (answered.failed, answered.failed_rd, &answered.failed_types),
        CountedFrom::Answers => (
            answers.messages - answers.rcodes.get(0),
            answers.flags.rd_failed,
            &answers.failed_types,
        ),
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
    // What has no room among the requests may have it among those that failed.
    let has_row = |pair: (u16, u16)| types.get(pair.0, pair.1) > 0 && pair != TypeCounter::REST;
    let failed_rest = || -> u64 {
        let rest = failed.iter().filter(|row| !has_row((row.0, row.1)));
        rest.map(|(.., count)| count).sum()
    };
    rows.into_iter()
        .map(|(qclass, qtype, count)| match (qclass, qtype) {
            TypeCounter::REST => TypeReport {
                class: "other".to_owned(),
                qtype: "other".to_owned(),
                count,
                failed: failed_rest(),
            },
            _ => TypeReport {
                class: Class::from_int(qclass).to_string(),
                qtype: Rtype::from_int(qtype).to_string(),
                count,
                failed: failed.get(qclass, qtype),
            },
        })
        .collect()
}

//! The figures of a capture as a profile.

use super::RARE;
use super::clients::{ClientFacts, Seen};
use super::counts::rounded;
use super::names::NameTally;
use super::seconds::CountedSeconds;
use super::tally::{AnswerTally, Tally};
use crate::profile::{
    AnswerFigures, ClientGroup, NameFigures, OpcodeFigures, Profile, QueryFigures, RcodeShare,
    TransportFigures, TypeFigures,
};
use domain::base::iana::{Class, Opcode, Rcode, Rtype};
use serde::Serialize;

/// The profile whose figures stand for what a capture does not tell.
const DEFAULT: &str = "resolver-2022";

/// What a profile was made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitSummary {
    /// Queries: what was counted.
    pub queries: u64,
    /// Answers to them.
    pub answers: u64,
    /// Whether only the server's side was captured, so that queries were counted by their answers.
    pub is_answers_only: bool,
    /// From the first query to the last, in seconds.
    pub duration_s: f64,
    /// Queries whose time is so far from all others that their clock was wrong; rate and duration are without them.
    pub out_of_time: u64,
    /// Different clients; an estimate where not all were followed.
    pub clients: u64,
    /// One in so many clients was followed, as memory is bounded.
    pub clients_for_each_followed: u64,
    /// Messages that are not whole.
    pub malformed: u64,
}

/// Writes the profile `name`.
pub(super) fn write(tally: &Tally, name: &str) -> (String, FitSummary) {
    let seconds = tally.seconds.finish();
    let summary = FitSummary {
        queries: tally.queries.count,
        answers: tally.answers.count,
        is_answers_only: !tally.has_queries,
        duration_s: seconds.duration_s,
        out_of_time: seconds.outside,
        clients: tally.clients.count(),
        clients_for_each_followed: tally.clients.for_each_followed(),
        malformed: tally.malformed,
    };
    let default = Profile::open(DEFAULT).expect("comes with dnsrig and is tested");
    let profile = profile(tally, &seconds, name, &default);
    let measured = format!(
        "measured: in a capture of {} queries and {} answers over {} s, by dnsrig traffic fit",
        summary.queries,
        summary.answers,
        rounded(summary.duration_s)
    );
    let of_clients = match summary.clients_for_each_followed {
        1 => measured.clone(),
        each => format!("{measured}, which followed one in {each} clients"),
    };
    let said = provenance(tally, &profile, [&measured, &of_clients]);
    let text = profile.to_toml(&comments(&summary), &said);
    (text, summary)
}

fn comments(summary: &FitSummary) -> String {
    let side = match summary.is_answers_only {
        true => "Only the server's side was captured: queries were counted by their answers.\n",
        false => "",
    };
    format!(
        "Made of a capture by `dnsrig traffic fit`. It holds counts and distributions only: no name, no label, no address and no\n\
         time of the capture but hours of the day, so that it can be given to others where the capture cannot.\n{side}"
    )
}

/// Where each table and figure is from; what is said of all measured figures, and of those of clients.
fn provenance<'a>(
    tally: &Tally,
    profile: &Profile,
    [measured, of_clients]: [&'a str; 2],
) -> Vec<(&'a str, &'a str)> {
    const NO_ANSWERS: &str = "assumed: as in resolver-2022, as the capture holds no answers";
    const FEW_ANSWERS: &str = "assumed: as in resolver-2022, as the capture holds answers to fewer than one in ten queries, and only at times or to some clients";
    const NO_FAILURES: &str = "assumed: none, as the capture holds no answers, or to few queries";
    const NO_CACHING: &str = "assumed: as in resolver-2022, as the capture holds answers to fewer than half of the queries";
    const ANY_OUTCOME: &str = "derived: of queries by type, whatever their answers, as the capture holds answers to fewer than half of them";
    let of_answers = match (tally.has_answers(), tally.answers.count) {
        (true, _) => measured,
        (false, 0) => NO_ANSWERS,
        (false, _) => FEW_ANSWERS,
    };
    let mut found = vec![
        ("rate", measured),
        ("clients", of_clients),
        (
            "clients.round_trip_ms",
            "assumed: as in resolver-2022, as captures do not tell it",
        ),
        ("types", measured),
        ("queries", measured),
        ("queries.rd_failed", of_answers),
        ("names", of_answers),
        ("missing_names", of_answers),
        ("missing", of_answers),
        ("transports", measured),
        (
            "transports.tcp_sessions",
            "derived: measured queries by TCP, TLS and HTTPS, each in a session of its own",
        ),
        ("transports.tcp_abandoned", "assumed: none"),
        ("answers", of_answers),
    ];
    if !profile.opcodes.is_empty() {
        found.push(("opcodes", measured));
    }
    if !tally.has_answers() {
        found.extend([
            ("types.failed", NO_FAILURES),
            ("types.no_data", NO_FAILURES),
        ]);
    }
    if !tally.has_answers_in_row() {
        found.extend([
            ("clients.caching", NO_CACHING),
            ("clients.repeats", ANY_OUTCOME),
            ("queries.paired", ANY_OUTCOME),
        ]);
    }
    if tally.latency.total() == 0 && tally.answers.count > 0 {
        found.push((
            "answers.latency_ms",
            "assumed: as in resolver-2022, as the capture holds no queries",
        ));
        found.push((
            "answers.unanswered",
            "derived: queries were counted by their answers",
        ));
    }
    // What a table says of itself goes before what is said of it here; a figure before its table.
    found
}

/// The mnemonic of an RCODE that fits into a header.
fn mnemonic(rcode: u16) -> Option<&'static str> {
    let rcode = u8::try_from(rcode).ok().and_then(Rcode::checked_from_int)?;
    rcode.to_mnemonic_str()
}

fn share(part: u64, whole: u64) -> f64 {
    rounded(part as f64 / whole.max(1) as f64)
}

fn profile(tally: &Tally, seconds: &CountedSeconds, name: &str, default: &Profile) -> Profile {
    let facts = tally.clients.facts(&Seen {
        duration_s: seconds.duration_s,
        has_answers: tally.has_answers_in_row(),
        has_referrals: has_referrals(&tally.answers),
    });
    let has_answers = tally.has_answers();
    let or_default = |names: &NameTally, default: &NameFigures| match has_answers {
        true => names.figures(default),
        false => default.clone(),
    };
    Profile {
        name: name.to_owned(),
        title: "Fitted to a capture".to_owned(),
        rate: seconds.rate(),
        queries: queries(tally, facts.paired, default),
        clients: vec![clients(facts, default)],
        types: types(tally),
        opcodes: opcodes(tally),
        names: or_default(&tally.names, &default.names),
        missing_names: or_default(&tally.missing_names, &default.missing_names),
        missing: match has_answers {
            true => tally.missing.figures(&tally.names, &default.missing),
            false => default.missing.clone(),
        },
        transports: TransportFigures {
            tcp_sessions: share(tally.queries.by_tcp, tally.queries.count),
            tcp_abandoned: 0.0,
        },
        answers: answers(tally, default),
        provenance: Default::default(),
    }
}

fn clients(facts: ClientFacts, default: &Profile) -> ClientGroup {
    ClientGroup {
        name: "all".to_owned(),
        queries: 1.0,
        clients: facts.count as f64,
        activity: facts.activity,
        ipv6: facts.ipv6,
        caching: facts.caching.unwrap_or(default.clients[0].caching),
        repeats: facts.repeats,
        burst_queries: facts.burst_queries,
        burst_ms: facts.burst_ms,
        round_trip_ms: default.clients[0].round_trip_ms.clone(),
    }
}

/// Whether so many of so many may be told of by themselves. Of a capture so small that nothing is frequent, all is told.
fn is_told(count: u64, of: u64) -> bool {
    count >= RARE || of < RARE * RARE
}

fn types(tally: &Tally) -> Vec<TypeFigures> {
    // Where all are rare, the most frequent is told.
    let most = tally.types.values().map(|figures| figures.count).max();
    let told = tally.types.iter().filter(|(_, figures)| {
        is_told(figures.count, tally.queries.count)
            || most.is_some_and(|most| most < RARE && figures.count == most)
    });
    let mut types: Vec<TypeFigures> = told
        .map(|(&(class, rtype), figures)| {
            // Unanswered queries would have had the answers of the others.
            let scale = match tally.has_answers() {
                true => figures.count as f64 / figures.answered.max(1) as f64,
                false => 0.0,
            };
            let scaled = |count: u64| (count as f64 * scale).round();
            let failed = scaled(figures.failed).min(figures.count as f64);
            TypeFigures {
                class: Class::from_int(class).to_string(),
                rtype: Rtype::from_int(rtype).to_string(),
                count: figures.count as f64,
                failed,
                no_data: scaled(figures.no_data).min(figures.count as f64 - failed),
                failed_rcode: None,
            }
        })
        .collect();
    types.sort_by(|a, b| b.count.total_cmp(&a.count));
    types
}

fn opcodes(tally: &Tally) -> Vec<OpcodeFigures> {
    let told = tally
        .opcodes
        .iter()
        .filter(|(_, (count, _))| is_told(*count, tally.queries.count) && *count > 0);
    told.map(|(&opcode, (count, rcodes))| {
        let most_frequent = rcodes.iter().max_by_key(|(_, count)| **count);
        let rcode = most_frequent.and_then(|(rcode, _)| mnemonic(*rcode));
        OpcodeFigures {
            opcode: match Opcode::from_int(opcode) {
                Opcode::UPDATE => "UPDATE",
                _ => "NOTIFY",
            }
            .to_owned(),
            share: share(*count, tally.queries.count).min(1.0),
            rcode: rcode.unwrap_or("NOERROR").to_owned(),
        }
    })
    .collect()
}

fn queries(tally: &Tally, paired: f64, default: &Profile) -> QueryFigures {
    let queries = &tally.queries;
    let told = queries
        .sizes
        .iter()
        .filter(|(_, count)| is_told(**count, queries.edns));
    let sizes: Vec<[f64; 2]> = told
        .map(|(&size, &count)| [size.into(), share(count, queries.edns)])
        .collect();
    QueryFigures {
        rd: share(queries.rd, queries.count),
        rd_failed: match tally.answers.rd {
            _ if !tally.has_answers() => default.queries.rd_failed,
            0 => default.queries.rd_failed,
            rd => share(tally.answers.rd_failed, rd).min(1.0),
        },
        ad: share(queries.ad, queries.count),
        cd: share(queries.cd, queries.count),
        edns: share(queries.edns, queries.count),
        edns_sizes: if sizes.is_empty() {
            default.queries.edns_sizes.clone()
        } else {
            sizes
        },
        dnssec_ok: share(queries.dnssec_ok, queries.edns),
        cookies: share(queries.cookies, queries.edns),
        paired,
    }
}

/// Whether most of what succeeds is a referral, as with servers of the root and of top-level domains.
fn has_referrals(answers: &AnswerTally) -> bool {
    2 * answers.referrals > answers.count - answers.failed
}

fn answers(tally: &Tally, default: &Profile) -> AnswerFigures {
    let answers = &tally.answers;
    if !tally.has_answers() {
        return default.answers.clone();
    }
    let failures = answers
        .rcodes
        .iter()
        .filter(|(rcode, count)| **rcode != 0 && is_told(**count, answers.count));
    let mut failed_rcodes: Vec<RcodeShare> = failures
        .filter_map(|(&rcode, &count)| {
            Some(RcodeShare {
                rcode: mnemonic(rcode)?.to_owned(),
                share: share(count, answers.failed),
            })
        })
        .collect();
    if failed_rcodes.is_empty() {
        failed_rcodes.clone_from(&default.answers.failed_rcodes);
    }
    let succeeded = answers.count - answers.failed;
    AnswerFigures {
        failed_rcodes,
        aa: share(answers.aa, answers.count),
        ra: share(answers.ra, answers.count),
        ad: share(answers.ad, succeeded),
        referrals: has_referrals(answers),
        truncated: share(answers.truncated, answers.by_udp),
        unanswered: match tally.has_queries {
            true => share(
                tally.queries.count.saturating_sub(answers.count),
                tally.queries.count,
            ),
            false => 0.0,
        },
        aliases: share(answers.aliases, answers.addresses),
        latency_ms: match tally.latency.total() {
            0 => default.answers.latency_ms.clone(),
            _ => tally.latency.quantiles_ms(),
        },
    }
}

//! Profiles of traffic that was synthesised.

use super::Fitting;
use crate::message::{Endpoint, Message, SentLen, Transport};
use crate::profile::{NAMED, Profile};
use crate::synthesise::{Format, Packets, Plan, Watch, synthesise};
use crate::wire::{View, labels};
use dnsrig_stream::capture::PacketReader;
use dnsrig_stream::capture::ip::{IpPacket, TCP, Udp};
use dnsrig_stream::capture::link::Frame;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

/// A capture of `profile`, as messages.
struct Made {
    messages: Vec<(i64, Endpoint, Endpoint, Transport, Vec<u8>)>,
}

impl Made {
    fn of(profile: &Profile, queries: u64, packets: Packets) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.pcap");
        let plan = Plan {
            rate_qps: None,
            duration_s: Some(100.0),
            queries: Some(queries),
            start_ns: None,
            seed: 3,
            format: Format::Pcap,
            packets,
        };
        let watch = Watch {
            cancel: &AtomicBool::new(false),
            progress: &|_| {},
        };
        synthesise(profile, &plan, &path, &watch).unwrap();
        let file = std::fs::read(&path).unwrap();
        let mut reader = PacketReader::new(&file[..]).unwrap();
        let mut messages = Vec::new();
        while let Some(packet) = reader.next_packet().unwrap() {
            let ip = IpPacket::parse(Frame::parse(101, packet.octets)).unwrap();
            let port = |at: usize| u16::from_be_bytes([ip.payload[at], ip.payload[at + 1]]);
            let ends = [
                Endpoint::new(ip.source, port(0)),
                Endpoint::new(ip.destination, port(2)),
            ];
            let (transport, octets) = match ip.protocol {
                // Every message is in a segment of its own, after its length.
                TCP => (Transport::Tcp, ip.payload.get(22..).unwrap_or_default()),
                _ => (
                    Transport::Udp,
                    Udp::parse(ip.payload).unwrap().payload.unwrap(),
                ),
            };
            if !octets.is_empty() {
                messages.push((
                    packet.time_ns.unwrap(),
                    ends[0],
                    ends[1],
                    transport,
                    octets.to_vec(),
                ));
            }
        }
        Self { messages }
    }

    fn fitted(&self) -> (String, super::FitSummary) {
        let mut fitting = Fitting::default();
        for (number, (time_ns, source, destination, transport, octets)) in (1..).zip(&self.messages)
        {
            fitting.message(&Message {
                time_ns: *time_ns,
                source: *source,
                destination: *destination,
                transport: *transport,
                octets,
                is_cut: false,
                sent_len: SentLen::Own,
                number,
            });
        }
        fitting.finish("again").unwrap()
    }
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found}, not {expected}"
    );
}

/// Types are as frequent, and fail as often, as those of 40,000 queries should.
fn check_types(profile: &Profile, again: &Profile) {
    let total: f64 = profile.types.iter().map(|figures| figures.count).sum();
    for figures in profile
        .types
        .iter()
        .filter(|figures| figures.count / total > 0.01)
    {
        let found = again
            .types
            .iter()
            .find(|found| (&found.rtype, &found.class) == (&figures.rtype, &figures.class));
        let found = found.unwrap();
        near(
            found.count / 40_000.0,
            figures.count / total,
            0.001,
            &figures.rtype,
        );
        near(
            found.failed / found.count,
            figures.failed / figures.count,
            0.01,
            &figures.rtype,
        );
        near(
            found.no_data / found.count,
            figures.no_data / figures.count,
            0.02,
            &figures.rtype,
        );
    }
}

#[test]
fn a_profile_of_what_a_profile_made_is_like_it() {
    for (name, _) in NAMED {
        let profile = Profile::open(name).unwrap();
        let (text, summary) = Made::of(&profile, 40_000, Packets::Both).fitted();
        let again = Profile::parse("again", &text).unwrap();
        assert_eq!(
            (summary.queries, summary.malformed, summary.is_answers_only),
            (40_000, 0, false)
        );
        near(again.rate.mean_qps, 400.0, 6.0, "rate");
        check_types(&profile, &again);
        let (was, is) = (&profile.queries, &again.queries);
        for (what, was, is) in [
            ("rd", was.rd, is.rd),
            ("rd_failed", was.rd_failed, is.rd_failed),
            ("edns", was.edns, is.edns),
            ("dnssec_ok", was.dnssec_ok, is.dnssec_ok),
            ("cookies", was.cookies, is.cookies),
            ("aa", profile.answers.aa, again.answers.aa),
            ("ra", profile.answers.ra, again.answers.ra),
            (
                "unanswered",
                profile.answers.unanswered,
                again.answers.unanswered,
            ),
            (
                "tcp",
                profile.transports.tcp_sessions,
                again.transports.tcp_sessions,
            ),
        ] {
            near(is, was, 0.02, what);
        }
        assert_eq!(profile.answers.referrals, again.answers.referrals);
        assert_eq!(profile.opcodes.len(), again.opcodes.len());
        // And it can be synthesised.
        assert_eq!(
            Made::of(&again, 1000, Packets::Queries).messages.len() as f64,
            (1000.0 * (1.0 + again.opcodes.iter().map(|item| item.share).sum::<f64>())).round()
        );
    }
}

/// The clients that traffic of `profile` shows, and the profile of that.
fn fitted_again(profile: &Profile) -> (f64, Profile) {
    let (text, summary) = Made::of(profile, 40_000, Packets::Both).fitted();
    let again = Profile::parse("again", &text).unwrap();
    (summary.clients as f64, again)
}

#[test]
fn clients_and_their_habits_stay_from_profile_to_profile() {
    for (name, _) in NAMED {
        let (mut seen, mut profile) = fitted_again(&Profile::open(name).unwrap());
        for round in 0..3 {
            let (seen_again, next) = fitted_again(&profile);
            let what = |figure: &str| format!("{name}, {figure} of round {round}");
            near(seen_again / seen, 1.0, 0.1, &what("clients seen"));
            let (was, is) = (&profile.clients[0], &next.clients[0]);
            // Chao's estimator is a lower bound: of very unequal clients it tells fewer.
            near(is.clients / was.clients, 0.85, 0.25, &what("clients"));
            near(
                is.burst_queries / was.burst_queries,
                1.0,
                0.1,
                &what("queries of a burst"),
            );
            near(
                is.burst_ms / was.burst_ms,
                1.0,
                0.15,
                &what("time of a burst"),
            );
            near(is.caching, was.caching, 0.12, &what("caching"));
            near(is.repeats, was.repeats, 0.08, &what("repeats"));
            let (was, is) = (&profile.queries, &next.queries);
            near(is.paired, was.paired, 0.05, &what("pairs"));
            (seen, profile) = (seen_again, next);
        }
    }
}

/// What a named profile says of habits, a capture of what it made tells again.
#[test]
fn clients_that_ask_without_a_pause_are_as_many_as_were_seen() {
    // As a load generator's do: each has one burst, and none is left to be seen.
    let message = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x03www\x04test\0\0\x01\0\x01";
    let server = Endpoint::new([198, 51, 100, 53], 53);
    let messages = (0..2000_i64).map(|number| {
        let client = Endpoint::new([192, 0, 2, (number % 4) as u8], 4000);
        let time_ns = 1_700_000_000_000_000_000 + number * 1_000_000;
        (time_ns, client, server, Transport::Udp, message.to_vec())
    });
    let made = Made {
        messages: messages.collect(),
    };
    let profile = Profile::parse("fitted", &made.fitted().0).unwrap();
    assert_eq!(profile.clients[0].clients.round(), 4.0);
}

#[test]
fn habits_are_those_of_the_profile() {
    for (name, repeats, tolerance) in [("root-2006", 0.9, 0.08), ("resolver-2022", 0.028, 0.01)] {
        let profile = Profile::open(name).unwrap();
        let (_, again) = fitted_again(&profile);
        near(again.clients[0].repeats, repeats, tolerance, name);
        near(again.queries.paired, profile.queries.paired, 0.05, name);
    }
}

/// Times from query to answer in ns, the shortest first.
fn latencies_ns(made: &Made) -> Vec<i64> {
    let (mut asked, mut found) = (HashMap::new(), Vec::new());
    for (time_ns, source, destination, _, octets) in &made.messages {
        let header = View::parse(octets).unwrap().header;
        match header.is_answer() {
            false => drop(asked.insert((*source, header.id), *time_ns)),
            true => found.extend(
                asked
                    .remove(&(*destination, header.id))
                    .map(|asked_ns| time_ns - asked_ns),
            ),
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn latencies_stay_from_profile_to_profile() {
    let mut profile = Profile::open("resolver-2022").unwrap();
    let first = latencies_ns(&Made::of(&profile, 8000, Packets::Both));
    assert!(first.len() > 7000);
    for round in 0..3 {
        let made = Made::of(&profile, 8000, Packets::Both);
        let found = latencies_ns(&made);
        for permille in [100, 500, 750, 800, 900, 920, 950, 970, 990] {
            let longest = first[first.len() * permille / 1000];
            let share = found.partition_point(|ns| *ns <= longest) as f64 / found.len() as f64;
            // By chance, each round is off from the one before it.
            let quantile = permille as f64 / 1000.0;
            let variance = f64::from(round + 1) * quantile * (1.0 - quantile) / found.len() as f64;
            near(
                share,
                quantile,
                3.0 * variance.sqrt() + 0.004,
                &format!("round {round}"),
            );
        }
        profile = Profile::parse("again", &made.fitted().0).unwrap();
    }
}

#[test]
fn where_only_answers_were_captured_they_are_counted() {
    let profile = Profile::open("root-2006").unwrap();
    let (text, summary) = Made::of(&profile, 10_000, Packets::Answers).fitted();
    assert_eq!(
        (summary.queries, summary.answers, summary.is_answers_only),
        (10_000, 10_000, true)
    );
    let again = Profile::parse("again", &text).unwrap();
    near(again.queries.rd_failed, 0.387, 0.005, "rd_failed");
    assert!(again.provenance["answers.latency_ms"].starts_with("assumed: "));
    assert!(again.provenance["answers.aa"].starts_with("measured: "));
}

#[test]
fn a_capture_without_answers_says_what_is_assumed() {
    let profile = Profile::open("root-2006").unwrap();
    let (text, _) = Made::of(&profile, 5000, Packets::Queries).fitted();
    let again = Profile::parse("again", &text).unwrap();
    assert!(again.provenance["types[1].count"].starts_with("measured: "));
    for path in ["answers.aa", "names.count", "queries.rd_failed"] {
        assert!(again.provenance[path].starts_with("assumed: "), "{path}");
    }
}

#[test]
fn a_few_stray_answers_do_not_decide_for_all_queries() {
    let profile = Profile::open("root-2006").unwrap();
    let mut made = Made::of(&profile, 20_000, Packets::Both);
    let queries = Made::of(&profile, 20_000, Packets::Queries);
    let without = Profile::parse("again", &queries.fitted().0).unwrap();
    let mut answers = 0;
    made.messages.retain(|(.., octets)| {
        let is_answer = View::parse(octets).unwrap().header.is_answer();
        answers += u64::from(is_answer);
        !is_answer || answers <= 20
    });
    let (text, summary) = made.fitted();
    assert_eq!(summary.answers, 20);
    let again = Profile::parse("again", &text).unwrap();
    // What is repeated is counted of all queries, by type alone.
    let (was, is) = (&without.clients[0], &again.clients[0]);
    near(is.repeats, was.repeats, 0.02, "repeats");
    near(again.queries.paired, without.queries.paired, 0.02, "pairs");
    let default = Profile::open("resolver-2022").unwrap();
    assert_eq!(again.clients[0].caching, default.clients[0].caching);
    assert_eq!(
        (&again.answers, &again.names),
        (&default.answers, &default.names)
    );
    for (path, kind) in [
        ("answers.unanswered", "assumed: "),
        ("clients[1].caching", "assumed: "),
        ("clients[1].repeats", "derived: "),
        ("clients[1].activity.top", "measured: "),
        ("names.count", "assumed: "),
        ("types[1].count", "measured: "),
        ("types[1].failed", "assumed: "),
    ] {
        let said = &again.provenance[path];
        assert!(said.starts_with(kind), "{path}: {said}");
    }
}

#[test]
fn a_server_that_leaves_most_queries_unanswered_is_told_from_a_capture_without_answers() {
    let mut profile = Profile::open("root-2006").unwrap();
    profile.answers.unanswered = 0.95;
    let mut made = Made::of(&profile, 20_000, Packets::Both);
    let again = Profile::parse("again", &made.fitted().0).unwrap();
    near(again.answers.unanswered, 0.95, 0.005, "unanswered");
    near(again.answers.aa, profile.answers.aa, 0.05, "aa");
    for path in ["answers.unanswered", "names.count", "types[1].failed"] {
        let said = &again.provenance[path];
        assert!(said.starts_with("measured: "), "{path}: {said}");
    }
    // All that is asked is answered, but the answers of most clients go another way.
    profile.answers.unanswered = 0.0;
    made = Made::of(&profile, 20_000, Packets::Both);
    made.messages.retain(|(_, source, destination, _, _)| {
        source.port != 53 || super::tally::hash_of(&destination.address) % 20 == 0
    });
    let (text, summary) = made.fitted();
    assert!(
        (100..2000).contains(&summary.answers),
        "{}",
        summary.answers
    );
    let again = Profile::parse("again", &text).unwrap();
    let default = Profile::open("resolver-2022").unwrap();
    assert_eq!(again.answers, default.answers);
    assert!(again.provenance["answers.unanswered"].starts_with("assumed: "));
}

#[test]
fn a_packet_with_a_wrong_clock_changes_no_figure_but_its_own() {
    const YEAR_NS: i64 = 365 * 86_400 * 1_000_000_000;
    let profile = Profile::open("root-2006").unwrap();
    let mut made = Made::of(&profile, 10_000, Packets::Queries);
    let before = Profile::parse("again", &made.fitted().0).unwrap();
    for (place, years) in [(0, -20), (5000, 60)] {
        let mut strange = made.messages[place].clone();
        strange.0 += years * YEAR_NS;
        made.messages.insert(place, strange);
    }
    let (text, summary) = made.fitted();
    assert_eq!((summary.queries, summary.out_of_time), (10_002, 2));
    near(summary.duration_s, 100.0, 1.0, "duration");
    let after = Profile::parse("again", &text).unwrap();
    near(after.rate.mean_qps, before.rate.mean_qps, 1.0, "rate");
    let (was, is) = (&before.clients[0], &after.clients[0]);
    near(is.burst_queries / was.burst_queries, 1.0, 0.02, "burst");
    near(is.clients / was.clients, 1.0, 0.02, "clients");
}

#[test]
fn nothing_in_a_profile_tells_whose_traffic_it_was() {
    for (name, _) in NAMED {
        let made = Made::of(&Profile::open(name).unwrap(), 20_000, Packets::Both);
        let (text, _) = made.fitted();
        let figures = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.contains("\"measured: "));
        let words: HashSet<&str> = figures
            .flat_map(|line| {
                line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            })
            .collect();
        // Words of the format itself, and of statements that say what is assumed.
        let known = Profile::open(name).unwrap().to_toml("", &[])
            + "capture assumed derived none holds queries answers another again fitted";
        let known: HashSet<&str> = known
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .collect();
        for (_, source, destination, _, octets) in &made.messages {
            for address in [source.address, destination.address] {
                assert!(!text.contains(&address.to_string()), "{address}");
            }
            let Some(question) = View::parse(octets).unwrap().question else {
                continue;
            };
            for label in labels(question.name).filter(|label| label.len() > 3) {
                let label = std::str::from_utf8(label).unwrap();
                assert!(!words.contains(label) || known.contains(label), "{label}");
            }
        }
    }
}

#[test]
fn texts_of_a_profile_are_of_a_closed_set() {
    let (text, _) = Made::of(
        &Profile::open("resolver-2022").unwrap(),
        5000,
        Packets::Both,
    )
    .fitted();
    let mut table: toml::Table = text.parse().unwrap();
    table.remove("provenance");
    let mut found = Vec::new();
    texts(&toml::Value::Table(table), &mut found);
    let is_known = |text: &String| {
        text.starts_with("measured: in a capture of ")
            || text.starts_with("assumed: ")
            || text.starts_with("derived: ")
            || ["again", "all", "Fitted to a capture"].contains(&&text[..])
            || text.parse::<domain::base::iana::Rtype>().is_ok()
            || text.parse::<domain::base::iana::Class>().is_ok()
            || text.parse::<domain::base::iana::Rcode>().is_ok()
    };
    let unknown: Vec<_> = found.iter().filter(|text| !is_known(text)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn texts(value: &toml::Value, found: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => found.push(text.clone()),
        toml::Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        toml::Value::Table(table) => table.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

/// A message of random parts, of which most are whole.
fn some_message() -> impl Strategy<Value = Vec<u8>> {
    let label = prop::collection::vec(any::<u8>(), 1..12);
    let name = prop::collection::vec(label, 0..6);
    let record = (
        any::<u8>(),
        any::<u8>(),
        any::<u32>(),
        prop::collection::vec(any::<u8>(), 0..30),
    );
    (
        any::<[u8; 4]>(),
        name,
        any::<[u8; 4]>(),
        prop::collection::vec(record, 0..4),
        0..200_usize,
    )
        .prop_map(|(start, name, question, records, cut)| {
            let mut message = start.to_vec();
            // Mostly of opcode QUERY and NOERROR or NXDOMAIN.
            message[2] &= 0x87;
            message[3] &= 0xB3;
            message.extend_from_slice(&[0, 1, 0, records.len() as u8, 0, 0, 0, 0]);
            for label in name {
                message.push(label.len() as u8);
                message.extend_from_slice(&label);
            }
            message.push(0);
            message.extend_from_slice(&question);
            for (upper, lower, ttl, data) in records {
                message.extend_from_slice(&[0xC0, 12, upper & 1, lower, 0, 1]);
                message.extend_from_slice(&ttl.to_be_bytes());
                message.extend_from_slice(&[0, data.len() as u8]);
                message.extend_from_slice(&data);
            }
            if cut < 20 {
                message.truncate(message.len() * cut / 20);
            }
            message
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_messages_give_a_profile_that_can_be_read(
        captured in prop::collection::vec((any::<i64>(), any::<u8>(), any::<bool>(), 0..6_usize, some_message()), 1..60),
    ) {
        let server = Endpoint::new([192, 0, 2, 53], 53);
        let mut fitting = Fitting::default();
        for (number, (time_ns, host, is_answer, transport, octets)) in (1..).zip(&captured) {
            let client = Endpoint::new([10, 0, 0, *host], 4000);
            let (source, destination) = if *is_answer { (server, client) } else { (client, server) };
            let transport = Transport::ALL[*transport];
            fitting.message(&Message { time_ns: *time_ns, source, destination, transport, octets, is_cut: false, sent_len: SentLen::Own, number });
        }
        if let Some((text, summary)) = fitting.finish("any") {
            prop_assert!(summary.queries > 0);
            Profile::parse("any", &text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
    }
}

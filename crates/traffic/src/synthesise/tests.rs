//! Whole streams.

use super::*;
use crate::profile::NAMED;
use crate::read::{Ports, Reading};
use crate::stats::{Report, StatsOptions, gather};
use crate::wire::View;
use dnsrig_stream::capture::{self, CaptureOptions};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

fn plan(queries: u64, format: Format, packets: Packets) -> Plan {
    Plan {
        rate_qps: None,
        duration_s: None,
        queries: Some(queries),
        start_ns: None,
        seed: 7,
        format,
        packets,
    }
}

fn made(profile: &str, plan: &Plan) -> (TempDir, PathBuf, SynthesisSummary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made");
    let watch = Watch {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let profile = Profile::open(profile).unwrap();
    let summary = synthesise(&profile, plan, &path, &watch).unwrap();
    (folder, path, summary)
}

/// Packets of a pcap file as (time in ns, IP packet).
fn packets(path: &Path) -> Vec<(i64, Vec<u8>)> {
    let file = fs::read(path).unwrap();
    let mut reader = capture::PacketReader::new(&file[..]).unwrap();
    let mut found = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        found.push((packet.time_ns.unwrap(), packet.octets.to_vec()));
    }
    found
}

#[test]
fn the_seed_decides_every_octet() {
    for (format, packets) in [
        (Format::Pcap, Packets::Both),
        (Format::Text, Packets::Queries),
        (Format::Binary, Packets::Queries),
    ] {
        let mut plan = plan(3000, format, packets);
        let files = [7, 7, 8].map(|seed| {
            plan.seed = seed;
            let (_folder, path, _) = made("resolver-2022", &plan);
            fs::read(path).unwrap()
        });
        assert!(files[0] == files[1] && files[0] != files[2], "{format:?}");
    }
}

#[test]
fn the_load_reads_the_same_stream_in_every_form() {
    let (_a, pcap, summary) = made("resolver-2022", &plan(3000, Format::Pcap, Packets::Queries));
    let (_b, text, _) = made("resolver-2022", &plan(3000, Format::Text, Packets::Queries));
    let (_c, binary, _) = made(
        "resolver-2022",
        &plan(3000, Format::Binary, Packets::Queries),
    );
    let cancel = AtomicBool::new(false);
    let (from_pcap, read) = capture::read(&pcap, &CaptureOptions::default(), &cancel).unwrap();
    assert_eq!((from_pcap.len() as u64, summary.queries), (3000, 3000));
    assert_eq!(u64::from(from_pcap.client_count()), summary.clients);
    let options = dnsrig_stream::MessageOptions::default();
    let (from_text, _) =
        dnsrig_stream::text::queries::read(&text, &options, false, &cancel).unwrap();
    let from_binary = dnsrig_stream::binary::read(&binary, &cancel).unwrap();
    assert!(from_text.iter().eq(from_binary.iter()), "{read}");
    // By TCP, queries come a round trip after their session, so that some change places.
    let [mut sorted, mut expected] =
        [&from_pcap, &from_text].map(|stream| stream.iter().collect::<Vec<_>>());
    sorted.sort_unstable();
    expected.sort_unstable();
    assert!(sorted == expected);
}

#[test]
fn a_pcap_file_is_in_order_and_every_query_has_its_answer() {
    let mut plan = plan(5000, Format::Pcap, Packets::Both);
    plan.rate_qps = Some(500.0);
    let (_folder, path, summary) = made("root-2006", &plan);
    let packets = packets(&path);
    assert!(packets.is_sorted_by_key(|packet| packet.0));
    assert_eq!(packets.len() as u64, summary.items);
    let (mut waiting, mut answered) = (HashMap::new(), 0);
    for (_, packet) in &packets {
        let ip_len = usize::from(packet[0] & 0x0F) * 4;
        if packet[0] >> 4 != 4 || packet[9] != 17 {
            continue;
        }
        let (source, destination) = (&packet[12..16], &packet[16..20]);
        let message = &packet[ip_len + 8..];
        let view = View::parse(message).unwrap();
        let question = message[12..view.questions_end].to_vec();
        match view.header.is_answer() {
            false => {
                *waiting
                    .entry((source.to_vec(), view.header.id, question))
                    .or_insert(0) += 1
            }
            true => {
                let count = waiting.get_mut(&(destination.to_vec(), view.header.id, question));
                *count.expect("its query came before") -= 1;
                answered += 1;
            }
        }
    }
    assert!(waiting.values().all(|count| *count == 0));
    assert!(answered > 4800, "{answered}");
}

#[test]
fn sides_hold_their_own_packets() {
    let of = |packets| made("root-2006", &plan(2000, Format::Pcap, packets));
    let [queries, answers, both] =
        [Packets::Queries, Packets::Answers, Packets::Both].map(|packets| {
            let (_folder, path, summary) = of(packets);
            let found = self::packets(&path);
            assert_eq!(found.len() as u64, summary.items);
            found
        });
    assert_eq!(queries.len() + answers.len(), both.len());
    let is_of_server =
        |packet: &(i64, Vec<u8>)| packet.1[12..16] == [192, 0, 2, 53] || packet.1[0] >> 4 == 6;
    assert!(answers.iter().all(is_of_server));
    // Sessions that ISC-2008 counts have 2.98 packets of the server.
    let of_tcp = answers
        .iter()
        .filter(|packet| packet.1[9] == 6 && packet.1[0] >> 4 == 4)
        .count();
    assert!((100..=120).contains(&of_tcp), "{of_tcp}");
}

/// What `traffic stats` says of a thousandth of F-root's capture.
fn report_of_root(packets: Packets) -> Report {
    let (_folder, path, summary) = made("root-2006", &plan(414_931, Format::Pcap, packets));
    assert_eq!(
        (summary.queries, summary.failed, summary.other_requests),
        (414_931, 160_993, 415)
    );
    let cancel = AtomicBool::new(false);
    let reading = Reading {
        files: &[path],
        ports: &Ports::default(),
        threads: None,
        cancel: &cancel,
        progress: &|_| {},
    };
    let options = StatsOptions {
        names: 0,
        ..StatsOptions::default()
    };
    Report::of(&gather(&reading, &options).unwrap())
}

#[test]
fn a_thousandth_of_f_roots_traffic_has_isc_2008s_table() {
    // The published figures, of which most are rounded to a decimal of a percent.
    const TYPES: [(&str, &str, &str, u64); 12] = [
        ("IN", "A", "60.7", 107_158),
        ("IN", "PTR", "10.0", 6860),
        ("IN", "AAAA", "8.2", 7344),
        ("IN", "SOA", "5.7", 21_454),
        ("IN", "MX", "5.6", 6187),
        ("IN", "A6", "5.0", 166),
        ("IN", "SRV", "1.8", 7212),
        ("IN", "TXT", "1.1", 1614),
        ("IN", "NS", "0.9", 537),
        ("IN", "ANY", "0.5", 860),
        ("CH", "TXT", "0.3", 830),
        ("IN", "CNAME", "0.2", 594),
    ];
    for packets in [Packets::Answers, Packets::Both] {
        let report = report_of_root(packets);
        let percent = |part: u64, whole: u64| format!("{:.1}", 100.0 * part as f64 / whole as f64);
        assert_eq!(report.requests, 414_931);
        assert_eq!(percent(report.failed, report.requests), "38.8");
        assert_eq!(report.rd.count, 414_343);
        assert_eq!(percent(report.rd.failed, report.rd.count), "38.7");
        assert_eq!(report.aa, 171_888);
        for (class, qtype, share, failed) in TYPES {
            let found = report
                .types
                .iter()
                .find(|found| (&found.class[..], &found.qtype[..]) == (class, qtype));
            let found = found.unwrap_or_else(|| panic!("{class} {qtype} is missing"));
            assert_eq!(
                percent(found.count, report.requests),
                share,
                "{class} {qtype}"
            );
            assert!(
                found.failed.abs_diff(failed) <= 1,
                "{class} {qtype}: {}",
                found.failed
            );
        }
        assert_eq!(percent(report.rcodes["NXDOMAIN"], report.requests), "38.5");
        assert_eq!(percent(report.rcodes["FORMERR"], report.requests), "0.1");
        assert_eq!(percent(report.opcodes["UPDATE"], report.requests), "0.1");
        assert_eq!((report.tcp.sessions, report.tcp.never_closed), (7907, 0));
        if packets == Packets::Answers {
            assert_eq!(report.tcp.packets, 23_588);
        }
        // The capture lasts until the last session ends, and a second may be cut in two.
        let rate = report.rate_qps;
        for (found, published) in [(rate.mean, 2401.2), (rate.p95, 3011.0), (rate.max, 3921.9)] {
            assert!((found / published - 1.0).abs() < 0.015, "{rate:?}");
        }
    }
}

#[test]
fn clients_that_cache_do_not_ask_again_while_an_answer_lives() {
    let mut profile = Profile::open("resolver-2022").unwrap();
    for group in &mut profile.clients {
        (group.caching, group.repeats, group.clients) = (1.0, 0.0, 50.0);
    }
    profile.names.ttl_s = vec![[1_000_000.0, 1.0]];
    profile.missing_names.ttl_s = vec![[1_000_000.0, 1.0]];
    profile.rate.mean_qps = 100.0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made");
    let watch = Watch {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let summary = synthesise(
        &profile,
        &plan(20_000, Format::Pcap, Packets::Queries),
        &path,
        &watch,
    )
    .unwrap();
    let mut seen = HashMap::new();
    for (_, packet) in packets(&path) {
        let (ip_len, protocol) = match packet[0] >> 4 {
            4 => (20, packet[9]),
            _ => (40, packet[6]),
        };
        if protocol == 17 {
            let message = &packet[ip_len + 8..];
            let end = View::parse(message).unwrap().questions_end;
            *seen
                .entry((packet[..ip_len][8..].to_vec(), message[12..end].to_vec()))
                .or_insert(0) += 1;
        }
    }
    // Names of services, domains and addresses may be the same for several names of hosts.
    let again: i32 = seen.values().map(|count| count - 1).sum();
    assert!(again < 400, "{again} of {}", seen.len());
    assert!(summary.cached > 2000, "{}", summary.cached);
}

#[test]
fn nothing_is_left_of_what_was_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made");
    let watch = Watch {
        cancel: &AtomicBool::new(true),
        progress: &|_| {},
    };
    let profile = Profile::open("root-2006").unwrap();
    let result = synthesise(
        &profile,
        &plan(2000, Format::Pcap, Packets::Both),
        &path,
        &watch,
    );
    assert!(matches!(result, Err(TrafficError::Interrupted)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The places of numbers in a profile's text, without comments.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let own = line.split(['#', '"']).next().unwrap_or_default();
        let mut at = 0;
        for part in own.split_inclusive(|letter: char| !letter.is_ascii_digit() && letter != '.') {
            let digits = part.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            if !digits.is_empty() && own[..at].contains('=') {
                found.push(start + at..start + at + digits.len());
            }
            at += part.len();
        }
        start += line.len();
    }
    found
}

proptest! {
    #[test]
    fn odd_figures_are_refused_or_make_traffic(
        which in 0..2_usize, places in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        value in prop::sample::select(vec!["0", "-1", "0.5", "1", "2", "12", "63", "1e-300", "1e12", "1e300", "nan", "inf"]),
    ) {
        let mut text = NAMED[which].1.to_owned();
        for place in places {
            let numbers = numbers(&text);
            text.replace_range(numbers[place.index(numbers.len())].clone(), value);
        }
        let Ok(profile) = Profile::parse("odd", &text) else {
            return Ok(());
        };
        let mut plan = plan(40, Format::Pcap, Packets::Both);
        plan.duration_s = Some(1.0);
        let watch = Watch { cancel: &AtomicBool::new(false), progress: &|_| {} };
        let folder = tempfile::tempdir().unwrap();
        if let Ok(summary) = synthesise(&profile, &plan, &folder.path().join("odd"), &watch) {
            prop_assert_eq!(summary.queries, 40);
        }
    }
}

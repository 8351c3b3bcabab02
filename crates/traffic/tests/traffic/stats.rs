//! Statistics of captures whose contents are known.

use crate::common::*;
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::stats::{CountedFrom, Report, Statistics, StatsOptions, gather};
use serde_json::{Value, json};
use std::path::PathBuf;

const NXDOMAIN: u16 = 3;

/// Hundred seconds: A queries that exist each second, an AAAA query that does not every second one, a query without an answer every
/// tenth.
fn hundred_seconds() -> Vec<Captured> {
    let mut packets = Vec::new();
    for second in 0..100_u16 {
        let time_ns = START_NS + i64::from(second) * SECOND_NS;
        for place in 0..3_u16 {
            let (id, port) = (second * 3 + place, 4000 + place);
            let name = format!("Host{place}.Example.Test");
            let query = with_opt(query(id, &name, 1), 1232, place == 0, &[0, 10, 0, 0]);
            packets.push(at(
                time_ns + i64::from(place) * 1000,
                udp_query(port, &query),
            ));
            let answer = answer(id, &name.to_lowercase(), 1, 0);
            packets.push(at(time_ns + 2_000_000, udp_answer(port, &answer)));
        }
        if second % 2 == 0 {
            let name = format!("none{second}.invalid");
            let client = format!("10.0.0.{second}");
            let query = message(second, 0, &name, 28);
            packets.push(at(
                time_ns + 3_000_000,
                udp((&client, 999), (SERVER, 53), &query),
            ));
            let answer = message(second, 0x8000 | NXDOMAIN, &name, 28);
            packets.push(at(
                time_ns + 7_000_000,
                udp((SERVER, 53), (&client, 999), &answer),
            ));
        }
        if second % 10 == 0 {
            packets.push(at(
                time_ns + 8_000_000,
                udp_query(1, &query(9, "lost.example.test", 2)),
            ));
        }
    }
    packets
}

fn gathered(
    files: &[PathBuf],
    threads: usize,
    options: StatsOptions,
) -> Result<Statistics, TrafficError> {
    with_reading(files, threads, |reading| gather(reading, &options))
}

/// The report without what depends on the machine's speed and on the folder.
fn figures(statistics: &Statistics) -> Value {
    let mut report = serde_json::to_value(Report::of(statistics)).unwrap();
    for key in ["throughput", "files"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

fn report_of(packets: &[Captured]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.pcap", &pcap(PCAP, packets));
    figures(&gathered(&[file], 2, StatsOptions::default()).unwrap())
}

#[test]
fn a_capture_with_known_contents_has_these_figures() {
    let report = report_of(&hundred_seconds());
    let expected = json!({
        "start_unix_ns": START_NS,
        "seconds": 99.002,
        "counted_from": "queries",
        "requests": 360,
        "failed": 50,
        "answers": {"count": 350, "answered": 350, "unanswered": 10, "unmatched": 0, "given_up": 0},
        "rate_qps": {"mean": 360.0 / 99.002, "p95": 5.0, "max": 5.0, "beyond": 0},
        "rd": {"count": 310, "failed": 0},
        "aa": 300,
        "types": [
            {"class": "IN", "type": "A", "count": 300, "failed": 0},
            {"class": "IN", "type": "AAAA", "count": 50, "failed": 50},
            {"class": "IN", "type": "NS", "count": 10, "failed": 0},
        ],
        "rcodes": {"NOERROR": 300, "NXDOMAIN": 50},
        "opcodes": {"QUERY": 360},
        "flags": {"rd": 310, "ad": 0, "cd": 0, "do": 100},
        "edns": {"requests": 300, "other_versions": 0, "udp_sizes": {"1232": 300}, "options": {"10": 300}},
        "transports": {"udp": 360},
        "families": {"ipv4": 360, "ipv6": 0},
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&report[key], value, "{key}");
    }
    let latency = &report["latency_ns"];
    // Buckets are within 1/256 of 1.998 and 4 ms.
    assert!((latency["p50"].as_f64().unwrap() / 1.999e6 - 1.0).abs() < 1.0 / 256.0);
    assert_eq!(latency["max"], 4_000_000);
    let clients = &report["clients"];
    assert_eq!(
        (&clients["count"], &clients["error"]),
        (&json!(51), &json!(0.0))
    );
    assert_eq!(
        clients["activity"],
        json!({"clients": [50, 0, 1], "requests": [50, 0, 310], "is_exact": true})
    );
    assert_eq!(clients["top"]["items"][0], json!(["192.0.2.1", 310]));
    let names = &report["names"];
    assert_eq!(names["count"], 54);
    assert_eq!(
        names["top"]["items"][0],
        json!(["host0.example.test.", 100])
    );
    assert_eq!(
        names["zones"][0]["items"],
        json!([["test.", 310], ["invalid.", 50]])
    );
    assert_eq!(names["zones"][1]["items"][0], json!(["example.test.", 310]));
    // Neither .test nor .invalid is in the root zone.
    assert_eq!(
        (&names["unknown_tld"], &names["random"]),
        (&json!(360), &json!(0))
    );
    assert_eq!(report["packets"]["dns"], 710);
}

#[test]
fn threads_and_files_make_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    // Enough for several chunks; each time, the clock goes on.
    let mut packets = Vec::new();
    for round in 0..40 {
        packets.extend(
            hundred_seconds()
                .into_iter()
                .map(|packet| at(packet.time_ns + round * 101 * SECOND_NS, packet.octets)),
        );
    }
    let whole = write(folder.path(), "whole.pcap", &pcap(PCAP, &packets));
    let expected = gathered(std::slice::from_ref(&whole), 1, StatsOptions::default()).unwrap();
    for threads in [2, 5] {
        let found = gathered(
            std::slice::from_ref(&whole),
            threads,
            StatsOptions::default(),
        )
        .unwrap();
        assert_eq!(figures(&found), figures(&expected));
    }
    let cut = 15_000;
    let parts = [
        write(folder.path(), "second.pcap", &pcap(PCAP, &packets[cut..])),
        write(folder.path(), "first.pcap", &pcap(PCAP, &packets[..cut])),
    ];
    let found = gathered(&parts, 2, StatsOptions::default()).unwrap();
    assert_eq!(figures(&found), figures(&expected));
}

#[test]
fn stored_statistics_add_up_to_those_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let packets = hundred_seconds();
    // Between two seconds, so that no query has its answer in the other half.
    let cut = packets
        .iter()
        .position(|packet| packet.time_ns >= START_NS + 41 * SECOND_NS)
        .unwrap();
    let of = |packets: &[Captured]| {
        let file = write(folder.path(), "part.pcap", &pcap(PCAP, packets));
        let statistics = gathered(&[file], 2, StatsOptions::default()).unwrap();
        let stored = serde_json::to_string(&statistics).unwrap();
        serde_json::from_str::<Statistics>(&stored).unwrap()
    };
    let mut sum = of(&packets[..cut]);
    sum.merge(of(&packets[cut..])).unwrap();
    assert_eq!(figures(&sum), figures(&of(&packets)));
    let answers = StatsOptions {
        counted_from: Some(CountedFrom::Answers),
        ..StatsOptions::default()
    };
    let file = write(folder.path(), "answers.pcap", &pcap(PCAP, &packets));
    let other = gathered(&[file], 1, answers).unwrap();
    assert!(sum.merge(other).is_err());
}

#[test]
fn requests_are_answers_where_only_these_were_captured() {
    let answers: Vec<_> = hundred_seconds()
        .into_iter()
        .filter(|packet| packet.octets[20..22] == 53_u16.to_be_bytes())
        .collect();
    let report = report_of(&answers);
    assert_eq!(report["counted_from"], "answers");
    assert_eq!(
        (&report["requests"], &report["failed"]),
        (&json!(350), &json!(50))
    );
    assert_eq!(report["rd"], json!({"count": 300, "failed": 0}));
    assert_eq!(
        report["types"][1],
        json!({"class": "IN", "type": "AAAA", "count": 50, "failed": 50})
    );
    assert_eq!(
        (&report["clients"]["count"], &report["names"]["count"]),
        (&json!(51), &json!(53))
    );
    assert_eq!(report["answers"]["unmatched"], 0);
}

#[test]
fn broken_packets_are_counted_by_reason() {
    let whole = query(1, "www.example.test", 1);
    let mut bad_record = with_opt(whole.clone(), 1232, false, b"");
    bad_record.truncate(bad_record.len() - 3);
    let mut bad_name = whole.clone();
    bad_name[12] = 0x7F;
    let mut other_ip = udp_query(4000, &whole);
    other_ip[0] = 0x15;
    let mut header = udp_query(4000, &whole);
    header[3] = 10;
    let packets = [
        udp_query(4000, &whole),
        udp_query(4000, &whole[..11]),
        udp_query(4000, &whole[..20]),
        udp_query(4000, &bad_name),
        udp_query(4000, &bad_record),
        other_ip,
        header,
        ip(CLIENT, SERVER, 1, &whole),
        udp((CLIENT, 1), (SERVER, 54), &whole),
    ];
    let packets: Vec<_> = packets
        .into_iter()
        .map(|octets| at(START_NS, octets))
        .collect();
    let report = report_of(&packets);
    let expected = json!({
        "read": 9,
        "dns": 5,
        "not_dns": {"not_ip": 1, "unknown_link": 0, "cut_short": 0, "bad_header": 1, "other_protocol": 1, "other_port": 1},
        "malformed": {"cut_short": 0, "header": 1, "question": 2, "record": 1, "trailing_octets": 0},
        "merged": 0,
        "fragments": {"packets": 0, "whole": 0, "incomplete": 0, "bad": 0, "unusable": 0},
    });
    assert_eq!(report["packets"], expected);
    assert_eq!(report["requests"], 2);
}

#[test]
fn tcp_sessions_and_other_opcodes_are_counted() {
    let (client, server) = ((CLIENT, 4000), (SERVER, 53));
    let asked = framed(&query(1, "www.example.test", 252));
    let replied = framed(&answer(1, "www.example.test", 252, 5));
    let update = message(7, 5 << 11, "example.test", 6);
    let packets = [
        tcp(client, server, 9, 0x02, b""),
        tcp(server, client, 19, 0x12, b""),
        tcp(client, server, 10, 0x18, &asked),
        tcp(server, client, 20, 0x18, &replied),
        tcp(client, server, 10 + asked.len() as u32, 0x11, b""),
        tcp((CLIENT, 4001), server, 9, 0x02, b""),
        tcp((CLIENT, 4002), server, 9, 0x02, b""),
        tcp(server, (CLIENT, 4002), 9, 0x14, b""),
        udp_query(5000, &update),
        udp_answer(5000, &message(7, 0x8000 | 5 << 11, "example.test", 6)),
    ];
    let packets: Vec<_> = packets
        .into_iter()
        .zip(0..)
        .map(|(octets, number)| at(START_NS + number * 1000, octets))
        .collect();
    let report = report_of(&packets);
    let tcp = &report["tcp"];
    let expected = json!({
        "packets": 8, "sessions": 3, "closed": 1, "reset": 1, "never_closed": 1, "joined": 0,
        "messages": 2, "gaps": 0, "incomplete": 0, "unplaced": 0, "misplaced": 0, "retransmitted": 0, "bad_header": 0, "given_up": 0,
        "packet_share": 0.8, "request_share": 8.0,
    });
    assert_eq!(tcp, &expected);
    assert_eq!(report["opcodes"], json!({"QUERY": 1, "UPDATE": 1}));
    assert_eq!(
        (&report["requests"], &report["failed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["types"][0]["type"], "AXFR");
    assert_eq!(report["latency_ns"]["max"], 1000);
    assert_eq!(report["transports"], json!({"tcp": 1}));
}

#[test]
fn tcp_that_could_not_be_used_is_counted_by_reason() {
    let (client, server) = ((CLIENT, 4000), (SERVER, 53));
    let answers: Vec<_> = (0..4)
        .map(|id| framed(&answer(id, "www.example.test", 1, 0)))
        .collect();
    let len = answers[0].len() as u32;
    let mut bad_header = tcp(client, server, 10, 0x18, &answers[0]);
    bad_header[32] = 0x10;
    let packets = [
        bad_header,
        // The end of an answer whose beginning was not captured.
        tcp(server, client, 15, 0x18, &answers[0][5..]),
        tcp(server, client, 10 + len, 0x18, &answers[1]),
        tcp(server, client, 10 + len, 0x18, &answers[1]),
        // Its end is lost, with the beginning of the next.
        tcp(server, client, 10 + 2 * len, 0x18, &answers[2][..20]),
        tcp(server, client, 10 + 4 * len, 0x18, &answers[3]),
    ];
    let packets: Vec<_> = packets.map(|octets| at(START_NS, octets)).into();
    let report = report_of(&packets);
    let expected = json!({
        "packets": 6, "sessions": 0, "closed": 0, "reset": 0, "never_closed": 0, "joined": 1,
        "messages": 2, "gaps": 1, "incomplete": 1, "unplaced": 1, "misplaced": 0, "retransmitted": 1, "bad_header": 1, "given_up": 0,
        "packet_share": 1.0, "request_share": 6.0,
    });
    assert_eq!(report["tcp"], expected);
    assert_eq!(report["packets"]["dns"], 6);
}

#[test]
fn what_follows_the_last_record_is_counted_as_further_messages_or_as_nonsense() {
    let one = with_opt(query(1, "www.example.test", 1), 1232, false, b"");
    let plain = query(2, "example.test", 1);
    let reply = answer(2, "example.test", 1, 0);
    // A record of the answer section that is not whole, in an answer without additional ones.
    let mut broken = [&reply[..], b"\xC0\x0C\0\x01\0\x01\0\0\0\x3C\0\x04\xC0"].concat();
    broken[7] = 1;
    let packets = [
        udp_query(4000, &[&one[..], &one, &one].concat()),
        udp_query(4001, &[&plain[..], &plain].concat()),
        udp_query(4002, &[&plain[..], &reply].concat()),
        udp_answer(4003, &[&reply[..], &[0; 30]].concat()),
        udp_answer(4004, &broken),
        udp_query(4005, &one),
    ];
    let packets: Vec<_> = packets.map(|octets| at(START_NS, octets)).into();
    let report = report_of(&packets);
    assert_eq!(
        report["packets"]["malformed"],
        json!({"cut_short": 0, "header": 0, "question": 0, "record": 1, "trailing_octets": 2})
    );
    assert_eq!(
        (&report["packets"]["merged"], &report["requests"]),
        (&json!(2), &json!(7))
    );
    assert_eq!(report["sizes"]["query"]["p50"], one.len());
    let total = 4 * one.len() + 3 * plain.len() + reply.len();
    assert_eq!(report["sizes"]["query_mean"], total as f64 / 7.0);
}

#[test]
fn what_a_snapshot_length_cut_off_behind_a_message_is_said() {
    let one = query(1, "www.example.test", 1);
    let packets: Vec<_> = [&one.repeat(5), &one]
        .map(|payload| at(START_NS, udp_query(4000, payload)))
        .into();
    for (messages, more, requests) in [(1, 0, 1), (2, 0, 2), (2, 5, 2), (4, 20, 4)] {
        let form = PcapForm {
            snap_len: 28 + messages * one.len() + more,
            ..PCAP
        };
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "cut.pcap", &pcap(form, &packets));
        let report = figures(&gathered(&[file], 2, StatsOptions::default()).unwrap());
        // The other packet has one message.
        assert_eq!(report["requests"], json!(requests + 1), "{messages} {more}");
        assert_eq!(
            report["packets"]["malformed"]["cut_short"],
            json!(1),
            "{messages} {more}"
        );
    }
}

#[test]
fn types_of_more_classes_than_there_can_be_count_together() {
    let packets: Vec<_> = (0..1500_u16)
        .flat_map(|number| {
            let mut one = query(number, "version.bind", 16);
            let class = one.len() - 2;
            one[class..].copy_from_slice(&(1000 + number).to_be_bytes());
            let asked = udp_query(4000, &one);
            one[2..4].copy_from_slice(&0x8105_u16.to_be_bytes());
            // One in five has an answer.
            let refused = (number % 5 == 0).then(|| udp_answer(4000, &one));
            [Some(asked), refused]
        })
        .flatten()
        .map(|octets| at(START_NS, octets))
        .collect();
    let report = report_of(&packets);
    let types = report["types"].as_array().unwrap();
    assert_eq!(types.len(), 1025);
    let sum = |key: &str| -> u64 { types.iter().filter_map(|row| row[key].as_u64()).sum() };
    assert_eq!((sum("count"), sum("failed")), (1500, 300));
    // The lowest 1,024 have rows of their own.
    assert_eq!(
        types[0],
        json!({"class": "other", "type": "other", "count": 476, "failed": 95})
    );
}

#[test]
fn queries_wait_for_answers_in_fragments_while_time_goes_on() {
    let mut packets = Vec::new();
    for number in 0..3000_u16 {
        let time_ns = START_NS + i64::from(number) * SECOND_NS;
        let ends = [(CLIENT, 4000 + number), (SERVER, 53)];
        packets.push(at(
            time_ns,
            udp(ends[0], ends[1], &query(number, "big.test", 16)),
        ));
        let long = [answer(number, "big.test", 16, 0), vec![0; 100]].concat();
        let whole = udp(ends[1], ends[0], &long);
        for (start, end) in [(0, 80), (80, whole.len() - 20)] {
            let mut fragment = [&whole[..20], &whole[20 + start..20 + end]].concat();
            let more = if start == 0 { 0x20 } else { 0 };
            fragment[2..4].copy_from_slice(&((20 + end - start) as u16).to_be_bytes());
            (fragment[6], fragment[7]) = (more, (start / 8) as u8);
            packets.push(at(time_ns + 1000, fragment));
        }
    }
    let report = report_of(&packets);
    assert_eq!(report["answers"]["answered"], 3000);
    assert_eq!(report["latency_ns"]["max"], 1000);
}

#[test]
fn a_capture_without_dns_is_an_error_that_says_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let packets = [at(START_NS, udp((CLIENT, 1), (SERVER, 443), b"x"))];
    let file = write(folder.path(), "https.pcap", &pcap(PCAP, &packets));
    let error = gathered(&[file], 1, StatsOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("1 packets, of which 1 of other ports"),
        "{text}"
    );
}

#[test]
fn memory_for_names_and_clients_is_bounded_and_the_error_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let packets: Vec<_> = (0..30_000_u32)
        .flat_map(|number| {
            let client = std::net::Ipv4Addr::from_bits(0x0A00_0000 | number).to_string();
            let name = format!("n{number}.example.test");
            let unique = udp((&client, 999), (SERVER, 53), &query(1, &name, 1));
            [unique, udp_query(7, &query(2, "www.example.test", 1))]
        })
        .zip(0..)
        .map(|(octets, number)| at(START_NS + number, octets))
        .collect();
    let file = write(folder.path(), "many.pcap", &pcap(PCAP, &packets));
    let options = StatsOptions {
        names: 4000,
        clients: 4000,
        ..StatsOptions::default()
    };
    let report = figures(&gathered(&[file], 2, options).unwrap());
    for (key, expected) in [("names", 30_001.0), ("clients", 30_001.0)] {
        let found = &report[key];
        let error = found["error"].as_f64().unwrap();
        assert!(error > 0.0);
        let count = found["count"].as_f64().unwrap();
        assert!(
            (count / expected - 1.0).abs() < 4.0 * error,
            "{key}: {count}"
        );
        let bound = found["top"]["error"].as_u64().unwrap();
        let top = found["top"]["items"][0][1].as_u64().unwrap();
        assert!(
            bound > 0 && top <= 30_000 && top + bound >= 30_000,
            "{key}: {top} + {bound}"
        );
    }
    // Zones are exact all the same.
    assert_eq!(
        report["names"]["zones"][1],
        json!({"items": [["example.test.", 60_000]], "error": 0})
    );
    assert_eq!(report["clients"]["activity"]["is_exact"], false);
}

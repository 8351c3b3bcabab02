//! Loads over UDP against servers that behave well and badly.

use super::common::{PATIENT, Server, answer, config, load, stream};
use dnsrig_load::{Bottleneck, LoadConfig, ScheduleKind, StopCondition};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

#[test]
fn every_query_is_answered_by_a_good_server() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let report = load(&LoadConfig {
        timeout: PATIENT,
        ..config(server.address, 1_000)
    });
    assert_eq!((report.sent, report.answered), (1_000, 1_000));
    assert_eq!(
        (
            report.unmatched,
            report.late,
            report.malformed,
            report.truncated
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(report.rcodes["NOERROR"], 1_000);
    assert_eq!(report.query_bytes_mean, report.response_bytes_mean);
    assert_eq!(report.bytes.sent, report.bytes.received);
    let wire = &report.wire;
    assert_eq!(
        (wire.octets_sent, wire.octets_received),
        (report.bytes.sent, report.bytes.received)
    );
    assert_eq!(
        (wire.packets_sent, wire.packets_received),
        (report.sent, report.answered)
    );
    assert!(report.qps > 0.0 && report.latency_ns.p50 <= report.latency_ns.max);
}

#[test]
fn dropped_queries_time_out() {
    let dropped = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&dropped);
    let server = Server::udp(move |number, query| {
        if number % 5 == 4 {
            count.fetch_add(1, Ordering::Relaxed);
            return Some(vec![]);
        }
        Some(vec![answer(query)])
    });
    let report = load(&config(server.address, 100));
    assert!(report.timed_out >= dropped.load(Ordering::Relaxed) && report.timed_out > 0);
    assert!(report.latency_with_timeouts_ns.max >= Some(299_000_000));
    assert!(
        report
            .tainted
            .iter()
            .any(|reason| reason.contains("timed out"))
    );
}

#[test]
fn answers_to_nothing_are_unmatched() {
    type Harm = fn(&mut Vec<u8>);
    let harms: [Harm; 3] = [
        |answer| answer[0] ^= 0x40,
        |answer| answer[14] ^= 0x15,
        |answer| {
            answer.truncate(12);
            answer[5] = 0;
        },
    ];
    for harm in harms {
        let server = Server::udp(move |_, query| {
            let mut answer = answer(query);
            harm(&mut answer);
            Some(vec![answer])
        });
        let report = load(&config(server.address, 40));
        assert_eq!(
            (report.answered, report.timed_out, report.unmatched),
            (0, 40, 40)
        );
        assert_eq!(report.latency_ns.p50, None);
    }
}

#[test]
fn garbage_is_malformed() {
    let server = Server::udp(|number, query| {
        Some(vec![match number % 3 {
            0 => b"garbage".to_vec(),
            1 => query.to_vec(),
            _ => answer(query)[..20].to_vec(),
        }])
    });
    let report = load(&config(server.address, 30));
    assert_eq!(
        (report.answered, report.timed_out, report.malformed),
        (0, 30, 30)
    );
}

#[test]
fn duplicates_are_unmatched_and_tc_and_rcodes_counted() {
    let server = Server::udp(|_, query| {
        let mut answer = answer(query);
        answer[2] |= 0x02;
        answer[3] = 5;
        Some(vec![answer.clone(), answer])
    });
    let report = load(&LoadConfig {
        timeout: PATIENT,
        ..config(server.address, 60)
    });
    assert_eq!(
        (report.answered, report.truncated, report.rcodes["REFUSED"]),
        (60, 60, 60)
    );
    assert!(
        report.unmatched >= 40,
        "all but those that were still under way at the end: {}",
        report.unmatched
    );
}

#[test]
fn late_answers_are_counted_as_such() {
    let mut held = VecDeque::new();
    let server = Server::udp(move |number, query| {
        held.push_back((Instant::now(), answer(query)));
        let due =
            |(since, _): &(Instant, _)| number == 0 || since.elapsed() > Duration::from_millis(200);
        let mut answers = Vec::new();
        while held.front().is_some_and(due) {
            answers.extend(held.pop_front().map(|(_, answer)| answer));
        }
        Some(answers)
    });
    let report = load(&LoadConfig {
        stop: StopCondition {
            duration: Some(Duration::from_secs(1)),
            ..StopCondition::default()
        },
        schedule: ScheduleKind::FixedRate { rate_qps: 200.0 },
        timeout: Duration::from_millis(50),
        ..config(server.address, 1)
    });
    assert_eq!(report.answered, 0);
    assert!(report.late > 0);
}

#[test]
fn a_server_that_dies_is_survived() {
    let server = Server::udp(|number, query| (number < 200).then(|| vec![answer(query)]));
    let begin = Instant::now();
    let report = load(&LoadConfig {
        stop: StopCondition {
            duration: Some(Duration::from_secs(1)),
            ..StopCondition::default()
        },
        ..config(server.address, 1)
    });
    assert!(
        report.answered > 0 && report.refusals["port_unreachable"] > 500,
        "{:?}",
        report.refusals
    );
    assert!(
        report.timed_out <= 20,
        "{} queries timed out, more than the server can have left unread",
        report.timed_out
    );
    assert_eq!(report.bottleneck, Bottleneck::Server);
    assert!(
        report
            .tainted
            .iter()
            .any(|reason| reason.contains("refused"))
    );
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_server_that_falls_silent_is_survived() {
    let server = Server::udp(|number, query| {
        Some(if number < 50 {
            vec![answer(query)]
        } else {
            vec![]
        })
    });
    let report = load(&config(server.address, 100));
    assert_eq!(report.sent, 100);
    assert!(report.timed_out >= 51);
    assert!(
        report.duration_s >= 0.59,
        "places came free at two time-outs of 0.3 s, and sending went on until then: {} s",
        report.duration_s
    );
}

#[test]
fn threads_and_clients_share_the_stream() {
    let (sender, names) = mpsc::channel();
    let server = Server::udp(move |number, query| {
        if number > 0 {
            let _ = sender.send(query[12..].to_vec());
        }
        Some(vec![answer(query)])
    });
    let report = load(&LoadConfig {
        threads: Some(2),
        stop: StopCondition {
            passes: Some(3),
            ..StopCondition::default()
        },
        timeout: PATIENT,
        ..config(server.address, 1).with_clients(5)
    });
    drop(server);
    assert_eq!(
        (report.sent, report.answered, report.generator.clients),
        (300, 300, 5)
    );
    let mut seen: Vec<_> = names.into_iter().collect();
    seen.sort();
    let mut expected: Vec<_> = stream(100)
        .iter()
        .flat_map(|query| std::iter::repeat_n(query[12..].to_vec(), 3))
        .collect();
    expected.sort();
    assert_eq!(seen, expected);
}

#[test]
fn a_fixed_rate_sends_each_query_once() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let schedule = ScheduleKind::FixedRate { rate_qps: 2_000.0 };
    let report = load(&LoadConfig {
        schedule,
        timeout: PATIENT,
        ..config(server.address, 500)
    });
    assert_eq!((report.sent, report.answered), (500, 500));
    assert!(report.duration_s >= 0.2495, "{} s", report.duration_s);
}

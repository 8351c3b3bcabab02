//! What the caller of a load meets: the report, progress, refused settings and servers that are not there.

use super::common::{LOOPBACK, PATIENT, Server, answer, config, load, stream, try_load};
use dnsrig_load::{LoadConfig, LoadError, ScheduleKind, StopCondition, run, sink};
use std::net::UdpSocket;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn the_report_has_the_contracts_keys() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let json = serde_json::to_value(load(&config(server.address, 50))).unwrap();
    for key in [
        "sent",
        "answered",
        "timed_out",
        "refused",
        "unmatched",
        "late",
        "malformed",
        "abandoned",
        "qps",
        "rcodes",
        "truncated",
        "query_bytes_mean",
        "response_bytes_mean",
        "duration_s",
        "bottleneck",
        "evidence",
        "tainted",
        "intervals",
        "latency_histogram",
        "transport",
        "server",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    for (group, keys) in [
        (
            "latency_ns",
            &["mean", "p50", "p90", "p99", "p999", "max"][..],
        ),
        ("send_error_ns", &["p50", "p99", "max"]),
        ("bytes", &["sent", "received"]),
        (
            "generator",
            &[
                "cpu_us_per_query",
                "cpu_share",
                "run_delay_share",
                "nap_share",
                "socket_drops",
                "threads",
            ],
        ),
        (
            "connections",
            &["tried", "opened", "failed", "closed_by_peer"],
        ),
        ("schedule", &["kind", "outstanding"]),
    ] {
        keys.iter()
            .for_each(|key| assert!(!json[group][key].is_null(), "{group}.{key}"));
    }
}

#[test]
fn a_report_survives_json_and_can_be_judged_again() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let report = load(&config(server.address, 50));
    let json = serde_json::to_string(&report).unwrap();
    let mut again: dnsrig_load::LoadReport = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    again.judge(Some(0.25));
    assert!(
        again
            .evidence
            .iter()
            .any(|sentence| sentence.contains("25 %"))
    );
}

#[test]
fn an_absent_server_is_said_at_once() {
    let address = UdpSocket::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let error = try_load(&config(address, 1)).unwrap_err();
    assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains(&address.to_string()));
}

#[test]
fn a_silent_server_is_said_within_seconds() {
    let server = Server::udp(|_, _| Some(vec![]));
    let begin = Instant::now();
    let error = try_load(&config(server.address, 1)).unwrap_err();
    assert!(matches!(error, LoadError::Silent { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn others_are_not_loaded() {
    let error = try_load(&config("192.0.2.1:53".parse().unwrap(), 1)).unwrap_err();
    assert!(matches!(error, LoadError::ForeignTarget { .. }), "{error}");
}

#[test]
fn the_caller_can_end_a_load() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let endless = LoadConfig {
        stop: StopCondition::default(),
        ..config(server.address, 1)
    };
    let mut seconds = 0;
    let report = run(&stream(10), &endless, &AtomicBool::new(false), |progress| {
        seconds += progress.interval.is_some() as u32;
        if seconds == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .unwrap();
    assert!(report.intervals.len() >= 3);
    assert!(
        report
            .tainted
            .iter()
            .any(|reason| reason.contains("cancelled"))
    );
}

#[test]
fn settings_are_checked() {
    let closed_loop = |outstanding| ScheduleKind::ClosedLoop {
        outstanding,
        max_rate_qps: None,
    };
    let good = config("127.0.0.1:53".parse().unwrap(), 1);
    for (option, bad) in [
        (
            "threads",
            LoadConfig {
                threads: Some(0),
                ..good.clone()
            },
        ),
        (
            "clients",
            LoadConfig {
                threads: Some(2),
                ..good.clone().with_clients(1)
            },
        ),
        (
            "timeout",
            LoadConfig {
                timeout: Duration::ZERO,
                ..good.clone()
            },
        ),
        (
            "queries",
            LoadConfig {
                stop: StopCondition {
                    queries: Some(0),
                    ..good.stop
                },
                ..good.clone()
            },
        ),
        (
            "rate_qps",
            LoadConfig {
                schedule: ScheduleKind::FixedRate { rate_qps: f64::NAN },
                ..good.clone()
            },
        ),
        (
            "outstanding",
            LoadConfig {
                schedule: closed_loop(40_000),
                ..good.clone()
            },
        ),
        (
            "outstanding",
            LoadConfig {
                schedule: closed_loop(10_000_000),
                ..good.clone().with_clients(1_000_000)
            },
        ),
        (
            "rate_qps",
            LoadConfig {
                schedule: ScheduleKind::FixedRate { rate_qps: 1e9 },
                timeout: Duration::from_secs(600),
                ..good.clone().with_clients(2_048)
            },
        ),
    ] {
        let error = try_load(&bad).unwrap_err();
        assert!(error.to_string().starts_with(option), "{error}");
    }
}

#[test]
fn a_cpu_that_is_not_there_is_said() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let error = try_load(&LoadConfig {
        cpus: vec![1_000_000],
        ..config(server.address, 10)
    })
    .unwrap_err();
    assert!(error.to_string().contains("CPU 1000000"), "{error}");
}

#[test]
fn the_sink_echoes_every_query() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, ready) = mpsc::channel();
        let sink = scope.spawn(|| {
            sink::serve_echo(LOOPBACK.into(), None, true, &stop, move |at| {
                sender.send(at).unwrap()
            })
        });
        let report = load(&LoadConfig {
            timeout: PATIENT,
            ..config(ready.recv().unwrap(), 2_000)
        });
        assert_eq!(report.answered, 2_000);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(
            sink.join().unwrap().unwrap(),
            2_001,
            "the load and its probe"
        );
    });
}

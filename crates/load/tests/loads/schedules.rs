//! How many queries each schedule sends, against its plan; and from where.

use super::common::{LOOPBACK, PATIENT, Server, answer, config, load, try_load};
use super::good::server;
use dnsrig_load::{LoadConfig, LoadReport, ScheduleKind, Step, StopCondition};
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn timed(server: SocketAddr, schedule: ScheduleKind, threads: usize) -> LoadConfig {
    LoadConfig {
        schedule,
        threads: Some(threads),
        stop: StopCondition {
            duration: Some(Duration::from_millis(1_500)),
            ..StopCondition::default()
        },
        timeout: PATIENT,
        ..config(server, 1)
    }
}

/// All but those queries that were due at the end, and not sent because the machine was busy.
fn check_sent(report: &LoadReport, planned: f64, slack: f64, highest_qps: f64) {
    let late_s = report.send_error_ns.max.unwrap_or(0) as f64 / 1e9;
    let least = planned - slack - highest_qps * (late_s + 0.01);
    let (sent, most) = (report.sent as f64, planned + slack + 1.0);
    assert!(
        (least..=most).contains(&sent),
        "{sent} queries sent; {least} to {most} planned"
    );
    assert_eq!(report.answered, report.sent);
}

#[test]
fn plans_are_kept() {
    let good = server();
    let address = good.addresses().dns;
    let step = |rate_qps, span_s| Step { rate_qps, span_s };
    let ramp = |from_qps, to_qps| ScheduleKind::Ramp {
        from_qps,
        to_qps,
        span_s: 1.0,
    };
    for threads in [1, 2] {
        for (schedule, planned, highest) in [
            (
                ScheduleKind::FixedRate { rate_qps: 2_000.0 },
                3_000.0,
                2_000.0,
            ),
            (ScheduleKind::FixedRate { rate_qps: 1.0 }, 2.0, 1.0),
            (ramp(0.0, 2_000.0), 2_000.0, 2_000.0),
            (ramp(2_000.0, 0.0), 1_000.0, 2_000.0),
            (
                ScheduleKind::Steps {
                    steps: vec![step(500.0, 0.5), step(0.0, 0.25), step(2_000.0, 0.5)],
                },
                250.0 + 1_500.0,
                2_000.0,
            ),
        ] {
            let report = load(&timed(address, schedule.clone(), threads));
            check_sent(&report, planned, threads as f64, highest);
            let asked = report.asked_qps.unwrap() * 1.5;
            assert!(
                (asked - planned).abs() <= planned * 0.05 + 1.0,
                "{schedule:?}: {asked}"
            );
        }
    }
}

#[test]
fn poisson_sends_its_mean() {
    let good = server();
    let schedule = ScheduleKind::Poisson { rate_qps: 2_000.0 };
    for threads in [1, 2] {
        let report = load(&timed(good.addresses().dns, schedule.clone(), threads));
        // Five standard deviations of a count of 3,000.
        check_sent(&report, 3_000.0, 5.0 * 3_000f64.sqrt(), 2_000.0);
    }
}

#[test]
fn a_closed_loop_keeps_below_its_highest_rate() {
    let good = server();
    let schedule = ScheduleKind::ClosedLoop {
        outstanding: 50,
        max_rate_qps: Some(1_000.0),
    };
    let report = load(&timed(good.addresses().dns, schedule, 2));
    assert!(report.sent <= 1_502, "{} sent", report.sent);
    assert_eq!(report.asked_qps, Some(1_000.0));
}

#[test]
fn a_rate_below_its_plan_is_tainted() {
    let silent = Server::tcp(|number, mut stream| {
        while let Some(query) = crate::common::read_frame(&mut stream) {
            if number == 0 {
                crate::common::write_frame(&mut stream, &answer(&query));
            }
        }
        true
    });
    let mut asked = timed(
        silent.address,
        ScheduleKind::FixedRate {
            rate_qps: 200_000.0,
        },
        1,
    );
    asked.routes[0].transport = dnsrig_load::TransportKind::Tcp;
    asked.timeout = Duration::from_millis(500);
    let report = load(&asked);
    assert_eq!(report.answered, 0);
    assert_eq!(report.timed_out, report.sent);
    assert!(!report.tainted.is_empty());
}

#[test]
fn clients_send_from_the_sources_in_turn() {
    let seen: Arc<Mutex<HashSet<SocketAddr>>> = Arc::default();
    let stop = Arc::new(AtomicBool::new(false));
    let socket = UdpSocket::bind(LOOPBACK).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let address = socket.local_addr().unwrap();
    let (shared, flag) = (Arc::clone(&seen), Arc::clone(&stop));
    let thread = std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while !flag.load(Ordering::Relaxed) {
            if let Ok((len, peer)) = socket.recv_from(&mut buffer) {
                shared.lock().unwrap().insert(peer);
                let _ = socket.send_to(&answer(&buffer[..len]), peer);
            }
        }
    });
    let sources: Vec<IpAddr> = (1..=5)
        .map(|host| IpAddr::from([127, 9, 9, host]))
        .collect();
    let report = load(&LoadConfig {
        sources: sources.clone(),
        timeout: PATIENT,
        ..config(address, 400).with_clients(10)
    });
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    assert_eq!(report.answered, 400);
    let seen = seen.lock().unwrap();
    let addresses: HashSet<IpAddr> = seen.iter().map(SocketAddr::ip).collect();
    assert_eq!(addresses, sources.into_iter().collect());
    assert!(
        (10..=11).contains(&seen.len()),
        "ten clients, and the probe"
    );
}

#[test]
fn sources_that_cannot_be_used_are_said_over_every_transport() {
    let good = server();
    for kind in crate::good::KINDS {
        for source in ["192.0.2.1", "::1"] {
            let mut asked = config(LOOPBACK.into(), 10);
            asked.routes = vec![crate::good::route(&good, kind)];
            asked.sources = vec![source.parse().unwrap()];
            let error = try_load(&asked).unwrap_err().to_string();
            assert!(error.contains(source), "{}: {error}", kind.name());
        }
    }
}

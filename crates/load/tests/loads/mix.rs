//! Loads over several transports at once, accounted for separately and together; and how each uses its sessions.

use super::common::{LOOPBACK, PATIENT, config, load, load_of, stream};
use super::good::{KINDS, route, server};
use super::link::{listen_only, serve};
use dnsrig_load::{LoadConfig, Route, ScheduleKind, StopCondition, TransportKind};
use std::time::Duration;

fn over(routes: Vec<Route>, queries: u64) -> LoadConfig {
    LoadConfig {
        timeout: PATIENT,
        routes,
        ..config(LOOPBACK.into(), queries)
    }
}

fn weighted(server: &dnsrig_answer::Server, weights: &[f64]) -> Vec<Route> {
    let of = |(kind, weight): (&TransportKind, &f64)| Route {
        weight: *weight,
        ..route(server, *kind)
    };
    KINDS.iter().zip(weights).map(of).collect()
}

#[test]
fn shares_are_kept_and_figures_add_up() {
    let server = server();
    let weights = [8.0, 1.0, 4.0, 2.0, 5.0];
    let schedules = [
        ScheduleKind::ClosedLoop {
            outstanding: 50,
            max_rate_qps: None,
        },
        ScheduleKind::FixedRate { rate_qps: 4_000.0 },
    ];
    for schedule in schedules {
        for threads in [1, 2] {
            let report = load(&LoadConfig {
                threads: Some(threads),
                schedule: schedule.clone(),
                ..over(weighted(&server, &weights), 2_000)
            });
            assert_eq!(
                (report.sent, report.answered),
                (2_000, 2_000),
                "{} timed out, refused: {:?}, by transport: {:?}",
                report.timed_out,
                report.refusals,
                report
                    .transports
                    .iter()
                    .map(|part| (part.transport, part.timed_out, part.refused))
                    .collect::<Vec<_>>()
            );
            assert_eq!(report.rcodes["NXDOMAIN"], 2_000);
            for ((part, kind), weight) in report.transports.iter().zip(KINDS).zip(weights) {
                assert_eq!((part.transport, part.weight), (kind, weight / 20.0));
                let due = weight * 100.0;
                let most_off = 10.0 * threads as f64;
                assert!(
                    (part.sent as f64 - due).abs() <= most_off,
                    "{} of {due} over {}",
                    part.sent,
                    kind.name()
                );
                let sessions = if kind.has_sessions() { threads } else { 0 };
                assert_eq!(part.connections.opened, sessions as u64);
                assert_eq!(part.latency_ns.p50.is_some(), part.answered > 0);
            }
        }
    }
}

#[test]
fn intervals_have_each_transport() {
    let server = server();
    let routes = weighted(&server, &[1.0, 1.0, 1.0]);
    let report = load(&LoadConfig {
        schedule: ScheduleKind::FixedRate { rate_qps: 300.0 },
        ..over(routes, 400)
    });
    for interval in &report.intervals {
        let parts = &interval.transports;
        assert_eq!(parts.len(), 3);
        let sent: u64 = parts.iter().map(|part| part.figures.sent).sum();
        assert_eq!(sent, interval.figures.sent);
        let answered: u64 = parts.iter().map(|part| part.figures.answered).sum();
        assert_eq!(answered, interval.figures.answered);
    }
}

#[test]
fn one_bad_transport_does_not_spoil_the_figures_of_another() {
    let good = server();
    let silent = crate::link::server(TransportKind::Tcp, |number, link| {
        if number == 0 {
            return serve(link);
        }
        listen_only(link);
        true
    });
    let closing = crate::link::server(TransportKind::Dot, |number, link| number > 0 || serve(link));
    let routes = vec![
        route(&good, TransportKind::Udp),
        Route::new(TransportKind::Tcp, silent.address),
        Route::new(TransportKind::Dot, closing.address),
    ];
    let report = load(&LoadConfig {
        schedule: ScheduleKind::FixedRate { rate_qps: 300.0 },
        timeout: Duration::from_secs(5),
        ..over(routes, 300)
    });
    let [udp, tcp, dot] = report.transports.as_slice() else {
        panic!("three transports have three reports");
    };
    assert_eq!((udp.answered, tcp.timed_out), (udp.sent, tcp.sent));
    assert_eq!(dot.refused, dot.sent);
    assert!(udp.sent > 0 && tcp.sent > 0 && dot.sent > 0);
}

#[test]
fn two_routes_may_have_one_transport() {
    let (one, other) = (server(), server());
    let routes = vec![
        route(&one, TransportKind::Udp),
        route(&other, TransportKind::Udp),
    ];
    let report = load(&over(routes, 200));
    assert_eq!(report.answered, 200);
    let snapshot = |server: &dnsrig_answer::Server| server.counters().snapshot().queries_udp;
    // The probe is one, too.
    assert_eq!(snapshot(&one) + snapshot(&other), 202);
}

#[test]
fn sessions_end_after_their_queries_over_every_transport() {
    let server = server();
    for kind in &KINDS[1..] {
        for (each, resumption) in [(1, true), (1, false), (7, true)] {
            let mut way = route(&server, *kind);
            way.clients = Some(3);
            way.sessions.queries = Some(each);
            way.sessions.resumption = resumption;
            let before = server.counters().snapshot();
            let report = load(&over(vec![way], 210));
            let connections = &report.connections;
            let name = kind.name();
            assert_eq!((report.answered, report.refused), (210, 0), "{name}");
            let least = 210 / each;
            assert!(
                (least..=least + 3).contains(&connections.opened),
                "{name}: {connections:?}"
            );
            assert!(connections.closed + 3 >= connections.opened, "{name}");
            assert_eq!(connections.closed_by_peer, 0, "{name}");
            if kind.has_tls() {
                // A ticket may come too late for a session of one query.
                let full = if resumption { 3..=10 } else { 210..=210 };
                assert!(full.contains(&connections.full), "{name} {connections:?}");
                let handshakes = connections.full + connections.resumed;
                assert_eq!(handshakes, connections.opened, "{name}");
                let after = server.counters().snapshot();
                let resumed = after.handshakes_resumed - before.handshakes_resumed;
                assert_eq!(connections.resumed, resumed, "{name}: as the server has it");
            } else {
                assert_eq!((connections.full, connections.resumed), (0, 0));
            }
        }
    }
}

#[test]
fn idle_sessions_are_closed_over_every_transport() {
    let server = server();
    for kind in &KINDS[1..] {
        let mut way = route(&server, *kind);
        way.sessions.idle = Some(Duration::from_millis(5));
        let report = load(&LoadConfig {
            schedule: ScheduleKind::FixedRate { rate_qps: 20.0 },
            ..over(vec![way], 10)
        });
        assert_eq!(report.answered, 10);
        let connections = &report.connections;
        assert!(connections.closed > 0, "{}: {connections:?}", kind.name());
        assert!(connections.opened > 1 && connections.closed_by_peer == 0);
    }
}

#[test]
fn each_transport_survives_being_cancelled() {
    use crate::common::checked;
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicBool;
    let server = server();
    let all = weighted(&server, &[1.0; 5]);
    let mut routes: Vec<Vec<Route>> = all.iter().cloned().map(|route| vec![route]).collect();
    routes.push(all);
    for routes in routes {
        for sessions_of_one in [false, true] {
            let mut asked = LoadConfig {
                stop: StopCondition::default(),
                ..over(routes.clone(), 1)
            };
            for route in &mut asked.routes {
                route.sessions.queries = sessions_of_one.then_some(1);
            }
            let cancel = AtomicBool::new(false);
            let mut calls = 0;
            let report = checked(dnsrig_load::run(&stream(10), &asked, &cancel, |_| {
                calls += 1;
                if calls == 3 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }));
            assert!(report.answered > 0);
            assert!(
                report
                    .tainted
                    .iter()
                    .any(|reason| reason.contains("cancelled"))
            );
        }
    }
}

#[test]
fn a_load_that_is_cancelled_before_it_begins_has_a_report() {
    use crate::common::checked;
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicBool;
    let server = server();
    for kind in KINDS {
        let asked = over(vec![route(&server, kind)], 100);
        let cancel = AtomicBool::new(true);
        let report = dnsrig_load::run(&stream(10), &asked, &cancel, |_| ControlFlow::Continue(()));
        assert_eq!(checked(report).sent, 0);
    }
}

#[test]
fn a_stream_of_one_query_is_enough() {
    let server = server();
    let report = load_of(&stream(1), &over(weighted(&server, &[1.0; 5]), 50));
    assert_eq!(report.answered, 50);
}

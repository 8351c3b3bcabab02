//! Loads that open sessions and send no queries.

use super::common::{PATIENT, checked, config, load, stream};
use super::link::{Link, listen_only, server};
use dnsrig_load::{
    Interval, LoadConfig, LoadReport, Route, ScheduleKind, StopCondition, TransportKind, run,
};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const KINDS: [TransportKind; 2] = [TransportKind::Tcp, TransportKind::Dot];

fn sessions(kind: TransportKind, server: SocketAddr, count: u64) -> LoadConfig {
    LoadConfig {
        routes: vec![Route::new(kind, server)],
        sessions_only: true,
        timeout: PATIENT,
        ..config(server, count)
    }
}

fn accept(link: &mut dyn Link) -> bool {
    let _ = link.shake_hands();
    listen_only(link);
    true
}

/// What holds for every load of sessions that has come to its end.
fn check(report: &LoadReport) {
    assert_eq!((report.sent, report.answered), (0, 0));
    let connections = &report.connections;
    assert_eq!(connections.tried, connections.opened + connections.failed);
    let causes: u64 = report.session_failures.values().sum();
    assert_eq!(causes, connections.failed);
}

#[test]
fn a_closed_loop_opens_each_once_and_closes_it_for_the_next() {
    for kind in KINDS {
        let server = server(kind, |_, link| accept(link));
        for (threads, clients) in [(1, 1), (1, 5), (2, 5)] {
            let report = load(&LoadConfig {
                threads: Some(threads),
                ..sessions(kind, server.address, 60).with_clients(clients)
            });
            check(&report);
            let connections = &report.connections;
            assert_eq!((connections.tried, connections.opened), (60, 60));
            assert_eq!(connections.closed, 60 - clients as u64);
            assert!(report.handshake_ns.p50.is_some());
            let handshakes = connections.full + connections.resumed;
            assert_eq!(handshakes, if kind == TransportKind::Dot { 60 } else { 0 });
        }
    }
}

#[test]
fn a_fixed_rate_opens_as_many_as_asked() {
    for kind in KINDS {
        let server = server(kind, |_, link| accept(link));
        let report = load(&LoadConfig {
            schedule: ScheduleKind::FixedRate { rate_qps: 200.0 },
            ..sessions(kind, server.address, 50).with_clients(50)
        });
        check(&report);
        assert_eq!(
            (report.connections.opened, report.connections.closed),
            (50, 0)
        );
        assert!(report.duration_s >= 49.0 / 200.0);
    }
}

#[test]
fn a_server_that_refuses_is_tried_as_often_as_asked() {
    let refusing = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let refusing = refusing.unwrap();
    refusing
        .bind(&SocketAddr::from(crate::common::LOOPBACK).into())
        .unwrap();
    let address = refusing.local_addr().unwrap().as_socket().unwrap();
    for kind in KINDS {
        for (threads, clients) in [(1, 1), (1, 3), (2, 8)] {
            let report = load(&LoadConfig {
                threads: Some(threads),
                ..sessions(kind, address, 20).with_clients(clients)
            });
            check(&report);
            assert_eq!(
                (report.connections.tried, report.connections.failed),
                (20, 20)
            );
            assert_eq!(report.session_failures["connect_failed"], 20);
        }
    }
}

#[test]
fn a_server_that_hangs_up_is_tried_as_often_as_asked() {
    let server = server(TransportKind::Dot, |_, _| true);
    let report = load(&sessions(TransportKind::Dot, server.address, 30).with_clients(10));
    check(&report);
    assert_eq!(report.connections.failed, 30);
}

/// Opens 50 sessions a second until an interval has what is wanted.
fn until(
    kind: TransportKind,
    server: SocketAddr,
    change: impl Fn(&mut Route),
    has: impl Fn(&Interval) -> bool,
) -> LoadReport {
    let mut asked = LoadConfig {
        schedule: ScheduleKind::FixedRate { rate_qps: 50.0 },
        stop: StopCondition::default(),
        ..sessions(kind, server, 1).with_clients(5_000)
    };
    change(&mut asked.routes[0]);
    let cancel = AtomicBool::new(false);
    checked(run(&stream(1), &asked, &cancel, |progress| {
        if progress.interval.is_some_and(&has) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }))
}

#[test]
fn sessions_that_the_server_closes_are_counted() {
    for kind in KINDS {
        let server = server(kind, |_, link| link.shake_hands().is_ok());
        let seen = |interval: &Interval| interval.figures.connections.closed_by_peer > 0;
        let report = until(kind, server.address, |_| (), seen);
        assert_eq!(report.connections.closed, 0);
    }
}

/// Holds so many sessions as `schedule` opens them, until as many have been opened as are `enough`.
fn hold(
    kind: TransportKind,
    server: SocketAddr,
    (clients, schedule): (usize, ScheduleKind),
    enough: u64,
) -> LoadReport {
    let asked = LoadConfig {
        schedule,
        stop: StopCondition::default(),
        hold_sessions: true,
        ..sessions(kind, server, 1).with_clients(clients)
    };
    let cancel = AtomicBool::new(false);
    let mut opened = 0;
    checked(run(&stream(1), &asked, &cancel, |progress| {
        opened += progress
            .interval
            .map_or(0, |interval| interval.figures.connections.opened);
        if opened >= enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }))
}

const FAST: ScheduleKind = ScheduleKind::FixedRate { rate_qps: 5_000.0 };

const WINDOW: ScheduleKind = ScheduleKind::ClosedLoop {
    outstanding: 5,
    max_rate_qps: None,
};

#[test]
fn sessions_that_are_held_are_opened_once() {
    for kind in KINDS {
        for schedule in [FAST, WINDOW] {
            let server = server(kind, |_, link| accept(link));
            let report = hold(kind, server.address, (20, schedule), 20);
            check(&report);
            let connections = &report.connections;
            assert_eq!((connections.tried, connections.closed), (20, 0));
            assert_eq!(report.sessions_held, Some(20));
            // Waiting while all are held is not waiting for a place in the window.
            assert!(report.generator.blocked_share < 0.5);
        }
    }
}

#[test]
fn held_sessions_that_the_server_closes_are_opened_again() {
    for kind in KINDS {
        let server = server(kind, |number, link| {
            let _ = link.shake_hands();
            // The first 20 end at once, the others not at all.
            if number >= 20 {
                listen_only(link);
            }
            true
        });
        let report = hold(kind, server.address, (10, FAST), 30);
        let connections = &report.connections;
        assert_eq!((connections.opened, connections.closed), (30, 0));
        assert_eq!(connections.closed_by_peer, 20);
        assert_eq!(report.sessions_held, Some(10));
    }
}

#[test]
fn attempts_that_are_pending_at_the_end_are_neither_opened_nor_failed() {
    let server = server(TransportKind::Dot, |_, link| {
        let mut raw = link.below();
        let _ = std::io::copy(&mut raw, &mut std::io::sink());
        true
    });
    let asked = LoadConfig {
        timeout: Duration::from_millis(300),
        ..sessions(TransportKind::Dot, server.address, 10).with_clients(10)
    };
    let connections = load(&asked).connections;
    assert_eq!(
        (connections.tried, connections.opened, connections.failed),
        (10, 0, 0)
    );
}

#[test]
fn idle_sessions_are_closed() {
    for kind in KINDS {
        let server = server(kind, |_, link| accept(link));
        let idle = |route: &mut Route| route.sessions.idle = Some(Duration::from_millis(20));
        let seen = |interval: &Interval| interval.figures.connections.closed > 0;
        let report = until(kind, server.address, idle, seen);
        assert_eq!(report.connections.closed_by_peer, 0);
    }
}

//! Loads over UDP and TCP on a machine that lacks what they need, and against servers that do harm.

use super::common::{LOOPBACK, PATIENT, Server, answer, config, load, try_load};
use super::small_namespace::in_small_namespace;
use dnsrig_load::{LoadConfig, LoadError, Route, ScheduleKind, StopCondition, TransportKind};
use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

#[test]
fn udp_clients_without_a_port_are_said_before_the_load() {
    in_small_namespace(|| {
        let socket = UdpSocket::bind("127.0.0.1:53").unwrap();
        let server = Server::udp_on(socket, |_, query| Some(vec![answer(query)]));
        let few = config(server.address, 100).with_clients(3);
        let few = LoadConfig {
            timeout: PATIENT,
            ..few
        };
        assert_eq!(load(&few).answered, 100);
        let error = try_load(&few.clone().with_clients(20)).unwrap_err();
        assert!(matches!(error, LoadError::System { .. }));
        assert!(
            error.to_string().contains("no local port is left"),
            "{error}"
        );
        let sources = ["127.0.3.1", "127.0.3.2", "127.0.3.3"];
        let more = LoadConfig {
            sources: sources.map(|source| source.parse().unwrap()).to_vec(),
            ..few.with_clients(9)
        };
        let error = try_load(&more.clone().with_clients(15)).unwrap_err();
        assert!(
            error.to_string().contains("no local port is left"),
            "{error}"
        );
        assert_eq!(
            load(&more).answered,
            100,
            "each source address has its own ports"
        );
    });
}

#[test]
fn tcp_clients_without_a_port_have_their_queries_refused() {
    in_small_namespace(|| {
        let listener = TcpListener::bind("127.0.0.1:53").unwrap();
        let server = Server::tcp_on(listener, |_, mut stream| {
            while let Some(query) = crate::common::read_frame(&mut stream) {
                crate::common::write_frame(&mut stream, &answer(&query));
            }
            true
        });
        let report = load(
            &LoadConfig {
                routes: vec![Route::new(TransportKind::Tcp, server.address)],
                schedule: ScheduleKind::FixedRate { rate_qps: 1_000.0 },
                timeout: PATIENT,
                ..config(server.address, 200)
            }
            .with_clients(10),
        );
        assert!(report.refusals["no_port"] > 0 && report.answered > 0);
        assert_eq!(report.answered + report.refusals["no_port"], 200);
        assert!((1..=4).contains(&report.connections.opened));
    });
}

#[test]
fn a_server_that_dies_is_survived_at_a_fixed_rate_and_by_threads() {
    for (threads, schedule) in [
        (2, ScheduleKind::FixedRate { rate_qps: 2_000.0 }),
        (1, ScheduleKind::Poisson { rate_qps: 2_000.0 }),
    ] {
        let server = Server::udp(|number, query| (number < 100).then(|| vec![answer(query)]));
        let report = load(&LoadConfig {
            threads: Some(threads),
            schedule,
            stop: StopCondition {
                queries: Some(1_000),
                ..StopCondition::default()
            },
            ..config(server.address, 1).with_clients(4)
        });
        assert_eq!(report.sent, 1_000);
        assert!(report.answered > 0 && report.refusals["port_unreachable"] > 0);
    }
}

#[test]
fn errors_without_a_question_are_answers() {
    let server = Server::udp(|_, query| {
        let mut bare = query[..12].to_vec();
        bare[2] |= 0x80;
        bare[3] = 1;
        bare[5] = 0;
        Some(vec![bare])
    });
    let report = load(&LoadConfig {
        timeout: PATIENT,
        ..config(server.address, 50)
    });
    assert_eq!((report.answered, report.rcodes["FORMERR"]), (50, 50));
}

#[test]
fn a_torrent_of_strays_does_not_starve_the_load() {
    let server = Server::udp(|_, query| {
        let mut strays = vec![b"garbage".to_vec(); 200];
        strays.push(answer(query));
        Some(strays)
    });
    let report = load(&LoadConfig {
        timeout: Duration::from_secs(2),
        ..config(server.address, 100)
    });
    assert_eq!(report.sent, 100);
    assert!(report.malformations["short"] > 100 && report.answered > 0);
}

#[test]
fn answers_of_the_largest_size_are_taken() {
    let server = Server::udp(|_, query| {
        let mut long = answer(query);
        long[11] = 1;
        let rdata_len: u16 = 60_000;
        long.extend([0, 0xff, 0, 0, 1, 0, 0, 0, 0]);
        long.extend(rdata_len.to_be_bytes());
        long.resize(long.len() + usize::from(rdata_len), 0);
        Some(vec![long])
    });
    let report = load(&LoadConfig {
        schedule: ScheduleKind::ClosedLoop {
            outstanding: 1,
            max_rate_qps: None,
        },
        timeout: PATIENT,
        ..config(server.address, 20)
    });
    assert_eq!(report.answered, 20);
    assert!(report.response_bytes_mean > Some(60_000.0));
}

#[test]
fn nobody_at_the_port_is_said_at_once() {
    let free = UdpSocket::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let error = try_load(&config(free, 1)).unwrap_err();
    assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
}

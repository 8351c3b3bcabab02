//! Loads over TCP against servers that behave well and badly.

use super::common::{
    LOOPBACK, PATIENT, Server, answer, config, load, read_frame, try_load, write_frame,
};
use dnsrig_load::{
    Bottleneck, LoadConfig, LoadError, LoadReport, Route, StopCondition, TransportKind,
};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

fn tcp(server: SocketAddr, queries: u64) -> LoadConfig {
    LoadConfig {
        routes: vec![Route::new(TransportKind::Tcp, server)],
        ..config(server, queries)
    }
}

fn patient_load(server: &Server, queries: u64) -> LoadReport {
    load(&LoadConfig {
        timeout: PATIENT,
        ..tcp(server.address, queries)
    })
}

/// Answers all queries of a connection.
fn serve(mut stream: TcpStream) -> bool {
    while let Some(query) = read_frame(&mut stream) {
        write_frame(&mut stream, &answer(&query));
    }
    true
}

#[test]
fn every_query_is_answered_over_few_connections() {
    let server = Server::tcp(|_, stream| serve(stream));
    let report = load(&LoadConfig {
        threads: Some(2),
        timeout: PATIENT,
        ..tcp(server.address, 1_000).with_clients(3)
    });
    assert_eq!((report.sent, report.answered), (1_000, 1_000));
    assert_eq!(
        (report.connections.tried, report.connections.opened),
        (3, 3)
    );
    assert_eq!(
        (report.connections.failed, report.connections.closed_by_peer),
        (0, 0)
    );
}

#[test]
fn answers_may_come_in_any_order_and_in_pieces() {
    let server = Server::tcp(|number, mut stream| {
        if number == 0 {
            return serve(stream);
        }
        let mut queries: Vec<_> = std::iter::from_fn(|| read_frame(&mut stream))
            .take(20)
            .collect();
        queries.reverse();
        for query in queries {
            let answer = answer(&query);
            let frame = [&(answer.len() as u16).to_be_bytes(), answer.as_slice()].concat();
            for piece in frame.chunks(7) {
                stream.write_all(piece).unwrap();
            }
        }
        read_frame(&mut stream);
        true
    });
    let report = patient_load(&server, 20);
    assert_eq!(
        (report.answered, report.unmatched, report.malformed),
        (20, 0, 0)
    );
}

#[test]
fn closed_connections_are_made_again() {
    let server = Server::tcp(|_, mut stream| {
        if let Some(query) = read_frame(&mut stream) {
            write_frame(&mut stream, &answer(&query));
        }
        true
    });
    let report = patient_load(&server, 100);
    assert!(
        report.connections.opened > 1 && report.connections.closed_by_peer > 1,
        "{:?}",
        report.connections
    );
    assert!(report.answered > 0 && report.refusals["connection_lost"] > 0);
    assert_eq!(report.timed_out, 0);
}

#[test]
fn half_a_frame_is_malformed() {
    let server = Server::tcp(|_, mut stream| {
        if let Some(query) = read_frame(&mut stream) {
            let answer = answer(&query);
            let _ = stream.write_all(&(answer.len() as u16).to_be_bytes());
            let _ = stream.write_all(&answer[..answer.len() / 2]);
            while read_frame(&mut stream).is_some_and(|_| false) {}
        }
        true
    });
    let report = patient_load(&server, 20);
    assert!(report.malformed > 0);
    assert_eq!(
        (report.answered, report.refusals["connection_lost"]),
        (0, 20)
    );
}

#[test]
fn garbage_is_malformed_or_unmatched() {
    let server = Server::tcp(|_, mut stream| {
        while let Some(query) = read_frame(&mut stream) {
            let mut strange = answer(&query);
            strange[14] ^= 0x01;
            write_frame(&mut stream, &[]);
            write_frame(&mut stream, b"garbage");
            write_frame(&mut stream, &strange);
        }
        true
    });
    let report = load(&tcp(server.address, 20));
    assert_eq!(
        (
            report.answered,
            report.timed_out,
            report.malformed,
            report.unmatched
        ),
        (0, 20, 40, 20)
    );
}

#[test]
fn a_server_that_dies_is_survived() {
    let server = Server::tcp(|number, mut stream| {
        if number == 0 {
            return serve(stream);
        }
        for _ in 0..30 {
            if let Some(query) = read_frame(&mut stream) {
                write_frame(&mut stream, &answer(&query));
            }
        }
        false
    });
    let begin = Instant::now();
    let report = load(&LoadConfig {
        stop: StopCondition {
            duration: Some(Duration::from_secs(1)),
            ..StopCondition::default()
        },
        ..tcp(server.address, 1)
    });
    assert!(
        report.answered > 0 && report.connections.failed > 0,
        "{:?}",
        report.connections
    );
    assert!(report.refusals["connect_failed"] > 0);
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_server_that_falls_silent_is_survived() {
    let server = Server::tcp(|number, mut stream| {
        if number == 0 {
            return serve(stream);
        }
        while read_frame(&mut stream).is_some() {}
        true
    });
    let report = load(&tcp(server.address, 40));
    assert_eq!((report.sent, report.timed_out), (40, 40));
}

#[test]
fn an_absent_server_is_said_at_once() {
    let address = TcpListener::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let error = try_load(&tcp(address, 1)).unwrap_err();
    assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
}

#[test]
fn a_silent_server_is_said_within_seconds() {
    let server = Server::tcp(|_, mut stream| {
        while read_frame(&mut stream).is_some() {}
        true
    });
    let begin = Instant::now();
    let error = try_load(&tcp(server.address, 1)).unwrap_err();
    assert!(matches!(error, LoadError::Silent { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn connections_that_are_closed_unused_are_not_made_in_a_storm() {
    let server = Server::tcp(|number, stream| number > 0 || serve(stream));
    let report = load(&LoadConfig {
        stop: StopCondition {
            duration: Some(Duration::from_millis(500)),
            ..StopCondition::default()
        },
        ..tcp(server.address, 1)
    });
    let opened = report.connections.opened;
    assert!((1..=12).contains(&opened), "{opened} connections in 0.5 s");
    assert_eq!(report.bottleneck, Bottleneck::Server);
}

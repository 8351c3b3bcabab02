//! Replays: original times, original clients.

use super::common::{LOOPBACK, PATIENT, Server, answer, config, load_of, read_frame, write_frame};
use super::good::{route, server};
use dnsrig_load::{
    LoadConfig, LoadError, LoadReport, Route, ScheduleKind, StopCondition, TransportKind, run,
};
use dnsrig_stream::QueryStream;
use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A query for a name that says which one of which client it is.
fn query(client: u32, number: u32) -> Vec<u8> {
    let label = format!("{client:04}-{number:04}");
    let mut query = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, label.len() as u8];
    query.extend_from_slice(label.as_bytes());
    query.extend_from_slice(b"\x07example\0\0\x01\0\x01");
    query
}

/// Client and number of a query.
fn read_name(query: &[u8]) -> (u32, u32) {
    let label = std::str::from_utf8(&query[13..22]).unwrap();
    let (client, number) = label.split_once('-').unwrap();
    (client.parse().unwrap(), number.parse().unwrap())
}

/// `each` queries of each of `clients` clients in turn, `gap` apart.
fn stream(clients: u32, each: u32, gap: Duration) -> QueryStream {
    let mut stream = QueryStream::default();
    let mut time_ns = 0;
    for number in 0..each {
        for client in 0..clients {
            stream
                .push_timed(&query(client, number), time_ns, client)
                .unwrap();
            time_ns += gap.as_nanos() as u64;
        }
    }
    stream
}

fn replay(server: SocketAddr, speed: f64) -> LoadConfig {
    LoadConfig {
        schedule: ScheduleKind::Replay { speed },
        stop: StopCondition {
            passes: Some(1),
            ..StopCondition::default()
        },
        keep_clients: true,
        timeout: PATIENT,
        ..config(server, 1)
    }
}

/// From where a query came; its client and number.
type Seen = (SocketAddr, (u32, u32));

/// A UDP server that answers, and what came from which address, in order. The probe's is the first.
fn watching_server() -> (SocketAddr, Arc<AtomicBool>, thread::JoinHandle<Vec<Seen>>) {
    let socket = UdpSocket::bind(LOOPBACK).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let address = socket.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let mut seen = Vec::new();
        let mut buffer = [0; 512];
        while !flag.load(Ordering::Relaxed) {
            if let Ok((len, peer)) = socket.recv_from(&mut buffer) {
                seen.push((peer, read_name(&buffer[..len])));
                let _ = socket.send_to(&answer(&buffer[..len]), peer);
            }
        }
        seen
    });
    (address, stop, thread)
}

#[test]
fn each_client_has_its_own_port_and_its_order() {
    for threads in [1, 3] {
        let (address, stop, thread) = watching_server();
        let stream = stream(40, 25, Duration::from_micros(200));
        let report = load_of(
            &stream,
            &LoadConfig {
                threads: Some(threads),
                stop: StopCondition {
                    passes: Some(2),
                    ..StopCondition::default()
                },
                ..replay(address, 1.0)
            },
        );
        stop.store(true, Ordering::Relaxed);
        let seen = thread.join().unwrap().split_off(1);
        assert_eq!((report.sent, report.answered), (2_000, 2_000));
        assert_eq!(report.generator.clients, 40);
        let mut of_port: HashMap<SocketAddr, (u32, Vec<u32>)> = HashMap::new();
        for (port, (client, number)) in seen {
            let (owner, numbers) = of_port.entry(port).or_insert((client, Vec::new()));
            assert_eq!(*owner, client, "a port is one client's");
            numbers.push(number);
        }
        let owners: HashSet<u32> = of_port.values().map(|(owner, _)| *owner).collect();
        assert_eq!((of_port.len(), owners.len()), (40, 40));
        let expected: Vec<u32> = (0..25).chain(0..25).collect();
        assert!(of_port.values().all(|(_, numbers)| *numbers == expected));
    }
}

#[test]
fn each_client_has_its_own_connection() {
    let wrong = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&wrong);
    let server = Server::tcp(move |_, mut stream| {
        let mut last: Option<(u32, u32)> = None;
        while let Some(query) = read_frame(&mut stream) {
            let (client, number) = read_name(&query);
            let follows =
                last.is_none_or(|(owner, before)| owner == client && number == before + 1);
            count.fetch_add(u64::from(!follows), Ordering::Relaxed);
            last = Some((client, number));
            write_frame(&mut stream, &answer(&query));
        }
        true
    });
    let stream = stream(20, 20, Duration::from_micros(500));
    let mut asked = replay(server.address, 1.0);
    asked.routes = vec![Route::new(TransportKind::Tcp, server.address)];
    asked.threads = Some(2);
    let report = load_of(&stream, &asked);
    assert_eq!((report.answered, report.connections.opened), (400, 20));
    assert_eq!(wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn times_are_those_of_the_stream_at_any_speed() {
    let good = server();
    let stream = stream(10, 100, Duration::from_millis(1));
    for speed in [0.5, 1.0, 4.0] {
        for threads in [1, 2] {
            let report = load_of(
                &stream,
                &LoadConfig {
                    threads: Some(threads),
                    ..replay(good.addresses().dns, speed)
                },
            );
            assert_eq!((report.sent, report.answered), (1_000, 1_000));
            assert!(
                report.duration_s >= 0.999 / speed,
                "{} s",
                report.duration_s
            );
        }
    }
}

#[test]
fn the_rate_of_each_second_is_that_of_the_stream() {
    let good = server();
    // 4,000 a second, but for the last one.
    let stream = stream(100, 81, Duration::from_micros(250));
    let report = load_of(&stream, &replay(good.addresses().dns, 1.0));
    assert_eq!(report.sent, 8_100);
    for second in &report.intervals[..2] {
        // What was due and could not be sent before the second ended, if the machine is busy, comes in the next.
        let late_ns = report.send_error_ns.max.unwrap_or(0);
        let most_off = 4.0 + 2.0 * late_ns as f64 / 250_000.0;
        let off = (second.figures.sent as f64 - 4_000.0).abs();
        assert!(off <= most_off, "{off} queries off, {late_ns} ns late");
    }
}

#[test]
fn passes_and_duration_end_a_replay() {
    let good = server();
    let stream = stream(5, 20, Duration::from_millis(1));
    let mut asked = replay(good.addresses().dns, 2.0);
    asked.stop.passes = Some(4);
    assert_eq!(load_of(&stream, &asked).sent, 400);
    asked.stop = StopCondition {
        queries: Some(130),
        ..StopCondition::default()
    };
    asked.threads = Some(2);
    assert_eq!(load_of(&stream, &asked).sent, 130);
    asked.stop = StopCondition {
        duration: Some(Duration::from_millis(300)),
        ..StopCondition::default()
    };
    let report = load_of(&stream, &asked);
    assert!(
        report.sent <= 601 && report.duration_s >= 0.3,
        "{}",
        report.sent
    );
}

#[test]
fn clients_go_to_transports_by_weight() {
    let good = server();
    let stream = stream(100, 10, Duration::from_micros(300));
    for threads in [1, 2] {
        let mut asked = replay(good.addresses().dns, 1.0);
        asked.threads = Some(threads);
        asked.routes = vec![
            Route {
                weight: 3.0,
                ..route(&good, TransportKind::Udp)
            },
            route(&good, TransportKind::Dot),
        ];
        let report = load_of(&stream, &asked);
        assert_eq!(report.answered, 1_000);
        let [udp, dot] = report.transports.as_slice() else {
            panic!("two transports have two reports");
        };
        assert_eq!(udp.clients + dot.clients, 100);
        assert!((65..=85).contains(&udp.clients), "{} clients", udp.clients);
        assert_eq!(
            (udp.sent, dot.sent),
            (udp.clients as u64 * 10, dot.clients as u64 * 10)
        );
        assert_eq!(dot.connections.opened, dot.clients as u64);
    }
}

#[test]
fn a_client_without_room_has_its_queries_refused_and_the_others_do_not_wait() {
    // One client sends more than it has IDs for while the server is silent.
    let seen = Arc::new(Mutex::new(0u64));
    let count = Arc::clone(&seen);
    let silent = Server::tcp(move |number, mut stream| {
        while let Some(query) = read_frame(&mut stream) {
            *count.lock().unwrap() += 1;
            if number == 0 || read_name(&query).0 == 1 {
                write_frame(&mut stream, &answer(&query));
            }
        }
        true
    });
    let mut stream = QueryStream::default();
    for number in 0..40_000u32 {
        let client = u32::from(number % 400 == 399);
        stream
            .push_timed(
                &query(client, number / 400),
                u64::from(number) * 1_000,
                client,
            )
            .unwrap();
    }
    let mut asked = replay(silent.address, 1.0);
    asked.routes = vec![Route::new(TransportKind::Tcp, silent.address)];
    asked.timeout = Duration::from_secs(2);
    let report = load_of(&stream, &asked);
    assert_eq!((report.sent, report.answered), (40_000, 100));
    assert!(report.refusals["no_place"] > 0);
    assert_eq!(report.refusals["no_place"], report.refused);
}

#[test]
fn threads_may_be_more_than_clients() {
    let good = server();
    let stream = stream(2, 10, Duration::from_millis(1));
    let asked = LoadConfig {
        threads: Some(4),
        ..replay(good.addresses().dns, 1.0).with_clients(4)
    };
    assert_eq!(load_of(&stream, &asked).answered, 20);
}

#[test]
fn streams_without_times_are_refused() {
    let good = server();
    let mut asked = replay(good.addresses().dns, 1.0);
    let try_run = |asked: &LoadConfig| -> Result<LoadReport, LoadError> {
        let cancel = AtomicBool::new(false);
        run(&crate::common::stream(10), asked, &cancel, |_| {
            ControlFlow::Continue(())
        })
    };
    let error = try_run(&asked).unwrap_err();
    assert!(error.to_string().contains("no times"), "{error}");
    asked.schedule = ScheduleKind::FixedRate { rate_qps: 1_000.0 };
    let error = try_run(&asked).unwrap_err();
    assert!(error.to_string().contains("no clients"), "{error}");
}

#[test]
fn a_session_takes_more_than_its_queries_while_it_waits_for_answers() {
    let server = Server::tcp(|number, mut stream| {
        // The probe's is alone.
        let count = if number == 0 { 1 } else { 10 };
        let queries: Vec<_> = (0..count).map_while(|_| read_frame(&mut stream)).collect();
        for query in &queries {
            write_frame(&mut stream, &answer(query));
        }
        true
    });
    let stream = stream(1, 10, Duration::from_millis(1));
    let mut asked = replay(server.address, 1.0);
    asked.routes = vec![Route::new(TransportKind::Tcp, server.address)];
    asked.routes[0].sessions.queries = Some(1);
    let report = load_of(&stream, &asked);
    assert_eq!((report.answered, report.connections.opened), (10, 1));
}

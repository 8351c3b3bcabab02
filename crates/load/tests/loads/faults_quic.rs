//! Loads over DoQ against servers that do harm, beyond those of `doq.rs`.

use super::common::{PATIENT, config, load, try_load};
use super::quic::{Identity, Server, answer, framed, read_query};
use dnsrig_load::{LoadConfig, LoadReport, Route, TransportKind};
use quinn::{Connection, VarInt};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);

fn doq(server: SocketAddr, queries: u64, timeout: Duration) -> LoadConfig {
    LoadConfig {
        routes: vec![Route::new(TransportKind::Doq, server)],
        timeout,
        ..config(server, queries)
    }
}

/// A server that answers the probe, and then says to each query what it is told.
fn saying(reply: fn(Vec<u8>) -> Vec<u8>) -> Server {
    Server::after_probe(move |incoming| async move {
        say(incoming.await.unwrap(), reply).await;
    })
}

async fn say(connection: Connection, reply: fn(Vec<u8>) -> Vec<u8>) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        tokio::spawn(async move {
            if let Some(query) = read_query(&mut receive).await {
                let _ = send.write_all(&reply(query)).await;
                let _ = send.finish();
            }
        });
    }
}

/// The report of 30 queries, none of which is answered.
fn unanswered(reply: fn(Vec<u8>) -> Vec<u8>) -> LoadReport {
    let report = load(&doq(saying(reply).address, 30, SHORT));
    assert_eq!((report.sent, report.answered), (30, 0));
    report
}

#[test]
fn garbage_is_malformed() {
    let report = unanswered(|_| framed(b"garbage"));
    assert_eq!(report.malformations["short"], 30);
    let report = unanswered(|query| framed(&query));
    assert_eq!(report.malformations["not_a_response"], 30);
}

#[test]
fn half_a_message_is_cut() {
    let report = unanswered(|query| framed(&answer(&query))[..20].to_vec());
    assert_eq!(report.malformations["cut"], 30);
}

#[test]
fn messages_longer_than_they_say_are_malformed_and_what_follows_an_answer_too() {
    let report = unanswered(|query| {
        let mut framed = framed(&answer(&query));
        framed[1] -= 5;
        framed
    });
    assert_eq!(report.malformations["question"], 30);
    let server = saying(|query| [framed(&answer(&query)), b"\0\x09more".to_vec()].concat());
    let report = load(&doq(server.address, 30, PATIENT));
    assert_eq!((report.answered, report.malformations["cut"]), (30, 30));
}

#[test]
fn another_question_is_unmatched() {
    let report = unanswered(|query| {
        let mut other = answer(&query);
        other[14] ^= 0x15;
        framed(&other)
    });
    assert_eq!(report.unmatched, 30);
}

#[test]
fn another_id_than_0_is_no_answer() {
    let report = unanswered(|query| {
        let mut other = answer(&query);
        other[1] = 7;
        framed(&other)
    });
    assert_eq!(
        (report.unmatched, report.refusals["protocol_error"]),
        (30, 30)
    );
}

#[test]
fn an_empty_stream_answers_nothing() {
    let report = unanswered(|_| Vec::new());
    assert_eq!(report.timed_out + report.refused, 30);
}

#[test]
fn sessions_closed_as_soon_as_they_are_open_are_lost() {
    let server = Server::after_probe(|incoming| async move {
        let connection = incoming.await.unwrap();
        connection.close(VarInt::from_u32(0), b"");
    });
    let report = load(&doq(server.address, 60, PATIENT));
    let lost = report.refusals["connection_lost"] + report.refusals["handshake_failed"];
    assert_eq!(lost, 60, "{:?}", report.refusals);
}

#[test]
fn attempts_that_the_server_refuses_are_handshakes_that_failed() {
    let server = Server::after_probe(|incoming| async move { incoming.refuse() });
    let report = load(&doq(server.address, 40, PATIENT));
    assert_eq!(report.refused, 40);
    assert!(report.refusals["handshake_failed"] + report.refusals["connect_failed"] == 40);
    assert_eq!(report.connections.failed, report.connections.tried);
}

#[test]
fn a_server_of_another_protocol_is_said_at_once() {
    let server = Server::new(Identity::new().config(b"h3"), |_, incoming| async move {
        let _ = incoming.await;
    });
    let error = try_load(&doq(server.address, 1, PATIENT)).unwrap_err();
    assert!(error.to_string().contains("handshake failed"), "{error}");
}

#[test]
fn datagrams_that_are_no_quic_are_survived() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let address = socket.local_addr().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = thread::spawn(move || {
        let mut buffer = [0; 2048];
        let mut number = 0u8;
        while !flag.load(Ordering::Relaxed) {
            if let Ok((len, peer)) = socket.recv_from(&mut buffer) {
                number = number.wrapping_add(1);
                let changed: Vec<u8> = buffer[..len].iter().map(|octet| octet ^ number).collect();
                let _ = socket.send_to(&changed, peer);
                let _ = socket.send_to(b"garbage", peer);
            }
        }
    });
    let error = try_load(&doq(address, 1, SHORT)).unwrap_err();
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    assert!(error.to_string().contains("over DoQ"), "{error}");
}

//! DNS over TLS, by rustls on blocking sockets.

use super::{PATIENCE, Subject, localhost};
use crate::test_zone::{name, padded_query, query};
use domain::base::iana::Rtype;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

type Stream = StreamOwned<ClientConnection, TcpStream>;

fn tcp(subject: &Subject) -> TcpStream {
    let address = subject.server.addresses().dot.expect("DoT is served");
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("settable");
    stream
}

fn connect(subject: &Subject, config: &Arc<ClientConfig>) -> Stream {
    let tls = ClientConnection::new(Arc::clone(config), localhost()).expect("valid settings");
    StreamOwned::new(tls, tcp(subject))
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

fn read_message(stream: &mut impl Read) -> Vec<u8> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).expect("a response");
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message).expect("a whole response");
    message
}

fn ask(stream: &mut Stream, message: &[u8]) -> Vec<u8> {
    stream.write_all(&framed(message)).expect("sent");
    read_message(stream)
}

#[test]
fn both_versions_of_tls_give_what_tcp_gives() {
    let subject = Subject::start(|_| {});
    let message = query(&name("several.example."), Rtype::ANY, Some((1232, true)));
    let mut plain = TcpStream::connect(subject.server.addresses().dns).expect("it listens");
    plain.write_all(&framed(&message)).expect("sent");
    let expected = read_message(&mut plain);
    for version in [&TLS12, &TLS13] {
        let config = Arc::new(subject.tls("dot", &[version]));
        let mut stream = connect(&subject, &config);
        assert_eq!(ask(&mut stream, &message), expected);
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"dot"[..]));
        assert_eq!(stream.conn.protocol_version(), Some(version.version));
    }
    let counters = subject.counters(|counters| counters.queries_dot == 2);
    assert_eq!((counters.handshakes, counters.handshakes_failed), (2, 0));
}

#[test]
fn clients_without_alpn_are_served_and_those_with_another_are_not() {
    let subject = Subject::start(|_| {});
    let message = query(&name("example."), Rtype::SOA, None);
    let mut config = subject.tls("dot", &[&TLS13]);
    config.alpn_protocols.clear();
    ask(&mut connect(&subject, &Arc::new(config)), &message);
    let config = Arc::new(subject.tls("h2", &[&TLS13]));
    let mut stream = connect(&subject, &config);
    let sent = stream.write_all(&framed(&message));
    let error = sent
        .and_then(|()| stream.read(&mut [0]))
        .expect_err("an alert");
    assert!(
        error.to_string().contains("NoApplicationProtocol"),
        "{error}"
    );
    subject.counters(|counters| counters.handshakes_failed == 1);
}

#[test]
fn sessions_are_resumed() {
    let subject = Subject::start(|_| {});
    let message = query(&name("example."), Rtype::SOA, None);
    for version in [&TLS12, &TLS13] {
        let config = Arc::new(subject.tls("dot", &[version]));
        for expected in [HandshakeKind::Full, HandshakeKind::Resumed] {
            let mut stream = connect(&subject, &config);
            ask(&mut stream, &message);
            assert_eq!(stream.conn.handshake_kind(), Some(expected));
        }
    }
    let counters = subject.counters(|counters| counters.handshakes == 4);
    assert_eq!(counters.handshakes_resumed, 2);
}

#[test]
fn pipelined_queries_in_odd_pieces_are_all_answered() {
    const QUERIES: u16 = 2000;
    let subject = Subject::start(|_| {});
    let config = Arc::new(subject.tls("dot", &[&TLS13]));
    let mut stream = connect(&subject, &config);
    let mut message = query(&name("several.example."), Rtype::ANY, None);
    let mut octets = Vec::new();
    for id in 0..QUERIES {
        message[..2].copy_from_slice(&id.to_be_bytes());
        octets.extend(framed(&message));
    }
    for piece in octets.chunks(1009) {
        stream.write_all(piece).expect("sent");
    }
    let ids = (0..QUERIES).map(|_| read_message(&mut stream));
    let ids = ids.map(|message| u16::from_be_bytes([message[0], message[1]]));
    assert!(ids.eq(0..QUERIES));
}

#[test]
fn a_padded_query_gets_a_padded_response() {
    let subject = Subject::start(|_| {});
    let config = Arc::new(subject.tls("dot", &[&TLS13]));
    let mut stream = connect(&subject, &config);
    let response = ask(&mut stream, &padded_query(&name("www.example."), Rtype::A));
    assert_eq!(response.len(), 468);
}

#[test]
fn zones_are_transferred() {
    let subject = Subject::start(|_| {});
    let config = Arc::new(subject.tls("dot", &[&TLS13]));
    let mut stream = connect(&subject, &config);
    let response = ask(&mut stream, &query(&name("example."), Rtype::AXFR, None));
    let records = crate::test_zone::zone(None).records().len() as u16 + 1;
    assert_eq!(response[6..8], records.to_be_bytes());
}

#[test]
fn a_client_that_closes_its_side_gets_its_answers_and_a_close_notify() {
    let subject = Subject::start(|_| {});
    for version in [&TLS12, &TLS13] {
        let config = Arc::new(subject.tls("dot", &[version]));
        let mut stream = connect(&subject, &config);
        let message = framed(&query(&name("example."), Rtype::SOA, None));
        stream.write_all(&message).expect("sent");
        stream.conn.send_close_notify();
        stream.flush().expect("sent");
        let mut rest = Vec::new();
        // Without close_notify this would fail with UnexpectedEof.
        stream.read_to_end(&mut rest).expect("a clean end");
        assert_eq!(framed(&rest[2..]), rest);
    }
}

#[test]
fn stopping_the_server_ends_connections_cleanly() {
    let subject = Subject::start(|_| {});
    let config = Arc::new(subject.tls("dot", &[&TLS13]));
    let mut stream = connect(&subject, &config);
    ask(&mut stream, &query(&name("example."), Rtype::SOA, None));
    subject.server.stop().expect("it ends well");
    assert_eq!(stream.read(&mut [0]).expect("close_notify"), 0);
}

#[test]
fn handshakes_that_go_nowhere_are_ended() {
    let subject = Subject::start(|config| config.idle_timeout = Duration::from_millis(1));
    let mut stream = tcp(&subject);
    stream.write_all(&[0x16, 0x03, 0x01]).expect("sent");
    assert_eq!(stream.read(&mut [0]).expect("the server closes"), 0);
    subject.counters(|counters| counters.handshakes_failed == 1);
}

#[test]
fn garbage_ends_its_own_connection_only() {
    let subject = Subject::start(|_| {});
    let config = Arc::new(subject.tls("dot", &[&TLS13]));
    let message = query(&name("example."), Rtype::SOA, None);
    let mut good = connect(&subject, &config);
    ask(&mut good, &message);
    let garbage: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &framed(&message),
        &[0x16, 0x03, 0x01, 0xff, 0xff, 0, 1, 2, 3],
        &[0x16, 0x03, 0x01, 0x00, 0x04, 0x01, 0x00, 0x00, 0x00],
    ];
    for octets in garbage {
        let mut stream = tcp(&subject);
        stream.write_all(octets).expect("sent");
        let mut rest = Vec::new();
        // An alert and the end, or a reset when the server has not read all.
        if let Err(error) = stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
        }
    }
    let mut stream = tcp(&subject);
    stream.write_all(&[0x16]).expect("sent");
    drop(stream);
    ask(&mut good, &message);
    subject.counters(|counters| counters.handshakes_failed == 5);
}

#[test]
fn encrypted_garbage_ends_the_connection() {
    let subject = Subject::start(|_| {});
    let config = Arc::new(subject.tls("dot", &[&TLS13]));
    let mut stream = connect(&subject, &config);
    ask(&mut stream, &query(&name("example."), Rtype::SOA, None));
    // A record that nobody encrypted.
    let record = [0x17, 0x03, 0x03, 0x00, 0x20];
    stream.sock.write_all(&record).expect("sent");
    stream.sock.write_all(&[7; 32]).expect("sent");
    let error = stream.read(&mut [0]).expect_err("an alert");
    assert!(error.to_string().contains("BadRecordMac"), "{error}");
}

//! DoT over real connections, to servers that behave well and badly.

use super::*;
use crate::config::{TlsSettings, TlsVersions};
use crate::transport::Handshake;
use crate::transport::sessions::tls::TlsFactory;
use crate::transport::sessions::tls::tests::server_config;
use crate::transport::sessions::{Dot, FramesFactory};
use rustls::server::ServerConfig;
use rustls::{ServerConnection, StreamOwned};
use socket2::SockRef;
use std::sync::{Arc, LazyLock};

type TlsStream = StreamOwned<ServerConnection, TcpStream>;

static SERVER: LazyLock<Arc<ServerConfig>> =
    LazyLock::new(|| Arc::new(server_config(TlsVersions::Any)));

/// Serves TLS.
fn serve_tls(talk: impl Fn(usize, TlsStream) + Send + Sync + Copy + 'static) -> SocketAddr {
    serve(move |number, stream| {
        let connection = ServerConnection::new(Arc::clone(&SERVER)).unwrap();
        talk(number, StreamOwned::new(connection, stream));
    })
}

fn dot(
    server: SocketAddr,
    clients: usize,
    settings: &SessionSettings,
) -> Driver<TlsFactory<FramesFactory>> {
    let tls = TlsSettings::default();
    Driver::new(Dot::open(server, &[], clients, settings, &tls).unwrap())
}

fn settings(queries: u64, resumption: bool) -> SessionSettings {
    SessionSettings {
        queries: Some(queries),
        idle: None,
        resumption,
    }
}

impl Record {
    fn handshakes(&self, meant: Handshake) -> usize {
        self.count(|event| matches!(event, SessionEvent::Opened { kind, .. } if *kind == meant))
    }
}

#[test]
fn sessions_of_one_query_are_resumed_by_their_own_client() {
    let server = serve_tls(|_, mut stream| echo(&mut stream, usize::MAX));
    for (resumption, full) in [(true, 2), (false, 20)] {
        let mut load = dot(server, 2, &settings(1, resumption));
        for _ in 0..10 {
            load.ask_in_turn(0, 1);
            load.ask_in_turn(1, 1);
        }
        load.step();
        let record = &load.record;
        assert_eq!(
            (record.answered, record.opened(), record.closed()),
            (20, 20, 20)
        );
        assert_eq!(record.handshakes(Handshake::Full), full);
        assert_eq!(record.handshakes(Handshake::Resumed), 20 - full);
    }
}

#[test]
fn sessions_of_many_queries() {
    let server = serve_tls(|_, mut stream| echo(&mut stream, usize::MAX));
    let mut load = dot(server, 3, &settings(50, true));
    for client in 0..3 {
        load.ask(client, 50);
        assert!(!load.transport.has_room(client));
    }
    load.until(|load| load.record.in_flight.is_empty());
    load.step();
    assert_eq!((load.record.answered, load.record.closed()), (150, 3));
    let wire = load.transport.totals().wire;
    let octets = 150 * (2 + QUERY.len() as u64);
    assert!(
        wire.octets_sent > octets && wire.octets_received > octets,
        "{wire:?}"
    );
}

#[test]
fn sessions_without_a_query() {
    let server = serve_tls(|_, mut stream| echo(&mut stream, usize::MAX));
    let idle = Some(Duration::from_secs(100));
    let mut load = dot(
        server,
        2,
        &SessionSettings {
            idle,
            ..SessionSettings::default()
        },
    );
    for client in 0..2 {
        load.transport.open(client, &load.clock, &mut load.record);
    }
    load.until(|load| load.record.opened() == 2);
    load.pass(Duration::from_secs(100));
    assert_eq!(load.record.closed(), 2);
}

#[test]
fn closed_at_once() {
    let server = serve(|_, _| {});
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 3);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.failed(Refusal::HandshakeFailed), 1);
    assert_eq!(load.record.refusals, [Refusal::HandshakeFailed; 3]);
    assert!(!load.transport.has_room(0), "it pauses");
}

#[test]
fn garbage_instead_of_tls() {
    for garbage in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(),
        &[22, 3, 3, 0, 4, 2, 0, 0, 0],
    ] {
        let server = serve(move |_, mut stream| {
            stream.write_all(garbage).unwrap();
            while matches!(stream.read(&mut [0; 512]), Ok(1..)) {}
        });
        let mut load = dot(server, 1, &SessionSettings::default());
        load.ask(0, 1);
        load.until(|load| load.record.in_flight.is_empty());
        assert_eq!(load.record.failed(Refusal::HandshakeFailed), 1);
    }
}

#[test]
fn an_alert_in_the_handshake() {
    let server = serve(|_, mut stream| stream.write_all(&[21, 3, 3, 0, 2, 2, 40]).unwrap());
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 1);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::HandshakeFailed]);
}

#[test]
fn a_handshake_that_is_never_answered() {
    let server = serve(|_, mut stream| while matches!(stream.read(&mut [0; 512]), Ok(1..)) {});
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 2);
    load.until(|load| load.transport.totals().wire.octets_sent > 0);
    load.pass(Duration::from_millis(4_000));
    assert_eq!(load.record.in_flight.len(), 2);
    load.pass(Duration::from_millis(1_000));
    assert_eq!(load.record.failed(Refusal::HandshakeTimedOut), 1);
    assert_eq!(load.record.refusals, [Refusal::HandshakeTimedOut; 2]);
}

#[test]
fn closed_after_the_query() {
    let server = serve_tls(|_, mut stream| drop(read_message(&mut stream)));
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 1);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost]);
    assert_eq!((load.record.opened(), load.record.closed_by_peer()), (1, 1));
}

#[test]
fn closed_in_the_middle_of_a_frame() {
    let server = serve_tls(|_, mut stream| {
        echo(&mut stream, 1);
        stream.write_all(&[0, 100, 1, 2, 3]).unwrap();
        stream.conn.send_close_notify();
        stream.flush().unwrap();
    });
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 2);
    load.until(|load| load.record.closed_by_peer() == 1);
    assert_eq!(load.record.answered, 1);
    assert_eq!(load.record.malformed, [Malformed::Cut]);
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost]);
}

#[test]
fn half_a_frame_and_silence() {
    let server = serve_tls(|_, mut stream| {
        stream.write_all(&[0, 100, 1, 2, 3]).unwrap();
        while read_message(&mut stream).is_some() {}
    });
    let mut load = dot(server, 1, &settings(1, false));
    load.ask(0, 1);
    load.until(|load| load.record.opened() == 1);
    load.step();
    load.give_up();
    load.step();
    assert_eq!((load.record.closed(), load.record.answered), (1, 0));
}

#[test]
fn garbage_within_a_session() {
    let server = serve_tls(|_, mut stream| {
        read_message(&mut stream);
        stream.sock.write_all(&[23, 3, 3, 0, 30]).unwrap();
        stream.sock.write_all(&[7; 30]).unwrap();
        while matches!(stream.sock.read(&mut [0; 512]), Ok(1..)) {}
    });
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 1);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::ProtocolError]);
    assert_eq!(load.record.closed_by_peer(), 1);
}

#[test]
fn reset_within_a_session() {
    let server = serve_tls(|_, mut stream| {
        read_message(&mut stream);
        SockRef::from(&stream.sock)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    });
    let mut load = dot(server, 1, &SessionSettings::default());
    load.ask(0, 2);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost; 2]);
}

#[test]
fn resets_at_any_time() {
    let server = serve(|number, mut stream| {
        let _ = stream.read(&mut [0; 512][..number % 3 * 100]);
        SockRef::from(&stream)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    });
    let mut load = dot(server, 1, &SessionSettings::default());
    for _ in 0..12 {
        load.until(|load| load.transport.has_room(0));
        load.ask(0, 1);
        load.until(|load| load.record.in_flight.is_empty());
    }
    assert_eq!((load.record.opened(), load.record.refusals.len()), (0, 12));
}

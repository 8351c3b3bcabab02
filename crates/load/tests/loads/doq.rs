//! Loads over QUIC against servers that behave well and badly.

use super::common::{PATIENT, config, load, try_load};
use super::quic::{Identity, Server, answer_stream, serve};
use dnsrig_load::{
    Certificates, LoadConfig, LoadError, Route, SessionSettings, StopCondition, TlsSettings,
    TlsVersions, TransportKind,
};
use quinn::VarInt;
use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

fn doq(server: SocketAddr, queries: u64) -> LoadConfig {
    LoadConfig {
        routes: vec![Route::new(TransportKind::Doq, server)],
        timeout: PATIENT,
        ..config(server, queries)
    }
}

fn with_sessions(mut config: LoadConfig, sessions: SessionSettings) -> LoadConfig {
    config.routes[0].sessions = sessions;
    config
}

fn with_tls(mut config: LoadConfig, tls: TlsSettings) -> LoadConfig {
    config.routes[0].tls = tls;
    config
}

#[test]
fn every_query_is_answered_over_few_sessions() {
    let server = Server::good();
    let report = load(&LoadConfig {
        threads: Some(2),
        ..doq(server.address, 2_000).with_clients(4)
    });
    assert_eq!((report.sent, report.answered), (2_000, 2_000));
    assert_eq!((report.unmatched, report.malformed), (0, 0));
    let connections = report.connections;
    assert_eq!((connections.tried, connections.opened), (4, 4));
    assert_eq!((connections.full, connections.resumed), (4, 0));
    assert_eq!((connections.failed, connections.closed_by_peer), (0, 0));
    assert!(report.handshake_ns.p50.is_some());
    assert!(report.wire.octets_sent > report.bytes.sent);
    assert!(report.wire.octets_received > report.bytes.received);
}

#[test]
fn sessions_end_after_their_queries_and_are_resumed() {
    let server = Server::good();
    for resumption in [false, true] {
        let sessions = SessionSettings {
            queries: Some(1),
            idle: None,
            resumption,
        };
        let report = load(&with_sessions(
            doq(server.address, 60).with_clients(3),
            sessions,
        ));
        assert_eq!(report.answered, 60);
        let connections = report.connections;
        assert_eq!(connections.opened, 60);
        assert_eq!(connections.resumed, if resumption { 57 } else { 0 });
    }
}

#[test]
fn sessions_alone_are_opened() {
    let server = Server::good();
    let report = load(&LoadConfig {
        sessions_only: true,
        ..doq(server.address, 40).with_clients(40)
    });
    assert_eq!((report.connections.opened, report.sent), (40, 0));
}

#[test]
fn doq_goes_beside_other_transports() {
    let server = Server::good();
    let udp = crate::common::Server::udp(|_, query| Some(vec![crate::common::answer(query)]));
    let mut config = doq(server.address, 1_000);
    config
        .routes
        .push(Route::new(TransportKind::Udp, udp.address));
    let report = load(&config);
    assert_eq!((report.sent, report.answered), (1_000, 1_000));
    let [over_quic, over_udp] = report.transports.as_slice() else {
        panic!("two transports have two reports");
    };
    assert_eq!((over_quic.answered, over_udp.answered), (500, 500));
}

#[test]
fn sessions_that_the_server_closes_are_opened_again() {
    let server = Server::after_probe(|incoming| async move {
        let connection = incoming.await.unwrap();
        for _ in 0..5 {
            if let Ok((send, receive)) = connection.accept_bi().await {
                answer_stream(send, receive).await;
            }
        }
        connection.close(VarInt::from_u32(4), b"excessive load");
    });
    let report = load(&doq(server.address, 100));
    assert!(report.connections.closed_by_peer > 1 && report.connections.opened > 1);
    assert!(report.refusals["connection_lost"] > 0);
    assert_eq!(report.timed_out, 0);
}

#[test]
fn reset_streams_are_counted() {
    let server = Server::after_probe(|incoming| async move {
        let connection = incoming.await.unwrap();
        while let Ok((mut send, _receive)) = connection.accept_bi().await {
            let _ = send.reset(VarInt::from_u32(1));
        }
    });
    let report = load(&doq(server.address, 300));
    assert_eq!(report.refusals["stream_reset"], 300);
}

#[test]
fn retry_is_no_failure() {
    let server = Server::new(Identity::new().config(b"doq"), |_, incoming| async move {
        if incoming.remote_address_validated() {
            serve(incoming.await.unwrap()).await;
        } else {
            incoming.retry().unwrap();
        }
    });
    let report = load(&doq(server.address, 100));
    assert_eq!((report.answered, report.connections.failed), (100, 0));
}

#[test]
fn a_server_that_dies_is_survived() {
    let server = Server::good();
    let address = server.address;
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        drop(server);
    });
    let begin = Instant::now();
    let report = load(&LoadConfig {
        stop: StopCondition {
            duration: Some(Duration::from_secs(1)),
            ..StopCondition::default()
        },
        timeout: Duration::from_millis(300),
        ..doq(address, 1)
    });
    killer.join().unwrap();
    assert!(report.answered > 0 && report.refusals["connect_failed"] > 0);
    assert!(report.connections.failed > 0 && report.connections.closed_by_peer == 1);
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_server_that_falls_silent_is_survived() {
    let server = Server::after_probe(|incoming| async move {
        let connection = incoming.await.unwrap();
        while let Ok((send, _receive)) = connection.accept_bi().await {
            tokio::spawn(async move {
                let _ = send.stopped().await;
            });
        }
    });
    let report = load(&LoadConfig {
        timeout: Duration::from_millis(200),
        ..doq(server.address, 300)
    });
    assert_eq!((report.sent, report.timed_out), (300, 300));
}

#[test]
fn an_absent_server_is_said_at_once() {
    let address = {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap()
    };
    let error = try_load(&doq(address, 1)).unwrap_err();
    assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
}

#[test]
fn a_server_that_answers_nothing_is_said_within_seconds() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let begin = Instant::now();
    let error = try_load(&doq(socket.local_addr().unwrap(), 1)).unwrap_err();
    assert!(matches!(error, LoadError::Silent { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn certificates_are_verified_if_asked_for() {
    let identity = Identity::new();
    let server = Server::new(identity.config(b"doq"), |_, incoming| async move {
        if let Ok(connection) = incoming.await {
            serve(connection).await;
        }
    });
    let verified = |pem: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(pem.as_bytes()).unwrap();
        let tls = TlsSettings {
            certificates: Certificates::Roots(file.path().to_owned()),
            ..TlsSettings::default()
        };
        try_load(&with_tls(doq(server.address, 10), tls))
    };
    assert_eq!(verified(&identity.certificate_pem).unwrap().answered, 10);
    let error = verified(&Identity::new().certificate_pem).unwrap_err();
    assert!(error.to_string().contains("verification"), "{error}");
}

#[test]
fn settings_that_quic_lacks_are_refused() {
    let server = Server::good();
    let tls = TlsSettings {
        versions: TlsVersions::Tls12,
        ..TlsSettings::default()
    };
    let error = try_load(&with_tls(doq(server.address, 1), tls)).unwrap_err();
    assert!(matches!(error, LoadError::Setting { .. }), "{error}");
}

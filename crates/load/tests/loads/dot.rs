//! Loads over DoT against servers that behave well and badly.

use super::common::{PATIENT, Server, answer, config, load, try_load};
use dnsrig_load::{Certificates, LoadConfig, LoadError, LoadReport, Route, TransportKind};
use rcgen::generate_simple_self_signed;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

/// A DoT server that answers all queries, except that connections for which `spoil` gives `true` are its business.
fn server(spoil: impl Fn(u64, &mut TcpStream) -> bool + Send + Sync + 'static) -> Server {
    let made = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    Server::tcp(move |number, mut stream| {
        if !spoil(number, &mut stream) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(StreamOwned::new(connection, stream));
        }
        true
    })
}

fn serve(mut stream: StreamOwned<ServerConnection, TcpStream>) -> Option<()> {
    loop {
        let mut len = [0; 2];
        stream.read_exact(&mut len).ok()?;
        let mut query = vec![0; usize::from(u16::from_be_bytes(len))];
        stream.read_exact(&mut query).ok()?;
        stream
            .write_all(&[&len, answer(&query).as_slice()].concat())
            .ok()?;
    }
}

/// `queries` queries of two clients, 20 in flight.
fn dot(server: SocketAddr, queries: u64, change: impl FnOnce(&mut Route)) -> LoadConfig {
    let mut route = Route::new(TransportKind::Dot, server);
    route.clients = Some(2);
    change(&mut route);
    LoadConfig {
        routes: vec![route],
        timeout: PATIENT,
        ..config(server, queries)
    }
}

fn check_all_answered(report: &LoadReport, queries: u64) {
    assert_eq!((report.sent, report.answered), (queries, queries));
    assert_eq!((report.unmatched, report.malformed), (0, 0));
    let connections = &report.connections;
    assert_eq!((connections.failed, connections.closed_by_peer), (0, 0));
    assert_eq!(connections.full + connections.resumed, connections.opened);
    assert!(report.wire.octets_sent > report.bytes.sent);
    assert!(report.handshake_ns.p50.is_some());
}

#[test]
fn sessions_are_used_for_many_queries() {
    let server = server(|_, _| false);
    let report = load(&dot(server.address, 1_000, |_| {}));
    check_all_answered(&report, 1_000);
    assert_eq!((report.connections.opened, report.connections.full), (2, 2));
}

#[test]
fn sessions_of_one_query_are_resumed_or_not() {
    let server = server(|_, _| false);
    for (resumption, full) in [(true, 2), (false, 100)] {
        let report = load(&dot(server.address, 100, |route| {
            route.sessions.queries = Some(1);
            route.sessions.resumption = resumption;
        }));
        check_all_answered(&report, 100);
        assert_eq!(
            (report.connections.opened, report.connections.full),
            (100, full)
        );
    }
}

#[test]
fn handshakes_that_fail_are_accounted_for() {
    let close = None;
    let no_tls = Some(b"GET / HTTP/1.1\r\n\r\n".as_slice());
    let alert = Some([21, 3, 3, 0, 2, 2, 40].as_slice());
    for spoiling in [close, no_tls, alert] {
        let server = server(move |number, stream| {
            if number > 0
                && let Some(octets) = spoiling
            {
                stream.write_all(octets).unwrap();
            }
            number > 0
        });
        let report = load(&dot(server.address, 40, |_| {}));
        assert_eq!((report.sent, report.refusals["handshake_failed"]), (40, 40));
        assert_eq!(report.connections.opened, 0);
    }
}

#[test]
fn what_happened_in_the_handshake_is_said() {
    let alert = [21, 3, 3, 0, 2, 2, 40].as_slice();
    let unknown_alert = [21, 3, 3, 0, 2, 2, 200].as_slice();
    for (reply, said) in [
        (b"no TLS here\r\n".as_slice(), "something that is not TLS"),
        (alert, "the alert handshake_failure (40)"),
        (unknown_alert, "alert 200"),
        (b"", "closed the connection in the handshake"),
    ] {
        let server = Server::tcp(move |_, mut stream| {
            // What is unread when a connection is closed resets it, and may take the reply along.
            let hello = stream.read(&mut [0; 65_536]).unwrap();
            assert!(hello > 0);
            stream.write_all(reply).unwrap();
            if !reply.is_empty() {
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
            true
        });
        let error = try_load(&dot(server.address, 1, |_| {})).unwrap_err();
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains("handshake failed: the server "), "{error}");
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_server_of_plain_dns_is_told_from_a_silent_one() {
    let server = Server::tcp(|_, mut stream| {
        while let Some(query) = crate::common::read_frame(&mut stream) {
            crate::common::write_frame(&mut stream, &answer(&query));
        }
        true
    });
    let error = try_load(&dot(server.address, 1, |_| {})).unwrap_err();
    assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.contains("accepted, but the TLS handshake not completed"),
        "{error}"
    );
    assert!(error.contains("Check that the port"), "{error}");
}

#[test]
fn settings_that_cannot_be_used_are_said() {
    let server = server(|_, _| false);
    let complaint = |change: fn(&mut Route)| {
        let error = try_load(&dot(server.address, 1, change)).unwrap_err();
        assert!(matches!(error, LoadError::Setting { .. }), "{error}");
        error.to_string()
    };
    let suites = complaint(|route| route.tls.cipher_suites = vec!["RC4".to_owned()]);
    assert!(suites.contains("TLS_AES_128_GCM_SHA256"), "{suites}");
    let roots = complaint(|route| {
        route.tls.certificates = Certificates::Roots(PathBuf::from("/nowhere/roots.pem"));
    });
    assert!(roots.contains("/nowhere/roots.pem: "), "{roots}");
}

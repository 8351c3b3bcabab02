//! Handshakes that succeed, and those that do not.

use super::driver::Load;
use super::server::{Identity, Server, serve};
use crate::config::{Certificates, SessionSettings, TlsSettings};
use std::io::Write;
use std::net::{IpAddr, UdpSocket};
use std::sync::mpsc;

fn with(certificates: Certificates, server_name: Option<&str>) -> TlsSettings {
    TlsSettings {
        certificates,
        server_name: server_name.map(str::to_owned),
        ..TlsSettings::default()
    }
}

fn attempt(server: &Server, tls: &TlsSettings) -> Load {
    let mut load = Load::with_tls(server.address, 1, &SessionSettings::default(), tls);
    load.window = 1;
    load.run(2);
    load
}

fn pem_file(identity: &Identity) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(identity.certificate_pem.as_bytes()).unwrap();
    file
}

#[test]
fn certificates_are_verified_against_roots() {
    let identity = Identity::new();
    let server = Server::new(identity.config(b"doq"), |_, incoming| async move {
        if let Ok(connection) = incoming.await {
            serve(connection).await;
        }
    });
    let right = pem_file(&identity);
    let wrong = pem_file(&Identity::new());
    let roots = |file: &tempfile::NamedTempFile| Certificates::Roots(file.path().to_owned());
    for name in [None, Some("localhost")] {
        let load = attempt(&server, &with(roots(&right), name));
        assert_eq!((load.seen.answered, load.seen.full), (2, 1), "{name:?}");
    }
    for tls in [
        with(roots(&wrong), None),
        with(roots(&right), Some("other.example")),
    ] {
        let load = attempt(&server, &tls);
        assert_eq!(load.seen.failed["certificate_refused"], 2);
        assert_eq!(load.seen.refused["certificate_refused"], 2);
    }
    let unverified = with(Certificates::Unverified, Some("other.example"));
    assert_eq!(attempt(&server, &unverified).seen.answered, 2);
}

#[test]
fn each_cipher_suite_works_alone() {
    let server = Server::good();
    for suite in [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
    ] {
        let tls = TlsSettings {
            cipher_suites: vec![suite.to_owned()],
            ..TlsSettings::default()
        };
        assert_eq!(attempt(&server, &tls).seen.answered, 2, "{suite}");
    }
}

#[test]
fn a_server_of_another_protocol_fails_the_handshake() {
    let server = Server::new(Identity::new().config(b"h3"), |_, incoming| async move {
        let _ = incoming.await;
    });
    let load = attempt(&server, &TlsSettings::default());
    assert_eq!(load.seen.failed["handshake_failed"], 2);
}

#[test]
fn a_server_that_refuses_attempts_is_known() {
    let server = Server::new(Identity::new().config(b"doq"), |_, incoming| async move {
        incoming.refuse();
    });
    let load = attempt(&server, &TlsSettings::default());
    assert_eq!(load.seen.failed["connect_failed"], 2);
}

#[test]
fn retry_is_no_failure() {
    let (retried, seen_retries) = mpsc::channel();
    let server = Server::new(Identity::new().config(b"doq"), move |_, incoming| {
        let retried = retried.clone();
        async move {
            if incoming.remote_address_validated() {
                serve(incoming.await.unwrap()).await;
            } else {
                retried.send(()).unwrap();
                incoming.retry().unwrap();
            }
        }
    });
    let sessions = SessionSettings {
        queries: Some(2),
        ..SessionSettings::default()
    };
    let mut load = Load::new(server.address, 4, &sessions);
    load.run(40);
    assert_eq!(load.seen.answered, 40);
    assert!(load.seen.full >= 20 && load.seen.failed.is_empty());
    assert_eq!(seen_retries.try_iter().count() as u64, load.seen.full);
}

#[test]
fn nobody_listening_fails_attempts_at_once() {
    let address = {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap()
    };
    for clients in [1, 3] {
        let mut load = Load::new(address, clients, &SessionSettings::default());
        load.window = clients;
        load.run(6);
        assert_eq!(load.seen.refused["connect_failed"], 6);
        assert!(load.seen.failed["connect_failed"] >= 2);
    }
}

#[test]
fn a_server_that_answers_garbage_times_out_the_handshake() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let mut load = Load::new(address, 1, &SessionSettings::default());
    load.run_until(5, |_| true);
    let mut buffer = [0; 2048];
    let (len, client) = socket.recv_from(&mut buffer).unwrap();
    for garbage in [&b""[..], b"x", &[0xff; 1200], &[0x40; 100], &buffer[..len]] {
        socket.send_to(garbage, client).unwrap();
    }
    load.run_until(5, |_| true);
    assert!(load.seen.failed.is_empty());
    load.clock.leap(5_000_000_000);
    load.run(5);
    assert_eq!(load.seen.failed["handshake_timed_out"], 1);
    assert_eq!(load.seen.refused["handshake_timed_out"], 5);
}

#[test]
fn a_server_of_another_version_fails_the_handshake() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let mut load = Load::new(address, 1, &SessionSettings::default());
    load.run_until(1, |_| true);
    let mut buffer = [0; 2048];
    let (_, client) = socket.recv_from(&mut buffer).unwrap();
    // Version Negotiation (RFC 9000 section 17.2.1): the IDs of the attempt, swapped, and a version reserved for this.
    let server_id_len = usize::from(buffer[5]);
    let server_id = &buffer[6..6 + server_id_len];
    assert_eq!(buffer[6 + server_id_len], 0, "the client's ID is empty");
    let mut negotiation = vec![0x80, 0, 0, 0, 0, 0, server_id_len as u8];
    negotiation.extend_from_slice(server_id);
    negotiation.extend_from_slice(&[0x1a, 0x2a, 0x3a, 0x4a]);
    socket.send_to(&negotiation, client).unwrap();
    load.run(1);
    assert_eq!(load.seen.failed["handshake_failed"], 1);
}

#[test]
fn clients_have_their_source_addresses() {
    let (came, from) = mpsc::channel();
    let server = Server::new(Identity::new().config(b"doq"), move |_, incoming| {
        came.send(incoming.remote_address().ip()).unwrap();
        async move { serve(incoming.await.unwrap()).await }
    });
    let sources: [IpAddr; 2] = ["127.0.0.2".parse().unwrap(), "127.0.0.3".parse().unwrap()];
    let mut load = Load::new(server.address, 1, &SessionSettings::default());
    load.doq = super::super::Doq::open(
        server.address,
        &sources,
        4,
        &SessionSettings::default(),
        &TlsSettings::default(),
    )
    .unwrap();
    load.run(20);
    let mut came_from: Vec<IpAddr> = from.try_iter().collect();
    came_from.sort();
    assert_eq!(came_from, [sources[0], sources[0], sources[1], sources[1]]);
}

#[test]
fn ipv6_works() {
    let Ok(socket) = UdpSocket::bind("[::1]:0") else {
        eprintln!(
            "skipped: no IPv6 on the loopback interface (sysctl net.ipv6.conf.lo.disable_ipv6)"
        );
        return;
    };
    let address = socket.local_addr().unwrap();
    drop(socket);
    let server = Server::at(
        address,
        Identity::new().config(b"doq"),
        |_, incoming| async move {
            serve(incoming.await.unwrap()).await;
        },
    );
    assert_eq!(attempt(&server, &TlsSettings::default()).seen.answered, 2);
}

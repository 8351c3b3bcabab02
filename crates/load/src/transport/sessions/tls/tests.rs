//! Both ends of a connection in memory: the layer here, rustls' server there.

mod harm;

use super::*;
use crate::config::{Certificates, TlsSettings, TlsVersions};
use crate::transport::layer::LayerFactory;
use crate::transport::sessions::frames::{Frames, FramesFactory};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ServerConfig, ServerConnection};
use rustls::sign::SingleCertAndKey;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// The type of records of application data (RFC 8446 section 5.1).
const APPLICATION_DATA: u8 = 23;

/// A certificate of dns.example and 127.0.0.1, with its key.
pub static CERTIFIED: LazyLock<CertifiedKey<KeyPair>> = LazyLock::new(|| {
    let names = ["dns.example".to_owned(), "127.0.0.1".to_owned()];
    generate_simple_self_signed(names).unwrap()
});

/// Settings of a server that has that certificate.
pub fn server_config(versions: TlsVersions) -> ServerConfig {
    let versions: &[_] = match versions {
        TlsVersions::Any => &[&rustls::version::TLS13, &rustls::version::TLS12],
        TlsVersions::Tls12 => &[&rustls::version::TLS12],
        TlsVersions::Tls13 => &[&rustls::version::TLS13],
    };
    let key = PrivateKeyDer::try_from(CERTIFIED.signing_key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CERTIFIED.cert.der().clone()], key)
        .unwrap()
}

type DotFactory = TlsFactory<FramesFactory>;

fn factory(settings: &TlsSettings, resumption: bool, alpn: Alpn) -> DotFactory {
    let server = "127.0.0.1".parse().unwrap();
    TlsFactory::new(server, settings, resumption, alpn, FramesFactory).unwrap()
}

fn default_factory() -> DotFactory {
    factory(&TlsSettings::default(), false, Alpn::DOT)
}

#[derive(Default)]
struct Answers(Vec<Vec<u8>>);

impl LayerEvents for Answers {
    fn answer(&mut self, message: &[u8]) {
        self.0.push(message.to_vec());
    }

    fn refused(&mut self, _id: u16, _refusal: Refusal) {}

    fn malformed(&mut self, _malformed: Malformed) {}
}

struct Pair {
    client: Tls<Frames>,
    server: ServerConnection,
    answers: Answers,
    /// Plaintext that the server received.
    received: Vec<u8>,
    /// Octets are moved in pieces of this length.
    piece: usize,
}

impl Pair {
    fn new(factory: &mut DotFactory, client: usize, server: &Arc<ServerConfig>) -> Self {
        let mut connection = ServerConnection::new(Arc::clone(server)).unwrap();
        connection.set_buffer_limit(None);
        Self {
            client: factory.layer(client).unwrap(),
            server: connection,
            answers: Answers::default(),
            received: Vec::new(),
            piece: usize::MAX,
        }
    }

    fn of_default(versions: TlsVersions) -> Self {
        Self::new(
            &mut default_factory(),
            0,
            &Arc::new(server_config(versions)),
        )
    }

    /// Moves octets until both have nothing more to say.
    fn exchange(&mut self) -> Result<(), Refusal> {
        loop {
            let outgoing = self.client.outgoing()?;
            let sent = outgoing.unwritten().to_vec();
            outgoing.wrote(sent.len());
            for mut piece in sent.chunks(self.piece) {
                while !piece.is_empty() {
                    self.server.read_tls(&mut piece).unwrap();
                    let _ = self.server.process_new_packets();
                    let mut plain = [0; 16 * 1024];
                    while let Ok(count @ 1..) = self.server.reader().read(&mut plain) {
                        self.received.extend_from_slice(&plain[..count]);
                    }
                }
            }
            let mut back = Vec::new();
            while self.server.wants_write() {
                self.server.write_tls(&mut back).unwrap();
            }
            for piece in back.chunks(self.piece) {
                self.client.receive(piece, &mut self.answers)?;
            }
            if sent.is_empty() && back.is_empty() {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, message: &[u8]) {
        let frame = [&(message.len() as u16).to_be_bytes(), message].concat();
        self.server.writer().write_all(&frame).unwrap();
    }
}

/// Types of the records in a stream of octets.
fn record_types(mut octets: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let [kind, _, _, high, low, rest @ ..] = octets {
        types.push(*kind);
        octets = &rest[usize::from(u16::from_be_bytes([*high, *low]))..];
    }
    types
}

#[test]
fn queries_and_answers_survive_any_version_and_cutting() {
    for versions in [TlsVersions::Any, TlsVersions::Tls12, TlsVersions::Tls13] {
        for piece in [1, 7, 1_000, usize::MAX] {
            let mut pair = Pair::of_default(versions);
            pair.piece = piece;
            assert!(!pair.client.is_open());
            for id in 0..5 {
                pair.client.queue(id, &[7; 40]);
            }
            pair.exchange().unwrap();
            assert!(pair.client.is_open() && pair.client.handshake() == Handshake::Full);
            assert_eq!(pair.received.len(), 5 * 42);
            for length in [12, 300, 65_535] {
                pair.answer(&vec![9; length]);
                pair.exchange().unwrap();
                assert_eq!(
                    pair.answers.0.pop().map(|answer| answer.len()),
                    Some(length)
                );
            }
            assert!(!pair.client.is_inside_message());
        }
    }
}

#[test]
fn each_query_is_a_record() {
    let mut pair = Pair::of_default(TlsVersions::Any);
    pair.exchange().unwrap();
    for id in 0..100 {
        pair.client.queue(id, &[7; 60]);
    }
    let outgoing = pair.client.outgoing().unwrap().unwritten();
    assert_eq!(record_types(outgoing), [APPLICATION_DATA; 100]);
    pair.client.queue(1, &[7; 65_535]);
    pair.exchange().unwrap();
    assert_eq!(pair.received.len(), 100 * 62 + 65_537);
}

#[test]
fn first_queries_go_with_the_end_of_the_handshake() {
    let mut pair = Pair::of_default(TlsVersions::Tls13);
    pair.client.queue(1, &[7; 40]);
    let hello = pair.client.outgoing().unwrap();
    let octets = hello.unwritten().to_vec();
    hello.wrote(octets.len());
    pair.server.read_tls(&mut octets.as_slice()).unwrap();
    pair.server.process_new_packets().unwrap();
    let mut back = Vec::new();
    pair.server.write_tls(&mut back).unwrap();
    pair.client.receive(&back, &mut pair.answers).unwrap();
    let outgoing = pair.client.outgoing().unwrap().unwritten();
    assert_eq!(
        record_types(outgoing)[1..],
        [APPLICATION_DATA; 2],
        "Finished, and the query"
    );
}

#[test]
fn each_client_resumes_its_own_session() {
    for versions in [TlsVersions::Tls12, TlsVersions::Tls13] {
        let server = Arc::new(server_config(versions));
        for resumption in [true, false] {
            let mut factory = factory(&TlsSettings::default(), resumption, Alpn::DOT);
            let mut handshake = |client| {
                let mut pair = Pair::new(&mut factory, client, &server);
                pair.exchange().unwrap();
                pair.client.handshake()
            };
            let again = if resumption {
                Handshake::Resumed
            } else {
                Handshake::Full
            };
            assert_eq!(handshake(3), Handshake::Full);
            assert_eq!(handshake(3), again);
            assert_eq!(handshake(5), Handshake::Full);
            assert_eq!(handshake(3), again);
            assert_eq!(handshake(5), again);
        }
    }
}

#[test]
fn protocols_that_are_required_must_be_chosen() {
    let h2 = Alpn {
        name: b"h2",
        is_required: true,
    };
    for (names, alpn, result) in [
        (vec![], h2, Err(Refusal::HandshakeFailed)),
        (vec!["h2"], h2, Ok(())),
        (vec!["dot"], h2, Err(Refusal::HandshakeFailed)),
        (vec![], Alpn::DOT, Ok(())),
        (vec!["dot"], Alpn::DOT, Ok(())),
    ] {
        let mut server = server_config(TlsVersions::Any);
        server.alpn_protocols = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        let mut factory = factory(&TlsSettings::default(), false, alpn);
        let mut pair = Pair::new(&mut factory, 0, &Arc::new(server));
        assert_eq!(pair.exchange(), result, "{names:?}");
        assert_eq!(pair.client.is_open(), result.is_ok());
    }
}

fn verifying(roots: PathBuf, server_name: Option<&str>) -> TlsSettings {
    TlsSettings {
        certificates: Certificates::Roots(roots),
        server_name: server_name.map(str::to_owned),
        ..TlsSettings::default()
    }
}

#[test]
fn certificates_are_verified_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (right, wrong) = (folder.path().join("right"), folder.path().join("wrong"));
    std::fs::write(&right, CERTIFIED.cert.pem()).unwrap();
    let other = generate_simple_self_signed(["dns.example".to_owned()]).unwrap();
    std::fs::write(&wrong, other.cert.pem()).unwrap();
    let server = Arc::new(server_config(TlsVersions::Any));
    let refused = Err(Refusal::CertificateRefused);
    for (settings, result) in [
        (verifying(right.clone(), Some("dns.example")), Ok(())),
        (verifying(right.clone(), None), Ok(())),
        (verifying(right, Some("other.example")), refused),
        (verifying(wrong, Some("dns.example")), refused),
    ] {
        let mut factory = factory(&settings, false, Alpn::DOT);
        let mut pair = Pair::new(&mut factory, 0, &server);
        assert_eq!(pair.exchange(), result, "{settings:?}");
        let last_words = pair.client.outgoing().unwrap().unwritten();
        assert_eq!(last_words.is_empty(), result.is_ok(), "an alert");
    }
}

#[test]
fn a_server_without_the_key_of_its_certificate_is_refused() {
    for versions in [TlsVersions::Tls12, TlsVersions::Tls13] {
        let other = KeyPair::generate().unwrap();
        let key = PrivateKeyDer::try_from(other.serialize_der()).unwrap();
        let key = default_provider()
            .key_provider
            .load_private_key(key)
            .unwrap();
        let chain = vec![CERTIFIED.cert.der().clone()];
        let mut server = server_config(versions);
        let pretender = rustls::sign::CertifiedKey::new(chain, key);
        server.cert_resolver = Arc::new(SingleCertAndKey::from(pretender));
        let mut pair = Pair::new(&mut default_factory(), 0, &Arc::new(server));
        assert_eq!(pair.exchange(), Err(Refusal::CertificateRefused));
    }
}

#[test]
fn only_suites_asked_for_are_used() {
    for (name, versions) in [
        ("TLS_CHACHA20_POLY1305_SHA256", TlsVersions::Any),
        (
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            TlsVersions::Tls12,
        ),
    ] {
        let settings = TlsSettings {
            versions,
            cipher_suites: vec![name.to_owned()],
            ..TlsSettings::default()
        };
        let server = Arc::new(server_config(TlsVersions::Any));
        let mut pair = Pair::new(&mut factory(&settings, false, Alpn::DOT), 0, &server);
        pair.exchange().unwrap();
        let suite = pair.server.negotiated_cipher_suite().unwrap().suite();
        assert_eq!(suite.as_str().unwrap().replace("TLS13_", "TLS_"), name);
    }
}

#[test]
fn goodbye_is_close_notify() {
    let mut pair = Pair::of_default(TlsVersions::Any);
    pair.exchange().unwrap();
    pair.client.queue(1, &[7; 40]);
    pair.client.say_goodbye();
    let outgoing = pair.client.outgoing().unwrap().unwritten().to_vec();
    pair.server.read_tls(&mut outgoing.as_slice()).unwrap();
    assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
}

#[test]
fn a_cut_record_is_a_cut_message() {
    let mut pair = Pair::of_default(TlsVersions::Any);
    pair.exchange().unwrap();
    pair.answer(&[9; 40]);
    let mut back = Vec::new();
    pair.server.write_tls(&mut back).unwrap();
    pair.client.receive(&back[..20], &mut pair.answers).unwrap();
    assert!(pair.client.is_inside_message());
    pair.client.receive(&back[20..], &mut pair.answers).unwrap();
    assert!(!pair.client.is_inside_message() && pair.answers.0.len() == 1);
}

#[test]
fn an_idle_connection_keeps_no_buffers() {
    let mut pair = Pair::of_default(TlsVersions::Any);
    pair.client.queue(1, &[7; 40]);
    pair.exchange().unwrap();
    pair.client.release_buffers();
    assert_eq!(pair.client.incoming.capacity(), 0);
    assert_eq!(pair.client.outgoing().unwrap().end().capacity(), 0);
    let len = size_of::<Tls<Frames>>();
    assert!(len <= 1_300, "{len} octets");
}

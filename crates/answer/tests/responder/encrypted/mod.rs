//! The encrypted transports over real sockets, asked by independent clients.

mod doh;
mod doq;
mod dot;

use crate::test_zone::{name, query, zone};
use dnsrig_answer::{
    Certificate, CountersSnapshot, Encrypted, Options, Responder, ServeConfig, Server,
};
use domain::base::iana::Rtype;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// A server with all transports, and the roots that its certificate leads to.
struct Subject {
    server: Server,
    roots: Arc<RootCertStore>,
}

impl Subject {
    fn start(configure: impl FnOnce(&mut ServeConfig)) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".into()]).expect("made");
        let mut roots = RootCertStore::empty();
        let chain = vec![made.cert.der().clone()];
        roots.add(chain[0].clone()).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let certificate = Certificate::new(chain, key).expect("they belong together");
        let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let mut config = ServeConfig::new(SocketAddr::new(ip, 0));
        config.encrypted = Some(Encrypted::on_free_ports(ip, certificate));
        configure(&mut config);
        let responder = Responder::new([zone(None)], Options::default()).expect("a zone with SOA");
        Self {
            server: Server::start(config, responder).expect("the server starts"),
            roots: Arc::new(roots),
        }
    }

    fn tls(&self, alpn: &str, versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("known versions")
            .with_root_certificates(Arc::clone(&self.roots))
            .with_no_client_auth();
        config.alpn_protocols = vec![alpn.into()];
        config
    }

    /// The counters once they are as `wanted`: threads add up theirs after they have answered.
    fn counters(&self, wanted: impl Fn(&CountersSnapshot) -> bool) -> CountersSnapshot {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let counters = self.server.counters().snapshot();
            if wanted(&counters) {
                return counters;
            }
            assert!(std::time::Instant::now() < deadline, "{counters:?}");
            std::thread::yield_now();
        }
    }
}

fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").expect("a name")
}

/// Runs a client that waits by a runtime of its own.
fn block_on<T>(client: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let patient = async { tokio::time::timeout(PATIENCE, client).await };
    runtime.block_on(patient).expect("it does not hang")
}

/// A query with ID 0, as DoH and DoQ want it.
fn query_zero(owner: &str, rtype: Rtype) -> Vec<u8> {
    let mut message = query(&name(owner), rtype, None);
    message[..2].fill(0);
    message
}

#[test]
fn certificate_and_key_must_belong_together() {
    let make = || rcgen::generate_simple_self_signed(["localhost".into()]).expect("made");
    let key = PrivateKeyDer::Pkcs8(make().signing_key.serialize_der().into());
    let error = Certificate::new(vec![make().cert.der().clone()], key.clone_key());
    let error = error.expect_err("another key's certificate").to_string();
    assert!(error.contains("cannot be used for TLS"), "{error}");
    Certificate::new(Vec::new(), key).expect_err("no certificate");
}

#[test]
fn pem_files_are_read_or_named() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [chain, key] = ["chain.pem", "key.pem"].map(|file| folder.path().join(file));
    let complaint = || {
        let error = Certificate::from_pem_files(&chain, &key).expect_err("it is not there");
        error.to_string()
    };
    assert!(complaint().contains("chain.pem"), "{}", complaint());
    std::fs::write(&chain, "no PEM\n").expect("written");
    assert!(complaint().contains("certificates"), "{}", complaint());
    let made = rcgen::generate_simple_self_signed(["localhost".into()]).expect("made");
    std::fs::write(&chain, pem("CERTIFICATE", made.cert.der())).expect("written");
    assert!(complaint().contains("key.pem"), "{}", complaint());
    let der = made.signing_key.serialize_der();
    std::fs::write(&key, pem("PRIVATE KEY", &der)).expect("written");
    Certificate::from_pem_files(&chain, &key).expect("both are there");
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = data_encoding::BASE64.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

//! A good server of every transport.

use dnsrig_answer::{Certificate, Encrypted, Options, Responder, ServeConfig, Server};
use dnsrig_load::{Route, TransportKind};
use dnsrig_zone::ReadZone;
use rustls::pki_types::PrivateKeyDer;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Names of `common::stream` are below this zone, and do not exist.
const ZONE: &str = "example. 60 IN SOA ns.example. admin.example. 1 3600 600 86400 60\n\
                    example. 60 IN NS ns.example.\nns.example. 60 IN A 192.0.2.53\n";

pub const KINDS: [TransportKind; 5] = [
    TransportKind::Udp,
    TransportKind::Tcp,
    TransportKind::Dot,
    TransportKind::Doh,
    TransportKind::Doq,
];

pub fn server() -> Server {
    let zone = ReadZone::from_text(ZONE.as_bytes(), None).unwrap().zone;
    let responder = Responder::new(vec![Arc::new(zone)], Options::default()).unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let certificate = Certificate::new(vec![made.cert.der().clone()], key).unwrap();
    let ip = Ipv4Addr::LOCALHOST.into();
    let mut config = ServeConfig::new((ip, 0).into());
    config.encrypted = Some(Encrypted::on_free_ports(ip, certificate));
    Server::start(config, responder).unwrap()
}

/// The way to a server over a transport.
pub fn route(server: &Server, kind: TransportKind) -> Route {
    let addresses = server.addresses();
    let address = match kind {
        TransportKind::Udp | TransportKind::Tcp => addresses.dns,
        TransportKind::Dot => addresses.dot.unwrap(),
        TransportKind::Doh => addresses.doh.unwrap(),
        TransportKind::Doq => addresses.doq.unwrap(),
    };
    Route::new(kind, address)
}

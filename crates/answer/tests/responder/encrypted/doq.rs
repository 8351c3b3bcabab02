//! DNS over QUIC, by quinn's client.

use super::{Subject, block_on, query_zero};
use crate::test_zone::{name, padded_query, query_with_option, zone};
use domain::base::iana::Rtype;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, ReadError, ReadToEndError,
    TransportConfig, VarInt,
};
use rustls::version::TLS13;
use std::net::UdpSocket;
use std::sync::Arc;

const PROTOCOL_ERROR: u32 = 2;
const REQUEST_CANCELLED: VarInt = VarInt::from_u32(3);
const EXCESSIVE_LOAD: u32 = 4;

struct Client {
    endpoint: Endpoint,
    config: ClientConfig,
    subject: Subject,
}

impl Client {
    fn new(alpn: &str, configure: impl FnOnce(&mut TransportConfig)) -> Self {
        Self::of(Subject::start(|_| {}), alpn, configure)
    }

    fn of(subject: Subject, alpn: &str, configure: impl FnOnce(&mut TransportConfig)) -> Self {
        let tls = QuicClientConfig::try_from(subject.tls(alpn, &[&TLS13])).expect("TLS 1.3");
        let mut config = ClientConfig::new(Arc::new(tls));
        let mut transport = TransportConfig::default();
        configure(&mut transport);
        config.transport_config(Arc::new(transport));
        let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into()).expect("a port is free");
        Self {
            endpoint,
            config,
            subject,
        }
    }

    async fn connect(&self) -> Result<Connection, ConnectionError> {
        let address = self.subject.server.addresses().doq.expect("DoQ is served");
        let config = self.config.clone();
        let connecting = self.endpoint.connect_with(config, address, "localhost");
        connecting.expect("valid settings").await
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

/// Sends octets on a stream of their own and reads to its end.
async fn exchange(connection: &Connection, octets: &[u8]) -> Result<Vec<u8>, ReadToEndError> {
    let (mut send, mut receive) = connection.open_bi().await.expect("a stream");
    // The server may close the connection before all is sent.
    let _ = send.write_all(octets).await;
    let _ = send.finish();
    receive.read_to_end(1 << 20).await
}

async fn ask(connection: &Connection, message: &[u8]) -> Vec<u8> {
    let response = exchange(connection, &framed(message)).await;
    let response = response.expect("a response");
    assert_eq!(framed(&response[2..]), response, "one whole message");
    response[2..].to_vec()
}

#[test]
fn each_stream_has_a_query_and_its_response() {
    block_on(async {
        let client = Client::new("doq", |_| {});
        let connection = client.connect().await.expect("connected");
        let (one, other) = (
            query_zero("www.example.", Rtype::A),
            query_zero("nothing.example.", Rtype::A),
        );
        // The second is answered while the first waits for its end.
        let (mut send, mut receive) = connection.open_bi().await.expect("a stream");
        send.write_all(&framed(&one)[..20]).await.expect("sent");
        let response = ask(&connection, &other).await;
        assert_eq!((response[0], response[1], response[3] & 0x0f), (0, 0, 3));
        send.write_all(&framed(&one)[20..]).await.expect("sent");
        send.finish().expect("open");
        let response = receive.read_to_end(1000).await.expect("a response");
        assert_eq!(response[2 + 6..2 + 8], [0, 1]);
        let padded = padded_query(&name("www.example."), Rtype::A);
        assert_eq!(ask(&connection, &padded).await.len(), 468);
        let counters = client
            .subject
            .counters(|counters| counters.queries_doq == 3);
        assert_eq!((counters.connections, counters.handshakes), (1, 1));
    });
}

#[test]
fn many_streams_on_few() {
    block_on(async {
        let subject = Subject::start(|config| config.max_streams = 5);
        let client = Client::of(subject, "doq", |_| {});
        let connection = client.connect().await.expect("connected");
        let ask = |_| {
            let connection = connection.clone();
            tokio::spawn(async move {
                ask(&connection, &query_zero("several.example.", Rtype::ANY)).await
            })
        };
        let asked: Vec<_> = (0..200).map(ask).collect();
        for response in asked {
            response.await.expect("answered");
        }
    });
}

#[test]
fn a_zone_transfer_passes_through_a_narrow_window() {
    block_on(async {
        let client = Client::new("doq", |transport| {
            transport.stream_receive_window(VarInt::from_u32(300));
        });
        let connection = client.connect().await.expect("connected");
        let response = ask(&connection, &query_zero("example.", Rtype::AXFR)).await;
        let records = zone(None).records().len() as u16 + 1;
        assert_eq!(response[6..8], records.to_be_bytes());
    });
}

#[test]
fn broken_rules_close_the_connection() {
    let query = query_zero("www.example.", Rtype::A);
    let with_id = [&[0, 1], &query[2..]].concat();
    let mut response = query.clone();
    response[2] |= 0x80;
    let keepalive = query_with_option(&name("www.example."), Rtype::A, |opt| {
        opt.tcp_keepalive(None).expect("room for the option");
    });
    let two = [framed(&query), framed(&query)].concat();
    let cases = [
        ("a message ID", framed(&with_id)),
        ("a response", framed(&response)),
        ("the edns-tcp-keepalive option", framed(&keepalive)),
        ("two queries", two),
        ("half a query", framed(&query)[..20].to_vec()),
        ("half a length", vec![0]),
        ("nothing", Vec::new()),
        ("an empty message", vec![0, 0]),
        ("less than a header", framed(&[0; 11])),
        ("garbage", vec![0xff; 70_000]),
    ];
    let count = cases.len() as u64;
    block_on(async {
        let client = Client::new("doq", |_| {});
        for (what, octets) in cases {
            let connection = client.connect().await.expect("connected");
            let answered = exchange(&connection, &octets).await;
            answered.expect_err(what);
            assert_eq!(close_code(&connection).await, PROTOCOL_ERROR, "{what}");
        }
        client
            .subject
            .counters(|counters| counters.doq_errors == count);
        let connection = client.connect().await.expect("connected");
        ask(&connection, &query).await;
    });
}

/// The error code that the server closed the connection with.
async fn close_code(connection: &Connection) -> u32 {
    match connection.closed().await {
        ConnectionError::ApplicationClosed(close) => {
            u32::try_from(close.error_code.into_inner()).expect("a code of RFC 9250")
        }
        other => panic!("{other}"),
    }
}

#[test]
fn too_many_unfinished_queries_close_the_connection() {
    block_on(async {
        let client = Client::new("doq", |_| {});
        let connection = client.connect().await.expect("connected");
        let mut open = Vec::new();
        for _ in 0..30 {
            let (mut send, receive) = connection.open_bi().await.expect("a stream");
            let part = [vec![0xff, 0xff], vec![0; 60_000]].concat();
            if send.write_all(&part).await.is_err() {
                break;
            }
            open.push((send, receive));
        }
        assert_eq!(close_code(&connection).await, EXCESSIVE_LOAD);
    });
}

#[test]
fn a_query_that_is_given_up_is_not_answered() {
    block_on(async {
        let client = Client::new("doq", |_| {});
        let connection = client.connect().await.expect("connected");
        let query = query_zero("www.example.", Rtype::A);
        let (mut send, mut receive) = connection.open_bi().await.expect("a stream");
        send.write_all(&framed(&query)[..20]).await.expect("sent");
        send.reset(REQUEST_CANCELLED).expect("open");
        let error = receive.read_to_end(1000).await.expect_err("no response");
        let reset = ReadToEndError::Read(ReadError::Reset(REQUEST_CANCELLED));
        assert_eq!(error, reset);
        ask(&connection, &query).await;
    });
}

#[test]
fn unidirectional_streams_cannot_be_opened() {
    block_on(async {
        let client = Client::new("doq", |_| {});
        let connection = client.connect().await.expect("connected");
        ask(&connection, &query_zero("www.example.", Rtype::A)).await;
        let wait = std::time::Duration::from_millis(1);
        let opened = tokio::time::timeout(wait, connection.open_uni()).await;
        assert!(opened.is_err(), "the limit is 0");
    });
}

#[test]
fn sessions_are_resumed() {
    block_on(async {
        let client = Client::new("doq", |_| {});
        for _ in 0..2 {
            let connection = client.connect().await.expect("connected");
            ask(&connection, &query_zero("www.example.", Rtype::A)).await;
            connection.close(VarInt::from_u32(0), b"");
        }
        let counters = client.subject.counters(|counters| counters.handshakes == 2);
        assert_eq!(counters.handshakes_resumed, 1);
    });
}

#[test]
fn other_protocols_are_refused() {
    block_on(async {
        let client = Client::new("h3", |_| {});
        let error = client.connect().await.expect_err("another ALPN");
        // 0x178: TLS alert 120, no_application_protocol (RFC 9001 section 4.8).
        assert!(error.to_string().contains("120"), "{error}");
        client
            .subject
            .counters(|counters| counters.handshakes_failed == 1);
    });
}

#[test]
fn connections_above_the_limit_are_refused() {
    block_on(async {
        let subject = Subject::start(|config| config.max_connections = 1);
        let client = Client::of(subject, "doq", |_| {});
        let first = client.connect().await.expect("connected");
        let error = client.connect().await.expect_err("no room");
        assert!(
            matches!(error, ConnectionError::ConnectionClosed(_)),
            "{error}"
        );
        ask(&first, &query_zero("www.example.", Rtype::A)).await;
        let counters = client
            .subject
            .counters(|counters| counters.connections_refused == 1);
        assert_eq!(counters.connections, 1);
    });
}

#[test]
fn garbage_is_survived() {
    block_on(async {
        let client = Client::new("doq", |_| {});
        let address = client
            .subject
            .server
            .addresses()
            .doq
            .expect("DoQ is served");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let mut long = vec![0xc0; 1200];
        socket.send_to(&long, address).expect("sent");
        // A version-1 Initial packet with nothing behind its header that could be decrypted.
        long[..6].copy_from_slice(&[0xc0, 0, 0, 0, 1, 8]);
        socket.send_to(&long, address).expect("sent");
        long[0] = 0x40;
        socket.send_to(&long, address).expect("sent");
        for len in 0..60 {
            socket.send_to(&long[..len], address).expect("sent");
        }
        let connection = client.connect().await.expect("connected");
        ask(&connection, &query_zero("www.example.", Rtype::A)).await;
    });
}

#[test]
fn stopping_the_server_closes_connections_without_an_error() {
    block_on(async {
        let Client {
            endpoint,
            config,
            subject,
        } = Client::new("doq", |_| {});
        let address = subject.server.addresses().doq.expect("DoQ is served");
        let connecting = endpoint.connect_with(config, address, "localhost");
        let connection = connecting
            .expect("valid settings")
            .await
            .expect("connected");
        ask(&connection, &query_zero("www.example.", Rtype::A)).await;
        let stopped = tokio::task::spawn_blocking(|| subject.server.stop()).await;
        stopped.expect("no panic").expect("it ends well");
        assert_eq!(close_code(&connection).await, 0);
    });
}

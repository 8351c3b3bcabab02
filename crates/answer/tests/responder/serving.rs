//! The server over real sockets on 127.0.0.1.

use crate::test_zone::{name, query, zone};
use dnsrig_answer::{
    AnswerError, Counters, Options, Responder, ServeConfig, Server, SharedResponder, serve,
};
use dnsrig_zone::Zone;
use domain::base::iana::Rtype;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

fn responder(zone: Arc<Zone>) -> Responder {
    Responder::new([zone], Options::default()).expect("a zone with SOA")
}

/// Serves the test zone while `client` runs, then stops; returns what that returned.
fn with_server<T>(
    configure: impl FnOnce(&mut ServeConfig),
    client: impl FnOnce(SocketAddr, &SharedResponder, &Counters) -> T,
) -> T {
    let mut config = ServeConfig::new(([127, 0, 0, 1], 0).into());
    configure(&mut config);
    let server = Server::start(config, responder(zone(None))).expect("the server starts");
    let result = client(
        server.addresses().dns,
        server.responder(),
        server.counters(),
    );
    server.stop().expect("the server ends well");
    result
}

fn udp_client(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket
        .set_read_timeout(Some(PATIENCE))
        .expect("a time-out can be set");
    socket.connect(address).expect("the server listens");
    socket
}

fn tcp_client(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a time-out can be set");
    stream
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

fn read_message(stream: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).expect("a response");
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message).expect("a whole response");
    message
}

fn soa_serial(response: &[u8]) -> u32 {
    // SOA data end with serial, refresh, retry, expire and minimum.
    let serial = response.len() - 20;
    u32::from_be_bytes(
        response[serial..serial + 4]
            .try_into()
            .expect("four octets"),
    )
}

#[test]
fn udp_and_tcp_share_a_port() {
    let message = query(&name("example."), Rtype::SOA, None);
    let (over_udp, over_tcp, counters) = with_server(
        |config| config.threads = NonZeroUsize::new(2).expect("not zero"),
        |address, _, counters| {
            let socket = udp_client(address);
            socket.send(&message).expect("sent");
            let mut response = [0; 512];
            let len = socket.recv(&mut response).expect("a response");
            let mut stream = tcp_client(address);
            stream.write_all(&framed(&message)).expect("sent");
            let over_tcp = read_message(&mut stream);
            (response[..len].to_vec(), over_tcp, counters.snapshot())
        },
    );
    assert_eq!(over_udp, over_tcp);
    assert_eq!(soa_serial(&over_udp), 2_026_010_100);
    assert_eq!(counters.connections, 1);
}

#[test]
fn every_query_is_counted() {
    let shared_counts = with_server(
        |_| {},
        |address, _, counters| {
            let socket = udp_client(address);
            let exists = query(&name("www.example."), Rtype::A, None);
            let does_not = query(&name("nothing.example."), Rtype::A, None);
            let mut response = [0; 512];
            for message in [&exists, &exists, &does_not] {
                socket.send(message).expect("sent");
                socket.recv(&mut response).expect("a response");
            }
            socket.send(&[0; 5]).expect("sent");
            let mut stream = tcp_client(address);
            stream.write_all(&framed(&exists)).expect("sent");
            read_message(&mut stream);
            let mut counts = counters.snapshot();
            // A thread adds up its counts after it has answered.
            while counts.answers[0] < 3 || counts.unanswered < 1 {
                thread::yield_now();
                counts = counters.snapshot();
            }
            counts
        },
    );
    assert_eq!(
        (shared_counts.queries_udp, shared_counts.queries_tcp),
        (4, 1)
    );
    assert_eq!((shared_counts.answers[0], shared_counts.answers[3]), (3, 1));
    assert_eq!(
        (shared_counts.unanswered, shared_counts.send_errors),
        (1, 0)
    );
}

#[test]
fn queries_on_one_connection_are_answered_in_order() {
    const QUERIES: u16 = 3000;
    with_server(
        |_| {},
        |address, _, _| {
            let mut stream = tcp_client(address);
            let mut reader = stream.try_clone().expect("a second handle");
            let ids = thread::spawn(move || -> Vec<u16> {
                let messages = (0..QUERIES).map(|_| read_message(&mut reader));
                messages
                    .map(|message| u16::from_be_bytes([message[0], message[1]]))
                    .collect()
            });
            let mut message = query(&name("several.example."), Rtype::ANY, None);
            let mut octets = Vec::new();
            for id in 0..QUERIES {
                message[..2].copy_from_slice(&id.to_be_bytes());
                octets.extend(framed(&message));
            }
            // Odd pieces, so that messages come in parts.
            for piece in octets.chunks(1009) {
                stream.write_all(piece).expect("sent");
            }
            assert!(
                ids.join()
                    .expect("all are answered")
                    .into_iter()
                    .eq(0..QUERIES)
            );
        },
    );
}

#[test]
fn a_client_that_closes_its_side_gets_its_answers() {
    let message = query(&name("example."), Rtype::SOA, None);
    with_server(
        |_| {},
        |address, _, _| {
            let mut stream = tcp_client(address);
            stream
                .write_all(&[framed(&message), framed(&message)].concat())
                .expect("sent");
            stream
                .shutdown(std::net::Shutdown::Write)
                .expect("closed for writing");
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).expect("the server closes");
            let mut length = [0; 2];
            length.copy_from_slice(&rest[..2]);
            assert_eq!(
                rest.len(),
                2 * (2 + usize::from(u16::from_be_bytes(length)))
            );
        },
    );
}

#[test]
fn a_zone_transfer_ends_with_the_soa() {
    let message = query(&name("example."), Rtype::AXFR, None);
    with_server(
        |_| {},
        |address, _, _| {
            let mut stream = tcp_client(address);
            stream.write_all(&framed(&message)).expect("sent");
            let response = read_message(&mut stream);
            let records = zone(None).records().len() as u16 + 1;
            assert_eq!(response[6..8], records.to_be_bytes());
            // The connection goes on after it.
            stream
                .write_all(&framed(&query(&name("example."), Rtype::SOA, None)))
                .expect("sent");
            assert_eq!(read_message(&mut stream)[6..8], [0, 1]);
        },
    );
}

#[test]
fn replacing_the_responder_changes_the_answers() {
    let message = query(&name("example."), Rtype::SOA, None);
    with_server(
        |_| {},
        |address, shared, _| {
            let socket = udp_client(address);
            let mut stream = tcp_client(address);
            let mut ask = || {
                let mut response = [0; 512];
                socket.send(&message).expect("sent");
                let len = socket.recv(&mut response).expect("a response");
                stream.write_all(&framed(&message)).expect("sent");
                (
                    soa_serial(&response[..len]),
                    soa_serial(&read_message(&mut stream)),
                )
            };
            assert_eq!(ask(), (2_026_010_100, 2_026_010_100));
            let text = "@ 60 SOA ns ns 7 1 1 1 1\n@ 60 NS ns.test.\n";
            let next = Zone::parse(text.as_bytes(), Some(&name("example."))).expect("a valid zone");
            shared.replace(responder(Arc::new(next)));
            assert_eq!(ask(), (7, 7));
        },
    );
}

#[test]
fn idle_connections_are_closed() {
    with_server(
        |config| config.idle_timeout = Duration::from_millis(1),
        |address, _, _| {
            let mut stream = tcp_client(address);
            assert_eq!(stream.read(&mut [0; 1]).expect("the server closes"), 0);
        },
    );
}

#[test]
fn connections_above_the_limit_are_closed() {
    let message = query(&name("example."), Rtype::SOA, None);
    with_server(
        |config| config.max_connections = 1,
        |address, _, counters| {
            let mut first = tcp_client(address);
            first.write_all(&framed(&message)).expect("sent");
            read_message(&mut first);
            let mut second = tcp_client(address);
            // A reset is as good as an end: the server has not read anything.
            assert!(matches!(second.read(&mut [0; 1]), Ok(0) | Err(_)));
            first.write_all(&framed(&message)).expect("sent");
            read_message(&mut first);
            assert!(counters.snapshot().connections <= 1);
        },
    );
}

#[test]
fn a_taken_port_is_an_error() {
    let holder = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let udp = holder.local_addr().expect("an address");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let tcp = listener.local_addr().expect("an address");
    for (address, expected) in [(udp, "UDP"), (tcp, "TCP")] {
        let mut config = ServeConfig::new(address);
        config.threads = NonZeroUsize::new(2).expect("not zero");
        let shared = SharedResponder::new(responder(zone(None)));
        let stop = AtomicBool::new(false);
        let result = serve(&config, &shared, &Counters::default(), &stop, |_| {
            panic!("it cannot be ready")
        });
        match result {
            Err(error @ AnswerError::Listen { protocol, .. }) => {
                assert_eq!(protocol, expected);
                assert!(error.to_string().contains("choose another port"), "{error}");
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
}

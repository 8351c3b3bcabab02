//! Servers that do harm, over plain TCP.

use super::*;
use socket2::{Domain, SockRef, Socket, Type};
use std::net::Shutdown;

#[test]
fn closed_at_once() {
    let server = serve(|_, _| {});
    let mut load = tcp(server, 1, &SessionSettings::default());
    load.ask(0, 3);
    load.until(|load| load.record.closed_by_peer() == 1);
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost; 3]);
    assert!(!load.transport.has_room(0), "it pauses");
    load.until(|load| load.transport.has_room(0));
}

#[test]
fn closed_after_the_query() {
    let server = serve(|_, mut stream| drop(read_message(&mut stream)));
    let mut load = tcp(server, 1, &SessionSettings::default());
    let asked_ns = load.clock.now_ns();
    load.ask(0, 1);
    load.pass(Duration::from_secs(1));
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost]);
    let since_ns = asked_ns + 1_000_000_000;
    assert!((since_ns..=load.clock.now_ns()).contains(&load.record.last_refusal_ns));
    assert_eq!((load.record.opened(), load.record.closed_by_peer()), (1, 1));
}

#[test]
fn closed_in_the_middle_of_a_frame() {
    let server = serve(|_, mut stream| {
        echo(&mut stream, 1);
        stream.write_all(&[0, 100, 1, 2, 3]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        while read_message(&mut stream).is_some() {}
    });
    let mut load = tcp(server, 1, &SessionSettings::default());
    load.ask(0, 2);
    load.until(|load| load.record.closed_by_peer() == 1);
    assert_eq!(
        (load.record.answered, load.record.malformed.as_slice()),
        (1, [Malformed::Cut].as_slice())
    );
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost]);
    assert!(
        load.transport.has_room(0),
        "a server that answered is met again at once"
    );
}

#[test]
fn half_a_frame_and_silence() {
    let server = serve(|_, mut stream| {
        stream.write_all(&[0, 100, 1, 2, 3]).unwrap();
        while read_message(&mut stream).is_some() {}
    });
    let mut load = tcp(
        server,
        1,
        &SessionSettings {
            queries: Some(1),
            ..SessionSettings::default()
        },
    );
    load.ask(0, 1);
    load.until(|load| load.transport.totals().wire.octets_received == 5);
    load.step();
    load.give_up();
    load.step();
    assert_eq!((load.record.closed(), load.record.answered), (1, 0));
}

#[test]
fn reset() {
    let server = serve(|_, mut stream| {
        read_message(&mut stream);
        SockRef::from(&stream)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    });
    let mut load = tcp(server, 1, &SessionSettings::default());
    load.ask(0, 2);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost; 2]);
    assert_eq!(load.record.closed_by_peer(), 1);
}

#[test]
fn written_to_after_a_reset() {
    let server = serve(|_, stream| {
        SockRef::from(&stream)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    });
    let mut load = tcp(server, 1, &SessionSettings::default());
    for _ in 0..20 {
        load.until(|load| load.transport.has_room(0));
        load.ask(0, 1);
        thread::sleep(Duration::from_micros(300));
        load.ask(0, 1);
        load.until(|load| load.record.in_flight.is_empty());
    }
    assert_eq!(load.record.refusals.len(), 40);
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = listener.local_addr().unwrap();
    drop(listener);
    let mut load = tcp(server, 1, &SessionSettings::default());
    load.ask(0, 2);
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.refusals, [Refusal::ConnectFailed; 2]);
    assert_eq!(load.record.failed(Refusal::ConnectFailed), 1);
    load.ask(0, 1);
    assert_eq!(
        load.record.refusals.len(),
        3,
        "there is no attempt during the pause"
    );
    assert_eq!(load.record.sessions.len(), 2);
}

#[test]
fn never_accepted() {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    listener
        .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
        .unwrap();
    listener.listen(0).unwrap();
    let server = listener.local_addr().unwrap().as_socket().unwrap();
    let mut load = tcp(server, 8, &SessionSettings::default());
    for client in 0..8 {
        load.ask(client, 1);
    }
    load.step();
    load.pass(Duration::from_secs(3));
    let timed_out = load.record.failed(Refusal::ConnectTimedOut);
    assert!(timed_out > 0, "{:?}", load.record.sessions);
    assert_eq!(
        load.record.refusals,
        vec![Refusal::ConnectTimedOut; timed_out]
    );
    assert_eq!(load.record.opened() + timed_out, 8);
}

#[test]
fn a_server_that_does_not_read_leaves_no_room() {
    let server = serve(|_, stream| {
        thread::sleep(Duration::from_secs(20));
        drop(stream);
    });
    let mut load = tcp(server, 1, &SessionSettings::default());
    for _ in 0..1_000 {
        for _ in 0..1_000 {
            if !load.transport.has_room(0) {
                load.give_up();
                return;
            }
            load.transport.queue(0, 1, &[0; 4_000]);
        }
        load.step();
        load.transport.flush(&load.clock, &mut load.record);
    }
    panic!("a client took gigabytes that no server read");
}

//! When sessions are opened and closed.

use super::*;
use crate::transport::TransportTotals;
use crate::transport::layer::Layer;

fn settings(queries: Option<u64>, idle: Option<Duration>) -> SessionSettings {
    SessionSettings {
        queries,
        idle,
        resumption: false,
    }
}

#[test]
fn sessions_of_one_query() {
    let server = serve(|_, mut stream| echo(&mut stream, usize::MAX));
    let mut load = tcp(server, 2, &settings(Some(1), None));
    for _ in 0..20 {
        load.ask_in_turn(0, 1);
        load.ask_in_turn(1, 1);
    }
    load.step();
    let record = &load.record;
    assert_eq!(
        (record.answered, record.opened(), record.closed()),
        (40, 40, 40)
    );
    assert_eq!(record.closed_by_peer(), 0);
}

#[test]
fn sessions_of_three_queries() {
    let server = serve(|_, mut stream| echo(&mut stream, usize::MAX));
    let mut load = tcp(server, 1, &settings(Some(3), None));
    load.ask(0, 3);
    assert!(
        !load.transport.has_room(0),
        "a fourth needs another session"
    );
    load.until(|load| load.record.in_flight.is_empty());
    assert!(load.transport.has_room(0));
    load.ask_in_turn(0, 8);
    load.step();
    let record = &load.record;
    assert_eq!(
        (record.answered, record.opened(), record.closed()),
        (11, 4, 3)
    );
}

#[test]
fn a_query_that_times_out_counts_too() {
    let server = serve(|_, mut stream| while read_message(&mut stream).is_some() {});
    let mut load = tcp(server, 1, &settings(Some(2), None));
    load.ask(0, 2);
    load.until(|load| load.record.opened() == 1);
    load.give_up();
    assert!(load.transport.has_room(0));
    load.step();
    assert_eq!(load.record.closed(), 1);
}

#[test]
fn idle_sessions_are_closed_and_busy_ones_not() {
    let idle = Duration::from_secs(100);
    let server = serve(|number, mut stream| {
        echo(&mut stream, if number == 0 { 5 } else { 0 });
        while read_message(&mut stream).is_some() {}
    });
    let mut load = tcp(server, 1, &settings(None, Some(idle)));
    load.ask_in_turn(0, 5);
    load.pass(idle / 2);
    load.ask(0, 1);
    load.pass(idle * 2);
    assert_eq!(load.record.closed(), 0, "a query is in flight");
    load.give_up();
    load.pass(idle / 2);
    assert_eq!(load.record.closed(), 0);
    load.pass(idle / 2);
    assert_eq!((load.record.closed(), load.record.opened()), (1, 1));
    load.pass(idle * 2);
    assert_eq!(load.record.closed(), 1);
}

#[test]
fn sessions_without_a_query() {
    let server = serve(|_, mut stream| echo(&mut stream, usize::MAX));
    let idle = Duration::from_secs(100);
    let mut load = tcp(server, 3, &settings(None, Some(idle)));
    for client in 0..3 {
        load.transport.open(client, &load.clock, &mut load.record);
    }
    load.until(|load| load.record.opened() == 3);
    load.transport.open(0, &load.clock, &mut load.record);
    load.transport.close(0, &load.clock, &mut load.record);
    assert_eq!((load.record.opened(), load.record.closed()), (3, 1));
    load.pass(idle);
    assert_eq!(load.record.closed(), 3);
}

#[test]
fn closing_refuses_what_is_in_flight() {
    let server = serve(|_, mut stream| while read_message(&mut stream).is_some() {});
    let mut load = tcp(server, 2, &SessionSettings::default());
    load.ask(0, 4);
    load.ask(1, 4);
    load.until(|load| load.record.opened() == 2);
    load.transport.close(0, &load.clock, &mut load.record);
    assert_eq!(load.record.refusals, [Refusal::ConnectionLost; 4]);
    assert_eq!(load.record.in_flight.len(), 4, "those of the other client");
}

#[test]
fn what_crossed_the_wire_is_counted_of_open_and_closed_connections() {
    let server = serve(|_, mut stream| echo(&mut stream, usize::MAX));
    let mut load = tcp(server, 2, &settings(Some(4), None));
    load.ask_in_turn(0, 4);
    load.ask_in_turn(1, 3);
    assert_eq!(load.record.opened(), 2);
    let TransportTotals { wire, socket_drops } = load.transport.totals();
    let octets = 7 * (2 + QUERY.len() as u64);
    assert_eq!((wire.octets_sent, wire.octets_received), (octets, octets));
    assert!(wire.packets_sent >= 7 && wire.packets_received >= 7);
    assert_eq!(socket_drops, 0);
}

#[test]
fn source_addresses_are_taken_in_turn() {
    let server = serve(|_, mut stream| {
        let source = stream.peer_addr().unwrap().ip().to_string();
        let client = read_message(&mut stream).unwrap()[1];
        assert_eq!(
            source,
            if client % 2 == 1 {
                "127.0.0.2"
            } else {
                "127.0.0.3"
            }
        );
        stream.write_all(&[0, 2, 0, client]).unwrap();
    });
    let sources = ["127.0.0.2".parse().unwrap(), "127.0.0.3".parse().unwrap()];
    let mut load =
        Driver::new(Tcp::open(server, &sources, 4, &SessionSettings::default()).unwrap());
    for client in 0..4 {
        load.ask(client, 1);
    }
    load.until(|load| load.record.in_flight.is_empty());
    assert_eq!(load.record.answered, 4);
    for (server, source) in [("127.0.0.1:53", "::1"), ("127.0.0.1:53", "192.0.2.1")] {
        let sources = [source.parse().unwrap()];
        let opened = Tcp::open(
            server.parse().unwrap(),
            &sources,
            1,
            &SessionSettings::default(),
        );
        let error = opened.err().expect("not an address for this").to_string();
        assert!(
            error.starts_with("sources: ") && error.contains(source),
            "{error}"
        );
    }
}

#[test]
fn source_addresses_of_ipv6() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        eprintln!("skipped: this machine has no ::1");
        return;
    };
    let sources = ["::1".parse().unwrap()];
    let transport = Tcp::open(
        listener.local_addr().unwrap(),
        &sources,
        1,
        &SessionSettings::default(),
    );
    let mut load = Driver::new(transport.unwrap());
    load.ask(0, 1);
    let server = thread::spawn(move || {
        let (mut stream, peer) = listener.accept().unwrap();
        echo(&mut stream, 1);
        peer.ip()
    });
    load.until(|load| load.record.answered == 1);
    assert_eq!(server.join().unwrap(), sources[0]);
}

#[test]
fn many_clients_are_small() {
    use crate::transport::sessions::{Client, Connection, frames::Frames};
    assert!(
        size_of::<Client<Frames>>() <= 48,
        "{}",
        size_of::<Client<Frames>>()
    );
    assert!(
        size_of::<Connection<Frames>>() <= 112,
        "{}",
        size_of::<Connection<Frames>>()
    );
}

#[test]
fn many_clients_keep_no_buffers() {
    let server = serve(|_, mut stream| echo(&mut stream, usize::MAX));
    let mut load = tcp(
        server,
        super::super::CLIENTS_WITH_BUFFERS + 1,
        &SessionSettings::default(),
    );
    load.ask_in_turn(7, 10);
    load.ask_in_turn(7, 10);
    let connection = load.transport.clients[7].connection.as_mut().unwrap();
    let outgoing = connection.layer.outgoing().unwrap();
    assert_eq!((load.record.answered, outgoing.end().capacity()), (20, 0));
}

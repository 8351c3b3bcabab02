//! Sessions over real connections to small servers on loopback, with the engine's part played by hand.

mod dot;
mod faults;
mod no_port;
mod policy;

use super::{Sessions, Tcp};
use crate::answer::Malformed;
use crate::clock::{Clock, MonotonicClock};
use crate::config::SessionSettings;
use crate::refusal::Refusal;
use crate::test_clocks::LeapingClock;
use crate::transport::layer::LayerFactory;
use crate::transport::{Events, SessionEvent, Transport};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Time enough for anything on a busy machine.
const PATIENCE_NS: u64 = 20_000_000_000;

/// The octets of a query; its ID is replaced.
const QUERY: &[u8; 26] = b"..\x01\0\0\x01\0\0\0\0\0\0\x03abc\x04test\0\0\x01\0\x01";

/// What was told, and what is in flight.
#[derive(Default)]
struct Record {
    in_flight: BTreeSet<(usize, u16)>,
    /// Queries that have ended, which the transport is still to be told.
    ended: Vec<(usize, u16)>,
    answered: usize,
    refusals: Vec<Refusal>,
    malformed: Vec<Malformed>,
    sessions: Vec<(usize, SessionEvent)>,
    last_refusal_ns: u64,
}

impl Record {
    fn end(&mut self, client: usize, id: u16) -> bool {
        let was_in_flight = self.in_flight.remove(&(client, id));
        if was_in_flight {
            self.ended.push((client, id));
        }
        was_in_flight
    }

    fn count(&self, is_meant: impl Fn(&SessionEvent) -> bool) -> usize {
        let events = self.sessions.iter();
        events.filter(|(_, event)| is_meant(event)).count()
    }

    fn opened(&self) -> usize {
        self.count(|event| matches!(event, SessionEvent::Opened { .. }))
    }

    fn closed(&self) -> usize {
        self.count(|event| *event == SessionEvent::Closed)
    }

    fn closed_by_peer(&self) -> usize {
        self.count(|event| *event == SessionEvent::ClosedByPeer)
    }

    fn failed(&self, refusal: Refusal) -> usize {
        self.count(|event| *event == SessionEvent::Failed(refusal))
    }

    /// Each client's events are a walk through the states of a session.
    fn check_order(&self, clients: usize) {
        for client in 0..clients {
            let mut last = SessionEvent::Closed;
            for (_, event) in self.sessions.iter().filter(|entry| entry.0 == client) {
                let fits = match event {
                    SessionEvent::Tried => matches!(
                        last,
                        SessionEvent::Closed | SessionEvent::ClosedByPeer | SessionEvent::Failed(_)
                    ),
                    SessionEvent::Opened { .. } | SessionEvent::Failed(_) => {
                        last == SessionEvent::Tried
                    }
                    SessionEvent::ClosedByPeer | SessionEvent::Closed => {
                        matches!(last, SessionEvent::Opened { .. })
                    }
                };
                assert!(fits, "{event:?} after {last:?}");
                last = *event;
            }
        }
    }
}

impl Events for Record {
    fn answer(&mut self, client: usize, message: &[u8], _received_ns: u64) {
        let id = u16::from_be_bytes([message[0], message[1]]);
        self.answered += usize::from(self.end(client, id));
    }

    fn refused(&mut self, client: usize, id: u16, refusal: Refusal, at_ns: u64) {
        if self.end(client, id) {
            self.refusals.push(refusal);
            self.last_refusal_ns = at_ns;
        }
    }

    fn all_refused(&mut self, client: usize, refusal: Refusal, at_ns: u64) {
        let all = self.in_flight.iter().copied();
        let all: Vec<_> = all.filter(|query| query.0 == client).collect();
        for (client, id) in all {
            self.refused(client, id, refusal, at_ns);
        }
    }

    fn malformed(&mut self, _client: usize, malformed: Malformed) {
        self.malformed.push(malformed);
    }

    fn session(&mut self, client: usize, event: SessionEvent) {
        self.sessions.push((client, event));
    }
}

/// A transport, driven as the engine does.
struct Driver<F: LayerFactory> {
    transport: Sessions<F>,
    clock: LeapingClock,
    record: Record,
    last_id: u16,
}

impl<F: LayerFactory> Driver<F> {
    fn new(transport: Sessions<F>) -> Self {
        Self {
            transport,
            clock: LeapingClock::default(),
            record: Record::default(),
            last_id: 0,
        }
    }

    /// Sends `count` queries of `client` at once.
    fn ask(&mut self, client: usize, count: usize) {
        for _ in 0..count {
            self.last_id += 1;
            self.record.in_flight.insert((client, self.last_id));
            self.transport.queue(client, self.last_id, QUERY);
        }
        self.transport.flush(&self.clock, &mut self.record);
        self.tell_ended();
    }

    /// Sends `count` queries of `client`, each as soon as there is room, and waits until all have ended.
    fn ask_in_turn(&mut self, client: usize, count: usize) {
        for _ in 0..count {
            self.until(|driver| driver.transport.has_room(client));
            self.ask(client, 1);
        }
        self.until(|driver| driver.record.in_flight.is_empty());
    }

    /// Ends all queries in flight as timed out.
    fn give_up(&mut self) {
        self.record.ended.extend(&self.record.in_flight);
        self.record.in_flight.clear();
        self.tell_ended();
    }

    fn tell_ended(&mut self) {
        for (client, id) in self.record.ended.drain(..) {
            self.transport.query_ended(client, id, &self.clock);
        }
    }

    fn step(&mut self) {
        let soon_ns = self.clock.now_ns() + 20_000_000;
        self.transport.wait(&self.clock, soon_ns);
        self.transport.receive(&self.clock, &mut self.record);
        self.tell_ended();
    }

    fn until(&mut self, is_done: impl Fn(&Self) -> bool) {
        let end_ns = MonotonicClock.now_ns() + PATIENCE_NS;
        while !is_done(self) {
            assert!(
                MonotonicClock.now_ns() < end_ns,
                "{:?}, in flight {:?}, refused {:?}",
                self.record.sessions,
                self.record.in_flight,
                self.record.refusals
            );
            self.step();
        }
    }

    fn pass(&mut self, span: Duration) {
        self.clock.leap(span.as_nanos() as u64);
        self.step();
    }
}

impl<F: LayerFactory> Drop for Driver<F> {
    fn drop(&mut self) {
        if !thread::panicking() {
            // A closing is told with the next call.
            self.step();
            self.record.check_order(self.transport.clients());
        }
    }
}

/// A TCP driver of `clients` clients.
fn tcp(
    server: SocketAddr,
    clients: usize,
    settings: &SessionSettings,
) -> Driver<super::FramesFactory> {
    Driver::new(Tcp::open(server, &[], clients, settings).unwrap())
}

/// Serves each connection with `talk`, told its number, in a thread of its own; lives as long as the test program.
fn serve(talk: impl Fn(usize, TcpStream) + Send + Sync + Copy + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            thread::spawn(move || talk(number, stream));
        }
    });
    address
}

/// Reads one framed message; `None` at the end.
fn read_message(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut len = [0; 2];
    stream.read_exact(&mut len).ok()?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(len))];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}

/// Gives up to `count` queries back as answers.
fn echo(stream: &mut (impl Read + Write), count: usize) {
    for _ in 0..count {
        let Some(mut message) = read_message(stream) else {
            return;
        };
        message[2] |= 0x80;
        let frame = [&(message.len() as u16).to_be_bytes(), message.as_slice()].concat();
        if stream.write_all(&frame).is_err() {
            return;
        }
    }
}

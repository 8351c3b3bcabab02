//! A closed loop that checks what holds for every load.

use super::super::Doq;
use crate::answer::{Answer, Malformed};
use crate::clock::Clock;
use crate::config::{SessionSettings, TlsSettings};
use crate::refusal::Refusal;
use crate::test_clocks::LeapingClock;
use crate::transport::{Events, Handshake, SessionEvent, Transport};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

/// Time enough for anything on a busy machine.
pub const PATIENT_NS: u64 = 30_000_000_000;

/// What a load saw.
#[derive(Default)]
pub struct Seen {
    /// Queries in flight: when they time out.
    in_flight: HashMap<(usize, u16), u64>,
    /// Those that have ended and not been told to the transport.
    ended: Vec<(usize, u16)>,
    pub answered: u64,
    pub unmatched: u64,
    pub timed_out: u64,
    pub refused: BTreeMap<&'static str, u64>,
    pub malformed: Vec<Malformed>,
    pub longest_answer: usize,
    pub tried: u64,
    pub full: u64,
    pub resumed: u64,
    pub failed: BTreeMap<&'static str, u64>,
    pub closed_by_peer: u64,
    pub closed: u64,
    pub last_refusal_ns: u64,
    /// Clients between `Tried` and `Opened` or `Failed`, and with an open session.
    trying: Vec<usize>,
    open: Vec<usize>,
}

impl Seen {
    pub fn opened(&self) -> u64 {
        self.full + self.resumed
    }

    fn end(&mut self, client: usize, id: u16) -> bool {
        let was_in_flight = self.in_flight.remove(&(client, id)).is_some();
        if was_in_flight {
            self.ended.push((client, id));
        }
        was_in_flight
    }
}

fn take(list: &mut Vec<usize>, client: usize) -> bool {
    let place = list.iter().position(|listed| *listed == client);
    place.map(|place| list.swap_remove(place)).is_some()
}

impl Events for Seen {
    fn answer(&mut self, client: usize, message: &[u8], _received_ns: u64) {
        self.longest_answer = self.longest_answer.max(message.len());
        match Answer::new(message) {
            Ok(answer) if answer.question() == question(client, answer.id()).as_slice() => {
                if self.end(client, answer.id()) {
                    self.answered += 1;
                } else {
                    self.unmatched += 1;
                }
            }
            Ok(_) => self.unmatched += 1,
            Err(malformed) => self.malformed.push(malformed),
        }
    }

    fn refused(&mut self, client: usize, id: u16, refusal: Refusal, at_ns: u64) {
        assert!(self.end(client, id), "refused after its end");
        self.last_refusal_ns = at_ns;
        *self.refused.entry(refusal.name()).or_default() += 1;
    }

    fn all_refused(&mut self, client: usize, refusal: Refusal, at_ns: u64) {
        let ids: Vec<u16> = self
            .in_flight
            .keys()
            .filter(|key| key.0 == client)
            .map(|key| key.1)
            .collect();
        for id in ids {
            self.refused(client, id, refusal, at_ns);
        }
    }

    fn malformed(&mut self, _client: usize, malformed: Malformed) {
        self.malformed.push(malformed);
    }

    fn session(&mut self, client: usize, event: SessionEvent) {
        match event {
            SessionEvent::Tried => {
                assert!(!self.trying.contains(&client) && !self.open.contains(&client));
                self.trying.push(client);
                self.tried += 1;
            }
            SessionEvent::Opened { handshake_ns, kind } => {
                assert!(take(&mut self.trying, client) && handshake_ns > 0);
                self.open.push(client);
                match kind {
                    Handshake::Full => self.full += 1,
                    Handshake::Resumed => self.resumed += 1,
                    Handshake::Plain => panic!("QUIC is never plain"),
                }
            }
            SessionEvent::Failed(refusal) => {
                assert!(take(&mut self.trying, client));
                *self.failed.entry(refusal.name()).or_default() += 1;
            }
            SessionEvent::ClosedByPeer => {
                assert!(take(&mut self.open, client));
                self.closed_by_peer += 1;
            }
            SessionEvent::Closed => {
                assert!(take(&mut self.open, client));
                self.closed += 1;
            }
        }
    }
}

/// The question that `client` asks under an ID.
fn question(client: usize, id: u16) -> Vec<u8> {
    let label = format!("c{client}i{id}");
    let mut question = vec![label.len() as u8];
    question.extend_from_slice(label.as_bytes());
    question.extend_from_slice(b"\x07example\0\0\x01\0\x01");
    question
}

/// Appends an additional record of a private type, so that `message` has `len` octets.
pub fn lengthen(message: &mut Vec<u8>, len: usize) {
    const HEAD: [u8; 9] = [0, 0xff, 0, 0, 1, 0, 0, 0, 0];
    let Some(rdata_len) = len.checked_sub(message.len() + HEAD.len() + 2) else {
        return;
    };
    message[11] += 1;
    message.extend_from_slice(&HEAD);
    message.extend_from_slice(&(rdata_len as u16).to_be_bytes());
    message.resize(len, 0);
}

/// A load in the hands of a test.
pub struct Load {
    pub doq: Doq,
    pub seen: Seen,
    pub clock: LeapingClock,
    /// Queries in flight, at most.
    pub window: usize,
    pub timeout_ns: u64,
    /// Octets appended to each query.
    pub padding: usize,
    pub sent: u64,
    next_id: u16,
    next_client: usize,
}

impl Load {
    pub fn new(server: SocketAddr, clients: usize, sessions: &SessionSettings) -> Self {
        Self::with_tls(server, clients, sessions, &TlsSettings::default())
    }

    pub fn with_tls(
        server: SocketAddr,
        clients: usize,
        sessions: &SessionSettings,
        tls: &TlsSettings,
    ) -> Self {
        Self {
            doq: Doq::open(server, &[], clients, sessions, tls).unwrap(),
            seen: Seen::default(),
            clock: LeapingClock::default(),
            window: 20,
            timeout_ns: PATIENT_NS,
            padding: 0,
            sent: 0,
            next_id: 0,
            next_client: 0,
        }
    }

    /// Sends until `queries` have been sent over all, then waits until all have ended.
    pub fn run(&mut self, queries: u64) {
        self.run_until(queries, |seen| seen.in_flight.is_empty());
    }

    /// The same, until `done`.
    pub fn run_until(&mut self, queries: u64, done: impl Fn(&Seen) -> bool) {
        let give_up_ns = self.clock.now_ns() + 2 * PATIENT_NS;
        loop {
            self.collect();
            self.send(queries);
            if self.sent >= queries && done(&self.seen) {
                break;
            }
            let now_ns = self.clock.now_ns();
            assert!(now_ns < give_up_ns, "the load hangs");
            let next_ns = self.seen.in_flight.values().min().copied();
            let until_ns = next_ns.unwrap_or(u64::MAX).min(now_ns + 100_000_000);
            self.doq.wait(&self.clock, until_ns);
        }
        let refused: u64 = self.seen.refused.values().sum();
        let ended = self.seen.answered + self.seen.timed_out + refused;
        assert_eq!(ended + self.seen.in_flight.len() as u64, self.sent);
    }

    fn collect(&mut self) {
        self.doq.receive(&self.clock, &mut self.seen);
        let now_ns = self.clock.now_ns();
        let late: Vec<_> = self
            .seen
            .in_flight
            .iter()
            .filter(|(_, deadline_ns)| **deadline_ns <= now_ns)
            .map(|(key, _)| *key)
            .collect();
        for (client, id) in late {
            self.seen.end(client, id);
            self.seen.timed_out += 1;
        }
        self.tell_ended();
    }

    fn tell_ended(&mut self) {
        for (client, id) in self.seen.ended.drain(..) {
            self.doq.query_ended(client, id, &self.clock);
        }
    }

    fn send(&mut self, queries: u64) {
        while self.sent < queries && self.seen.in_flight.len() < self.window {
            let clients = self.doq.clients();
            let turns = (0..clients).map(|turn| (self.next_client + turn) % clients);
            let Some(client) = turns.into_iter().find(|client| self.doq.has_room(*client)) else {
                break;
            };
            let id = self.next_id;
            let mut query = vec![0xff, 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
            query.extend_from_slice(&question(client, id));
            let len = query.len() + self.padding;
            lengthen(&mut query, len);
            self.doq.queue(client, id, &query);
            let deadline_ns = self.clock.now_ns() + self.timeout_ns;
            self.seen.in_flight.insert((client, id), deadline_ns);
            self.next_id = self.next_id.wrapping_add(1);
            self.next_client = client + 1;
            self.sent += 1;
        }
        self.doq.flush(&self.clock, &mut self.seen);
        self.tell_ended();
    }
}

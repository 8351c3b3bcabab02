//! A transport that does harm on purpose, in virtual time.

use crate::answer::Malformed;
use crate::clock::Clock;
use crate::refusal::Refusal;
use crate::test_clocks::VirtualClock;
use crate::transport::{Events, Transport, TransportTotals};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

pub const MS: u64 = 1_000_000;
pub const TIMEOUT_NS: u64 = 100 * MS;
/// Stands for the time of a system call: without it a loop that polls would never get anywhere.
const CALL_NS: u64 = 1_000;

/// What becomes of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    Answered,
    AnsweredTwice,
    AnsweredLate,
    AnsweredWithTc,
    BareError,
    Dropped,
    WrongId,
    WrongQuestion,
    TooShort,
    NotAResponse,
    UnparsableQuestion,
    CutMessage,
    SendFails,
    Unreachable,
    StreamReset,
    ConnectionLost,
}

/// What arrives at a client at some time.
pub enum Arrival {
    Message(Vec<u8>),
    Cut,
    Refused(u16, Refusal),
    Lost,
}

/// What happened in a run, as the transport saw it.
#[derive(Default)]
pub struct Seen {
    pub sent: u64,
    /// Messages and parts of messages delivered.
    pub delivered: u64,
}

pub struct Harmful {
    pub clock: VirtualClock,
    pub clients: usize,
    pub fates: Vec<Fate>,
    pub delay_ns: u64,
    pub flush_ns: u64,
    /// Arrivals that one call takes at most.
    pub takes: usize,
    /// Clients after the first have no room before.
    pub full_until_ns: u64,
    /// There is always more to take, of what is no answer.
    pub floods: bool,
    pub queued: Vec<(usize, u16, Vec<u8>)>,
    pub arrivals: BTreeMap<(u64, u64), (usize, Arrival)>,
    pub number: u64,
    pub seen: Rc<RefCell<Seen>>,
}

impl Harmful {
    fn arrive(&mut self, delay_ns: u64, client: usize, arrival: Arrival) {
        self.number += 1;
        self.arrivals.insert(
            (self.clock.now_ns() + delay_ns, self.number),
            (client, arrival),
        );
    }

    fn meet_fate(
        &mut self,
        fate: Fate,
        client: usize,
        id: u16,
        mut message: Vec<u8>,
        events: &mut impl Events,
    ) {
        let delay_ns = self.delay_ns;
        message[..2].copy_from_slice(&id.to_be_bytes());
        message[2] |= 0x80;
        match fate {
            Fate::Answered => {}
            Fate::AnsweredTwice => self.arrive(delay_ns, client, Arrival::Message(message.clone())),
            Fate::AnsweredLate => {
                return self.arrive(TIMEOUT_NS + delay_ns, client, Arrival::Message(message));
            }
            Fate::AnsweredWithTc => message[2] |= 0x02,
            Fate::BareError => {
                message.truncate(12);
                message[3] = 1;
                message[5] = 0;
            }
            Fate::Dropped => return,
            Fate::WrongId => message[0] ^= 0x55,
            Fate::WrongQuestion => message[13] ^= 0x40,
            Fate::TooShort => message.truncate(11),
            Fate::NotAResponse => message[2] &= 0x7f,
            Fate::UnparsableQuestion => message.truncate(14),
            Fate::CutMessage => return self.arrive(delay_ns, client, Arrival::Cut),
            Fate::SendFails => {
                return events.refused(client, id, Refusal::Send, self.clock.now_ns());
            }
            Fate::Unreachable => {
                return self.arrive(delay_ns, client, Arrival::Refused(id, Refusal::Unreachable));
            }
            Fate::StreamReset => {
                return self.arrive(delay_ns, client, Arrival::Refused(id, Refusal::StreamReset));
            }
            Fate::ConnectionLost => return self.arrive(delay_ns, client, Arrival::Lost),
        }
        self.arrive(delay_ns, client, Arrival::Message(message));
    }
}

impl Transport for Harmful {
    const STAMPS_ARRIVAL: bool = true;

    fn clients(&self) -> usize {
        self.clients
    }

    fn has_room(&self, client: usize) -> bool {
        client == 0 || self.clock.now_ns() >= self.full_until_ns
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        self.queued.push((client, id, message.to_vec()));
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        for (client, id, message) in std::mem::take(&mut self.queued) {
            let sent = self.seen.borrow().sent;
            self.seen.borrow_mut().sent += 1;
            self.meet_fate(
                self.fates[sent as usize % self.fates.len()],
                client,
                id,
                message,
                events,
            );
        }
        clock.sleep_until(clock.now_ns() + self.flush_ns);
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        clock.sleep_until(clock.now_ns() + CALL_NS);
        let now_ns = clock.now_ns();
        let mut room = self.takes;
        while let Some(entry) = self
            .arrivals
            .first_entry()
            .filter(|entry| entry.key().0 <= now_ns)
        {
            if room == 0 {
                return false;
            }
            room -= 1;
            let ((arrived_ns, _), (client, arrival)) = entry.remove_entry();
            let mut seen = self.seen.borrow_mut();
            seen.delivered += u64::from(matches!(arrival, Arrival::Message(_) | Arrival::Cut));
            match arrival {
                Arrival::Message(message) => events.answer(client, &message, arrived_ns),
                Arrival::Cut => events.malformed(client, Malformed::Cut),
                Arrival::Refused(id, refusal) => events.refused(client, id, refusal, arrived_ns),
                Arrival::Lost => events.all_refused(client, Refusal::ConnectionLost, arrived_ns),
            }
        }
        if self.floods {
            events.malformed(0, Malformed::Cut);
        }
        !self.floods
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        let next_ns = self.arrivals.keys().next().map_or(u64::MAX, |key| key.0);
        clock.sleep_until(until_ns.min(next_ns));
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        unreachable!("only a mix of transports asks")
    }

    fn totals(&self) -> TransportTotals {
        TransportTotals::default()
    }
}

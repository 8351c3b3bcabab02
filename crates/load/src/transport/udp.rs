//! UDP: connected sockets, batched system calls, arrival times from the kernel.

use super::datagram::{Inbox, Received, Receiver, Remedy};
use super::mmsg::SendBatch;
use super::sent_runs::SentRuns;
use super::{Events, Transport, TransportTotals, Wire, socket};
use crate::LoadError;
use crate::clock::Clock;
use crate::refusal::Refusal;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// UDP clients: each is a socket with a port of its own, connected to the server.
pub struct Udp {
    inbox: Inbox,
    clients: Clients,
}

/// The clients as senders.
struct Clients {
    sockets: Vec<UdpSocket>,
    outgoing: SendBatch,
    runs: SentRuns,
    /// Clients to which an ICMP error has come since the last answer: they send each query on its own, since there is
    /// one error for a whole segmented send.
    refusing: Vec<bool>,
    wire: Wire,
}

impl Udp {
    /// Opens `clients` sockets, which send from `sources` in turn, or from where the kernel chooses if there are none.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for a source address that cannot be used, and [`LoadError::System`].
    pub fn open(server: SocketAddr, clients: usize, sources: &[IpAddr]) -> Result<Self, LoadError> {
        let (inbox, sockets) = Inbox::open(server, sources, clients, |_| Ok(()))?;
        Ok(Self {
            inbox,
            clients: Clients {
                sockets,
                outgoing: SendBatch::new(),
                runs: SentRuns::new(),
                refusing: vec![false; clients],
                wire: Wire::default(),
            },
        })
    }
}

impl Clients {
    /// Takes ICMP errors; each names the query it is about by the start of the datagram that it quotes. It stands for
    /// all that were sent with that one.
    fn take_errors(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        let mut quoted = [0; 64];
        while let Some(error) = socket::take_error(self.sockets[client].as_fd(), &mut quoted) {
            self.refusing[client] = true;
            if error.payload_len < 2 {
                continue;
            }
            let refusal = if error.port_unreachable {
                Refusal::PortUnreachable
            } else {
                Refusal::Unreachable
            };
            let id = u16::from_be_bytes([quoted[0], quoted[1]]);
            let now_ns = clock.now_ns();
            let mut refuse = |id| events.refused(client, id, refusal, now_ns);
            refuse(id);
            self.runs.take(client, id, refuse);
        }
    }

    /// Remembers which of the queued datagrams from `first` to before `end` have just been sent as one message.
    fn remember_runs(&mut self, client: usize, mut first: usize, end: usize) {
        for size in self.outgoing.message_sizes() {
            if first >= end {
                return;
            }
            if size > 1 {
                let run = &self.outgoing.queued()[first..first + size];
                self.runs
                    .remember(client, run.iter().map(|queued| queued.id));
            }
            first += size;
        }
    }

    /// Sends the run of queued datagrams `first..end`, all of one client.
    fn send_run(
        &mut self,
        mut first: usize,
        end: usize,
        clock: &impl Clock,
        events: &mut impl Events,
    ) {
        let client = self.outgoing.queued()[first].client;
        let mut tries = 0;
        while first < end {
            let segmented = !self.refusing[client];
            let socket = self.sockets[client].as_fd();
            let error = match self.outgoing.send(socket, first, end, segmented) {
                Ok(count) => {
                    self.wire.packets_sent += count as u64;
                    self.wire.octets_sent += self.outgoing.octets(first, first + count);
                    self.remember_runs(client, first, first + count);
                    first += count;
                    tries = 0;
                    continue;
                }
                Err(error) => error,
            };
            tries += 1;
            match Remedy::of(&error, tries, self.outgoing.segments(), socket) {
                Remedy::TryAgain => {}
                Remedy::DoNotSegment => self.outgoing.give_up_segmentation(),
                Remedy::TakeErrors => self.take_errors(client, clock, events),
                Remedy::GiveUp => {
                    let id = self.outgoing.queued()[first].id;
                    events.refused(client, id, Refusal::Send, clock.now_ns());
                    first += 1;
                    tries = 0;
                }
            }
        }
    }

    /// Sends all that is queued.
    fn send(&mut self, clock: &impl Clock, events: &mut impl Events) {
        self.outgoing.sort();
        let mut first = 0;
        while let Some(start) = self.outgoing.queued().get(first).copied() {
            let same = self.outgoing.queued()[first..]
                .iter()
                .take_while(|next| next.client == start.client)
                .count();
            self.send_run(first, first + same, clock, events);
            first += same;
        }
        self.outgoing.clear();
    }
}

/// The clients while they receive.
struct Receiving<'a, C, E> {
    clients: &'a mut Clients,
    clock: &'a C,
    events: &'a mut E,
}

impl<C: Clock, E: Events> Receiver for Receiving<'_, C, E> {
    fn socket(&self, client: usize) -> BorrowedFd<'_> {
        self.clients.sockets[client].as_fd()
    }

    fn take_datagrams(&mut self, client: usize, received: &Received<'_>) {
        self.clients.refusing[client] = false;
        let wire = &mut self.clients.wire;
        for (message, received_ns) in received.iter() {
            wire.packets_received += 1;
            wire.octets_received += message.len() as u64;
            self.events.answer(client, message, received_ns);
        }
    }

    fn take_errors(&mut self, client: usize) {
        self.clients.take_errors(client, self.clock, self.events);
    }
}

impl Transport for Udp {
    const STAMPS_ARRIVAL: bool = true;

    fn clients(&self) -> usize {
        self.clients.sockets.len()
    }

    fn has_room(&self, _client: usize) -> bool {
        true
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        self.clients.outgoing.push(client, id, message);
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        self.clients.send(clock, events);
    }

    fn sent_place(&self, index: usize) -> usize {
        self.clients.outgoing.place(index)
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        let clients = &mut self.clients;
        let mut receiving = Receiving {
            clients,
            clock,
            events,
        };
        self.inbox.receive(clock, &mut receiving)
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        self.inbox.wait(until_ns.saturating_sub(clock.now_ns()));
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.inbox.as_fd()
    }

    fn totals(&self) -> TransportTotals {
        let sockets = self.clients.sockets.iter();
        TransportTotals {
            socket_drops: sockets.map(|socket| socket::drops(socket.as_fd())).sum(),
            wire: self.clients.wire,
        }
    }
}

//! DoQ: DNS over dedicated QUIC connections (RFC 9250).
//!
//! `quinn-proto` speaks QUIC; sockets, timers and system calls are the load's own. Each client has a socket with a port
//! of its own, which it keeps over its sessions, so that there are as many clients as the limit of open files and the
//! ports of the source addresses permit: about 28,000 for each source address with Linux' usual range of ports. A client
//! takes about 2 kB of memory, and 23 kB more with an open session, nearly all of it QUIC's and TLS's.
//!
//! A query is a stream: its length, the message with ID 0, and the end. Queries that are queued together share datagrams
//! where they fit, acknowledgements of answers go with the next queries, and one system call sends the datagrams of one
//! client (UDP segmentation offload).
//!
//! What differs from a client that is no load generator:
//!
//! - Connection IDs of the client are empty: a socket has one connection, and does not move.
//! - A session that is closed is forgotten at once, not after three times the probe time-out.
//! - An answer that breaks the rules of RFC 9250 section 4.3.3 ends its query, not the session.
//! - A query that ends without an answer is cancelled (RFC 9250 section 4.3.1), so that its stream is given back; an
//!   answer that comes after its time-out is therefore not seen as late.
//! - Resumed sessions carry no data before the handshake is over (0-RTT).
//! - An answer counts as arrived when the datagram with the end of its stream arrived, by the kernel's time stamp.

mod client;
mod frames;
mod life;
mod memory;
mod reason;
mod shared;
mod socket;
mod streams;
#[cfg(test)]
mod tests;
mod timeline;
mod tls;

use super::datagram::{Inbox, Received, Receiver};
use super::socket::{drops, take_error};
use super::timers::Timers;
use super::{Events, Obstacle, SessionEvent, Transport, TransportTotals};
use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::Clock;
use crate::config::{SessionSettings, TlsSettings};
use client::Client;
use quinn_proto::{Endpoint, EndpointConfig, RandomConnectionIdGenerator};
use shared::Shared;
use socket::{DatagramSocket, forbid_fragments};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// DoQ clients: each has at most one session at a time, over a socket of its own.
pub struct Doq {
    clients: Vec<Client>,
    shared: Shared,
    timers: Timers,
    inbox: Inbox,
    /// Clients with `is_stirred` set.
    stirred: Vec<usize>,
    /// Clients whose session has been closed, which is still to be told.
    closed: Vec<usize>,
    /// Clients with an answer that was cut by its query's end, which is still to be told.
    cut: Vec<usize>,
}

impl Doq {
    /// Opens the sockets of `clients` clients; none has a session yet. Client `n` has the source address
    /// `sources[n % len]`; without any, the kernel chooses.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for TLS settings that QUIC cannot be used with, or a source address that cannot be used; and
    /// [`LoadError::System`].
    pub fn open(
        server: SocketAddr,
        sources: &[IpAddr],
        clients: usize,
        sessions: &SessionSettings,
        tls: &TlsSettings,
    ) -> Result<Self, LoadError> {
        let never_fragmented = |socket: BorrowedFd<'_>| forbid_fragments(socket, server);
        let (inbox, sockets) = Inbox::open(server, sources, clients, never_fragmented)?;
        let mut config = EndpointConfig::default();
        config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
        let config = Arc::new(config);
        let client = |(number, socket)| {
            let endpoint = Endpoint::new(config.clone(), None, false, None);
            Client::new(number, DatagramSocket::new(socket), endpoint)
        };
        let made: Vec<_> = sockets.into_iter().enumerate().map(client).collect();
        let longest_datagram = made
            .first()
            .and_then(|client| client.socket.longest_datagram(server));
        Ok(Self {
            clients: made,
            shared: Shared::new(server, clients, longest_datagram, sessions, tls)?,
            timers: Timers::new(clients),
            inbox,
            stirred: Vec::new(),
            closed: Vec::new(),
            cut: Vec::new(),
        })
    }

    fn stir(&mut self, number: usize) {
        self.clients[number].stir(&mut self.stirred);
    }

    /// Sends what stirred clients have to send, and sets their alarms.
    fn settle(&mut self) {
        while let Some(number) = self.stirred.pop() {
            let client = &mut self.clients[number];
            client.is_stirred = false;
            client.transmit(&mut self.shared);
            self.timers.set(number, client.due_ns(&self.shared));
        }
    }

    /// Tells what happened while there was nobody to tell.
    fn tell(&mut self, events: &mut impl Events) {
        for number in self.cut.drain(..) {
            events.malformed(number, Malformed::Cut);
        }
        for number in self.closed.drain(..) {
            events.session(number, SessionEvent::Closed);
        }
    }
}

/// The clients while they receive.
struct Receiving<'a, C, E> {
    clients: &'a mut [Client],
    stirred: &'a mut Vec<usize>,
    shared: &'a mut Shared,
    clock: &'a C,
    events: &'a mut E,
}

impl<C: Clock, E: Events> Receiver for Receiving<'_, C, E> {
    fn socket(&self, client: usize) -> BorrowedFd<'_> {
        self.clients[client].socket.as_fd()
    }

    fn take_datagrams(&mut self, client: usize, received: &Received<'_>) {
        let Self { shared, clock, .. } = self;
        shared.now_ns = received.now_ns();
        let receiver = &mut self.clients[client];
        for (datagram, received_ns) in received.iter() {
            let datagram = shared.kept(datagram);
            receiver.receive(datagram, received_ns, shared, *clock, self.events);
        }
        receiver.stir(self.stirred);
    }

    fn take_errors(&mut self, client: usize) {
        let receiver = &mut self.clients[client];
        while let Some(error) = take_error(receiver.socket.as_fd(), &mut []) {
            receiver.unreachable(error.port_unreachable, self.shared, self.events);
        }
        receiver.stir(self.stirred);
    }
}

impl Transport for Doq {
    // Arrivals are stamped, but who sleeps on holds up handshakes and acknowledgements.
    const STAMPS_ARRIVAL: bool = false;

    fn clients(&self) -> usize {
        self.clients.len()
    }

    fn has_room(&self, client: usize) -> bool {
        self.clients[client].has_room(&self.shared)
    }

    fn obstacle(&self, client: usize) -> Obstacle {
        self.clients[client].obstacle()
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        let octets = self.shared.framed(message);
        self.clients[client].queue(id, octets);
        self.stir(client);
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        self.shared.look_at(clock);
        self.tell(events);
        for place in 0..self.stirred.len() {
            let client = &mut self.clients[self.stirred[place]];
            if !client.wants_session() {
                continue;
            }
            if client.retry_ns <= self.shared.now_ns {
                client.connect(&mut self.shared, events);
            } else {
                client.refuse_held(&self.shared, events);
            }
        }
        self.settle();
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        self.shared.look_at(clock);
        self.tell(events);
        // In a mix of transports it is not this one that waits.
        self.settle();
        let mut receiving = Receiving {
            clients: &mut self.clients,
            stirred: &mut self.stirred,
            shared: &mut self.shared,
            clock,
            events,
        };
        let drained = self.inbox.receive(clock, &mut receiving);
        while let Some(number) = self.timers.take(self.shared.now_ns) {
            self.clients[number].pass_time(&mut self.shared, clock, events);
            self.stir(number);
        }
        drained
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        self.shared.look_at(clock);
        self.settle();
        let until_ns = until_ns.min(self.due_ns());
        self.inbox.wait(until_ns.saturating_sub(clock.now_ns()));
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.inbox.as_fd()
    }

    fn due_ns(&self) -> u64 {
        if self.stirred.is_empty() {
            self.timers.next_ns()
        } else {
            0
        }
    }

    fn query_ended(&mut self, client: usize, id: u16, clock: &impl Clock) {
        let ended = &mut self.clients[client];
        if ended.query_ended(id) {
            self.cut.push(client);
        }
        if ended.rests() {
            self.shared.look_at(clock);
            ended.rests_since_ns = self.shared.now_ns;
            if ended.is_spent(&self.shared) {
                ended.end_session(&mut self.shared);
                self.closed.push(client);
            }
        }
        self.stir(client);
    }

    fn open(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        self.shared.look_at(clock);
        self.tell(events);
        let opened = &mut self.clients[client];
        if opened.session.is_none() && opened.retry_ns <= self.shared.now_ns {
            opened.connect(&mut self.shared, events);
            self.stir(client);
        }
    }

    fn close(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        self.shared.look_at(clock);
        self.tell(events);
        self.clients[client].close(&mut self.shared, events);
    }

    fn totals(&self) -> TransportTotals {
        let mut totals = TransportTotals {
            wire: self.shared.wire,
            ..TransportTotals::default()
        };
        for client in &self.clients {
            totals.wire += client.wire();
            totals.socket_drops += drops(client.socket.as_fd());
        }
        totals
    }
}

impl Drop for Doq {
    /// Without a word, servers would keep the sessions until they time out.
    fn drop(&mut self) {
        for client in &mut self.clients {
            client.end_session(&mut self.shared);
        }
    }
}

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

use super::epoll::Epoll;
use super::mmsg::ReceiveBatch;
use super::timers::Timers;
use super::{BATCH, Events, Obstacle, SessionEvent, Transport, TransportTotals};
use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::{Clock, realtime_ns};
use crate::config::{SessionSettings, TlsSettings};
use client::Client;
use quinn_proto::{Endpoint, EndpointConfig, RandomConnectionIdGenerator};
use shared::Shared;
use socket::DatagramSocket;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Batches taken from one socket before it is another's turn, or that of sending.
const RECEIVE_ROUNDS: usize = 8;

/// DoQ clients: each has at most one session at a time, over a socket of its own.
pub struct Doq {
    clients: Vec<Client>,
    shared: Shared,
    timers: Timers,
    epoll: Epoll,
    incoming: ReceiveBatch,
    /// Clients with `is_stirred` set.
    stirred: Vec<usize>,
    /// Clients whose session has been closed, which is still to be told.
    closed: Vec<usize>,
    /// Clients with an answer that was cut by its query's end, which is still to be told.
    cut: Vec<usize>,
    /// The only socket has ICMP errors to be taken; unused with more than one.
    errors_waiting: bool,
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
        super::socket::check_sources(server, &sources[..sources.len().min(clients)])?;
        let epoll =
            Epoll::new().map_err(|error| LoadError::system("making an epoll instance", error))?;
        let mut config = EndpointConfig::default();
        config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
        let config = Arc::new(config);
        let mut made = Vec::with_capacity(clients);
        for number in 0..clients {
            let source = sources.get(number % sources.len().max(1)).copied();
            let socket = DatagramSocket::open(server, source).map_err(|error| {
                let from = source.map_or(String::new(), |source| format!(" from {source}"));
                let action = format!("opening UDP socket {} of {clients}{from}", number + 1);
                LoadError::client_socket(action, error)
            })?;
            epoll
                .watch(socket.as_fd(), number, false, false)
                .map_err(|error| LoadError::system("watching a UDP socket", error))?;
            let endpoint = Endpoint::new(config.clone(), None, false, None);
            made.push(Client::new(number, socket, endpoint));
        }
        let longest_datagram = made
            .first()
            .and_then(|client| client.socket.longest_datagram(server));
        Ok(Self {
            clients: made,
            shared: Shared::new(server, clients, longest_datagram, sessions, tls)?,
            timers: Timers::new(clients),
            epoll,
            incoming: ReceiveBatch::new(),
            stirred: Vec::new(),
            closed: Vec::new(),
            cut: Vec::new(),
            errors_waiting: false,
        })
    }

    /// Has `flush` or `wait` look after a client.
    fn stir(&mut self, number: usize) {
        if !std::mem::replace(&mut self.clients[number].is_stirred, true) {
            self.stirred.push(number);
        }
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

    /// Takes what has arrived at a socket, up to [`RECEIVE_ROUNDS`] batches; says whether that was all.
    fn receive_from(
        &mut self,
        number: usize,
        clock: &impl Clock,
        events: &mut impl Events,
    ) -> bool {
        for _ in 0..RECEIVE_ROUNDS {
            match self.incoming.receive(self.clients[number].socket.as_fd()) {
                Ok(count) => {
                    self.pass_on(number, count, clock, events);
                    if count < BATCH {
                        return true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(_) => self.take_errors(number, events),
            }
        }
        false
    }

    fn pass_on(
        &mut self,
        number: usize,
        count: usize,
        clock: &impl Clock,
        events: &mut impl Events,
    ) {
        self.shared.look_at(clock);
        let now_ns = self.shared.now_ns;
        let now_realtime_ns = realtime_ns();
        for index in 0..count {
            // The age of the stamp turns one clock into the other, whatever lies between them.
            let age_ns = self
                .incoming
                .arrival_realtime_ns(index)
                .map_or(0, |stamp| now_realtime_ns.saturating_sub(stamp));
            let received_ns = now_ns.saturating_sub(age_ns);
            let datagram = self.shared.kept(self.incoming.message(index));
            let shared = &mut self.shared;
            self.clients[number].receive(datagram, received_ns, shared, clock, events);
        }
        self.stir(number);
    }

    fn take_errors(&mut self, number: usize, events: &mut impl Events) {
        let client = &mut self.clients[number];
        while let Some(error) = super::socket::take_error(client.socket.as_fd(), &mut []) {
            client.unreachable(error.port_unreachable, &mut self.shared, events);
        }
        self.stir(number);
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
        let drained = if self.clients.len() == 1 {
            if std::mem::take(&mut self.errors_waiting) {
                self.take_errors(0, events);
            }
            self.receive_from(0, clock, events)
        } else {
            let mut drained = self.epoll.look();
            while let Some(ready) = self.epoll.next_ready() {
                if ready.error {
                    self.take_errors(ready.client, events);
                }
                drained &= self.receive_from(ready.client, clock, events);
            }
            drained
        };
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
        self.epoll.wait(until_ns.saturating_sub(clock.now_ns()));
        if self.clients.len() == 1 {
            // The one socket is always tried, which spares a system call a batch; only errors must be remembered.
            while let Some(ready) = self.epoll.next_ready() {
                self.errors_waiting |= ready.error;
            }
        }
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
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
            totals.socket_drops += super::socket::drops(client.socket.as_fd());
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

//! Several transports as one, and all but plain UDP behind one type.

use super::epoll::Epoll;
use super::{
    Doh, Doq, Dot, Events, HandshakeFault, Obstacle, SessionEvent, Tcp, Transport, TransportTotals,
    Udp,
};
use crate::LoadError;
use crate::answer::Malformed;
use crate::clock::Clock;
use crate::config::{Route, TransportKind};
use crate::refusal::Refusal;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

/// A transport of any kind.
pub enum AnyTransport {
    /// Datagrams.
    Udp(Box<Udp>),
    /// Connections.
    Tcp(Box<Tcp>),
    /// Connections with TLS.
    Dot(Box<Dot>),
    /// Connections with HTTP/2 in TLS.
    Doh(Box<Doh>),
    /// QUIC connections.
    Doq(Box<Doq>),
}

impl AnyTransport {
    /// Opens `clients` clients of a route, which send from `sources` in turn.
    ///
    /// # Errors
    /// [`LoadError::System`], and [`LoadError::Setting`] for settings of sessions that cannot be had.
    pub fn open(route: &Route, clients: usize, sources: &[IpAddr]) -> Result<Self, LoadError> {
        match route.transport {
            TransportKind::Udp => {
                Udp::open(route.server, clients, sources).map(|udp| Self::Udp(Box::new(udp)))
            }
            TransportKind::Tcp => Tcp::open(route.server, sources, clients, &route.sessions)
                .map(|tcp| Self::Tcp(Box::new(tcp))),
            TransportKind::Dot => {
                Dot::open(route.server, sources, clients, &route.sessions, &route.tls)
                    .map(|dot| Self::Dot(Box::new(dot)))
            }
            TransportKind::Doh => {
                Doh::open(route, sources, clients).map(|doh| Self::Doh(Box::new(doh)))
            }
            TransportKind::Doq => {
                Doq::open(route.server, sources, clients, &route.sessions, &route.tls)
                    .map(|doq| Self::Doq(Box::new(doq)))
            }
        }
    }
}

/// Does the same with a transport of any kind.
macro_rules! each {
    ($transport:expr, $name:ident => $action:expr) => {
        match $transport {
            AnyTransport::Udp($name) => $action,
            AnyTransport::Tcp($name) => $action,
            AnyTransport::Dot($name) => $action,
            AnyTransport::Doh($name) => $action,
            AnyTransport::Doq($name) => $action,
        }
    };
}

struct Part {
    transport: AnyTransport,
    /// The number that its first client has in the mix.
    first: usize,
}

/// Transports side by side; the clients of the first come first.
pub struct Mix {
    parts: Vec<Part>,
    /// The part of each client.
    part_of: Vec<u8>,
    /// Watches the parts, unless there is only one.
    epoll: Epoll,
}

/// Gives what a part tells of its clients the numbers that these have in the mix.
struct Renumbered<'e, E> {
    events: &'e mut E,
    first: usize,
}

impl<E: Events> Events for Renumbered<'_, E> {
    fn answer(&mut self, client: usize, message: &[u8], received_ns: u64) {
        self.events
            .answer(self.first + client, message, received_ns);
    }

    fn refused(&mut self, client: usize, id: u16, refusal: Refusal, at_ns: u64) {
        self.events.refused(self.first + client, id, refusal, at_ns);
    }

    fn all_refused(&mut self, client: usize, refusal: Refusal, at_ns: u64) {
        self.events.all_refused(self.first + client, refusal, at_ns);
    }

    fn http_status(&mut self, client: usize, status: u16) {
        self.events.http_status(self.first + client, status);
    }

    fn malformed(&mut self, client: usize, malformed: Malformed) {
        self.events.malformed(self.first + client, malformed);
    }

    fn session(&mut self, client: usize, event: SessionEvent) {
        self.events.session(self.first + client, event);
    }

    fn connected(&mut self, client: usize) {
        self.events.connected(self.first + client);
    }

    fn handshake_fault(&mut self, client: usize, fault: HandshakeFault) {
        self.events.handshake_fault(self.first + client, fault);
    }
}

impl Mix {
    /// Brings transports together.
    ///
    /// # Errors
    /// [`LoadError::System`]
    pub fn new(transports: Vec<AnyTransport>) -> Result<Self, LoadError> {
        let fail = |error| LoadError::system("making an epoll instance", error);
        let epoll = Epoll::new().map_err(fail)?;
        let mut parts = Vec::with_capacity(transports.len());
        let mut part_of = Vec::new();
        for (number, transport) in transports.into_iter().enumerate() {
            let first = part_of.len();
            let clients = each!(&transport, transport => transport.clients());
            let ready = each!(&transport, transport => transport.ready_fd());
            epoll.watch(ready, number, false, false).map_err(fail)?;
            part_of.resize(first + clients, number as u8);
            parts.push(Part { transport, first });
        }
        Ok(Self {
            parts,
            part_of,
            epoll,
        })
    }

    fn part(&self, client: usize) -> (&AnyTransport, usize) {
        let part = &self.parts[usize::from(self.part_of[client])];
        (&part.transport, client - part.first)
    }

    fn part_mut(&mut self, client: usize) -> (&mut AnyTransport, usize) {
        let part = &mut self.parts[usize::from(self.part_of[client])];
        (&mut part.transport, part.first)
    }
}

impl Transport for Mix {
    const STAMPS_ARRIVAL: bool = false;

    fn clients(&self) -> usize {
        self.part_of.len()
    }

    fn has_room(&self, client: usize) -> bool {
        let (part, client) = self.part(client);
        each!(part, transport => transport.has_room(client))
    }

    fn obstacle(&self, client: usize) -> Obstacle {
        let (part, client) = self.part(client);
        each!(part, transport => transport.obstacle(client))
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        let (part, first) = self.part_mut(client);
        each!(part, transport => transport.queue(client - first, id, message));
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        for Part { transport, first } in &mut self.parts {
            let events = &mut Renumbered {
                events,
                first: *first,
            };
            each!(transport, transport => transport.flush(clock, events));
        }
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        let mut drained = true;
        for Part { transport, first } in &mut self.parts {
            let events = &mut Renumbered {
                events,
                first: *first,
            };
            drained &= each!(transport, transport => transport.receive(clock, events));
        }
        drained
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        if let [part] = self.parts.as_mut_slice() {
            return each!(&mut part.transport, transport => transport.wait(clock, until_ns));
        }
        let until_ns = until_ns.min(self.due_ns());
        self.epoll.wait(until_ns.saturating_sub(clock.now_ns()));
        // Every part looks for itself; that one was ready has been said by waking up.
        while self.epoll.next_ready().is_some() {}
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn due_ns(&self) -> u64 {
        let due = self
            .parts
            .iter()
            .map(|part| each!(&part.transport, transport => transport.due_ns()));
        due.min().unwrap_or(u64::MAX)
    }

    fn query_ended(&mut self, client: usize, id: u16, clock: &impl Clock) {
        let (part, first) = self.part_mut(client);
        each!(part, transport => transport.query_ended(client - first, id, clock));
    }

    fn open(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        let (part, first) = self.part_mut(client);
        let events = &mut Renumbered { events, first };
        each!(part, transport => transport.open(client - first, clock, events));
    }

    fn close(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        let (part, first) = self.part_mut(client);
        let events = &mut Renumbered { events, first };
        each!(part, transport => transport.close(client - first, clock, events));
    }

    fn totals(&self) -> TransportTotals {
        self.totals_of_parts()
            .into_iter()
            .fold(TransportTotals::default(), |mut sum, part| {
                sum += part;
                sum
            })
    }

    fn totals_of_parts(&self) -> Vec<TransportTotals> {
        let totals = |part: &Part| each!(&part.transport, transport => transport.totals());
        self.parts.iter().map(totals).collect()
    }
}

//! Which client sends a query.

mod rotation;
mod weighted;

pub use rotation::Rotation;
pub use weighted::Weighted;

use crate::in_flight::InFlight;
use crate::refusal::Refusal;
use crate::transport::{Obstacle, Transport};

/// Which client sends the next query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This one.
    Client(usize),
    /// None has room before a query has ended or a session opened.
    Wait,
    /// One of this route, none of which has room: it waits for them, and others go on.
    Hold(usize),
    /// It has to be this one, which cannot take it, for this reason.
    Refused(usize, Refusal),
}

/// How clients take turns.
#[derive(Debug)]
pub enum Choice {
    /// Any client that has room, in turn.
    Rotation(Rotation),
    /// The client of a transport by its weight, any of those in turn.
    Weighted {
        /// The transports.
        routes: Box<Weighted>,
        /// All wait until the transport whose turn it is has room. Otherwise its query alone does, or is refused while all its
        /// clients pause, so that no transport holds up the others.
        waits: bool,
    },
    /// The client that the stream names: here that of each client of the stream.
    Stream(Vec<u32>),
}

impl Choice {
    /// The client to send the next query, which is the stream's client `of_stream` if the stream names clients.
    pub fn pick(
        &mut self,
        of_stream: Option<u32>,
        in_flight: &InFlight,
        transport: &impl Transport,
    ) -> Pick {
        let has_room = can_send(in_flight, transport);
        match self {
            Self::Rotation(_) | Self::Weighted { .. } if in_flight.is_full() => Pick::Wait,
            Self::Rotation(rotation) => rotation.pick(has_room).map_or(Pick::Wait, Pick::Client),
            Self::Weighted { routes, waits } => match routes.pick(has_room) {
                Some(client) => Pick::Client(client),
                None if *waits => Pick::Wait,
                None => {
                    let route = routes.next_route();
                    let client = routes.client_of(route);
                    match refusal_of(client, transport) {
                        Refusal::NoPlace => Pick::Hold(route),
                        refusal => Pick::Refused(client, refusal),
                    }
                }
            },
            Self::Stream(clients) => {
                let client = clients[of_stream.unwrap_or(0) as usize] as usize;
                if has_room(client) || in_flight.has_room(client) && takes_more(client, transport) {
                    Pick::Client(client)
                } else {
                    Pick::Refused(client, refusal_of(client, transport))
                }
            }
        }
    }

    /// The client of a route to send a query that waited for it, if one has room.
    pub fn pick_of(
        &mut self,
        route: usize,
        in_flight: &InFlight,
        transport: &impl Transport,
    ) -> Option<usize> {
        match self {
            Self::Weighted { routes, .. } => routes.pick_of(route, can_send(in_flight, transport)),
            Self::Rotation(_) | Self::Stream(_) => None,
        }
    }

    /// A client of a route.
    pub fn client_of(&self, route: usize) -> usize {
        match self {
            Self::Weighted { routes, .. } => routes.client_of(route),
            Self::Rotation(rotation) => rotation.next_client(),
            Self::Stream(_) => 0,
        }
    }

    /// The query has been queued for the client that was picked, waits, or has been refused.
    pub fn took(&mut self) {
        if let Self::Weighted { routes, .. } = self {
            routes.took();
        }
    }

    /// The batch is over: the next one begins with the next client.
    pub fn end_batch(&mut self) {
        match self {
            Self::Rotation(rotation) => rotation.end_batch(),
            Self::Weighted { routes, .. } => routes.end_batch(),
            Self::Stream(_) => {}
        }
    }
}

/// Whether a client has room for another query, in the account and in the transport.
fn can_send<'a>(
    in_flight: &'a InFlight,
    transport: &'a impl Transport,
) -> impl Fn(usize) -> bool + 'a {
    |client| in_flight.has_room(client) && transport.has_room(client)
}

/// Whether a client takes a query although its session has had as many as it is to have: it cannot open the next one
/// before that has its answers, and real clients send over the session that they have.
fn takes_more(client: usize, transport: &impl Transport) -> bool {
    transport.obstacle(client) == Obstacle::Spent
}

/// Why a client that cannot take a query refuses it.
fn refusal_of(client: usize, transport: &impl Transport) -> Refusal {
    match transport.obstacle(client) {
        Obstacle::Pausing(refusal) if !transport.has_room(client) => refusal,
        _ => Refusal::NoPlace,
    }
}

#[cfg(test)]
mod tests;

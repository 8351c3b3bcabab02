//! Which client sends a query.

mod rotation;
mod weighted;

pub use rotation::Rotation;
pub use weighted::Weighted;

use crate::in_flight::InFlight;
use crate::transport::Transport;

/// Which client sends the next query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This one.
    Client(usize),
    /// None has room before a query has ended or a session opened.
    Wait,
    /// It has to be this one, which has no room.
    NoPlace(usize),
}

/// How clients take turns.
#[derive(Debug)]
pub enum Choice {
    /// Any client that has room, in turn.
    Rotation(Rotation),
    /// The client of a transport by its weight, any of those in turn.
    Weighted(Box<Weighted>),
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
        let has_room = |client| in_flight.has_room(client) && transport.has_room(client);
        match self {
            Self::Rotation(_) | Self::Weighted(_) if in_flight.is_full() => Pick::Wait,
            Self::Rotation(rotation) => rotation.pick(has_room).map_or(Pick::Wait, Pick::Client),
            Self::Weighted(weighted) => weighted.pick(has_room).map_or(Pick::Wait, Pick::Client),
            Self::Stream(clients) => {
                let client = clients[of_stream.unwrap_or(0) as usize] as usize;
                if has_room(client) {
                    Pick::Client(client)
                } else {
                    Pick::NoPlace(client)
                }
            }
        }
    }

    /// The query has been queued for the client that was picked.
    pub fn took(&mut self) {
        if let Self::Weighted(weighted) = self {
            weighted.took();
        }
    }

    /// The batch is over: the next one begins with the next client.
    pub fn end_batch(&mut self) {
        match self {
            Self::Rotation(rotation) => rotation.end_batch(),
            Self::Weighted(weighted) => weighted.end_batch(),
            Self::Stream(_) => {}
        }
    }
}

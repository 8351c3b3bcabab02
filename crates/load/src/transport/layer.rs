//! What turns queries into the octets of a connection, and its octets into answers. Knows neither sockets nor time.

use super::{Handshake, HandshakeFault};
use crate::answer::Malformed;
use crate::refusal::Refusal;

/// What a layer tells of one connection.
pub trait LayerEvents {
    /// A message arrived. The first two octets are the ID that the query was queued with.
    fn answer(&mut self, message: &[u8]);

    /// The query with `id` has been refused; the connection goes on.
    fn refused(&mut self, id: u16, refusal: Refusal);

    /// An answer had this HTTP status, other than 200: the next call is [`Self::refused`] for its query.
    fn http_status(&mut self, _status: u16) {}

    /// Something arrived that is no DNS message; the connection goes on.
    fn malformed(&mut self, malformed: Malformed);

    /// What was wrong in the handshake; the call that tells this ends with an error.
    fn handshake_fault(&mut self, _fault: HandshakeFault) {}
}

/// One connection's protocol above the octet stream: frames (TCP), frames in TLS (DoT), HTTP/2 in TLS (DoH).
///
/// Queries are taken from the start and held back until they may be sent. A layer is made anew for each connection.
pub trait Layer {
    /// Queues a query; its first two octets are replaced by `id`, or by 0 where the protocol has means of its own to
    /// tell answers apart.
    fn queue(&mut self, id: u16, message: &[u8]);

    /// Whether another query can be queued, as far as the protocol is concerned (HTTP/2: concurrent streams).
    fn has_room(&self) -> bool;

    /// Whether the handshake is over, and queries can be sent.
    fn is_open(&self) -> bool;

    /// Kind of the cryptographic handshake, once it is over.
    fn handshake(&self) -> Handshake {
        Handshake::Plain
    }

    /// Takes octets that arrived.
    ///
    /// # Errors
    /// The refusal of all queries in flight, if the connection cannot go on. What `outgoing` then gives are the last words
    /// to the server, such as a TLS alert.
    fn receive(&mut self, octets: &[u8], events: &mut impl LayerEvents) -> Result<(), Refusal>;

    /// The octets to be written. The caller removes from the front what the kernel took.
    ///
    /// # Errors
    /// As for `receive`.
    fn outgoing(&mut self) -> Result<&mut Outgoing, Refusal>;

    /// How many of these outgoing octets, not none, go into one record of the TLS below, if there is any.
    fn record_len(&self, octets: &[u8]) -> usize {
        octets.len()
    }

    /// The query with `id` has ended: nothing more is expected for it.
    fn query_ended(&mut self, id: u16);

    /// The server has closed its side of the octet stream: whether that cut a message.
    fn is_inside_message(&self) -> bool;

    /// Appends what the protocol says before an orderly end (TLS close_notify, HTTP/2 GOAWAY).
    fn say_goodbye(&mut self);

    /// Lets go of empty buffers: the session is idle, and one of many.
    fn release_buffers(&mut self) {}
}

/// Makes the layer of each connection.
pub trait LayerFactory {
    /// What it makes.
    type Layer: Layer;

    /// The layer of a new connection of `client`.
    ///
    /// # Errors
    /// The refusal of the queries that were to use it.
    fn layer(&mut self, client: usize) -> Result<Self::Layer, Refusal>;
}

/// Written octets are kept until there are this many, since dropping them moves those behind.
const WRITTEN_KEPT: usize = 64 * 1024;

/// Octets on their way to the kernel.
#[derive(Debug, Default)]
pub struct Outgoing {
    octets: Vec<u8>,
    written: usize,
}

impl Outgoing {
    /// The octets that the kernel has not taken.
    pub fn unwritten(&self) -> &[u8] {
        &self.octets[self.written..]
    }

    /// The kernel took `count` of them.
    pub fn wrote(&mut self, count: usize) {
        self.written += count;
        if self.written == self.octets.len() {
            self.clear();
        } else if self.written >= WRITTEN_KEPT {
            self.octets.drain(..self.written);
            self.written = 0;
        }
    }

    /// Where to append octets.
    pub fn end(&mut self) -> &mut Vec<u8> {
        &mut self.octets
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.written = 0;
    }

    /// Lets go of its memory, unless octets are left to be written.
    pub fn release(&mut self) {
        if self.octets.is_empty() {
            self.octets = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_does_not_make_the_buffer_grow() {
        let mut outgoing = Outgoing::default();
        for round in 0..1_000u32 {
            while outgoing.unwritten().len() < WRITTEN_KEPT {
                outgoing.end().extend_from_slice(&[round as u8; 512]);
            }
            outgoing.wrote(16 * 1024);
        }
        let len = outgoing.octets.len();
        assert!(len <= 3 * WRITTEN_KEPT, "{len} octets");
    }
}

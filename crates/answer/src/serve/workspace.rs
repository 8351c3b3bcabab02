//! What a thread needs for answering, whatever the transport.

use super::Service;
use super::counters::Tally;
use super::shared::Follower;
use crate::{Reply, Scratch, Transfer, Transport};

/// Octets of the length before each message of a stream (RFC 1035 section 4.2.2).
pub(super) const LENGTH_LEN: usize = 2;
/// Octets of the longest message.
pub(super) const MESSAGE_LEN: usize = 65_535;

/// Memory for reading and answering, shared by the connections of a thread.
pub(super) struct Workspace<'a> {
    pub follower: Follower<'a>,
    pub scratch: Scratch,
    pub tally: Tally,
    /// Where octets are read to.
    pub incoming: Box<[u8]>,
    /// A response after room for its length.
    framed: Box<[u8]>,
}

impl<'a> Workspace<'a> {
    pub fn new(service: &Service<'a>) -> Self {
        Self {
            follower: Follower::new(service.responder),
            scratch: Scratch::default(),
            tally: Tally::default(),
            incoming: vec![0; MESSAGE_LEN].into(),
            framed: vec![0; LENGTH_LEN + MESSAGE_LEN].into(),
        }
    }

    /// Answers a query and counts it; [`Self::message`] and [`Self::framed`] have the response.
    pub fn answer(&mut self, query: &[u8], transport: Transport) -> Reply {
        let counts = &mut self.tally.counts;
        match transport {
            Transport::Udp => counts.queries_udp += 1,
            Transport::Tcp => counts.queries_tcp += 1,
            Transport::Tls => counts.queries_dot += 1,
            Transport::Https => counts.queries_doh += 1,
            Transport::Quic => counts.queries_doq += 1,
        }
        let response = &mut self.framed[LENGTH_LEN..];
        let reply = self
            .follower
            .responder()
            .answer(query, transport, &mut self.scratch, response);
        match &reply {
            Reply::Nothing => self.tally.counts.unanswered += 1,
            Reply::Message { rcode, .. } => self.tally.answered(*rcode),
            Reply::Transfer(_) => self.tally.counts.transfers += 1,
        }
        reply
    }

    /// Writes the next message of a zone transfer as [`Self::answer`] writes a response; returns its length.
    pub fn next_of(&mut self, transfer: &mut RunningTransfer) -> Option<usize> {
        let response = &mut self.framed[LENGTH_LEN..];
        let RunningTransfer {
            transfer,
            responder,
        } = transfer;
        transfer.next_message(responder, &mut self.scratch, response)
    }

    /// A zone transfer that the last answer began.
    pub fn begin(&self, transfer: Transfer) -> RunningTransfer {
        RunningTransfer {
            transfer,
            responder: self.follower.last_used(),
        }
    }

    /// The response of `len` octets.
    pub fn message(&self, len: usize) -> &[u8] {
        &self.framed[LENGTH_LEN..LENGTH_LEN + len]
    }

    /// The response of `len` octets after its length.
    pub fn framed(&mut self, len: usize) -> &[u8] {
        self.framed[..LENGTH_LEN].copy_from_slice(&(len as u16).to_be_bytes());
        &self.framed[..LENGTH_LEN + len]
    }
}

/// A zone transfer under way, and the responder whose zone it is.
pub(super) struct RunningTransfer {
    transfer: Transfer,
    responder: std::sync::Arc<crate::Responder>,
}

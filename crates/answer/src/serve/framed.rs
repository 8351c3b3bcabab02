//! DNS over a stream: queries in, responses out, each after its length (RFC 1035 section 4.2.2, RFC 7858 section 3.3).

use super::outgoing::Outgoing;
use super::workspace::{LENGTH_LEN, RunningTransfer, Workspace};
use crate::{Reply, Transport};

/// The messages of one connection.
pub(super) struct Framed {
    transport: Transport,
    /// Received octets; those before `taken` are answered.
    incoming: Vec<u8>,
    taken: usize,
    transfer: Option<RunningTransfer>,
}

impl Framed {
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            incoming: Vec::new(),
            taken: 0,
            transfer: None,
        }
    }

    pub fn receive(&mut self, octets: &[u8]) {
        self.incoming.drain(..self.taken);
        self.taken = 0;
        self.incoming.extend_from_slice(octets);
    }

    /// Answers as long as whole queries are there and responses have room; whether there was anything to do.
    pub fn answer(&mut self, workspace: &mut Workspace<'_>, outgoing: &mut Outgoing) -> bool {
        let mut answered = false;
        while outgoing.has_room() && self.answer_one(workspace, outgoing) {
            answered = true;
        }
        answered
    }

    fn answer_one(&mut self, workspace: &mut Workspace<'_>, outgoing: &mut Outgoing) -> bool {
        if let Some(transfer) = &mut self.transfer {
            match workspace.next_of(transfer) {
                Some(len) => outgoing.push(workspace.framed(len)),
                None => self.transfer = None,
            }
            return true;
        }
        let waiting = &self.incoming[self.taken..];
        let Some((length, rest)) = waiting.split_first_chunk::<LENGTH_LEN>() else {
            return false;
        };
        let len = usize::from(u16::from_be_bytes(*length));
        let Some(query) = rest.get(..len) else {
            return false;
        };
        let reply = workspace.answer(query, self.transport);
        self.taken += LENGTH_LEN + len;
        match reply {
            Reply::Nothing => {}
            Reply::Message { len, .. } => outgoing.push(workspace.framed(len)),
            Reply::Transfer(transfer) => self.transfer = Some(workspace.begin(transfer)),
        }
        true
    }
}

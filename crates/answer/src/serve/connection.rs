//! One TCP connection: queries in, responses out, each after its length (RFC 1035 section 4.2.2).

use super::tcp::Workspace;
use crate::{Reply, Responder, Transfer, Transport};
use mio::net::TcpStream;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// With this many octets waiting to be sent no further query is answered until the client has read some.
const OUTGOING_LIMIT: usize = 256 << 10;
/// Sent octets are kept until there are this many, since dropping them moves those behind.
const SENT_KEPT: usize = 64 << 10;
/// Octets of the length before each message.
const LENGTH_LEN: usize = 2;

/// Rounds of reading, answering and sending before other connections have their turn.
const ROUNDS: usize = 16;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for the client.
    Waiting,
    /// It has more to do at once.
    Busy,
    /// It is over.
    Closed,
}

pub(super) struct Connection {
    stream: TcpStream,
    /// Received octets; those before `taken` are answered.
    incoming: Vec<u8>,
    taken: usize,
    /// Octets to send; those before `sent` are.
    outgoing: Vec<u8>,
    sent: usize,
    transfer: Option<(Transfer, Arc<Responder>)>,
    /// The client has closed its side.
    ended: bool,
    last_active: Instant,
}

impl Connection {
    pub fn new(stream: TcpStream, now: Instant) -> Self {
        Self {
            stream,
            incoming: Vec::new(),
            taken: 0,
            outgoing: Vec::new(),
            sent: 0,
            transfer: None,
            ended: false,
            last_active: now,
        }
    }

    /// How long nothing has come in or gone out.
    pub fn idle(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last_active)
    }

    /// Reads, answers and sends as much as can be without waiting, up to a fair share.
    pub fn advance(&mut self, workspace: &mut Workspace<'_>, now: Instant) -> State {
        for _ in 0..ROUNDS {
            let mut answered = false;
            while self.has_room() && self.answer_one(workspace) {
                answered = true;
            }
            let Ok(sent) = self.send() else {
                return State::Closed;
            };
            let received = match self.has_room() && !self.ended {
                true => self.receive(workspace),
                false => Ok(false),
            };
            let Ok(received) = received else {
                return State::Closed;
            };
            if sent || received {
                self.last_active = now;
            }
            // The system reports readiness once, so only a round without any progress may be the last.
            if !(answered || sent || received) {
                return if self.ended && self.outgoing.is_empty() {
                    State::Closed
                } else {
                    State::Waiting
                };
            }
        }
        State::Busy
    }

    fn has_room(&self) -> bool {
        self.outgoing.len() - self.sent < OUTGOING_LIMIT
    }

    /// Writes the next response behind those to be sent; false if no whole query is there.
    fn answer_one(&mut self, workspace: &mut Workspace<'_>) -> bool {
        if let Some((transfer, responder)) = &mut self.transfer {
            match transfer.next_message(responder, &mut workspace.scratch, &mut workspace.response)
            {
                Some(len) => self.queue(&workspace.response[..len]),
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
        workspace.tally.counts.queries_tcp += 1;
        let responder = workspace.follower.responder();
        let reply = responder.answer(
            query,
            Transport::Tcp,
            &mut workspace.scratch,
            &mut workspace.response,
        );
        self.taken += LENGTH_LEN + len;
        match reply {
            Reply::Nothing => workspace.tally.counts.unanswered += 1,
            Reply::Message { len, rcode } => {
                workspace.tally.answered(rcode);
                self.queue(&workspace.response[..len]);
            }
            Reply::Transfer(transfer) => {
                workspace.tally.counts.transfers += 1;
                self.transfer = Some((transfer, Arc::clone(responder)));
            }
        }
        true
    }

    fn queue(&mut self, response: &[u8]) {
        self.outgoing
            .extend_from_slice(&(response.len() as u16).to_be_bytes());
        self.outgoing.extend_from_slice(response);
    }

    /// Sends what the system takes; whether that was anything.
    fn send(&mut self) -> io::Result<bool> {
        let before = self.sent;
        while self.sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => self.sent += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let progress = self.sent > before;
                    // A client that never reads all would make the written octets pile up.
                    if self.sent >= SENT_KEPT {
                        self.outgoing.drain(..self.sent);
                        self.sent = 0;
                    }
                    return Ok(progress);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let sent = self.sent > before;
        self.outgoing.clear();
        self.sent = 0;
        Ok(sent)
    }

    /// Reads once; whether there was anything, the end included.
    fn receive(&mut self, workspace: &mut Workspace<'_>) -> io::Result<bool> {
        self.incoming.drain(..self.taken);
        self.taken = 0;
        match self.stream.read(&mut workspace.incoming) {
            Ok(0) => self.ended = true,
            Ok(len) => self.incoming.extend_from_slice(&workspace.incoming[..len]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

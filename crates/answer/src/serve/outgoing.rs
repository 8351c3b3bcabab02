//! Octets that wait to be sent on a connection.

use super::link::Link;
use std::io::{self, ErrorKind};

/// With this many octets waiting no further query is answered until the client has read some.
const LIMIT: usize = 256 << 10;
/// Sent octets are kept until there are this many, since dropping them moves those behind.
const SENT_KEPT: usize = 64 << 10;

/// Octets to send; those before `sent` are.
#[derive(Default)]
pub(super) struct Outgoing {
    octets: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    pub fn has_room(&self) -> bool {
        self.octets.len() - self.sent < LIMIT
    }

    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    pub fn push(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// Sends what the system takes; whether that was anything.
    pub fn send(&mut self, link: &mut Link) -> io::Result<bool> {
        let before = self.sent;
        while self.sent < self.octets.len() {
            match link.write(&self.octets[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => self.sent += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let progress = self.sent > before;
                    // A client that never reads all would make the written octets pile up.
                    if self.sent >= SENT_KEPT {
                        self.octets.drain(..self.sent);
                        self.sent = 0;
                    }
                    return Ok(progress);
                }
                Err(error) => return Err(error),
            }
        }
        let sent = self.sent > before;
        self.octets.clear();
        self.sent = 0;
        Ok(sent)
    }
}

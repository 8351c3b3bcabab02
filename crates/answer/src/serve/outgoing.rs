//! Octets that wait to be sent on a connection.

use super::link::Link;
use std::collections::VecDeque;
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
    /// Where TLS records are to end, beside the end of all.
    record_ends: VecDeque<usize>,
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

    /// Lets what is pushed next begin a TLS record.
    pub fn end_record(&mut self) {
        self.record_ends.push_back(self.octets.len());
    }

    /// Sends what the system takes; whether that was anything.
    pub fn send(&mut self, link: &mut Link) -> io::Result<bool> {
        let before = self.sent;
        let all_written = self.write(link)?;
        link.flush()?;
        let progress = self.sent > before;
        if all_written {
            self.octets.clear();
            self.record_ends.clear();
            self.sent = 0;
        } else if self.sent >= SENT_KEPT {
            // A client that never reads all would make the written octets pile up.
            self.octets.drain(..self.sent);
            for end in &mut self.record_ends {
                *end -= self.sent;
            }
            self.sent = 0;
        }
        Ok(progress)
    }

    /// Writes until all is written or the system takes no more; whether it was all.
    fn write(&mut self, link: &mut Link) -> io::Result<bool> {
        while self.sent < self.octets.len() {
            while self
                .record_ends
                .front()
                .is_some_and(|end| *end <= self.sent)
            {
                self.record_ends.pop_front();
            }
            let end = self.record_ends.front().copied();
            let end = end.unwrap_or(self.octets.len());
            match link.write(&self.octets[self.sent..end]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => self.sent += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

//! Formats of captures. A format is a [`Source`]: it fills chunks with packets, or with messages where it has no packets.

use super::ChunkBuffer;
use std::io;

/// Why a source gives no more packets.
#[derive(Debug)]
pub enum Fault {
    /// The file cannot be read.
    Io(io::Error),
    /// It is no capture; says what it is instead, and what to do.
    NotACapture(String),
    /// It contradicts itself; says how.
    Damaged(String),
    /// It ends inside a packet; what is before it can be used.
    CutOff,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A capture that is being read.
pub trait Source: Send {
    /// The format's name: `pcap`, `pcapng`, `dnstap`, `c-dns`.
    fn format(&self) -> &'static str;

    /// Appends packets to an empty `chunk` until it is full or the capture ends; none are appended after the last one.
    ///
    /// # Errors
    /// A [`Fault`]; the packets before it are in the chunk.
    fn fill(&mut self, chunk: &mut ChunkBuffer) -> Result<(), Fault>;
}

//! Formats of captures. A format is a [`Source`]: it fills chunks with packets, or with messages where it has no packets.

mod filling;
mod open;
mod order;
mod pcap;
mod pcapng;

pub use open::{Opened, Watch, open, source_of};
pub(super) use order::InTimeOrder;

use super::ChunkBuffer;
use dnsrig_stream::input::{Undecodable, Undecoded};
use std::io;

/// The longest packet or block that is taken into memory, in octets. Captures hold at most 256 KiB of a packet; more is a sign
/// of damage.
pub const MAX_PACKET_LEN: usize = 16 << 20;

/// Why a source gives no more packets.
#[derive(Debug)]
pub enum Fault {
    /// The file cannot be read.
    Io(io::Error),
    /// It is no capture, or none that can be opened; says what it is instead, and what to do.
    NotACapture(String),
    /// It contradicts itself; says how.
    Damaged(String),
    /// It ends inside a packet; what is before it can be used.
    CutOff,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if let Some(undecodable) = Undecodable::of(&error) {
            return match undecodable.how() {
                Undecoded::CutOff => Self::CutOff,
                Undecoded::Damaged => Self::Damaged(undecodable.to_string()),
                // What comes is whole, so nothing is given for all there is.
                Undecoded::TooLarge => Self::NotACapture(undecodable.to_string()),
            };
        }
        match error.kind() {
            // What is read at once is not whole.
            io::ErrorKind::UnexpectedEof => Self::CutOff,
            _ => Self::Io(error),
        }
    }
}

/// A capture that is being read.
pub trait Source: Send {
    /// The format's name: `pcap`, `pcapng`, `dnstap`, `c-dns`.
    fn format(&self) -> &'static str;

    /// Packets so far that had no time of their own.
    fn without_time(&self) -> u64 {
        0
    }

    /// Appends packets to an empty `chunk` until it is full or the capture ends; none are appended after the last one.
    ///
    /// # Errors
    /// A [`Fault`]; the packets before it are in the chunk.
    fn fill(&mut self, chunk: &mut ChunkBuffer) -> Result<(), Fault>;
}

//! Packets as a capture file holds them, whatever its format.

use super::pcap::PcapReader;
use super::pcapng::PcapngReader;
use super::window::Window;
use crate::halt::Halt;
use std::io::{self, Read};

/// The longest packet or block that is taken into memory, in octets. Captures hold at most 256 KiB of a packet; more is a
/// sign of damage.
pub(super) const MAX_LEN: usize = 16 << 20;

/// A packet as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// When it was captured, in ns since 1970; `None` in a pcapng Simple Packet Block.
    pub time_ns: Option<i64>,
    /// The link type (<https://www.tcpdump.org/linktypes.html>).
    pub link_type: u16,
    /// What was captured of it, from the link layer on.
    pub octets: &'a [u8],
    /// Whether it was longer than what was captured.
    pub is_cut: bool,
}

/// Why no further packet can be read.
#[derive(Debug)]
pub enum ReadFault {
    /// The file cannot be read.
    Io(io::Error),
    /// The file is no capture.
    NotACapture(String),
    /// The file contradicts itself.
    Damaged(String),
    /// The file ends inside a packet, as when it is still being written.
    CutOff,
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Halt> for ReadFault {
    fn from(halt: Halt) -> Self {
        Self::Io(halt.into())
    }
}

/// Reads the packets of a pcap or pcapng file one after the other.
#[derive(Debug)]
pub enum PacketReader<R> {
    /// The format of libpcap.
    Pcap(PcapReader<R>),
    /// The format of Wireshark.
    Pcapng(PcapngReader<R>),
}

impl<R: Read> PacketReader<R> {
    /// Reads the beginning of `input`, which says what format it has.
    ///
    /// # Errors
    /// [`ReadFault::Io`], or [`ReadFault::NotACapture`] for any other format, or [`ReadFault::Damaged`].
    pub fn new(input: R) -> Result<Self, ReadFault> {
        let mut window = Window::new(input);
        let magic: [u8; 4] = match window.take(4)? {
            Some(octets) => octets.try_into().expect("four octets were asked for"),
            None => {
                let why = "is no capture: it has fewer than four octets".to_owned();
                return Err(ReadFault::NotACapture(why));
            }
        };
        if magic == super::pcapng::SECTION_HEADER {
            return PcapngReader::new(window).map(Self::Pcapng);
        }
        PcapReader::new(window, magic).map(Self::Pcap)
    }

    /// The next packet; `None` at the end of the file.
    ///
    /// # Errors
    /// A [`ReadFault`], after which nothing more can be read.
    pub fn next_packet(&mut self) -> Result<Option<CapturedPacket<'_>>, ReadFault> {
        match self {
            Self::Pcap(reader) => reader.next_packet(),
            Self::Pcapng(reader) => reader.next_packet(),
        }
    }
}

/// Turns the octets of a number in a file into the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The number in the two octets of `octets` at `place`.
    pub fn u16(self, octets: &[u8], place: usize) -> u16 {
        let octets = [octets[place], octets[place + 1]];
        match self {
            Self::Little => u16::from_le_bytes(octets),
            Self::Big => u16::from_be_bytes(octets),
        }
    }

    /// The number in the four octets of `octets` at `place`.
    pub fn u32(self, octets: &[u8], place: usize) -> u32 {
        let octets = [
            octets[place],
            octets[place + 1],
            octets[place + 2],
            octets[place + 3],
        ];
        match self {
            Self::Little => u32::from_le_bytes(octets),
            Self::Big => u32::from_be_bytes(octets),
        }
    }

    /// The number in the eight octets of `octets` at `place`.
    pub fn i64(self, octets: &[u8], place: usize) -> i64 {
        let (first, second) = (self.u32(octets, place), self.u32(octets, place + 4));
        let (high, low) = match self {
            Self::Little => (second, first),
            Self::Big => (first, second),
        };
        (u64::from(high) << 32 | u64::from(low)).cast_signed()
    }
}

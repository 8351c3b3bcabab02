//! Chunks: as many packets as one core takes at a time.

use crate::message::{Endpoint, Message, SentLen, Transport};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Octets of packets in a chunk, beside its last packet: few enough that they are still in a core's cache when they are decoded.
pub const CHUNK_LEN: usize = 512 << 10;

/// The link type by which messages of dnstap and C-DNS stand in a chunk; no file has it.
pub const LINK_TYPE_MESSAGE: u16 = u16::MAX;

/// Where a packet stands in its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketAt {
    /// When it was captured, in ns since 1970; the time of the packet before, if it has none of its own.
    pub time_ns: i64,
    /// Its number in its file, counted from 1.
    pub number: u64,
    /// Where it begins in the chunk's octets.
    pub start: u32,
    /// Octets that were captured.
    pub len: u32,
    /// Octets that it had.
    pub original_len: u32,
    /// The link type (<https://www.tcpdump.org/linktypes.html>), or [`LINK_TYPE_MESSAGE`].
    pub link_type: u16,
    /// The number of its file in the list that was given, from 0.
    pub file: u16,
}

/// Packets in the order of the capture.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The chunk's number, from 0.
    pub number: u64,
    /// What the packets are in; there may be other octets between them.
    pub octets: &'a [u8],
    /// Where they are.
    pub packets: &'a [PacketAt],
}

impl<'a> Chunk<'a> {
    /// The packets in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Packet<'a>> + use<'a> {
        let chunk = *self;
        self.packets.iter().map(move |at| chunk.packet(at))
    }

    /// The packet at one of the chunk's places.
    #[inline]
    pub fn packet(&self, at: &PacketAt) -> Packet<'a> {
        Packet {
            octets: &self.octets[at.start as usize..][..at.len as usize],
            at: *at,
        }
    }
}

/// A packet as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What was captured of it, from the link layer on.
    pub octets: &'a [u8],
    /// Its time, lengths and link type; [`PacketAt::start`] is without meaning outside its chunk.
    pub at: PacketAt,
}

impl Packet<'_> {
    /// Whether fewer octets were captured than it had.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.at.len < self.at.original_len
    }
}

/// The memory of a chunk, used again for the next.
#[derive(Debug)]
pub struct ChunkBuffer {
    pub(super) number: u64,
    pub(super) packets: Vec<PacketAt>,
    /// Octets in use are those before `end`; the others were used before, or are zero.
    octets: Vec<u8>,
    end: usize,
    /// Octets that are enough.
    limit: usize,
}

impl Default for ChunkBuffer {
    fn default() -> Self {
        Self::with_limit(CHUNK_LEN)
    }
}

/// Octets before a message of [`LINK_TYPE_MESSAGE`]: transport, whether it is IPv6, whether it is cut, what is known of its length and
/// that length, ports, addresses.
const MESSAGE_HEADER_LEN: usize = 42;
/// What is known of a message's length, as it stands there: see [`SentLen`].
const OWN_LEN: u8 = 0;
const TOLD_LEN: u8 = 1;
const UNKNOWN_LEN: u8 = 2;

impl ChunkBuffer {
    /// A buffer that is full with `limit` octets.
    pub(super) fn with_limit(limit: usize) -> Self {
        Self {
            number: 0,
            packets: Vec::new(),
            octets: Vec::new(),
            end: 0,
            limit,
        }
    }

    /// Lets it be full only with as much as chunks usually hold.
    pub(super) fn raise_limit(&mut self) {
        self.limit = CHUNK_LEN;
    }

    /// The packets that are in it.
    pub fn chunk(&self) -> Chunk<'_> {
        Chunk {
            number: self.number,
            octets: &self.octets[..self.end],
            packets: &self.packets,
        }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.end = 0;
        self.packets.clear();
    }

    /// Whether it holds as much as a chunk should.
    pub fn is_full(&self) -> bool {
        self.end >= self.limit
    }

    /// The octets in use.
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets[..self.end]
    }

    /// Reads once from `input`, as much as the chunk has room for, and at least room for `least` octets; gives how many octets
    /// came, 0 at the end of the input.
    pub(super) fn read_from(&mut self, input: &mut dyn Read, least: usize) -> io::Result<usize> {
        let room = (self.end + least).max(self.limit);
        if self.octets.len() < room {
            self.octets.try_reserve_exact(room - self.octets.len())?;
            self.octets.resize(room, 0);
        }
        loop {
            match input.read(&mut self.octets[self.end..room]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
            }
        }
    }

    /// Appends octets that belong to no packet yet; gives where they begin.
    pub(super) fn push_octets(&mut self, octets: &[u8]) -> usize {
        let start = self.end;
        let end = start + octets.len();
        if self.octets.len() < end {
            self.octets.resize(end.max(self.limit), 0);
        }
        self.octets[start..end].copy_from_slice(octets);
        self.end = end;
        start
    }

    /// Moves the octets from `start` on into `rest`, which is emptied before.
    pub(super) fn split_off(&mut self, start: usize, rest: &mut Vec<u8>) {
        rest.clear();
        rest.extend_from_slice(&self.octets[start..self.end]);
        self.end = start;
    }

    /// Drops the octets before `start`, in which no packet is.
    pub(super) fn drop_front(&mut self, start: usize) {
        self.octets.copy_within(start..self.end, 0);
        self.end -= start;
    }

    /// Appends a copy of `packet`.
    pub fn push_packet(&mut self, packet: &Packet<'_>) {
        let start = self.push_octets(packet.octets) as u32;
        self.packets.push(PacketAt { start, ..packet.at });
    }

    /// Appends a message of a format that has no packets.
    pub fn push_message(&mut self, message: &Message<'_>) {
        let is_ipv6 = message.source.address.is_ipv6() || message.destination.address.is_ipv6();
        let (kind, sent_len) = match message.sent_len {
            SentLen::Own => (OWN_LEN, 0),
            SentLen::Told(len) => (TOLD_LEN, len),
            SentLen::Unknown => (UNKNOWN_LEN, 0),
        };
        let [high, low] = sent_len.to_be_bytes();
        let start = self.push_octets(&[
            message.transport as u8,
            u8::from(is_ipv6),
            u8::from(message.is_cut),
            kind,
            high,
            low,
        ]);
        for end in [message.source, message.destination] {
            self.push_octets(&end.port.to_be_bytes());
            self.push_octets(&mapped(end.address).octets());
        }
        self.push_octets(message.octets);
        let len = (self.end - start) as u32;
        self.packets.push(PacketAt {
            time_ns: message.time_ns,
            number: message.number,
            start: start as u32,
            len,
            original_len: len,
            link_type: LINK_TYPE_MESSAGE,
            file: 0,
        });
    }
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// Reads back what [`ChunkBuffer::push_message`] wrote.
pub(super) fn message_of<'a>(packet: &Packet<'a>) -> Option<Message<'a>> {
    let (header, octets) = packet.octets.split_first_chunk::<MESSAGE_HEADER_LEN>()?;
    let is_ipv6 = header[1] != 0;
    let end = |start: usize| {
        let port = u16::from_be_bytes([header[start], header[start + 1]]);
        let address: [u8; 16] = header[start + 2..start + 18].try_into().expect("16 octets");
        let address = Ipv6Addr::from(address);
        match is_ipv6 {
            true => Endpoint::new(address, port),
            false => Endpoint::new(last_four(address), port),
        }
    };
    Some(Message {
        time_ns: packet.at.time_ns,
        source: end(6),
        destination: end(24),
        transport: *Transport::ALL.get(usize::from(header[0]))?,
        octets,
        is_cut: header[2] != 0,
        sent_len: match header[3] {
            OWN_LEN => SentLen::Own,
            TOLD_LEN => SentLen::Told(u16::from_be_bytes([header[4], header[5]])),
            _ => SentLen::Unknown,
        },
        number: packet.at.number,
    })
}

fn last_four(address: Ipv6Addr) -> Ipv4Addr {
    Ipv4Addr::from_bits(address.to_bits() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in() {
        let ipv4 = Endpoint::new([192, 0, 2, 1], 4000);
        let ipv6 = Endpoint::new(Ipv6Addr::LOCALHOST, 853);
        let mut buffer = ChunkBuffer::default();
        let other = Endpoint::new(Ipv6Addr::UNSPECIFIED, 0);
        let messages = [
            (ipv4, Transport::Udp, SentLen::Told(400)),
            (ipv4, Transport::Tcp, SentLen::Unknown),
            (ipv6, Transport::Quic, SentLen::Own),
        ]
        .map(|(source, transport, sent_len)| Message {
            time_ns: 1_700_000_000_000_000_007,
            source,
            destination: match source == ipv4 {
                true => Endpoint::new([198, 51, 100, 53], 53),
                false => other,
            },
            transport,
            octets: b"message",
            is_cut: transport == Transport::Quic,
            sent_len,
            number: 9,
        });
        for message in &messages {
            buffer.push_message(message);
        }
        let chunk = buffer.chunk();
        let read: Vec<_> = chunk.iter().map(|packet| message_of(&packet)).collect();
        assert_eq!(read, messages.map(Some));
    }

    #[test]
    fn what_was_in_use_before_is_not_read_again() {
        let mut buffer = ChunkBuffer::default();
        buffer.push_octets(b"abcdef");
        let mut rest = Vec::new();
        buffer.split_off(2, &mut rest);
        assert_eq!((buffer.octets(), &rest[..]), (&b"ab"[..], &b"cdef"[..]));
        buffer.clear();
        assert_eq!(buffer.read_from(&mut &b"xy"[..], 1).unwrap(), 2);
        assert_eq!(buffer.octets(), b"xy");
        let long = vec![7; CHUNK_LEN + 5];
        while buffer.octets().len() < long.len() {
            let missing = long.len() - buffer.octets().len();
            buffer.read_from(&mut &long[..], missing).unwrap();
        }
        assert!(buffer.is_full());
    }
}

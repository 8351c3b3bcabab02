//! Chunks: as many packets as one core takes at a time.

use crate::message::{Endpoint, Message, Transport};
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
        let octets = self.octets;
        self.packets.iter().map(move |at| Packet {
            octets: &octets[at.start as usize..][..at.len as usize],
            at: *at,
        })
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
#[derive(Debug, Default)]
pub struct ChunkBuffer {
    pub(super) number: u64,
    pub(super) octets: Vec<u8>,
    pub(super) packets: Vec<PacketAt>,
}

/// Octets before a message of [`LINK_TYPE_MESSAGE`]: transport, whether it is IPv6, whether it is cut, ports, addresses.
const MESSAGE_HEADER_LEN: usize = 39;

impl ChunkBuffer {
    /// The packets that are in it.
    pub fn chunk(&self) -> Chunk<'_> {
        Chunk {
            number: self.number,
            octets: &self.octets,
            packets: &self.packets,
        }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.packets.clear();
    }

    /// Whether it holds as much as a chunk should.
    pub fn is_full(&self) -> bool {
        self.octets.len() >= CHUNK_LEN
    }

    /// Appends a message of a format that has no packets.
    pub fn push_message(&mut self, message: &Message<'_>) {
        let start = self.octets.len();
        let is_ipv6 = message.source.address.is_ipv6() || message.destination.address.is_ipv6();
        self.octets.extend_from_slice(&[
            message.transport as u8,
            u8::from(is_ipv6),
            u8::from(message.is_cut),
        ]);
        for end in [message.source, message.destination] {
            self.octets.extend_from_slice(&end.port.to_be_bytes());
            self.octets.extend_from_slice(&mapped(end.address).octets());
        }
        self.octets.extend_from_slice(message.octets);
        let len = (self.octets.len() - start) as u32;
        self.packets.push(PacketAt {
            time_ns: message.time_ns,
            number: message.number,
            start: start as u32,
            len,
            original_len: len + u32::from(message.is_cut),
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
        source: end(3),
        destination: end(21),
        transport: *Transport::ALL.get(usize::from(header[0]))?,
        octets,
        is_cut: header[2] != 0,
        number: packet.at.number,
    })
}

fn last_four(address: Ipv6Addr) -> Ipv4Addr {
    Ipv4Addr::from_bits(address.to_bits() as u32)
}

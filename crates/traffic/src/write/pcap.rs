//! pcap files (draft-ietf-opsawg-pcap), little-endian with times in nanoseconds, which hold any capture's times exactly.

use super::link;
use super::packet::{ACK, PSH, SYN, TcpFields, is_ipv6, longest_segment, push_tcp, push_udp};
use crate::message::{Endpoint, Message, Transport};
use crate::wire::Header;
use dnsrig_stream::capture::link::Frame;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::io::{self, Write};

/// Octets before a packet in the file.
pub const PACKET_HEADER_LEN: usize = 16;
const FILE_HEADER_LEN: usize = 24;
const NANOSECONDS: u32 = 0xA1B2_3C4D;
/// No packet is longer; it is what tcpdump writes, too.
const SNAP_LEN: u32 = 262_144;
/// Ends of connections whose sequence numbers are remembered. What comes after on one that was forgotten is another connection
/// with the same ports.
const MAX_CONNECTIONS: usize = 1 << 20;

/// The beginning of a file of packets of `link_type`.
pub fn file_header(link_type: u16) -> [u8; FILE_HEADER_LEN] {
    // Version 2.4.
    let version = u32::from(4_u16) << 16 | 2;
    let fields = [NANOSECONDS, version, 0, 0, SNAP_LEN, link_type.into()];
    let mut header = [0; FILE_HEADER_LEN];
    for (into, field) in header.as_chunks_mut().0.iter_mut().zip(fields) {
        *into = field.to_le_bytes();
    }
    header
}

/// The last time that a pcap file can hold, in ns since 1970: its seconds have 32 bits.
pub const LATEST_NS: i64 = u32::MAX as i64 * 1_000_000_000 + 999_999_999;

/// Whether a pcap file can hold a time, in ns since 1970: it is of 1970 to 2106.
#[inline]
pub fn holds_time(time_ns: i64) -> bool {
    (0..=LATEST_NS).contains(&time_ns)
}

/// Appends a packet with its header; `original_len` is how long it was on the link. For its time see [`set_time`].
#[inline]
pub fn push_record(time_ns: i64, octets: &[u8], original_len: u32, target: &mut Vec<u8>) {
    let mut header = [0; PACKET_HEADER_LEN];
    set_time(time_ns, &mut header);
    header[8..12].copy_from_slice(&(octets.len() as u32).to_le_bytes());
    header[12..].copy_from_slice(&original_len.max(octets.len() as u32).to_le_bytes());
    target.extend_from_slice(&header);
    target.extend_from_slice(octets);
}

/// Sets the time in a packet's header. One for which [`holds_time`] does not hold becomes the nearest for which it does; whoever
/// writes captures of others leaves out what has such a time.
///
/// # Panics
/// If `header` has fewer than eight octets.
#[inline]
pub fn set_time(time_ns: i64, header: &mut [u8]) {
    let time_ns = time_ns.clamp(0, LATEST_NS);
    let seconds = (time_ns / 1_000_000_000) as u32;
    let ns = (time_ns % 1_000_000_000) as u32;
    header[..4].copy_from_slice(&seconds.to_le_bytes());
    header[4..8].copy_from_slice(&ns.to_le_bytes());
}

/// Writes a pcap file: packets as they were, and packets made around messages.
///
/// All have the link type of the first one. A packet from another link keeps its IP packet, with a link header without
/// addresses before it. Messages by UDP become one datagram each. Messages by anything else become TCP segments: of
/// connections that are opened before their first message, and not closed.
#[derive(Debug)]
pub struct PcapWriter<W> {
    target: W,
    link_type: Option<u16>,
    /// By who sends, and to whom.
    next_sequence: HashMap<(Endpoint, Endpoint), u32, RandomState>,
    /// The sequence number with which connections begin; another one after they were forgotten.
    initial_sequence: u32,
    packet: Vec<u8>,
    record: Vec<u8>,
    packets: u64,
    octets: u64,
}

/// What cannot be written into a capture, and is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPacket {
    /// A frame of another link type that holds no IP packet.
    NotIp,
    /// A message that is longer than a UDP datagram.
    TooLong,
    /// The link type of the file is one that no packet can be made for.
    Link,
    /// A time before 1970 or after 2106.
    Time,
}

impl<W: Write> PcapWriter<W> {
    /// Writes to `target`; the link type is that of the first packet.
    pub fn new(target: W) -> Self {
        Self {
            target,
            link_type: None,
            next_sequence: HashMap::default(),
            initial_sequence: 0,
            packet: Vec::new(),
            record: Vec::new(),
            packets: 0,
            octets: 0,
        }
    }

    /// Writes to `target` with link type `link_type`.
    pub fn with_link_type(target: W, link_type: u16) -> Self {
        Self {
            link_type: Some(link_type),
            ..Self::new(target)
        }
    }

    /// Packets so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Writes `records`, which [`push_record`] made of `packets` packets of the link type `link_type`.
    ///
    /// # Errors
    /// Those of the target.
    pub fn records(&mut self, link_type: u16, records: &[u8], packets: u64) -> io::Result<u64> {
        if self.begin(link_type)? == link_type {
            self.packets += packets;
            self.octets += records.len() as u64;
            self.target.write_all(records)?;
            return Ok(0);
        }
        let mut left_out = 0;
        let mut rest = records;
        while let Some((header, after)) = rest.split_first_chunk::<PACKET_HEADER_LEN>() {
            let field = |at: usize| {
                u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
            };
            let (octets, after) = after.split_at(field(8) as usize);
            let time_ns = i64::from(field(0)) * 1_000_000_000 + i64::from(field(4));
            let written = self.packet(time_ns, link_type, octets, field(12))?;
            left_out += u64::from(written.is_some());
            rest = after;
        }
        Ok(left_out)
    }

    /// Writes one packet as it was captured; gives the reason if it was left out.
    ///
    /// # Errors
    /// Those of the target.
    pub fn packet(
        &mut self,
        time_ns: i64,
        link_type: u16,
        octets: &[u8],
        original_len: u32,
    ) -> io::Result<Option<NoPacket>> {
        if !holds_time(time_ns) {
            return Ok(Some(NoPacket::Time));
        }
        let own = self.begin(link_type)?;
        if own == link_type {
            self.write(time_ns, octets, original_len)?;
            return Ok(None);
        }
        let (ip, is_ipv6) = match Frame::parse(link_type, octets) {
            Frame::Ipv4(ip) => (ip, false),
            Frame::Ipv6(ip) => (ip, true),
            _ => return Ok(Some(NoPacket::NotIp)),
        };
        let Some(header) = link::header(own, is_ipv6) else {
            return Ok(Some(NoPacket::Link));
        };
        let original = original_len.saturating_sub((octets.len() - ip.len()) as u32);
        let packet = [header, ip].concat();
        self.write(time_ns, &packet, original + header.len() as u32)?;
        Ok(None)
    }

    /// Writes packets around `message`; gives the reason if it was left out.
    ///
    /// # Errors
    /// Those of the target.
    pub fn message(&mut self, message: &Message<'_>) -> io::Result<Option<NoPacket>> {
        if !holds_time(message.time_ns) {
            return Ok(Some(NoPacket::Time));
        }
        let own = self.begin(link::RAW)?;
        let (from, to) = (message.source, message.destination);
        let Some(header) = link::header(own, is_ipv6(from, to)) else {
            return Ok(Some(NoPacket::Link));
        };
        let mut packet = std::mem::take(&mut self.packet);
        let outcome = match message.transport {
            Transport::Udp | Transport::Unknown => {
                packet.clear();
                packet.extend_from_slice(header);
                match push_udp(from, to, message.octets, &mut packet) {
                    true => self.write_made(message.time_ns, &packet).map(|()| None),
                    false => Ok(Some(NoPacket::TooLong)),
                }
            }
            _ => self.segments(message, header, &mut packet).map(|()| None),
        };
        self.packet = packet;
        outcome
    }

    /// Ends the file; one without a packet is a capture, too.
    ///
    /// # Errors
    /// Those of the target.
    pub fn finish(mut self) -> io::Result<W> {
        self.begin(link::RAW)?;
        self.target.flush()?;
        Ok(self.target)
    }

    /// The file's link type: `link_type` if nothing is in it yet.
    fn begin(&mut self, link_type: u16) -> io::Result<u16> {
        if self.octets == 0 {
            let link_type = *self.link_type.get_or_insert(link_type);
            let header = file_header(link_type);
            self.target.write_all(&header)?;
            self.octets += header.len() as u64;
        }
        Ok(self.link_type.unwrap_or(link_type))
    }

    fn segments(
        &mut self,
        message: &Message<'_>,
        header: &[u8],
        packet: &mut Vec<u8>,
    ) -> io::Result<()> {
        let (from, to) = (message.source, message.destination);
        if !self.next_sequence.contains_key(&(from, to)) {
            self.open(message, header, packet)?;
        }
        let acknowledged = *self.next_sequence.get(&(to, from)).unwrap_or(&0);
        let len = (message.octets.len() as u16).to_be_bytes();
        let framed = [&len[..], message.octets].concat();
        let mut sequence = 0;
        if let Some(next) = self.next_sequence.get_mut(&(from, to)) {
            sequence = *next;
            *next = next.wrapping_add(framed.len() as u32);
        }
        for data in framed.chunks(longest_segment(from, to)) {
            let fields = TcpFields {
                sequence,
                acknowledged,
                flags: ACK | PSH,
            };
            self.segment((from, to), fields, data, message.time_ns, header, packet)?;
            sequence = sequence.wrapping_add(data.len() as u32);
        }
        Ok(())
    }

    /// Opens the connection of `message`, from the end that sends queries.
    fn open(
        &mut self,
        message: &Message<'_>,
        header: &[u8],
        packet: &mut Vec<u8>,
    ) -> io::Result<()> {
        if self.next_sequence.len() >= MAX_CONNECTIONS {
            self.next_sequence.clear();
            // Far from where any connection has got.
            self.initial_sequence = self.initial_sequence.wrapping_add(0x4000_0000);
        }
        let (source, destination) = (message.source, message.destination);
        let is_answer = Header::parse(message.octets).is_some_and(Header::is_answer);
        let (client, server) = match is_answer {
            true => (destination, source),
            false => (source, destination),
        };
        let initial = self.initial_sequence;
        let time_ns = message.time_ns;
        let first = initial.wrapping_add(1);
        for (way, flags, acknowledged) in [
            ((client, server), SYN, 0),
            ((server, client), SYN | ACK, first),
        ] {
            let fields = TcpFields {
                sequence: initial,
                acknowledged,
                flags,
            };
            self.segment(way, fields, b"", time_ns, header, packet)?;
        }
        self.next_sequence.insert((client, server), first);
        self.next_sequence.insert((server, client), first);
        Ok(())
    }

    fn segment(
        &mut self,
        (from, to): (Endpoint, Endpoint),
        fields: TcpFields,
        data: &[u8],
        time_ns: i64,
        header: &[u8],
        packet: &mut Vec<u8>,
    ) -> io::Result<()> {
        packet.clear();
        packet.extend_from_slice(header);
        push_tcp(from, to, fields, data, packet);
        self.write_made(time_ns, packet)
    }

    fn write_made(&mut self, time_ns: i64, packet: &[u8]) -> io::Result<()> {
        self.write(time_ns, packet, packet.len() as u32)
    }

    fn write(&mut self, time_ns: i64, octets: &[u8], original_len: u32) -> io::Result<()> {
        self.record.clear();
        push_record(time_ns, octets, original_len, &mut self.record);
        self.packets += 1;
        self.octets += self.record.len() as u64;
        self.target.write_all(&self.record)
    }
}

#[cfg(test)]
mod tests;

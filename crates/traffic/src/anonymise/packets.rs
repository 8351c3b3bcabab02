//! Packets as they are written: pcap records of IP packets whose headers hold nothing but what is needed.
//!
//! Ethernet addresses, tags of VLANs, IP and TCP options, time to live, flow labels and identifications are not carried over.

use crate::message::Endpoint;
use std::net::IpAddr;

/// The beginning of a pcap file with times in nanoseconds and raw IP packets (LINKTYPE_RAW, 101), all little-endian.
pub const FILE_HEADER: [u8; 24] = [
    0x4D, 0x3C, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0,
];
const RECORD_HEADER_LEN: usize = 16;
const IPV4_HEADER_LEN: usize = 20;
const IPV6_HEADER_LEN: usize = 40;
const UDP_HEADER_LEN: usize = 8;
const TCP_HEADER_LEN: usize = 20;
const UDP: u8 = 17;
const TCP: u8 = 6;
const HOP_LIMIT: u8 = 64;
const NS_PER_S: i64 = 1_000_000_000;

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// Who sends it.
    pub source: Endpoint,
    /// To whom.
    pub destination: Endpoint,
}

impl Way {
    /// The way of answers.
    pub fn back(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
        }
    }

    fn is_ipv6(self) -> bool {
        self.source.address.is_ipv6() || self.destination.address.is_ipv6()
    }

    fn ip_header_len(self) -> usize {
        match self.is_ipv6() {
            true => IPV6_HEADER_LEN,
            false => IPV4_HEADER_LEN,
        }
    }
}

/// Header fields of TCP that tell of nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFields {
    /// The sequence number.
    pub sequence: u32,
    /// The number that is acknowledged.
    pub acknowledged: u32,
    /// FIN, SYN, RST, PSH and ACK.
    pub flags: u8,
}

/// A packet that is being appended to records, its payload after [`Packet::begin`].
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    start: usize,
    way: Way,
    /// The fields of TCP, or UDP.
    tcp: Option<TcpFields>,
}

impl Packet {
    /// Leaves room for headers at the end of `output`.
    pub fn begin(way: Way, tcp: Option<TcpFields>, output: &mut Vec<u8>) -> Self {
        let start = output.len();
        let transport = match tcp {
            Some(_) => TCP_HEADER_LEN,
            None => UDP_HEADER_LEN,
        };
        let room = RECORD_HEADER_LEN + way.ip_header_len() + transport;
        output.resize(start + room, 0);
        Self { start, way, tcp }
    }

    /// Takes the packet away again.
    pub fn drop_from(self, output: &mut Vec<u8>) {
        output.truncate(self.start);
    }

    /// Writes the headers before the payload, which is all that is in `output` after them. Says whether the packet can be
    /// as long as it is; if not, it is taken away.
    pub fn finish(self, time_ns: i64, output: &mut Vec<u8>) -> bool {
        let (record, ip) = output[self.start..].split_at_mut(RECORD_HEADER_LEN);
        if ip.len() > usize::from(u16::MAX) {
            output.truncate(self.start);
            return false;
        }
        // A pcap file tells times from 1970 to 2106.
        let time_ns = time_ns.clamp(0, i64::from(u32::MAX) * NS_PER_S);
        let fields = [
            (time_ns / NS_PER_S) as u32,
            (time_ns % NS_PER_S) as u32,
            ip.len() as u32,
            ip.len() as u32,
        ];
        for (into, field) in record.as_chunks_mut::<4>().0.iter_mut().zip(fields) {
            *into = field.to_le_bytes();
        }
        let (header, segment) = ip.split_at_mut(self.way.ip_header_len());
        let pseudo_header = self.write_ip(header, segment.len() as u16);
        self.write_transport(segment, pseudo_header);
        true
    }

    /// Writes the IP header; gives the sum of the pseudo-header of UDP and TCP.
    fn write_ip(self, header: &mut [u8], len: u16) -> u64 {
        let protocol = if self.tcp.is_some() { TCP } else { UDP };
        let addresses = match self.way.is_ipv6() {
            true => {
                header[0] = 0x60;
                header[4..6].copy_from_slice(&len.to_be_bytes());
                header[6..8].copy_from_slice(&[protocol, HOP_LIMIT]);
                for (place, end) in [(8, self.way.source), (24, self.way.destination)] {
                    header[place..place + 16].copy_from_slice(&ipv6_octets(end.address));
                }
                8..40
            }
            false => {
                let total = len + IPV4_HEADER_LEN as u16;
                header[0] = 0x45;
                header[2..4].copy_from_slice(&total.to_be_bytes());
                // Not to be fragmented.
                header[6..10].copy_from_slice(&[0x40, 0, HOP_LIMIT, protocol]);
                for (place, end) in [(12, self.way.source), (16, self.way.destination)] {
                    header[place..place + 4].copy_from_slice(&ipv4_octets(end.address));
                }
                let checksum = checksum(sum(header));
                header[10..12].copy_from_slice(&checksum);
                12..20
            }
        };
        let rest = [0, protocol, len.to_be_bytes()[0], len.to_be_bytes()[1]];
        sum(&header[addresses]) + sum(&rest)
    }

    fn write_transport(self, segment: &mut [u8], pseudo_header: u64) {
        segment[..2].copy_from_slice(&self.way.source.port.to_be_bytes());
        segment[2..4].copy_from_slice(&self.way.destination.port.to_be_bytes());
        let place = match self.tcp {
            None => {
                let len = segment.len() as u16;
                segment[4..6].copy_from_slice(&len.to_be_bytes());
                6
            }
            Some(tcp) => {
                segment[4..8].copy_from_slice(&tcp.sequence.to_be_bytes());
                segment[8..12].copy_from_slice(&tcp.acknowledged.to_be_bytes());
                segment[12..16].copy_from_slice(&[0x50, tcp.flags, 0xFF, 0xFF]);
                16
            }
        };
        let found = match checksum(pseudo_header + sum(segment)) {
            // For UDP, zeros mean that there is no checksum.
            [0, 0] if self.tcp.is_none() => [0xFF, 0xFF],
            checksum => checksum,
        };
        segment[place..place + 2].copy_from_slice(&found);
    }
}

fn ipv4_octets(address: IpAddr) -> [u8; 4] {
    match address {
        IpAddr::V4(address) => address.octets(),
        // Not reached: a way with an IPv6 address is one of IPv6.
        IpAddr::V6(_) => [0; 4],
    }
}

fn ipv6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Sums octets as 16-bit numbers in the machine's order, which RFC 1071 section 2 (B) allows.
fn sum(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks::<4>();
    let words: u64 = words
        .iter()
        .map(|word| u64::from(u32::from_ne_bytes(*word)))
        .sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words + u64::from(u32::from_ne_bytes(last))
}

/// The checksum (RFC 1071) of what was summed.
fn checksum(mut sum: u64) -> [u8; 2] {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    (!(sum as u16)).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn way(is_ipv6: bool) -> Way {
        let end = |last: u8, port| match is_ipv6 {
            true => Endpoint::new(
                Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, last.into()),
                port,
            ),
            false => Endpoint::new(Ipv4Addr::new(192, 0, 2, last), port),
        };
        Way {
            source: end(1, 4096),
            destination: end(2, 53),
        }
    }

    fn packet(is_ipv6: bool, tcp: Option<TcpFields>, payload: &[u8]) -> Vec<u8> {
        let mut output = b"before".to_vec();
        let packet = Packet::begin(way(is_ipv6), tcp, &mut output);
        output.extend_from_slice(payload);
        assert!(packet.finish(1_700_000_000_123_456_789, &mut output));
        output.split_off(6)
    }

    /// What receivers compute: the sum over everything, checksum included, is -0.
    fn is_sound(header: &[u8], segment: &[u8], protocol: u8, addresses: std::ops::Range<usize>) {
        let len = (segment.len() as u16).to_be_bytes();
        let pseudo = [&header[addresses], &[0, protocol], &len, segment].concat();
        assert_eq!(checksum(sum(&pseudo)), [0, 0]);
    }

    #[test]
    fn headers_are_whole_and_checksums_right() {
        let fields = TcpFields {
            sequence: 7,
            acknowledged: 9,
            flags: 0x18,
        };
        for payload in [&b""[..], b"a", b"even", b"odd", &[0xFF; 301]] {
            for (tcp, protocol, header_len) in [(None, UDP, 8), (Some(fields), TCP, 20)] {
                let ip = packet(false, tcp, payload).split_off(16);
                assert_eq!(checksum(sum(&ip[..20])), [0, 0]);
                assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), ip.len());
                assert_eq!(&ip[20 + header_len..], payload);
                is_sound(&ip, &ip[20..], protocol, 12..20);
                let ip = packet(true, tcp, payload).split_off(16);
                assert_eq!(
                    usize::from(u16::from_be_bytes([ip[4], ip[5]])),
                    ip.len() - 40
                );
                is_sound(&ip, &ip[40..], protocol, 8..40);
            }
        }
    }

    #[test]
    fn records_tell_time_and_length() {
        let record = packet(false, None, b"payload");
        let fields: Vec<u32> = record[..16]
            .as_chunks()
            .0
            .iter()
            .map(|&field| u32::from_le_bytes(field))
            .collect();
        assert_eq!(fields, [1_700_000_000, 123_456_789, 35, 35]);
    }

    #[test]
    fn packets_that_cannot_be_as_long_are_taken_away() {
        let mut output = vec![1];
        let packet = Packet::begin(way(false), None, &mut output);
        output.resize(70_000, 0);
        assert!(!packet.finish(0, &mut output));
        assert_eq!(output, [1]);
    }
}

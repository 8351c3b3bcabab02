//! IP packets around DNS messages: UDP (RFC 768) and TCP (RFC 9293) over IPv4 (RFC 791) and IPv6 (RFC 8200).

use crate::message::Endpoint;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const TCP: u8 = 6;
const UDP: u8 = 17;
const HOP_LIMIT: u8 = 64;
const IPV4_HEADER_LEN: usize = 20;
const UDP_HEADER_LEN: usize = 8;
const TCP_HEADER_LEN: usize = 20;
/// Most octets of an IPv4 packet, and of an IPv6 packet after its header.
const LONGEST: usize = u16::MAX as usize;

/// FIN: the sender has no more to send (RFC 9293 section 3.1).
pub const FIN: u8 = 0x01;
/// SYN: the first segment of each direction.
pub const SYN: u8 = 0x02;
/// RST: the connection is given up.
pub const RST: u8 = 0x04;
/// PSH: what was sent is to be given to the program.
pub const PSH: u8 = 0x08;
/// ACK: the acknowledgement is one.
pub const ACK: u8 = 0x10;

/// Appends an IP packet with a UDP datagram of `payload`; `false`, and nothing appended, if it is longer than a datagram can
/// be.
pub fn push_udp(from: Endpoint, to: Endpoint, payload: &[u8], target: &mut Vec<u8>) -> bool {
    let addresses = Addresses::of(from, to);
    let len = UDP_HEADER_LEN + payload.len();
    if len > addresses.longest_payload() {
        return false;
    }
    addresses.push_header(UDP, len, target);
    let start = target.len();
    for field in [from.port, to.port, len as u16, 0] {
        target.extend_from_slice(&field.to_be_bytes());
    }
    target.extend_from_slice(payload);
    // Zero would mean that there is no checksum.
    let checksum = match addresses.checksum(UDP, &target[start..]) {
        0 => 0xFFFF,
        checksum => checksum,
    };
    target[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// The most octets of TCP data that one made packet between these endpoints holds.
pub fn longest_segment(from: Endpoint, to: Endpoint) -> usize {
    Addresses::of(from, to).longest_payload() - TCP_HEADER_LEN
}

/// What a made TCP segment does, with its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// It opens a connection.
    Open(u32),
    /// It answers the one that opens it, whose sequence number is the second.
    Accept(u32, u32),
    /// It has data, at most [`longest_segment`] octets; the second number is the next one of the other end.
    Data(u32, u32, &'a [u8]),
}

/// Appends an IP packet with a TCP segment.
///
/// # Panics
/// If its data are longer than one has.
pub fn push_tcp(from: Endpoint, to: Endpoint, segment: Segment<'_>, target: &mut Vec<u8>) {
    let (sequence, acknowledgement, flags, data) = match segment {
        Segment::Open(sequence) => (sequence, 0, SYN, &[][..]),
        Segment::Accept(sequence, other) => (sequence, other.wrapping_add(1), SYN | ACK, &[][..]),
        Segment::Data(sequence, next, data) => (sequence, next, ACK | PSH, data),
    };
    push_segment(from, to, flags, [sequence, acknowledgement], data, target);
}

/// Appends an IP packet with a TCP segment that has these flags and numbers: of its first octet, and of the octet that its
/// sender waits for.
///
/// # Panics
/// If `data` is longer than one has.
pub fn push_segment(
    from: Endpoint,
    to: Endpoint,
    flags: u8,
    numbers: [u32; 2],
    data: &[u8],
    target: &mut Vec<u8>,
) {
    let addresses = Addresses::of(from, to);
    let most = addresses.longest_payload() - TCP_HEADER_LEN;
    assert!(data.len() <= most, "data of one segment");
    addresses.push_header(TCP, TCP_HEADER_LEN + data.len(), target);
    let start = target.len();
    target.extend_from_slice(&from.port.to_be_bytes());
    target.extend_from_slice(&to.port.to_be_bytes());
    for number in numbers {
        target.extend_from_slice(&number.to_be_bytes());
    }
    // A header of five words, and a window.
    target.extend_from_slice(&[0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
    target.extend_from_slice(data);
    let checksum = addresses.checksum(TCP, &target[start..]);
    target[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// Whether packets between these endpoints are made as IPv6.
pub fn is_ipv6(from: Endpoint, to: Endpoint) -> bool {
    matches!(Addresses::of(from, to), Addresses::V6(..))
}

/// Source and destination of one family.
#[derive(Clone, Copy)]
enum Addresses {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// Those of the endpoints; of two families, which dnstap can tell of, both are mapped to IPv6.
    fn of(from: Endpoint, to: Endpoint) -> Self {
        let mapped = |address| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        match (from.address, to.address) {
            (IpAddr::V4(from), IpAddr::V4(to)) => Self::V4(from, to),
            (from, to) => Self::V6(mapped(from), mapped(to)),
        }
    }

    fn longest_payload(self) -> usize {
        match self {
            Self::V4(..) => LONGEST - IPV4_HEADER_LEN,
            Self::V6(..) => LONGEST,
        }
    }

    fn push_header(self, protocol: u8, payload_len: usize, target: &mut Vec<u8>) {
        match self {
            Self::V4(from, to) => {
                let start = target.len();
                let total = (IPV4_HEADER_LEN + payload_len) as u16;
                target.extend_from_slice(&[0x45, 0]);
                target.extend_from_slice(&total.to_be_bytes());
                // No identification, which a packet that must not be fragmented does not need (RFC 6864).
                target.extend_from_slice(&[0, 0, 0x40, 0, HOP_LIMIT, protocol, 0, 0]);
                target.extend_from_slice(&from.octets());
                target.extend_from_slice(&to.octets());
                let checksum = folded(sum(&target[start..]));
                target[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
            }
            Self::V6(from, to) => {
                target.extend_from_slice(&[0x60, 0, 0, 0]);
                target.extend_from_slice(&(payload_len as u16).to_be_bytes());
                target.extend_from_slice(&[protocol, HOP_LIMIT]);
                target.extend_from_slice(&from.octets());
                target.extend_from_slice(&to.octets());
            }
        }
    }

    /// The checksum of `payload`, in which its own field is zero, with the pseudo-header (RFC 8200 section 8.1).
    fn checksum(self, protocol: u8, payload: &[u8]) -> u16 {
        let addresses = match self {
            Self::V4(from, to) => sum(&from.octets()) + sum(&to.octets()),
            Self::V6(from, to) => sum(&from.octets()) + sum(&to.octets()),
        };
        folded(addresses + u64::from(protocol) + payload.len() as u64 + sum(payload))
    }
}

/// The sum of the 16-bit words of `octets`.
fn sum(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks::<2>();
    let words: u64 = words
        .iter()
        .map(|word| u64::from(u16::from_be_bytes(*word)))
        .sum();
    words + rest.first().map_or(0, |&last| u64::from(last) << 8)
}

/// The complement of a sum in one's complement (RFC 1071).
fn folded(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_stream::capture::ip::{IpPacket, Udp};
    use dnsrig_stream::capture::link::Frame;
    use dnsrig_stream::capture::tcp;
    use proptest::prelude::*;

    fn endpoint(text: &str, port: u16) -> Endpoint {
        Endpoint {
            address: text.parse().unwrap(),
            port,
        }
    }

    fn frame(packet: &[u8]) -> Frame<'_> {
        Frame::parse(super::super::link::RAW, packet)
    }

    #[test]
    fn checksums_are_those_of_known_packets() {
        // Words 0001 f203 f4f5 f6f7 sum up to ddf2 (RFC 1071 section 3).
        assert_eq!(!folded(sum(b"\0\x01\xf2\x03\xf4\xf5\xf6\xf7")), 0xDDF2);
        let (a, b) = (endpoint("192.0.2.1", 4000), endpoint("198.51.100.5", 53));
        let mut packet = Vec::new();
        assert!(push_udp(a, b, b"odd", &mut packet));
        assert_eq!(folded(sum(&packet[..20])), 0);
        let pseudo = sum(&packet[12..20]) + 17 + 11;
        assert_eq!(folded(pseudo + sum(&packet[20..])), 0);
    }

    #[test]
    fn what_is_too_long_for_a_datagram_is_not_written() {
        for (a, b, longest) in [("192.0.2.1", "192.0.2.2", 65_507), ("::1", "::2", 65_527)] {
            let (a, b) = (endpoint(a, 1), endpoint(b, 2));
            let mut packet = Vec::new();
            assert!(!push_udp(a, b, &vec![0; longest + 1], &mut packet));
            assert!(packet.is_empty());
            assert!(push_udp(a, b, &vec![0; longest], &mut packet));
            let udp = Udp::parse(IpPacket::parse(frame(&packet)).unwrap().payload).unwrap();
            assert_eq!(udp.payload.map(<[u8]>::len), Some(longest));
        }
    }

    #[test]
    fn two_families_meet_as_mapped_addresses() {
        let (a, b) = (endpoint("192.0.2.1", 4000), endpoint("2001:db8::5", 53));
        let mut packet = Vec::new();
        assert!(push_udp(a, b, b"q", &mut packet) && is_ipv6(a, b));
        let ip = IpPacket::parse(frame(&packet)).unwrap();
        assert_eq!(ip.source.to_canonical(), a.address);
    }

    proptest! {
        #[test]
        fn packets_are_read_back(v6 in any::<bool>(), ports in any::<(u16, u16)>(), sequence in any::<(u32, u32)>(),
                                 payload in prop::collection::vec(any::<u8>(), 0..600)) {
            let (a, b) = if v6 { ("2001:db8::1", "2001:db8::2") } else { ("192.0.2.1", "192.0.2.2") };
            let (a, b) = (endpoint(a, ports.0), endpoint(b, ports.1));
            let mut packet = Vec::new();
            prop_assert!(push_udp(a, b, &payload, &mut packet));
            let ip = IpPacket::parse(frame(&packet)).unwrap();
            prop_assert_eq!((ip.source, ip.destination, ip.missing), (a.address, b.address, 0));
            let udp = Udp::parse(ip.payload).unwrap();
            prop_assert_eq!((udp.source, udp.destination, udp.payload), (ports.0, ports.1, Some(&payload[..])));
            let mut packet = Vec::new();
            push_tcp(a, b, Segment::Data(sequence.0, sequence.1, &payload), &mut packet);
            let ip = IpPacket::parse(frame(&packet)).unwrap();
            let segment = tcp::Segment::parse(ip.payload).unwrap();
            prop_assert_eq!((segment.source, segment.destination), ports);
            prop_assert_eq!((segment.sequence, segment.data), (sequence.0, &payload[..]));
        }
    }
}

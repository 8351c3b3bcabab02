//! IP packets around DNS messages: UDP (RFC 768) and TCP (RFC 9293) over IPv4 (RFC 791) and IPv6 (RFC 8200).

use crate::message::Endpoint;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const TCP: u8 = 6;
const UDP: u8 = 17;
const HOP_LIMIT: u8 = 64;
const IPV4_HEADER_LEN: usize = 20;
const IPV6_HEADER_LEN: usize = 40;
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

/// What a made TCP header tells beside its ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFields {
    /// The number of the segment's first octet.
    pub sequence: u32,
    /// The number of the octet that its sender waits for.
    pub acknowledged: u32,
    /// [`FIN`], [`SYN`], [`RST`], [`PSH`] and [`ACK`].
    pub flags: u8,
}

/// Headers of a packet that is being appended, whose payload comes after [`Headers::begin`].
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    start: usize,
    addresses: Addresses,
    ports: [u16; 2],
    /// The fields of TCP, or UDP.
    tcp: Option<TcpFields>,
}

impl Headers {
    /// Leaves room for the headers of a TCP segment, or of a UDP datagram, at the end of `target`.
    pub fn begin(
        from: Endpoint,
        to: Endpoint,
        tcp: Option<TcpFields>,
        target: &mut Vec<u8>,
    ) -> Self {
        let (start, addresses) = (target.len(), Addresses::of(from, to));
        let transport_len = match tcp {
            Some(_) => TCP_HEADER_LEN,
            None => UDP_HEADER_LEN,
        };
        target.resize(start + addresses.header_len() + transport_len, 0);
        Self {
            start,
            addresses,
            ports: [from.port, to.port],
            tcp,
        }
    }

    /// Writes the headers before the payload, which is all that is in `target` after them. Says whether the packet can be
    /// as long as it is; if not, it is taken away.
    pub fn finish(self, target: &mut Vec<u8>) -> bool {
        let (header, segment) = target[self.start..].split_at_mut(self.addresses.header_len());
        if segment.len() > self.addresses.longest_payload() {
            target.truncate(self.start);
            return false;
        }
        let protocol = match self.tcp {
            Some(_) => TCP,
            None => UDP,
        };
        let len = segment.len() as u16;
        self.addresses.write_header(protocol, len, header);
        self.write_transport(protocol, segment);
        true
    }

    fn write_transport(self, protocol: u8, segment: &mut [u8]) {
        let [source, destination] = self.ports.map(u16::to_be_bytes);
        segment[..2].copy_from_slice(&source);
        segment[2..4].copy_from_slice(&destination);
        let len = (segment.len() as u16).to_be_bytes();
        let place = match self.tcp {
            None => {
                segment[4..6].copy_from_slice(&len);
                6
            }
            Some(tcp) => {
                segment[4..8].copy_from_slice(&tcp.sequence.to_be_bytes());
                segment[8..12].copy_from_slice(&tcp.acknowledged.to_be_bytes());
                // A header of five words, and a window.
                segment[12..16].copy_from_slice(&[0x50, tcp.flags, 0xFF, 0xFF]);
                16
            }
        };
        // The pseudo-header (RFC 8200 section 8.1), the checksum's own field being zero.
        let pseudo = self.addresses.sum() + sum(&[0, protocol, len[0], len[1]]);
        let found = match checksum(pseudo + sum(segment)) {
            // For UDP, zero would mean that there is no checksum.
            [0, 0] if self.tcp.is_none() => [0xFF, 0xFF],
            found => found,
        };
        segment[place..place + 2].copy_from_slice(&found);
    }
}

/// Appends an IP packet with a UDP datagram of `payload`; `false`, and nothing appended, if it is longer than a datagram can
/// be.
pub fn push_udp(from: Endpoint, to: Endpoint, payload: &[u8], target: &mut Vec<u8>) -> bool {
    let headers = Headers::begin(from, to, None, target);
    target.extend_from_slice(payload);
    headers.finish(target)
}

/// The most octets of TCP data that one made packet between these endpoints holds.
pub fn longest_segment(from: Endpoint, to: Endpoint) -> usize {
    Addresses::of(from, to).longest_payload() - TCP_HEADER_LEN
}

/// Appends an IP packet with a TCP segment.
///
/// # Panics
/// If `data` is longer than [`longest_segment`].
pub fn push_tcp(
    from: Endpoint,
    to: Endpoint,
    fields: TcpFields,
    data: &[u8],
    target: &mut Vec<u8>,
) {
    let headers = Headers::begin(from, to, Some(fields), target);
    target.extend_from_slice(data);
    assert!(headers.finish(target), "data of one segment");
}

/// Whether packets between these endpoints are made as IPv6.
pub fn is_ipv6(from: Endpoint, to: Endpoint) -> bool {
    matches!(Addresses::of(from, to), Addresses::V6(..))
}

/// Source and destination of one family.
#[derive(Clone, Copy, Debug)]
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

    fn header_len(self) -> usize {
        match self {
            Self::V4(..) => IPV4_HEADER_LEN,
            Self::V6(..) => IPV6_HEADER_LEN,
        }
    }

    /// Writes an IP header to `header`, which is as long as one and zero.
    fn write_header(self, protocol: u8, payload_len: u16, header: &mut [u8]) {
        match self {
            Self::V4(from, to) => {
                let total = IPV4_HEADER_LEN as u16 + payload_len;
                header[0] = 0x45;
                header[2..4].copy_from_slice(&total.to_be_bytes());
                // No identification, which a packet that must not be fragmented does not need (RFC 6864).
                header[6..10].copy_from_slice(&[0x40, 0, HOP_LIMIT, protocol]);
                header[12..16].copy_from_slice(&from.octets());
                header[16..20].copy_from_slice(&to.octets());
                let found = checksum(sum(header));
                header[10..12].copy_from_slice(&found);
            }
            Self::V6(from, to) => {
                header[0] = 0x60;
                header[4..6].copy_from_slice(&payload_len.to_be_bytes());
                header[6..8].copy_from_slice(&[protocol, HOP_LIMIT]);
                header[8..24].copy_from_slice(&from.octets());
                header[24..40].copy_from_slice(&to.octets());
            }
        }
    }

    /// Their sum in the pseudo-header.
    fn sum(self) -> u64 {
        match self {
            Self::V4(from, to) => sum(&from.octets()) + sum(&to.octets()),
            Self::V6(from, to) => sum(&from.octets()) + sum(&to.octets()),
        }
    }
}

/// The sum of `octets` as numbers in the machine's order, which RFC 1071 section 2 (B) allows.
fn sum(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks::<4>();
    let words: u64 = words
        .iter()
        .map(|word| u64::from(u32::from_ne_bytes(*word)))
        .sum();
    let last = match *rest {
        [] => [0; 4],
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c, ..] => [a, b, c, 0],
    };
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
        let example = sum(b"\0\x01\xf2\x03\xf4\xf5\xf6\xf7");
        assert_eq!(checksum(example), (!0xDDF2_u16).to_be_bytes());
        let (a, b) = (endpoint("192.0.2.1", 4000), endpoint("198.51.100.5", 53));
        let mut packet = Vec::new();
        assert!(push_udp(a, b, b"odd", &mut packet));
        assert_eq!(checksum(sum(&packet[..20])), [0, 0]);
        is_sound(&packet, &packet[20..], 17, 12..20);
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
            flags: PSH | ACK,
        };
        let ends = |a, b| (endpoint(a, 4096), endpoint(b, 53));
        let packet = |(from, to), tcp, payload: &[u8]| {
            let mut target = b"before".to_vec();
            let headers = Headers::begin(from, to, tcp, &mut target);
            target.extend_from_slice(payload);
            assert!(headers.finish(&mut target));
            target.split_off(6)
        };
        for payload in [&b""[..], b"a", b"even", b"odd", &[0xFF; 301]] {
            for (tcp, protocol, header_len) in [(None, UDP, 8), (Some(fields), TCP, 20)] {
                let ip = packet(ends("192.0.2.1", "192.0.2.2"), tcp, payload);
                assert_eq!(checksum(sum(&ip[..20])), [0, 0]);
                assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), ip.len());
                assert_eq!(&ip[20 + header_len..], payload);
                is_sound(&ip, &ip[20..], protocol, 12..20);
                let ip = packet(ends("2001:db8::1", "2001:db8::2"), tcp, payload);
                let len = usize::from(u16::from_be_bytes([ip[4], ip[5]]));
                assert_eq!(len, ip.len() - 40);
                is_sound(&ip, &ip[40..], protocol, 8..40);
            }
        }
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
            let fields = TcpFields { sequence: sequence.0, acknowledged: sequence.1, flags: ACK | PSH };
            push_tcp(a, b, fields, &payload, &mut packet);
            let ip = IpPacket::parse(frame(&packet)).unwrap();
            let segment = tcp::Segment::parse(ip.payload).unwrap();
            prop_assert_eq!((segment.source, segment.destination), ports);
            prop_assert_eq!((segment.sequence, segment.data), (sequence.0, &payload[..]));
        }
    }
}

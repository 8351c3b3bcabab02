//! What one packet holds.

use super::buffer::{LINK_TYPE_MESSAGE, Packet, message_of};
use crate::message::{Endpoint, Message, SentLen, Transport};
use dnsrig_stream::capture::ip::{IpPacket, NoPayload, TCP, UDP, Udp};
use dnsrig_stream::capture::link::Frame;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const LINK_TYPE_ETHERNET: u16 = 1;
/// The link type of raw IP.
pub(super) const LINK_TYPE_RAW: u16 = 101;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xDD];

/// The ports of DNS servers. A packet to or from one of them is DNS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ports(pub Vec<u16>);

impl Default for Ports {
    fn default() -> Self {
        Self(vec![53])
    }
}

impl Ports {
    /// Whether `port` is one of them.
    #[inline]
    #[allow(
        clippy::manual_contains,
        reason = "there is mostly one, for which this loop is shorter than the call that contains() is"
    )]
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|own| *own == port)
    }
}

/// Why a packet holds nothing of DNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// Of a link type that is not known.
    UnknownLink,
    /// Cut off by the snapshot length inside a header.
    CutShort,
    /// With headers that contradict themselves.
    BadHeader,
    /// Neither UDP nor TCP.
    OtherProtocol,
    /// Neither to nor from a DNS port.
    OtherPort,
}

/// What a packet holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// What should be a DNS message: the payload of a UDP datagram, or a message of dnstap or C-DNS.
    Message(Message<'a>),
    /// A TCP segment to or from a DNS port, or a fragment of an IP packet: for an [`super::Assembly`], in order.
    InOrder,
    /// Nothing of DNS.
    LeftOut(LeftOut),
}

/// Tells what `packet` holds.
#[inline]
pub fn decode<'a>(packet: &Packet<'a>, ports: &Ports) -> Decoded<'a> {
    if let Some(message) = plain_datagram(packet, ports) {
        return Decoded::Message(message);
    }
    decode_any(packet, ports)
}

/// The datagram of a packet as nearly all of them are: whole, of IPv4 without options or IPv6 without extension headers, in raw IP
/// or Ethernet without tags. `None` for any other.
#[inline]
fn plain_datagram<'a>(packet: &Packet<'a>, ports: &Ports) -> Option<Message<'a>> {
    let (ip, is_ipv6) = match packet.at.link_type {
        LINK_TYPE_ETHERNET => {
            let (&[.., high, low], ip) = packet.octets.split_first_chunk::<14>()?;
            match [high, low] {
                ETHERTYPE_IPV4 => (ip, false),
                ETHERTYPE_IPV6 => (ip, true),
                _ => return None,
            }
        }
        LINK_TYPE_RAW => (packet.octets, packet.octets.first()? >> 4 == 6),
        _ => return None,
    };
    let plain = if is_ipv6 {
        plain_ipv6(ip)?
    } else {
        plain_ipv4(ip)?
    };
    let (&[a, b, c, d, len_high, len_low, _, _], rest) = plain.payload.split_first_chunk::<8>()?;
    let [from, to] = [[a, b], [c, d]].map(u16::from_be_bytes);
    let len = usize::from(u16::from_be_bytes([len_high, len_low]));
    if len != plain.len || !(ports.contains(from) || ports.contains(to)) {
        return None;
    }
    Some(Message {
        time_ns: packet.at.time_ns,
        source: Endpoint::new(plain.source, from),
        destination: Endpoint::new(plain.destination, to),
        transport: Transport::Udp,
        octets: rest.get(..len.checked_sub(8)?)?,
        is_cut: false,
        sent_len: SentLen::Own,
        number: packet.at.number,
    })
}

/// An IP packet with UDP.
struct PlainIp<'a> {
    source: IpAddr,
    destination: IpAddr,
    /// The length of the payload by the header.
    len: usize,
    /// The payload and whatever stands after it.
    payload: &'a [u8],
}

/// Reads a packet of IPv4 without options that is no fragment and holds UDP.
#[inline]
fn plain_ipv4(ip: &[u8]) -> Option<PlainIp<'_>> {
    let (header, payload) = ip.split_first_chunk::<20>()?;
    let &[
        version_and_len,
        _,
        len_high,
        len_low,
        _,
        _,
        fragment,
        offset,
        _,
        protocol,
        _,
        _,
        ends @ ..,
    ] = header;
    if version_and_len != 0x45 || protocol != UDP || fragment & 0x3F | offset != 0 {
        return None;
    }
    let [a, b, c, d, e, f, g, h] = ends;
    Some(PlainIp {
        source: Ipv4Addr::new(a, b, c, d).into(),
        destination: Ipv4Addr::new(e, f, g, h).into(),
        len: usize::from(u16::from_be_bytes([len_high, len_low])).checked_sub(header.len())?,
        payload,
    })
}

/// Reads a packet of IPv6 whose header is followed by UDP.
#[inline]
fn plain_ipv6(ip: &[u8]) -> Option<PlainIp<'_>> {
    let (header, payload) = ip.split_first_chunk::<40>()?;
    let (&[version, _, _, _, len_high, len_low, next, _], ends) =
        header.split_first_chunk::<8>()?;
    let (source, destination) = ends.split_first_chunk::<16>()?;
    (version >> 4 == 6 && next == UDP).then_some(PlainIp {
        source: Ipv6Addr::from(*source).into(),
        destination: Ipv6Addr::from(*destination.first_chunk::<16>()?).into(),
        len: u16::from_be_bytes([len_high, len_low]).into(),
        payload,
    })
}

/// Tells what any packet holds.
fn decode_any<'a>(packet: &Packet<'a>, ports: &Ports) -> Decoded<'a> {
    if packet.at.link_type == LINK_TYPE_MESSAGE {
        return message_of(packet).map_or(Decoded::LeftOut(LeftOut::BadHeader), Decoded::Message);
    }
    let incomplete = || {
        Decoded::LeftOut(match packet.is_cut() {
            true => LeftOut::CutShort,
            false => LeftOut::BadHeader,
        })
    };
    let ip = match IpPacket::parse(Frame::parse(packet.at.link_type, packet.octets)) {
        Ok(ip) => ip,
        Err(NoPayload::Fragment) => return Decoded::InOrder,
        Err(NoPayload::NotIp) => return Decoded::LeftOut(LeftOut::NotIp),
        Err(NoPayload::UnknownLink) => return Decoded::LeftOut(LeftOut::UnknownLink),
        Err(NoPayload::BadHeader) => return Decoded::LeftOut(LeftOut::BadHeader),
        Err(NoPayload::TooShort) => return incomplete(),
    };
    match ip.protocol {
        UDP => udp(packet, &ip, ports).unwrap_or_else(incomplete),
        TCP => match ip.payload {
            [a, b, c, d, ..] => {
                let [source, destination] = [[*a, *b], [*c, *d]].map(u16::from_be_bytes);
                match ports.contains(source) || ports.contains(destination) {
                    true => Decoded::InOrder,
                    false => Decoded::LeftOut(LeftOut::OtherPort),
                }
            }
            _ => incomplete(),
        },
        _ => Decoded::LeftOut(LeftOut::OtherProtocol),
    }
}

/// Reads the datagram in `ip`; `None` if not even its header is there.
fn udp<'a>(packet: &Packet<'_>, ip: &IpPacket<'a>, ports: &Ports) -> Option<Decoded<'a>> {
    let udp = Udp::parse(ip.payload)?;
    if !ports.contains(udp.source) && !ports.contains(udp.destination) {
        return Some(Decoded::LeftOut(LeftOut::OtherPort));
    }
    // A datagram longer than what is there of its packet has all octets after its header that there are.
    let octets = udp.payload.unwrap_or(&ip.payload[8..]);
    Some(Decoded::Message(Message {
        time_ns: packet.at.time_ns,
        source: Endpoint::new(ip.source, udp.source),
        destination: Endpoint::new(ip.destination, udp.destination),
        transport: Transport::Udp,
        octets,
        is_cut: udp.payload.is_none(),
        sent_len: SentLen::Own,
        number: packet.at.number,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::PacketAt;
    use proptest::prelude::*;

    fn packet(octets: &[u8], link_type: u16) -> Packet<'_> {
        Packet {
            octets,
            at: PacketAt {
                time_ns: 7,
                number: 1,
                start: 0,
                len: octets.len() as u32,
                original_len: octets.len() as u32,
                link_type,
                file: 0,
            },
        }
    }

    /// A datagram in raw IP or Ethernet, some octets of whose headers are changed.
    fn datagram() -> impl Strategy<Value = (u16, Vec<u8>)> {
        let changes = prop::collection::vec((0..62_usize, any::<u8>()), 0..3);
        let payload = prop::collection::vec(any::<u8>(), 0..40);
        (any::<bool>(), any::<bool>(), payload, changes, 0..4_usize).prop_map(
            |(is_ethernet, is_ipv6, payload, changes, cut)| {
                let len = 8 + payload.len() as u8;
                let mut octets = match (is_ethernet, is_ipv6) {
                    (false, _) => Vec::new(),
                    (true, false) => [&[0; 12][..], &ETHERTYPE_IPV4].concat(),
                    (true, true) => [&[0; 12][..], &ETHERTYPE_IPV6].concat(),
                };
                if is_ipv6 {
                    octets.extend_from_slice(&[0x60, 0, 0, 0, 0, len, UDP, 64]);
                    octets.extend_from_slice(&[9; 32]);
                } else {
                    octets.extend_from_slice(&[0x45, 0, 0, 20 + len, 0, 0, 0, 0, 64, UDP, 0, 0]);
                    octets.extend_from_slice(&[9; 8]);
                }
                octets.extend_from_slice(&[7, 7, 0, 53, 0, len, 0, 0]);
                octets.extend_from_slice(&payload);
                for (place, octet) in changes {
                    let len = octets.len();
                    octets[place % len] = octet;
                }
                octets.truncate(octets.len() - cut.saturating_sub(1).min(octets.len()));
                (
                    if is_ethernet {
                        LINK_TYPE_ETHERNET
                    } else {
                        LINK_TYPE_RAW
                    },
                    octets,
                )
            },
        )
    }

    proptest! {
        #[test]
        fn the_short_way_and_the_long_way_tell_the_same((link_type, octets) in datagram()) {
            let packet = packet(&octets, link_type);
            let ports = Ports::default();
            if let Some(message) = plain_datagram(&packet, &ports) {
                prop_assert_eq!(decode_any(&packet, &ports), Decoded::Message(message));
            }
        }
    }

    #[test]
    fn plain_datagrams_take_the_short_way() {
        let query = [
            &[0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, UDP, 0, 0][..],
            &[9; 8],
            &[7, 7, 0, 53, 0, 11, 0, 0, 1, 2, 3, 0, 0],
        ]
        .concat();
        let message = plain_datagram(&packet(&query, LINK_TYPE_RAW), &Ports::default()).unwrap();
        assert_eq!(
            (message.octets, message.destination.port),
            (&[1, 2, 3][..], 53)
        );
    }
}

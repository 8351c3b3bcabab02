//! What one packet holds.

use super::buffer::{LINK_TYPE_MESSAGE, Packet, message_of};
use crate::message::{Endpoint, Message, Transport};
use dnsrig_stream::capture::ip::{IpPacket, NoPayload, TCP, UDP, Udp};
use dnsrig_stream::capture::link::Frame;
use serde::{Deserialize, Serialize};

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
    pub fn contains(&self, port: u16) -> bool {
        self.0.contains(&port)
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
#[inline]
pub(super) fn udp<'a>(
    packet: &Packet<'_>,
    ip: &IpPacket<'a>,
    ports: &Ports,
) -> Option<Decoded<'a>> {
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
        number: packet.at.number,
    }))
}

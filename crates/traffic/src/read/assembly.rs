//! What needs the packets before it: TCP connections and IP fragments.

mod fragments;
mod sessions;

pub use fragments::FragmentCounts;
pub use sessions::SessionCounts;

use super::decode::{Decoded, LINK_TYPE_RAW, LeftOut, decode};
use super::{Datagrams, Packet, Ports};
use crate::message::{Endpoint, Message, SentLen, Transport};
use dnsrig_stream::capture::ip::{IpPacket, NoPayload, TCP};
use dnsrig_stream::capture::link::Frame;
use dnsrig_stream::capture::tcp::{FlowKey, Segment, TcpFlows, TcpMessage, Wanted};
use fragments::Fragments;
use serde::{Deserialize, Serialize};
use sessions::Sessions;
use std::net::{IpAddr, Ipv6Addr};

/// What was seen of TCP to and from DNS ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCounts {
    /// Segments, those without data and those that could not be read included.
    pub packets: u64,
    /// Messages taken out of them.
    pub messages: u64,
    /// Connections.
    pub sessions: SessionCounts,
    /// Segments whose data had been there before.
    pub retransmitted: u64,
    /// Gaps: data that were not captured, or that came too late.
    pub gaps: u64,
    /// Segments with data that could not be used, as it is not known where in them a message begins: after a gap, or because
    /// the connection's beginning was not captured.
    pub unplaced: u64,
    /// Messages of which only the beginning was there when the connection ended, or when a gap followed.
    pub incomplete: u64,
    /// Ends of connections that were read from a wrong place on until what followed was no message.
    pub misplaced: u64,
}

/// What was put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssemblyCounts {
    /// TCP.
    pub tcp: TcpCounts,
    /// Fragments of IP packets.
    pub fragments: FragmentCounts,
    /// Packets, put together from fragments, that hold nothing of DNS.
    pub not_dns: u64,
}

impl AssemblyCounts {
    /// Adds the counts of another capture.
    pub fn add(&mut self, other: &Self) {
        self.tcp.add(&other.tcp);
        self.fragments.add(&other.fragments);
        self.not_dns += other.not_dns;
    }
}

impl TcpCounts {
    /// Adds the counts of another capture.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.messages += other.messages;
        self.sessions.add(&other.sessions);
        self.retransmitted += other.retransmitted;
        self.gaps += other.gaps;
        self.unplaced += other.unplaced;
        self.incomplete += other.incomplete;
        self.misplaced += other.misplaced;
    }
}

/// Puts together TCP connections and fragments.
///
/// Memory is bounded: for TCP to about 100 MiB, for fragments to 32 MiB; what is idle for longest is given up first.
#[derive(Debug)]
pub struct Assembly {
    flows: TcpFlows,
    sessions: Sessions,
    fragments: Fragments,
    not_dns: u64,
    /// The number of the packet that came last.
    number: u64,
}

impl Default for Assembly {
    fn default() -> Self {
        Self {
            flows: TcpFlows::new(Wanted::Messages),
            sessions: Sessions::default(),
            fragments: Fragments::default(),
            not_dns: 0,
            number: 0,
        }
    }
}

impl Assembly {
    /// Takes a packet that [`super::decode`] calls [`super::Decoded::InOrder`]; messages that are whole now go to `sink`.
    pub fn packet(
        &mut self,
        packet: &Packet<'_>,
        ports: &Ports,
        sink: &mut impl FnMut(Message<'_>),
    ) {
        self.number = packet.at.number;
        let frame = Frame::parse(packet.at.link_type, packet.octets);
        match IpPacket::parse(frame) {
            Ok(ip) if ip.protocol == TCP => self.segment(packet, &ip, sink),
            Err(NoPayload::Fragment) => {
                let Some(whole) = self
                    .fragments
                    .take(frame, packet.is_cut(), packet.at.time_ns)
                else {
                    return;
                };
                self.whole_packet(packet, &whole, ports, sink);
            }
            // Nothing else is given to an assembly.
            _ => self.not_dns += 1,
        }
    }

    /// Takes `octets`, a packet put together of fragments, of which `last` was the last.
    fn whole_packet(
        &mut self,
        last: &Packet<'_>,
        octets: &[u8],
        ports: &Ports,
        sink: &mut impl FnMut(Message<'_>),
    ) {
        let mut at = last.at;
        (at.len, at.original_len) = (octets.len() as u32, octets.len() as u32);
        at.link_type = LINK_TYPE_RAW;
        let whole = Packet { octets, at };
        match decode(&whole, ports) {
            Decoded::Message(message) => Datagrams::or_itself(message).for_each(sink),
            Decoded::InOrder => match IpPacket::parse(Frame::parse(at.link_type, octets)) {
                Ok(ip) if ip.protocol == TCP => self.segment(&whole, &ip, sink),
                _ => self.not_dns += 1,
            },
            Decoded::LeftOut(LeftOut::BadHeader) => self.fragments.counts.bad += 1,
            Decoded::LeftOut(_) => self.not_dns += 1,
        }
    }

    fn segment(
        &mut self,
        packet: &Packet<'_>,
        ip: &IpPacket<'_>,
        sink: &mut impl FnMut(Message<'_>),
    ) {
        let (Some(segment), Some(flags)) = (Segment::parse(ip.payload), ip.payload.get(13)) else {
            self.sessions.counts.bad_header += 1;
            return;
        };
        let key = FlowKey {
            client: mapped(ip.source),
            server: mapped(ip.destination),
            client_port: segment.source,
            server_port: segment.destination,
        };
        let has_data = !segment.data.is_empty() || ip.missing > 0;
        self.sessions
            .segment(&key, *flags, segment.sequence, has_data);
        let number = packet.at.number;
        let taken = self.flows.segment(
            key,
            segment,
            ip.missing,
            packet.at.time_ns,
            &mut |message| sink(message_of(message, number)),
        );
        if taken.is_err() {
            self.sessions.counts.given_up += 1;
        }
    }

    /// Ends everything that is open, which may give further messages to `sink`; gives what was counted.
    pub fn finish(mut self, sink: &mut impl FnMut(Message<'_>)) -> AssemblyCounts {
        let number = self.number;
        self.flows
            .finish(&mut |message| sink(message_of(message, number)));
        let seen = self.flows.summary;
        let sessions = self.sessions.finish();
        AssemblyCounts {
            tcp: TcpCounts {
                packets: seen.segments + sessions.bad_header + sessions.given_up,
                messages: seen.messages,
                sessions,
                retransmitted: seen.retransmitted,
                gaps: seen.gaps,
                unplaced: seen.unplaced,
                incomplete: seen.incomplete,
                misplaced: seen.misplaced,
            },
            fragments: self.fragments.finish(),
            not_dns: self.not_dns,
        }
    }
}

/// A message of TCP, which may come from either end: the flow's client is who sent it.
fn message_of(message: TcpMessage<'_>, number: u64) -> Message<'_> {
    let flow = message.flow;
    Message {
        time_ns: message.time_ns,
        source: endpoint(flow.client, flow.client_port),
        destination: endpoint(flow.server, flow.server_port),
        transport: Transport::Tcp,
        octets: message.octets,
        is_cut: false,
        sent_len: SentLen::Own,
        number,
    }
}

/// The address in 128 bits, IPv4 mapped to IPv6 (RFC 4291 section 2.5.5.2).
fn mapped(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn endpoint(address: u128, port: u16) -> Endpoint {
    let address = Ipv6Addr::from_bits(address);
    match address.to_ipv4_mapped() {
        Some(address) => Endpoint::new(address, port),
        None => Endpoint::new(address, port),
    }
}

//! From packets to the queries of a stream.

use super::clients::Clients;
use super::dns::{NoQuery, check_query};
use super::ip::{IpPacket, NoPayload, TCP, UDP, Udp};
use super::link::Frame;
use super::merged::Datagrams;
use super::options::CaptureOptions;
use super::packet::CapturedPacket;
use super::summary::{CaptureSummary, MessagesLeftOut};
use super::tcp::{FlowKey, Segment, TcpFlows, TcpMessage};
use crate::halt::Halt;
use crate::stream::QueryStream;
use crate::timed::TimedQueries;
use std::net::IpAddr;

/// Takes packets one after the other, and has the stream of their queries at the end.
pub struct CapturedQueries<'o> {
    options: &'o CaptureOptions,
    summary: CaptureSummary,
    flows: TcpFlows,
    messages: Messages,
    last_time_ns: i64,
}

impl<'o> CapturedQueries<'o> {
    pub fn new(options: &'o CaptureOptions) -> Self {
        Self {
            options,
            summary: CaptureSummary::default(),
            flows: TcpFlows::default(),
            messages: Messages {
                by_port: options.client_by_port,
                max_queries: options.max_queries.unwrap_or(u64::MAX),
                max_span_ns: options.max_span_ns,
                queries: TimedQueries::default(),
                packet: 0,
                clients: Clients::default(),
                left_out: MessagesLeftOut::default(),
                is_full: options.max_queries == Some(0),
                halt: None,
            },
            last_time_ns: 0,
        }
    }

    /// Takes a packet; says whether further ones are wanted.
    pub fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<bool, Halt> {
        self.summary.packets += 1;
        self.messages.packet = self.summary.packets;
        match packet.time_ns {
            Some(time_ns) => self.last_time_ns = time_ns,
            None => self.summary.without_time += 1,
        }
        let frame = Frame::parse(packet.link_type, packet.octets);
        let left_out = match IpPacket::parse(frame) {
            Ok(ip) if ip.protocol == UDP => self.udp(&ip, packet.is_cut),
            Ok(ip) if ip.protocol == TCP => self.tcp(&ip, packet.is_cut),
            Ok(_) => Some(LeftOut::OtherProtocol),
            Err(NoPayload::NotIp) => Some(LeftOut::NotIp),
            Err(NoPayload::UnknownLink) => Some(LeftOut::UnknownLink),
            Err(NoPayload::Fragment) => Some(LeftOut::Fragment),
            Err(NoPayload::TooShort) => Some(incomplete(packet.is_cut)),
            Err(NoPayload::BadHeader) => Some(LeftOut::BadHeader),
        };
        if let Some(left_out) = left_out {
            *self.count_of(left_out) += 1;
        }
        match self.messages.halt {
            Some(halt) => Err(halt),
            None => Ok(!self.messages.is_full),
        }
    }

    /// Notes that the file ends inside a packet.
    pub fn ends_inside_packet(&mut self) {
        self.summary.ends_inside_packet = true;
        self.summary.cut_packet = Some(self.summary.packets + 1);
    }

    /// The stream of all queries, and what was counted.
    pub fn finish(mut self) -> Result<(QueryStream, CaptureSummary), Halt> {
        let mut summary = self.summary;
        summary.stopped_at_limit = self.messages.is_full;
        self.flows.finish(&mut |message| self.messages.tcp(message));
        if let Some(halt) = self.messages.halt {
            return Err(halt);
        }
        let (stream, times) = self.messages.queries.finish()?;
        summary.tcp = self.flows.summary;
        summary.messages_left_out = self.messages.left_out;
        summary.queries = stream.len() as u64;
        summary.clients = stream.client_count();
        summary.span_ns = stream.span_ns();
        summary.start_unix_ns = times.start_ns;
        summary.out_of_order = times.out_of_order;
        summary.clock_jump = times.clock_jump;
        Ok((stream, summary))
    }

    fn udp(&mut self, ip: &IpPacket<'_>, is_cut: bool) -> Option<LeftOut> {
        let Some(udp) = Udp::parse(ip.payload) else {
            return Some(incomplete(is_cut));
        };
        if let Some(left_out) = self.not_to_server(udp.source, udp.destination, ip.destination) {
            return Some(left_out);
        }
        let Some(message) = udp.payload else {
            return Some(incomplete(is_cut));
        };
        let client = (mapped(ip.source), udp.source);
        let Some(merged) = Datagrams::of(message, false) else {
            self.summary.udp_datagrams += 1;
            self.messages.message(self.last_time_ns, client, message);
            return None;
        };
        for (place, (message, _)) in merged.enumerate() {
            self.summary.udp_datagrams += 1;
            self.summary.udp_merged += u64::from(place > 0);
            self.messages.message(self.last_time_ns, client, message);
        }
        None
    }

    fn tcp(&mut self, ip: &IpPacket<'_>, is_cut: bool) -> Option<LeftOut> {
        let Some(segment) = Segment::parse(ip.payload) else {
            return Some(incomplete(is_cut));
        };
        if let Some(left_out) =
            self.not_to_server(segment.source, segment.destination, ip.destination)
        {
            return Some(left_out);
        }
        if self.options.only_udp {
            return Some(LeftOut::Tcp);
        }
        let key = FlowKey {
            client: mapped(ip.source),
            server: mapped(ip.destination),
            client_port: segment.source,
            server_port: segment.destination,
        };
        let taken = self.flows.segment(
            key,
            segment,
            ip.missing,
            self.last_time_ns,
            &mut |message| {
                self.messages.tcp(message);
            },
        );
        if let Err(error) = taken {
            self.messages.halt = Some(error.into());
        }
        None
    }

    /// Why a packet with these ports does not go to a server that is wanted, if so.
    fn not_to_server(&self, source: u16, destination: u16, server: IpAddr) -> Option<LeftOut> {
        let (ports, servers) = (&self.options.ports, &self.options.servers);
        if !ports.contains(&destination) {
            return Some(match ports.contains(&source) {
                true => LeftOut::FromServer,
                false => LeftOut::OtherPort,
            });
        }
        let is_wanted = servers.is_empty() || servers.iter().any(|prefix| prefix.contains(server));
        (!is_wanted).then_some(LeftOut::OtherServer)
    }

    fn count_of(&mut self, left_out: LeftOut) -> &mut u64 {
        let counts = &mut self.summary.packets_left_out;
        match left_out {
            LeftOut::NotIp => &mut counts.not_ip,
            LeftOut::UnknownLink => &mut counts.unknown_link,
            LeftOut::Fragment => &mut counts.fragments,
            LeftOut::Truncated => &mut counts.truncated,
            LeftOut::BadHeader => &mut counts.bad_header,
            LeftOut::OtherProtocol => &mut counts.other_protocol,
            LeftOut::OtherPort => &mut counts.other_port,
            LeftOut::FromServer => &mut counts.from_server,
            LeftOut::OtherServer => &mut counts.other_server,
            LeftOut::Tcp => &mut counts.tcp,
        }
    }
}

/// Why a packet is left out.
#[derive(Clone, Copy)]
enum LeftOut {
    NotIp,
    UnknownLink,
    Fragment,
    Truncated,
    BadHeader,
    OtherProtocol,
    OtherPort,
    FromServer,
    OtherServer,
    Tcp,
}

/// What a packet is that ends too early.
fn incomplete(is_cut: bool) -> LeftOut {
    if is_cut {
        LeftOut::Truncated
    } else {
        LeftOut::BadHeader
    }
}

/// The address in 128 bits, IPv4 mapped to IPv6 (RFC 4291 section 2.5.5.2).
fn mapped(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The queries among the messages.
struct Messages {
    by_port: bool,
    max_queries: u64,
    max_span_ns: Option<u64>,
    queries: TimedQueries,
    /// The packet that was read last, counted from 1.
    packet: u64,
    clients: Clients,
    left_out: MessagesLeftOut,
    /// Whether a limit was reached.
    is_full: bool,
    /// Why no further query can be taken, if so.
    halt: Option<Halt>,
}

impl Messages {
    fn tcp(&mut self, message: TcpMessage<'_>) {
        let client = (message.flow.client, message.flow.client_port);
        self.message(message.time_ns, client, message.octets);
    }

    fn message(&mut self, time_ns: i64, (address, port): (u128, u16), message: &[u8]) {
        if let Err(no_query) = check_query(message) {
            match no_query {
                NoQuery::Response => self.left_out.responses += 1,
                NoQuery::OtherOpcode => self.left_out.other_opcode += 1,
                NoQuery::Malformed => self.left_out.malformed += 1,
            }
            return;
        }
        if self.is_full || self.is_too_late(time_ns) {
            self.is_full = true;
            self.left_out.beyond_limit += 1;
            return;
        }
        match self.take(time_ns, (address, port), message) {
            Ok(()) => self.is_full = self.queries.len() as u64 >= self.max_queries,
            Err(halt) => self.halt = Some(halt),
        }
    }

    fn take(
        &mut self,
        time_ns: i64,
        (address, port): (u128, u16),
        message: &[u8],
    ) -> Result<(), Halt> {
        let port = if self.by_port { port } else { 0 };
        let client = self.clients.number(address, port)?;
        self.queries.push(time_ns, client, self.packet, |octets| {
            // The sender gives every message an ID.
            octets.extend_from_slice(&[0, 0]);
            octets.extend_from_slice(&message[2..]);
        })
    }

    fn is_too_late(&self, time_ns: i64) -> bool {
        let first = self.queries.first_time_ns();
        self.max_span_ns
            .zip(first)
            .is_some_and(|(span, first)| i128::from(time_ns) - i128::from(first) > i128::from(span))
    }
}

//! What a capture held, and what became of it.

use crate::timed::ClockJump;
use serde::Serialize;
use std::fmt;

/// What was read from a capture. Every packet is counted in one place: `packets` is the sum of `packets_left_out`,
/// `udp_datagrams` less `udp_merged`, and `tcp.segments`; and `udp_datagrams` with `tcp.messages` is the sum of `queries` and
/// `messages_left_out`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaptureSummary {
    /// Queries in the stream.
    pub queries: u64,
    /// Clients that sent them.
    pub clients: u32,
    /// When the first query was captured, in ns since 1970.
    pub start_unix_ns: i64,
    /// Time from the first query to the last in ns.
    pub span_ns: u64,
    /// Queries that stood after one with a later time, and were sorted.
    pub out_of_order: u64,
    /// Packets read.
    pub packets: u64,
    /// UDP datagrams to the server.
    pub udp_datagrams: u64,
    /// Those of them that stand in the packet of another one before them: see [`super::merged`].
    pub udp_merged: u64,
    /// TCP to the server.
    pub tcp: TcpSummary,
    /// Packets that were no use.
    pub packets_left_out: PacketsLeftOut,
    /// Messages that were no queries.
    pub messages_left_out: MessagesLeftOut,
    /// Packets without a time of their own, which got that of the packet before.
    pub without_time: u64,
    /// Whether reading ended at a limit that was asked for.
    pub stopped_at_limit: bool,
    /// Whether the file ends inside a packet, as when the capture was still being written.
    pub ends_inside_packet: bool,
    /// The packet, counted from 1, inside or just before which the file ends so.
    pub cut_packet: Option<u64>,
    /// Where the clock of the capture jumped by more than a query stream can be replayed over.
    #[serde(skip)]
    pub clock_jump: Option<ClockJump>,
}

/// Packets that were left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketsLeftOut {
    /// Neither IPv4 nor IPv6.
    pub not_ip: u64,
    /// Of a link type that is not known.
    pub unknown_link: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Cut off by the snapshot length before the end of a UDP datagram, or inside a header.
    pub truncated: u64,
    /// With headers that contradict themselves.
    pub bad_header: u64,
    /// Neither UDP nor TCP.
    pub other_protocol: u64,
    /// Neither to nor from a DNS port.
    pub other_port: u64,
    /// From a DNS port: what servers send.
    pub from_server: u64,
    /// To a DNS port of a server that was not asked for.
    pub other_server: u64,
    /// TCP, when only UDP was asked for.
    pub tcp: u64,
}

/// Messages that were left out, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessagesLeftOut {
    /// With QR=1.
    pub responses: u64,
    /// With an opcode other than QUERY.
    pub other_opcode: u64,
    /// Without a whole header and a question section as queries have.
    pub malformed: u64,
    /// Queries after a limit that was asked for.
    pub beyond_limit: u64,
}

/// What TCP to the server had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpSummary {
    /// Segments, those without data included.
    pub segments: u64,
    /// Messages taken out of them.
    pub messages: u64,
    /// Segments whose data had been there before.
    pub retransmitted: u64,
    /// Gaps: data that were not captured, or that came too late.
    pub gaps: u64,
    /// Segments with data that could not be used, as it is not known where in them a message begins: after a gap, or
    /// because the connection's beginning was not captured.
    pub unplaced: u64,
    /// Messages of which only the beginning was there when the connection ended, or when a gap followed.
    pub incomplete: u64,
    /// Ends of connections that were read from a wrong place on, as what is inside a message looked like one: what followed there was no
    /// message, so the place was looked for again. One end may be so several times.
    pub misplaced: u64,
}

impl fmt::Display for CaptureSummary {
    /// Writes what the capture held beside queries, for an error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left_out, messages) = (&self.packets_left_out, &self.messages_left_out);
        let counts = [
            (left_out.not_ip, "not IP"),
            (left_out.unknown_link, "of an unknown link type"),
            (left_out.fragments, "fragments"),
            (left_out.truncated, "cut off by the snapshot length"),
            (left_out.bad_header, "with bad headers"),
            (left_out.other_protocol, "neither UDP nor TCP"),
            (left_out.other_port, "of other ports"),
            (left_out.from_server, "from servers"),
            (left_out.other_server, "to other servers"),
            (left_out.tcp, "TCP"),
            (self.tcp.segments, "TCP segments without a whole query"),
            (messages.responses, "responses"),
            (messages.other_opcode, "of another opcode"),
            (messages.malformed, "malformed messages"),
        ];
        write!(f, "{} packets", self.packets)?;
        for (place, (count, what)) in counts.iter().filter(|(count, _)| *count > 0).enumerate() {
            let separator = if place == 0 { ", of which " } else { ", " };
            write!(f, "{separator}{count} {what}")?;
        }
        if left_out.fragments > 0 {
            f.write_str(
                "; 'dnsrig traffic filter query FILE -f whole.pcap' puts fragments together",
            )?;
        }
        if let Some(packet) = self.cut_packet {
            write!(f, "; the file is cut off inside packet {packet}")?;
        }
        Ok(())
    }
}

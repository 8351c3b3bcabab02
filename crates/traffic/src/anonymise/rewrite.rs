//! From packets to packets: messages in one packet on all cores, what needs the packets before it in order.

use super::counts::{AnonymiseSummary, ContentCounts, MessageCounts};
use super::cryptopan::CachedPan;
use super::encode::{Encoder, MessageLeftOut, Rules};
use super::packets::{Packet, Way};
use super::seen::{Original, Seen};
use super::sessions::Sessions;
use crate::TrafficError;
use crate::message::{Endpoint, Message, Transport};
use crate::read::{
    self, Assembly, Chunk, Datagrams, Decoded, LINK_TYPE_MESSAGE, PacketAt, PacketCounts, PerChunk,
    Ports, decode,
};
use crate::write::holds_time;
use dnsrig_stream::capture::ip::{IpPacket, TCP};
use dnsrig_stream::capture::link::Frame;
use std::net::IpAddr;
use std::ops::Range;

/// The port of servers whose own the capture does not tell, or is one of an encrypted transport.
const DNS_PORT: u16 = 53;
const LINK_TYPE_ETHERNET: u16 = 1;
const LINK_TYPE_LINUX_COOKED: u16 = 113;
const FLAGS_AT: usize = 13;

/// What is done with every chunk.
pub struct Rewriting<'k> {
    rules: Rules<'k>,
    ports: &'k Ports,
}

impl<'k> Rewriting<'k> {
    pub fn new(rules: &Rules<'k>, ports: &'k Ports) -> Self {
        Self {
            rules: *rules,
            ports,
        }
    }
}

/// What a chunk became.
#[derive(Default)]
pub struct Part {
    /// Records of the capture that is written.
    records: Vec<u8>,
    /// Packets that need those before them: where their records go among the others, and where in `copied` they are.
    waiting: Vec<(usize, PacketAt, Range<usize>)>,
    copied: Vec<u8>,
}

/// What a thread keeps.
pub struct Worker<'k> {
    encoder: Encoder<'k>,
    ethernet: NotedEthernet,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    left_out: PacketCounts,
    messages: MessageCounts,
    in_clear: u64,
}

impl Worker<'_> {
    /// Adds what was counted.
    pub fn add_to(&self, summary: &mut AnonymiseSummary) {
        self.counts.add_to(&self.encoder.counts, summary);
    }
}

impl Counts {
    fn add_to(&self, contents: &ContentCounts, summary: &mut AnonymiseSummary) {
        summary.left_out.add(&self.left_out);
        summary.messages.add(&self.messages);
        summary.contents.add(contents);
        summary.in_clear += self.in_clear;
    }
}

impl<'k> PerChunk for Rewriting<'k> {
    type Worker = Worker<'k>;
    type Part = Part;

    fn worker(&self) -> Worker<'k> {
        Worker {
            encoder: Encoder::new(&self.rules),
            ethernet: NotedEthernet::default(),
            counts: Counts::default(),
        }
    }

    fn chunk(&self, worker: &mut Worker<'k>, chunk: &Chunk<'_>) -> Part {
        let mut part = Part {
            records: Vec::with_capacity(chunk.octets.len() + chunk.octets.len() / 8),
            ..Part::default()
        };
        for packet in chunk.iter() {
            worker.ethernet.note(&packet, self.rules.seen);
            match decode(&packet, self.ports) {
                Decoded::Message(message) if !is_stream(message.transport) => {
                    let link_type = packet.at.link_type;
                    worker.datagrams(&message, link_type, self.ports, &mut part.records);
                }
                Decoded::Message(_) | Decoded::InOrder => {
                    let start = part.copied.len();
                    part.copied.extend_from_slice(packet.octets);
                    let range = start..part.copied.len();
                    part.waiting.push((part.records.len(), packet.at, range));
                }
                Decoded::LeftOut(why) => worker.counts.left_out.count(why),
            }
        }
        part
    }
}

impl Worker<'_> {
    /// Appends a message as a UDP datagram, or those of several datagrams that stand as one packet.
    fn datagrams(
        &mut self,
        message: &Message<'_>,
        link_type: u16,
        ports: &Ports,
        output: &mut Vec<u8>,
    ) {
        // A message that ends with its packet, as nearly all do, is the only one: the encoding tells, and saves reading
        // each message once more.
        let (start, before, in_clear) = (output.len(), self.encoder.counts, self.counts.in_clear);
        let outcome = self.encoded(message, link_type, ports, output);
        let is_alone = outcome.is_ok() && self.encoder.counts.octets_after == before.octets_after;
        let all = if is_alone {
            None
        } else {
            Datagrams::of(message)
        };
        let Some(all) = all else {
            self.counts.messages.count(outcome);
            return;
        };
        output.truncate(start);
        (self.encoder.counts, self.counts.in_clear) = (before, in_clear);
        for message in all {
            self.datagram(&message, link_type, ports, output);
        }
    }

    /// Appends a message as a UDP datagram.
    fn datagram(
        &mut self,
        message: &Message<'_>,
        link_type: u16,
        ports: &Ports,
        output: &mut Vec<u8>,
    ) {
        let outcome = self.encoded(message, link_type, ports, output);
        self.counts.messages.count(outcome);
    }

    /// Appends a message as a UDP datagram, which is not counted yet.
    fn encoded(
        &mut self,
        message: &Message<'_>,
        link_type: u16,
        ports: &Ports,
        output: &mut Vec<u8>,
    ) -> Result<(), MessageLeftOut> {
        if let Some(why) = left_out(message) {
            return Err(why);
        }
        let way = self.way(message, link_type, ports);
        let packet = Packet::begin(way, None, output);
        match self.encoder.encode(message.octets, output) {
            Err(why) => {
                packet.drop_from(output);
                Err(why)
            }
            Ok(()) if packet.finish(message.time_ns, output) => Ok(()),
            Ok(()) => Err(MessageLeftOut::TooLong),
        }
    }

    /// Where what stands for a message goes.
    fn way(&mut self, message: &Message<'_>, link_type: u16, ports: &Ports) -> Way {
        let mut way = Way {
            source: message.source,
            destination: message.destination,
        };
        if link_type == LINK_TYPE_MESSAGE {
            let is_answer = message.octets.get(2).is_some_and(|flags| flags & 0x80 != 0);
            let server = match is_answer {
                true => &mut way.source,
                false => &mut way.destination,
            };
            if !ports.contains(server.port) {
                server.port = ports.0.first().copied().unwrap_or(DNS_PORT);
            }
            let is_encrypted = matches!(
                message.transport,
                Transport::Tls | Transport::Https | Transport::Quic
            );
            self.counts.in_clear += u64::from(is_encrypted);
        }
        mapped(way, &mut self.encoder.hosts)
    }
}

/// Why a message is left out whatever is in it.
fn left_out(message: &Message<'_>) -> Option<MessageLeftOut> {
    match message {
        _ if message.is_cut => Some(MessageLeftOut::Cut),
        _ if !holds_time(message.time_ns) => Some(MessageLeftOut::Time),
        _ => None,
    }
}

/// Whether messages of `transport` are written as TCP.
fn is_stream(transport: Transport) -> bool {
    matches!(
        transport,
        Transport::Tcp | Transport::Tls | Transport::Https
    )
}

/// Maps the addresses of `way`.
fn mapped(way: Way, hosts: &mut CachedPan<'_>) -> Way {
    let mut end = |end: Endpoint| {
        let address: IpAddr = match end.address {
            IpAddr::V4(address) => IpAddr::V4(hosts.v4(address.to_bits()).into()),
            IpAddr::V6(address) => IpAddr::V6(hosts.v6(address.to_bits()).into()),
        };
        Endpoint::new(address, end.port)
    };
    Way {
        source: end(way.source),
        destination: end(way.destination),
    }
}

/// The Ethernet addresses of packets, which must not be in the output. A link has few, so that the last ones need not be noted again.
#[derive(Default)]
struct NotedEthernet {
    last: [u64; 4],
    next: usize,
}

impl NotedEthernet {
    /// Notes those of a packet.
    fn note(&mut self, packet: &read::Packet<'_>, seen: &Seen) {
        let octets = match packet.at.link_type {
            LINK_TYPE_ETHERNET => packet.octets.get(..12),
            LINK_TYPE_LINUX_COOKED => packet.octets.get(6..12),
            _ => None,
        };
        for address in octets.unwrap_or_default().as_chunks().0 {
            let [a, b, c, d, e, f] = *address;
            let number = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
            if !self.last.contains(&number) {
                seen.original(Original::Ethernet(*address));
                self.last[self.next] = number;
                self.next = (self.next + 1) % self.last.len();
            }
        }
    }
}

/// Where records go.
type Write<'w> = dyn FnMut(&[u8]) -> Result<(), TrafficError> + 'w;

/// What is done in the order of the capture.
pub struct InOrder<'k> {
    worker: Worker<'k>,
    ports: &'k Ports,
    assembly: Assembly,
    sessions: Sessions,
}

impl<'k> InOrder<'k> {
    pub fn new(rules: &Rules<'k>, ports: &'k Ports) -> Self {
        Self {
            worker: Worker {
                encoder: Encoder::new(rules),
                ethernet: NotedEthernet::default(),
                counts: Counts::default(),
            },
            ports,
            assembly: Assembly::default(),
            sessions: Sessions::default(),
        }
    }

    /// Writes what the next chunk became.
    pub fn part(&mut self, part: &Part, write: &mut Write<'_>) -> Result<(), TrafficError> {
        let mut written = 0;
        for (place, at, range) in &part.waiting {
            write(&part.records[written..*place])?;
            written = *place;
            let packet = read::Packet {
                octets: &part.copied[range.clone()],
                at: *at,
            };
            let mut records = Vec::new();
            self.packet(&packet, &mut records);
            write(&records)?;
        }
        write(&part.records[written..])
    }

    /// Ends everything that is open.
    pub fn finish(mut self, write: &mut Write<'_>) -> Result<AnonymiseSummary, TrafficError> {
        let mut records = Vec::new();
        let (worker, sessions, ports) = (&mut self.worker, &mut self.sessions, self.ports);
        let assembly = std::mem::take(&mut self.assembly);
        let counts = assembly.finish(&mut |message| {
            worker.message(&message, 0, ports, sessions, &mut records);
        });
        write(&records)?;
        let mut summary = AnonymiseSummary {
            assembly: counts,
            ..AnonymiseSummary::default()
        };
        self.worker.add_to(&mut summary);
        Ok(summary)
    }

    /// Appends what stands for a packet.
    fn packet(&mut self, packet: &read::Packet<'_>, records: &mut Vec<u8>) {
        let (worker, sessions, ports) = (&mut self.worker, &mut self.sessions, self.ports);
        if let Decoded::Message(message) = decode(packet, ports) {
            worker.message(&message, packet.at.link_type, ports, sessions, records);
            return;
        }
        let segment = segment(packet);
        let mut data = Vec::new();
        self.assembly.packet(packet, ports, &mut |message| {
            let way = Way {
                source: message.source,
                destination: message.destination,
            };
            match segment {
                Some((this, _)) if this == way && message.transport == Transport::Tcp => {
                    worker.framed(&message, &mut data);
                }
                _ => worker.message(&message, packet.at.link_type, ports, sessions, records),
            }
        });
        if let Some((way, flags)) = segment {
            let way = mapped(way, &mut worker.encoder.hosts);
            sessions.segment(way, flags, &data, packet.at.time_ns, records);
        }
    }
}

/// The way of a TCP segment, and its flags.
fn segment(packet: &read::Packet<'_>) -> Option<(Way, u8)> {
    let ip = IpPacket::parse(Frame::parse(packet.at.link_type, packet.octets)).ok()?;
    if ip.protocol != TCP {
        return None;
    }
    let port = |at: usize| Some(u16::from_be_bytes(*ip.payload.get(at..)?.first_chunk()?));
    let way = Way {
        source: Endpoint::new(ip.source, port(0)?),
        destination: Endpoint::new(ip.destination, port(2)?),
    };
    Some((way, *ip.payload.get(FLAGS_AT)?))
}

impl Worker<'_> {
    /// Appends a message in packets of its own.
    fn message(
        &mut self,
        message: &Message<'_>,
        link_type: u16,
        ports: &Ports,
        sessions: &mut Sessions,
        records: &mut Vec<u8>,
    ) {
        if !is_stream(message.transport) {
            self.datagram(message, link_type, ports, records);
            return;
        }
        let way = self.way(message, link_type, ports);
        let mut data = Vec::new();
        if self.framed(message, &mut data) {
            sessions.data(way, &data, message.time_ns, records);
        }
    }

    /// Appends a message after its length (RFC 1035 section 4.2.2); says whether it was not left out.
    fn framed(&mut self, message: &Message<'_>, data: &mut Vec<u8>) -> bool {
        let start = data.len();
        data.extend_from_slice(&[0, 0]);
        let encoded = match left_out(message) {
            Some(why) => Err(why),
            None => self.encoder.encode(message.octets, data),
        };
        self.counts.messages.count(encoded);
        if encoded.is_err() {
            data.truncate(start);
            return false;
        }
        // No message is encoded longer than 65535 octets.
        let len = (data.len() - start - 2) as u16;
        data[start..start + 2].copy_from_slice(&len.to_be_bytes());
        true
    }
}

//! One pass over captures, on all cores, that writes every packet or message into the output that it is for.

mod output;
mod part;

use super::expression::Travel;
use crate::error::TrafficError;
use crate::message::{Endpoint, Message, Transport};
use crate::read::{
    Assembly, Chunk, Datagrams, Decoded, LINK_TYPE_MESSAGE, Packet, PacketCounts, PerChunk, Ports,
    ReadSummary, Reading, decode, found, run,
};
use crate::wire::View;
use crate::write::{OutputFile, PcapWriter, holds_time};
use dnsrig_stream::capture::ip::{IpPacket, TCP};
use dnsrig_stream::capture::link::Frame;
use dnsrig_stream::capture::tcp::Segment;
use output::Output;
use part::{Kind, Part};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

/// Decides where packets and messages go. A place is the number of an output; none is nowhere.
pub(super) trait Select: Sync {
    /// What threads count, added up at the end.
    type Tally: Default + Send;

    /// Whether TCP segments stay as they are, each at its [`Select::segment`]; else messages are taken out of them.
    fn keeps_segments(&self) -> bool;

    /// The place of a TCP segment that travelled so.
    fn segment(&self, travel: &Travel) -> Option<usize>;

    /// The place of a message; `view` is none if it is no whole one. Of one in segments that stay as they are, the place
    /// does not count.
    fn message(
        &self,
        tally: &mut Self::Tally,
        travel: &Travel,
        message: &Message<'_>,
        view: Option<&View<'_>>,
    ) -> Option<usize>;

    /// Adds what another thread counted.
    fn add(tally: &mut Self::Tally, other: Self::Tally);
}

/// What was read, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Passed {
    /// What was read.
    pub read: ReadSummary,
    /// Packets that hold nothing of DNS, and are in no output.
    pub packets_left_out: PacketCounts,
    /// DNS messages.
    pub messages: u64,
    /// Those of them that are not whole, or have fewer octets than were sent.
    pub malformed: u64,
    /// Packets in each output.
    pub packets_written: Vec<u64>,
    /// Packets and messages that no packet of their output's link type can hold.
    pub not_written: u64,
    /// Those that are from before 1970 or after 2106, times that no pcap file can hold.
    pub not_written_time: u64,
}

/// When an output's packet is said to be, instead of when it was; an error if it cannot be said.
pub(super) type Clock<'c> = &'c mut (dyn FnMut(i64) -> Result<i64, TrafficError> + Send);

/// Reads everything once and writes what `select` gives a place into the pcap files `outputs`, at the time of `clock`.
pub(super) fn pass<S: Select>(
    reading: &Reading<'_>,
    select: &S,
    outputs: &[PathBuf],
    clock: Option<Clock<'_>>,
) -> Result<(Passed, S::Tally), TrafficError> {
    let files = outputs.iter().map(|path| OutputFile::create(path));
    let writers = files.map(|file| file.map(PcapWriter::new));
    let selection = Selection {
        select,
        ports: reading.ports,
        spare: Mutex::new(Vec::new()),
    };
    let mut writing = Writing {
        assembly: Assembly::default(),
        output: Output {
            selection: &selection,
            writers: writers.collect::<Result<_, _>>()?,
            paths: outputs,
            counted: Counted::default(),
            not_written: 0,
            not_written_time: 0,
            clock,
            error: None,
        },
    };
    let (read, workers) = run(reading, &selection, |part| writing.part(part))?;
    let mut output = writing.end_connections();
    for worker in workers {
        output.counted.add::<S>(worker);
    }
    let passed = Passed {
        read,
        packets_left_out: output.counted.left_out,
        messages: output.counted.messages,
        malformed: output.counted.malformed,
        packets_written: output.writers.iter().map(PcapWriter::packets).collect(),
        not_written: output.not_written,
        not_written_time: output.not_written_time,
    };
    if output.counted.readable == 0 && output.error.is_none() {
        return Err(no_messages(reading, &passed));
    }
    Ok((passed, output.finish()?))
}

fn no_messages(reading: &Reading<'_>, passed: &Passed) -> TrafficError {
    let reasons = passed.packets_left_out.reasons();
    let malformed = [(passed.malformed, "with malformed messages")];
    TrafficError::NoMessages {
        files: reading.names(),
        found: found(&passed.read.files, reasons.into_iter().chain(malformed)),
    }
}

/// Who sent what to whom.
pub(super) fn travel(
    ports: &Ports,
    time_ns: i64,
    (source, destination): (Endpoint, Endpoint),
    transport: Transport,
    is_answer: bool,
) -> Travel {
    let to_server = ports.contains(destination.port);
    let from_server = ports.contains(source.port);
    // Where ports do not tell, the message does.
    let is_from_client = match to_server == from_server {
        true => !is_answer,
        false => to_server,
    };
    let (client, server) = match is_from_client {
        true => (source, destination),
        false => (destination, source),
    };
    Travel {
        time_ns,
        client: client.address,
        server: server.address,
        transport,
    }
}

/// What a thread, or the fold, has counted.
#[derive(Default)]
pub(super) struct Counted<T> {
    tally: T,
    left_out: PacketCounts,
    messages: u64,
    malformed: u64,
    /// Messages of which what is there can be read.
    readable: u64,
}

impl<T: Default> Counted<T> {
    fn add<S: Select<Tally = T>>(&mut self, other: Self) {
        S::add(&mut self.tally, other.tally);
        self.left_out.add(&other.left_out);
        self.messages += other.messages;
        self.malformed += other.malformed;
        self.readable += other.readable;
    }
}

/// What threads do with chunks.
struct Selection<'s, S> {
    select: &'s S,
    ports: &'s Ports,
    /// Memory of parts that were written, to be used again.
    spare: Mutex<Vec<Part>>,
}

impl<S: Select> Selection<'_, S> {
    /// Counts a message and gives its place.
    fn place(&self, counted: &mut Counted<S::Tally>, message: &Message<'_>) -> Option<usize> {
        let view = View::parse(message.octets).ok();
        counted.messages += 1;
        counted.malformed += u64::from(view.is_none() || message.is_cut);
        counted.readable += u64::from(view.is_some());
        let is_answer = view.as_ref().is_some_and(|view| view.header.is_answer());
        let ends = (message.source, message.destination);
        let travel = travel(
            self.ports,
            message.time_ns,
            ends,
            message.transport,
            is_answer,
        );
        let tally = &mut counted.tally;
        self.select.message(tally, &travel, message, view.as_ref())
    }

    /// Takes back the memory of a part that is written.
    fn take_back(&self, mut part: Part) {
        part.clear();
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(part);
        }
    }

    /// The place of the TCP segment in `packet`.
    fn segment_place(&self, packet: &Packet<'_>) -> Option<usize> {
        let ip = IpPacket::parse(Frame::parse(packet.at.link_type, packet.octets)).ok()?;
        let segment = Segment::parse(ip.payload).filter(|_| ip.protocol == TCP)?;
        let source = Endpoint::new(ip.source, segment.source);
        let destination = Endpoint::new(ip.destination, segment.destination);
        let ends = (source, destination);
        let travel = travel(self.ports, packet.at.time_ns, ends, Transport::Tcp, false);
        self.select.segment(&travel)
    }
}

impl<S: Select> PerChunk for Selection<'_, S> {
    type Worker = Counted<S::Tally>;
    type Part = Part;

    fn worker(&self) -> Self::Worker {
        Counted::default()
    }

    fn chunk(&self, counted: &mut Self::Worker, chunk: &Chunk<'_>) -> Part {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        let mut part = spare.unwrap_or_default();
        for packet in chunk.iter() {
            match decode(&packet, self.ports) {
                Decoded::Message(message) if Datagrams::of(&message).is_some() => {
                    part.set_aside(&packet, Kind::Merged(packet.at));
                }
                Decoded::Message(message) => match self.place(counted, &message) {
                    Some(place) if packet.at.link_type == LINK_TYPE_MESSAGE => {
                        let at = packet.at;
                        part.set_aside(&packet, Kind::Bare { place, at });
                    }
                    Some(place) if holds_time(packet.at.time_ns) => part.record(&packet, place),
                    // The header of a record has no room for its time, which the clock may yet change.
                    Some(place) => {
                        let at = packet.at;
                        part.set_aside(&packet, Kind::OddTime { place, at });
                    }
                    None => {}
                },
                Decoded::InOrder => part.set_aside(&packet, Kind::InOrder(packet.at)),
                Decoded::LeftOut(why) => counted.left_out.count(why),
            }
        }
        part
    }
}

/// The fold: what needs order, and all that is written.
struct Writing<'w, 'c, S: Select> {
    assembly: Assembly,
    output: Output<'w, 'c, S>,
}

impl<'w, 'c, S: Select> Writing<'w, 'c, S> {
    fn part(&mut self, mut part: Part) -> ControlFlow<()> {
        let mut start = 0;
        for piece in &part.pieces {
            let octets = &mut part.octets[start..piece.end];
            start = piece.end;
            match piece.kind {
                Kind::Records {
                    place,
                    link_type,
                    packets,
                } => self.output.records(place, link_type, packets, octets),
                Kind::InOrder(at) => self.in_order(&Packet { octets, at }),
                Kind::Merged(at) => self.output.merged(&Packet { octets, at }),
                Kind::OddTime { place, at } => self.output.packet(place, &Packet { octets, at }),
                Kind::Bare { place, at } => self.output.bare(place, &Packet { octets, at }),
            }
            if self.output.error.is_some() {
                return ControlFlow::Break(());
            }
        }
        self.output.selection.take_back(part);
        ControlFlow::Continue(())
    }

    fn in_order(&mut self, packet: &Packet<'_>) {
        let Self { assembly, output } = self;
        output.segment(packet);
        let ports = output.selection.ports;
        assembly.packet(packet, ports, &mut |message| output.assembled(message));
    }

    fn end_connections(self) -> Output<'w, 'c, S> {
        let Self {
            assembly,
            mut output,
        } = self;
        assembly.finish(&mut |message| output.assembled(message));
        output
    }
}

//! From captures to statistics.

use super::batch::Batch;
use super::clients::hash_of;
use super::hashing::Hashing;
use super::in_order::InOrder;
use super::matching::Event;
use super::statistics::{CountedFrom, Statistics};
use super::tally::Tally;
use crate::error::TrafficError;
use crate::memory::prefetch;
use crate::message::Message;
use crate::read::{self, Chunk, ChunkBuffer, Datagrams, Decoded, PerChunk, Ports, Reading, decode};
use crate::wire::{HEADER_LEN, View};
use serde::Deserialize;
use std::ops::ControlFlow;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// What is counted, and how much memory it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatsOptions {
    /// What the requests are; `None` to take queries, or answers where there are no queries in the first half MiB.
    pub counted_from: Option<CountedFrom>,
    /// Names that are kept, all threads together; with more, counts have a stated error. 0 leaves names out. A name that several
    /// threads come across is kept by each.
    pub names: usize,
    /// Clients that are kept in the same way.
    pub clients: usize,
    /// Whether all names, zones and clients that were kept are stored, and not the 10,000 most frequent of each alone: so that
    /// merging is exact for them, too.
    pub stores_all: bool,
}

impl Default for StatsOptions {
    /// Four million names and four million clients, which take about 650 MiB.
    fn default() -> Self {
        Self {
            counted_from: None,
            names: 4_000_000,
            clients: 4_000_000,
            stores_all: false,
        }
    }
}

const QUERY: u8 = 0;
/// Packets whose octets are fetched before they are needed.
const AHEAD: usize = 4;
/// Octets that the processor fetches at once.
const CACHE_LINE: usize = 64;

/// Reads all of `reading` and counts what is in it.
///
/// # Errors
/// Those of [`read::run`], or [`TrafficError::NoMessages`].
pub fn gather(reading: &Reading<'_>, options: &StatsOptions) -> Result<Statistics, TrafficError> {
    let began = Instant::now();
    let gathering = Gathering::new(reading, options);
    // The counts of all threads come together in this tally.
    let mut in_order = InOrder::new(Tally::new(options.names, options.clients));
    let (summary, workers) = read::run(reading, &gathering, |part| {
        in_order.part(&gathering, &part);
        let mut spare = gathering
            .spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        spare.push(part);
        ControlFlow::Continue(())
    })?;
    let (mut tally, answered, assembly) = in_order.finish(&gathering);
    for worker in workers {
        tally.merge(worker);
    }
    let statistics = Statistics::of(
        gathering.counted_from(),
        options.stores_all,
        tally,
        answered,
        assembly,
        summary,
        began.elapsed(),
    );
    if statistics.has_messages() {
        return Ok(statistics);
    }
    Err(TrafficError::NoMessages {
        files: reading.names(),
        found: statistics.found(),
    })
}

/// Counts in chunks.
pub struct Gathering<'a> {
    /// The ports of DNS servers.
    pub ports: &'a Ports,
    hashing: Hashing,
    /// The first chunk decides.
    counted_from: OnceLock<CountedFrom>,
    most_names: usize,
    most_clients: usize,
    /// Parts whose memory is used again.
    spare: Mutex<Vec<Part>>,
}

/// What of a chunk must be dealt with in order.
#[derive(Default)]
pub struct Part {
    /// Messages that are to be matched.
    pub events: Vec<Event>,
    /// Packets for the assembly.
    pub packets: ChunkBuffer,
    /// How many events come before each of them.
    pub events_before: Vec<usize>,
}

impl<'a> Gathering<'a> {
    fn new(reading: &Reading<'a>, options: &StatsOptions) -> Self {
        let threads = reading.thread_count();
        let counted_from = OnceLock::new();
        if let Some(given) = options.counted_from {
            counted_from.get_or_init(|| given);
        }
        Self {
            ports: reading.ports,
            hashing: Hashing::seeded(),
            counted_from,
            most_names: options.names.div_ceil(threads),
            most_clients: options.clients.div_ceil(threads),
            spare: Mutex::new(Vec::new()),
        }
    }

    fn counted_from(&self) -> CountedFrom {
        *self.counted_from.get_or_init(|| CountedFrom::Queries)
    }

    /// What requests are: decided by the first chunk, for which all others wait.
    fn decide(&self, chunk: &Chunk<'_>) -> CountedFrom {
        if chunk.number > 0 {
            return *self.counted_from.wait();
        }
        *self.counted_from.get_or_init(|| {
            let mut has_answers = false;
            for packet in chunk.iter() {
                if let Decoded::Message(message) = decode(&packet, self.ports)
                    && let Ok(view) = View::parse(message.octets)
                {
                    if !view.header.is_answer() {
                        return CountedFrom::Queries;
                    }
                    has_answers = true;
                }
            }
            match has_answers {
                true => CountedFrom::Answers,
                false => CountedFrom::Queries,
            }
        })
    }

    /// Counts a message; if answers are matched with queries, notes it in `events`.
    #[inline]
    fn message<'m>(
        &self,
        counted_from: CountedFrom,
        tally: &mut Tally,
        batch: &mut Batch<'m>,
        message: &Message<'m>,
        events: &mut Vec<Event>,
    ) {
        let Some(view) = view_of(tally, message) else {
            return;
        };
        let header = view.header;
        let is_answer = header.is_answer();
        let (opt, end) = view.opt_and_end();
        match end {
            Ok(end) if end < message.octets.len() || message.is_cut => {
                if let Some(merged) = datagrams_of(tally, message) {
                    return self.merged(counted_from, tally, batch, merged, events);
                }
            }
            Err(why) if !message.is_cut => tally.malformed.add(why),
            _ => {}
        }
        let side = usize::from(is_answer);
        if header.opcode() != QUERY {
            tally.sides[side].opcodes.add(header.opcode().into());
            return;
        }
        let len = message.sent_octets();
        let rcode = view.rcode(opt.as_ref());
        let question = view.question.as_ref();
        tally.sides[side].add(message, header, question, opt.as_ref(), len);
        let name_hash = question.map(|question| {
            self.hashing
                .name(message.octets, HEADER_LEN, question.name.len())
        });
        if is_answer == (counted_from == CountedFrom::Answers) {
            if let (Some(question), Some(hash)) = (question, name_hash) {
                batch.add_name(tally, hash, question.name);
            }
            let client = if is_answer {
                message.destination
            } else {
                message.source
            };
            batch.add_client(tally, hash_of(self.hashing, client.address), client.address);
        }
        if counted_from == CountedFrom::Queries {
            events.push(self.event(message, &view, name_hash.unwrap_or(0), rcode));
        }
    }

    /// Counts the messages of one packet that holds several; apart, so that counting one is no recursion and can be inlined.
    #[cold]
    #[inline(never)]
    fn merged<'m>(
        &self,
        counted_from: CountedFrom,
        tally: &mut Tally,
        batch: &mut Batch<'m>,
        merged: Datagrams<'m>,
        events: &mut Vec<Event>,
    ) {
        for message in merged {
            self.message(counted_from, tally, batch, &message, events);
        }
    }

    /// What matching needs of a message.
    #[inline]
    fn event(&self, message: &Message<'_>, view: &View<'_>, name_hash: u64, rcode: u16) -> Event {
        let header = view.header;
        let is_answer = header.is_answer();
        let (client, server) = match is_answer {
            true => (&message.destination, &message.source),
            false => (&message.source, &message.destination),
        };
        let question = view.question.as_ref();
        let (qtype, qclass) = question.map_or((0, 0), |question| (question.qtype, question.qclass));
        let flags = [
            (is_answer, Event::ANSWER),
            (question.is_some(), Event::QUESTION),
            (header.recursion_desired(), Event::RECURSION_DESIRED),
        ];
        let bits = flags
            .into_iter()
            .map(|(is_set, bit)| u16::from(is_set) * bit);
        Event {
            key: self
                .hashing
                .transaction(client, server, header.id, message.transport as u8),
            time_ns: message.time_ns,
            question: (name_hash >> 48) as u16 ^ qtype ^ qclass,
            qtype,
            qclass,
            bits: bits.fold(rcode & Event::RCODE, |all, bit| all | bit),
        }
    }

    /// Counts a message that was put together.
    pub fn assembled(&self, tally: &mut Tally, events: &mut Vec<Event>, message: &Message<'_>) {
        let mut batch = Batch::new();
        self.message(self.counted_from(), tally, &mut batch, message, events);
        batch.finish(tally);
    }
}

/// The message as far as it must be whole; counts what is wrong with any other.
#[inline]
fn view_of<'m>(tally: &mut Tally, message: &Message<'m>) -> Option<View<'m>> {
    match View::parse(message.octets) {
        Ok(view) => return Some(view),
        Err(_) if message.is_cut => tally.malformed.cut_short += 1,
        Err(why) => tally.malformed.add(why),
    }
    None
}

/// Counts `message`, whose records end before its last octet, or before what a snapshot length cut, by what follows: the messages of
/// other datagrams, or nonsense. Gives the messages, if they are several.
#[cold]
fn datagrams_of<'m>(tally: &mut Tally, message: &Message<'m>) -> Option<Datagrams<'m>> {
    let merged = Datagrams::of(message);
    if merged.is_some() {
        tally.merged += 1;
    } else if message.is_cut {
        tally.malformed.cut_short += 1;
    } else {
        tally.malformed.trailing_octets += 1;
    }
    merged
}

impl PerChunk for Gathering<'_> {
    type Worker = Tally;
    type Part = Part;

    fn worker(&self) -> Tally {
        Tally::new(self.most_names, self.most_clients)
    }

    fn chunk(&self, tally: &mut Tally, chunk: &Chunk<'_>) -> Part {
        let counted_from = self.decide(chunk);
        let spare = self
            .spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut part = spare.unwrap_or_default();
        part.events.clear();
        part.packets.clear();
        part.events_before.clear();
        let mut batch = Batch::new();
        for (place, packet) in chunk.iter().enumerate() {
            if let Some(later) = chunk.packets.get(place + AHEAD) {
                prefetch(chunk.octets, later.start as usize);
                prefetch(chunk.octets, later.start as usize + CACHE_LINE);
            }
            tally.packet(packet.at.time_ns, packet.at.len);
            match decode(&packet, self.ports) {
                Decoded::Message(message) => {
                    let events = &mut part.events;
                    self.message(counted_from, tally, &mut batch, &message, events);
                }
                Decoded::InOrder => {
                    part.packets.push_packet(&packet);
                    part.events_before.push(part.events.len());
                }
                Decoded::LeftOut(why) => tally.left_out.count(why),
            }
        }
        batch.finish(tally);
        part
    }
}

//! From captures to statistics.

use super::clients::hash_of;
use super::hashing::Hashing;
use super::matching::{Event, Matched, Matching};
use super::memory::prefetch;
use super::statistics::{Answered, CountedFrom, Statistics};
use super::tally::Tally;
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::{self, Assembly, Chunk, ChunkBuffer, Decoded, PerChunk, Ports, Reading, decode};
use crate::wire::View;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr};
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
}

impl Default for StatsOptions {
    /// Four million names and four million clients, which take about 650 MiB.
    fn default() -> Self {
        Self {
            counted_from: None,
            names: 4_000_000,
            clients: 4_000_000,
        }
    }
}

const QUERY: u8 = 0;
/// Items whose places in tables are fetched before the first of them is needed.
const BATCH: usize = 16;
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
    let mut in_order = InOrder {
        assembly: Assembly::default(),
        // The counts of all threads come together here.
        tally: Tally::new(options.names, options.clients),
        events: Vec::new(),
        matching: Matching::default(),
        answered: Answered::default(),
    };
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
        files: reading
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect::<Vec<_>>()
            .join(", "),
        found: statistics.found(),
    })
}

/// Counts in chunks.
struct Gathering<'a> {
    ports: &'a Ports,
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
struct Part {
    events: Vec<Event>,
    /// Packets for the assembly.
    packets: ChunkBuffer,
    /// How many events come before each of them.
    events_before: Vec<usize>,
}

/// Names and clients whose places are being fetched.
struct Batch<'m> {
    names: [(u64, &'m [u8]); BATCH],
    names_len: usize,
    clients: [(u64, IpAddr); BATCH],
    clients_len: usize,
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
        let view = match View::parse(message.octets) {
            Ok(view) => view,
            Err(_) if message.is_cut => {
                tally.malformed.cut_short += 1;
                return;
            }
            Err(why) => {
                tally.malformed.add(why);
                return;
            }
        };
        let header = view.header;
        let is_answer = header.is_answer();
        let side = &mut tally.sides[usize::from(is_answer)];
        side.opcodes.add(header.opcode().into());
        if header.opcode() != QUERY {
            return;
        }
        let opt = view.opt().unwrap_or_else(|why| {
            if !message.is_cut {
                tally.malformed.add(why);
            }
            None
        });
        let rcode = view.rcode(opt.as_ref());
        let question = view.question.as_ref();
        side.add(message, header, question, opt.as_ref(), rcode);
        let (client, server) = match is_answer {
            true => (message.destination, message.source),
            false => (message.source, message.destination),
        };
        let name_hash = question.map(|question| {
            self.hashing
                .name(message.octets, crate::wire::HEADER_LEN, question.name.len())
        });
        if is_answer == (counted_from == CountedFrom::Answers) {
            if let (Some(question), Some(hash)) = (question, name_hash) {
                batch.add_name(tally, hash, question.name);
            }
            batch.add_client(tally, hash_of(self.hashing, client.address), client.address);
        }
        if counted_from == CountedFrom::Queries {
            let (qtype, qclass) = question.map_or((0, 0), |q| (q.qtype, q.qclass));
            let key =
                self.hashing
                    .transaction(&client, &server, header.id, message.transport as u8);
            let bits = rcode & Event::RCODE
                | if is_answer { Event::ANSWER } else { 0 }
                | question.map_or(0, |_| Event::QUESTION)
                | if header.recursion_desired() {
                    Event::RECURSION_DESIRED
                } else {
                    0
                };
            events.push(Event {
                key,
                time_ns: message.time_ns,
                question: (name_hash.unwrap_or(0) >> 48) as u16 ^ qtype ^ qclass,
                qtype,
                qclass,
                bits,
            });
        }
    }
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
                    self.message(counted_from, tally, &mut batch, &message, &mut part.events);
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

impl<'m> Batch<'m> {
    fn new() -> Self {
        Self {
            names: [(0, &[]); BATCH],
            names_len: 0,
            clients: [(0, IpAddr::V4(Ipv4Addr::UNSPECIFIED)); BATCH],
            clients_len: 0,
        }
    }

    #[inline]
    fn add_name(&mut self, tally: &mut Tally, hash: u64, name: &'m [u8]) {
        let Some(names) = &mut tally.names else {
            return;
        };
        names.table.prefetch(hash);
        self.names[self.names_len] = (hash, name);
        self.names_len += 1;
        if self.names_len == BATCH {
            self.finish_names(tally);
        }
    }

    #[inline]
    fn add_client(&mut self, tally: &mut Tally, hash: u64, address: IpAddr) {
        tally.clients.table.prefetch(hash);
        self.clients[self.clients_len] = (hash, address);
        self.clients_len += 1;
        if self.clients_len == BATCH {
            self.finish_clients(tally);
        }
    }

    fn finish_names(&mut self, tally: &mut Tally) {
        let len = std::mem::take(&mut self.names_len);
        if let Some(names) = &mut tally.names {
            for (hash, name) in &self.names[..len] {
                names.add(*hash, name);
            }
        }
    }

    fn finish_clients(&mut self, tally: &mut Tally) {
        let len = std::mem::take(&mut self.clients_len);
        for (hash, address) in &self.clients[..len] {
            tally.clients.add(*hash, *address);
        }
    }

    fn finish(mut self, tally: &mut Tally) {
        self.finish_names(tally);
        self.finish_clients(tally);
    }
}

/// What is done in the order of the capture.
struct InOrder {
    assembly: Assembly,
    /// Messages of TCP and of fragments.
    tally: Tally,
    /// Those of them that are to be matched.
    events: Vec<Event>,
    matching: Matching,
    answered: Answered,
}

impl InOrder {
    fn part(&mut self, gathering: &Gathering<'_>, part: &Part) {
        let mut matched = 0;
        for (packet, events_before) in part.packets.chunk().iter().zip(&part.events_before) {
            self.match_all(&part.events[matched..*events_before]);
            matched = *events_before;
            let (tally, events) = (&mut self.tally, &mut self.events);
            self.assembly
                .packet(&packet, gathering.ports, &mut |message| {
                    gathering.assembled(tally, events, &message);
                });
            self.match_assembled();
        }
        self.match_all(&part.events[matched..]);
    }

    fn match_assembled(&mut self) {
        let events = std::mem::take(&mut self.events);
        self.match_all(&events);
        self.events = events;
        self.events.clear();
    }

    fn match_all(&mut self, events: &[Event]) {
        for (place, event) in events.iter().enumerate() {
            if let Some(later) = events.get(place + BATCH) {
                self.matching.prefetch(later);
            }
            if !event.has(Event::ANSWER) {
                self.matching.query(event);
            } else if let Some(matched) = self.matching.answer(event) {
                self.answered.add(event, &matched);
            } else {
                self.answered.unmatched += 1;
            }
        }
    }

    /// Ends all connections; gives what was counted.
    fn finish(mut self, gathering: &Gathering<'_>) -> (Tally, Answered, read::AssemblyCounts) {
        let assembly = std::mem::take(&mut self.assembly);
        let (tally, events) = (&mut self.tally, &mut self.events);
        let counts = assembly.finish(&mut |message| {
            gathering.assembled(tally, events, &message);
        });
        self.match_assembled();
        self.answered.given_up = self.matching.given_up;
        (self.tally, self.answered, counts)
    }
}

impl Gathering<'_> {
    /// Counts a message that was put together.
    fn assembled(&self, tally: &mut Tally, events: &mut Vec<Event>, message: &Message<'_>) {
        let mut batch = Batch::new();
        self.message(self.counted_from(), tally, &mut batch, message, events);
        batch.finish(tally);
    }
}

impl Answered {
    #[inline]
    fn add(&mut self, answer: &Event, matched: &Matched) {
        self.queries += 1;
        self.latency_ns.add(matched.latency_ns);
        if answer.bits & Event::RCODE == 0 {
            return;
        }
        self.failed += 1;
        self.failed_rd += u64::from(answer.has(Event::RECURSION_DESIRED));
        match answer.has(Event::QUESTION) {
            true => self.failed_types.add(answer.qclass, answer.qtype),
            // Of an answer without a question, the type is its query's; other classes than IN do not come so.
            false => self.failed_types.add(1, matched.qtype),
        }
    }
}

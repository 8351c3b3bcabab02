//! TCP (RFC 9293), as far as messages can be taken out of it (RFC 7766): each direction of a connection for itself.
//!
//! Sans-I/O: segments go in, messages come out. Data in order, sent again, or out of order are put together; memory is
//! bounded, and what could not be used is counted.

mod beginning;
mod doubt;
mod segment;

pub use beginning::Wanted;
pub use segment::{FlowKey, Segment};

use super::dns::next_frame;
use super::form::Beginning;
use super::summary::TcpSummary;
use doubt::Doubt;
use foldhash::fast::RandomState;
use segment::{FIN, RST, SYN};
use std::collections::{HashMap, TryReserveError};

/// Octets that wait on one connection for data before them; beyond, those data are given up.
const MAX_WAITING: usize = 256 << 10;
/// The beginning of a message is shorter than the longest message with its length.
const MAX_PARTIAL: usize = 2 + u16::MAX as usize;
/// Segments that wait so.
const MAX_WAITING_SEGMENTS: usize = 256;
/// Connections in one generation; there are two generations.
const MAX_FLOWS: usize = 128 << 10;
/// Octets that all connections of both generations may keep.
const MAX_KEPT: usize = 64 << 20;

/// A message out of a connection, with the time of the segment that completed it: the first with which it and all data before
/// it were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpMessage<'a> {
    /// When that segment was captured, in ns since 1970.
    pub time_ns: i64,
    /// The connection.
    pub flow: FlowKey,
    /// The message.
    pub octets: &'a [u8],
}

/// The connections of a capture.
///
/// There are two generations of them. When the younger is full, the older is given up and the younger becomes the older,
/// from which connections with a new segment come back: so those that are idle for long are given up first.
#[derive(Debug, Default)]
pub struct TcpFlows {
    young: HashMap<FlowKey, Flow, RandomState>,
    old: HashMap<FlowKey, Flow, RandomState>,
    /// Octets that all connections keep.
    kept: usize,
    wanted: Wanted,
    /// What was seen.
    pub summary: TcpSummary,
}

impl TcpFlows {
    /// Connections out of which `wanted` is taken.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Takes a segment from the client, of whose data `missing` octets at the end were not captured; messages that are
    /// whole now go to `sink`.
    ///
    /// # Errors
    /// When there is no memory for another connection; then the segment is not taken.
    pub fn segment(
        &mut self,
        key: FlowKey,
        segment: Segment<'_>,
        missing: usize,
        time_ns: i64,
        sink: &mut impl FnMut(TcpMessage<'_>),
    ) -> Result<(), TryReserveError> {
        self.young.try_reserve(1)?;
        self.summary.segments += 1;
        let has_data = !segment.data.is_empty() || missing > 0;
        if !has_data && !segment.has(SYN | FIN | RST) {
            return Ok(());
        }
        let mut output = Output {
            flow: key,
            wanted: self.wanted,
            summary: &mut self.summary,
            sink,
        };
        let known = self.young.remove(&key).or_else(|| self.old.remove(&key));
        self.kept -= known.as_ref().map_or(0, Flow::kept);
        let Some(mut flow) = Flow::continued(known, &segment, has_data, &mut output) else {
            return Ok(());
        };
        if has_data {
            let sequence = segment.sequence.wrapping_add(u32::from(segment.has(SYN)));
            let data = Data {
                sequence,
                time_ns,
                octets: segment.data,
                missing,
            };
            flow.take(data, &mut output);
        }
        if segment.has(FIN) {
            let len = segment.data.len() + missing;
            flow.end = Some(segment.sequence.wrapping_add(len as u32));
        }
        if segment.has(RST) || flow.end == Some(flow.next) {
            // It stays known, so that data sent again after the end are not taken for another connection's.
            flow.close(&mut output);
        }
        self.kept += flow.kept();
        self.young.insert(key, flow);
        while self.young.len() >= MAX_FLOWS || self.kept > MAX_KEPT {
            self.age(sink);
        }
        Ok(())
    }

    /// Ends all connections; messages after a gap that was not filled go to `sink`.
    pub fn finish(&mut self, sink: &mut impl FnMut(TcpMessage<'_>)) {
        self.age(sink);
        self.age(sink);
    }

    /// Gives up the older generation.
    fn age(&mut self, sink: &mut impl FnMut(TcpMessage<'_>)) {
        let young = std::mem::take(&mut self.young);
        for (key, mut flow) in std::mem::replace(&mut self.old, young) {
            self.kept -= flow.kept();
            flow.close(&mut Output {
                flow: key,
                wanted: self.wanted,
                summary: &mut self.summary,
                sink,
            });
        }
    }
}

/// Where messages and counts of a connection go.
struct Output<'o, Sink> {
    flow: FlowKey,
    wanted: Wanted,
    summary: &'o mut TcpSummary,
    sink: &'o mut Sink,
}

impl<Sink: FnMut(TcpMessage<'_>)> Output<'_, Sink> {
    fn message(&mut self, time_ns: i64, octets: &[u8]) {
        self.summary.messages += 1;
        (self.sink)(TcpMessage {
            time_ns,
            flow: self.flow,
            octets,
        });
    }
}

/// Data of a segment.
#[derive(Clone, Copy)]
struct Data<'a> {
    sequence: u32,
    time_ns: i64,
    octets: &'a [u8],
    missing: usize,
}

/// Data that wait for others before them.
#[derive(Debug)]
struct Waiting {
    sequence: u32,
    time_ns: i64,
    octets: Vec<u8>,
    missing: usize,
}

impl Waiting {
    /// Octets in memory.
    fn kept(&self) -> usize {
        size_of::<Self>() + self.octets.len()
    }
}

/// What one end has sent on a connection.
#[derive(Debug)]
struct Flow {
    /// The sequence number at which the connection was picked up.
    first: u32,
    /// The sequence number of the next octet.
    next: u32,
    /// The sequence number of FIN.
    end: Option<u32>,
    /// Whether it is known where messages begin.
    is_placed: bool,
    /// Whether that was guessed, and is not sure yet.
    doubt: Doubt,
    /// The beginning of a message; where it is not known where messages begin, what may be one.
    partial: Vec<u8>,
    /// Segments that it is of, where there is doubt about the place or none is known.
    unsure: u64,
    /// Octets still to come of a message of which others are lost.
    lost: usize,
    /// Data after a gap, in the order of their sequence numbers.
    waiting: Vec<Waiting>,
}

impl Flow {
    fn new(next: u32, is_placed: bool) -> Self {
        Self {
            first: next,
            next,
            end: None,
            is_placed,
            doubt: Doubt::default(),
            partial: Vec::new(),
            unsure: 0,
            lost: 0,
            waiting: Vec::new(),
        }
    }

    /// The connection that `segment` belongs to: the one known, or a new one. `None` if the segment is no reason to have
    /// one.
    fn continued<Sink: FnMut(TcpMessage<'_>)>(
        known: Option<Self>,
        segment: &Segment<'_>,
        has_data: bool,
        output: &mut Output<'_, Sink>,
    ) -> Option<Self> {
        if segment.has(SYN) {
            let first = segment.sequence.wrapping_add(1);
            return Some(match known {
                Some(same) if same.first == first => same,
                Some(mut other) => {
                    other.close(output);
                    Self::new(first, true)
                }
                None => Self::new(first, true),
            });
        }
        known.or_else(|| has_data.then(|| Self::new(segment.sequence, false)))
    }

    /// Octets in memory beside the connection itself.
    fn kept(&self) -> usize {
        self.partial.len() + self.waiting.iter().map(Waiting::kept).sum::<usize>()
    }

    fn take<Sink: FnMut(TcpMessage<'_>)>(&mut self, data: Data<'_>, output: &mut Output<'_, Sink>) {
        if distance(self.next, data.sequence) > 0 {
            self.wait(data);
            while self.waiting.len() > MAX_WAITING_SEGMENTS
                || self.kept() > MAX_WAITING + MAX_PARTIAL
            {
                self.give_up_gap(output);
            }
            return;
        }
        self.consume(data, output);
        self.consume_waiting(data.time_ns, output);
    }

    /// Keeps data for which those before them are missing.
    fn wait(&mut self, data: Data<'_>) {
        let place = self.waiting.partition_point(|other| {
            distance(self.next, other.sequence) <= distance(self.next, data.sequence)
        });
        let waiting = Waiting {
            sequence: data.sequence,
            time_ns: data.time_ns,
            octets: data.octets.to_vec(),
            missing: data.missing,
        };
        self.waiting.insert(place, waiting);
    }

    /// Uses data that begin at the next octet, or before it.
    fn consume<Sink: FnMut(TcpMessage<'_>)>(
        &mut self,
        data: Data<'_>,
        output: &mut Output<'_, Sink>,
    ) {
        let seen = distance(data.sequence, self.next) as usize;
        if seen >= data.octets.len() + data.missing {
            output.summary.retransmitted += 1;
            return;
        }
        let octets = data.octets.get(seen..).unwrap_or_default();
        let missing = data.octets.len() + data.missing - seen - octets.len();
        self.next = self.next.wrapping_add((octets.len() + missing) as u32);
        if !octets.is_empty() {
            self.use_octets(octets, data.time_ns, output);
        }
        if missing > 0 {
            self.lose(missing, output);
        }
    }

    /// Uses the octets that are next. If they show that messages do not begin where a guess said, the place is looked for again, from
    /// these octets on.
    fn use_octets<Sink: FnMut(TcpMessage<'_>)>(
        &mut self,
        octets: &[u8],
        time_ns: i64,
        output: &mut Output<'_, Sink>,
    ) {
        if self.is_placed && !self.append(octets, time_ns, output) {
            output.summary.misplaced += 1;
            (self.is_placed, self.lost) = (false, 0);
            self.drop_partial(output);
        } else if self.is_placed {
            return;
        }
        if self.finds_place(octets, output) {
            // They were looked at just now.
            self.append(octets, time_ns, output);
        }
    }

    /// Looks whether messages begin where `octets` begin, or where what came just before them did, which then is `partial`.
    fn finds_place<Sink: FnMut(TcpMessage<'_>)>(
        &mut self,
        octets: &[u8],
        output: &mut Output<'_, Sink>,
    ) -> bool {
        let mut found = Beginning::Other;
        if !self.partial.is_empty() {
            let together = [&self.partial[..], octets].concat();
            found = output.wanted.beginning(&together);
        }
        if found == Beginning::Other {
            self.drop_partial(output);
            found = output.wanted.beginning(octets);
        }
        match found {
            Beginning::Messages => {
                self.is_placed = true;
                self.doubt = Doubt::new();
                self.unsure = 0;
            }
            Beginning::TooShort => {
                self.partial.extend_from_slice(octets);
                self.unsure += 1;
            }
            Beginning::Other => output.summary.unplaced += 1,
        }
        self.is_placed
    }

    /// Uses data that have waited, after those that came at `latest_ns`.
    fn consume_waiting<Sink: FnMut(TcpMessage<'_>)>(
        &mut self,
        mut latest_ns: i64,
        output: &mut Output<'_, Sink>,
    ) {
        let is_next = |flow: &Self, waiting: &Waiting| distance(flow.next, waiting.sequence) <= 0;
        while self
            .waiting
            .first()
            .is_some_and(|first| is_next(self, first))
        {
            let waiting = self.waiting.remove(0);
            // They could not be read before those that they waited for.
            latest_ns = latest_ns.max(waiting.time_ns);
            let data = Data {
                sequence: waiting.sequence,
                time_ns: latest_ns,
                octets: &waiting.octets,
                missing: waiting.missing,
            };
            self.consume(data, output);
        }
    }

    /// Goes on after the first gap.
    fn give_up_gap<Sink: FnMut(TcpMessage<'_>)>(&mut self, output: &mut Output<'_, Sink>) {
        if let Some(first) = self.waiting.first() {
            let time_ns = first.time_ns;
            let len = distance(self.next, first.sequence) as usize;
            self.next = first.sequence;
            self.lose(len, output);
            self.consume_waiting(time_ns, output);
        }
    }

    /// Counts a gap of `len` octets. If it is inside a message, whose length tells where the next one begins, that message alone
    /// is lost; otherwise it is not known where messages begin.
    fn lose<Sink: FnMut(TcpMessage<'_>)>(&mut self, len: usize, output: &mut Output<'_, Sink>) {
        output.summary.gaps += 1;
        let left = self.left_of_message();
        self.drop_partial(output);
        self.is_placed = left.is_some_and(|left| left >= len);
        self.lost = match left {
            Some(left) if self.is_placed => left - len,
            _ => 0,
        };
    }

    /// Octets still to come of the message at hand; `None` if it is not known.
    fn left_of_message(&self) -> Option<usize> {
        if !self.is_placed {
            return None;
        }
        if self.lost > 0 {
            return Some(self.lost);
        }
        let (len, there) = self.partial.split_first_chunk::<2>()?;
        Some(usize::from(u16::from_be_bytes(*len)) - there.len())
    }

    /// Drops and counts the beginning of a message, or what may be one.
    fn drop_partial<Sink: FnMut(TcpMessage<'_>)>(&mut self, output: &mut Output<'_, Sink>) {
        match self.is_placed {
            true => output.summary.incomplete += u64::from(!self.partial.is_empty()),
            false => output.summary.unplaced += self.unsure,
        }
        self.unsure = 0;
        self.partial = Vec::new();
        self.doubt.begin_anew();
    }

    /// Takes messages out of what was there before with `octets` after it; `false` if there are none, as the place is wrong.
    fn append<Sink: FnMut(TcpMessage<'_>)>(
        &mut self,
        octets: &[u8],
        time_ns: i64,
        output: &mut Output<'_, Sink>,
    ) -> bool {
        let lost = self.lost.min(octets.len());
        self.lost -= lost;
        let octets = &octets[lost..];
        if self.partial.is_empty() {
            if !self.doubt.allows(octets, output.wanted) {
                return false;
            }
            let rest = take_messages(octets, time_ns, output);
            self.partial.extend_from_slice(rest);
            self.unsure = u64::from(self.doubt.is_left() && !rest.is_empty());
            return true;
        }
        let mut whole = std::mem::take(&mut self.partial);
        whole.extend_from_slice(octets);
        if !self.doubt.allows(&whole, output.wanted) {
            return false;
        }
        let rest = take_messages(&whole, time_ns, output).len();
        let before = if rest == whole.len() { self.unsure } else { 0 };
        self.unsure = before + u64::from(self.doubt.is_left() && rest > 0);
        if rest > 0 {
            whole.drain(..whole.len() - rest);
            self.partial = whole;
        }
        true
    }

    /// Gives up what waits and what is not whole.
    fn close<Sink: FnMut(TcpMessage<'_>)>(&mut self, output: &mut Output<'_, Sink>) {
        while !self.waiting.is_empty() {
            self.give_up_gap(output);
        }
        self.drop_partial(output);
    }
}

/// Gives all whole messages of `octets` to `output`; returns what is left.
fn take_messages<'a, Sink: FnMut(TcpMessage<'_>)>(
    octets: &'a [u8],
    time_ns: i64,
    output: &mut Output<'_, Sink>,
) -> &'a [u8] {
    let mut rest = octets;
    while let Some((message, after)) = next_frame(rest) {
        output.message(time_ns, message);
        rest = after;
    }
    rest
}

/// How far `to` is after `from` in the circle of sequence numbers.
fn distance(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from).cast_signed()
}

#[cfg(test)]
mod tests;

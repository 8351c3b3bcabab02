//! Fragments of IPv4 packets (RFC 791 section 3.2) and IPv6 packets (RFC 8200 section 4.5).

use dnsrig_stream::capture::link::Frame;
use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Packets of which fragments are waited for.
const MAX_WAITING: usize = 4096;
/// Octets that all of them keep.
const MAX_KEPT: usize = 32 << 20;
/// Fragments of one packet; the smallest MTU of IPv4 makes fewer of the longest packet that DNS sends.
const MAX_PIECES: usize = 512;
/// How long a packet's other fragments are waited for, in ns (RFC 8200 section 4.5).
const TIMEOUT_NS: i64 = 60_000_000_000;

const IPV4_HEADER_LEN: usize = 20;
const IPV6_HEADER_LEN: usize = 40;
const FRAGMENT_HEADER_LEN: usize = 8;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// Fragments by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentCounts {
    /// Fragments.
    pub packets: u64,
    /// Packets that were put together.
    pub whole: u64,
    /// Packets of which fragments are missing.
    pub incomplete: u64,
    /// Packets that were discarded, as fragments of them overlap (RFC 5722), or that were put together and contradict themselves.
    pub bad: u64,
    /// Fragments that are cut off by the snapshot length, or whose headers contradict themselves.
    pub unusable: u64,
}

impl FragmentCounts {
    /// Adds the counts of another capture.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.whole += other.whole;
        self.incomplete += other.incomplete;
        self.bad += other.bad;
        self.unusable += other.unusable;
    }
}

/// What fragments of one packet have in common: source and destination, the identification, and for IPv4 the protocol.
type Key = ([u8; 32], u32, u8);

/// A fragment.
#[derive(Debug)]
struct Fragment<'a> {
    key: Key,
    /// The packet's header without what tells of fragments; its length is set when the packet is whole.
    header: Header,
    offset: usize,
    is_last: bool,
    data: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
enum Header {
    Ipv4([u8; IPV4_HEADER_LEN]),
    Ipv6([u8; IPV6_HEADER_LEN]),
}

/// A packet of which not all is there.
#[derive(Debug)]
struct Waiting {
    time_ns: i64,
    /// Data by where they begin, in order.
    pieces: Vec<(usize, Vec<u8>)>,
    /// The length of all data, once the last fragment is there.
    len: Option<usize>,
    is_bad: bool,
}

/// Fragments that wait for others.
#[derive(Debug, Default)]
pub struct Fragments {
    waiting: HashMap<Key, Waiting, RandomState>,
    /// The order in which packets began; those that are whole by now are passed over.
    begun: VecDeque<(Key, i64)>,
    kept: usize,
    pub(super) counts: FragmentCounts,
}

impl Fragments {
    /// Takes the fragment in `frame`; gives the packet, if it is whole now, without any extension header that came before the
    /// fragment's.
    pub fn take(&mut self, frame: Frame<'_>, is_cut: bool, time_ns: i64) -> Option<Vec<u8>> {
        self.counts.packets += 1;
        let fragment = match frame {
            Frame::Ipv4(octets) => ipv4(octets),
            Frame::Ipv6(octets) => ipv6(octets),
            _ => None,
        };
        let Some(fragment) = fragment.filter(|_| !is_cut) else {
            self.counts.unusable += 1;
            return None;
        };
        self.give_up_late(time_ns);
        let (key, header) = (fragment.key, fragment.header);
        let begun = &mut self.begun;
        let waiting = self.waiting.entry(key).or_insert_with(|| {
            begun.push_back((key, time_ns));
            Waiting {
                time_ns,
                pieces: Vec::new(),
                len: None,
                is_bad: false,
            }
        });
        let before = waiting.kept();
        waiting.add(&fragment);
        self.kept += waiting.kept();
        self.kept -= before;
        if !waiting.is_whole() {
            return None;
        }
        let whole = self.waiting.remove(&key)?;
        self.kept -= whole.kept();
        self.counts.whole += 1;
        Some(whole.packet(header))
    }

    /// Gives up everything; gives what was counted.
    pub fn finish(mut self) -> FragmentCounts {
        while self.give_up_first() {}
        self.counts
    }

    /// Gives up what has waited for too long, or is too much.
    fn give_up_late(&mut self, time_ns: i64) {
        while let Some((_, begun_ns)) = self.begun.front()
            && (time_ns.saturating_sub(*begun_ns) > TIMEOUT_NS
                || self.begun.len() > MAX_WAITING
                || self.kept > MAX_KEPT)
        {
            self.give_up_first();
        }
    }

    fn give_up_first(&mut self) -> bool {
        let Some((key, begun_ns)) = self.begun.pop_front() else {
            return false;
        };
        // Another packet with the same identification may have begun since.
        let is_same = |waiting: &Waiting| waiting.time_ns == begun_ns;
        if self.waiting.get(&key).is_some_and(is_same)
            && let Some(waiting) = self.waiting.remove(&key)
        {
            self.kept -= waiting.kept();
            match waiting.is_bad {
                true => self.counts.bad += 1,
                false => self.counts.incomplete += 1,
            }
        }
        true
    }
}

impl Waiting {
    /// Octets in memory.
    fn kept(&self) -> usize {
        self.pieces.iter().map(|(_, data)| data.len() + 64).sum()
    }

    fn add(&mut self, fragment: &Fragment<'_>) {
        let (start, end) = (fragment.offset, fragment.offset + fragment.data.len());
        let place = self.pieces.partition_point(|(other, _)| *other < start);
        if let Some((other, data)) = self.pieces.get(place)
            && *other == start
            && data == fragment.data
        {
            // The same fragment once more, as when a network duplicates packets.
            return;
        }
        let before = place.checked_sub(1).map(|place| &self.pieces[place]);
        let overlaps = before.is_some_and(|(other, data)| other + data.len() > start)
            || self
                .pieces
                .get(place)
                .is_some_and(|(other, _)| *other < end);
        let contradicts = match (fragment.is_last, self.len) {
            (true, Some(len)) => len != end,
            (true, None) => self
                .pieces
                .last()
                .is_some_and(|(other, data)| other + data.len() > end),
            (false, Some(len)) => end > len,
            (false, None) => false,
        };
        if self.is_bad || overlaps || contradicts || self.pieces.len() >= MAX_PIECES {
            // It stays known without data, so that its other fragments do not begin it anew.
            *self = Self {
                pieces: Vec::new(),
                is_bad: true,
                ..*self
            };
            return;
        }
        if fragment.is_last {
            self.len = Some(end);
        }
        self.pieces.insert(place, (start, fragment.data.to_vec()));
    }

    fn is_whole(&self) -> bool {
        let Some(len) = self.len.filter(|_| !self.is_bad) else {
            return false;
        };
        // Nothing overlaps and nothing is after the end, so the sum tells.
        self.pieces
            .iter()
            .map(|(_, data)| data.len())
            .sum::<usize>()
            == len
    }

    /// The packet with `header` before its data.
    fn packet(self, header: Header) -> Vec<u8> {
        let data = self.pieces.into_iter().flat_map(|(_, data)| data);
        let (mut packet, place, counted) = match header {
            Header::Ipv4(header) => (header.to_vec(), 2, 0),
            Header::Ipv6(header) => (header.to_vec(), 4, IPV6_HEADER_LEN),
        };
        packet.extend(data);
        let len = (packet.len() - counted) as u16;
        packet[place..place + 2].copy_from_slice(&len.to_be_bytes());
        packet
    }
}

/// Reads the fragment of an IPv4 packet; `None` if it is not whole or contradicts itself.
fn ipv4(octets: &[u8]) -> Option<Fragment<'_>> {
    let mut header = *octets.first_chunk::<IPV4_HEADER_LEN>()?;
    let header_len = usize::from(header[0] & 0x0F) * 4;
    let total_len = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let data = octets.get(header_len..total_len)?;
    let field = u16::from_be_bytes([header[6], header[7]]);
    let mut ends = [0; 32];
    ends[..8].copy_from_slice(&header[12..20]);
    let id = u16::from_be_bytes([header[4], header[5]]);
    // The header of the whole packet: without options, and no fragment.
    header[0] = 0x45;
    (header[6], header[7]) = (0, 0);
    fragment(
        (ends, id.into(), header[9]),
        Header::Ipv4(header),
        usize::from(field & 0x1FFF) * 8,
        field & 0x2000 == 0,
        data,
        IPV4_HEADER_LEN,
    )
}

/// Reads the fragment of an IPv6 packet; `None` if it is not whole or contradicts itself.
fn ipv6(octets: &[u8]) -> Option<Fragment<'_>> {
    let mut header = *octets.first_chunk::<IPV6_HEADER_LEN>()?;
    let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let mut rest = octets.get(IPV6_HEADER_LEN..IPV6_HEADER_LEN + len)?;
    let mut next = header[6];
    while matches!(next, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS) {
        let &[following, len] = rest.first_chunk::<2>()?;
        next = following;
        rest = rest.get((usize::from(len) + 1) * 8..)?;
    }
    if next != FRAGMENT {
        return None;
    }
    let (&[next, _, a, b, id @ ..], data) = rest.split_first_chunk::<FRAGMENT_HEADER_LEN>()?;
    let field = u16::from_be_bytes([a, b]);
    let mut ends = [0; 32];
    ends.copy_from_slice(&header[8..40]);
    header[6] = next;
    fragment(
        (ends, u32::from_be_bytes(id), FRAGMENT),
        Header::Ipv6(header),
        usize::from(field >> 3) * 8,
        field & 1 == 0,
        data,
        0,
    )
}

/// A fragment whose packet is no longer than packets are, `header_len` octets of header counted; all but the last have a multiple
/// of eight octets.
fn fragment(
    key: Key,
    header: Header,
    offset: usize,
    is_last: bool,
    data: &[u8],
    header_len: usize,
) -> Option<Fragment<'_>> {
    let is_right = offset + data.len() + header_len <= usize::from(u16::MAX)
        && !data.is_empty()
        && (is_last || data.len().is_multiple_of(8));
    is_right.then_some(Fragment {
        key,
        header,
        offset,
        is_last,
        data,
    })
}

#[cfg(test)]
mod tests;

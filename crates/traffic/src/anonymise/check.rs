//! The search for originals in what was written, before it gets its name.
//!
//! It reads the output as any reader would and asks of every address in it (of packets, client subnets, records and reverse
//! names) whether it is a pseudonym; and it looks for a sample of originals in all forms that they are written in: octets,
//! text, labels. So it does not depend on what the encoding recognised.

mod found;
mod places;

use super::finder::{Finder, colons};
use super::options::CLIENT_SUBNET;
use super::pieces::Tuples;
use super::seen::{Original, Seen};
use crate::TrafficError;
use crate::message::Message;
use crate::read::{Chunk, Decoded, Packet, PerChunk, Ports, Reading, decode, run};
use crate::wire::{HEADER_LEN, NameBuffer, TYPE_OPT, View, labels, read_name};
use dnsrig_stream::capture::ip::{IpPacket, TCP, UDP};
use dnsrig_stream::capture::link::Frame;
pub use found::Finding;
use places::{Place, UDP_HEADER_LEN, find_carried, framed, place_in_payload};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;

const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;
const CLASS_IN: u16 = 1;
/// A pointer to the first question's name.
const QUESTION_POINTER: [u8; 2] = [0xC0, HEADER_LEN as u8];

/// What the search looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckSummary {
    /// Packets of the output.
    pub packets: u64,
    /// Addresses of which was asked whether they are pseudonyms.
    pub addresses: u64,
    /// Originals that were looked for, of all distinct ones a random sample.
    pub originals: u64,
    /// Forms in which they were looked for.
    pub forms: u64,
}

/// Looks through the capture in `reading`, which was just written; gives the first finding, if there is one.
///
/// # Errors
/// Those of reading.
pub fn check(
    reading: &Reading<'_>,
    seen: &Seen,
) -> Result<Result<CheckSummary, Finding>, TrafficError> {
    let search = Search::new(seen, reading.ports);
    let mut finding = None;
    let (read, workers) = run(reading, &search, |part: Option<Finding>| {
        finding = part;
        match finding {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    })?;
    if let Some(finding) = finding {
        return Ok(Err(finding));
    }
    Ok(Ok(CheckSummary {
        packets: read.packets(),
        addresses: workers.iter().map(|worker| worker.known.asked).sum(),
        originals: search.finder.originals() as u64,
        forms: search.finder.forms() as u64,
    }))
}

/// Addresses at hand that were found to be pseudonyms; one for each thread.
struct Known {
    /// With a bit above the address, which empty slots have not.
    v4: Vec<u64>,
    v6: Vec<Option<u128>>,
    /// Addresses that were looked at.
    asked: u64,
}

const V4_SLOTS: usize = 1 << 12;
const V6_SLOTS: usize = 1 << 10;
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Known {
    fn new() -> Self {
        Self {
            v4: vec![0; V4_SLOTS],
            v6: vec![None; V6_SLOTS],
            asked: 0,
        }
    }

    /// Fetches into the cache what [`Known::is_image`] needs that is not at hand.
    #[inline]
    fn prefetch(&self, address: IpAddr, seen: &Seen) {
        if let IpAddr::V4(address) = address {
            let address = address.to_bits();
            if self.v4[slot_of(address.into(), V4_SLOTS)] != entry_of(address) {
                seen.prefetch_v4(address);
            }
        }
    }

    /// Whether `address` may be a pseudonym.
    fn is_image(&mut self, address: IpAddr, seen: &Seen) -> bool {
        self.asked += 1;
        match address {
            IpAddr::V4(address) => {
                let address = address.to_bits();
                let slot = &mut self.v4[slot_of(address.into(), V4_SLOTS)];
                let entry = entry_of(address);
                if *slot == entry {
                    return true;
                }
                *slot = entry * u64::from(seen.may_be_image_v4(address));
                *slot == entry
            }
            IpAddr::V6(address) => {
                let address = address.to_bits();
                let mixed = (address >> 64) as u64 ^ (address as u64).rotate_left(32);
                let slot = &mut self.v6[slot_of(mixed, V6_SLOTS)];
                if *slot != Some(address) {
                    *slot = seen.may_be_image_v6(address).then_some(address);
                }
                slot.is_some()
            }
        }
    }
}

/// What a thread keeps.
struct Worker {
    known: Known,
    name: NameBuffer,
}

impl Worker {
    fn new() -> Self {
        Self {
            known: Known::new(),
            name: NameBuffer::default(),
        }
    }
}

/// An address as its slot holds it.
fn entry_of(address: u32) -> u64 {
    1 << 32 | u64::from(address)
}

fn slot_of(value: u64, slots: usize) -> usize {
    (value.wrapping_mul(SPREAD) >> 32) as usize % slots
}

struct Search<'s> {
    seen: &'s Seen,
    ports: &'s Ports,
    finder: Finder,
}

impl<'s> Search<'s> {
    fn new(seen: &'s Seen, ports: &'s Ports) -> Self {
        Self {
            seen,
            ports,
            finder: Finder::new(seen),
        }
    }

    /// What is wrong with a packet, if anything is.
    fn packet(&self, packet: &Packet<'_>, worker: &mut Worker) -> Option<String> {
        let Worker { known, name } = worker;
        // Nearly all are datagrams, whose headers need not be read twice.
        if let Decoded::Message(message) = decode(packet, self.ports)
            && let Some(payload) = with_udp_header(packet, &message)
        {
            let ends = [message.source.address, message.destination.address];
            return self
                .in_packet(ends, UDP, payload, known)
                .or_else(|| self.in_message(message.octets, name, &mut self.asking(known)));
        }
        let Ok(ip) = IpPacket::parse(Frame::parse(packet.at.link_type, packet.octets)) else {
            return Some("a packet that cannot be read".to_owned());
        };
        let ends = [ip.source, ip.destination];
        let wrong = self.in_packet(ends, ip.protocol, ip.payload, known);
        if wrong.is_some() || ip.protocol != TCP {
            return wrong;
        }
        // What is no message is the end of one that no packet can hold.
        let mut messages = framed(ip.payload).filter(|(_, message)| is_whole(message));
        messages.find_map(|(_, message)| self.in_message(message, name, &mut self.asking(known)))
    }

    /// Looks for originals in what an IP packet holds, and asks about its addresses.
    #[inline]
    fn in_packet(
        &self,
        ends: [IpAddr; 2],
        protocol: u8,
        payload: &[u8],
        known: &mut Known,
    ) -> Option<String> {
        // What is known of them arrives while the payload is searched.
        for end in ends {
            known.prefetch(end, self.seen);
        }
        if let Some((at, original)) = self.finder.find(payload, self.seen) {
            return Some(of_original(
                original,
                place_in_payload(protocol, payload, at),
            ));
        }
        let [source, destination] = ends;
        let mut ask = self.asking(known);
        ask(source, Place::Source).or_else(|| ask(destination, Place::Destination))
    }

    /// Asks whether an address is a pseudonym; says so if it is none.
    fn asking(&self, known: &mut Known) -> impl FnMut(IpAddr, Place) -> Option<String> {
        move |address, place| {
            let is_image = known.is_image(address, self.seen);
            (!is_image).then(|| format!("{address} in {place}, which is no pseudonym"))
        }
    }

    /// Asks about all addresses of a message, and looks for originals where captured octets may be carried in it.
    fn in_message(
        &self,
        octets: &[u8],
        name: &mut NameBuffer,
        ask: &mut impl FnMut(IpAddr, Place) -> Option<String>,
    ) -> Option<String> {
        let Ok(view) = View::parse(octets) else {
            return Some("octets that are no DNS message".to_owned());
        };
        if let Some(question) = view.question {
            let wrong = self.in_name(question.name, Place::Question, ask);
            if wrong.is_some() {
                return wrong;
            }
        }
        for record in view.records() {
            let Ok(record) = record else {
                return Some("a record that is not whole".to_owned());
            };
            let data = Place::Data(record.rtype, record.section);
            let in_data = match (record.rtype, record.data()) {
                (TYPE_A, &[a, b, c, d]) if record.class == CLASS_IN => {
                    ask([a, b, c, d].into(), data)
                }
                (TYPE_AAAA, octets) => <[u8; 16]>::try_from(octets)
                    .ok()
                    .and_then(|address| ask(address.into(), data)),
                (TYPE_OPT, options) => {
                    subnets(options).find_map(|address| ask(address, Place::Option(CLIENT_SUBNET)))
                }
                _ => None,
            };
            let wrong = in_data.or_else(|| {
                find_carried(record.rtype, record.data(), |option, octets| {
                    let original = self.finder.find_carried(octets, self.seen)?;
                    Some(of_original(original, option.map_or(data, Place::Option)))
                })
            });
            if wrong.is_some() {
                return wrong;
            }
            // Most are the question's, which was looked at.
            let is_question = octets[record.owner..].starts_with(&QUESTION_POINTER);
            if !is_question && read_name(octets, record.owner, name).is_ok() {
                let owner = Place::Owner(record.rtype, record.section);
                let wrong = self.in_name(name.as_slice(), owner, ask);
                if wrong.is_some() {
                    return wrong;
                }
            }
        }
        None
    }

    /// Asks about the address that a name stands for, and looks for labels of an address's four octets.
    fn in_name(
        &self,
        name: &[u8],
        place: Place,
        ask: &mut impl FnMut(IpAddr, Place) -> Option<String>,
    ) -> Option<String> {
        let asked = reverse_address(name).and_then(|address| ask(address, place));
        asked.or_else(|| {
            let mut octets = labels(name).filter(|label| label.len() == 4);
            octets.find_map(|label| {
                let original = self.finder.find_carried(label, self.seen)?;
                Some(of_original(original, place))
            })
        })
    }
}

/// The octets of a packet from the UDP header before its message to the end.
fn with_udp_header<'p>(packet: &Packet<'p>, message: &Message<'p>) -> Option<&'p [u8]> {
    let [message, octets] = [message.octets, packet.octets].map(|octets| octets.as_ptr().addr());
    packet
        .octets
        .get(message.checked_sub(octets + UDP_HEADER_LEN)?..)
}

fn is_whole(message: &[u8]) -> bool {
    View::parse(message).is_ok_and(|view| view.records().all(|record| record.is_ok()))
}

fn of_original(original: &Original, place: Place) -> String {
    format!("{} of the original in {place}", described(original))
}

fn described(original: &Original) -> String {
    match *original {
        Original::Ipv4(address) => Ipv4Addr::from_bits(address).to_string(),
        Original::Ipv6(address) => Ipv6Addr::from_bits(address).to_string(),
        Original::Ethernet(octets) => format!("the Ethernet address {}", colons(&octets)),
        Original::Cookie(octets) => format!("the cookie {}", colons(&octets)),
    }
}

/// The addresses of client subnets among options.
fn subnets(options: &[u8]) -> impl Iterator<Item = IpAddr> {
    let tuples = Tuples::of(options);
    let data = tuples
        .filter(|(code, _)| *code == CLIENT_SUBNET)
        .filter_map(|(_, range)| options.get(range?));
    data.filter_map(|data| {
        let (&[_, family, len, _], address) = data.split_first_chunk::<4>()?;
        let mut whole = [0; 16];
        whole.get_mut(..address.len())?.copy_from_slice(address);
        let [a, b, c, d, ..] = whole;
        match (family, len) {
            (_, 0) => None,
            (1, _) => Some([a, b, c, d].into()),
            (2, _) => Some(whole.into()),
            _ => None,
        }
    })
}

/// The address that a name below `in-addr.arpa` or `ip6.arpa` stands for; bits that it does not tell are 0.
fn reverse_address(name: &[u8]) -> Option<IpAddr> {
    let tail = name.last_chunk::<6>()?;
    if !tail.eq_ignore_ascii_case(b"\x04arpa\0") {
        return None;
    }
    let all: Vec<&[u8]> = labels(name).collect();
    let (zone, numbers) = all
        .split_last_chunk::<2>()
        .map(|(numbers, zone)| (zone, numbers))?;
    let texts = numbers.iter().rev().map(|label| str::from_utf8(label).ok());
    if zone[0].eq_ignore_ascii_case(b"in-addr") {
        let is_plain = |text: &&str| text.len() == 1 || matches!(text.as_bytes()[0], b'1'..=b'9');
        let number = |text: Option<&str>| text.filter(is_plain).and_then(|text| text.parse().ok());
        let parsed: Vec<u8> = texts.map_while(number).take(4).collect();
        let mut octets = [0; 4];
        octets[..parsed.len()].copy_from_slice(&parsed);
        return (!parsed.is_empty()).then_some(octets.into());
    }
    if !zone[0].eq_ignore_ascii_case(b"ip6") {
        return None;
    }
    let nibble = |text: Option<&str>| {
        text.filter(|text| text.len() == 1)
            .and_then(|text| u128::from_str_radix(text, 16).ok())
    };
    let parsed: Vec<u128> = texts.map_while(nibble).take(32).collect();
    let address = parsed
        .iter()
        .zip((0..32).rev())
        .fold(0, |address, (nibble, place)| {
            address | nibble << (4 * place)
        });
    (!parsed.is_empty()).then_some(Ipv6Addr::from_bits(address).into())
}

/// The ports of a packet, zeros if it has none, and the ID of the message in a datagram.
fn ports_and_id(packet: &Packet<'_>) -> ([u16; 2], Option<[u8; 2]>) {
    let Ok(ip) = IpPacket::parse(Frame::parse(packet.at.link_type, packet.octets)) else {
        return ([0; 2], None);
    };
    let [a, b, c, d] = ip.payload.first_chunk().copied().unwrap_or_default();
    let message = match ip.protocol {
        TCP => None,
        _ => ip.payload.get(UDP_HEADER_LEN..),
    };
    let id = message.and_then(|message| message.first_chunk().copied());
    ([[a, b], [c, d]].map(u16::from_be_bytes), id)
}

impl PerChunk for Search<'_> {
    type Worker = Worker;
    type Part = Option<Finding>;

    fn worker(&self) -> Worker {
        Worker::new()
    }

    fn chunk(&self, worker: &mut Worker, chunk: &Chunk<'_>) -> Option<Finding> {
        chunk.iter().find_map(|packet| {
            let what = self.packet(&packet, worker)?;
            let (ports, id) = ports_and_id(&packet);
            Some(Finding {
                packet: packet.at.number,
                time_ns: packet.at.time_ns,
                ports,
                id,
                what,
            })
        })
    }
}

#[cfg(test)]
mod tests;

//! The search for originals in what was written, before it gets its name.
//!
//! It reads the output as any reader would and asks of every address in it (of packets, client subnets, records and reverse
//! names) whether it is a pseudonym; and it looks for a sample of originals in all forms that they are written in: octets,
//! text, labels. So it does not depend on what the encoding recognised.

use super::options::CLIENT_SUBNET;
use super::pieces::Tuples;
use super::seen::{Original, Seen};
use crate::TrafficError;
use crate::read::{Chunk, Decoded, Packet, PerChunk, Ports, Reading, decode, run};
use crate::wire::{NameBuffer, TYPE_OPT, View, labels, read_name};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use dnsrig_stream::capture::ip::IpPacket;
use dnsrig_stream::capture::link::Frame;
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;

const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;
const CLASS_IN: u16 = 1;

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

/// Looks through the capture in `reading`, which was just written.
///
/// # Errors
/// [`TrafficError::NotAnonymous`] with the first finding, or those of reading.
pub fn check(reading: &Reading<'_>, seen: &Seen) -> Result<CheckSummary, TrafficError> {
    let search = Search::new(seen, reading.ports)?;
    let mut finding = None;
    let (read, addresses) = run(reading, &search, |part: Option<Finding>| {
        finding = part;
        match finding {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    })?;
    if let Some(Finding { packet, what }) = finding {
        return Err(TrafficError::NotAnonymous { packet, what });
    }
    Ok(CheckSummary {
        packets: read.packets(),
        addresses: addresses.iter().sum(),
        originals: search.originals.len() as u64,
        forms: search.forms.len() as u64,
    })
}

/// Something that must not be in the output.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    packet: u64,
    what: String,
}

/// How an original may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Its octets.
    Octets,
    /// Labels, each with its length, from the first number to the last or the other way.
    Labels,
    /// Text, before and after which no digit stands.
    Text,
}

struct Search<'s> {
    seen: &'s Seen,
    ports: &'s Ports,
    originals: Vec<Original>,
    automaton: AhoCorasick,
    /// Which original each pattern of the automaton is of, and how it is written.
    forms: Vec<(usize, Form)>,
}

impl<'s> Search<'s> {
    fn new(seen: &'s Seen, ports: &'s Ports) -> Result<Self, TrafficError> {
        let originals = seen.originals();
        let (mut patterns, mut forms) = (Vec::new(), Vec::new());
        for (number, original) in originals.iter().enumerate() {
            for (form, pattern) in written(original) {
                patterns.push(pattern);
                forms.push((number, form));
            }
        }
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&patterns)
            .map_err(|error| TrafficError::NoMemory {
                what: format!("the search for originals ({error})"),
                advice: "give the process more memory",
            })?;
        Ok(Self {
            seen,
            ports,
            originals,
            automaton,
            forms,
        })
    }

    /// The first original in `octets`.
    fn original_in(&self, octets: &[u8]) -> Option<&Original> {
        let found = self.automaton.find_overlapping_iter(octets).find(|found| {
            let (number, form) = self.forms[found.pattern().as_usize()];
            let is_digit = |place: Option<usize>| {
                place
                    .and_then(|place| octets.get(place))
                    .is_some_and(u8::is_ascii_hexdigit)
            };
            let is_part = form == Form::Text
                && (is_digit(found.start().checked_sub(1)) || is_digit(Some(found.end())));
            // Another address's pseudonym may be this one.
            let is_image = match self.originals[number] {
                Original::Ipv4(address) => self.seen.may_be_image_v4(address),
                Original::Ipv6(address) => self.seen.may_be_image_v6(address),
                Original::Ethernet(_) | Original::Cookie(_) => false,
            };
            !is_part && !is_image
        })?;
        Some(&self.originals[self.forms[found.pattern().as_usize()].0])
    }

    /// What is wrong with a packet, if anything is; counts the addresses looked at.
    fn packet(&self, packet: &Packet<'_>, addresses: &mut u64) -> Option<String> {
        let original = self
            .original_in(packet.octets)
            .map(|original| match *original {
                Original::Ipv4(address) => Ipv4Addr::from_bits(address).to_string(),
                Original::Ipv6(address) => Ipv6Addr::from_bits(address).to_string(),
                Original::Ethernet(octets) => format!("the Ethernet address {}", digits(&octets)),
                Original::Cookie(octets) => format!("the cookie {}", digits(&octets)),
            });
        if let Some(original) = original {
            return Some(format!("{original} of the original"));
        }
        let mut ask = |address: IpAddr, place: &str| {
            *addresses += 1;
            let is_image = match address {
                IpAddr::V4(address) => self.seen.may_be_image_v4(address.to_bits()),
                IpAddr::V6(address) => self.seen.may_be_image_v6(address.to_bits()),
            };
            (!is_image).then(|| format!("{address} in {place}, which is no pseudonym"))
        };
        let ip = IpPacket::parse(Frame::parse(packet.at.link_type, packet.octets)).ok()?;
        let sides = [
            (ip.source, "its source"),
            (ip.destination, "its destination"),
        ];
        sides
            .into_iter()
            .find_map(|(address, place)| ask(address, place))
            .or_else(|| {
                let Decoded::Message(message) = decode(packet, self.ports) else {
                    return None;
                };
                in_message(message.octets, &mut ask)
            })
    }
}

fn digits(octets: &[u8]) -> String {
    let digits: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    digits.join(":")
}

/// The forms in which an original may be written.
fn written(original: &Original) -> Vec<(Form, Vec<u8>)> {
    let of_labels = |labels: &[String]| -> Vec<u8> {
        labels
            .iter()
            .flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat())
            .collect()
    };
    let of_numbers = |mut numbers: Vec<String>, separators: &[&str]| {
        let mut forms = Vec::new();
        for _ in 0..2 {
            forms.push((Form::Labels, of_labels(&numbers)));
            forms.extend(
                separators
                    .iter()
                    .map(|separator| (Form::Text, numbers.join(separator).into_bytes())),
            );
            numbers.reverse();
        }
        forms
    };
    match *original {
        Original::Ipv4(address) => {
            let numbers = address.to_be_bytes().iter().map(u8::to_string).collect();
            of_numbers(numbers, &[".", "-"])
        }
        Original::Ipv6(address) => {
            let nibbles = (0..32)
                .map(|place| format!("{:x}", address >> (4 * place) & 0xF))
                .collect();
            let mut forms = of_numbers(nibbles, &[]);
            let text = Ipv6Addr::from_bits(address).to_string();
            forms.push((Form::Text, text.replace(':', "-").into_bytes()));
            forms.push((Form::Text, text.into_bytes()));
            forms.push((Form::Octets, address.to_be_bytes().to_vec()));
            forms
        }
        Original::Ethernet(octets) => {
            let text = digits(&octets);
            vec![
                (Form::Octets, octets.to_vec()),
                (Form::Text, text.replace(':', "-").into_bytes()),
                (Form::Text, text.into_bytes()),
            ]
        }
        Original::Cookie(octets) => vec![(Form::Octets, octets.to_vec())],
    }
}

/// Asks about all addresses of a message.
fn in_message(
    octets: &[u8],
    ask: &mut impl FnMut(IpAddr, &str) -> Option<String>,
) -> Option<String> {
    let Ok(view) = View::parse(octets) else {
        return Some("octets that are no DNS message".to_owned());
    };
    let mut name = NameBuffer::default();
    if let Some(question) = view.question
        && let Some(address) = reverse_address(question.name)
    {
        let wrong = ask(address, "its question");
        if wrong.is_some() {
            return wrong;
        }
    }
    for record in view.records() {
        let Ok(record) = record else {
            return Some("a record that is not whole".to_owned());
        };
        let in_data = match (record.rtype, record.data()) {
            (TYPE_A, &[a, b, c, d]) if record.class == CLASS_IN => Some([a, b, c, d].into()),
            (TYPE_AAAA, data) => <[u8; 16]>::try_from(data).ok().map(IpAddr::from),
            (TYPE_OPT, data) => {
                let wrong = subnets(data).find_map(|address| ask(address, "a client subnet"));
                if wrong.is_some() {
                    return wrong;
                }
                None
            }
            _ => None,
        };
        let owner = read_name(octets, record.owner, &mut name).ok();
        let in_owner = owner.and_then(|_| reverse_address(name.as_slice()));
        for (address, place) in [(in_data, "a record"), (in_owner, "the owner of a record")] {
            let wrong = address.and_then(|address| ask(address, place));
            if wrong.is_some() {
                return wrong;
            }
        }
    }
    None
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
    let all: Vec<&[u8]> = labels(name).collect();
    let (zone, numbers) = all
        .split_last_chunk::<2>()
        .map(|(numbers, zone)| (zone, numbers))?;
    if !zone[1].eq_ignore_ascii_case(b"arpa") || numbers.is_empty() {
        return None;
    }
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

impl PerChunk for Search<'_> {
    /// Addresses that were looked at.
    type Worker = u64;
    type Part = Option<Finding>;

    fn worker(&self) -> u64 {
        0
    }

    fn chunk(&self, worker: &mut u64, chunk: &Chunk<'_>) -> Option<Finding> {
        chunk.iter().find_map(|packet| {
            self.packet(&packet, worker).map(|what| Finding {
                packet: packet.at.number,
                what,
            })
        })
    }
}

#[cfg(test)]
mod tests;

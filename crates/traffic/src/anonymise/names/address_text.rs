//! Addresses in names that stay readable: four octets, or eight nibbles or more, as labels, as blocklists are asked for
//! (RFC 5782), networks of response policy zones (`24.0.2.0.192.rpz-ip`), and addresses inside a label (`192-0-2-1.pool.example`, `2001-db8--1.example`, `2001:db8::1`), and reverse zones inside a longer
//! name, where a resolver put a search domain behind (`1.2.0.192.in-addr.arpa.example`).
//!
//! Both directions of a mapping find addresses in the same places, but for names where nibbles and octets touch; two
//! texts of one address within a label (with zeros before numbers or without) may become one.

use super::NamePolicy;
use super::labels_of::{Labels, push_label};
use super::pseudonyms::Pseudonyms;
use super::reverse::{self, Zone, nibble, octet};
use crate::anonymise::cryptopan::CachedPan;
use crate::anonymise::labels::MAX_LABEL_LEN;
use crate::wire::MAX_NAME_LEN;
use std::net::Ipv6Addr;

/// Nibbles from which on labels of one hexadecimal digit are the first ones of an IPv6 address, as lists are asked for networks:
/// 32 bits are the least that is given to a site. Fewer may be an IPv4 address of small numbers.
pub const LEAST_NIBBLES: usize = 8;
const MOST_NIBBLES: usize = 32;
const OCTETS: usize = 4;

/// What a label begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Nothing but itself.
    Label,
    /// So many first octets of an IPv4 address.
    Ipv4(usize),
    /// The length of a prefix, and the octets of its IPv4 address, as response policy zones have them.
    Network,
    /// So many first nibbles of an IPv6 address.
    Ipv6(usize),
}

impl Part {
    /// How many labels it has.
    fn len(self) -> usize {
        match self {
            Self::Label => 1,
            Self::Ipv4(len) | Self::Ipv6(len) => len,
            Self::Network => 1 + OCTETS,
        }
    }
}

/// Writes what stands for a name to `output`, in which labels without addresses are those of `name`; gives which labels
/// are mapped together with the one before them, a bit for each; `None` if there is no address in it.
pub fn map(
    labels: &Labels<'_>,
    pseudonyms: &mut Pseudonyms<'_>,
    pan: &mut CachedPan<'_>,
    name: &[u8],
    output: &mut Vec<u8>,
) -> Option<u128> {
    let (mut inner, mut is_changed) = (0, false);
    let mut place = 0;
    if let Some((zone, behind)) = Zone::inside(labels) {
        let policy = NamePolicy::Keep;
        reverse::map((zone, behind), labels, policy, pseudonyms, pan, output);
        (place, is_changed) = (labels.len() - behind, true);
    }
    let parts = parts(labels, place);
    while place < labels.len() {
        let part = parts[place];
        match part {
            Part::Label => is_changed |= label(labels, place, pseudonyms, pan, name, output),
            Part::Ipv4(len) => push_octets(labels, place, len, pan, output),
            Part::Ipv6(len) => push_nibbles(labels, place, len, pan, output),
            Part::Network => {
                push_label(output, labels.get(place));
                let (address, len) = (address(labels, place + 1, OCTETS), labels.get(place));
                let len = octet(len).unwrap_or(u8::MAX);
                push_numbers(pan.v4_prefix(address, len.into()), OCTETS, output);
            }
        }
        inner |= ((1 << (part.len() - 1)) - 1) << (place + 1);
        is_changed |= part != Part::Label;
        place += part.len();
    }
    output.push(0);
    is_changed.then_some(inner)
}

/// What the labels from `from` on begin, each at its place.
///
/// Addresses are told from the last label on: that of a list comes after them, and what stands before one, such as a number of
/// the list's own, belongs to none. As it may be part of an address all the same, numbers directly before one are mapped as the
/// first of another.
fn parts(labels: &Labels<'_>, from: usize) -> [Part; MAX_NAME_LEN / 2 + 1] {
    let mut parts = [Part::Label; MAX_NAME_LEN / 2 + 1];
    let (mut end, mut behind) = (labels.len(), Part::Label);
    while end > from {
        let count = |most: usize, number: fn(&[u8]) -> Option<u8>| {
            let before = (from..end).rev().take(most);
            before
                .take_while(|&place| number(labels.get(place)).is_some())
                .count()
        };
        let (nibbles, octets) = (count(MOST_NIBBLES, nibble), count(1 + OCTETS, octet));
        let is_next_nibble = nibbles > 0 && matches!(behind, Part::Ipv6(_));
        let is_next_octet = octets > 0 && matches!(behind, Part::Ipv4(_) | Part::Network);
        behind = if nibbles >= LEAST_NIBBLES || is_next_nibble {
            Part::Ipv6(nibbles)
        } else if octets > OCTETS && is_network(labels, end) {
            Part::Network
        } else if octets >= OCTETS || is_next_octet {
            Part::Ipv4(octets.min(OCTETS))
        } else {
            Part::Label
        };
        end -= behind.len();
        parts[end] = behind;
    }
    parts
}

/// Whether the five labels before `end`, which are octets, are a network of a response policy zone
/// (draft-vixie-dnsop-dns-rpz section 4.1.1): its bits behind the prefix are 0.
fn is_network(labels: &Labels<'_>, end: usize) -> bool {
    let is_policy = end < labels.len() && labels.get(end).starts_with(b"rpz-");
    let start = end - OCTETS;
    let len = octet(labels.get(start - 1)).map_or(u32::MAX, u32::from);
    let rest = u32::MAX.checked_shr(len).unwrap_or(0);
    is_policy && (1..=32).contains(&len) && address(labels, start, OCTETS) & rest == 0
}

/// The IPv4 address of which `len` labels from `start` on are the first octets, the first one last; others are 0.
fn address(labels: &Labels<'_>, start: usize, len: usize) -> u32 {
    let octets = (start..start + len).map(|place| octet(labels.get(place)).unwrap_or(0));
    octets.fold(0, |address, octet| address >> 8 | u32::from(octet) << 24)
}

fn push_octets(
    labels: &Labels<'_>,
    start: usize,
    len: usize,
    pan: &mut CachedPan<'_>,
    output: &mut Vec<u8>,
) {
    let mapped = pan.v4_prefix(address(labels, start, len), 8 * len as u32);
    push_numbers(mapped, len, output);
}

/// Writes the first `len` octets of an address as labels, the first one last.
fn push_numbers(address: u32, len: usize, output: &mut Vec<u8>) {
    for octet in address.to_be_bytes()[..len].iter().rev() {
        push_label(output, octet.to_string().as_bytes());
    }
}

fn push_nibbles(
    labels: &Labels<'_>,
    start: usize,
    len: usize,
    pan: &mut CachedPan<'_>,
    output: &mut Vec<u8>,
) {
    let nibbles = (start..start + len).map(|place| nibble(labels.get(place)).unwrap_or(0));
    let address = nibbles.fold(0, |address, nibble| {
        address >> 4 | u128::from(nibble) << 124
    });
    let mapped = pan.v6_prefix(address, 4 * len as u32);
    for place in (0..len).rev() {
        let nibble = mapped >> (124 - 4 * place) & 0xF;
        push_label(output, format!("{nibble:x}").as_bytes());
    }
}

/// Writes what stands for the label at `place`; says whether that is something else.
fn label(
    labels: &Labels<'_>,
    place: usize,
    pseudonyms: &mut Pseudonyms<'_>,
    pan: &mut CachedPan<'_>,
    name: &[u8],
    output: &mut Vec<u8>,
) -> bool {
    let label = labels.get(place);
    match in_label(label, pan) {
        InLabel::Mapped(text) => push_label(output, text.as_bytes()),
        InLabel::Unwritable => {
            let pseudonym = pseudonyms.label(labels, place, |_| false);
            push_label(output, pseudonym.as_slice());
        }
        InLabel::Nothing => {
            // With its capital letters: the name has the label at the same place.
            let start = name.len() - labels.tail(place).len();
            push_label(output, &name[start + 1..][..label.len()]);
            return false;
        }
    }
    true
}

/// What stands for a label.
enum InLabel {
    /// It has no address in it.
    Nothing,
    /// This text.
    Mapped(String),
    /// What should stand for it is longer than labels may be, or it holds other octets than ASCII's.
    Unwritable,
}

/// What stands for a label with addresses in it.
fn in_label(label: &[u8], pan: &mut CachedPan<'_>) -> InLabel {
    if let Some((address, separator)) = ipv6(label) {
        let mapped = Ipv6Addr::from_bits(pan.v6(address)).to_string();
        return InLabel::Mapped(mapped.replace(':', separator));
    }
    let mut mapped = String::new();
    let mut at = 0;
    while let Some(found) = ipv4(label, at) {
        let Ok(before) = str::from_utf8(&label[at..found.start]) else {
            return InLabel::Unwritable;
        };
        mapped.push_str(before);
        found.write(pan.v4(found.address), &mut mapped);
        at = found.end;
    }
    match str::from_utf8(&label[at..]) {
        _ if at == 0 => InLabel::Nothing,
        Ok(rest) if mapped.len() + rest.len() <= MAX_LABEL_LEN => InLabel::Mapped(mapped + rest),
        _ => InLabel::Unwritable,
    }
}

/// What may stand between the numbers of an IPv4 address in a label.
const SEPARATORS: &[u8] = b"-_x.,:;|/+~ ";

/// An IPv4 address inside a label.
struct Found {
    address: u32,
    start: usize,
    end: usize,
    /// What stands between its numbers, and how often.
    separator: (u8, u8),
    /// Whether all numbers have three digits, and one has a needless zero.
    is_padded: bool,
}

impl Found {
    /// Writes another address as this one is written.
    fn write(&self, address: u32, output: &mut String) {
        for (place, octet) in address.to_be_bytes().iter().enumerate() {
            let (separator, times) = self.separator;
            for _ in 0..times * u8::from(place > 0) {
                output.push(char::from(separator));
            }
            output.push_str(&match self.is_padded {
                true => format!("{octet:03}"),
                false => octet.to_string(),
            });
        }
    }
}

/// The first IPv4 address in `label` from `from` on: four numbers up to 255 with the same separator between them, once or twice.
fn ipv4(label: &[u8], from: usize) -> Option<Found> {
    let is_digit = |at: usize| label.get(at).is_some_and(u8::is_ascii_digit);
    let mut starts =
        (from..label.len()).filter(|&at| is_digit(at) && (at == from || !is_digit(at - 1)));
    starts.find_map(|start| {
        let mut numbers = [0; 4];
        let (mut at, mut separator, mut lens, mut has_zero) = (start, None, [0; 4], false);
        for (place, number) in numbers.iter_mut().enumerate() {
            if place > 0 {
                let found = *label.get(at).filter(|octet| SEPARATORS.contains(octet))?;
                let times = 1 + u8::from(label.get(at + 1) == Some(&found));
                if *separator.get_or_insert((found, times)) != (found, times) {
                    return None;
                }
                at += usize::from(times);
            }
            let len = (at..at + 4).take_while(|&at| is_digit(at)).count();
            let digits = &label[at..at + len];
            let value = digits
                .iter()
                .fold(0, |value, digit| value * 10 + u16::from(digit - b'0'));
            if !(1..=3).contains(&len) || value > 255 {
                return None;
            }
            (*number, lens[place]) = (value as u8, len);
            has_zero |= len > 1 && digits[0] == b'0';
            at += len;
        }
        Some(Found {
            address: u32::from_be_bytes(numbers),
            start,
            end: at,
            separator: separator?,
            is_padded: has_zero && lens == [3; 4],
        })
    })
}

/// The IPv6 address that a label is, and what stands between its groups, colons or hyphens: groups of up to four hexadecimal
/// digits, eight of them or two at least with `::` among them. A word such as `dead--beef` is taken for one, too.
fn ipv6(label: &[u8]) -> Option<(u128, &'static str)> {
    // Most labels have none.
    let separators = label.iter().filter(|octet| matches!(octet, b'-' | b':'));
    if separators.count() < 2 {
        return None;
    }
    let text = str::from_utf8(label).ok()?;
    let separator = if text.contains(':') { ":" } else { "-" };
    let groups = text.split(separator).filter(|group| !group.is_empty());
    if groups.count() < 2 {
        return None;
    }
    let address = text.replace(separator, ":").parse::<Ipv6Addr>().ok()?;
    Some((address.to_bits(), separator))
}

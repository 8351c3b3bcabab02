//! Addresses in names that stay readable: four octets or 32 nibbles as labels, as blocklists are asked for (RFC 5782), and
//! addresses inside a label (`192-0-2-1.pool.example`, `2001-db8--1.example`, `2001:db8::1`), and reverse zones inside a longer
//! name, where a resolver put a search domain behind (`1.2.0.192.in-addr.arpa.example`).
//!
//! Both directions of a mapping find addresses in the same places, but for names where 32 nibbles and four octets touch; two
//! texts of one address within a label (with zeros before numbers or without) may become one.

use super::NamePolicy;
use super::labels_of::{Labels, push_label};
use super::pseudonyms::Pseudonyms;
use super::reverse::{self, Zone, nibble, octet};
use crate::anonymise::cryptopan::CachedPan;
use crate::anonymise::labels::MAX_LABEL_LEN;
use std::net::Ipv6Addr;

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
    while place < labels.len() {
        if let Some(address) = run::<32>(labels, place, nibble) {
            let address = address
                .iter()
                .rev()
                .fold(0, |address, nibble| address << 4 | u128::from(*nibble));
            let mapped = pan.v6(address);
            for nibble in (0..32).map(|place| mapped >> (4 * place) & 0xF) {
                push_label(output, format!("{nibble:x}").as_bytes());
            }
            inner |= ((1 << 31) - 1) << (place + 1);
            (place, is_changed) = (place + 32, true);
        } else if let Some([a, b, c, d]) = run::<4>(labels, place, octet) {
            let mapped = pan.v4(u32::from_be_bytes([d, c, b, a]));
            for octet in mapped.to_le_bytes() {
                push_label(output, octet.to_string().as_bytes());
            }
            inner |= 0b111 << (place + 1);
            (place, is_changed) = (place + 4, true);
        } else {
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
                    place += 1;
                    continue;
                }
            }
            (place, is_changed) = (place + 1, true);
        }
    }
    output.push(0);
    is_changed.then_some(inner)
}

/// The numbers of `N` labels from `place` on, if `number` finds one in each.
fn run<const N: usize>(
    labels: &Labels<'_>,
    place: usize,
    number: impl Fn(&[u8]) -> Option<u8>,
) -> Option<[u8; N]> {
    let mut numbers = [0; N];
    for (offset, into) in numbers.iter_mut().enumerate() {
        let label = (place + offset < labels.len()).then(|| labels.get(place + offset))?;
        *into = number(label)?;
    }
    Some(numbers)
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

/// The IPv6 address that a label is, and what stands between its groups, colons or hyphens: at least three groups and a digit,
/// so that no word is taken for one.
fn ipv6(label: &[u8]) -> Option<(u128, &'static str)> {
    // Most labels have none.
    let separators = label.iter().filter(|octet| matches!(octet, b'-' | b':'));
    if separators.count() < 2 {
        return None;
    }
    let text = str::from_utf8(label).ok()?;
    let separator = if text.contains(':') { ":" } else { "-" };
    let groups = text.split(separator).filter(|group| !group.is_empty());
    if groups.count() < 3 || !label.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let address = text.replace(separator, ":").parse::<Ipv6Addr>().ok()?;
    Some((address.to_bits(), separator))
}

//! Originals in all forms that they may be written in, looked for in many octets.
//!
//! Every place of four octets is asked of a bitmap whether an original may begin there, which for most it says no to. This is
//! five times as fast as an automaton for thousands of patterns, which is in no core's cache.

use super::seen::{Original, Seen};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::Ipv6Addr;

/// Octets by which the bitmap tells where an original may begin. What is written in fewer, such as `::1` or `1::`, is not looked
/// for in that form: so few octets tell of nobody.
const KEY_LEN: usize = 4;
const FILTER_BITS: u32 = 16;
/// Set in all letters that are small, and in digits and separators: so both cases of letters have the same key.
const SMALL: u32 = 0x2020_2020;

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

/// An original in one form.
struct Pattern {
    original: usize,
    form: Form,
    octets: Vec<u8>,
}

/// Looks for originals.
pub struct Finder {
    originals: Vec<Original>,
    patterns: Vec<Pattern>,
    filter: Vec<u64>,
    by_key: HashMap<u32, Vec<usize>, RandomState>,
    /// Originals by their first octets, to be looked for where nothing but captured octets stands.
    carried: HashMap<[u8; KEY_LEN], Vec<usize>, RandomState>,
}

impl Finder {
    /// A finder of the originals in the sample of `seen`.
    pub fn new(seen: &Seen) -> Self {
        let mut made = Self {
            originals: seen.originals(),
            patterns: Vec::new(),
            filter: vec![0; (1 << FILTER_BITS) / 64],
            by_key: HashMap::default(),
            carried: HashMap::default(),
        };
        for (number, original) in made.originals.iter().enumerate() {
            let octets = octets_of(original);
            if let Some(first) = octets.first_chunk().filter(|_| is_told(&octets)) {
                made.carried.entry(*first).or_default().push(number);
            }
            for (form, octets) in written(original) {
                let Some(first) = octets.first_chunk() else {
                    continue;
                };
                let key = key(*first);
                let bit = place(key);
                made.filter[bit / 64] |= 1 << (bit % 64);
                made.by_key
                    .entry(key)
                    .or_default()
                    .push(made.patterns.len());
                made.patterns.push(Pattern {
                    original: number,
                    form,
                    octets,
                });
            }
        }
        made
    }

    /// How many originals it looks for.
    pub fn originals(&self) -> usize {
        self.originals.len()
    }

    /// In how many forms.
    pub fn forms(&self) -> usize {
        self.patterns.len()
    }

    /// The first original in `octets` that is no pseudonym as well, and where it begins.
    pub fn find(&self, octets: &[u8], seen: &Seen) -> Option<(usize, &Original)> {
        for (at, window) in octets.windows(KEY_LEN).enumerate() {
            let key = key(window.try_into().expect("windows of so many octets"));
            let bit = place(key);
            if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
                continue;
            }
            let found = self.begins_at(octets, at, key);
            if let Some(original) = found.filter(|original| !is_image(original, seen)) {
                return Some((at, original));
            }
        }
        None
    }

    /// The first original whose octets are in `octets`, which are an option's or a record's data, or a label: such few ones
    /// stand in other parts of messages by chance.
    pub fn find_carried(&self, octets: &[u8], seen: &Seen) -> Option<&Original> {
        octets
            .windows(KEY_LEN)
            .enumerate()
            .filter_map(|(at, window)| Some((at, self.carried.get(window)?)))
            .flat_map(|(at, numbers)| numbers.iter().map(move |number| (at, *number)))
            .map(|(at, number)| (at, &self.originals[number]))
            .find(|(at, original)| {
                octets[*at..].starts_with(&octets_of(original)) && !is_image(original, seen)
            })
            .map(|(_, original)| original)
    }

    /// The original that begins at `at`, where four octets have `key`.
    fn begins_at(&self, octets: &[u8], at: usize, key: u32) -> Option<&Original> {
        let mut patterns = self
            .by_key
            .get(&key)?
            .iter()
            .map(|number| &self.patterns[*number]);
        let found = patterns.find(|pattern| {
            let end = at + pattern.octets.len();
            let Some(there) = octets.get(at..end) else {
                return false;
            };
            match pattern.form {
                Form::Octets => there == pattern.octets,
                Form::Labels => {
                    there.eq_ignore_ascii_case(&pattern.octets)
                        && !(there.len() == 8 && is_among_nibbles(octets, at, end))
                }
                Form::Text => {
                    let is_digit = |place: usize| {
                        let octet = octets.get(place);
                        octet.is_some_and(match self.originals[pattern.original] {
                            Original::Ipv4(_) => u8::is_ascii_digit,
                            _ => u8::is_ascii_hexdigit,
                        })
                    };
                    let is_part = at.checked_sub(1).is_some_and(is_digit) || is_digit(end);
                    !is_part && there.eq_ignore_ascii_case(&pattern.octets)
                }
            }
        })?;
        Some(&self.originals[found.original])
    }
}

/// Whether four labels of one digit, which are `octets` from `at` to `end`, are nibbles of an IPv6 address: 8.8.4.4 is in many.
fn is_among_nibbles(octets: &[u8], at: usize, end: usize) -> bool {
    let is_nibble =
        |label: Option<&[u8]>| matches!(label, Some([1, digit]) if digit.is_ascii_hexdigit());
    let before = at.checked_sub(2).and_then(|start| octets.get(start..at));
    let after = octets.get(end..).unwrap_or_default();
    let is_zone = |zone: &[u8]| {
        let found = after.get(..zone.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(zone))
    };
    is_nibble(before) || is_nibble(after.get(..2)) || is_zone(b"\x03ip6")
}

/// Whether what looks like an original may be another one's pseudonym.
fn is_image(original: &Original, seen: &Seen) -> bool {
    match *original {
        Original::Ipv4(address) => seen.may_be_image_v4(address),
        Original::Ipv6(address) => seen.may_be_image_v6(address),
        Original::Ethernet(_) | Original::Cookie(_) => false,
    }
}

fn key(octets: [u8; KEY_LEN]) -> u32 {
    u32::from_ne_bytes(octets) | SMALL
}

/// The place of a key in the bitmap.
fn place(key: u32) -> usize {
    (key.wrapping_mul(0x9E37_79B1) >> (32 - FILTER_BITS)) as usize
}

/// The forms in which an original may be written.
fn written(original: &Original) -> Vec<(Form, Vec<u8>)> {
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
            // Of `::` and `::1`, zeros are all that there is, and these stand in any padding.
            if address > 1 {
                forms.push((Form::Octets, address.to_be_bytes().to_vec()));
            }
            forms
        }
        Original::Ethernet(octets) => {
            let text = colons(&octets);
            let mut forms = vec![
                (Form::Text, text.replace(':', "-").into_bytes()),
                (Form::Text, text.into_bytes()),
            ];
            forms.extend(rare(&octets));
            forms
        }
        Original::Cookie(octets) => rare(&octets).into_iter().collect(),
    }
}

/// The octets of an Ethernet address or a cookie as a form, unless they may stand in any message by chance: zeros and small
/// numbers as in headers (`00:00:00:00:00:01` is in every query), letters as in names.
fn rare(octets: &[u8]) -> Option<(Form, Vec<u8>)> {
    let count = octets.iter().filter(|octet| **octet != 0).count();
    let is_rare = count >= 4 && octets.iter().any(|octet| *octet >= 0x80);
    is_rare.then(|| (Form::Octets, octets.to_vec()))
}

/// The octets of an original.
fn octets_of(original: &Original) -> Vec<u8> {
    match original {
        Original::Ipv4(address) => address.to_be_bytes().to_vec(),
        Original::Ipv6(address) => address.to_be_bytes().to_vec(),
        Original::Ethernet(octets) => octets.to_vec(),
        Original::Cookie(octets) => octets.to_vec(),
    }
}

/// Whether octets tell of an original even where few are: not one octet only, nor text.
fn is_told(octets: &[u8]) -> bool {
    let count = octets.iter().filter(|octet| **octet != 0).count();
    let is_plain = octets.iter().all(|octet| *octet == octets[0]);
    let is_text = octets.iter().all(|octet| matches!(octet, b' '..=b'~'));
    count > octets.len() / 3 && !is_plain && !is_text
}

/// Numbers as labels and with separators, from the first and from the last on.
fn of_numbers(mut numbers: Vec<String>, separators: &[&str]) -> Vec<(Form, Vec<u8>)> {
    let mut forms = Vec::new();
    for _ in 0..2 {
        let labels = numbers
            .iter()
            .map(|number| [&[number.len() as u8], number.as_bytes()].concat());
        forms.push((Form::Labels, labels.flatten().collect()));
        let texts = separators.iter().map(|separator| numbers.join(separator));
        forms.extend(texts.map(|text| (Form::Text, text.into_bytes())));
        numbers.reverse();
    }
    forms
}

/// Octets as Ethernet addresses are written.
pub fn colons(octets: &[u8]) -> String {
    let digits: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    digits.join(":")
}

//! Originals in all forms that they may be written in, looked for in many octets.
//!
//! Of every second place, a bitmap is asked whether four octets of an original may stand there, its first or those after its first,
//! which for most it says no to. This is many times as fast as an automaton for thousands of patterns, which is in no core's cache.

use super::seen::{Original, Seen};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::Ipv6Addr;

/// Octets by which the bitmap tells where an original may be.
const KEY_LEN: usize = 4;
/// Of so many places one is asked for. What is written in fewer octets than a key has and those places leave out, such as `::1` or
/// `1::2`, is not looked for in that form: so few octets tell of nobody.
const STRIDE: usize = 2;
const FILTER_BITS: u32 = 16;
const FILTER_WORDS: usize = (1 << FILTER_BITS) / u64::BITS as usize;
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
    filter: Box<[u64; FILTER_WORDS]>,
    /// The patterns of a key, and the place of the key in each.
    by_key: HashMap<u32, Vec<(usize, usize)>, RandomState>,
    /// Originals by their first octets, to be looked for where nothing but captured octets stands.
    carried: HashMap<[u8; KEY_LEN], Vec<usize>, RandomState>,
}

impl Finder {
    /// A finder of the originals in the sample of `seen`.
    pub fn new(seen: &Seen) -> Self {
        let originals = seen.originals();
        let mut made = Self {
            originals: Vec::new(),
            patterns: Vec::new(),
            filter: Box::new([0; FILTER_WORDS]),
            by_key: HashMap::default(),
            carried: HashMap::default(),
        };
        for (number, original) in originals.iter().enumerate() {
            let octets = octets_of(original);
            if let Some(first) = octets.first_chunk().filter(|_| is_told(&octets)) {
                made.carried.entry(*first).or_default().push(number);
            }
            for (form, octets) in written(original) {
                made.look_for(Pattern {
                    original: number,
                    form,
                    octets,
                });
            }
        }
        Self { originals, ..made }
    }

    fn look_for(&mut self, pattern: Pattern) {
        if pattern.octets.len() < KEY_LEN + STRIDE - 1 {
            return;
        }
        for (at, window) in pattern.octets.windows(KEY_LEN).take(STRIDE).enumerate() {
            let key = key(window.first_chunk().expect("a window is as long as a key"));
            for bit in places(key) {
                self.filter[bit / 64] |= 1 << (bit % 64);
            }
            let patterns = self.by_key.entry(key).or_default();
            patterns.push((self.patterns.len(), at));
        }
        self.patterns.push(pattern);
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
        let filter: &[u64; FILTER_WORDS] = &self.filter;
        let is_set = |bit: usize| filter[bit / 64] >> (bit % 64) & 1 != 0;
        let mut rest = octets;
        while let Some(window) = rest.first_chunk::<KEY_LEN>() {
            let [first, second] = places(key(window));
            if is_set(first) && is_set(second) {
                let found = self.found_at(octets, octets.len() - rest.len(), seen);
                if found.is_some() {
                    return found;
                }
            }
            rest = &rest[STRIDE..];
        }
        None
    }

    /// The original that is no pseudonym as well and whose key stands at `key_at`, and where it begins.
    #[cold] // Apart, the loop above keeps all that it needs in registers.
    #[inline(never)]
    fn found_at(&self, octets: &[u8], key_at: usize, seen: &Seen) -> Option<(usize, &Original)> {
        let patterns = self.by_key.get(&key(octets[key_at..].first_chunk()?))?;
        let mut originals = patterns.iter().filter_map(|(number, offset)| {
            let (pattern, at) = (&self.patterns[*number], key_at.checked_sub(*offset)?);
            let stands = self.stands_at(octets, at, pattern);
            stands.then(|| (at, &self.originals[pattern.original]))
        });
        originals.find(|(_, original)| !is_image(original, seen))
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

    /// Whether all of a pattern stands at `at`.
    fn stands_at(&self, octets: &[u8], at: usize, pattern: &Pattern) -> bool {
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

/// The key of a window of [`KEY_LEN`] octets.
#[inline]
fn key(window: &[u8; KEY_LEN]) -> u32 {
    u32::from_ne_bytes(*window) | SMALL
}

/// The two places of a key in the bitmap.
#[inline]
fn places(key: u32) -> [usize; 2] {
    let mixed = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    [64, 64 - FILTER_BITS]
        .map(|upper| (mixed >> (upper - FILTER_BITS)) as usize % (1 << FILTER_BITS))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_found_at_every_place() {
        let seen = Seen::default();
        let originals = [
            Original::Ipv4(u32::from_be_bytes([192, 0, 2, 77])),
            Original::Ipv4(u32::from_be_bytes([8, 8, 4, 4])),
            Original::Ipv6(0x2001_0DB8_0000_0000_0000_0000_0000_0017),
            Original::Ethernet([0x02, 0x9A, 0xBC, 0xDE, 0xF0, 0x12]),
            Original::Cookie([0x81, 2, 3, 4, 5, 6, 7, 8]),
        ];
        for original in originals {
            seen.original(original);
        }
        let finder = Finder::new(&seen);
        assert_eq!(finder.originals(), originals.len());
        for original in originals {
            for (form, written) in written(&original) {
                for at in 0..2 * STRIDE {
                    for behind in 0..2 * STRIDE {
                        let octets = [&vec![b'z'; at], &written[..], &vec![b'z'; behind]].concat();
                        let found = finder.find(&octets, &seen);
                        assert_eq!(found, Some((at, &original)), "{form:?} at {at}: {octets:?}");
                    }
                }
                let without_end = &written[..written.len() - 1];
                assert_eq!(finder.find(without_end, &seen), None, "{form:?}");
            }
        }
    }

    #[test]
    fn a_pseudonym_hides_no_original_that_is_written_alike() {
        let [first, other] = [[1, 2, 3, 4], [4, 3, 2, 1]].map(u32::from_be_bytes);
        for (image, hidden) in [(first, other), (other, first)] {
            let seen = Seen::default();
            seen.original(Original::Ipv4(first));
            seen.original(Original::Ipv4(other));
            seen.image_v4(image);
            let finder = Finder::new(&seen);
            // Either of them, one from its last number on.
            for text in ["z1.2.3.4z", "z4.3.2.1z"] {
                let found = finder.find(text.as_bytes(), &seen);
                assert_eq!(found, Some((1, &Original::Ipv4(hidden))), "{text}");
            }
        }
    }
}

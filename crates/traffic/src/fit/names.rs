//! What names are like, without the names.

use super::counts::{Counts, rounded};
use super::tally::hash_of;
use crate::profile::{MissingFigures, NameFigures};
use crate::wire::labels;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The most labels that are told apart, as the most that made names have.
const MOST_LABELS: usize = 13;
const MOST_OCTETS: usize = 64;
/// The last labels of which shares are told, and those that are remembered.
const TOLD_SUFFIXES: usize = 20;
const MOST_SUFFIXES: usize = 1 << 16;
/// What lives no longer than this and longer than the one before it, in seconds, is told by it.
const LIFETIMES_S: [u32; 20] = [
    0,
    5,
    10,
    20,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14_400,
    21_600,
    43_200,
    86_400,
    172_800,
    604_800,
    2_147_483_647,
];

/// Names that exist, or those that do not.
#[derive(Debug)]
pub(super) struct NameTally {
    names: Counts,
    labels: [u64; MOST_LABELS],
    octets: [u64; MOST_OCTETS],
    suffixes: HashMap<u64, u64, RandomState>,
    lifetimes: [u64; LIFETIMES_S.len()],
}

impl Default for NameTally {
    fn default() -> Self {
        Self {
            names: Counts::default(),
            labels: [0; MOST_LABELS],
            octets: [0; MOST_OCTETS],
            suffixes: HashMap::default(),
            lifetimes: [0; LIFETIMES_S.len()],
        }
    }
}

/// What one name looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Four numbers.
    Address,
    /// One label of random letters, as it seems.
    RandomLabel,
    /// Anything else, with the hash of its last label.
    Other(u64),
}

impl NameTally {
    /// Counts a question for the name, in wire format, of hash `hash`. Names of addresses are made otherwise than others, and
    /// their form is not counted.
    pub fn add(&mut self, name: &[u8], hash: u64, is_reverse: bool) {
        self.names.add(hash);
        if is_reverse {
            return;
        }
        let count = labels(name).count().min(MOST_LABELS - 1);
        self.labels[count] += 1;
        if count >= 2
            && let Some(label) = labels(name).nth(labels(name).count() - 2)
        {
            self.octets[label.len().min(MOST_OCTETS - 1)] += 1;
        }
        if let Some(last) = labels(name).last() {
            self.add_suffix(hash_of(&last.to_ascii_lowercase()));
        }
    }

    fn add_suffix(&mut self, suffix: u64) {
        if self.suffixes.len() < MOST_SUFFIXES || self.suffixes.contains_key(&suffix) {
            *self.suffixes.entry(suffix).or_insert(0) += 1;
        }
    }

    /// Counts the lifetime of an answer.
    pub fn add_lifetime(&mut self, ttl_s: u32) {
        let place = LIFETIMES_S.partition_point(|&known| known < ttl_s);
        self.lifetimes[place.min(LIFETIMES_S.len() - 1)] += 1;
    }

    /// What a profile has of them; what was not met is as `default` says.
    pub fn figures(&self, default: &NameFigures) -> NameFigures {
        if self.names.total() == 0 {
            return default.clone();
        }
        let (count, popularity) = self.names.ranks(2);
        let mut suffixes: Vec<u64> = self.suffixes.values().copied().collect();
        suffixes.sort_unstable_by(|a, b| b.cmp(a));
        suffixes.truncate(TOLD_SUFFIXES);
        let all: u64 = self.suffixes.values().sum();
        let numbered = |counts: &[u64]| points((0..).map(f64::from).zip(counts.iter().copied()));
        let or_default = |found: Vec<[f64; 2]>, default: &[[f64; 2]]| match found.is_empty() {
            true => default.to_vec(),
            false => found,
        };
        NameFigures {
            count: count as f64,
            popularity,
            once: rounded(self.names.once()),
            ttl_s: or_default(
                points(LIFETIMES_S.map(f64::from).into_iter().zip(self.lifetimes)),
                &default.ttl_s,
            ),
            // The root has no labels, and made names have one at least.
            labels: or_default(
                numbered(&self.labels)
                    .into_iter()
                    .filter(|point| point[0] > 0.0)
                    .collect(),
                &default.labels,
            ),
            label_octets: or_default(numbered(&self.octets), &default.label_octets),
            suffixes: Vec::new(),
            suffix_shares: suffixes
                .iter()
                .map(|&count| rounded(count as f64 / all.max(1) as f64))
                .collect(),
        }
    }
}

/// Points `[value, share]` of what was met.
fn points(counts: impl Iterator<Item = (f64, u64)> + Clone) -> Vec<[f64; 2]> {
    let total: u64 = counts.clone().map(|(_, count)| count).sum();
    let met = counts.filter(|(_, count)| *count > 0);
    met.map(|(value, count)| [value, rounded(count as f64 / total as f64)])
        .collect()
}

/// Why names do not exist.
#[derive(Debug, Default)]
pub(super) struct MissingTally {
    addresses: u64,
    random_labels: u64,
    others: HashMap<u64, u64, RandomState>,
}

impl MissingTally {
    /// Counts a question for a name that does not exist.
    pub fn add(&mut self, name: &[u8]) {
        match shape(name) {
            Shape::Address => self.addresses += 1,
            Shape::RandomLabel => self.random_labels += 1,
            Shape::Other(suffix) => {
                if self.others.len() < MOST_SUFFIXES || self.others.contains_key(&suffix) {
                    *self.others.entry(suffix).or_insert(0) += 1;
                }
            }
        }
    }

    /// What a profile has of them, beside names that exist.
    pub fn figures(&self, existing: &NameTally, default: &MissingFigures) -> MissingFigures {
        let (mut below_known, mut below_unknown) = (0, 0);
        for (suffix, count) in &self.others {
            match existing.suffixes.contains_key(suffix) {
                true => below_known += count,
                false => below_unknown += count,
            }
        }
        let total = (self.addresses + self.random_labels + below_known + below_unknown) as f64;
        if total == 0.0 {
            return default.clone();
        }
        MissingFigures {
            unknown_suffix: rounded(below_unknown as f64 / total),
            random_label: rounded(self.random_labels as f64 / total),
            address: rounded(self.addresses as f64 / total),
            unknown_name: rounded(below_known as f64 / total),
        }
    }
}

fn shape(name: &[u8]) -> Shape {
    let is_number = |label: &[u8]| {
        let text = std::str::from_utf8(label).unwrap_or_default();
        text.parse::<u8>().is_ok()
    };
    let count = labels(name).count();
    if count == 4 && labels(name).all(is_number) {
        return Shape::Address;
    }
    let is_random = |label: &[u8]| {
        (7..=15).contains(&label.len())
            && label.iter().all(u8::is_ascii_lowercase)
            && !is_word(label)
    };
    match (count, labels(name).last()) {
        (1, Some(label)) if is_random(label) => Shape::RandomLabel,
        (_, last) => Shape::Other(hash_of(&last.unwrap_or_default().to_ascii_lowercase())),
    }
}

/// Whether letters look like a word: a third of them are vowels, and never five consonants follow each other.
fn is_word(label: &[u8]) -> bool {
    let is_vowel = |octet: &u8| b"aeiouy".contains(octet);
    let vowels = label.iter().filter(|octet| is_vowel(octet)).count();
    let longest = label.split(is_vowel).map(<[u8]>::len).max().unwrap_or(0);
    3 * vowels + 2 >= label.len() && longest < 5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn wire(text: &str) -> Vec<u8> {
        let mut name: Vec<u8> = Vec::new();
        for label in text.split('.') {
            name.push(label.len() as u8);
            name.extend_from_slice(label.as_bytes());
        }
        name.push(0);
        name
    }

    #[test]
    fn shapes_are_told_apart() {
        assert_eq!(shape(&wire("192.0.2.1")), Shape::Address);
        assert_eq!(shape(&wire("qkxhvzpgt")), Shape::RandomLabel);
        for word in ["localhost", "workgroup", "localdomain", "router"] {
            assert!(matches!(shape(&wire(word)), Shape::Other(_)), "{word}");
        }
        assert_eq!(shape(&wire("a.LOCAL")), shape(&wire("b.local")));
    }

    #[test]
    fn figures_have_lengths_and_shares() {
        let default = Profile::open("resolver-2022").unwrap().names;
        let mut tally = NameTally::default();
        assert_eq!(tally.figures(&default), default);
        for (text, times) in [
            ("www.secret.com", 6),
            ("mail.other.org", 3),
            ("once.net", 1),
        ] {
            for _ in 0..times {
                let name = wire(text);
                tally.add(&name, hash_of(&name), false);
                tally.add_lifetime(299);
            }
        }
        let figures = tally.figures(&default);
        assert_eq!((figures.count, figures.once), (2.0, 0.1));
        assert_eq!(figures.labels, [[2.0, 0.1], [3.0, 0.9]]);
        assert_eq!(figures.label_octets, [[4.0, 0.1], [5.0, 0.3], [6.0, 0.6]]);
        assert_eq!(
            (figures.ttl_s, figures.suffix_shares),
            (vec![[300.0, 1.0]], vec![0.6, 0.3, 0.1])
        );
    }

    #[test]
    fn missing_names_are_sorted_by_what_exists() {
        let mut existing = NameTally::default();
        let name = wire("www.example.com");
        existing.add(&name, hash_of(&name), false);
        let mut missing = MissingTally::default();
        for text in ["typo.com", "x.com", "printer.lan", "10.0.0.1"] {
            missing.add(&wire(text));
        }
        let default = Profile::open("resolver-2022").unwrap().missing;
        let figures = missing.figures(&existing, &default);
        let found = [
            figures.unknown_name,
            figures.unknown_suffix,
            figures.address,
            figures.random_label,
        ];
        assert_eq!(found, [0.5, 0.25, 0.25, 0.0]);
    }
}

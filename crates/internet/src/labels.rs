//! The labels of a registry's delegations: as many as wanted, in canonical order, without a list of them.
//!
//! Label number `index` begins with a fixed number of syllables that write a number, and these numbers grow with the
//! index. So the order of the labels is the order of their indices, a label tells its index, and of any other label
//! it is known between which two it falls: what a chain of NSEC records needs.

use crate::random::{self, Purpose, at, scale};

const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
const SYLLABLES: u64 = 100;
/// At least so many labels could stand where one does.
const SPARSENESS: u64 = 16;
/// Octets of a syllable.
const SYLLABLE_LEN: usize = 2;
/// A label's octets at most: 7 syllables and the longest suffix.
pub(crate) const LABEL_LEN_MAX: usize = 32;

/// What labels end in, besides nothing.
const SUFFIXES: [&str; 24] = [
    "-online",
    "-shop",
    "24",
    "hotel",
    "group",
    "-media",
    "tech",
    "web",
    "-consulting",
    "design",
    "-gmbh",
    "store",
    "travel",
    "studio",
    "1",
    "-immobilien",
    "photo",
    "net",
    "lab",
    "-service",
    "auto",
    "japan",
    "foods",
    "-international",
];

/// The labels of one registry.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    seed: u64,
    part: u64,
    count: u64,
    syllables: usize,
    /// How far apart the numbers of neighbours are, on average.
    stride: u64,
}

/// Where a label stands among a registry's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The labels before it.
    pub before: u64,
    /// Whether it is one of them, then of the index `before`.
    pub exists: bool,
}

/// A label's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    octets: [u8; LABEL_LEN_MAX],
    len: usize,
}

impl Label {
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

fn syllable(number: u64) -> [u8; SYLLABLE_LEN] {
    let number = number as usize;
    [CONSONANTS[number / 5], VOWELS[number % 5]]
}

/// Syllables that are less than `text`.
fn syllables_before(text: &[u8]) -> u64 {
    let first = |octet: u8| CONSONANTS.partition_point(|&consonant| consonant < octet) as u64 * 5;
    match *text {
        [] => 0,
        [consonant] => first(consonant),
        [consonant, vowel, ..] => match CONSONANTS.contains(&consonant) {
            true => first(consonant) + VOWELS.partition_point(|&known| known < vowel) as u64,
            false => first(consonant),
        },
    }
}

impl Labels {
    /// `count` labels; `part` tells registries apart.
    pub fn new(seed: u64, part: u64, count: u64) -> Self {
        let (mut syllables, mut room) = (2, SYLLABLES * SYLLABLES);
        while room / SPARSENESS < count {
            syllables += 1;
            room *= SYLLABLES;
        }
        Self {
            seed,
            part,
            count,
            syllables,
            stride: room / count.max(1),
        }
    }

    /// How many labels there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn number(&self, index: u64) -> u64 {
        let bits = at(self.seed, Purpose::Spacing, self.part, index);
        index * self.stride + scale(bits, self.stride)
    }

    /// Label number `index`, which is below `count`.
    pub fn label(&self, index: u64) -> Label {
        let mut label = Label {
            octets: [0; LABEL_LEN_MAX],
            len: self.syllables * SYLLABLE_LEN,
        };
        let mut number = self.number(index);
        for place in (0..self.syllables).rev() {
            let to = place * SYLLABLE_LEN;
            label.octets[to..to + SYLLABLE_LEN].copy_from_slice(&syllable(number % SYLLABLES));
            number /= SYLLABLES;
        }
        let bits = at(self.seed, Purpose::Suffix, self.part, index);
        // Half of them have none.
        let which = random::scale(bits, 2 * SUFFIXES.len() as u64) as usize;
        if let Some(suffix) = SUFFIXES.get(which) {
            let end = label.len + suffix.len();
            label.octets[label.len..end].copy_from_slice(suffix.as_bytes());
            label.len = end;
        }
        label
    }

    /// The syllables of label number `index`, which no other label has.
    pub fn stem(&self, index: u64) -> String {
        let label = self.label(index);
        let stem = &label.as_bytes()[..self.syllables * SYLLABLE_LEN];
        String::from_utf8_lossy(stem).into_owned()
    }

    /// Where the lower-case label `text` stands.
    pub fn place(&self, text: &[u8]) -> Place {
        let mut number = 0;
        for place in 0..self.syllables {
            let rest = text.get(place * SYLLABLE_LEN..).unwrap_or_default();
            let before = syllables_before(rest);
            number = number * SYLLABLES + before;
            let is_syllable = before < SYLLABLES && rest.starts_with(&syllable(before));
            if !is_syllable {
                let further = (self.syllables - place - 1) as u32;
                return Place {
                    before: self.numbers_before(number * SYLLABLES.pow(further)),
                    exists: false,
                };
            }
        }
        let before = self.numbers_before(number);
        if before == self.count || self.number(before) != number {
            return Place {
                before,
                exists: false,
            };
        }
        let label = self.label(before);
        Place {
            exists: label.as_bytes() == text,
            before: before + u64::from(label.as_bytes() < text),
        }
    }

    /// How many labels have a number less than `bound`.
    fn numbers_before(&self, bound: u64) -> u64 {
        let index = bound / self.stride;
        if index >= self.count {
            return self.count;
        }
        index + u64::from(self.number(index) < bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_a_sorted_list(seed: u64, count in 1..400u64, text in "[a-z0-9-]{0,9}", chosen: u64, cut in 0..9usize, added in "[a-z]{0,2}") {
            let labels = Labels::new(seed, 4, count);
            let all: Vec<Vec<u8>> = (0..count).map(|index| labels.label(index).as_bytes().to_vec()).collect();
            prop_assert!(all.is_sorted_by(|a, b| a < b));
            let near = &all[(chosen % count) as usize];
            let near = [&near[..near.len() - cut.min(near.len())], added.as_bytes()].concat();
            for text in [text.as_bytes(), &near, &all[(chosen % count) as usize]] {
                let place = labels.place(text);
                prop_assert_eq!(place.before, all.partition_point(|label| &label[..] < text) as u64);
                prop_assert_eq!(place.exists, all.iter().any(|label| label == text));
            }
        }
    }

    #[test]
    fn many_labels() {
        let labels = Labels::new(1, 0, 160_000_000);
        for index in [0, 1, 77_777_777, 159_999_999] {
            let label = labels.label(index);
            let place = labels.place(label.as_bytes());
            assert_eq!((place.before, place.exists), (index, true));
            assert!(label.as_bytes().len() <= 8 + 1 + 16);
        }
        assert_eq!(labels.place(b"zzzzzzzzzzzz").before, 160_000_000);
        assert_eq!(labels.place(b"").before, 0);
    }
}

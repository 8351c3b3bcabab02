//! Labels as people register them: words, names of people and products, acronyms and numbers.

mod distinct;
mod label;

pub(super) use distinct::Labels;

use super::random::Random;
use super::units::{COMMON, LANGUAGES};
use label::Label;
use std::ops::Range;

/// Of 1,000 names, how many begin otherwise than with a word or a syllable.
const ACRONYMS: u64 = 40;
const NUMBERS: u64 = 17;
const INTERNATIONALISED: u64 = 8;
/// Of 100 names in a language, how many begin with a word of it.
const WORDS_PERCENT: u64 = 56;
/// Of 100 names, how many have hyphens between their parts, if they have several.
const HYPHENATED_PERCENT: u32 = 9;

/// How a label goes on after its first part; languages are indexes of vocabularies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word(usize),
    Name(usize),
    Acronym,
    Number,
    Internationalised,
}

/// The first part of a label.
struct Opener {
    text: Vec<u8>,
    kind: Kind,
    weight: u64,
}

/// The parts of one language's names.
struct Vocabulary {
    words: Vec<&'static str>,
    starts: Vec<&'static str>,
    middles: Vec<&'static str>,
    ends: Vec<&'static str>,
    accents: &'static [(char, char)],
}

/// The labels that begin with the same two octets. Labels of one group sort before all labels of the next.
pub(super) struct Group {
    /// The two octets.
    pub prefix: [u8; 2],
    /// The weight of this group and of all before it.
    weight_up_to: u64,
    openers: Range<usize>,
}

/// All labels that can be drawn, by how they begin.
pub(super) struct LabelModel {
    vocabularies: Vec<Vocabulary>,
    common: Vec<&'static str>,
    openers: Vec<Opener>,
    /// The groups in the order of their labels.
    pub groups: Vec<Group>,
}

impl LabelModel {
    /// The model, always the same.
    pub fn new() -> Self {
        let split = |list: &'static str| list.split_whitespace().collect::<Vec<_>>();
        let vocabularies: Vec<Vocabulary> = LANGUAGES
            .iter()
            .map(|language| Vocabulary {
                words: split(language.words),
                starts: split(language.starts),
                middles: split(language.middles),
                ends: split(language.ends),
                accents: language.accents,
            })
            .collect();
        let mut openers = openers(&vocabularies);
        openers.sort_by(|a, b| a.text.cmp(&b.text));
        let mut groups = Vec::new();
        let mut weight_up_to = 0;
        let mut start = 0;
        for part in openers.chunk_by(|a, b| a.text[..2] == b.text[..2]) {
            weight_up_to += part.iter().map(|opener| opener.weight).sum::<u64>();
            groups.push(Group {
                prefix: [part[0].text[0], part[0].text[1]],
                weight_up_to,
                openers: start..start + part.len(),
            });
            start += part.len();
        }
        Self {
            vocabularies,
            common: split(COMMON),
            openers,
            groups,
        }
    }

    fn weight(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.weight_up_to)
    }

    /// A group, each as often as its weight says.
    pub fn some_group(&self, random: &mut Random) -> &Group {
        let draw = random.next_u64() % self.weight();
        let place = self
            .groups
            .partition_point(|group| group.weight_up_to <= draw);
        &self.groups[place]
    }

    /// How many of `count` names belong to the group of index `index`; all groups have `count` together.
    pub fn share_of_group(&self, count: u64, index: usize) -> u64 {
        let up_to = |weight: u64| {
            (u128::from(count) * u128::from(weight) / u128::from(self.weight())) as u64
        };
        let before = index
            .checked_sub(1)
            .map_or(0, |before| self.groups[before].weight_up_to);
        up_to(self.groups[index].weight_up_to) - up_to(before)
    }

    /// Appends a label of a group to `out`, at least three octets of it; the `attempt`-th for the same name, if those
    /// before were taken.
    pub fn draw(&self, group: &Group, attempt: u32, random: &mut Random, out: &mut Vec<u8>) {
        let opener = self.opener(group, random);
        let is_hyphenated = random.percent(HYPHENATED_PERCENT);
        let mut label = Label::new(self, random, is_hyphenated, out);
        match opener.kind {
            Kind::Internationalised => label.internationalised(attempt),
            kind => label.plain(&opener.text, kind, attempt),
        }
    }

    fn opener(&self, group: &Group, random: &mut Random) -> &Opener {
        let openers = &self.openers[group.openers.clone()];
        let weight: u64 = openers.iter().map(|opener| opener.weight).sum();
        let mut draw = random.next_u64() % weight;
        for opener in openers {
            if draw < opener.weight {
                return opener;
            }
            draw -= opener.weight;
        }
        &openers[0]
    }
}

/// Every first part, none of them shorter than two octets.
fn openers(vocabularies: &[Vocabulary]) -> Vec<Opener> {
    const ALL: u64 = 1 << 32;
    let mut openers = Vec::new();
    let mut share = |texts: Vec<Vec<u8>>, kind: Kind, total: u64| {
        // Words that come first in their list stand in more names.
        let weight = |rank: usize| match kind {
            Kind::Word(_) => 1_000_000 / (30 + rank as u64),
            _ => 1,
        };
        let sum: u64 = (0..texts.len()).map(weight).sum();
        for (rank, text) in texts.into_iter().enumerate() {
            openers.push(Opener {
                text,
                kind,
                weight: (total * weight(rank) / sum).max(1),
            });
        }
    };
    let texts = |list: &[&str]| list.iter().map(|text| text.as_bytes().to_vec()).collect();
    let pairs = |octets: &[u8]| {
        let both = octets
            .iter()
            .flat_map(|&a| octets.iter().map(move |&b| vec![a, b]));
        both.collect::<Vec<_>>()
    };
    for (index, vocabulary) in vocabularies.iter().enumerate() {
        let total = ALL / 1000 * (1000 - ACRONYMS - NUMBERS - INTERNATIONALISED);
        let total = total / 100 * u64::from(LANGUAGES[index].percent);
        let words = total / 100 * WORDS_PERCENT;
        share(texts(&vocabulary.words), Kind::Word(index), words);
        share(texts(&vocabulary.starts), Kind::Name(index), total - words);
    }
    let letters: Vec<u8> = (b'a'..=b'z').collect();
    share(pairs(&letters), Kind::Acronym, ALL / 1000 * ACRONYMS);
    let digits: Vec<u8> = (b'0'..=b'9').collect();
    share(pairs(&digits), Kind::Number, ALL / 1000 * NUMBERS);
    let share_of_all = ALL / 1000 * INTERNATIONALISED;
    share(
        vec![b"xn--".to_vec()],
        Kind::Internationalised,
        share_of_all,
    );
    openers
}

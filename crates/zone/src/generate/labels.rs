//! Labels as people register them: words, names of people and products, acronyms and numbers.

use super::punycode;
use super::random::Random;
use super::units::{COMMON, LANGUAGES, Language};
use std::ops::Range;

/// The longest label (RFC 1035 section 2.3.4).
const LABEL_MAX: usize = 63;
/// The longest label that is drawn; few registered ones are longer, and numbers are added where names are taken.
const DRAWN_MAX: usize = 40;

/// Of 1,000 names, how many begin otherwise than with a word or a syllable.
const ACRONYMS: u64 = 40;
const NUMBERS: u64 = 17;
const INTERNATIONALISED: u64 = 8;
/// Of 100 names in a language, how many begin with a word of it.
const WORDS_PERCENT: u64 = 56;

/// How a label goes on after its first part.
#[derive(Clone, Copy)]
enum Kind {
    Word(&'static Language),
    Name(&'static Language),
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

/// The labels that begin with the same two octets. Labels of one group sort before all labels of the next.
pub(super) struct Group {
    /// The two octets.
    pub prefix: [u8; 2],
    /// The weight of this group and of all before it.
    pub weight_up_to: u64,
    openers: Range<usize>,
}

/// All labels that can be drawn, by how they begin.
pub(super) struct LabelModel {
    openers: Vec<Opener>,
    /// The groups in the order of their labels.
    pub groups: Vec<Group>,
}

impl LabelModel {
    /// The model, always the same.
    pub fn new() -> Self {
        let mut openers = openers();
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
        Self { openers, groups }
    }

    /// The weight of all groups.
    pub fn weight(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.weight_up_to)
    }

    /// The index of a group, each as often as its weight says.
    pub fn some_group(&self, random: &mut Random) -> usize {
        let draw = random.next_u64() % self.weight();
        self.groups
            .partition_point(|group| group.weight_up_to <= draw)
    }

    /// Appends a label of a group to `out`; the `attempt`-th for the same name, if those before were taken.
    pub fn draw(&self, group: &Group, attempt: u32, random: &mut Random, out: &mut Vec<u8>) {
        let opener = self.opener(group, random);
        let mut label = Label {
            out,
            start: 0,
            random,
            is_hyphenated: false,
        };
        label.start = label.out.len();
        label.is_hyphenated = label.random.percent(9);
        match opener.kind {
            Kind::Internationalised => label.internationalised(attempt),
            _ => {
                label.out.extend(&opener.text);
                label.go_on(opener.kind);
                label.lengthen(attempt);
            }
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
fn openers() -> Vec<Opener> {
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
    for language in &LANGUAGES {
        let total = ALL / 1000 * (1000 - ACRONYMS - NUMBERS - INTERNATIONALISED);
        let total = total / 100 * u64::from(language.percent);
        let words = total / 100 * WORDS_PERCENT;
        share(texts(language.words), Kind::Word(language), words);
        share(texts(language.starts), Kind::Name(language), total - words);
    }
    let letters: Vec<u8> = (b'a'..=b'z').collect();
    share(pairs(&letters), Kind::Acronym, ALL / 1000 * ACRONYMS);
    let digits: Vec<u8> = (b'0'..=b'9').collect();
    share(pairs(&digits), Kind::Number, ALL / 1000 * NUMBERS);
    let prefix = vec![b"xn--".to_vec()];
    share(
        prefix,
        Kind::Internationalised,
        ALL / 1000 * INTERNATIONALISED,
    );
    openers
}

/// A label being made at the end of `out`.
struct Label<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    random: &'a mut Random,
    is_hyphenated: bool,
}

impl Label<'_> {
    fn length(&self) -> usize {
        self.out.len() - self.start
    }

    /// Appends `part`, after a hyphen where names have one, unless the label became too long.
    fn join(&mut self, part: &str) {
        let needed = self.length() + usize::from(self.is_hyphenated) + part.len();
        if needed > DRAWN_MAX {
            return;
        }
        if self.is_hyphenated && self.length() > 0 {
            self.out.push(b'-');
        }
        self.out.extend(part.as_bytes());
    }

    fn go_on(&mut self, kind: Kind) {
        match kind {
            Kind::Word(language) => {
                let further = [0, 0, 1, 1, 1, 1, 1, 1, 1, 2][self.random.below(10) as usize];
                for _ in 0..further {
                    match self.random.percent(30) {
                        true => self.name(language),
                        false => self.word(language),
                    }
                }
                if self.random.percent(5) {
                    self.number();
                }
            }
            Kind::Name(language) => {
                self.rest_of_name(language);
                if self.random.percent(30) {
                    self.word(language);
                }
            }
            Kind::Acronym => {
                for _ in 0..1 + self.random.below(2) {
                    let letter = self.random.below(26) as u8;
                    self.out.push(b'a' + letter);
                }
                if self.random.percent(45) {
                    self.word(&LANGUAGES[0]);
                }
            }
            Kind::Number => {
                self.number();
                if self.random.percent(60) {
                    self.word(&LANGUAGES[0]);
                }
            }
            Kind::Internationalised => {}
        }
        // Names of two letters are kept for the registry's own second level.
        while self.length() < 3 {
            self.word(&LANGUAGES[0]);
        }
    }

    fn word(&mut self, language: &Language) {
        let words = match self.random.below(10) {
            0..2 => COMMON,
            2 => LANGUAGES[0].words,
            _ => language.words,
        };
        let [one, other] = [0; 2].map(|_| words[self.random.front(words.len())]);
        // Short words stand in more names.
        self.join(if one.len() <= other.len() { one } else { other });
    }

    fn name(&mut self, language: &Language) {
        let start = *self.random.pick::<&str>(language.starts);
        self.join(start);
        self.rest_of_name(language);
    }

    fn rest_of_name(&mut self, language: &Language) {
        for _ in 0..[0, 0, 1, 1, 2][self.random.below(5) as usize] {
            let middle = self.random.pick::<&str>(language.middles);
            self.out.extend(middle.as_bytes());
        }
        let end = self.random.pick::<&str>(language.ends);
        self.out.extend(end.as_bytes());
    }

    fn number(&mut self) {
        let limit = [10, 10, 100, 100, 1000, 10_000][self.random.below(6) as usize];
        let number = self.random.below(limit);
        self.join(&number.to_string());
    }

    /// Makes the label longer at each attempt, so that there are always enough that nobody has.
    fn lengthen(&mut self, attempt: u32) {
        for _ in 0..attempt / 3 {
            self.word(&LANGUAGES[0]);
        }
        if attempt > 5 {
            let number = self.random.next_u64() % 10_u64.pow(attempt.min(19));
            let number = number.to_string();
            if self.length() + number.len() <= LABEL_MAX {
                self.out.extend(number.as_bytes());
            }
        }
    }

    /// A name with letters beyond ASCII, as its A-label (RFC 5890 section 2.3.2.1).
    fn internationalised(&mut self, attempt: u32) {
        let language = &LANGUAGES[1 + self.random.below(LANGUAGES.len() as u32 - 1) as usize];
        let first = language.words[self.random.front(language.words.len())];
        self.out.extend(first.as_bytes());
        self.go_on(Kind::Word(language));
        self.lengthen(attempt);
        let mut letters: Vec<char> = self.out[self.start..]
            .iter()
            .map(|&o| char::from(o))
            .collect();
        let (plain, accented) = *self.random.pick(language.accents);
        match letters.iter().position(|&letter| letter == plain) {
            Some(place) => letters[place] = accented,
            None => letters.push(accented),
        }
        letters.truncate(LABEL_MAX - 20);
        if !letters.contains(&accented) {
            letters[0] = accented;
        }
        self.out.truncate(self.start);
        self.out.extend(b"xn--");
        punycode::encode(&letters, self.out);
    }
}

/// Distinct labels in order.
pub(super) struct Labels {
    octets: Vec<u8>,
    spans: Vec<Span>,
}

/// Where a label is, and its octets from the third on, as those sort.
#[derive(Clone, Copy)]
struct Span {
    key: u64,
    start: u32,
    length: u8,
}

impl Labels {
    /// Draws `count` different labels of a group, none of them in `taken`, which is sorted; about 16 octets of memory
    /// and its own length each.
    pub fn draw(
        model: &LabelModel,
        group: &Group,
        count: usize,
        taken: &[&[u8]],
        random: &mut Random,
    ) -> Self {
        let mut labels = Self {
            octets: Vec::with_capacity(count * 13),
            spans: Vec::with_capacity(count),
        };
        let mut attempt = 0;
        while labels.spans.len() < count {
            for _ in labels.spans.len()..count {
                let start = labels.octets.len();
                model.draw(group, attempt, random, &mut labels.octets);
                labels.push_span(start);
            }
            labels.sort();
            let octets = &labels.octets;
            labels
                .spans
                .dedup_by(|a, b| a.key == b.key && a.label(octets) == b.label(octets));
            if !taken.is_empty() {
                let is_free = |span: &Span| taken.binary_search(&span.label(octets)).is_err();
                labels.spans.retain(is_free);
            }
            attempt += 1;
        }
        labels
    }

    fn push_span(&mut self, start: usize) {
        let label = &self.octets[start..];
        let mut key = [0; 8];
        let end = label.len().min(10);
        key[..end - 2].copy_from_slice(&label[2..end]);
        self.spans.push(Span {
            key: u64::from_be_bytes(key),
            start: start as u32,
            length: label.len() as u8,
        });
    }

    /// Sorts as RFC 4034 section 6.1 says: octet by octet, what is absent first.
    fn sort(&mut self) {
        let octets = &self.octets;
        self.spans.sort_by(|a, b| {
            a.key
                .cmp(&b.key)
                .then_with(|| a.label(octets).cmp(b.label(octets)))
        });
    }

    /// The labels in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| span.label(&self.octets))
    }
}

impl Span {
    fn label<'a>(&self, octets: &'a [u8]) -> &'a [u8] {
        &octets[self.start as usize..][..usize::from(self.length)]
    }
}

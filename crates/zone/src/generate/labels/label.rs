//! One label, put together of parts.

use super::{Kind, LabelModel, Vocabulary};
use crate::generate::punycode;
use crate::generate::random::Random;

/// The longest label (RFC 1035 section 2.3.4).
const LABEL_MAX: usize = 63;
/// The longest label that is drawn; few registered ones are longer, and numbers are added where names are taken.
const DRAWN_MAX: usize = 40;
/// Letters that an internationalised name may have, so that its A-label is not too long.
const INTERNATIONALISED_MAX: usize = 43;
/// The index of English among the vocabularies.
const ENGLISH: usize = 0;

/// A label being made at the end of `out`.
pub(super) struct Label<'a> {
    model: &'a LabelModel,
    random: &'a mut Random,
    is_hyphenated: bool,
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Label<'a> {
    pub fn new(
        model: &'a LabelModel,
        random: &'a mut Random,
        is_hyphenated: bool,
        out: &'a mut Vec<u8>,
    ) -> Self {
        let start = out.len();
        Self {
            model,
            random,
            is_hyphenated,
            out,
            start,
        }
    }

    /// Makes a label that begins with `first`.
    pub fn plain(&mut self, first: &[u8], kind: Kind, attempt: u32) {
        self.out.extend_from_slice(first);
        self.go_on(kind);
        self.lengthen(attempt);
    }

    /// Makes a name with a letter beyond ASCII, as its A-label (RFC 5890 section 2.3.2.1).
    pub fn internationalised(&mut self, attempt: u32) {
        let others = self.model.vocabularies.len() as u32 - 1;
        let language = 1 + self.random.below(others) as usize;
        let vocabulary = self.vocabulary(language);
        let first = vocabulary.words[self.random.front(vocabulary.words.len())];
        self.plain(first.as_bytes(), Kind::Word(language), attempt);
        let drawn = &self.out[self.start..];
        let mut letters: Vec<char> = drawn.iter().map(|&octet| char::from(octet)).collect();
        letters.truncate(INTERNATIONALISED_MAX);
        while letters.last() == Some(&'-') {
            letters.pop();
        }
        let (plain, accented) = *self.random.pick(vocabulary.accents);
        let place = letters.iter().position(|&letter| letter == plain);
        letters[place.unwrap_or(0)] = accented;
        self.out.truncate(self.start);
        self.out.extend_from_slice(b"xn--");
        punycode::encode(&letters, self.out);
    }

    fn vocabulary(&self, language: usize) -> &'a Vocabulary {
        &self.model.vocabularies[language]
    }

    fn length(&self) -> usize {
        self.out.len() - self.start
    }

    /// Appends `part`, after a hyphen where names have one, unless the label became too long.
    fn join(&mut self, part: &str) {
        let needed = self.length() + usize::from(self.is_hyphenated) + part.len();
        if needed > DRAWN_MAX {
            return;
        }
        if self.is_hyphenated {
            self.out.push(b'-');
        }
        self.out.extend_from_slice(part.as_bytes());
    }

    fn go_on(&mut self, kind: Kind) {
        match kind {
            Kind::Word(language) => {
                for _ in 0..*self.random.pick(&[0, 0, 1, 1, 1, 1, 1, 1, 1, 2]) {
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
                    self.word(ENGLISH);
                }
            }
            Kind::Number => {
                self.number();
                if self.random.percent(60) {
                    self.word(ENGLISH);
                }
            }
            Kind::Internationalised => {}
        }
        // Names of two letters are kept for the registry's own second level.
        while self.length() < 3 {
            self.word(ENGLISH);
        }
    }

    fn word(&mut self, language: usize) {
        let words = match self.random.below(10) {
            0..2 => &self.model.common,
            2 => &self.vocabulary(ENGLISH).words,
            _ => &self.vocabulary(language).words,
        };
        let [one, other] = [0; 2].map(|_| words[self.random.front(words.len())]);
        // Short words stand in more names.
        self.join(if one.len() <= other.len() { one } else { other });
    }

    fn name(&mut self, language: usize) {
        let start = *self.random.pick(&self.vocabulary(language).starts);
        self.join(start);
        self.rest_of_name(language);
    }

    fn rest_of_name(&mut self, language: usize) {
        let vocabulary = self.vocabulary(language);
        for _ in 0..*self.random.pick(&[0, 0, 1, 1, 2]) {
            let middle = *self.random.pick(&vocabulary.middles);
            self.out.extend_from_slice(middle.as_bytes());
        }
        let end = *self.random.pick(&vocabulary.ends);
        self.out.extend_from_slice(end.as_bytes());
    }

    fn number(&mut self) {
        let limit = *self.random.pick(&[10, 10, 100, 100, 1000, 10_000]);
        let number = self.random.below(limit);
        self.join(&number.to_string());
    }

    /// Makes the label longer the more attempts failed, so that there are always enough that nobody has.
    fn lengthen(&mut self, attempt: u32) {
        for _ in 0..attempt / 3 {
            self.word(ENGLISH);
        }
        if attempt > 5 {
            let number = self.random.next_u64() % 10_u64.pow(attempt.min(19));
            let number = number.to_string();
            if self.length() + number.len() <= LABEL_MAX {
                self.out.extend_from_slice(number.as_bytes());
            }
        }
    }
}

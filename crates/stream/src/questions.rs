//! Questions in memory: names and types, without a message around them.

use domain::base::Name;
use domain::base::iana::Rtype;

/// An ordered set of questions of class IN, their names in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Wire names, one after the other.
    names: Vec<u8>,
    /// Where each name ends in `names`.
    ends: Vec<usize>,
    types: Vec<Rtype>,
}

/// One question: a name in uncompressed wire format, and a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The name, letter case as written.
    pub name: &'a Name<[u8]>,
    /// The type.
    pub rtype: Rtype,
}

impl Questions {
    /// Appends a question.
    pub fn push(&mut self, question: Question<'_>) {
        self.names.extend_from_slice(question.name.as_slice());
        self.ends.push(self.names.len());
        self.types.push(question.rtype);
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no question.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The question at `index`, counted from zero.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    pub fn get(&self, index: usize) -> Question<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let name = Name::from_slice(&self.names[start..self.ends[index]])
            .expect("only whole names are appended");
        Question {
            name,
            rtype: self.types[index],
        }
    }

    /// All questions in order.
    pub fn iter(&self) -> impl Iterator<Item = Question<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

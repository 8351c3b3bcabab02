//! Questions in memory: names and types, without a message around them.

use crate::error::StreamError;
use crate::halt::Halt;
use crate::message::{HEADER_LEN, question_name};
use crate::stream::{MAX_QUERIES, QueryStream};
use domain::base::Name;
use domain::base::iana::{Class, Rtype};

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
    /// Takes the questions out of the messages of `stream`, in their order.
    ///
    /// # Errors
    /// [`StreamError::NotAQuestion`] for the first message that is not a query (opcode 0) of one question of class IN.
    pub fn of_stream(stream: &QueryStream) -> Result<Self, StreamError> {
        let mut questions = Self::default();
        for (query, message) in stream.iter().enumerate() {
            let question =
                only_question(message).map_err(|why| StreamError::NotAQuestion { query, why })?;
            questions.push(question);
        }
        Ok(questions)
    }

    /// Appends a question.
    pub fn push(&mut self, question: Question<'_>) {
        self.names.extend_from_slice(question.name.as_slice());
        self.ends.push(self.names.len());
        self.types.push(question.rtype);
    }

    /// Appends a question, as far as memory and [`MAX_QUERIES`] permit; else nothing changes.
    pub(crate) fn try_push(&mut self, question: Question<'_>) -> Result<(), Halt> {
        if self.len() >= MAX_QUERIES {
            return Err(Halt::TooManyQueries);
        }
        self.names.try_reserve(question.name.len())?;
        self.ends.try_reserve(1)?;
        self.types.try_reserve(1)?;
        self.push(question);
        Ok(())
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

fn only_question(message: &[u8]) -> Result<Question<'_>, &'static str> {
    let name = question_name(message).ok_or("its question is not whole")?;
    let fixed = HEADER_LEN + name.len();
    let &[t0, t1, c0, c1] = message
        .get(fixed..fixed + 4)
        .ok_or("its question is not whole")?
    else {
        return Err("its question is not whole");
    };
    if message[2] & 0x78 != 0 {
        return Err("its opcode is not QUERY");
    }
    if message[4..6] != [0, 1] {
        return Err("it has not one question");
    }
    if u16::from_be_bytes([c0, c1]) != Class::IN.to_int() {
        return Err("its class is not IN");
    }
    let rtype = Rtype::from_int(u16::from_be_bytes([t0, t1]));
    Ok(Question { name, rtype })
}

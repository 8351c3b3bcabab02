//! What has to be known of an answer to account for it, and whether it is one: every answer of a load is read to its
//! last octet.

mod malformed;
mod question;
pub(crate) mod records;
#[cfg(test)]
mod tests;

pub use malformed::Malformed;
pub(crate) use question::qnames;
pub use question::{QuestionMatch, question_section};

use records::{FIXED_LEN, Records, rrtype};

/// Octets of a DNS header (RFC 1035 section 4.1.1).
pub const HEADER_LEN: usize = 12;

/// A message whose structure is that of a response.
///
/// Its header has QR = 1, its question section and all records parse, and nothing follows them. Of record data only
/// that of common types is looked into; what it says is not judged. An answer with TC set may have fewer records than its
/// header counts: middleboxes and old servers cut answers where the datagram is full, and leave the counts as they were.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'m> {
    message: &'m [u8],
    question_end: usize,
    records: Records,
}

impl<'m> Answer<'m> {
    /// Reads a message.
    ///
    /// # Errors
    /// The first [`Malformed`] in the order of the message. With TC set, the message may end at or within any record; what
    /// stands before has to parse.
    #[inline]
    pub fn new(message: &'m [u8]) -> Result<Self, Malformed> {
        if message.len() < HEADER_LEN {
            return Err(Malformed::Short);
        }
        if message[2] & 0x80 == 0 {
            return Err(Malformed::NotAResponse);
        }
        let question = question_section(message).ok_or(Malformed::Question)?;
        let question_end = HEADER_LEN + question.len();
        let records = records::walk(message, question_end)
            .or_else(|| records::walk_to_cut(message, question_end).filter(|_| has_tc(message)))
            .ok_or(Malformed::Records)?;
        if records.end != message.len() {
            return Err(Malformed::Trailing);
        }
        Ok(Self {
            message,
            question_end,
            records,
        })
    }

    /// The message ID.
    pub fn id(&self) -> u16 {
        self.word(0)
    }

    /// TC (RFC 1035 section 4.1.1).
    pub fn is_truncated(&self) -> bool {
        has_tc(self.message)
    }

    /// Its question section.
    pub fn question(&self) -> &'m [u8] {
        &self.message[HEADER_LEN..self.question_end]
    }

    /// How its question section compares with `question`, one that parses, of a query whose QDCOUNT is `count`.
    pub fn compare_question(&self, count: u16, question: &[u8]) -> QuestionMatch {
        if self.word(4) == count {
            question::compare(count, question, self.question())
        } else if self.word(4) == 0 && self.message[3] & 0x0f != 0 {
            QuestionMatch::BareError
        } else {
            QuestionMatch::Other
        }
    }

    /// The RCODE, its upper eight bits from the OPT record if there is one (RFC 6891 section 6.1.3).
    pub fn rcode(&self) -> u16 {
        let low = u16::from(self.message[3] & 0x0f);
        match self.records.opt {
            // After the root as owner, TYPE and CLASS.
            Some(opt) => u16::from(self.message[opt + 5]) << 4 | low,
            None => low,
        }
    }

    /// The data of the OPT record.
    pub(crate) fn opt_rdata(&self) -> Option<&'m [u8]> {
        let start = self.records.opt? + 1 + FIXED_LEN;
        let len = usize::from(self.word(start - 2));
        Some(&self.message[start..start + len])
    }

    /// Where the TSIG record begins, which is the last one (RFC 8945 section 5.1).
    pub(crate) fn tsig(&self) -> Option<usize> {
        self.records
            .last
            .filter(|last| last.rrtype == rrtype::TSIG && self.word(10) > 0)
            .map(|last| last.start)
    }

    /// The whole message.
    pub(crate) fn message(&self) -> &'m [u8] {
        self.message
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.message[at], self.message[at + 1]])
    }
}

fn has_tc(message: &[u8]) -> bool {
    message[2] & 0x02 != 0
}

//! A view of a DNS message (RFC 1035 section 4) for hot paths: nothing is copied or allocated, and no octets make it panic.

mod edns;
mod name;
mod records;

pub use edns::{EdnsOption, EdnsOptions, Opt};
pub use name::{
    MAX_NAME_LEN, NameBuffer, labels, question_name_len, read_name, shown_name, skip_name,
    whole_name_len,
};
pub use records::{Record, Records, Section};

use records::record_at;

/// Octets of a message's header.
pub const HEADER_LEN: usize = 12;

/// The type of the OPT pseudo-record (RFC 6891).
pub const TYPE_OPT: u16 = 41;

/// Why octets are no DNS message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Malformed {
    /// Fewer octets than a header has.
    Header,
    /// A question that is not whole, or whose name is compressed or too long.
    Question,
    /// A record that is not whole, or whose name is wrong.
    Record,
}

/// The header of a message (RFC 1035 section 4.1.1; AD and CD: RFC 4035 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The ID.
    pub id: u16,
    /// The sixteen bits of QR, opcode, flags and RCODE.
    pub flags: u16,
    /// QDCOUNT.
    pub questions: u16,
    /// ANCOUNT.
    pub answers: u16,
    /// NSCOUNT.
    pub authorities: u16,
    /// ARCOUNT.
    pub additionals: u16,
}

impl Header {
    /// Reads the header of a message; `None` if the octets are fewer than a header's.
    #[inline]
    pub fn parse(message: &[u8]) -> Option<Self> {
        let &[a, b, c, d, e, f, g, h, i, j, k, l] = message.first_chunk::<HEADER_LEN>()?;
        let [id, flags, questions, answers, authorities, additionals] =
            [[a, b], [c, d], [e, f], [g, h], [i, j], [k, l]].map(u16::from_be_bytes);
        Some(Self {
            id,
            flags,
            questions,
            answers,
            authorities,
            additionals,
        })
    }

    /// QR: whether it is an answer.
    pub fn is_answer(self) -> bool {
        self.flags & 0x8000 != 0
    }

    /// The opcode, 0 to 15.
    pub fn opcode(self) -> u8 {
        (self.flags >> 11) as u8 & 0x0F
    }

    /// AA.
    pub fn is_authoritative(self) -> bool {
        self.flags & 0x0400 != 0
    }

    /// TC.
    pub fn is_truncated(self) -> bool {
        self.flags & 0x0200 != 0
    }

    /// RD.
    pub fn recursion_desired(self) -> bool {
        self.flags & 0x0100 != 0
    }

    /// RA.
    pub fn recursion_available(self) -> bool {
        self.flags & 0x0080 != 0
    }

    /// AD.
    pub fn authentic_data(self) -> bool {
        self.flags & 0x0020 != 0
    }

    /// CD.
    pub fn checking_disabled(self) -> bool {
        self.flags & 0x0010 != 0
    }

    /// The RCODE's four bits of the header; [`Opt::extended_rcode`] has the others.
    pub fn rcode(self) -> u8 {
        self.flags as u8 & 0x0F
    }
}

/// A message's first question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// The name in wire format, uncompressed, with the root label.
    pub name: &'a [u8],
    /// QTYPE.
    pub qtype: u16,
    /// QCLASS.
    pub qclass: u16,
    /// Where in the message the question ends.
    pub end: usize,
}

impl<'a> Question<'a> {
    /// Reads the first question of a message that has one.
    ///
    /// # Errors
    /// [`Malformed::Question`]; a first name is never compressed, as there is no name before it to point to.
    #[inline]
    pub fn parse(message: &'a [u8]) -> Result<Self, Malformed> {
        let len = question_name_len(message).ok_or(Malformed::Question)?;
        let (name, rest) = message[HEADER_LEN..].split_at(len);
        let &[a, b, c, d] = rest.first_chunk::<4>().ok_or(Malformed::Question)?;
        Ok(Self {
            name,
            qtype: u16::from_be_bytes([a, b]),
            qclass: u16::from_be_bytes([c, d]),
            end: HEADER_LEN + len + 4,
        })
    }
}

/// A message whose header and questions are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View<'a> {
    /// All of the message.
    pub octets: &'a [u8],
    /// Its header.
    pub header: Header,
    /// Its first question, if it has any.
    pub question: Option<Question<'a>>,
    /// Where the questions end and records begin.
    pub questions_end: usize,
}

impl<'a> View<'a> {
    /// Reads header and questions of a message; records are read when they are asked for.
    ///
    /// # Errors
    /// [`Malformed::Header`] or [`Malformed::Question`].
    #[inline]
    pub fn parse(octets: &'a [u8]) -> Result<Self, Malformed> {
        let header = Header::parse(octets).ok_or(Malformed::Header)?;
        if header.questions == 0 {
            return Ok(Self {
                octets,
                header,
                question: None,
                questions_end: HEADER_LEN,
            });
        }
        let question = Question::parse(octets)?;
        let mut end = question.end;
        for _ in 1..header.questions {
            end = skip_name(octets, end)
                .map(|end| end + 4)
                .filter(|&end| end <= octets.len())
                .ok_or(Malformed::Question)?;
        }
        Ok(Self {
            octets,
            header,
            question: Some(question),
            questions_end: end,
        })
    }

    /// The records of all sections after the questions.
    pub fn records(&self) -> Records<'a> {
        Records::new(self.octets, self.header, self.questions_end)
    }

    /// The OPT record (RFC 6891), if there is one.
    ///
    /// # Errors
    /// [`Malformed::Record`], if a record before it is not whole.
    #[inline]
    pub fn opt(&self) -> Result<Option<Opt<'a>>, Malformed> {
        if self.header.additionals == 0 {
            return Ok(None);
        }
        for record in self.records() {
            let record = record?;
            if record.rtype == TYPE_OPT && record.section == Section::Additional {
                return Ok(Some(Opt::of(&record)));
            }
        }
        Ok(None)
    }

    /// The OPT record as of [`View::opt`], and where the last record ends, which is the message's end unless other octets follow.
    ///
    /// # Errors
    /// In place of the end, [`Malformed::Record`] if a record is not whole.
    #[inline]
    pub fn opt_and_end(&self) -> (Option<Opt<'a>>, Result<usize, Malformed>) {
        // Every message is walked through: what is not needed of records is not read.
        let header = self.header;
        let first_additional = u32::from(header.answers) + u32::from(header.authorities);
        let (mut opt, mut end) = (None, self.questions_end);
        for number in 0..first_additional + u32::from(header.additionals) {
            let Some(record) = record_at(self.octets, end, Section::Additional) else {
                return (opt, Err(Malformed::Record));
            };
            if record.rtype == TYPE_OPT && number >= first_additional && opt.is_none() {
                opt = Some(Opt::of(&record));
            }
            end = record.rdata.end;
        }
        (opt, Ok(end))
    }

    /// The whole RCODE (RFC 6891 section 6.1.3), with the upper bits of `opt`.
    pub fn rcode(&self, opt: Option<&Opt<'_>>) -> u16 {
        let upper = opt.map_or(0, |opt| u16::from(opt.extended_rcode));
        upper << 4 | u16::from(self.header.rcode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records as messages have them, OPT in any section, some of them cut.
    fn messages() -> impl Strategy<Value = Vec<u8>> {
        let name = prop_oneof![
            Just(&b"\0"[..]),
            Just(&b"\xC0\x0C"[..]),
            Just(&b"\x01a\0"[..])
        ];
        let rtype = prop_oneof![Just(1_u8), Just(41), any::<u8>()];
        let record = (name, rtype, prop::collection::vec(any::<u8>(), 0..20));
        let records = prop::collection::vec(record, 0..6);
        let counts = prop::array::uniform3(0..4_u8);
        (counts, records, 0..8_usize).prop_map(
            |([answers, authorities, additionals], records, cut)| {
                let mut message = vec![
                    0,
                    7,
                    0x80,
                    0,
                    0,
                    0,
                    0,
                    answers,
                    0,
                    authorities,
                    0,
                    additionals,
                ];
                for (name, rtype, data) in records {
                    message.extend_from_slice(name);
                    message.extend_from_slice(&[
                        0,
                        rtype,
                        4,
                        208,
                        0,
                        0,
                        0x80,
                        0,
                        0,
                        data.len() as u8,
                    ]);
                    message.extend_from_slice(&data);
                }
                message.truncate((message.len() - cut.saturating_sub(4)).max(HEADER_LEN));
                message
            },
        )
    }

    proptest! {
        #[test]
        fn the_walk_ends_where_the_records_do(message in messages()) {
            let view = View::parse(&message).unwrap();
            let (opt, end) = view.opt_and_end();
            let mut records = view.records();
            let all: Result<Vec<_>, _> = records.by_ref().collect();
            prop_assert_eq!(end, all.map(|_| records.offset()));
            let is_opt = |record: &Record<'_>| record.rtype == TYPE_OPT && record.section == Section::Additional;
            let first = view.records().map_while(Result::ok).find(is_opt);
            prop_assert_eq!(opt, first.as_ref().map(Opt::of));
        }
    }
}

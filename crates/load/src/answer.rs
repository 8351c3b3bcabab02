//! Just enough of an answer to account for it: header, question, extended RCODE.

use std::fmt;

/// Octets of a DNS header (RFC 1035 section 4.1.1).
pub const HEADER_LEN: usize = 12;

const RRTYPE_OPT: u16 = 41;

/// Why a message cannot be taken as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Fewer octets than a header has.
    Short,
    /// QR is zero: a query.
    NotAResponse,
    /// The question section does not parse.
    Question,
    /// A connection or stream ended inside the message.
    Cut,
    /// It is longer than its stream said, or than any message can be.
    Long,
}

impl Malformed {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [
        Self::Short,
        Self::NotAResponse,
        Self::Question,
        Self::Cut,
        Self::Long,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::NotAResponse => "not_a_response",
            Self::Question => "question",
            Self::Cut => "cut",
            Self::Long => "long",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "shorter than the 12 octets of a header",
            Self::NotAResponse => "QR is 0, so it is a query",
            Self::Question => "its question section does not parse",
            Self::Cut => "it ends before its length says",
            Self::Long => "it goes on after its length says",
        })
    }
}

/// A received message with a whole header and QR = 1.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'m> {
    message: &'m [u8],
}

impl<'m> Answer<'m> {
    /// Takes a message whose header is that of a response.
    ///
    /// # Errors
    /// [`Malformed::Short`] and [`Malformed::NotAResponse`].
    pub fn new(message: &'m [u8]) -> Result<Self, Malformed> {
        if message.len() < HEADER_LEN {
            return Err(Malformed::Short);
        }
        if message[2] & 0x80 == 0 {
            return Err(Malformed::NotAResponse);
        }
        Ok(Self { message })
    }

    /// The message ID.
    pub fn id(&self) -> u16 {
        self.word(0)
    }

    /// TC (RFC 1035 section 4.1.1).
    pub fn is_truncated(&self) -> bool {
        self.message[2] & 0x02 != 0
    }

    /// Whether its question section is, octet for octet, `question`: that of a query whose QDCOUNT is `count`.
    pub fn asks(&self, count: u16, question: &[u8]) -> bool {
        self.word(4) == count && self.message[HEADER_LEN..].starts_with(question)
    }

    /// Whether it is an error without a question section, as servers send when they could not read the query.
    pub fn is_bare_error(&self) -> bool {
        self.word(4) == 0 && self.message[3] & 0x0f != 0
    }

    /// Its question section.
    ///
    /// # Errors
    /// [`Malformed::Question`]
    pub fn question(&self) -> Result<&'m [u8], Malformed> {
        question_section(self.message).ok_or(Malformed::Question)
    }

    /// The RCODE, given the length of the question section.
    ///
    /// The upper eight bits (RFC 6891 section 6.1.3) are taken from an OPT record that follows the question at once,
    /// as it does in every answer that has no other records. BADVERS and BADCOOKIE are always sent like that.
    pub fn rcode(&self, question_len: usize) -> u16 {
        let low = u16::from(self.message[3] & 0x0f);
        if self.word(6) != 0 || self.word(8) != 0 || self.word(10) == 0 {
            return low;
        }
        match self.message.get(HEADER_LEN + question_len..) {
            Some([0, high, lowest, _, _, extended, ..])
                if u16::from_be_bytes([*high, *lowest]) == RRTYPE_OPT =>
            {
                u16::from(*extended) << 4 | low
            }
            _ => low,
        }
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.message[at], self.message[at + 1]])
    }
}

/// The octets of a message's question section, or `None` if it does not parse.
///
/// Compression pointers do not parse: nothing stands before the question that one could point to.
pub fn question_section(message: &[u8]) -> Option<&[u8]> {
    let count = u16::from_be_bytes([*message.get(4)?, *message.get(5)?]);
    let mut end = HEADER_LEN;
    for _ in 0..count {
        let start = end;
        loop {
            let label_len = usize::from(*message.get(end)?);
            end += 1 + label_len;
            // 255 octets is the longest name (RFC 1035 section 3.1), 63 the longest label.
            if label_len > 63 || end - start > 255 {
                return None;
            }
            if label_len == 0 {
                break;
            }
        }
        end += 4;
    }
    message.get(HEADER_LEN..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(flags: [u8; 2], counts: [u16; 4], body: &[u8]) -> Vec<u8> {
        let mut message = vec![0xab, 0xcd, flags[0], flags[1]];
        for count in counts {
            message.extend(count.to_be_bytes());
        }
        message.extend(body);
        message
    }

    const QUESTION: &[u8] = b"\x03www\x07example\0\0\x01\0\x01";

    #[test]
    fn reads_header_and_question() {
        let octets = message([0x82, 0x03], [1, 0, 0, 0], QUESTION);
        let answer = Answer::new(&octets).unwrap();
        assert_eq!(answer.id(), 0xabcd);
        assert!(answer.is_truncated());
        assert_eq!(answer.rcode(QUESTION.len()), 3);
        assert_eq!(answer.question(), Ok(QUESTION));
        assert!(answer.asks(1, QUESTION));
        assert!(
            !answer.asks(1, b"\x03WWW\x07example\0\0\x01\0\x01"),
            "0x20: case counts"
        );
        assert!(!answer.asks(2, QUESTION));
    }

    #[test]
    fn extends_the_rcode_from_opt() {
        let opt = [0, 0, 41, 4, 208, 1, 0, 0, 0, 0, 0];
        let octets = message([0x80, 0x07], [1, 0, 0, 1], &[QUESTION, &opt].concat());
        assert_eq!(
            Answer::new(&octets).unwrap().rcode(QUESTION.len()),
            23,
            "BADCOOKIE"
        );
        let bare = message([0x80, 0x05], [1, 0, 0, 1], QUESTION);
        assert_eq!(
            Answer::new(&bare).unwrap().rcode(QUESTION.len()),
            5,
            "OPT announced but missing"
        );
    }

    #[test]
    fn refuses_what_is_no_answer() {
        assert_eq!(Answer::new(&[0; 11]).unwrap_err(), Malformed::Short);
        assert_eq!(Answer::new(&[0; 12]).unwrap_err(), Malformed::NotAResponse);
        for body in [
            &b"\x03ww"[..],
            b"\xc0\x0c\0\x01\0\x01",
            b"\0\0\x01\0",
            b"\x40",
        ] {
            let octets = message([0x80, 0], [1, 0, 0, 0], body);
            assert_eq!(
                Answer::new(&octets).unwrap().question(),
                Err(Malformed::Question)
            );
        }
    }

    #[test]
    fn knows_an_error_without_question() {
        assert!(
            Answer::new(&message([0x80, 1], [0; 4], &[]))
                .unwrap()
                .is_bare_error()
        );
        assert!(
            !Answer::new(&message([0x80, 0], [0; 4], &[]))
                .unwrap()
                .is_bare_error()
        );
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_panic(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(answer) = Answer::new(&octets) {
                if let Ok(question) = answer.question() {
                    let count = u16::from_be_bytes([octets[4], octets[5]]);
                    prop_assert!(answer.asks(count, question));
                    answer.rcode(question.len());
                }
                answer.is_bare_error();
            }
        }
    }
}

//! The question section (RFC 1035 section 4.1.2), and how that of an answer compares with that of its query.

use super::HEADER_LEN;
use std::iter;
use std::ops::Range;

/// Octets of QTYPE and QCLASS.
const TYPE_AND_CLASS: usize = 4;

/// How the question section of an answer compares with that of its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionMatch {
    /// The same, octet for octet.
    Same,
    /// The same but for the case of ASCII letters in names (RFC 4343).
    OtherCase,
    /// There is none, and the answer is an error, as servers send when they could not read the query.
    BareError,
    /// Another one.
    Other,
}

/// The octets of a message's question section, or `None` if it does not parse.
///
/// Compression pointers do not parse: nothing stands before the question that one could point to.
#[inline]
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
        end += TYPE_AND_CLASS;
    }
    message.get(HEADER_LEN..end)
}

/// Where the QNAMEs of a question section of `count` questions lie in it. The section must be one that parses.
///
/// The octets of a QNAME that are ASCII letters are those of its labels: a label's length is at most 63, less than `A`.
pub fn qnames(count: u16, question: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let (mut left, mut start) = (count, 0);
    iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let mut end = start;
        if left == 0 {
            end = question.len().checked_sub(TYPE_AND_CLASS)?;
        } else {
            while let label_len @ 1.. = usize::from(*question.get(end)?) {
                end += 1 + label_len;
            }
            end += 1;
        }
        let name = start..end;
        start = end + TYPE_AND_CLASS;
        Some(name)
    })
}

/// Compares two question sections of `count` questions; `question` must be one that parses.
pub fn compare(count: u16, question: &[u8], answered: &[u8]) -> QuestionMatch {
    if question == answered {
        return QuestionMatch::Same;
    }
    if question.len() != answered.len() {
        return QuestionMatch::Other;
    }
    // Outside names an octet that looks like a letter is none: QTYPE 65 and 97 are not the same.
    let mut compared = 0;
    for name in qnames(count, question) {
        if question[compared..name.start] != answered[compared..name.start]
            || !question[name.clone()].eq_ignore_ascii_case(&answered[name.clone()])
        {
            return QuestionMatch::Other;
        }
        compared = name.end;
    }
    if question[compared..] == answered[compared..] {
        QuestionMatch::OtherCase
    } else {
        QuestionMatch::Other
    }
}

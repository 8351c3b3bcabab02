//! Whether data of a connection begin with a message, where nothing before them tells.

use crate::capture::dns::{are_framed_queries, check_query, next_frame};
use crate::capture::form::{Beginning, beginning_of_message};

/// What is taken out of connections, which decides how the place is found again where messages begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Queries: a segment is taken for the beginning of messages if it is whole queries and nothing else.
    #[default]
    Queries,
    /// Messages of either direction and any opcode: header, question and records must be as those of messages are, as far as
    /// they are there. A message may go on in further segments.
    Messages,
}

impl Wanted {
    /// What `octets`, which are not empty, can be.
    pub(super) fn beginning(self, octets: &[u8]) -> Beginning {
        match self {
            Self::Queries if are_framed_queries(octets) => Beginning::Messages,
            Self::Queries => Beginning::Other,
            Self::Messages => beginning_of_messages(octets),
        }
    }
}

impl Wanted {
    /// Whether `message`, which comes after others that were wanted, is as messages are. It may be of a kind that is not wanted.
    pub(super) fn has_form(self, message: &[u8]) -> bool {
        let is_query = self == Self::Queries && check_query(message).is_ok();
        is_query || beginning_of_message(message, message.len()) == Beginning::Messages
    }
}

/// What `octets` can be, which are less than a message with its length.
pub(super) fn beginning_of_one(octets: &[u8]) -> Beginning {
    match octets.split_first_chunk::<2>() {
        Some((len, there)) => beginning_of_message(there, u16::from_be_bytes(*len).into()),
        None => Beginning::TooShort,
    }
}

fn beginning_of_messages(octets: &[u8]) -> Beginning {
    let mut rest = octets;
    while let Some((message, after)) = next_frame(rest) {
        if beginning_of_message(message, message.len()) != Beginning::Messages {
            return Beginning::Other;
        }
        rest = after;
    }
    let has_whole = rest.len() < octets.len();
    match beginning_of_one(rest) {
        Beginning::TooShort if has_whole => Beginning::Messages,
        last => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::form::{MAX_NAME, MIN_RECORD};
    use crate::message::HEADER_LEN;
    use proptest::prelude::*;

    /// A message after its length: header with `flags` and `counts`, then `body`.
    fn framed(flags: u16, counts: [u16; 4], body: &[u8]) -> Vec<u8> {
        let len = (HEADER_LEN + body.len()) as u16;
        let fields = [len, 7, flags].into_iter().chain(counts);
        let mut octets: Vec<u8> = fields.flat_map(u16::to_be_bytes).collect();
        octets.extend_from_slice(body);
        octets
    }

    const QUESTION: &[u8] = b"\x03www\x04test\0\0\x01\0\x01";
    const ADDRESS: &[u8] = b"\xC0\x0C\0\x01\0\x01\0\0\0\x3C\0\x04\xC0\0\x02\x50";
    const OPT: &[u8] = b"\0\0\x29\x04\xD0\0\0\0\0\0\0";

    fn messages() -> Vec<Vec<u8>> {
        let update = b"\x04test\0\0\x06\0\x01";
        let deletion = b"\xC0\x0C\0\x01\0\xFE\0\0\0\0\0\0";
        vec![
            framed(0x0100, [1, 0, 0, 1], &[QUESTION, OPT].concat()),
            framed(0x8580, [1, 1, 0, 1], &[QUESTION, ADDRESS, OPT].concat()),
            // Of a zone transfer, after the first.
            framed(0x8400, [0, 1, 0, 0], &[b"\x01a\0", &ADDRESS[2..]].concat()),
            framed(5 << 11, [1, 0, 1, 0], &[&update[..], deletion].concat()),
            framed(0xA800, [0; 4], b""),
            framed(4 << 11, [1, 0, 0, 0], update),
            // Keepalive (RFC 8490 section 7.1).
            framed(6 << 11, [0; 4], b"\0\x01\0\x08\0\0\x3A\x98\0\0\x3A\x98"),
        ]
    }

    #[test]
    fn messages_of_both_directions_and_any_opcode_are_recognised_whole_and_in_parts() {
        for message in messages() {
            for len in 1..=message.len() {
                let found = Wanted::Messages.beginning(&message[..len]);
                assert_ne!(found, Beginning::Other, "{message:?} {len}");
            }
            assert_eq!(Wanted::Messages.beginning(&message), Beginning::Messages);
        }
        let all = messages().concat();
        assert_eq!(Wanted::Messages.beginning(&all), Beginning::Messages);
        assert_eq!(
            Wanted::Messages.beginning(&all[..all.len() - 3]),
            Beginning::Messages
        );
        let question_end = 2 + HEADER_LEN + QUESTION.len();
        let answer = &messages()[1];
        assert_eq!(
            Wanted::Messages.beginning(&answer[..question_end]),
            Beginning::Messages
        );
        assert_eq!(
            Wanted::Messages.beginning(&answer[..question_end - 1]),
            Beginning::TooShort
        );
        assert_eq!(Wanted::Queries.beginning(answer), Beginning::Other);
    }

    #[test]
    fn what_is_inside_messages_is_no_beginning() {
        let all = messages().concat();
        let mut starts = vec![0];
        for message in messages() {
            starts.push(starts[starts.len() - 1] + message.len());
        }
        for start in (0..all.len()).filter(|start| !starts.contains(start)) {
            let found = Wanted::Messages.beginning(&all[start..]);
            // So near the end nothing can be told.
            let is_short = all.len() - start < 2 + HEADER_LEN + MIN_RECORD;
            assert!(
                found == Beginning::Other || found == Beginning::TooShort && is_short,
                "{start}"
            );
        }
        for wrong in [
            framed(0, [2, 0, 0, 0], &[QUESTION, QUESTION].concat()),
            framed(0, [1, 0, 0, 0], b"\x03www\xC0\x0C\0\x01\0\x01"),
            framed(0, [1, 0, 0, 0], b"\x03www\0\0\x01\0\x07"),
            framed(0x8000, [1, 9, 0, 0], &[QUESTION, ADDRESS].concat()),
            framed(0x8000, [1, 1, 0, 0], &[QUESTION, &ADDRESS[..14]].concat()),
            framed(0, [0; 4], b"\0"),
        ] {
            assert_eq!(
                Wanted::Messages.beginning(&wrong),
                Beginning::Other,
                "{wrong:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_too_short_to_tell_is_short(octets in prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 1..800)) {
            if Wanted::Messages.beginning(&octets) == Beginning::TooShort {
                prop_assert!(octets.len() < 2 + HEADER_LEN + MAX_NAME + MIN_RECORD + 64);
            }
        }
    }
}

//! Which messages are queries.

use crate::message::{HEADER_LEN, question_name};

/// Why a message is not taken into a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoQuery {
    /// It is an answer (QR=1).
    Response,
    /// Its opcode is not QUERY.
    OtherOpcode,
    /// It is shorter than a header, or its question section is not that of a query: at most one question, with a whole,
    /// uncompressed name (RFC 9619; none at all is how a client asks for a cookie, RFC 7873 section 5.4).
    Malformed,
}

/// Checks that `message` is a query.
pub fn check_query(message: &[u8]) -> Result<(), NoQuery> {
    let header = message
        .first_chunk::<HEADER_LEN>()
        .ok_or(NoQuery::Malformed)?;
    if header[2] & 0x80 != 0 {
        return Err(NoQuery::Response);
    }
    if header[2] & 0x78 != 0 {
        return Err(NoQuery::OtherOpcode);
    }
    match [header[4], header[5]] {
        [0, 0] => Ok(()),
        [0, 1] => question_name(message)
            .filter(|name| message.len() >= HEADER_LEN + name.len() + 4)
            .map(|_| ())
            .ok_or(NoQuery::Malformed),
        _ => Err(NoQuery::Malformed),
    }
}

/// Whether `octets` are whole queries, each after its length, and nothing else. If a TCP segment is such, messages begin
/// where it begins.
pub fn are_framed_queries(octets: &[u8]) -> bool {
    let mut rest = octets;
    while !rest.is_empty() {
        match next_frame(rest) {
            Some((message, after)) if check_query(message).is_ok() => rest = after,
            _ => return false,
        }
    }
    !octets.is_empty()
}

/// Takes a whole message after its length (RFC 1035 section 4.2.2) off `octets`; also gives what comes after it.
pub fn next_frame(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = octets.split_first_chunk::<2>()?;
    rest.split_at_checked(u16::from_be_bytes(*len).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(flags: u8, questions: u8, question: &[u8]) -> Vec<u8> {
        let mut message = vec![0, 0, flags, 0, 0, questions, 0, 0, 0, 0, 0, 0];
        message.extend_from_slice(question);
        message
    }

    #[test]
    fn queries_are_told_from_everything_else() {
        let question = b"\x01a\x04test\0\0\x01\0\x01";
        assert_eq!(check_query(&query(1, 1, question)), Ok(()));
        assert_eq!(check_query(&query(0, 0, b"")), Ok(()));
        assert_eq!(
            check_query(&query(0x81, 1, question)),
            Err(NoQuery::Response)
        );
        assert_eq!(
            check_query(&query(0x20, 1, question)),
            Err(NoQuery::OtherOpcode)
        );
        for (questions, question) in [
            (2, &question[..]),
            (1, &question[..9]),
            (1, b""),
            (1, b"\xc0\x0c\0\x01\0\x01"),
        ] {
            assert_eq!(
                check_query(&query(0, questions, question)),
                Err(NoQuery::Malformed)
            );
        }
        assert_eq!(check_query(b"short"), Err(NoQuery::Malformed));
    }

    #[test]
    fn framed_queries_are_recognised() {
        let query = query(1, 1, b"\x04test\0\0\x01\0\x01");
        let mut framed = (query.len() as u16).to_be_bytes().to_vec();
        framed.extend_from_slice(&query);
        let twice = [&framed[..], &framed[..]].concat();
        assert!(are_framed_queries(&twice));
        assert!(!are_framed_queries(&twice[..twice.len() - 1]));
        assert!(!are_framed_queries(&twice[1..]));
        assert!(!are_framed_queries(b""));
    }
}

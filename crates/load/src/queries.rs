//! A stream made ready for sending: checked, and with the length of every question.

use crate::LoadError;
use crate::answer::{HEADER_LEN, question_section};
use dnsrig_stream::QueryStream;

/// A checked stream.
#[derive(Debug)]
pub struct Queries<'s> {
    stream: &'s QueryStream,
    question_lens: Vec<u16>,
}

impl<'s> Queries<'s> {
    /// Checks that every message of `stream` can be sent and its answer be recognised.
    ///
    /// # Errors
    /// [`LoadError::EmptyStream`] or, for the first message that cannot be used, [`LoadError::BadQuery`].
    pub fn new(stream: &'s QueryStream) -> Result<Self, LoadError> {
        if stream.is_empty() {
            return Err(LoadError::EmptyStream);
        }
        let question_lens = stream
            .iter()
            .enumerate()
            .map(|(index, message)| {
                question_len(message).map_err(|reason| LoadError::BadQuery {
                    position: index + 1,
                    reason,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            stream,
            question_lens,
        })
    }

    /// The stream.
    pub fn stream(&self) -> &'s QueryStream {
        self.stream
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.question_lens.len()
    }

    /// The message at `index`.
    pub fn message(&self, index: usize) -> &'s [u8] {
        self.stream.message(index)
    }

    /// The client that the stream names for the query at `index`, if it names clients.
    pub fn client(&self, index: usize) -> Option<u32> {
        self.stream.client(index)
    }

    /// QDCOUNT and question section of the message at `index`.
    pub fn question(&self, index: usize) -> (u16, &'s [u8]) {
        let message = self.stream.message(index);
        let end = HEADER_LEN + usize::from(self.question_lens[index]);
        (
            u16::from_be_bytes([message[4], message[5]]),
            &message[HEADER_LEN..end],
        )
    }
}

fn question_len(message: &[u8]) -> Result<u16, String> {
    if message.len() < HEADER_LEN {
        return Err(format!(
            "{} octets, fewer than the {HEADER_LEN} of a DNS header",
            message.len()
        ));
    }
    if message.len() > usize::from(u16::MAX) {
        return Err(format!(
            "{} octets, more than the 65535 of a DNS message",
            message.len()
        ));
    }
    let question = question_section(message).ok_or("its question section does not parse")?;
    u16::try_from(question.len())
        .map_err(|_| "its question section is longer than 65535 octets".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(messages: &[&[u8]]) -> QueryStream {
        let mut stream = QueryStream::default();
        messages.iter().for_each(|message| stream.push(message));
        stream
    }

    const QUERY: &[u8] = b"\0\0\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01";

    #[test]
    fn knows_the_questions() {
        let stream = stream(&[QUERY, &[QUERY, b"\0\0\x29\0\0\0\0\0\0\0\0"].concat()]);
        let queries = Queries::new(&stream).unwrap();
        assert_eq!(queries.question(0), (1, &QUERY[12..]));
        assert_eq!(queries.question(1), (1, &QUERY[12..]));
    }

    #[test]
    fn names_the_query_that_cannot_be_used() {
        let error = Queries::new(&stream(&[QUERY, &QUERY[..15]])).unwrap_err();
        assert!(
            matches!(error, LoadError::BadQuery { position: 2, .. }),
            "{error}"
        );
        assert!(matches!(
            Queries::new(&stream(&[b"short"])),
            Err(LoadError::BadQuery { position: 1, .. })
        ));
        assert!(matches!(
            Queries::new(&stream(&[])),
            Err(LoadError::EmptyStream)
        ));
    }
}

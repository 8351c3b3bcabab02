//! What a finished stream held.

use super::streams::Teller;
use crate::answer::{Answer, Malformed};
use crate::refusal::Refusal;
use crate::transport::{Events, FrameReader};

/// Passes on the messages of a stream that the server has ended, for the query with `id`.
///
/// There should be one, with ID 0 (RFC 9250 section 4.2.1). It gets the ID of the query, as do further ones, which then
/// find no query in flight. Without a response among them the query is refused at once, since none will come: RFC 9250
/// section 4.3.3 would have the session closed, but one bad answer says little about the other queries.
pub fn deliver<E: Events>(octets: &[u8], id: u16, teller: &mut Teller<'_, E>) {
    let mut frames = FrameReader::default();
    let mut has_response = false;
    frames.feed(octets, |message| {
        let answer = &mut *teller.answer;
        answer.clear();
        answer.extend_from_slice(message);
        if let [0, 0, ..] = answer[..] {
            answer[..2].copy_from_slice(&id.to_be_bytes());
            has_response |= Answer::new(answer).is_ok();
        }
        teller
            .events
            .answer(teller.client, answer, teller.received_ns);
    });
    if frames.is_inside_message() || octets.is_empty() {
        teller.events.malformed(teller.client, Malformed::Cut);
    }
    if !has_response {
        teller.refuse(id, Refusal::ProtocolError);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::SessionEvent;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Seen {
        messages: Vec<Vec<u8>>,
        refused: u32,
        malformed: u32,
    }

    impl Events for Seen {
        fn answer(&mut self, _client: usize, message: &[u8], _received_ns: u64) {
            self.messages.push(message.to_vec());
        }

        fn refused(&mut self, _client: usize, id: u16, _refusal: Refusal, _at_ns: u64) {
            assert_eq!(id, 0x1234);
            self.refused += 1;
        }

        fn all_refused(&mut self, _client: usize, _refusal: Refusal, _at_ns: u64) {}

        fn malformed(&mut self, _client: usize, _malformed: Malformed) {
            self.malformed += 1;
        }

        fn session(&mut self, _client: usize, _event: SessionEvent) {}
    }

    fn delivered(octets: &[u8]) -> Seen {
        let mut events = Seen::default();
        let mut teller = Teller {
            client: 0,
            received_ns: 0,
            answer: &mut Vec::new(),
            events: &mut events,
        };
        deliver(octets, 0x1234, &mut teller);
        events
    }

    proptest! {
        /// Each stream is either refused or has a response with the query's ID, and no octet of it is passed over.
        #[test]
        fn any_octets_have_one_outcome(
            messages in proptest::collection::vec(proptest::collection::vec(prop_oneof![Just(0u8), Just(0x80)], 0..40), 0..4),
            rest in proptest::collection::vec(any::<u8>(), 0..3),
        ) {
            let mut octets = Vec::new();
            for message in &messages {
                octets.extend_from_slice(&(message.len() as u16).to_be_bytes());
                octets.extend_from_slice(message);
            }
            let is_cut = octets.is_empty() && rest.is_empty() || !rest.is_empty();
            prop_assume!(rest != [0, 0]);
            octets.extend_from_slice(&rest);
            let seen = delivered(&octets);
            let is_response = |message: &&Vec<u8>| {
                message.starts_with(&[0x12, 0x34]) && Answer::new(message).is_ok()
            };
            prop_assert_eq!(seen.messages.len(), messages.len());
            prop_assert_eq!(seen.malformed, u32::from(is_cut));
            prop_assert_eq!(seen.refused == 0, seen.messages.iter().find(is_response).is_some());
        }
    }

    #[test]
    fn a_response_gets_the_querys_id() {
        let response = [0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let seen = delivered(&[&[0, 12], &response[..]].concat());
        assert_eq!(seen.messages[0][..3], [0x12, 0x34, 0x80]);
        assert_eq!((seen.refused, seen.malformed), (0, 0));
    }
}

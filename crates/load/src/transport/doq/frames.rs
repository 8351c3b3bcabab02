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
        teller
            .events
            .refused(teller.client, id, Refusal::ProtocolError);
    }
}

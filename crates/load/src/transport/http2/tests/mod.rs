//! Octets in, events and octets out: against a server made of frames by hand. The crate `h2` and BIND are in `tests/http2`.

mod cutting;
mod endings;
mod faults;
mod flow;

use super::frame::{self, ACK, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, PREFACE, SETTINGS};
use super::{Http2, HttpRequests};
use crate::answer::Malformed;
use crate::config::{HttpMethod, HttpSettings};
use crate::refusal::Refusal;
use crate::transport::layer::{Layer, LayerEvents};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Answer(Vec<u8>),
    Refused(u16, Refusal),
    HttpStatus(u16),
    Malformed(Malformed),
}

impl LayerEvents for Vec<Event> {
    fn answer(&mut self, message: &[u8]) {
        self.push(Event::Answer(message.to_vec()));
    }

    fn refused(&mut self, id: u16, refusal: Refusal) {
        self.push(Event::Refused(id, refusal));
    }

    fn http_status(&mut self, status: u16) {
        self.push(Event::HttpStatus(status));
    }

    fn malformed(&mut self, malformed: Malformed) {
        self.push(Event::Malformed(malformed));
    }
}

/// A connection with the given method to `[::1]:8443`, nothing of it written.
fn connection(method: HttpMethod) -> Http2 {
    let settings = HttpSettings {
        method,
        ..HttpSettings::default()
    };
    let server = "[::1]:8443".parse().unwrap();
    Http2::new(Arc::new(HttpRequests::new(&settings, None, server)))
}

/// A connection for POST whose server has sent empty SETTINGS, with all of that written.
fn greeted() -> Http2 {
    let mut http = connection(HttpMethod::Post);
    assert_eq!(receive(&mut http, &settings(&[])), Ok(vec![]));
    written(&mut http);
    http
}

/// A connection with one query, of ID 9, written.
fn with_query() -> Http2 {
    let mut http = greeted();
    http.queue(9, &message(0, 20));
    written(&mut http);
    http
}

/// A message of `len` octets with the ID `id`.
fn message(id: u16, len: usize) -> Vec<u8> {
    let octets = (2..len).map(|at| at as u8);
    id.to_be_bytes().into_iter().chain(octets).collect()
}

/// A frame of the server.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    frame::append(&mut octets, kind, flags, stream, payload);
    octets
}

/// SETTINGS of the server.
fn settings(parameters: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (parameter, value) in parameters {
        frame::append_parameter(&mut payload, *parameter, *value);
    }
    frame(SETTINGS, 0, 0, &payload)
}

/// A literal field with a literal name that does not go into the dynamic table.
fn field(name: &str, value: &str) -> Vec<u8> {
    [
        &[0, name.len() as u8],
        name.as_bytes(),
        &[value.len() as u8],
        value.as_bytes(),
    ]
    .concat()
}

/// A header block: status and other fields.
fn block(status: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = fields.iter().flat_map(|(name, value)| field(name, value));
    field(":status", status).into_iter().chain(fields).collect()
}

const CONTENT_TYPE: (&str, &str) = ("content-type", "application/dns-message");

/// The HEADERS frame of a good answer whose content follows.
fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &block("200", &[CONTENT_TYPE]))
}

/// A good answer.
fn answer(stream: u32, message: &[u8]) -> Vec<u8> {
    [head(stream), frame(DATA, END_STREAM, stream, message)].concat()
}

/// What the layer says to these octets.
fn receive(http: &mut Http2, octets: &[u8]) -> Result<Vec<Event>, Refusal> {
    let mut events = Vec::new();
    http.receive(octets, &mut events).map(|()| events)
}

/// A frame of the client: kind, flags, stream, payload.
type Written = (u8, u8, u32, Vec<u8>);

/// The frames that are to be written, which then are.
fn written(http: &mut Http2) -> Vec<Written> {
    let outgoing = http.outgoing().unwrap();
    let octets = outgoing.unwritten().to_vec();
    outgoing.wrote(octets.len());
    let mut rest = octets.strip_prefix(PREFACE).unwrap_or(&octets);
    let mut frames = Vec::new();
    while let Some((frame, after)) = Frame::split_off(rest).unwrap() {
        frames.push((
            frame.kind,
            frame.flags,
            frame.stream,
            frame.payload.to_vec(),
        ));
        rest = after;
    }
    assert!(rest.is_empty(), "whole frames only");
    frames
}

#[test]
fn answers_come_back_with_the_ids_of_their_queries() {
    let mut http = greeted();
    for id in [0xbeef, 7, 0xffff] {
        http.queue(id, &message(0, 20));
    }
    let sent = written(&mut http);
    assert_eq!(sent.len(), 6, "each has HEADERS and DATA");
    for (number, pair) in sent.chunks(2).enumerate() {
        let stream = 2 * number as u32 + 1;
        assert_eq!(
            (pair[0].0, pair[0].1, pair[0].2),
            (HEADERS, END_HEADERS, stream)
        );
        assert_eq!(pair[1], (DATA, END_STREAM, stream, message(0, 20)));
    }
    // In another order, one in two frames of which the second is empty, one ended by trailers.
    let octets = [
        answer(5, &message(0, 30)),
        head(1),
        frame(DATA, 0, 1, &message(0, 40)),
        head(3),
        frame(DATA, 0, 3, &message(0, 50)),
        frame(DATA, END_STREAM, 1, &[]),
        frame(HEADERS, END_STREAM | END_HEADERS, 3, &field("x", "y")),
    ];
    let events = receive(&mut http, &octets.concat()).unwrap();
    let answers = [message(0xffff, 30), message(0xbeef, 40), message(7, 50)];
    assert_eq!(events, answers.map(Event::Answer));
    assert!(!http.is_inside_message() && written(&mut http).is_empty());
    for id in [0xbeef, 7, 0xffff] {
        http.query_ended(id);
    }
    assert!(written(&mut http).is_empty(), "nothing is left to be reset");
}

#[test]
fn interim_answers_padding_and_priority_are_passed_over() {
    let mut http = greeted();
    http.queue(9, &message(0, 20));
    let block = block("200", &[CONTENT_TYPE, ("content-length", "20")]);
    let padded_block = [&[3, 0, 0, 0, 0, 16][..], &block, &[0; 3]].concat();
    let flags = END_HEADERS | frame::PADDED | frame::WITH_PRIORITY;
    let padded_data = [&[200][..], &message(0, 20), &[0; 200]].concat();
    let octets = [
        frame(HEADERS, END_HEADERS, 1, &field(":status", "103")),
        frame(HEADERS, flags, 1, &padded_block),
        frame(DATA, END_STREAM | frame::PADDED, 1, &padded_data),
        frame(0x42, 0xff, 1, b"unknown kinds, too"),
        frame(frame::PRIORITY, 0, 1, &[0; 5]),
    ];
    let events = receive(&mut http, &octets.concat());
    assert_eq!(events, Ok(vec![Event::Answer(message(9, 20))]));
}

#[test]
fn a_header_block_may_go_on_in_further_frames() {
    let mut http = greeted();
    http.queue(9, &message(0, 20));
    let block = block("200", &[CONTENT_TYPE]);
    let octets = [
        frame(HEADERS, 0, 1, &block[..3]),
        frame(frame::CONTINUATION, 0, 1, &[]),
        frame(frame::CONTINUATION, 0, 1, &block[3..20]),
        frame(frame::CONTINUATION, END_HEADERS, 1, &block[20..]),
        frame(DATA, END_STREAM, 1, &message(0, 20)),
    ];
    let events = receive(&mut http, &octets.concat());
    assert_eq!(events, Ok(vec![Event::Answer(message(9, 20))]));
}

#[test]
fn settings_and_pings_are_acknowledged() {
    let mut http = connection(HttpMethod::Get);
    let preface = http.outgoing().unwrap().unwritten();
    assert!(preface.starts_with(PREFACE));
    let first = written(&mut http);
    assert_eq!(
        first.iter().map(|frame| frame.0).collect::<Vec<_>>(),
        [SETTINGS, frame::WINDOW_UPDATE]
    );
    let octets = [
        settings(&[]),
        frame(frame::PING, 0, 0, b"12345678"),
        frame(frame::PING, ACK, 0, &[0; 8]),
        frame(SETTINGS, ACK, 0, &[]),
    ];
    assert_eq!(receive(&mut http, &octets.concat()), Ok(vec![]));
    let replies = [
        (SETTINGS, ACK, 0, vec![]),
        (frame::PING, ACK, 0, b"12345678".to_vec()),
    ];
    assert_eq!(written(&mut http), replies);
}

#[test]
fn a_query_that_has_ended_has_its_stream_reset() {
    let mut http = greeted();
    http.queue(3, &message(0, 20));
    http.queue(4, &message(0, 20));
    written(&mut http);
    assert_eq!(receive(&mut http, &head(1)), Ok(vec![]));
    assert!(http.is_inside_message());
    http.query_ended(3);
    assert_eq!(
        written(&mut http),
        [(frame::RST_STREAM, 0, 1, vec![0, 0, 0, 8])]
    );
    assert!(!http.is_inside_message());
    let late = [
        frame(DATA, END_STREAM, 1, &message(0, 20)),
        answer(3, &message(0, 20)),
    ];
    let events = receive(&mut http, &late.concat());
    assert_eq!(events, Ok(vec![Event::Answer(message(4, 20))]));
    http.queue(3, &message(0, 20));
    let again = answer(5, &message(0, 20));
    assert_eq!(
        receive(&mut http, &again),
        Ok(vec![Event::Answer(message(3, 20))])
    );
}

#[test]
fn a_session_goes_on_after_its_buffers_were_released() {
    let mut http = greeted();
    http.release_buffers();
    http.queue(1, &message(0, 20));
    let octets = [
        head(1),
        frame(DATA, 0, 1, &message(0, 20)),
        frame(DATA, END_STREAM, 1, &[]),
    ]
    .concat();
    for (number, octet) in octets.iter().enumerate() {
        let is_last = number + 1 == octets.len();
        let expected = is_last.then(|| Event::Answer(message(1, 20)));
        assert_eq!(receive(&mut http, &[*octet]), Ok(Vec::from_iter(expected)));
        http.release_buffers();
    }
    written(&mut http);
    http.release_buffers();
    http.queue(2, &message(0, 20));
    assert_eq!(written(&mut http)[1].2, 3, "identifiers go on");
    let events = receive(&mut http, &answer(3, &message(0, 20)));
    assert_eq!(events, Ok(vec![Event::Answer(message(2, 20))]));
}

#[test]
fn the_end_is_announced() {
    let mut http = greeted();
    http.say_goodbye();
    assert_eq!(written(&mut http), [(frame::GOAWAY, 0, 0, vec![0; 8])]);
}

//! What a server may do wrong, and what becomes of the queries then.

use super::super::frame::{
    CONTINUATION, GOAWAY, MAX_PAYLOAD, PADDED, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
    SETTINGS_ENABLE_PUSH, SETTINGS_INITIAL_WINDOW_SIZE, SETTINGS_MAX_FRAME_SIZE, WINDOW_UPDATE,
};
use super::super::streams::Streams;
use super::*;

/// A connection with one query, of ID 9, written.
fn with_query() -> Http2 {
    let mut http = greeted();
    http.queue(9, &message(0, 20));
    written(&mut http);
    http
}

/// What becomes of the query, and the frames that are written then.
fn fate(octets: &[u8]) -> (Vec<Event>, Vec<Written>) {
    let mut http = with_query();
    let events = receive(&mut http, octets).unwrap();
    (events, written(&mut http))
}

fn reset(code: u8) -> Vec<Written> {
    vec![(RST_STREAM, 0, 1, vec![0, 0, 0, code])]
}

fn end_of(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

#[test]
fn other_statuses_refuse_the_query_when_their_content_has_ended() {
    for status in [204, 302, 400, 404, 415, 429, 500, 503, 999] {
        let refused = vec![
            Event::HttpStatus(status),
            Event::Refused(9, Refusal::HttpStatus),
        ];
        let block = block(&status.to_string(), &[CONTENT_TYPE]);
        assert_eq!(fate(&end_of(&block)), (refused.clone(), vec![]));
        let mut http = with_query();
        let page = [
            frame(HEADERS, END_HEADERS, 1, &block),
            frame(DATA, 0, 1, b"<html>"),
        ];
        assert_eq!(receive(&mut http, &page.concat()), Ok(vec![]));
        let end = frame(DATA, END_STREAM, 1, b"</html>");
        assert_eq!(receive(&mut http, &end), Ok(refused));
        assert!(written(&mut http).is_empty());
    }
}

#[test]
fn an_endless_page_is_given_up() {
    let mut http = with_query();
    let head = frame(HEADERS, END_HEADERS, 1, &block("502", &[]));
    let page = frame(DATA, 0, 1, &[b'x'; MAX_PAYLOAD]);
    let events = receive(&mut http, &[head, page.repeat(10)].concat()).unwrap();
    assert_eq!(
        events,
        [
            Event::HttpStatus(502),
            Event::Refused(9, Refusal::HttpStatus)
        ]
    );
    assert_eq!(written(&mut http), reset(8));
}

#[test]
fn other_content_refuses_the_query() {
    let refused = vec![Event::Refused(9, Refusal::HttpContent)];
    for fields in [
        &[("content-type", "text/html")][..],
        &[("content-type", "application/dns-messages")],
        &[],
    ] {
        let octets = [
            frame(HEADERS, END_HEADERS, 1, &block("200", fields)),
            frame(DATA, END_STREAM, 1, &message(0, 20)),
        ];
        assert_eq!(fate(&octets.concat()), (refused.clone(), vec![]));
    }
    let with_parameter = ("content-type", "Application/DNS-Message ; charset=x");
    let octets = [
        frame(HEADERS, END_HEADERS, 1, &block("200", &[with_parameter])),
        frame(DATA, END_STREAM, 1, &message(0, 20)),
    ];
    assert_eq!(fate(&octets.concat()).0, [Event::Answer(message(9, 20))]);
}

#[test]
fn messages_not_as_long_as_announced_are_malformed() {
    let octets = |len: &str, content: &[u8]| {
        let block = block("200", &[CONTENT_TYPE, ("content-length", len)]);
        [
            frame(HEADERS, END_HEADERS, 1, &block),
            frame(DATA, END_STREAM, 1, content),
        ]
        .concat()
    };
    let malformed = |malformed| vec![Event::Malformed(malformed)];
    assert_eq!(fate(&octets("20", &[7; 20])).0.len(), 1);
    assert_eq!(
        fate(&octets("21", &[7; 20])),
        (malformed(Malformed::Cut), vec![])
    );
    assert_eq!(
        fate(&octets("19", &[7; 20])),
        (malformed(Malformed::Long), reset(8))
    );
    assert_eq!(
        fate(&octets("99999999999999999999", &[7; 20])).0,
        malformed(Malformed::Cut)
    );
    assert_eq!(fate(&octets("1", &[7])).0, malformed(Malformed::Short));
    assert_eq!(
        fate(&end_of(&block("200", &[CONTENT_TYPE]))).0,
        malformed(Malformed::Short)
    );
}

#[test]
fn messages_longer_than_any_are_malformed() {
    let long = |last: usize, flags| {
        let pieces = frame(DATA, 0, 1, &[7; MAX_PAYLOAD]).repeat(3);
        [
            head(1),
            pieces,
            frame(DATA, 0, 1, &[7; MAX_PAYLOAD - 2]),
            frame(DATA, flags, 1, &vec![7; last]),
        ]
        .concat()
    };
    let (events, resets) = fate(&long(1, END_STREAM));
    assert!(matches!(&events[..], [Event::Answer(message)] if message.len() == 65_535));
    assert_eq!(resets, []);
    for flags in [0, END_STREAM] {
        assert_eq!(
            fate(&long(2, flags)),
            (vec![Event::Malformed(Malformed::Long)], reset(8))
        );
    }
}

#[test]
fn a_reset_stream_refuses_its_query_alone() {
    let mut http = with_query();
    http.queue(10, &message(0, 20));
    let octets = [
        head(1),
        frame(RST_STREAM, 0, 1, &[0, 0, 0, 7]),
        frame(RST_STREAM, 0, 1, &[0; 4]),
        answer(3, &message(0, 20)),
    ];
    let events = receive(&mut http, &octets.concat()).unwrap();
    assert_eq!(
        events,
        [
            Event::Refused(9, Refusal::StreamReset),
            Event::Answer(message(10, 20))
        ]
    );
}

#[test]
fn after_goaway_the_rest_ends_and_then_the_connection() {
    let mut http = with_query();
    for id in [10, 11] {
        http.queue(id, &message(0, 20));
    }
    let mut events = Vec::new();
    // A graceful shutdown begins with the largest identifier, so that nothing in flight is lost.
    let goaway = |last: u32| {
        frame(
            GOAWAY,
            0,
            0,
            &[&last.to_be_bytes()[..], &[0; 4], b"bye"].concat(),
        )
    };
    http.receive(&goaway(0x7fff_ffff), &mut events).unwrap();
    assert!(events.is_empty() && !http.has_room());
    http.receive(&goaway(3), &mut events).unwrap();
    assert_eq!(events, [Event::Refused(11, Refusal::ConnectionLost)]);
    http.queue(12, &message(0, 20));
    http.receive(&answer(1, &message(0, 20)), &mut events)
        .unwrap();
    assert!(http.outgoing().is_ok());
    let mut last_by_answer = Vec::new();
    let octets = [answer(3, &message(0, 20)), b"not looked at".to_vec()].concat();
    assert_eq!(
        http.receive(&octets, &mut last_by_answer),
        Err(Refusal::ConnectionLost)
    );
    assert_eq!(last_by_answer, [Event::Answer(message(10, 20))]);
}

#[test]
fn after_goaway_the_time_out_of_the_last_query_ends_the_connection() {
    let mut http = with_query();
    let goaway = frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(receive(&mut http, &goaway), Ok(vec![]));
    http.query_ended(9);
    assert_eq!(http.outgoing().map(|_| ()), Err(Refusal::ConnectionLost));
    let at_once = receive(&mut greeted(), &goaway);
    assert_eq!(at_once, Err(Refusal::ConnectionLost));
}

#[test]
fn the_connection_ends_when_identifiers_run_out() {
    let mut http = greeted();
    http.streams = Streams::starting_at(0x7fff_ffff);
    assert!(http.has_room());
    http.queue(9, &message(0, 20));
    assert!(!http.has_room());
    http.queue(10, &message(0, 20));
    let mut events = Vec::new();
    let end = http.receive(&answer(0x7fff_ffff, &message(0, 20)), &mut events);
    assert_eq!(
        (end, events),
        (
            Err(Refusal::ConnectionLost),
            vec![Event::Answer(message(9, 20))]
        )
    );
}

#[test]
fn broken_answers_refuse_their_query_alone() {
    let refused = (vec![Event::Refused(9, Refusal::ProtocolError)], reset(1));
    let trailers_first = frame(HEADERS, END_HEADERS, 1, &field("x", "y"));
    let cases = [
        frame(DATA, END_STREAM, 1, &message(0, 20)),
        trailers_first,
        end_of(&block("100", &[])),
        end_of(&block("2000", &[])),
        end_of(&block("abc", &[])),
        end_of(&block("200", &[(":status", "200")])),
        end_of(&block("200", &[("content-length", "twenty")])),
        end_of(&block(
            "200",
            &[("content-length", "1"), ("content-length", "2")],
        )),
        [head(1), head(1)].concat(),
        [head(1), end_of(&block("200", &[]))].concat(),
        [head(1), frame(HEADERS, END_HEADERS, 1, &field("x", "y"))].concat(),
        frame(WINDOW_UPDATE, 0, 1, &[0; 4]),
    ];
    for octets in cases {
        assert_eq!(fate(&octets), refused, "{octets:?}");
    }
}

#[test]
fn broken_connections_end() {
    let parameter = |parameter, value| settings(&[(parameter, value)]);
    let cases = [
        // RFC 9113 section and what is wrong.
        ("4.2 too long", vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1]),
        (
            "4.3 block that does not decode",
            frame(HEADERS, END_HEADERS, 1, &[0x80]),
        ),
        ("5.1 DATA on an idle stream", frame(DATA, 0, 3, &[])),
        (
            "5.1 HEADERS on an idle stream",
            frame(HEADERS, END_HEADERS, 3, &[0x88]),
        ),
        (
            "5.1 RST_STREAM on an idle stream",
            frame(RST_STREAM, 0, 3, &[0; 4]),
        ),
        (
            "5.1 WINDOW_UPDATE on an idle stream",
            frame(WINDOW_UPDATE, 0, 3, &[0, 0, 0, 1]),
        ),
        (
            "5.1.1 stream of a server",
            frame(HEADERS, END_HEADERS, 2, &[0x88]),
        ),
        ("6.1 DATA on stream 0", frame(DATA, 0, 0, &[])),
        (
            "6.1 padding as long as the payload",
            frame(DATA, PADDED, 1, &[1]),
        ),
        ("6.1 padding length missing", frame(DATA, PADDED, 1, &[])),
        (
            "6.2 HEADERS on stream 0",
            frame(HEADERS, END_HEADERS, 0, &[0x88]),
        ),
        (
            "6.2 priority missing",
            frame(HEADERS, END_HEADERS | frame::WITH_PRIORITY, 1, &[0; 4]),
        ),
        ("6.3 PRIORITY on stream 0", frame(PRIORITY, 0, 0, &[0; 5])),
        (
            "6.3 PRIORITY of another length",
            frame(PRIORITY, 0, 1, &[0; 4]),
        ),
        (
            "6.4 RST_STREAM of another length",
            frame(RST_STREAM, 0, 1, &[0; 3]),
        ),
        (
            "6.5 SETTINGS of another length",
            frame(SETTINGS, 0, 0, &[0; 5]),
        ),
        ("6.5 SETTINGS on a stream", frame(SETTINGS, 0, 1, &[])),
        ("6.5 ACK with payload", frame(SETTINGS, ACK, 0, &[0; 6])),
        ("6.5.2 push enabled", parameter(SETTINGS_ENABLE_PUSH, 1)),
        (
            "6.5.2 window too large",
            parameter(SETTINGS_INITIAL_WINDOW_SIZE, 1 << 31),
        ),
        (
            "6.5.2 frame size too small",
            parameter(SETTINGS_MAX_FRAME_SIZE, 16_383),
        ),
        (
            "6.5.2 frame size too large",
            parameter(SETTINGS_MAX_FRAME_SIZE, 1 << 24),
        ),
        (
            "6.6 push that was disabled",
            frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x88]),
        ),
        ("6.7 PING of another length", frame(PING, 0, 0, &[0; 7])),
        ("6.7 PING on a stream", frame(PING, 0, 1, &[0; 8])),
        ("6.8 GOAWAY too short", frame(GOAWAY, 0, 0, &[0; 7])),
        ("6.8 GOAWAY on a stream", frame(GOAWAY, 0, 1, &[0; 8])),
        ("6.9 no increment", frame(WINDOW_UPDATE, 0, 0, &[0; 4])),
        (
            "6.9.1 window overflows",
            frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        ),
        (
            "6.10 CONTINUATION alone",
            frame(CONTINUATION, END_HEADERS, 1, &[]),
        ),
        (
            "6.10 CONTINUATION missing",
            [frame(HEADERS, 0, 1, &[0x88]), frame(PING, 0, 0, &[0; 8])].concat(),
        ),
        (
            "6.10 CONTINUATION of another stream",
            [
                frame(HEADERS, 0, 1, &[0x88]),
                frame(CONTINUATION, END_HEADERS, 3, &[]),
            ]
            .concat(),
        ),
        (
            "10.5.1 endless block",
            [
                frame(HEADERS, 0, 1, &[]),
                frame(CONTINUATION, 0, 1, &[0; MAX_PAYLOAD]).repeat(5),
            ]
            .concat(),
        ),
    ];
    for (what, octets) in cases {
        let mut http = with_query();
        assert_eq!(
            receive(&mut http, &octets),
            Err(Refusal::ProtocolError),
            "{what}"
        );
        let last_words = written(&mut http).pop().unwrap();
        assert_eq!((last_words.0, last_words.2), (GOAWAY, 0), "{what}");
        assert_ne!(last_words.3[7], 0, "{what}");
    }
}

#[test]
fn what_is_no_http2_is_noticed() {
    for octets in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        &frame(SETTINGS, ACK, 0, &[]),
        &frame(PING, 0, 0, &[0; 8]),
    ] {
        let mut http = connection(HttpMethod::Post);
        assert_eq!(receive(&mut http, octets), Err(Refusal::ProtocolError));
    }
}

#[test]
fn a_server_that_wants_replies_but_reads_none_is_given_up() {
    let mut http = with_query();
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(1_000);
    let gave_up = (0..1_000).any(|_| receive(&mut http, &pings).is_err());
    assert!(gave_up);
}

#[test]
fn an_end_within_an_answer_is_known() {
    let mut http = with_query();
    assert!(!http.is_inside_message());
    assert_eq!(receive(&mut http, &head(1)[..5]), Ok(vec![]));
    assert!(http.is_inside_message(), "within a frame");
    assert_eq!(receive(&mut http, &head(1)[5..]), Ok(vec![]));
    assert!(
        http.is_inside_message(),
        "between header fields and content"
    );
    let mut http = with_query();
    assert_eq!(
        receive(&mut http, &frame(HEADERS, 0, 1, &[0x88])),
        Ok(vec![])
    );
    assert!(http.is_inside_message(), "within a header block");
}

//! What may end a connection, and what becomes of its queries then.

use super::super::frame::{
    CONTINUATION, GOAWAY, MAX_PAYLOAD, PADDED, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
    SETTINGS_ENABLE_PUSH, SETTINGS_INITIAL_WINDOW_SIZE, SETTINGS_MAX_FRAME_SIZE, WINDOW_UPDATE,
};
use super::super::streams::Streams;
use super::*;

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

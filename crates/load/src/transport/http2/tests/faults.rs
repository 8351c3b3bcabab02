//! What may go wrong with one answer, and what becomes of its query then.

use super::super::frame::{MAX_PAYLOAD, RST_STREAM, WINDOW_UPDATE};
use super::*;

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

//! Flow control, the server's limits, and the form of requests that follows from them.

use super::super::frame::{
    CONTINUATION, MAX_31_BITS, MAX_PAYLOAD, RST_STREAM, SETTINGS_HEADER_TABLE_SIZE,
    SETTINGS_INITIAL_WINDOW_SIZE, SETTINGS_MAX_CONCURRENT_STREAMS, SETTINGS_MAX_FRAME_SIZE,
    WINDOW_UPDATE,
};
use super::*;

fn widen(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

/// Octets of content sent by stream, and whether the last frame ended it.
fn content(frames: &[Written], stream: u32) -> (Vec<u8>, bool) {
    let data = frames
        .iter()
        .filter(|frame| frame.0 == DATA && frame.2 == stream);
    let is_ended = data
        .clone()
        .next_back()
        .is_some_and(|frame| frame.1 == END_STREAM);
    (data.flat_map(|frame| frame.3.clone()).collect(), is_ended)
}

#[test]
fn a_long_query_waits_for_the_streams_window() {
    let mut http = greeted();
    let octets = settings(&[(SETTINGS_INITIAL_WINDOW_SIZE, 10)]);
    assert_eq!(receive(&mut http, &octets), Ok(vec![]));
    http.queue(1, &message(0, 30));
    assert!(!http.has_room(), "the server is behind");
    assert_eq!(content(&written(&mut http), 1), (message(0, 10), false));
    // The window shrinks by 8 to less than nothing, and opens by 10.
    let octets = [settings(&[(SETTINGS_INITIAL_WINDOW_SIZE, 2)]), widen(1, 10)];
    assert_eq!(receive(&mut http, &octets.concat()), Ok(vec![]));
    assert_eq!(content(&written(&mut http), 1).0, message(0, 12)[10..]);
    assert_eq!(
        receive(&mut http, &settings(&[(SETTINGS_INITIAL_WINDOW_SIZE, 100)])),
        Ok(vec![])
    );
    assert_eq!(
        content(&written(&mut http), 1),
        (message(0, 30)[12..].to_vec(), true)
    );
    assert!(http.has_room());
}

#[test]
fn queries_wait_for_the_connections_window() {
    let mut http = greeted();
    let mut sent = Vec::new();
    let mut count = 0;
    while http.has_room() {
        http.queue(count, &message(0, 10_000));
        sent.extend(written(&mut http));
        count += 1;
    }
    assert_eq!(count, 7, "65,535 octets are 6.5 queries");
    let last = 2 * u32::from(count) - 1;
    assert_eq!(content(&sent, last), (message(0, 5_535), false));
    assert_eq!(receive(&mut http, &widen(0, 100_000)), Ok(vec![]));
    assert_eq!(
        content(&written(&mut http), last),
        (message(0, 10_000)[5_535..].to_vec(), true)
    );
    assert!(http.has_room());
}

#[test]
fn a_query_that_waits_can_end() {
    for how in 0..4 {
        let mut http = greeted();
        let none = settings(&[(SETTINGS_INITIAL_WINDOW_SIZE, 0)]);
        assert_eq!(receive(&mut http, &none), Ok(vec![]));
        http.queue(5, &message(0, 30));
        assert!(!http.has_room());
        written(&mut http);
        let events = match how {
            0 => {
                http.query_ended(5);
                Ok(vec![])
            }
            1 => receive(&mut http, &frame(RST_STREAM, 0, 1, &[0; 4])),
            2 => receive(&mut http, &answer(1, &message(0, 20))),
            _ => receive(&mut http, &[widen(1, MAX_31_BITS), widen(0, 1)].concat()),
        };
        let is_reset = written(&mut http).iter().any(|frame| frame.0 == RST_STREAM);
        let (expected, resets) = match how {
            0 => (vec![], true),
            1 => (vec![Event::Refused(5, Refusal::StreamReset)], false),
            2 => (vec![Event::Answer(message(5, 20))], true),
            _ => (vec![], false),
        };
        assert_eq!((events, is_reset), (Ok(expected), resets));
        assert!(http.has_room());
    }
}

#[test]
fn a_streams_window_that_overflows_refuses_its_query() {
    let mut http = greeted();
    let little = settings(&[(SETTINGS_INITIAL_WINDOW_SIZE, 1)]);
    assert_eq!(receive(&mut http, &little), Ok(vec![]));
    http.queue(1, &message(0, 65_535));
    http.queue(2, &message(0, 65_535));
    let octets = widen(3, MAX_31_BITS).repeat(2);
    let events = receive(&mut http, &octets);
    assert_eq!(events, Ok(vec![Event::Refused(2, Refusal::ProtocolError)]));
}

#[test]
fn content_is_cut_to_the_servers_longest_frame() {
    let mut http = greeted();
    http.queue(1, &message(0, 40_000));
    let sent = written(&mut http);
    let lens: Vec<_> = sent.iter().skip(1).map(|frame| frame.3.len()).collect();
    assert_eq!(lens, [MAX_PAYLOAD, MAX_PAYLOAD, 40_000 - 2 * MAX_PAYLOAD]);
    assert_eq!(content(&sent, 1), (message(0, 40_000), true));
}

#[test]
fn a_long_path_is_cut_to_the_servers_longest_frame() {
    let path_of = |frames: &[Written]| frames.iter().map(|frame| frame.3.len()).sum::<usize>();
    let mut http = connection(HttpMethod::Get);
    written(&mut http);
    http.queue(1, &message(0, 30_000));
    let sent = written(&mut http);
    let shape: Vec<_> = sent.iter().map(|frame| (frame.0, frame.1)).collect();
    assert_eq!(
        shape,
        [
            (HEADERS, END_STREAM),
            (CONTINUATION, 0),
            (CONTINUATION, END_HEADERS)
        ]
    );
    assert!(path_of(&sent) > 40_000);
    let larger = settings(&[(SETTINGS_MAX_FRAME_SIZE, 100_000)]);
    assert_eq!(receive(&mut http, &larger), Ok(vec![]));
    written(&mut http);
    http.queue(2, &message(0, 30_000));
    let octets = http.outgoing().unwrap().unwritten();
    let len = u32::from_be_bytes([0, octets[0], octets[1], octets[2]]) as usize;
    assert_eq!(octets.len(), frame::HEADER_LEN + len);
}

#[test]
fn concurrent_streams_are_limited() {
    let mut http = connection(HttpMethod::Post);
    let room = |http: &mut Http2, first_id: u16| {
        let mut id = first_id;
        while http.has_room() && id < first_id + 300 {
            http.queue(id, &message(0, 20));
            id += 1;
        }
        id - first_id
    };
    assert_eq!(room(&mut http, 0), 100, "before SETTINGS");
    let limit = |streams| settings(&[(SETTINGS_MAX_CONCURRENT_STREAMS, streams)]);
    assert_eq!(receive(&mut http, &limit(150)), Ok(vec![]));
    assert_eq!(room(&mut http, 1_000), 50);
    assert_eq!(receive(&mut http, &limit(150)), Ok(vec![]));
    assert_eq!(
        receive(&mut http, &answer(1, &message(0, 20)))
            .unwrap()
            .len(),
        1
    );
    assert_eq!(room(&mut http, 2_000), 1);
    assert_eq!(receive(&mut http, &limit(10)), Ok(vec![]));
    assert_eq!(room(&mut http, 3_000), 0);
    let mut without_limit = greeted();
    assert_eq!(room(&mut without_limit, 0), 300);
    // A limit of none is one, so that nobody waits for ever.
    let mut http = connection(HttpMethod::Post);
    assert_eq!(receive(&mut http, &limit(0)), Ok(vec![]));
    assert_eq!(room(&mut http, 0), 1);
}

#[test]
fn the_connections_window_is_opened_again() {
    let mut http = greeted();
    // Frames on a stream that was reset count, too.
    http.queue(1, &message(0, 20));
    http.query_ended(1);
    written(&mut http);
    let data = frame(DATA, 0, 1, &[0; MAX_PAYLOAD]);
    let frames = (MAX_31_BITS / 2) as usize / MAX_PAYLOAD + 2;
    let octets = data.repeat(64);
    for _ in 0..frames.div_ceil(64) {
        assert_eq!(receive(&mut http, &octets), Ok(vec![]));
    }
    let increment = (frames * MAX_PAYLOAD) as u32;
    assert_eq!(
        written(&mut http),
        [(WINDOW_UPDATE, 0, 0, increment.to_be_bytes().to_vec())]
    );
}

#[test]
fn the_servers_table_is_used_as_far_as_it_goes() {
    let block_of = |http: &mut Http2| {
        written(http);
        http.queue(1, &message(0, 20));
        written(http).remove(0).3
    };
    let limit = |size| settings(&[(SETTINGS_HEADER_TABLE_SIZE, size)]);
    let mut http = greeted();
    let first = block_of(&mut http).len();
    let indexed = block_of(&mut http);
    assert!(
        first > 60 && indexed.len() < 12,
        "{first} {}",
        indexed.len()
    );
    assert_eq!(receive(&mut http, &limit(1_000)), Ok(vec![]));
    let updated = block_of(&mut http);
    assert_eq!(
        updated,
        [&[0x3f, 0xc9, 0x07][..], &indexed].concat(),
        "RFC 7541 section 6.3"
    );
    assert_eq!(block_of(&mut http), indexed);
    let octets = [limit(100), limit(4_096)].concat();
    assert_eq!(receive(&mut http, &octets), Ok(vec![]));
    let literal = block_of(&mut http);
    assert_eq!(literal[0], 0x20, "the table is emptied");
    assert_eq!(block_of(&mut http), literal[1..]);
}

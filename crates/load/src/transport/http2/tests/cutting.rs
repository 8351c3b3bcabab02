//! Any octets, cut anywhere.

use super::super::frame::{CONTINUATION, GOAWAY, PADDED, PING, RST_STREAM, WINDOW_UPDATE};
use super::*;
use proptest::prelude::*;

/// Events, result and octets to be written of a server's octets, cut into pieces of these lengths in turn.
fn outcome(octets: &[u8], cuts: &[usize]) -> (Vec<Event>, Result<(), Refusal>, Vec<u8>) {
    let mut http = connection(HttpMethod::Post);
    for id in 0..10 {
        http.queue(id, &message(0, 20));
    }
    let mut events = Vec::new();
    let mut rest = octets;
    let mut result = Ok(());
    for cut in cuts.iter().cycle() {
        let (now, later) = rest.split_at((*cut).min(rest.len()));
        result = http.receive(now, &mut events);
        rest = later;
        if result.is_err() || rest.is_empty() {
            break;
        }
    }
    let unwritten = http
        .outgoing()
        .map(|outgoing| outgoing.unwritten().to_vec());
    (events, result, unwritten.unwrap_or_default())
}

/// Frames that often make sense.
fn some_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop_oneof![Just(0u32), (0u32..12).prop_map(|number| 2 * number + 1)];
    let known_block = prop::sample::select(vec![
        block("200", &[CONTENT_TYPE]),
        block("200", &[CONTENT_TYPE, ("content-length", "12")]),
        block("404", &[]),
        block("103", &[]),
        field("x", "y"),
        vec![0x88],
        vec![0x88, 0x5f, 1, b'a'],
    ]);
    let any_payload = prop::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        4 => (stream.clone(), known_block, prop::sample::select(vec![4u8, 5, 0]))
            .prop_map(|(stream, block, flags)| frame(HEADERS, flags, stream, &block)),
        4 => (stream.clone(), 0usize..30, prop::sample::select(vec![0u8, 1, 1, PADDED]))
            .prop_map(|(stream, len, flags)| frame(DATA, flags, stream, &message(0, len))),
        1 => stream.clone().prop_map(|stream| frame(RST_STREAM, 0, stream, &[0; 4])),
        1 => stream.clone().prop_map(|last| frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &[0; 4]].concat())),
        1 => any::<[u8; 8]>().prop_map(|payload| frame(PING, 0, 0, &payload)),
        1 => (stream.clone(), 1u32..1_000)
            .prop_map(|(stream, increment)| frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())),
        1 => (1u16..7, 0u32..100_000).prop_map(|parameter| settings(&[parameter])),
        1 => (stream.clone(), any_payload.clone()).prop_map(|(stream, payload)| frame(CONTINUATION, END_HEADERS, stream, &payload)),
        1 => (any::<u8>(), any::<u8>(), stream, any_payload)
            .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload)),
    ]
}

proptest! {
    #[test]
    fn the_cutting_makes_no_difference(
        frames in prop::collection::vec(some_frame(), 0..30),
        cuts in prop::collection::vec(1usize..60, 1..20),
    ) {
        let octets = [settings(&[]), frames.concat()].concat();
        prop_assert_eq!(outcome(&octets, &cuts), outcome(&octets, &[octets.len()]));
        prop_assert_eq!(outcome(&octets, &[1]), outcome(&octets, &[octets.len()]));
    }

    /// Each query has at most one of answer and refusal.
    #[test]
    fn no_query_ends_twice(frames in prop::collection::vec(some_frame(), 0..60)) {
        let octets = [settings(&[]), frames.concat()].concat();
        let (events, _, _) = outcome(&octets, &[octets.len()]);
        let mut ended = [false; 10];
        for event in events {
            let id = match event {
                Event::Answer(message) => u16::from_be_bytes([message[0], message[1]]),
                Event::Refused(id, _) => id,
                Event::HttpStatus(_) | Event::Malformed(_) => continue,
            };
            prop_assert!(!std::mem::replace(&mut ended[usize::from(id)], true));
        }
    }

    #[test]
    fn any_octets_are_taken_without_panic(
        octets in prop::collection::vec(any::<u8>(), 0..300),
        greeted in any::<bool>(),
    ) {
        let greeting = if greeted { settings(&[]) } else { Vec::new() };
        let (_, result, _) = outcome(&[greeting, octets].concat(), &[7]);
        prop_assert!(matches!(result, Ok(()) | Err(Refusal::ProtocolError | Refusal::ConnectionLost)));
    }
}

//! Connections that are joined where what is inside a message looks like the beginning of one.

use super::*;

/// A framed answer with a record of type NULL, whose data are `data`.
fn answer_with(number: u8, data: &[u8]) -> Vec<u8> {
    let mut answer = framed_answer(number, 9)[2..].to_vec();
    answer[7] = 1;
    answer.extend_from_slice(b"\xC0\x0C\0\x0A\0\x01\0\0\0\0");
    answer.extend_from_slice(&(data.len() as u16).to_be_bytes());
    answer.extend_from_slice(data);
    [&(answer.len() as u16).to_be_bytes()[..], &answer].concat()
}

/// Where `part` begins in `whole`.
fn place(whole: &[u8], part: &[u8]) -> usize {
    let mut places = whole.windows(part.len());
    places.position(|octets| octets == part).unwrap()
}

/// What is read where a server's `outer` was captured from `inner` on, in segments of which the first is `inner`; then come
/// `later`, each in segments of 30 octets of its own.
fn joined(inner: &[u8], outer: &[u8], later: &[Vec<u8>]) -> (Vec<Vec<u8>>, TcpSummary) {
    let mut server = Client::of_any_messages();
    let start = place(outer, inner);
    let after = start + inner.len();
    server.send(0, 500 + start as u32, &outer[start..after], 0);
    server.send_cut(500 + after as u32, &outer[after..], 30, |_| false);
    let mut next = 500 + outer.len() as u32;
    for message in later {
        server.send_cut(next, message, 30, |_| false);
        next += message.len() as u32;
    }
    let (read, _, summary) = server.finish();
    (read, summary)
}

#[test]
fn what_is_no_message_after_a_guess_makes_the_place_be_looked_for_again() {
    let later: Vec<_> = (1..4).map(|number| framed_answer(number, 20)).collect();
    let inner = framed(9, 5);
    for nonsense in [b"a", b"\0", b"\xFF", b"\x01"] {
        let data = [&inner[..], &nonsense.repeat(300)].concat();
        let (read, summary) = joined(&inner, &answer_with(0, &data), &later);
        // What looks like a message cannot be told from one.
        let expected = [&[inner.clone()][..], &later].concat();
        assert_eq!(read, unframed(&expected), "{nonsense:?}");
        assert_eq!((summary.misplaced, summary.incomplete), (1, 0));
        assert_eq!(summary.unplaced, 300_u64.div_ceil(30), "{nonsense:?}");
    }
}

#[test]
fn nonsense_that_shows_late_is_noticed_when_it_does() {
    let later: Vec<_> = (1..4).map(|number| framed_answer(number, 20)).collect();
    // A long answer in another one's data, of which only the beginning is there: its records are nonsense from some place on.
    let long = long_answer(9, 200);
    for len in [50, 100, 700] {
        let data = [&long[..len], &[b'a'; 1500]].concat();
        let (read, summary) = joined(&long[..len], &answer_with(0, &data), &later);
        assert_eq!(read, unframed(&later), "{len}");
        assert_eq!((summary.misplaced, summary.incomplete), (1, 0), "{len}");
        assert_eq!(summary.unplaced, 1 + 1500_u64.div_ceil(30), "{len}");
    }
}

#[test]
fn a_place_that_is_wrong_again_and_again_is_given_up_each_time() {
    let inner = framed(9, 5);
    let later = [framed_answer(1, 20)];
    let mut server = Client::of_any_messages();
    let mut next = 700;
    for _ in 0..5 {
        for part in [&inner[..], &[b'a'; 30]] {
            server.send(0, next, part, 0);
            next += part.len() as u32;
        }
    }
    server.send(0, next, &later[0], 0);
    let (read, _, summary) = server.finish();
    let expected = [&vec![inner.clone(); 5][..], &later].concat();
    assert_eq!(read, unframed(&expected));
    assert_eq!((summary.misplaced, summary.unplaced), (5, 5));
}

#[test]
fn a_place_is_sure_after_some_messages_and_from_the_opening_on() {
    let mut odd = framed_answer(7, 20);
    // A class that no message has.
    let class = odd.len() - 1;
    odd[class] = 99;
    let answers: Vec<_> = (0..20).map(|number| framed_answer(number, 20)).collect();
    for (before, is_opened, is_read) in [(2, false, false), (2, true, true), (20, false, true)] {
        let messages = [&answers[..before], &[odd.clone()]].concat();
        let mut server = Client::of_any_messages();
        if is_opened {
            server.send(SYN, 99, b"", 0);
        }
        server.send_cut(100, &messages.concat(), 33, |_| false);
        let (read, _, summary) = server.finish();
        let expected = &messages[..before + usize::from(is_read)];
        assert_eq!(read, unframed(expected), "{before} {is_opened}");
        assert_eq!(summary.misplaced, u64::from(!is_read));
    }
}

#[test]
fn queries_that_are_wanted_are_found_again_too() {
    let (inner, later) = (framed(9, 5), framed(1, 6));
    let mut client = Client::default();
    client.send(0, 100, &inner, 0);
    let next = 100 + inner.len() as u32;
    client.send(0, next, &[b'a'; 50], 0);
    client.send(0, next + 50, &later, 0);
    let (read, _, summary) = client.finish();
    assert_eq!(read, unframed(&[inner, later]));
    assert_eq!((summary.misplaced, summary.unplaced), (1, 1));
}

proptest! {
    #[test]
    fn no_message_is_lost_to_doubt_where_the_guess_is_right(
        kinds in prop::collection::vec((0..3_u8, 1..60_u8), 1..30),
        first in 0..30_usize,
        size in 1..400_usize,
    ) {
        let messages: Vec<_> = (0..).zip(&kinds).map(|(number, (kind, len))| match kind {
            0 => framed(number, *len),
            1 => framed_answer(number, *len),
            _ => long_answer(number, *len),
        }).collect();
        let first = first % messages.len();
        let mut server = Client::of_any_messages();
        server.send_cut(100, &messages[first..].concat(), size, |_| false);
        let (read, _, summary) = server.finish();
        prop_assert_eq!(read, unframed(&messages[first..]));
        prop_assert_eq!((summary.misplaced, summary.unplaced, summary.incomplete), (0, 0, 0));
    }
}

use super::*;
use crate::message::SentLen;

fn message(id: u16, is_answer: bool, rcode: u8, question: &[u8]) -> Vec<u8> {
    let [high, low] = id.to_be_bytes();
    let flags = if is_answer { 0x80 } else { 1 };
    let questions = u8::from(!question.is_empty());
    let mut message = vec![high, low, flags, rcode, 0, questions, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(question);
    message
}

const WWW: &[u8] = b"\x03www\0\0\x01\0\x01";
const WWW_IN_CAPITALS: &[u8] = b"\x03WWW\0\0\x01\0\x01";
const MAIL: &[u8] = b"\x04mail\0\0\x01\0\x01";

fn sent<'a>(time_ns: i64, octets: &'a [u8]) -> Message<'a> {
    let client = Endpoint::new([192, 0, 2, 1], 4000);
    let server = Endpoint::new([192, 0, 2, 53], 53);
    let is_answer = octets[2] & 0x80 != 0;
    let (source, destination) = match is_answer {
        true => (server, client),
        false => (client, server),
    };
    Message {
        time_ns,
        source,
        destination,
        transport: Transport::Udp,
        octets,
        is_cut: false,
        sent_len: SentLen::Own,
        number: 1,
    }
}

fn latencies(matcher: Matcher) -> Vec<i64> {
    let mut latencies = Vec::new();
    for batch in matcher.batches {
        for (name, column) in batch.into_columns() {
            if let ("latency", Column::DurationNs(values)) = (name, column) {
                latencies.extend(values);
            }
        }
    }
    latencies
}

#[test]
fn answers_belong_to_their_queries() {
    let mut matcher = Matcher::default();
    for (time_ns, octets) in [
        (0, message(1, false, 0, WWW)),
        (10, message(1, false, 0, WWW)),
        (20, message(1, false, 0, MAIL)),
        (30, message(2, false, 0, WWW)),
        (100, message(1, true, 0, WWW_IN_CAPITALS)),
        (200, message(1, true, 3, MAIL)),
        (300, message(3, true, 0, WWW)),
        (400, message(2, true, 1, b"")),
        (500, message(1, true, 0, WWW)),
        (600, message(1, true, 0, WWW)),
    ] {
        matcher.message(&sent(time_ns, &octets));
    }
    let expected = TransactionCounts {
        queries: 4,
        answered: 4,
        unmatched_answers: 2,
        malformed: 0,
    };
    assert_eq!(matcher.counts, expected);
    assert_eq!(latencies(matcher), [100, 490, 180, 370]);
}

#[test]
fn an_answer_comes_neither_early_nor_too_late() {
    let mut matcher = Matcher::default();
    let (query, answer) = (message(1, false, 0, WWW), message(1, true, 0, WWW));
    matcher.message(&sent(1000, &query));
    matcher.message(&sent(1001 + ANSWER_TIMEOUT_NS, &answer));
    assert_eq!(matcher.counts.unmatched_answers, 1);
    let mut matcher = Matcher::default();
    matcher.message(&sent(1000, &query));
    matcher.message(&sent(999, &answer));
    assert_eq!(matcher.counts.answered, 0);
}

#[test]
fn rows_are_given_on_when_no_answer_is_waited_for() {
    let mut matcher = Matcher::default();
    let mut given = 0;
    let count = BATCH_ROWS as i64 * 3;
    for row in 0..count {
        let time_ns = row * 1_000_000_000;
        let query = message(row as u16, false, 0, WWW);
        matcher.message(&sent(time_ns, &query));
        given += u64::from(matcher.ripe(time_ns).is_some());
        let answer = message(row as u16, true, 0, WWW);
        matcher.message(&sent(time_ns + 5, &answer));
    }
    assert_eq!(given, 2);
    assert_eq!(matcher.counts.answered, count as u64);
    assert!(matcher.open.len() <= 2 * BATCH_ROWS);
    assert!(latencies(matcher).iter().all(|&latency| latency == 5));
}

#[test]
fn many_rows_do_not_wait_whatever_the_time() {
    let mut matcher = Matcher::default();
    for row in 0..BATCH_ROWS * (WAITING + 8) {
        let query = message(row as u16, false, 0, WWW);
        matcher.message(&sent(0, &query));
        let _ = matcher.ripe(0);
    }
    assert!(matcher.batches.len() <= WAITING + 1);
    let first_row = matcher.batches[0].first_row();
    assert!(matcher.open.values().all(|chain| chain.first >= first_row));
    assert!(matcher.open.len() <= (WAITING + 1) * BATCH_ROWS);
}

#[test]
fn answers_have_the_sizes_with_which_they_were_sent() {
    let mut matcher = Matcher::default();
    let lens = [SentLen::Own, SentLen::Told(7), SentLen::Unknown];
    for (id, sent_len) in (1..).zip(lens) {
        matcher.message(&sent(0, &message(id, false, 0, WWW)));
        let answer = message(id, true, 0, WWW);
        matcher.message(&Message {
            sent_len,
            ..sent(5, &answer)
        });
    }
    matcher.message(&sent(0, &message(9, false, 0, WWW)));
    let columns = matcher.batches.remove(0).unwrap().into_columns();
    let (_, octets) = columns
        .into_iter()
        .find(|(name, _)| *name == "answer_octets")
        .unwrap();
    let own = message(1, true, 0, WWW).len() as u16;
    let expected = Column::Numbers {
        values: vec![own, 7, u16::MAX, u16::MAX],
        has_none: true,
    };
    assert_eq!(octets, expected);
}

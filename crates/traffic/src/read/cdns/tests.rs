use super::*;
use crate::message::SentLen;
use crate::wire::{View, labels};
use proptest::prelude::*;

/// CBOR in the making.
enum Value {
    Number(u64),
    Minus(u64),
    Octets(Vec<u8>),
    Text(&'static str),
    Array(Vec<Value>),
    Map(Vec<(u64, Value)>),
}

use Value::{Array, Map, Minus, Number, Octets, Text};

/// Writes `value`; arrays and maps without their lengths if `is_open`.
fn write(value: &Value, is_open: bool, output: &mut Vec<u8>) {
    let mut head = |kind: u8, number: u64| match number {
        0..=23 => output.push(kind << 5 | number as u8),
        24..=255 => output.extend_from_slice(&[kind << 5 | 24, number as u8]),
        256..=0xFFFF => {
            output.push(kind << 5 | 25);
            output.extend_from_slice(&(number as u16).to_be_bytes());
        }
        _ => {
            output.push(kind << 5 | 27);
            output.extend_from_slice(&number.to_be_bytes());
        }
    };
    match value {
        Number(number) => head(0, *number),
        Minus(number) => head(1, *number - 1),
        Octets(octets) => {
            head(2, octets.len() as u64);
            output.extend_from_slice(octets);
        }
        Text(text) => {
            head(3, text.len() as u64);
            output.extend_from_slice(text.as_bytes());
        }
        Array(items) => {
            match is_open {
                true => output.push(0x9F),
                false => head(4, items.len() as u64),
            }
            for item in items {
                write(item, is_open, output);
            }
        }
        Map(pairs) => {
            match is_open {
                true => output.push(0xBF),
                false => head(5, pairs.len() as u64),
            }
            for (key, item) in pairs {
                write(&Number(*key), is_open, output);
                write(item, is_open, output);
            }
        }
    }
    if is_open && matches!(value, Array(_) | Map(_)) {
        output.push(0xFF);
    }
}

fn map(pairs: impl IntoIterator<Item = (u64, u64)>) -> Value {
    Map(pairs
        .into_iter()
        .map(|(key, number)| (key, Number(number)))
        .collect())
}

/// A block with a transaction of 192.0.2.1 over TCP, one of 2001:db8::1 that has no response, and a malformed message.
fn block() -> Value {
    let address = |octets: &[u8]| Octets(octets.to_vec());
    let names = [
        &b"\x03www\x04test\0"[..],
        &[192, 0, 2, 80],
        b"\0",
        b"\0\x08\0\x04\0\x01\x18\0",
    ];
    let v6 = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    // RD and DO of the query; RD, RA and AA of the response.
    let dns_flags = 1 << 4 | 1 << 7 | 1 << 11 | 1 << 12 | 1 << 14;
    let tables = Map(vec![
        (
            0,
            Array(vec![
                address(&[192, 0, 2, 1]),
                address(&[192, 0, 2, 53]),
                address(&v6),
            ]),
        ),
        (
            1,
            Array(vec![map([(0, 1), (1, 1)]), map([(0, 41), (1, 1232)])]),
        ),
        (
            2,
            Array(names.iter().map(|name| Octets(name.to_vec())).collect()),
        ),
        (
            3,
            Array(vec![
                map([
                    (0, 1),
                    (1, 53),
                    (2, 2),
                    (4, 15),
                    (5, 0),
                    (6, dns_flags),
                    (8, 0),
                    (13, 0),
                    (14, 1400),
                    (15, 3),
                    (16, 0),
                ]),
                map([(0, 1), (2, 1), (4, 1), (6, 0), (8, 0)]),
            ]),
        ),
        (
            6,
            Array(vec![Array(vec![Number(0)]), Array(vec![Number(1)])]),
        ),
        (
            7,
            Array(vec![
                map([(0, 0), (1, 0), (2, 300), (3, 1)]),
                map([(0, 2), (1, 1), (2, 0)]),
            ]),
        ),
        (
            8,
            Array(vec![Map(vec![
                (0, Number(1)),
                (2, Number(0)),
                (3, Octets(b"bad".to_vec())),
            ])]),
        ),
    ]);
    let transactions = Array(vec![
        Map(vec![
            (0, Number(10)),
            (1, Number(0)),
            (2, Number(4000)),
            (3, Number(77)),
            (4, Number(0)),
            (6, Number(30)),
            (7, Number(0)),
            (9, Number(99)),
            (12, map([(1, 0), (3, 1)])),
        ]),
        Map(vec![
            (0, Number(20)),
            (1, Number(2)),
            (2, Number(4001)),
            (3, Number(78)),
            (4, Number(1)),
            (7, Number(0)),
            (6, Minus(5)),
        ]),
    ]);
    Map(vec![
        (
            0,
            Map(vec![
                (0, Array(vec![Number(1_700_000_000), Number(5)])),
                (1, Number(0)),
            ]),
        ),
        (1, map([(0, 3)])),
        (2, tables),
        (3, transactions),
        (5, Array(vec![map([(0, 0), (1, 0), (2, 9), (3, 0)])])),
    ])
}

fn file(blocks: Vec<Value>, version: u64, is_open: bool) -> Vec<u8> {
    let parameters = Map(vec![(0, map([(0, 1_000_000), (1, 5000)]))]);
    let preamble = Map(vec![
        (0, Number(version)),
        (1, Number(0)),
        (3, Array(vec![parameters])),
    ]);
    let mut octets = Vec::new();
    write(
        &Array(vec![Text("C-DNS"), preamble, Array(blocks)]),
        is_open,
        &mut octets,
    );
    octets
}

/// What was read: for each message its text and its octets.
fn read(octets: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Fault> {
    let mut cdns = Cdns::new(octets)?;
    let mut chunk = ChunkBuffer::default();
    cdns.fill(&mut chunk)?;
    let chunk = chunk.chunk();
    let messages = chunk.iter().map(|packet| {
        let message = crate::read::buffer::message_of(&packet).unwrap();
        let text = format!(
            "{} {} {} > {} {}",
            message.number,
            message.time_ns - 1_700_000_000_000_005_000,
            message.source,
            message.destination,
            message.transport.name()
        );
        (text, message.octets.to_vec())
    });
    Ok(messages.collect())
}

#[test]
fn transactions_become_messages_in_the_order_of_their_times() {
    for is_open in [false, true] {
        let octets = file(vec![block()], 1, is_open);
        assert!(is_cdns(&octets));
        let messages = read(&octets).unwrap();
        let texts: Vec<&str> = messages.iter().map(|(text, _)| text.as_str()).collect();
        let wanted = [
            "1 0 192.0.2.1:9 > 192.0.2.53:53 udp",
            "2 10000 192.0.2.1:4000 > 192.0.2.53:53 tcp",
            "3 20000 [2001:db8::1]:4001 > [c000:235::]:53 udp",
            "4 40000 192.0.2.53:53 > 192.0.2.1:4000 tcp",
        ];
        assert_eq!(texts, wanted);
        assert_eq!(messages[0].1, b"bad");
    }
}

#[test]
fn messages_have_what_the_block_says() {
    let messages = read(&file(vec![block()], 1, false)).unwrap();
    let query = View::parse(&messages[1].1).unwrap();
    let question = query.question.unwrap();
    assert_eq!(
        labels(question.name).collect::<Vec<_>>(),
        [&b"www"[..], b"test"]
    );
    assert_eq!(
        (query.header.id, question.qtype, question.qclass),
        (77, 1, 1)
    );
    assert!(query.header.recursion_desired() && !query.header.is_answer());
    let opt = query.opt().unwrap().unwrap();
    assert!(opt.dnssec_ok && opt.udp_size == 1400);
    assert_eq!(
        opt.options().map(|option| option.code).collect::<Vec<_>>(),
        [8]
    );
    let response = View::parse(&messages[3].1).unwrap();
    let header = response.header;
    assert!(header.is_answer() && header.recursion_available() && header.is_authoritative());
    assert_eq!((header.id, header.answers, header.additionals), (77, 1, 1));
    let answer = response.records().next().unwrap().unwrap();
    assert_eq!(
        (answer.rtype, answer.ttl, answer.data()),
        (1, 300, &[192, 0, 2, 80][..])
    );
    assert_eq!(response.opt().unwrap().unwrap().udp_size, 1232);
    // Header, question, then a pointer for the owner.
    assert_eq!(response.octets[HEADER_AND_QUESTION..][..2], [0xC0, 12]);
}

const HEADER_AND_QUESTION: usize = 12 + 10 + 4;

/// How many octets the messages had when they were sent, as the file tells.
fn lens(octets: &[u8]) -> Vec<SentLen> {
    let mut cdns = Cdns::new(octets).unwrap();
    let mut chunk = ChunkBuffer::default();
    cdns.fill(&mut chunk).unwrap();
    let chunk = chunk.chunk();
    let messages = chunk
        .iter()
        .map(|packet| crate::read::buffer::message_of(&packet).unwrap());
    messages.map(|message| message.sent_len).collect()
}

#[test]
fn messages_have_the_sizes_that_the_file_tells() {
    // The malformed message is here as it was. Of the others, the size of the first transaction's response alone is told.
    let told = [
        SentLen::Own,
        SentLen::Unknown,
        SentLen::Unknown,
        SentLen::Told(99),
    ];
    assert_eq!(lens(&file(vec![block()], 1, false)), told);
}

#[test]
fn sizes_that_no_message_has_are_unknown_and_harm_nothing_else() {
    let (whole, longest, longer) = (
        file(vec![block(), block()], 1, false),
        [9, 0x19, 0xFF, 0xFF],
        [9, 0x1A, 0, 1, 0, 0],
    );
    // Key 9, the size of the response, then the size of 99.
    let place = whole
        .windows(3)
        .position(|octets| octets == [9, 0x18, 99])
        .unwrap();
    let with_size = |size: &[u8]| [&whole[..place], size, &whole[place + 3..]].concat();
    let found = lens(&with_size(&longest));
    assert_eq!((found.len(), found[3]), (8, SentLen::Told(u16::MAX)));
    let found = lens(&with_size(&longer));
    assert_eq!(found.len(), 8);
    assert_eq!([found[3], found[7]], [SentLen::Unknown, SentLen::Told(99)]);
}

#[test]
fn many_blocks_are_read_one_after_the_other() {
    for is_open in [false, true] {
        let octets = file((0..300).map(|_| block()).collect(), 1, is_open);
        assert_eq!(read(&octets).unwrap().len(), 1200);
    }
}

#[test]
fn other_files_say_what_is_wrong() {
    let whole = file(vec![block()], 1, false);
    assert!(matches!(
        read(&whole[..whole.len() - 1]),
        Err(Fault::CutOff)
    ));
    assert!(
        matches!(read(&file(vec![], 2, false)), Err(Fault::NotACapture(why)) if why.contains("version 2"))
    );
    assert!(matches!(read(b"\x83\x63abc"), Err(Fault::NotACapture(_))));
    assert!(!is_cdns(b"\x83\x63abc\0\0"));
    let mut parameters = file(vec![block()], 1, false);
    let place = parameters
        .windows(3)
        .position(|octets| octets == [5, 1, 0])
        .unwrap();
    parameters[place + 2] = 1;
    assert!(matches!(read(&parameters), Err(Fault::Damaged(why)) if why.contains("parameters")));
}

#[test]
fn arrays_that_claim_to_be_huge_take_no_memory() {
    let mut octets = file(vec![], 1, false);
    octets.pop();
    octets.extend_from_slice(b"\x81\xA1\x03\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    assert!(matches!(read(&octets), Err(Fault::CutOff)));
    octets.extend_from_slice(&[0x9F; 100]);
    assert!(matches!(read(&octets), Err(Fault::Damaged(_))));
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(tail: Vec<u8>, place in 0_usize..400, octet: u8) {
        let mut octets = file(vec![block()], 1, false);
        let _ = read(&[&octets[..30], &tail].concat());
        let place = place % octets.len();
        octets[place] = octet;
        let _ = read(&octets);
    }
}

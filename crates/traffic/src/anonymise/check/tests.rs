use super::*;
use crate::anonymise::packets::{Packet as Written, Way};
use crate::message::Endpoint;
use crate::read::PacketAt;

const CLIENT: [u8; 4] = [192, 0, 2, 77];
const SERVER: [u8; 4] = [198, 51, 100, 1];
const IMAGE: [u8; 4] = [10, 1, 2, 3];
const CLIENT_V6: u128 = 0x2001_0DB8_0000_0000_1234_5678_9ABC_DEF0;

/// Knows a client, a server, an Ethernet address and a cookie.
fn seen() -> Seen {
    let seen = Seen::default();
    let number = u32::from_be_bytes;
    seen.v4(number(CLIENT), number(IMAGE));
    seen.v4(number(SERVER), number(IMAGE) + 1);
    seen.v6(CLIENT_V6, 7);
    seen.original(Original::Ethernet([2, 0xAA, 3, 0xBB, 4, 0xCC]));
    // As laboratories and Mininet have, a group's, and one that a name may look like.
    seen.original(Original::Ethernet([0, 0, 0, 0, 0, 1]));
    seen.original(Original::Ethernet(*b"\x6d\x70\x6c\x65\0\0"));
    seen.original(Original::Ethernet(*b"\x02uk\0\0\x01"));
    seen.cookie(&[0, 0, 0, 0, 0, 1, 0, 1]);
    seen.v4(u32::from_be_bytes([8, 8, 4, 4]), 5);
    seen.v4(u32::from_be_bytes([77; 4]), 6);
    seen.v4(u32::from_be_bytes(*b"mail"), 7);
    seen.cookie(b"\x01\x92cookie");
    seen
}

/// What the search finds in a datagram from `source` with `payload`.
fn finding(source: [u8; 4], payload: &[u8]) -> Option<String> {
    finding_of(&seen(), source, payload)
}

fn finding_of(seen: &Seen, source: [u8; 4], payload: &[u8]) -> Option<String> {
    let ports = Ports::default();
    let way = Way {
        source: Endpoint::new(source, 4000),
        destination: Endpoint::new(IMAGE, 53),
    };
    let mut records = Vec::new();
    let packet = Written::begin(way, None, &mut records);
    records.extend_from_slice(payload);
    assert!(packet.finish(0, &mut records));
    let octets = &records[16..];
    let at = PacketAt {
        time_ns: 0,
        number: 1,
        start: 0,
        len: octets.len() as u32,
        original_len: octets.len() as u32,
        link_type: 101,
        file: 0,
    };
    let search = Search::new(seen, &ports);
    search.packet(&Packet { octets, at }, &mut Worker::new())
}

/// A message with a question for `name` and additional records.
fn message(name: &[u8], additionals: &[&[u8]]) -> Vec<u8> {
    let mut message = vec![0; 12];
    (message[5], message[11]) = (1, additionals.len() as u8);
    message.extend_from_slice(name);
    message.extend_from_slice(&[0, 1, 0, 1]);
    message.extend(additionals.concat());
    message
}

fn in_name(name: &[u8]) -> Option<String> {
    finding(IMAGE, &message(name, &[]))
}

#[test]
fn what_is_anonymous_passes() {
    assert_eq!(in_name(b"\x03www\x07example\0"), None);
    assert_eq!(in_name(b"\x013\x012\x011\x0210\x07in-addr\x04arpa\0"), None);
    // Longer numbers are others.
    assert_eq!(in_name(b"\x0c1192.0.2.77a\0"), None);
    assert_eq!(in_name(b"\x0b192.0.2.771\0"), None);
    // These octets are in headers, and text.
    assert_eq!(in_name(b"\x07example\x02uk\0"), None);
    assert_eq!(in_name(b"\x04mail\x07example\0"), None);
    // Nibbles are no octets; without any beside them, they are.
    assert_eq!(in_name(b"\x018\x018\x014\x014\x01a\x02bl\0"), None);
    assert_eq!(in_name(b"\x014\x014\x018\x018\x03IP6\x04corp\0"), None);
    assert!(in_name(b"\x014\x014\x018\x018\x02bl\0").is_some());
    // Numbers, digests and cookies hold four octets by chance.
    let serial = [&b"\0\0\x06\0\x01\0\0\0\0\0\x16\0\0"[..], &CLIENT, &[0; 16]].concat();
    assert_eq!(finding(IMAGE, &message(b"\0", &[&serial])), None);
}

#[test]
fn originals_are_found_in_all_forms() {
    for name in [
        &b"\x0b192.0.2.77-\0"[..],
        b"\x0enode192-0-2-77\0",
        b"\x0a77.2.0.192\0",
        b"\x0277\x012\x010\x03192\x02bl\0",
        b"\x03192\x010\x012\x0277\0",
        b"\x1e2001-DB8--1234-5678-9abc-def0x\0",
        b"\x1f2001:db8::1234:5678:9abc:def0.a\0",
        b"\x010\x01f\x01e\x01d\x01c\x01b\x01a\x019\x018\x017\x016\x015\x014\x013\x012\x011\x010\x010\x010\x010\x010\x010\x010\x010\x018\x01b\x01d\x010\x011\x010\x010\x012\x03ip6\0",
        b"\x1102:aa:03:bb:04:cc\0",
        b"\x1102-AA-03-BB-04-CC\0",
    ] {
        let found = in_name(name).unwrap_or_default();
        assert!(found.contains("of the original"), "{} passes", String::from_utf8_lossy(name));
    }
}

#[test]
fn originals_are_found_as_octets() {
    for octets in [
        &CLIENT_V6.to_be_bytes()[..],
        &[2, 0xAA, 3, 0xBB, 4, 0xCC],
        b"\x01\x92cookie",
    ] {
        let record = [
            &b"\0\0\x10\0\x01\0\0\0\0\0"[..],
            &[octets.len() as u8],
            octets,
        ]
        .concat();
        let found = finding(IMAGE, &message(b"\0", &[&record]));
        assert!(found.unwrap().contains("of the original"));
    }
}

#[test]
fn octets_of_ipv4_addresses_are_found_where_they_may_be_carried() {
    let record = |rtype: u8, before: &[u8]| {
        let data = [before, &CLIENT].concat();
        [
            &[0, 0, rtype, 0, 1, 0, 0, 0, 0, 0, data.len() as u8][..],
            &data,
        ]
        .concat()
    };
    for (record, place) in [
        (
            record(10, b""),
            "a record's data (NULL, additional section)",
        ),
        (
            record(16, b"\x06at"),
            "a record's data (TXT, additional section)",
        ),
        (record(41, b"\0\x0e\0\x04"), "EDNS option 14"),
        (
            record(41, b"\0\x0b\0\0\xfd\xe9\0\x05\0"),
            "EDNS option 65001",
        ),
        (
            record(64, b"\0\x01\x01a\0\x02\x9b\0\x04"),
            "a record's data (SVCB, additional section)",
        ),
    ] {
        let found = finding(IMAGE, &message(b"\0", &[&record])).expect(place);
        assert_eq!(found, format!("192.0.2.77 of the original in {place}"));
    }
    let found = in_name(&[&[4][..], &CLIENT, &[0]].concat());
    assert_eq!(found.unwrap(), "192.0.2.77 of the original in its question");
    let found = in_name(b"\x0b77.77.77.77\0");
    assert_eq!(
        found.unwrap(),
        "77.77.77.77 of the original in its question"
    );
}

#[test]
fn octets_that_most_captures_hold_are_nobodys() {
    let seen = || {
        let seen = seen();
        for address in [[2, 104, 51, 2], [120, 120, 5, 120], [5, 105, 115, 115]] {
            seen.v4(u32::from_be_bytes(address), 8);
        }
        seen
    };
    let record = |rtype: u16, data: &[u8]| {
        let [high, low] = rtype.to_be_bytes();
        [
            &[0, high, low, 0, 1, 0, 0, 0, 0, 0, data.len() as u8][..],
            data,
        ]
        .concat()
    };
    let found = |record: &[u8]| finding_of(&seen(), IMAGE, &message(b"\0", &[record]));
    // Texts that were filled, protocols, and a tag.
    for record in [
        record(16, b"\x05xxxxx\x05xxxxx"),
        record(65, b"\0\x01\0\0\x01\0\x06\x02h3\x02h2"),
        record(257, b"\0\x05issueca.test"),
    ] {
        assert_eq!(found(&record), None);
    }
    for record in [
        record(16, b"\x05axx\x05xx"),
        record(65, b"\0\x01\0\0\x01\0\x07\x02h3\x02h2\x09"),
        record(257, b"\0\x01a\x05issueca.test"),
        record(257, b"\0\x09\x05issue"),
    ] {
        assert!(found(&record).is_some(), "{record:?}");
    }
}

#[test]
fn addresses_that_are_no_pseudonyms_are_found_wherever_they_are() {
    let address = |start: &[u8]| [start, &SERVER].concat();
    for (payload, place) in [
        (
            message(b"\0", &[&address(b"\0\0\x01\0\x01\0\0\0\0\0\x04")]),
            "a record",
        ),
        (
            message(
                b"\0",
                &[b"\0\0\x1c\0\x01\0\0\0\0\0\x10\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x09"],
            ),
            "a record",
        ),
        (
            message(
                b"\0",
                &[&address(
                    b"\0\0\x29\x04\xD0\0\0\0\0\0\x0C\0\x08\0\x08\0\x01\x20\0",
                )],
            ),
            "a client subnet",
        ),
        (
            message(b"\x010\x012\x03203\x07in-addr\x04arpa\0", &[]),
            "its question",
        ),
        (
            message(
                b"\0",
                &[b"\x019\x07in-addr\x04ARPA\0\0\x0c\0\x01\0\0\0\0\0\0"],
            ),
            "the owner of a record",
        ),
        (
            message(
                b"\x018\x01B\x01d\x010\x011\x010\x010\x012\x03ip6\x04arpa\0",
                &[],
            ),
            "its question",
        ),
    ] {
        let found = finding(IMAGE, &payload).expect(place);
        assert!(
            found.contains(place) && found.contains("no pseudonym"),
            "{found}"
        );
    }
    let found = finding(SERVER, &message(b"\0", &[])).unwrap();
    assert!(found.contains("198.51.100.1 in its source"), "{found}");
}

#[test]
fn octets_that_are_no_message_are_a_finding() {
    assert!(finding(IMAGE, b"short").unwrap().contains("no DNS message"));
    let cut = message(b"\0", &[b"\0\0"]);
    assert!(finding(IMAGE, &cut).unwrap().contains("not whole"));
}

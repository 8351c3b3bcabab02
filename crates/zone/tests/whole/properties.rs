//! Properties: what is written is read back the same, and no input makes the reader panic.

use bytes::Bytes;
use dnsrig_zone::{Name, ReadZone, Record, Zone};
use domain::base::iana::{Class, Rtype};
use domain::base::name::ToName;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const ORIGIN: &str = "Example.";

/// A label of any octets, often of those that mean something in a master file.
fn label() -> impl Strategy<Value = Vec<u8>> {
    let odd = select(&b"\"\\;()@$. *A_\t\n\x00\x7f\xff"[..]);
    vec(prop_oneof![any::<u8>(), odd, b'a'..=b'z'], 1..=12)
}

/// A name in wire format of up to five labels, then `suffix`.
fn wire_name(suffix: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    vec(label(), 0..=5).prop_map(move |labels| {
        let mut wire = Vec::new();
        for label in labels {
            wire.push(label.len() as u8);
            wire.extend(label);
        }
        wire.extend(suffix);
        wire
    })
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    wire_name(b"\x00")
}

fn character_strings() -> impl Strategy<Value = Vec<u8>> {
    vec(vec(any::<u8>(), 0..40), 1..4).prop_map(|strings| {
        let with_length = |string: Vec<u8>| [vec![string.len() as u8], string].concat();
        strings.into_iter().flat_map(with_length).collect()
    })
}

fn octets(count: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), count)
}

/// Priority, target, protocol names of any octets, and a parameter without name (RFC 9460 section 2.2).
fn svcb() -> impl Strategy<Value = Vec<u8>> {
    let protocols = vec(vec(any::<u8>(), 1..10), 1..4);
    (any_name(), protocols, vec(any::<u8>(), 0..20)).prop_map(|(target, protocols, value)| {
        let with_length = |string: Vec<u8>| [vec![string.len() as u8], string].concat();
        let protocols: Vec<u8> = protocols.into_iter().flat_map(with_length).collect();
        let parameter = |key: u16, value: &[u8]| {
            [
                &key.to_be_bytes(),
                &(value.len() as u16).to_be_bytes(),
                value,
            ]
            .concat()
        };
        [
            vec![0, 1],
            target,
            parameter(1, &protocols),
            parameter(65333, &value),
        ]
        .concat()
    })
}

fn some_octets(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..=most)
}

/// Type and RDATA.
fn data() -> impl Strategy<Value = (Rtype, Vec<u8>)> {
    let joined = |parts: (Vec<u8>, Vec<u8>)| [parts.0, parts.1].concat();
    let name_types = select(vec![Rtype::NS, Rtype::PTR, Rtype::DNAME]);
    let unknown = (1000u16..32768, vec(any::<u8>(), 0..60));
    prop_oneof![
        octets(4).prop_map(|rdata| (Rtype::A, rdata)),
        octets(16).prop_map(|rdata| (Rtype::AAAA, rdata)),
        (name_types, any_name()),
        (octets(2), any_name()).prop_map(move |parts| (Rtype::MX, joined(parts))),
        (octets(2), any_name()).prop_map(move |parts| (Rtype::AFSDB, joined(parts))),
        (octets(6), any_name()).prop_map(move |parts| (Rtype::SRV, joined(parts))),
        (any_name(), any_name()).prop_map(move |parts| (Rtype::RP, joined(parts))),
        character_strings().prop_map(|rdata| (Rtype::TXT, rdata)),
        character_strings().prop_map(|rdata| (Rtype::SPF, rdata)),
        (octets(4), octets(32)).prop_map(move |parts| (Rtype::DS, joined(parts))),
        (octets(4), some_octets(64)).prop_map(move |parts| (Rtype::DNSKEY, joined(parts))),
        (octets(3), octets(32)).prop_map(move |parts| (Rtype::TLSA, joined(parts))),
        caa().prop_map(|rdata| (Rtype::CAA, rdata)),
        naptr().prop_map(|rdata| (Rtype::NAPTR, rdata)),
        svcb().prop_map(|rdata| (Rtype::SVCB, rdata)),
        rrsig().prop_map(|rdata| (Rtype::RRSIG, rdata)),
        ipseckey().prop_map(|rdata| (Rtype::IPSECKEY, rdata)),
        any_name().prop_map(|name| (
            Rtype::NSEC,
            [
                name,
                b"\x00\x06\x40\x01\x00\x00\x00\x03\x05\x01\x40".to_vec()
            ]
            .concat()
        )),
        unknown.prop_map(|(rtype, rdata)| (Rtype::from_int(rtype), rdata)),
    ]
}

fn caa() -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), "[a-z0-9]{1,15}", vec(any::<u8>(), 0..40)).prop_map(|(flags, tag, value)| {
        [vec![flags, tag.len() as u8], tag.into_bytes(), value].concat()
    })
}

fn ipseckey() -> impl Strategy<Value = Vec<u8>> {
    let gateway = prop_oneof![
        Just((0, Vec::new())),
        octets(4).prop_map(|address| (1, address)),
        octets(16).prop_map(|address| (2, address)),
        any_name().prop_map(|name| (3, name)),
    ];
    (any::<u8>(), gateway, any::<u8>(), some_octets(64)).prop_map(
        |(precedence, (kind, gateway), algorithm, key)| {
            [vec![precedence, kind, algorithm], gateway, key].concat()
        },
    )
}

fn naptr() -> impl Strategy<Value = Vec<u8>> {
    let strings = vec(vec(any::<u8>(), 0..20), 3);
    (octets(4), strings, any_name()).prop_map(|(numbers, strings, name)| {
        let with_length = |string: Vec<u8>| [vec![string.len() as u8], string].concat();
        let strings: Vec<u8> = strings.into_iter().flat_map(with_length).collect();
        [numbers, strings, name].concat()
    })
}

fn rrsig() -> impl Strategy<Value = Vec<u8>> {
    (octets(16), any_name(), some_octets(80)).prop_map(|(fixed, signer, signature)| {
        // Type covered A, as most random numbers are types that may not be signed.
        [vec![0, 1], fixed, signer, signature].concat()
    })
}

prop_compose! {
    fn record()((rtype, rdata) in data(), owner in wire_name(b"\x07eXample\x00"), ttl in 0u32..0x8000_0000) -> Record {
        Record {
            owner: Name::from_octets(Bytes::from(owner)).unwrap(),
            rtype,
            class: Class::IN,
            ttl,
            rdata: Bytes::from(rdata),
        }
    }
}

/// A zone that may be read: SOA, and one TTL for each owner and type.
fn zone() -> impl Strategy<Value = Zone> {
    vec(record(), 0..30).prop_map(|records| {
        let mut text = format!("{ORIGIN} 5 IN SOA a\\;b.{ORIGIN} \\@.{ORIGIN} 1 2 3 4 5\n");
        text.push_str("w.example. 7 TXT \"\"\n");
        let fixed = Zone::parse(text.as_bytes(), None).unwrap();
        let mut records = [records, fixed.records().to_vec()].concat();
        records.sort_by(|a, b| a.owner.name_cmp(&b.owner));
        for record in &mut records {
            record.ttl = 100 + u32::from(record.rtype.to_int());
        }
        Zone::new(fixed.origin().clone(), records)
    })
}

/// Pieces that zone files consist of, put together in any order.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec![
        " ",
        "\t",
        "\n",
        "\r\n",
        "(",
        ")",
        ";",
        "\"",
        "\\",
        "\\#",
        "\\065",
        "\\\"",
        "@",
        ".",
        "*",
        "$ORIGIN",
        "$TTL",
        "$INCLUDE",
        "example.",
        "a",
        "IN",
        "CH",
        "3600",
        "1h",
        "SOA",
        "A",
        "NS",
        "TXT",
        "SVCB",
        "CAA",
        "NSEC3",
        "NSEC",
        "RRSIG",
        "DNSKEY",
        "IPSECKEY",
        "LOC",
        "APL",
        "CERT",
        "URI",
        "TYPE1",
        "TYPE65534",
        "192.0.2.1",
        "::1",
        "key65=",
        "alpn=h2",
        "20240101000000",
        "AQID",
        "00",
        "0",
        "1",
        "255",
        "\u{e9}",
        "\0",
        "SHA-1",
        "1:1.2.3.4/8",
        "N",
        "E",
        "-1m",
        "example. 1 IN SOA . . 1 2 3 4 5\n",
    ];
    let piece = prop_oneof![
        4 => select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => Just(b" ".to_vec()),
        1 => vec(any::<u8>(), 1..3),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(zone in zone()) {
        let mut text = Vec::new();
        zone.write_to(&mut text).unwrap();
        let read = ReadZone::from_text(&text, None)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{}", String::from_utf8_lossy(&text))))?;
        prop_assert_eq!(read.zone.origin(), zone.origin());
        for (read, written) in read.zone.records().iter().zip(zone.records()) {
            prop_assert_eq!(read, written);
            prop_assert_eq!(read.owner.as_slice(), written.owner.as_slice());
        }
        prop_assert_eq!(read.zone.records().len(), zone.records().len());
        let mut again = Vec::new();
        read.zone.write_to(&mut again).unwrap();
        prop_assert_eq!(again, text);
    }

    #[test]
    fn any_octets_are_read_or_refused(text in vec(any::<u8>(), 0..200)) {
        let _ = Zone::parse(&text, None);
    }

    #[test]
    fn any_pieces_are_read_or_refused(text in soup()) {
        let origin = Name::bytes_from_str(ORIGIN).unwrap();
        let _ = Zone::parse(&text, Some(&origin));
    }

    #[test]
    fn damaged_zones_are_read_or_refused(zone in zone(), at in any::<prop::sample::Index>(), octet in any::<u8>(), cut in any::<bool>()) {
        let mut text = Vec::new();
        zone.write_to(&mut text).unwrap();
        let at = at.index(text.len());
        text[at] = octet;
        if cut {
            text.truncate(at + 1);
        }
        let _ = Zone::parse(&text, None);
    }
}

//! What holds for every response, whatever the query.

use crate::test_zone::{nsec3, padded_query, query, zone};
use dnsrig_answer::{Answers, Options, Reply, Responder, Scratch, Transport};
use dnsrig_sign::Denial;
use dnsrig_zone::Name;
use domain::base::iana::{Rcode, Rtype};
use domain::base::name::ToName;
use domain::base::{Message, ParsedRecord};
use domain::rdata::AllRecordData;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static RESPONDERS: LazyLock<Vec<Responder>> = LazyLock::new(|| {
    let zones = [None, Some(Denial::Nsec), Some(nsec3(3))].map(zone);
    let with = |answers| {
        let options = Options {
            answers,
            udp_payload: 4096,
        };
        zones
            .clone()
            .map(|zone| Responder::new([zone], options).expect("a zone with SOA"))
    };
    with(Answers::Minimal)
        .into_iter()
        .chain(with(Answers::Full))
        .collect()
});

fn answer(responder: &Responder, message: &[u8], transport: Transport) -> Option<Vec<u8>> {
    let mut out = vec![0; 65_535];
    match responder.answer(message, transport, &mut Scratch::default(), &mut out) {
        Reply::Message { len, .. } => {
            out.truncate(len);
            Some(out)
        }
        Reply::Nothing | Reply::Transfer(_) => None,
    }
}

/// The records of each section as text, OPT left out; panics unless the message is whole and has nothing after it.
fn sections(response: &[u8]) -> [BTreeSet<String>; 3] {
    let message = Message::from_octets(response).expect("a message");
    let text = |record: ParsedRecord<'_, &[u8]>| {
        let (class, ttl) = (record.class(), record.ttl().as_secs());
        let record = record
            .into_any_record::<AllRecordData<_, _>>()
            .expect("valid data");
        let owner = record.owner().fmt_with_dot();
        format!("{owner} {class} {ttl} {} {}", record.rtype(), record.data()).to_lowercase()
    };
    let counts = message.header_counts();
    let section = |section, count: u16| {
        let records: Vec<_> = Iterator::collect::<Result<_, _>>(section).expect("whole records");
        assert_eq!(records.len(), usize::from(count));
        records
            .into_iter()
            .filter(|record: &ParsedRecord<'_, _>| record.rtype() != Rtype::OPT)
            .map(text)
            .collect()
    };
    let sections = [
        section(
            message.answer().expect("an answer section"),
            counts.ancount(),
        ),
        section(
            message.authority().expect("an authority section"),
            counts.nscount(),
        ),
        section(
            message.additional().expect("an additional section"),
            counts.arcount(),
        ),
    ];
    let mut last = message.additional().expect("an additional section");
    last.by_ref().for_each(drop);
    let end = last.pos();
    assert_eq!(end, response.len(), "nothing follows the last record");
    sections
}

/// Names at, below and beside those of the zone.
fn some_name() -> impl Strategy<Value = Name> {
    let owners: Vec<Name> = zone(None)
        .records()
        .iter()
        .map(|record| record.owner.clone())
        .collect();
    let label = proptest::string::string_regex("[a-z*]{1,6}").expect("a valid expression");
    let labels = proptest::collection::vec(label, 0..3);
    (proptest::sample::select(owners), labels, 0..2usize).prop_map(|(owner, labels, skipped)| {
        let mut wire = Vec::new();
        for label in &labels {
            wire.push(label.len() as u8);
            wire.extend_from_slice(label.as_bytes());
        }
        let ancestor = owner.iter_suffixes().nth(skipped);
        wire.extend_from_slice(ancestor.as_ref().map_or(&[0], |name| name.as_slice()));
        Name::from_octets(wire.into()).expect("a valid name")
    })
}

fn some_type() -> impl Strategy<Value = Rtype> {
    let known = vec![
        1, 2, 5, 6, 12, 15, 16, 28, 33, 39, 43, 46, 47, 48, 50, 51, 255,
    ];
    prop_oneof![proptest::sample::select(known), any::<u16>()]
        .prop_filter("a zone transfer is no single message", |number| {
            *number != 252
        })
        .prop_map(Rtype::from_int)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_octets_are_survived(message in proptest::collection::vec(any::<u8>(), 0..300), which in 0..6usize) {
        for transport in [Transport::Udp, Transport::Tcp] {
            if let Some(response) = answer(&RESPONDERS[which], &message, transport) {
                prop_assert_eq!(&response[..2], &message[..2]);
                prop_assert!(response[2] & 0x80 != 0, "a response says that it is one");
                sections(&response);
            }
        }
    }

    #[test]
    fn damaged_queries_are_survived(
        qname in some_name(),
        rtype in some_type(),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<proptest::sample::Index>(),
        which in 0..6usize,
    ) {
        let mut message = query(&qname, rtype, Some((1232, true)));
        for (place, octet) in damage {
            let place = place.index(message.len());
            message[place] = octet;
        }
        message.truncate(cut.index(message.len() + 1).max(message.len() / 2));
        if let Some(response) = answer(&RESPONDERS[which], &message, Transport::Udp) {
            sections(&response);
        }
    }

    #[test]
    fn truncation_keeps_whole_rrsets_and_says_so(
        qname in some_name(),
        rtype in some_type(),
        edns in proptest::option::of((0..5000u16, any::<bool>())),
        which in 0..6usize,
    ) {
        let message = query(&qname, rtype, edns);
        let responder = &RESPONDERS[which];
        let (Some(udp), Some(tcp)) = (
            answer(responder, &message, Transport::Udp),
            answer(responder, &message, Transport::Tcp),
        ) else {
            return Err(TestCaseError::fail("a well-formed query gets a response"));
        };
        let limit = edns.map_or(512, |(size, _)| size.clamp(512, 4096));
        prop_assert!(udp.len() <= usize::from(limit), "{} octets of {limit}", udp.len());
        let truncated = udp[2] & 0x02 != 0;
        prop_assert!(tcp[2] & 0x02 == 0, "nothing is cut over TCP");
        prop_assert_eq!(udp[3], tcp[3]);
        let (short, whole) = (sections(&udp), sections(&tcp));
        if rtype == Rtype::ANY {
            // One RRset over UDP; what goes along with it may be part of the answer over TCP.
            prop_assert!(short[0].is_subset(&whole[0]));
            return Ok(());
        }
        for (short, whole) in short.iter().zip(&whole) {
            prop_assert!(short.is_subset(whole));
        }
        if !truncated {
            // Full answers may lose the zone's NS RRset without being truncated: nobody asked for it.
            let full = responder.options().answers == Answers::Full;
            let asked_for = if full { 1 } else { 2 };
            prop_assert_eq!(&short[..asked_for], &whole[..asked_for]);
        }
        if truncated {
            prop_assert_ne!(short, whole);
        }
    }

    #[test]
    fn encryption_changes_nothing_but_the_padding(qname in some_name(), rtype in some_type(), which in 0..6usize) {
        let responder = &RESPONDERS[which];
        let encrypted = [Transport::Tls, Transport::Https, Transport::Quic];
        let message = query(&qname, rtype, Some((1232, true)));
        let plain = answer(responder, &message, Transport::Tcp);
        for transport in encrypted {
            prop_assert_eq!(&answer(responder, &message, transport), &plain);
        }
        let message = padded_query(&qname, rtype);
        let plain = answer(responder, &message, Transport::Tcp).expect("a response");
        for transport in encrypted {
            let padded = answer(responder, &message, transport).expect("a response");
            // RFC 8467 section 4.1.
            prop_assert_eq!(padded.len() % 468, 0);
            prop_assert!(padded.len() < plain.len() + 4 + 468);
            prop_assert_eq!(sections(&padded), sections(&plain));
            prop_assert_eq!(&padded[..plain.len() - 2], &plain[..plain.len() - 2], "all but the OPT record's length");
        }
    }

    #[test]
    fn the_question_comes_back_as_it_was(qname in some_name(), rtype in some_type(), which in 0..6usize) {
        // Length octets are below 64, so only letters change.
        let shouted = Name::from_octets(qname.as_slice().to_ascii_uppercase().into()).expect("still a name");
        let message = query(&shouted, rtype, None);
        let (loud, quiet) = (
            answer(&RESPONDERS[which], &message, Transport::Tcp).expect("a response"),
            answer(&RESPONDERS[which], &query(&qname, rtype, None), Transport::Tcp).expect("a response"),
        );
        prop_assert_eq!(&loud[12..message.len()], &message[12..]);
        prop_assert_eq!(sections(&loud), sections(&quiet));
        let header = Message::from_octets(&loud[..]).expect("a message").header();
        prop_assert!(header.rd() && !header.ra() && !header.ad() && !header.cd());
        if header.rcode() == Rcode::NXDOMAIN {
            prop_assert!(header.aa());
        }
    }
}

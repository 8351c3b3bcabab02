use super::*;
use crate::message::{Endpoint, Message, Transport};
use crate::read::{Ports, messages};
use crate::write::packet::TcpFields;
use crate::write::{file_header, link};
use packets::{Packet, Way};
use proptest::prelude::*;
use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

const QUERY: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\x07example\x03com\0\0\x01\0\x01";

/// A capture being made, of raw IP packets.
struct Capture(Vec<u8>);

impl Capture {
    fn new() -> Self {
        Self(file_header(link::RAW).to_vec())
    }

    fn packet(&mut self, way: Way, tcp: Option<TcpFields>, time_ns: i64, payload: &[u8]) {
        let packet = Packet::begin(way, tcp, &mut self.0);
        self.0.extend_from_slice(payload);
        assert!(packet.finish(time_ns, &mut self.0));
    }
}

fn way(client: impl Into<IpAddr>, server: impl Into<IpAddr>, port: u16) -> Way {
    Way {
        source: Endpoint::new(client, port),
        destination: Endpoint::new(server, 53),
    }
}

fn v4(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

fn v6(last: u16) -> IpAddr {
    [0x2001, 0xDB8, 0, 0, 0, 0, 0, last].into()
}

/// A folder with a capture, and what may be done with it.
struct Run {
    folder: tempfile::TempDir,
    ports: Ports,
    cancel: AtomicBool,
}

impl Run {
    fn of(capture: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.pcap"), capture).unwrap();
        Self {
            folder,
            ports: Ports::default(),
            cancel: AtomicBool::new(false),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn reading<'a>(&'a self, files: &'a [PathBuf]) -> Reading<'a> {
        Reading {
            files,
            ports: &self.ports,
            threads: None,
            cancel: &self.cancel,
            progress: &|_| (),
        }
    }

    fn anonymise(&self, names: NamePolicy) -> Result<AnonymiseSummary, TrafficError> {
        let settings = AnonymiseSettings {
            names,
            keep: Vec::new(),
        };
        let files = [self.path("in.pcap")];
        let key = Key::new([3; KEY_LEN]);
        anonymise(
            &self.reading(&files),
            &key,
            &settings,
            &self.path("out.pcap"),
        )
    }

    /// The messages of a file, each with its way.
    fn messages(&self, name: &str) -> Vec<(Transport, Way, i64, Vec<u8>)> {
        let mut found = Vec::new();
        let files = [self.path(name)];
        messages(&self.reading(&files), |message: Message<'_>| {
            let way = Way {
                source: message.source,
                destination: message.destination,
            };
            found.push((
                message.transport,
                way,
                message.time_ns,
                message.octets.to_vec(),
            ));
            ControlFlow::Continue(())
        })
        .unwrap();
        found
    }
}

fn framed(messages: &[&[u8]]) -> Vec<u8> {
    let frame = |message: &&[u8]| [&(message.len() as u16).to_be_bytes(), *message].concat();
    messages.iter().flat_map(frame).collect()
}

#[test]
fn addresses_that_are_mostly_zeros_are_anonymised() {
    let clients = ["1::", "::", "::1", "1::1", "ffff::", "0:1::", "::ffff:0:0"];
    let mut capture = Capture::new();
    // Padding (RFC 7830) of so many zeros as an address has.
    let padded = [
        &QUERY[..11],
        b"\x01",
        &QUERY[12..],
        b"\0\0\x29\x04\xd0\0\0\0\0\0\x18\0\x0c\0\x14",
        &[0; 20],
    ]
    .concat();
    for client in clients {
        let client: std::net::Ipv6Addr = client.parse().unwrap();
        capture.packet(way(client, v6(53), 4000), None, 7, &padded);
    }
    for address in [[0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]] {
        capture.packet(way(address, v4(53), 4000), None, 7, &padded);
    }
    let run = Run::of(&capture.0);
    let summary = run.anonymise(NamePolicy::Keep).unwrap();
    assert_eq!(summary.check.packets, 10);
    let sources: std::collections::HashSet<_> = run
        .messages("out.pcap")
        .iter()
        .map(|(_, way, ..)| way.source.address)
        .collect();
    assert_eq!(sources.len(), 10);
}

#[test]
fn datagrams_of_both_families_are_anonymised_in_their_order() {
    let mut capture = Capture::new();
    for number in 0..100 {
        let time_ns = 1_700_000_000_000_000_000 + i64::from(number) * 1000;
        capture.packet(way(v4(number), v4(250), 4000), None, time_ns, QUERY);
        capture.packet(
            way(v6(number.into()), v6(0xFFFF), 4000),
            None,
            time_ns,
            QUERY,
        );
    }
    let run = Run::of(&capture.0);
    let summary = run.anonymise(NamePolicy::Keep).unwrap();
    assert_eq!(
        (summary.messages.written, summary.check.packets),
        (200, 200)
    );
    assert!(summary.check.originals >= 200 && summary.check.addresses >= 400);
    let (before, after) = (run.messages("in.pcap"), run.messages("out.pcap"));
    assert_eq!(before.len(), after.len());
    let pan = CryptoPan::new(&[3; KEY_LEN]);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((before.2, &before.3), (after.2, &after.3));
        let mapped: IpAddr = match before.1.source.address {
            IpAddr::V4(address) => IpAddr::V4(pan.v4(address.to_bits()).into()),
            IpAddr::V6(address) => IpAddr::V6(pan.v6(address.to_bits()).into()),
        };
        assert_eq!(after.1.source, Endpoint::new(mapped, 4000));
        assert_eq!(after.1.destination.port, 53);
    }
    assert_eq!(
        summary.octets,
        run.path("out.pcap").metadata().unwrap().len()
    );
}

#[test]
fn datagrams_that_stand_as_one_packet_become_as_many() {
    let status = [&QUERY[..2], b"\x11", &QUERY[3..]].concat();
    let answer = [
        &QUERY[..2],
        b"\x81\x80\0\x01\0\x01\0\0\0\0",
        &QUERY[12..],
        b"\xC0\x0C\0\x01\0\x01\0\0\0\x05\0\x04\xC0\0\x02\x01",
    ]
    .concat();
    for messages in [
        vec![QUERY; 3],
        vec![&status, QUERY, QUERY],
        vec![&answer; 2],
    ] {
        let [mut one, mut many] = [Capture::new(), Capture::new()];
        one.packet(way(v4(1), v4(250), 4000), None, 7, &messages.concat());
        for message in &messages {
            many.packet(way(v4(1), v4(250), 4000), None, 7, message);
        }
        let [one, many] = [one, many].map(|capture| {
            let run = Run::of(&capture.0);
            let summary = run.anonymise(NamePolicy::Keep).unwrap();
            (summary.messages, summary.contents, run.messages("out.pcap"))
        });
        assert_eq!(one, many);
    }
    let mut odd = Capture::new();
    let payload = [QUERY, b"nonsense"].concat();
    odd.packet(way(v4(1), v4(250), 4000), None, 7, &payload);
    let summary = Run::of(&odd.0).anonymise(NamePolicy::Keep).unwrap();
    assert_eq!(
        (summary.messages.written, summary.contents.octets_after),
        (1, 1)
    );
}

#[test]
fn connections_keep_their_segments_and_messages() {
    let (syn, fin, push) = (0x02, 0x01, 0x18);
    let client = way(v4(1), v4(250), 4000);
    let two = framed(&[QUERY, QUERY]);
    let (first, second) = two.split_at(20);
    let mut capture = Capture::new();
    let mut number = 1000;
    for (way, flags, data) in [
        (client, syn, &b""[..]),
        (client.back(), syn | 0x10, b""),
        (client, push, first),
        (client, push, second),
        (client.back(), push, &framed(&[&answer()])),
        (client, fin | 0x10, b""),
    ] {
        let is_client = way == client;
        let fields = TcpFields {
            sequence: if is_client {
                number
            } else {
                5 + u32::from(flags != 0x12)
            },
            acknowledged: 9,
            flags,
        };
        number += if is_client {
            data.len() as u32 + u32::from(flags == syn)
        } else {
            0
        };
        capture.packet(way, Some(fields), 0, data);
    }
    let run = Run::of(&capture.0);
    let summary = run.anonymise(NamePolicy::Pseudonyms).unwrap();
    assert_eq!((summary.messages.written, summary.check.packets), (3, 6));
    let after = run.messages("out.pcap");
    assert_eq!(after.len(), 3);
    assert!(after.iter().all(|message| message.0 == Transport::Tcp));
    assert_eq!(after[0].3, after[1].3);
    assert!(after[0].3 != QUERY && after[0].3.len() == QUERY.len());
    assert_eq!(after[2].1, after[0].1.back());
}

fn answer() -> Vec<u8> {
    let mut answer = QUERY.to_vec();
    (answer[2], answer[7]) = (0x81, 1);
    answer.extend_from_slice(b"\xC0\x0C\0\x01\0\x01\0\0\0\x3C\0\x04\xCB\0\x71\x05");
    answer
}

#[test]
fn one_address_in_packets_and_contents_has_two_pseudonyms() {
    let mut answer = QUERY.to_vec();
    (answer[2], answer[7]) = (0x81, 1);
    answer.extend_from_slice(b"\xC0\x0C\0\x01\0\x01\0\0\0\x3C\0\x04\xC0\0\x02\xFA");
    let mut capture = Capture::new();
    capture.packet(way(v4(1), v4(250), 4000).back(), None, 0, &answer);
    let run = Run::of(&capture.0);
    run.anonymise(NamePolicy::Keep).unwrap();
    let (_, way, _, octets) = &run.messages("out.pcap")[0];
    assert_ne!(
        IpAddr::from(*octets.last_chunk::<4>().unwrap()),
        way.source.address
    );
}

#[test]
fn an_original_in_a_readable_name_is_refused_and_nothing_is_left() {
    // The address of a client, written in a way that is not recognised as one.
    let hidden = [&QUERY[..12], b"\x10ip6=2001:db8::4d\x04test\0\0\x01\0\x01"].concat();
    let mut capture = Capture::new();
    // Left out, so that the output's numbers are others.
    capture.packet(way(v6(0x4D), v6(0xFFFF), 4000), None, 7, b"no message");
    capture.packet(way(v6(0x4D), v6(0xFFFF), 4000), None, 7, &hidden);
    let run = Run::of(&capture.0);
    let outcome = run.anonymise(NamePolicy::Keep).map(|_| ());
    let found = std::fs::read_dir(run.folder.path()).unwrap().count();
    match outcome {
        Err(TrafficError::NotAnonymous { packet, what, .. }) => {
            assert!(packet.ends_with("in.pcap: packet 2"), "{packet}");
            assert_eq!(
                (what.as_str(), found),
                ("2001:db8::4d of the original in its question", 1)
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(run.anonymise(NamePolicy::Pseudonyms).is_ok());
}

#[test]
fn an_original_in_a_record_is_refused_with_the_record() {
    let mut answer = QUERY.to_vec();
    (answer[2], answer[7]) = (0x81, 1);
    answer.extend_from_slice(b"\xC0\x0C\x01\x01\0\x01\0\0\0\x3C\0\x17\0\x05iodefmailto:a@1.1.1.1");
    let mut capture = Capture::new();
    let client = way([1, 1, 1, 1], v4(250), 4000);
    capture.packet(client.back(), None, 0, &answer);
    let run = Run::of(&capture.0);
    let error = run.anonymise(NamePolicy::Keep).unwrap_err().to_string();
    assert!(error.contains("in.pcap: packet 1 would still hold 1.1.1.1 of the original in a record's data (CAA, answer section)"), "{error}");
    assert!(run.anonymise(NamePolicy::Pseudonyms).is_ok());
}

#[test]
fn what_holds_no_message_leaves_no_file() {
    let mut capture = Capture::new();
    capture.packet(way(v4(1), v4(250), 4000), None, 0, b"no message");
    let run = Run::of(&capture.0);
    let error = run.anonymise(NamePolicy::Keep).unwrap_err();
    assert!(matches!(error, TrafficError::NoMessages { .. }));
    assert_eq!(std::fs::read_dir(run.folder.path()).unwrap().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whoever was one client is one client, and no two become one.
    #[test]
    fn clients_stay_apart(clients in proptest::collection::vec((any::<u8>(), any::<bool>()), 1..50)) {
        let mut capture = Capture::new();
        for &(last, is_ipv6) in &clients {
            let client = if is_ipv6 { v6(last.into()) } else { v4(last) };
            let server = if is_ipv6 { v6(0xFFFF) } else { [198, 51, 100, 1].into() };
            capture.packet(way(client, server, 4000), None, 0, QUERY);
        }
        let run = Run::of(&capture.0);
        run.anonymise(NamePolicy::Pseudonyms).unwrap();
        let mut images = HashMap::new();
        for (before, after) in clients.iter().zip(run.messages("out.pcap")) {
            let image = images.entry(*before).or_insert(after.1.source.address);
            prop_assert_eq!(*image, after.1.source.address);
        }
        let distinct: std::collections::HashSet<_> = images.values().collect();
        prop_assert_eq!(distinct.len(), images.len());
    }
}

//! Captures that are damaged, or any octets: read or refused; and any queries that are written are read.

#[path = "common/captures.rs"]
mod captures;
mod common;

use captures::{START, assert_sums, parse, traffic};
use common::{ETHERNET, Packet, Pcap, Pcapng, address, ethernet, query, udp, without_id};
use dnsrig_stream::capture::{CaptureOptions, ReadFault, read, read_from};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

#[test]
fn damage_is_named_with_file_and_packet() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let fails = |octets: &[u8]| {
        std::fs::write(file.path(), octets).unwrap();
        read(
            file.path(),
            &CaptureOptions::default(),
            &AtomicBool::new(false),
        )
        .unwrap_err()
        .to_string()
    };
    let mut damaged = Pcap::default().write(&traffic()[..2]);
    damaged.extend_from_slice(&[0xFF; 16]);
    assert!(
        fails(&damaged).contains("damaged at packet 3"),
        "{}",
        fails(&damaged)
    );
    let mut damaged = Pcapng::new(false);
    damaged.enhanced_packet(4, 0, b"");
    assert!(
        fails(&damaged.file).contains(
            "packet 1 (counted from 1, as in Wireshark): its interface 4 is not described"
        )
    );
    assert!(fails(b"www.example.test A\n").contains("begins with 77 77 77 2e"));
    assert!(fails(b"ab").contains("fewer than four octets"));
    assert!(fails(b"\xd4\xc3\xb2\xa1\x02\0").contains("ends in the header"));
}

fn any_capture() -> impl Strategy<Value = Vec<u8>> {
    let octets = || prop::collection::vec(any::<u8>(), 0..600);
    let changed = (
        any::<bool>(),
        prop::collection::vec((any::<usize>(), any::<u8>()), 0..30),
        any::<usize>(),
    )
        .prop_map(|(is_pcapng, changes, len)| {
            let mut file = if is_pcapng {
                let mut capture = Pcapng::new(false);
                capture.interface(ETHERNET, 0, &[(9, &[9])]);
                for (time_ns, octets) in traffic() {
                    capture.enhanced_packet(0, time_ns, &octets);
                    capture.simple_packet(100, &octets);
                }
                capture.file
            } else {
                Pcap::default().write(&traffic())
            };
            for (place, octet) in changes {
                let place = place % file.len();
                file[place] = octet;
            }
            file.truncate(file.len() - len % file.len() / 4);
            file
        });
    let with_header =
        octets().prop_map(|octets| [&Pcap::default().write(&[])[..], &octets[..]].concat());
    prop_oneof![octets(), with_header, changed]
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(file in any_capture()) {
        match read_from(&file[..], &CaptureOptions::default(), &mut 0) {
            Ok((stream, summary)) => assert_sums(&stream, &summary),
            Err(ReadFault::Io(error)) => panic!("memory was read: {error}"),
            Err(_) => {}
        }
    }

    #[test]
    fn queries_written_are_queries_read(
        packets in prop::collection::vec((0..10_000_000_000_u64, 1..200_u8, "[a-z]{1,20}", any::<bool>()), 1..50),
        is_big_endian in any::<bool>(),
    ) {
        let server = address("198.51.100.53:53");
        let mut expected: Vec<_> = packets.iter().map(|(time_ns, client, name, _)| (*time_ns, *client, without_id(&query(name)))).collect();
        let packets: Vec<Packet> = packets
            .iter()
            .map(|(time_ns, client, name, has_tag)| {
                let packet = udp((std::net::Ipv4Addr::new(192, 0, 2, *client), 4000).into(), server, &query(name));
                (START + time_ns, ethernet(if *has_tag { &[7] } else { &[] }, &packet))
            })
            .collect();
        let (stream, summary) = parse(&Pcap { is_big_endian, has_nanoseconds: true, ..Pcap::default() }.write(&packets), &CaptureOptions::default());
        prop_assert_eq!(summary.queries as usize, packets.len());
        expected.sort_by_key(|query| query.0);
        let first = expected[0].0;
        let mut clients: Vec<u8> = Vec::new();
        for (index, (time_ns, client, message)) in expected.iter().enumerate() {
            if !clients.contains(client) {
                clients.push(*client);
            }
            prop_assert_eq!(stream.time_ns(index), Some(time_ns - first));
            let number = clients.iter().position(|other| other == client).unwrap();
            prop_assert_eq!(stream.client(index), Some(number as u32));
            prop_assert_eq!(stream.message(index), &message[..]);
        }
    }
}

//! Captures that are damaged, or any octets: read or refused; and any queries that are written are read.

use super::captures::{START, assert_sums, parse, traffic};
use super::common::{ETHERNET, Packet, Pcap, Pcapng, address, ethernet, query, udp, without_id};
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
    let whole = Pcapng::new(false).file;
    for len in 4..whole.len() {
        let message = fails(&whole[..len]);
        assert!(
            message.contains("ends in the header of a pcapng file"),
            "{message}"
        );
    }
    let mut cut = Pcapng::new(false);
    cut.interface(ETHERNET, 0, &[]);
    cut.file.pop();
    assert!(fails(&cut.file).contains("is cut off: it ends in its header"));
    let cut = Pcap::default().write(&traffic()[1..3]);
    let message = fails(&cut[..cut.len() - 1]);
    assert!(
        message.contains("; the file is cut off inside packet 2;"),
        "{message}"
    );
}

#[test]
fn a_cut_capture_says_inside_which_packet_it_ends() {
    let mut pcapng = Pcapng::new(false);
    pcapng.interface(ETHERNET, 0, &[(9, &[9])]);
    for (time_ns, octets) in &traffic()[..5] {
        pcapng.enhanced_packet(0, *time_ns, octets);
    }
    for file in [Pcap::default().write(&traffic()[..5]), pcapng.file] {
        let (_, summary) = parse(&file, &CaptureOptions::default());
        assert_eq!((summary.queries, summary.cut_packet), (3, None));
        let (_, summary) = parse(&file[..file.len() - 5], &CaptureOptions::default());
        assert_eq!((summary.queries, summary.cut_packet), (2, Some(5)));
        assert!(summary.ends_inside_packet);
    }
}

#[test]
fn files_that_can_be_converted_are_said_to_be() {
    let running = AtomicBool::new(false);
    for (begin, kind) in [
        (&b"PAR1\x15\x04"[..], "Parquet"),
        (b"\0\0\0\0\0\0\0\x22\0\0\0\x02", "dnstap"),
        (b"\x83\x65C-DNS\xa3", "C-DNS"),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), begin).unwrap();
        let error = read(file.path(), &CaptureOptions::default(), &running).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(kind) && message.contains("'dnsrig traffic convert'"),
            "{message}"
        );
    }
}

#[test]
fn a_clock_that_was_set_is_refused_with_the_packet() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut packets = traffic();
    packets[0].0 = 4_000_000_000_000_000_000;
    std::fs::write(file.path(), Pcap::default().write(&packets)).unwrap();
    let running = AtomicBool::new(false);
    let error = read(file.path(), &CaptureOptions::default(), &running).unwrap_err();
    let message = error.to_string();
    // Packet 2 is a response.
    assert!(
        message.contains("at packet 3 (counted from 1) times go back over a gap of 26620 days")
            && message.contains("editcap"),
        "{message}"
    );
    let before = CaptureOptions {
        max_queries: Some(1),
        ..CaptureOptions::default()
    };
    assert!(read(file.path(), &before, &running).is_ok());
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

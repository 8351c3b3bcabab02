//! Captures written here: what is taken out of them, what is left out and counted, and that any octets are read or refused.

mod common;

use common::{ETHERNET, Packet, Pcap, Pcapng, RAW, address, ethernet, query, tcp, udp, without_id};
use dnsrig_stream::capture::{CaptureOptions, CaptureSummary, ReadFault, read, read_from};
use dnsrig_stream::{QueryStream, StreamError};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_700_000_000 * SECOND;

fn parse(file: &[u8], options: &CaptureOptions) -> (QueryStream, CaptureSummary) {
    let mut packets = 0;
    let (stream, summary) = read_from(file, options, &mut packets).unwrap();
    assert_eq!(packets, summary.packets);
    assert_sums(&stream, &summary);
    (stream, summary)
}

/// Every packet and message is counted in one place.
fn assert_sums(stream: &QueryStream, summary: &CaptureSummary) {
    let left_out = &summary.packets_left_out;
    let left_out = left_out.not_ip
        + left_out.unknown_link
        + left_out.fragments
        + left_out.truncated
        + left_out.bad_header
        + left_out.other_protocol
        + left_out.other_port
        + left_out.from_server
        + left_out.other_server
        + left_out.tcp;
    assert_eq!(
        summary.packets,
        left_out + summary.udp_datagrams + summary.tcp.segments
    );
    let messages = &summary.messages_left_out;
    let messages =
        messages.responses + messages.other_opcode + messages.malformed + messages.beyond_limit;
    assert_eq!(
        summary.udp_datagrams + summary.tcp.messages,
        summary.queries + messages
    );
    assert_eq!(stream.len() as u64, summary.queries);
}

fn timed(stream: &QueryStream) -> Vec<(u64, u32, Vec<u8>)> {
    (0..stream.len())
        .map(|index| {
            (
                stream.time_ns(index).unwrap(),
                stream.client(index).unwrap(),
                stream.message(index).to_vec(),
            )
        })
        .collect()
}

/// Three queries of two clients, with responses and other traffic between them.
fn traffic() -> Vec<Packet> {
    let (first, second) = (address("192.0.2.1:4000"), address("192.0.2.2:4000"));
    let server = address("198.51.100.53:53");
    let mut response = query("a.test");
    response[2] |= 0x80;
    let mut update = query("a.test");
    update[2] = 5 << 3;
    let mut arp = vec![2; 12];
    arp.extend_from_slice(&[8, 6, 0, 0]);
    [
        (0, ethernet(&[], &udp(first, server, &query("a.test")))),
        (1000, ethernet(&[], &udp(server, first, &response))),
        (2000, ethernet(&[7], &udp(second, server, &query("b.test")))),
        (3000, arp),
        (
            4000,
            ethernet(
                &[7, 8],
                &udp(address("192.0.2.1:4001"), server, &query("c.test")),
            ),
        ),
        (
            5000,
            ethernet(&[], &udp(first, address("198.51.100.53:123"), b"time?")),
        ),
        (6000, ethernet(&[], &udp(first, server, &update))),
        (7000, ethernet(&[], &udp(first, server, b"short"))),
        (8000, ethernet(&[], &udp(first, server, &response))),
        (
            9000,
            ethernet(&[], &common::ip(first.ip(), server.ip(), 1, b"ping")),
        ),
    ]
    .map(|(time_ns, octets)| (START + time_ns, octets))
    .to_vec()
}

#[test]
fn all_kinds_of_pcap_files_give_the_same_stream() {
    for (is_big_endian, has_nanoseconds) in
        [(false, false), (false, true), (true, false), (true, true)]
    {
        let pcap = Pcap {
            is_big_endian,
            has_nanoseconds,
            ..Pcap::default()
        };
        let (stream, summary) = parse(&pcap.write(&traffic()), &CaptureOptions::default());
        let expected = [(0, 0, "a.test"), (2000, 1, "b.test"), (4000, 0, "c.test")];
        assert_eq!(
            timed(&stream),
            expected.map(|(time_ns, client, name)| (time_ns, client, without_id(&query(name))))
        );
        assert_eq!(
            (
                summary.start_unix_ns as u64,
                summary.span_ns,
                summary.clients
            ),
            (START, 4000, 2)
        );
        let left_out = &summary.packets_left_out;
        assert_eq!(
            (
                left_out.not_ip,
                left_out.from_server,
                left_out.other_port,
                left_out.other_protocol
            ),
            (1, 1, 1, 1)
        );
        let messages = &summary.messages_left_out;
        assert_eq!(
            (
                messages.responses,
                messages.other_opcode,
                messages.malformed
            ),
            (1, 1, 1)
        );
    }
}

#[test]
fn options_choose_ports_servers_clients_and_limits() {
    let packets = traffic();
    let read = |options: CaptureOptions| parse(&Pcap::default().write(&packets), &options);
    let (_, summary) = read(CaptureOptions {
        client_by_port: true,
        ..CaptureOptions::default()
    });
    assert_eq!(summary.clients, 3);
    let (stream, summary) = read(CaptureOptions {
        servers: vec!["198.51.100.0/26".parse().unwrap()],
        ..CaptureOptions::default()
    });
    assert_eq!(
        (stream.len(), summary.packets_left_out.other_server),
        (3, 0)
    );
    let (stream, summary) = read(CaptureOptions {
        servers: vec!["198.51.100.64/26".parse().unwrap()],
        ..CaptureOptions::default()
    });
    assert_eq!(
        (stream.len(), summary.packets_left_out.other_server),
        (0, 6)
    );
    let (stream, summary) = read(CaptureOptions {
        ports: vec![123],
        ..CaptureOptions::default()
    });
    assert_eq!((stream.len(), summary.messages_left_out.malformed), (0, 1));
    let (stream, summary) = read(CaptureOptions {
        max_queries: Some(2),
        ..CaptureOptions::default()
    });
    assert_eq!(
        (stream.len(), summary.packets, summary.stopped_at_limit),
        (2, 3, true)
    );
    let (stream, summary) = read(CaptureOptions {
        max_span_ns: Some(3999),
        ..CaptureOptions::default()
    });
    assert_eq!(
        (stream.len(), summary.messages_left_out.beyond_limit),
        (2, 1)
    );
}

#[test]
fn pcapng_has_clocks_and_links_of_its_interfaces_and_sections() {
    let server = address("[2001:db8::53]:53");
    let packet = |name| udp(address("[2001:db8::1]:4000"), server, &query(name));
    for is_big_endian in [false, true] {
        let mut capture = Pcapng::new(is_big_endian);
        capture.interface(ETHERNET, 0, &[(2, b"eth0")]);
        let offset = capture.u64(1_700_000_000);
        capture.interface(RAW, 0, &[(9, &[9]), (14, &offset), (0, b"")]);
        capture.enhanced_packet(0, START / 1000, &ethernet(&[], &packet("a.test")));
        capture.block(5, &[7; 100]);
        capture.enhanced_packet(1, 3, &packet("b.test"));
        capture.simple_packet(usize::MAX, &ethernet(&[], &packet("c.test")));
        capture.section();
        capture.interface(RAW, 0, &[(9, &[0x80 | 1])]);
        capture.enhanced_packet(0, START / SECOND * 2 + 1, &packet("d.test"));
        let (stream, summary) = parse(&capture.file, &CaptureOptions::default());
        let expected = [
            (0, "a.test"),
            (3, "b.test"),
            (3, "c.test"),
            (SECOND / 2, "d.test"),
        ];
        assert_eq!(
            timed(&stream),
            expected.map(|(time_ns, name)| (time_ns, 0, without_id(&query(name))))
        );
        assert_eq!(
            (summary.without_time, summary.start_unix_ns as u64),
            (1, START)
        );
    }
}

#[test]
fn a_simple_packet_ends_at_the_snapshot_length() {
    let packet = udp(
        address("192.0.2.1:4000"),
        address("192.0.2.2:53"),
        &query("a.test"),
    );
    let mut capture = Pcapng::new(false);
    capture.interface(RAW, 40, &[]);
    capture.simple_packet(40, &packet);
    let (_, summary) = parse(&capture.file, &CaptureOptions::default());
    assert_eq!(summary.packets_left_out.truncated, 1);
}

#[test]
fn queries_are_taken_out_of_tcp() {
    let (client, server) = (address("192.0.2.1:4000"), address("192.0.2.2:53"));
    let mut data = Vec::new();
    for name in ["a.test", "b.test", "c.test"] {
        let query = query(name);
        data.extend_from_slice(&(query.len() as u16).to_be_bytes());
        data.extend_from_slice(&query);
    }
    let segments = [
        (2, 99, &b""[..]),
        (0, 100, &data[..30]),
        (0, 140, &data[40..]),
        (0, 130, &data[30..40]),
        (1, 100 + data.len() as u32, b""),
    ];
    let mut packets: Vec<Packet> = Vec::new();
    for (number, (flags, sequence, octets)) in segments.into_iter().enumerate() {
        packets.push((
            START + number as u64 * 1000,
            tcp(client, server, flags, sequence, octets),
        ));
        packets.push((
            START + number as u64 * 1000 + 1,
            tcp(server, client, 0x10, 5, b"whatever"),
        ));
    }
    let file = Pcap {
        link_type: RAW,
        ..Pcap::default()
    }
    .write(&packets);
    let (stream, summary) = parse(&file, &CaptureOptions::default());
    let messages: Vec<_> = ["a.test", "b.test", "c.test"]
        .map(|name| without_id(&query(name)))
        .to_vec();
    assert_eq!(stream.iter().collect::<Vec<_>>(), messages);
    assert_eq!(
        (summary.tcp.segments, summary.packets_left_out.from_server),
        (5, 5)
    );
    let (stream, summary) = parse(
        &file,
        &CaptureOptions {
            only_udp: true,
            ..CaptureOptions::default()
        },
    );
    assert_eq!((stream.len(), summary.packets_left_out.tcp), (0, 5));
}

#[test]
fn times_that_go_backwards_are_sorted_and_counted() {
    let mut packets = traffic();
    packets.swap(0, 4);
    let (stream, summary) = parse(&Pcap::default().write(&packets), &CaptureOptions::default());
    assert_eq!(summary.out_of_order, 2);
    assert_eq!(stream.message(0), without_id(&query("a.test")));
    assert_eq!(
        (stream.client(0), stream.client(1), stream.span_ns()),
        (Some(0), Some(1), 4000)
    );
}

#[test]
fn a_short_snapshot_length_is_counted_and_named() {
    let file = Pcap {
        snap_len: 60,
        ..Pcap::default()
    }
    .write(&traffic());
    let (stream, summary) = parse(&file, &CaptureOptions::default());
    assert_eq!((stream.len(), summary.packets_left_out.truncated), (0, 5));
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), &file).unwrap();
    let error = read(
        path.path(),
        &CaptureOptions::default(),
        &AtomicBool::new(false),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.contains("10 packets, of which 1 not IP, 5 cut off by the snapshot length"),
        "{error}"
    );
    let read = read(
        path.path(),
        &CaptureOptions::default(),
        &AtomicBool::new(true),
    );
    assert!(matches!(read, Err(StreamError::Interrupted)));
}

#[test]
fn a_file_that_ends_inside_a_packet_gives_what_is_before_it() {
    let file = Pcap::default().write(&traffic());
    for cut in [3, 20] {
        let (stream, summary) = parse(&file[..file.len() - cut], &CaptureOptions::default());
        assert_eq!(
            (stream.len(), summary.ends_inside_packet, summary.packets),
            (3, true, 9)
        );
    }
    let (_, summary) = parse(&file, &CaptureOptions::default());
    assert!(!summary.ends_inside_packet);
}

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

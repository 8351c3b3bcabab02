//! Captures written here: what is taken out of them, and what is left out and counted.

use super::captures::{SECOND, START, parse, traffic};
use super::common::{
    ETHERNET, Packet, Pcap, Pcapng, RAW, address, ethernet, query, tcp, udp, without_id,
};
use dnsrig_stream::capture::{CaptureOptions, read};
use dnsrig_stream::{QueryStream, StreamError};
use std::sync::atomic::AtomicBool;

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

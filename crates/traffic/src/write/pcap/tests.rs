use super::*;
use crate::message::SentLen;
use crate::read::{Assembly, Decoded, Packet, PacketAt, Ports, decode};
use dnsrig_stream::capture::packet::PacketReader;
use proptest::prelude::*;

/// A message and how it travelled, in memory of its own.
type Sent = (i64, Endpoint, Endpoint, Transport, Vec<u8>);

fn ends(v6: bool) -> (Endpoint, Endpoint) {
    match v6 {
        true => (
            Endpoint::new([0x2001, 0xDB8, 0, 0, 0, 0, 0, 1], 4000),
            Endpoint::new([0x2001, 0xDB8, 0, 0, 0, 0, 0, 53], 53),
        ),
        false => (
            Endpoint::new([192, 0, 2, 1], 4000),
            Endpoint::new([192, 0, 2, 53], 53),
        ),
    }
}

fn message(id: u16, is_answer: bool, len: usize) -> Vec<u8> {
    let [high, low] = id.to_be_bytes();
    let mut message = vec![
        high,
        low,
        u8::from(is_answer) << 7,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    message.extend_from_slice(b"\x01a\0\0\x01\0\x01");
    message.resize(message.len() + len, 7);
    message
}

fn write(link_type: Option<u16>, sent: &[Sent]) -> Vec<u8> {
    let mut writer = match link_type {
        Some(link_type) => PcapWriter::with_link_type(Vec::new(), link_type),
        None => PcapWriter::new(Vec::new()),
    };
    for (number, (time_ns, source, destination, transport, octets)) in sent.iter().enumerate() {
        let left_out = writer.message(&Message {
            time_ns: *time_ns,
            source: *source,
            destination: *destination,
            transport: *transport,
            octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number: number as u64 + 1,
        });
        assert_eq!(left_out.unwrap(), None);
    }
    writer.finish().unwrap()
}

/// Reads messages with the crate's own decoder from what `stream`'s reader of packets gives.
fn read(file: &[u8]) -> Vec<Sent> {
    let mut reader = PacketReader::new(file).unwrap();
    let (mut assembly, ports, mut found) = (Assembly::default(), Ports::default(), Vec::new());
    let mut sink = |message: Message<'_>| {
        assert!(!message.is_cut);
        found.push((
            message.time_ns,
            message.source,
            message.destination,
            message.transport,
            message.octets.to_vec(),
        ));
    };
    let mut number = 0;
    while let Some(packet) = reader.next_packet().unwrap() {
        number += 1;
        let at = PacketAt {
            time_ns: packet.time_ns.unwrap(),
            number,
            start: 0,
            len: packet.octets.len() as u32,
            original_len: packet.octets.len() as u32 + u32::from(packet.is_cut),
            link_type: packet.link_type,
            file: 0,
        };
        let packet = Packet {
            octets: packet.octets,
            at,
        };
        match decode(&packet, &ports) {
            Decoded::Message(message) => sink(message),
            Decoded::InOrder => assembly.packet(&packet, &ports, &mut sink),
            Decoded::LeftOut(why) => panic!("{why:?}"),
        }
    }
    assembly.finish(&mut sink);
    found
}

#[test]
fn an_empty_file_is_a_capture() {
    let file = PcapWriter::new(Vec::new()).finish().unwrap();
    assert!(
        PacketReader::new(&file[..])
            .unwrap()
            .next_packet()
            .unwrap()
            .is_none()
    );
}

#[test]
fn times_are_exact_and_what_the_format_does_not_hold_is_left_out() {
    let (client, server) = ends(false);
    let octets = message(1, false, 0);
    for time_ns in [0, 1_700_000_000_123_456_789, 4_294_967_295_999_999_999] {
        let sent = (time_ns, client, server, Transport::Udp, octets.clone());
        assert_eq!(read(&write(None, &[sent]))[0].0, time_ns);
    }
    for time_ns in [-1, 4_294_967_296_000_000_000, i64::MAX] {
        let left_out = PcapWriter::new(Vec::new()).message(&Message {
            time_ns,
            source: client,
            destination: server,
            transport: Transport::Udp,
            octets: &octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number: 1,
        });
        assert_eq!(left_out.unwrap(), Some(NoPacket::Time));
    }
}

#[test]
fn packets_of_another_link_get_the_link_of_the_file() {
    let (client, server) = ends(true);
    let mut raw = Vec::new();
    assert!(push_udp(client, server, &message(7, false, 0), &mut raw));
    let mut writer = PcapWriter::with_link_type(Vec::new(), link::ETHERNET);
    let len = raw.len() as u32;
    assert_eq!(writer.packet(5, link::RAW, &raw, len).unwrap(), None);
    let arp = [&[2; 12][..], &[8, 6, 0, 0]].concat();
    assert_eq!(writer.packet(6, link::ETHERNET, &arp, 16).unwrap(), None);
    assert_eq!(
        writer.packet(6, link::LINUX_COOKED, &arp, 16).unwrap(),
        Some(NoPacket::NotIp)
    );
    // Records that are of another link go the same way.
    let mut records = Vec::new();
    push_record(8, &raw, len + 9, &mut records);
    push_record(9, &raw, len, &mut records);
    assert_eq!(writer.records(link::RAW, &records, 2).unwrap(), 0);
    assert_eq!(writer.packets(), 4);
    let file = writer.finish().unwrap();
    let mut reader = PacketReader::new(&file[..]).unwrap();
    let mut seen = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        seen.push((
            packet.time_ns,
            packet.link_type,
            packet.octets.len(),
            packet.is_cut,
        ));
    }
    let framed = raw.len() + 14;
    assert_eq!(
        seen,
        [
            (Some(5), link::ETHERNET, framed, false),
            (Some(6), link::ETHERNET, 16, false),
            (Some(8), link::ETHERNET, framed, true),
            (Some(9), link::ETHERNET, framed, false),
        ]
    );
}

#[test]
fn a_long_message_by_tcp_takes_two_segments_and_is_read_back() {
    let (client, server) = ends(false);
    let sent: Vec<Sent> = [(server, client, true), (client, server, false)]
        .into_iter()
        .map(|(from, to, is_answer)| {
            let octets = message(9, is_answer, 65_535 - 19);
            (3, from, to, Transport::Tcp, octets)
        })
        .collect();
    assert_eq!(read(&write(None, &sent)), sent);
}

#[test]
fn forgotten_connections_are_opened_anew() {
    let mut writer = PcapWriter::new(Vec::new());
    let (client, server) = ends(false);
    let octets = message(1, false, 0);
    for number in 0..4 {
        let left_out = writer.message(&Message {
            time_ns: number as i64,
            source: client,
            destination: server,
            transport: Transport::Tls,
            octets: &octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number,
        });
        assert_eq!(left_out.unwrap(), None);
        if number == 1 {
            writer.next_sequence.clear();
            writer.initial_sequence += 0x4000_0000;
        }
    }
    assert_eq!(read(&writer.finish().unwrap()).len(), 4);
}

fn any_sent() -> impl Strategy<Value = Sent> {
    let transport = prop_oneof![Just(Transport::Udp), Just(Transport::Tcp)];
    (
        any::<u16>(),
        any::<[bool; 3]>(),
        0_usize..300,
        0..4_000_000_000_000_000_000_i64,
        transport,
        0_u16..3,
    )
        .prop_map(|(id, [v6, is_answer, _], len, time_ns, transport, port)| {
            let (mut client, server) = ends(v6);
            client.port += port;
            let (from, to) = if is_answer {
                (server, client)
            } else {
                (client, server)
            };
            (time_ns, from, to, transport, message(id, is_answer, len))
        })
}

proptest! {
    #[test]
    fn messages_are_read_back(sent in prop::collection::vec(any_sent(), 0..40), link in 0_usize..7) {
        let links = [None, Some(link::RAW), Some(link::ETHERNET), Some(link::NULL), Some(link::LOOP), Some(link::LINUX_COOKED), Some(link::LINUX_COOKED_2)];
        prop_assert_eq!(read(&write(links[link], &sent)), sent);
    }
}

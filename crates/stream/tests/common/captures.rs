//! A capture to read, and how it is read.

use crate::common::{Packet, address, ethernet, ip, query, udp};
use dnsrig_stream::QueryStream;
use dnsrig_stream::capture::{CaptureOptions, CaptureSummary, read_from};

pub const SECOND: u64 = 1_000_000_000;
pub const START: u64 = 1_700_000_000 * SECOND;

pub fn parse(file: &[u8], options: &CaptureOptions) -> (QueryStream, CaptureSummary) {
    let mut packets = 0;
    let (stream, summary) = read_from(file, options, &mut packets).unwrap();
    assert_eq!(packets, summary.packets);
    assert_sums(&stream, &summary);
    (stream, summary)
}

/// Every packet and message is counted in one place.
pub fn assert_sums(stream: &QueryStream, summary: &CaptureSummary) {
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
        summary.packets + summary.udp_merged,
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

/// Three queries of two clients, with responses and other traffic between them.
pub fn traffic() -> Vec<Packet> {
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
            ethernet(&[], &ip(first.ip(), server.ip(), 1, b"ping")),
        ),
    ]
    .map(|(time_ns, octets)| (START + time_ns, octets))
    .to_vec()
}

//! Captures: any octets are read or refused without a panic, and every packet and message is counted in one place.
#![no_main]

use dnsrig_stream::capture::{CaptureOptions, read_from};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let mut packets = 0;
    let Ok((stream, summary)) = read_from(octets, &CaptureOptions::default(), &mut packets) else { return };
    let packet = &summary.packets_left_out;
    let left_out = [packet.not_ip, packet.unknown_link, packet.fragments, packet.truncated, packet.bad_header];
    let not_dns = [packet.other_protocol, packet.other_port, packet.from_server, packet.other_server, packet.tcp];
    let used = summary.udp_datagrams + summary.tcp.segments;
    assert_eq!(packets, left_out.iter().chain(&not_dns).sum::<u64>() + used);
    let message = &summary.messages_left_out;
    let left_out = message.responses + message.other_opcode + message.malformed;
    assert_eq!(summary.udp_datagrams + summary.tcp.messages, stream.len() as u64 + left_out);
});

//! Captures of every format: any octets are read or refused without a panic, packets lie within their chunk, and every message
//! that comes out was there.
#![no_main]

use dnsrig_traffic::read::source::source_of;
use dnsrig_traffic::read::{Assembly, ChunkBuffer, Decoded, PacketCounts, Ports, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(mut source) = source_of(octets) else { return };
    let ports = Ports::default();
    let mut assembly = Assembly::default();
    let (mut packets, mut messages, mut in_order) = (0, 0_u64, 0_u64);
    let mut left_out = PacketCounts::default();
    let mut chunk = ChunkBuffer::default();
    loop {
        chunk.clear();
        let filled = source.fill(&mut chunk);
        let read = chunk.chunk();
        for packet in read.iter() {
            packets += 1;
            assert_eq!(packet.at.number, packets);
            match decode(&packet, &ports) {
                Decoded::Message(message) => {
                    assert!(message.octets.len() <= packet.octets.len());
                    messages += 1;
                }
                Decoded::InOrder => {
                    in_order += 1;
                    assembly.packet(&packet, &ports, &mut |message| assert!(message.octets.len() <= 65_535));
                }
                Decoded::LeftOut(why) => left_out.count(why),
            }
        }
        if filled.is_err() || read.packets.is_empty() {
            break;
        }
    }
    assert_eq!(messages + in_order + left_out.total(), packets);
    assembly.finish(&mut |_| ());
});

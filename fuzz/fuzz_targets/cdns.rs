//! C-DNS: any octets are read or refused without a panic, and every message that is read can be decoded again.
#![no_main]

use dnsrig_traffic::read::cdns::Cdns;
use dnsrig_traffic::read::source::Source;
use dnsrig_traffic::read::{ChunkBuffer, Decoded, Ports, decode};
use libfuzzer_sys::fuzz_target;

/// The beginning of a file with one set of parameters and any number of blocks.
const START: &[u8] = b"\x83\x65C-DNS\xA3\x00\x01\x01\x00\x03\x81\xA1\x00\xA1\x00\x1A\x00\x0F\x42\x40\x9F";

fuzz_target!(|octets: &[u8]| {
    let file = [START, octets].concat();
    let mut source = Cdns::new(&file[..]).expect("it begins as it should");
    let mut chunk = ChunkBuffer::default();
    let _ = source.fill(&mut chunk);
    for packet in chunk.chunk().iter() {
        assert!(matches!(decode(&packet, &Ports::default()), Decoded::Message(_)));
    }
});

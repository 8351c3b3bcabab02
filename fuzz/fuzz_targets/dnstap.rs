//! dnstap: any octets are read or refused without a panic, and every message that is read can be decoded again.
#![no_main]

use dnsrig_traffic::read::dnstap::Dnstap;
use dnsrig_traffic::read::source::Source;
use dnsrig_traffic::read::{ChunkBuffer, Decoded, Ports, decode};
use libfuzzer_sys::fuzz_target;

const START: &[u8] = b"\0\0\0\0\0\0\0\x22\0\0\0\x02\0\0\0\x01\0\0\0\x16protobuf:dnstap.Dnstap";

fuzz_target!(|octets: &[u8]| {
    let file = [START, octets].concat();
    let mut source = Dnstap::new(&file[..]).expect("it begins as it should");
    let mut chunk = ChunkBuffer::default();
    let _ = source.fill(&mut chunk);
    for packet in chunk.chunk().iter() {
        assert!(matches!(decode(&packet, &Ports::default()), Decoded::Message(_)));
    }
});

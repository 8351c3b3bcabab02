//! Files of binary messages: any octets are read, and what was read is as long as the file.
#![no_main]

use dnsrig_stream::binary::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let (stream, cut) = parse(octets).expect("memory can be read");
    let read: usize = stream.iter().map(|message| 2 + message.len()).sum();
    assert_eq!(cut.map_or(octets.len(), |cut| cut.offset as usize), read);
});

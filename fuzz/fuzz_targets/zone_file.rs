//! Any octets are read as a zone or refused, and a zone that was read is written so that it reads back the same.

#![no_main]

use dnsrig_zone::Zone;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(zone) = Zone::parse(text, None) else {
        return;
    };
    let mut written = Vec::new();
    zone.write_to(&mut written).expect("a Vec takes any text");
    let read = Zone::parse(&written, None).expect("what was written can be read");
    assert_eq!(read.records(), zone.records());
});

//! Query files: any octets are read without a panic, and what was read is written and read back the same.
#![no_main]

use dnsrig_stream::text::{parse, write_to};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let (questions, _) = parse(octets).expect("memory can be read");
    let mut text = Vec::new();
    write_to(&questions, &mut text).expect("memory can be written");
    let (again, bad) = parse(&text[..]).expect("memory can be read");
    assert_eq!(bad.count(), 0);
    assert_eq!(questions, again);
});

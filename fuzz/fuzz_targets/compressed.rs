//! Compressed files: any octets are decompressed or refused without a panic, and what is not compressed comes as it is.
#![no_main]

use dnsrig_stream::input::{Undecodable, decompressed};
use libfuzzer_sys::fuzz_target;
use std::io::Read;
use std::sync::atomic::AtomicBool;

/// Octets that are read: a few may decompress to very many.
const MOST: u64 = 1 << 20;
const MAGICS: [&[u8]; 3] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0"];

fuzz_target!(|octets: &[u8]| {
    let never = AtomicBool::new(false);
    let input = decompressed(octets, &never).expect("memory can be read");
    let mut read = Vec::new();
    match input.take(MOST).read_to_end(&mut read) {
        Ok(_) if MAGICS.iter().any(|magic| octets.starts_with(magic)) => {}
        Ok(_) => assert_eq!(read, octets[..octets.len().min(MOST as usize)]),
        Err(error) => assert!(Undecodable::of(&error).is_some(), "{error}"),
    }
});

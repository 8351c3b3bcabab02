//! Any octets are read as a manifest of pieces or refused; a manifest is written so that it reads back the same.

#![no_main]

use dnsrig_zone::tools::Manifest;
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|text: &[u8]| {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let path = folder.path().join("zone.pieces");
    fs::write(&path, text).expect("room");
    let Ok(manifest) = Manifest::read(&path) else {
        return;
    };
    manifest.write(&path).expect("room");
    assert_eq!(Manifest::read(&path).expect("what was written"), manifest);
});

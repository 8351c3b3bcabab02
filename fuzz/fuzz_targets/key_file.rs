//! Any octets are read as a `.private` file or refused.

#![no_main]

use dnsrig_sign::check_private_text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let _ = check_private_text(text);
});

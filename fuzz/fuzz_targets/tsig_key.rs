//! Any text given as a TSIG key.
#![no_main]

use dnsrig_load::dress::TsigKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = text.parse::<TsigKey>() {
        assert!(error.to_string().starts_with("tsig: "), "an error names the setting");
    }
});

//! Stored statistics: any octets are read or refused without a panic; what was read has figures, adds up, and is stored again.
#![no_main]

use dnsrig_traffic::stats::{Report, parse_stored};
use libfuzzer_sys::fuzz_target;

/// Digits of the greatest number: what no capture has is not worth a check of each sum. Without checks they pass over.
const MOST_DIGITS: usize = 15;

fuzz_target!(|octets: &[u8]| {
    let mut digits = 0;
    let mut text = octets.to_vec();
    text.retain(|octet| {
        digits = if octet.is_ascii_digit() { digits + 1 } else { 0 };
        digits <= MOST_DIGITS
    });
    let Ok(statistics) = parse_stored(&text[..]) else { return };
    serde_json::to_string(&Report::of(&statistics)).expect("figures can be written");
    let state = serde_json::to_string(&statistics).expect("statistics can be stored");
    let stored = format!("{{\"state\": {state}}}");
    let mut sum = parse_stored(stored.as_bytes()).expect("they were stored by dnsrig");
    if sum.merge(statistics).is_ok() {
        serde_json::to_string(&Report::of(&sum)).expect("figures can be written");
    }
});

//! A latency histogram as a stored report may hold it.
#![no_main]

use dnsrig_load::histogram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stored: &str| {
    if histogram::decode(stored).is_ok() {
        let _ = histogram::merge([stored, stored]);
        let _ = histogram::percentile_points(stored, 5);
    }
});

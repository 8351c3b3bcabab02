//! The URI's query component of a DoH GET request, whole and as the value of `dns`.
#![no_main]

use dnsrig_answer::read_get_query;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut message = vec![0xff];
    for uri_query in [text, &format!("dns={text}")] {
        if read_get_query(uri_query, &mut message) {
            // Every four characters are three octets.
            assert!(message.len() * 4 <= uri_query.len() * 3);
        }
    }
});

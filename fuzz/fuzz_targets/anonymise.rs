//! Anonymised messages: any octets are encoded or left out without a panic; what is encoded is a message, and is so again.
#![no_main]

use dnsrig_traffic::anonymise::{Key, MessageAnonymiser, NamePolicy};
use dnsrig_traffic::wire::View;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static KEEPING: LazyLock<MessageAnonymiser> = LazyLock::new(|| MessageAnonymiser::new(&Key::new([1; 32]), NamePolicy::Keep));
static RENAMING: LazyLock<MessageAnonymiser> =
    LazyLock::new(|| MessageAnonymiser::new(&Key::new([1; 32]), NamePolicy::Pseudonyms));

fuzz_target!(|octets: &[u8]| {
    for anonymiser in [&*KEEPING, &*RENAMING] {
        let Some(encoded) = anonymiser.message(octets) else { continue };
        let view = View::parse(&encoded).expect("a message");
        assert!(view.records().all(|record| record.is_ok()));
        assert_eq!(view.header.flags, View::parse(octets).expect("it was encoded").header.flags);
    }
});

//! Patterns of names: any text is refused, or gives names.
#![no_main]

use dnsrig_stream::MessageOptions;
use dnsrig_stream::generate::{GenerationPlan, generate};
use libfuzzer_sys::fuzz_target;
use std::sync::atomic::AtomicBool;

fuzz_target!(|text: (String, String)| {
    let plan = GenerationPlan { patterns: vec![text.0], types: text.1, queries: 11, seed: 1 };
    if let Ok(stream) = generate(&plan, &MessageOptions::default(), &AtomicBool::new(false)) {
        assert_eq!(stream.len(), 11);
    }
});

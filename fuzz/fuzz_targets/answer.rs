//! Any octets that a server may send instead of an answer.
#![no_main]

use dnsrig_load::answer::Answer;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(answer) = Answer::new(octets) else { return };
    let _ = (answer.id(), answer.is_truncated(), answer.is_bare_error());
    if let Ok(question) = answer.question() {
        let count = u16::from_be_bytes([octets[4], octets[5]]);
        assert!(answer.asks(count, question), "a question section that parses is that of the message");
        assert!(answer.rcode(question.len()) < 4096, "an extended RCODE has twelve bits");
    }
    answer.rcode(0);
});

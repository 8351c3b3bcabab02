//! Any octets that a server may send instead of an answer.
#![no_main]

use dnsrig_load::answer::{Answer, Malformed, QuestionMatch};
use domain::base::Message;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(answer) = Answer::new(octets) else { return };
    let count = u16::from_be_bytes([octets[4], octets[5]]);
    assert_eq!(answer.compare_question(count, answer.question()), QuestionMatch::Same);
    assert!(answer.rcode() < 4096, "an extended RCODE has twelve bits");

    let message = Message::from_octets(octets).expect("it has a header");
    let mut section = message.answer().expect("its question section parses");
    loop {
        for record in section.by_ref() {
            record.expect("every record parses");
        }
        let Some(next) = section.next_section().expect("every section ends where the next begins") else { break };
        section = next;
    }
    assert_eq!(answer.rcode(), message.opt_rcode().to_int(), "the extended RCODE is the one that domain sees");

    let longer = [octets, &[0]].concat();
    assert_eq!(Answer::new(&longer).unwrap_err(), Malformed::Trailing);
});

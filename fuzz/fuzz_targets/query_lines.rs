//! Query files with options, and dynamic updates: any octets are read without a panic, and give whole messages.
#![no_main]

use dnsrig_stream::MessageOptions;
use dnsrig_stream::text::{queries, updates};
use domain::base::Message;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let options = MessageOptions::default();
    let (queries, ..) = queries::parse(octets, &options).expect("memory can be read");
    let (updates, _) = updates::parse(octets, &options).expect("memory can be read");
    for message in queries.iter().chain(updates.iter()) {
        let message = Message::from_octets(message).expect("a message");
        message.sole_question().expect("one question");
        for section in [message.answer(), message.authority(), message.additional()] {
            for record in section.expect("a whole section") {
                record.expect("a whole record");
            }
        }
    }
});

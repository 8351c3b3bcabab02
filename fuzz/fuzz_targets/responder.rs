//! The responder: any octets are answered without a panic, within the limit, with a whole message.
#![no_main]

use dnsrig_answer::{Options, Reply, Responder, Scratch, Transport};
use dnsrig_zone::Zone;
use domain::base::Message;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static RESPONDER: LazyLock<Responder> = LazyLock::new(|| {
    let text = include_bytes!("../../crates/answer/tests/data/example.zone");
    let zone = Zone::parse(text, None).expect("a valid zone");
    Responder::new([Arc::new(zone)], Options::default()).expect("a zone with SOA")
});

fuzz_target!(|octets: &[u8]| {
    let mut out = [0; 4096];
    let reply = RESPONDER.answer(octets, Transport::Udp, &mut Scratch::default(), &mut out);
    if let Reply::Message { len, .. } = reply {
        assert!(len <= 1232);
        let message = Message::from_octets(&out[..len]).expect("a message");
        for section in [message.answer(), message.authority(), message.additional()] {
            for record in section.expect("a whole section") {
                record.expect("a whole record");
            }
        }
    }
});

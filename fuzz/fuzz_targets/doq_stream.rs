//! What comes on a DoQ stream, read and answered.
#![no_main]

use dnsrig_answer::{Options, Reply, Responder, Scratch, Transport, read_stream_query};
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
    let Some(query) = read_stream_query(octets) else { return };
    assert_eq!(octets.len(), 2 + query.len());
    assert_eq!(query[..2], [0, 0]);
    let mut out = vec![0; 65_535];
    let reply = RESPONDER.answer(query, Transport::Quic, &mut Scratch::default(), &mut out);
    if let Reply::Message { len, .. } = reply {
        let message = Message::from_octets(&out[..len]).expect("a message");
        let mut last = message.additional().expect("whole sections");
        last.by_ref().for_each(|record| drop(record.expect("a whole record")));
        assert_eq!(last.pos(), len, "nothing follows the last record");
        let is_padded = message.opt().is_some_and(|opt| opt.opt().iter::<domain::base::opt::Padding<_>>().next().is_some());
        assert!(!is_padded || len % 468 == 0);
    }
});

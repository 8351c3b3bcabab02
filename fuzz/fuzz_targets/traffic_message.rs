//! The view of a message: any octets are read or refused without a panic, and what domain reads, it reads, too.
#![no_main]

use dnsrig_traffic::wire::{NameBuffer, View, labels, read_name};
use domain::base::{Message, ParsedName, ToName};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(view) = View::parse(octets) else { return };
    let mut name = NameBuffer::default();
    let mut records = 0;
    for record in view.records().flatten() {
        records += 1;
        assert!(record.rdata.end <= octets.len());
        if read_name(octets, record.owner, &mut name).is_ok() {
            assert!(labels(name.as_slice()).count() <= 127);
        }
    }
    if let Ok(Some(opt)) = view.opt() {
        opt.options().for_each(drop);
    }
    let Ok(message) = Message::from_octets(octets) else { return };
    let Ok((_, answer, authority, additional)) = message.sections() else { return };
    let theirs: usize = [answer, authority, additional].into_iter().map(|section| section.flatten().count()).sum();
    assert!(records >= theirs);
    if let (Some(question), Some(Ok(other))) = (view.question, message.question().next()) {
        let owner: &ParsedName<&[u8]> = other.qname();
        assert_eq!(question.name, owner.to_vec().as_slice());
        assert_eq!((question.qtype, question.qclass), (other.qtype().to_int(), other.qclass().to_int()));
    }
});

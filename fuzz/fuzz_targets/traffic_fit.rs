//! Profiles of captures: any messages are counted without a panic, and give a profile that can be read.
#![no_main]

use dnsrig_traffic::fit::Fitting;
use dnsrig_traffic::profile::Profile;
use dnsrig_traffic::{Endpoint, Message, SentLen, Transport};
use libfuzzer_sys::fuzz_target;
use std::net::Ipv4Addr;

fuzz_target!(|captured: Vec<(i64, u8, bool, u8, Vec<u8>)>| {
    let server = Endpoint::new(Ipv4Addr::new(192, 0, 2, 53), 53);
    let mut fitting = Fitting::default();
    for (number, (time_ns, host, is_answer, transport, octets)) in (1..).zip(&captured) {
        let client = Endpoint::new(Ipv4Addr::new(10, 0, 0, *host), 4000);
        let (source, destination) = if *is_answer { (server, client) } else { (client, server) };
        fitting.message(&Message {
            time_ns: *time_ns,
            source,
            destination,
            transport: Transport::ALL[usize::from(*transport) % Transport::ALL.len()],
            octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number,
        });
    }
    if let Some((text, summary)) = fitting.finish("fuzz") {
        Profile::parse("fuzz", &text).expect("it was written by dnsrig");
        assert!(summary.queries > 0);
    }
});

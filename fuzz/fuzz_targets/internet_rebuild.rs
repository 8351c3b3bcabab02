//! Rebuilding an Internet: any messages are sorted and rebuilt without a panic, and what comes out can be written,
//! read and served.
#![no_main]

use dnsrig_internet::{Collector, Rebuilt, RebuiltOptions};
use dnsrig_zone::Zone;
use libfuzzer_sys::fuzz_target;
use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;

const OPTIONS: RebuiltOptions = RebuiltOptions {
    seed: 1,
    signed_at_s: 1_669_900_000,
    memory_octets: 1 << 30,
};

fuzz_target!(|messages: Vec<(u8, &[u8])>| {
    let mut collector = Collector::new();
    for (server, octets) in messages {
        collector.add(Ipv4Addr::new(192, 0, 2, server).into(), octets);
    }
    let go_on = AtomicBool::new(false);
    let made = collector.rebuild(&go_on).expect("nobody cancels");
    for one in &made.zones {
        let mut text = Vec::new();
        one.zone.write_to(&mut text).expect("there is memory");
        Zone::parse(&text, Some(one.zone.origin())).expect("a zone that can be read");
    }
    // RSA keys take a second each to find, and iterations of NSEC3 as long as they are many.
    let is_quick = |zone: &dnsrig_internet::RebuiltZone| {
        zone.algorithm.is_none_or(|algorithm| !algorithm.is_rsa())
            && zone.nsec3.is_none_or(|(iterations, _)| iterations < 100)
    };
    if made.zones.iter().all(is_quick) {
        Rebuilt::new(made.zones, OPTIONS, &go_on).expect("zones that can be served");
    }
});

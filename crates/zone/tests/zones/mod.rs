//! Zones for the tests of the tools.

use dnsrig_zone::generate::small_domain;
use dnsrig_zone::pool::Pool;
use dnsrig_zone::{Name, NameKind};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::str::FromStr;

pub fn pool(threads: usize) -> Pool {
    Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// The text of a zone example.test.; with an NSEC chain for a `denial` of 1 and an NSEC3 chain for 2, of which the signatures and
/// hashes mean nothing.
pub fn random_zone(records: usize, seed: u64, denial: u8) -> String {
    let zone = small_domain(&Name::from_str("example.test.").unwrap(), records, seed).unwrap();
    let mut text = Vec::new();
    zone.write_to(&mut text).unwrap();
    let mut text = String::from_utf8(text).unwrap();
    let owners: Vec<String> = zone
        .names()
        .filter(|name| name.kind != NameKind::BelowCut)
        .map(|name| name.owner().fmt_with_dot().to_string())
        .collect();
    let signature = |covered: &str| {
        format!("60 IN RRSIG {covered} 13 3 60 20260101000000 20250101000000 7 example.test. AAAA")
    };
    match denial {
        0 => {}
        1 => {
            for (index, owner) in owners.iter().enumerate() {
                let next = &owners[(index + 1) % owners.len()];
                let _ = writeln!(text, "{owner} 60 IN NSEC {next} A RRSIG NSEC");
                let _ = writeln!(text, "{owner} {}", signature("NSEC"));
            }
        }
        _ => {
            let _ = writeln!(text, "example.test. {}", signature("SOA"));
            let step = (1u64 << 40) / owners.len() as u64;
            let hash = |index: usize| format!("{:020X}{:012X}", 0, step * index as u64);
            for index in 0..owners.len() {
                let next = hash((index + 1) % owners.len());
                let owner = format!("{}.example.test.", hash(index));
                let _ = writeln!(text, "{owner} 60 IN NSEC3 1 0 0 - {next} A RRSIG");
                let _ = writeln!(text, "{owner} {}", signature("NSEC3"));
            }
        }
    }
    text
}

/// The lines of `text` in another order.
pub fn shuffled(text: &str, seed: u64) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut state = seed | 1;
    for last in (1..lines.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        lines.swap(last, (state >> 33) as usize % (last + 1));
    }
    lines.join("\n") + "\n"
}

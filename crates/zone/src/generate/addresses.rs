//! Addresses that belong to nobody.

use super::random::{self, Purpose};
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address of 198.18.0.0/15 (RFC 2544) for `place`.
pub(super) fn v4(seed: u64, place: u64) -> Ipv4Addr {
    let bits = random::at(seed, Purpose::Address, place) as u32;
    Ipv4Addr::from(0xC612_0000 | (bits >> 15))
}

/// An address of 2001:db8::/32 (RFC 3849) for `place`.
pub(super) fn v6(seed: u64, place: u64) -> Ipv6Addr {
    let bits = random::at(seed, Purpose::Address, place);
    let [site, network, host] = [48, 32, 0].map(|shift| (bits >> shift) as u16);
    Ipv6Addr::new(0x2001, 0xdb8, site, network % 256, 0, 0, 0, host)
}

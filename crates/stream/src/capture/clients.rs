//! The clients of a capture, numbered in the order of their first appearance.

use foldhash::fast::RandomState;
use std::collections::{HashMap, TryReserveError};

/// Numbers of clients by address and port. IPv4 has a table of its own, whose entries are a third as long: looking up
/// clients is what reading a capture of many of them mostly waits for.
#[derive(Debug, Default)]
pub struct Clients {
    ipv4: HashMap<u64, u32, RandomState>,
    ipv6: HashMap<(u128, u16), u32, RandomState>,
}

impl Clients {
    /// The number of the client at `address`, IPv4 mapped to IPv6, and `port`.
    ///
    /// # Errors
    /// When there is no memory for a client that was not seen before.
    pub fn number(&mut self, address: u128, port: u16) -> Result<u32, TryReserveError> {
        const MAPPED: u128 = 0xFFFF;
        let next = (self.ipv4.len() + self.ipv6.len()) as u32;
        if address >> 32 == MAPPED {
            let key = u64::from(address as u32) << 16 | u64::from(port);
            self.ipv4.try_reserve(1)?;
            Ok(*self.ipv4.entry(key).or_insert(next))
        } else {
            self.ipv6.try_reserve(1)?;
            Ok(*self.ipv6.entry((address, port)).or_insert(next))
        }
    }
}

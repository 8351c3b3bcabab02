//! Clients: how many there are, and how many queries each sends.

use super::distinct::Distinct;
use super::frequent::FrequentItems;
use super::hashing::Hashing;
use std::net::IpAddr;

/// Clients that one thread counts.
#[derive(Debug)]
pub struct Clients {
    /// How many queries each address sent; IPv4 has four octets, IPv6 sixteen.
    pub table: FrequentItems,
    /// Those that left the table.
    gone: Distinct,
}

impl Clients {
    /// A table of at most `most` clients.
    pub fn new(most: usize) -> Self {
        Self {
            table: FrequentItems::new(most),
            gone: Distinct::default(),
        }
    }

    /// Counts a query of the client at `address`, whose hash [`hash_of`] made.
    #[inline]
    pub fn add(&mut self, hash: u64, address: IpAddr) {
        if self.table.is_full() {
            self.table
                .make_room(&mut |item, _, _| leave(&mut self.gone, item));
        }
        self.table.add(hash, |arena| match address {
            IpAddr::V4(address) => arena.extend_from_slice(&address.octets()),
            IpAddr::V6(address) => arena.extend_from_slice(&address.octets()),
        });
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        self.table
            .merge(&other.table, &mut |item, _, _| leave(&mut self.gone, item));
        self.gone.merge(&other.gone);
    }

    /// The table, and all clients that were ever in it.
    pub fn finish(mut self) -> (FrequentItems, Distinct) {
        for (item, _) in self.table.iter() {
            leave(&mut self.gone, item);
        }
        (self.table, self.gone)
    }
}

fn leave(gone: &mut Distinct, address: &[u8]) {
    gone.add(Hashing::fixed().octets(address));
}

/// The hash of a client's address.
#[inline]
pub fn hash_of(hashing: Hashing, address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => hashing.octets(&address.octets()),
        IpAddr::V6(address) => hashing.octets(&address.octets()),
    }
}

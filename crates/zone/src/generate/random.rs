//! Random numbers that depend on nothing but the seed and on what they are for.

use crate::splitmix::{self, Permutation};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What numbers are drawn for; each has numbers of its own.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// The labels of one partition.
    Labels = 1,
    /// The operators of name servers.
    Operators,
    /// The labels of a registry's third-level names.
    ThirdLevel,
    /// Who serves a delegation.
    Servers,
    /// Which delegations are of which kind.
    Kind,
    /// Which delegations are signed.
    Signed,
    /// DS records.
    DelegationSigner,
    /// Addresses.
    Address,
    /// The order of an unsorted zone.
    Order,
    /// What one part of an organisation has.
    Site,
    /// What a network of the reverse tree has.
    Network,
}

/// A sequence of numbers.
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// The sequence of `seed` for part `part` of `purpose`.
    pub fn new(seed: u64, purpose: Purpose, part: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
        key[16..24].copy_from_slice(&part.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A number below `limit`, which is not 0; independent of how `rand` maps ranges in its next version.
    pub fn below(&mut self, limit: u32) -> u32 {
        scale(self.0.next_u32(), limit)
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// An index below `length`, the smaller the more often, as with words in names.
    pub fn front(&mut self, length: usize) -> usize {
        let length = length as u32;
        self.below(length).min(self.below(length)) as usize
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// A number of 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Fills `octets`.
    pub fn fill(&mut self, octets: &mut [u8]) {
        self.0.fill_bytes(octets);
    }
}

/// Maps 32 random bits to a number below `limit`.
pub(super) fn scale(bits: u32, limit: u32) -> u32 {
    ((u64::from(bits) * u64::from(limit)) >> 32) as u32
}

/// The number of `seed` and `purpose` at `index`, without those before it.
pub(super) fn at(seed: u64, purpose: Purpose, index: u64) -> u64 {
    splitmix::at(splitmix::key(seed, purpose as u64), index)
}

/// The permutation of the numbers below `count` that `seed` has for `purpose`.
pub(super) fn permutation(seed: u64, purpose: Purpose, count: u64) -> Permutation {
    Permutation::new(splitmix::key(seed, purpose as u64), count)
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Random, permutation};

    #[test]
    fn numbers_stay_what_they_were() {
        // Zones made by earlier versions are repeated by later ones.
        let mut random = Random::new(1, Purpose::Labels, 2);
        let drawn = [random.below(1000), random.below(1000), random.below(1000)];
        let placed = permutation(1, Purpose::Signed, 1000).at(5);
        assert_eq!((drawn, placed), ([763, 154, 141], 463));
    }
}

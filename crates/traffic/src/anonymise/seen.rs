//! What was seen of the originals, for the search for them in the output.
//!
//! Pseudonyms go into a Bloom filter: whatever address is in the output must be in it. Of originals, a sample is kept whose
//! choice depends on nothing but a random hash, so that it is one of all distinct originals.

use crate::memory::{prefetch, table};
use foldhash::quality::RandomState;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Words of the filter, 16 MiB. All bits of a pseudonym are in one word, so that looking it up takes one access to memory; with
/// a million pseudonyms, a wrong address passes with a probability of about 10^-5, with ten million of 1 %.
const FILTER_WORDS: usize = 1 << 21;
/// Bits that are set for a pseudonym.
const BITS_EACH: u32 = 5;
/// Originals in the sample.
const SAMPLE_LEN: usize = 512;

/// Something that must not be in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Original {
    /// An IPv4 address.
    Ipv4(u32),
    /// An IPv6 address.
    Ipv6(u128),
    /// An Ethernet address.
    Ethernet([u8; 6]),
    /// The client's part of a cookie.
    Cookie([u8; 8]),
}

/// What was seen; all threads share it.
pub struct Seen {
    filter: Vec<AtomicU64>,
    hash: RandomState,
    sample: Mutex<BTreeMap<u64, Original>>,
    /// The highest hash with which an original gets into the sample.
    highest: AtomicU64,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            filter: table(AtomicU64::default, FILTER_WORDS),
            hash: RandomState::default(),
            sample: Mutex::default(),
            highest: AtomicU64::new(u64::MAX),
        }
    }
}

impl Seen {
    /// Takes an IPv4 address and its pseudonym.
    pub fn v4(&self, original: u32, image: u32) {
        self.original(Original::Ipv4(original));
        self.image_v4(image);
    }

    /// Takes an IPv6 address and its pseudonym.
    pub fn v6(&self, original: u128, image: u128) {
        self.original(Original::Ipv6(original));
        self.image_v6(image);
    }

    /// Takes a pseudonym.
    pub fn image_v4(&self, image: u32) {
        self.insert(self.hash.hash_one(image));
    }

    /// Takes a pseudonym.
    pub fn image_v6(&self, image: u128) {
        self.insert(self.hash.hash_one(image));
    }

    /// Takes a cookie.
    pub fn cookie(&self, cookie: &[u8]) {
        if let Some(client) = cookie.first_chunk() {
            self.original(Original::Cookie(*client));
        }
    }

    /// Takes an original; those of which nothing but zeros or ones would stand in any message are none that could be told, and
    /// Ethernet addresses of groups are nobody's.
    pub fn original(&self, original: Original) {
        let hash = self.hash.hash_one(original);
        if hash > self.highest.load(Ordering::Relaxed) {
            return;
        }
        let is_plain = |octets: &[u8]| octets.iter().all(|octet| *octet == octets[0]);
        let is_told = match original {
            Original::Ipv4(address) => !matches!(address, 0 | u32::MAX),
            Original::Ipv6(address) => address >> 16 != 0,
            Original::Ethernet(address) => !is_plain(&address) && address[0] & 1 == 0,
            Original::Cookie(cookie) => !is_plain(&cookie),
        };
        if !is_told {
            return;
        }
        let mut sample = self.sample.lock().unwrap_or_else(PoisonError::into_inner);
        sample.insert(hash, original);
        if sample.len() > SAMPLE_LEN {
            sample.pop_last();
            let highest = sample.last_key_value().map_or(0, |(&hash, _)| hash);
            self.highest.store(highest, Ordering::Relaxed);
        }
    }

    /// Fetches into the cache what [`Seen::may_be_image_v4`] needs.
    #[inline]
    pub fn prefetch_v4(&self, address: u32) {
        prefetch(&self.filter, Self::place(self.hash.hash_one(address)));
    }

    /// Whether an IPv4 address may be a pseudonym.
    pub fn may_be_image_v4(&self, address: u32) -> bool {
        self.may_hold(self.hash.hash_one(address))
    }

    /// Whether an IPv6 address may be a pseudonym.
    pub fn may_be_image_v6(&self, address: u128) -> bool {
        self.may_hold(self.hash.hash_one(address))
    }

    /// The sample.
    pub fn originals(&self) -> Vec<Original> {
        let sample = self.sample.lock().unwrap_or_else(PoisonError::into_inner);
        sample.values().copied().collect()
    }

    fn insert(&self, hash: u64) {
        let (word, bits) = (self.word(hash), bits(hash));
        // Most are set already, and reading leaves the line in all caches.
        if word.load(Ordering::Relaxed) & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
        }
    }

    fn may_hold(&self, hash: u64) -> bool {
        let bits = bits(hash);
        self.word(hash).load(Ordering::Relaxed) & bits == bits
    }

    fn word(&self, hash: u64) -> &AtomicU64 {
        &self.filter[Self::place(hash)]
    }

    fn place(hash: u64) -> usize {
        (hash >> 32) as usize % FILTER_WORDS
    }
}

/// The bits of a hash in its word.
fn bits(hash: u64) -> u64 {
    (0..BITS_EACH).fold(0, |bits, number| bits | 1 << (hash >> (6 * number) & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_are_known_and_others_not() {
        let seen = Seen::default();
        for number in 0..1000 {
            seen.v4(number, number + 5000);
            seen.v6(number.into(), u128::from(number) << 64);
        }
        assert!((5000..6000).all(|number| seen.may_be_image_v4(number)));
        assert!((0..1000).all(|number: u128| seen.may_be_image_v6(number << 64)));
        let wrong = (10_000..20_000)
            .filter(|&number| seen.may_be_image_v4(number))
            .count();
        assert!(wrong < 10, "{wrong}");
    }

    #[test]
    fn the_sample_is_bounded_and_of_distinct_originals() {
        let seen = Seen::default();
        for number in 0..10_000_u32 {
            for _ in 0..2 {
                seen.v4(number << 8 | 1, 0);
            }
        }
        seen.original(Original::Ethernet([0xFF; 6]));
        let sample = seen.originals();
        assert_eq!(sample.len(), SAMPLE_LEN);
        let halves = sample
            .iter()
            .filter(|original| matches!(original, Original::Ipv4(address) if address >> 8 < 5000));
        let share = halves.count() as f64 / SAMPLE_LEN as f64;
        assert!((0.35..0.65).contains(&share), "{share}");
        let all: std::collections::HashSet<_> = sample.iter().collect();
        assert_eq!(all.len(), SAMPLE_LEN);
    }
}

//! Clients chosen by a keyed hash of their addresses.

use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::net::IpAddr;

/// Gives every client a number that depends on its address and a key alone: the same in every file, on every machine.
///
/// The number is SipHash-2-4 of the address's 4 or 16 octets, the key being `key` in little-endian order and eight octets
/// zero.
#[derive(Clone, Copy, Debug)]
pub struct ClientHash {
    base: SipHasher24,
}

impl ClientHash {
    /// The hash of `key`.
    pub fn new(key: u64) -> Self {
        Self {
            base: SipHasher24::new_with_keys(key, 0),
        }
    }

    /// The number of the client at `address`; an IPv4 address mapped to IPv6 is the same client.
    #[inline]
    pub fn of(&self, address: IpAddr) -> u64 {
        let mut hasher = self.base;
        match address.to_canonical() {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
        hasher.finish()
    }

    /// The number of anything else that is counted, such as queries.
    #[inline]
    pub fn of_number(&self, number: u64) -> u64 {
        let mut hasher = self.base;
        hasher.write(&number.to_le_bytes());
        hasher.finish()
    }
}

/// A share of all numbers, 0 to 1. Of two shares the larger has all numbers of the smaller, so samples with the same key are
/// nested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

/// How many numbers there are.
const NUMBERS: f64 = 18_446_744_073_709_551_616.0;

impl Share {
    /// All of them.
    pub const ALL: Self = Self(1.0);

    /// A share that has numbers up to `last`, and not `next` and what comes after it.
    pub fn between(last: u64, next: u64) -> Self {
        Self((last as f64 + (next - last) as f64 / 2.0) / NUMBERS)
    }

    /// The share `value`; `None` unless it is from 0 to 1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The share as a number from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether it has `number`.
    #[inline]
    pub fn has(self, number: u64) -> bool {
        self.0 >= 1.0 || number < (self.0 * NUMBERS) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_siphash() {
        // Computed by another implementation, which gives the reference's a129ca6149be45e5 for 15 octets.
        for (key, client, expected) in [
            (0, "192.0.2.1", 0xA9DB_30C9_59A3_6920),
            (0, "::ffff:192.0.2.1", 0xA9DB_30C9_59A3_6920),
            (0x0123_4567_89AB_CDEF, "2001:db8::1", 0xC479_E349_638C_D2BC),
        ] {
            assert_eq!(ClientHash::new(key).of(client.parse().unwrap()), expected);
        }
    }

    #[test]
    fn shares_are_nested_and_as_large_as_they_say() {
        let hash = ClientHash::new(7);
        let numbers: Vec<u64> = (0..20_000_u32)
            .map(|client| hash.of(IpAddr::from(client.to_be_bytes())))
            .collect();
        let mut before: Vec<bool> = vec![false; numbers.len()];
        for share in [0.0, 0.01, 0.1, 0.5, 1.0] {
            let share = Share::new(share).unwrap();
            let now: Vec<bool> = numbers.iter().map(|&number| share.has(number)).collect();
            assert!(before.iter().zip(&now).all(|(before, now)| now >= before));
            let count = now.iter().filter(|has| **has).count() as f64;
            // Within four standard deviations.
            let expected = share.value() * 20_000.0;
            assert!((count - expected).abs() <= 4.0 * expected.sqrt(), "{count}");
            before = now;
        }
        assert!(Share::new(1.0).unwrap().has(u64::MAX));
        assert!(Share::new(1.1).is_none() && Share::new(f64::NAN).is_none());
    }
}

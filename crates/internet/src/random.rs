//! Numbers that depend on nothing but the seed and on what they are for, so that any part of the Internet can be made
//! when it is first asked for, in any order.

use dnsrig_zone::splitmix::{self, Permutation, mix};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What numbers are drawn for; each has numbers of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Where a name stands between its neighbours.
    Spacing = 1,
    /// What follows a label's syllables.
    Suffix,
    /// Which delegations are signed.
    Signed,
    /// Who hosts a zone.
    Hosting,
    /// What is in a zone.
    Content,
    /// Addresses of the name servers of zones that have their own.
    OwnServer,
    /// Which top-level domains are signed, and how.
    TopLevel,
    /// Algorithm and denial of a zone.
    Signing,
    /// Private keys.
    Key,
    /// Which servers are lame.
    Lame,
    /// What servers do with EDNS.
    Edns,
    /// Round-trip time to a server.
    Distance,
    /// Time that one answer takes beyond that.
    Jitter,
    /// Which datagrams are lost.
    Loss,
    /// Which zones are popular.
    Popularity,
    /// The SOA serial.
    Serial,
    /// Which networks and addresses have names.
    Reverse,
    /// Which domains have HTTPS records.
    Https,
}

/// What the numbers of `part` follow from.
fn key(seed: u64, purpose: Purpose, part: u64) -> u64 {
    let of_purpose = splitmix::key(seed, purpose as u64);
    mix(of_purpose.wrapping_add(part.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
}

/// The number of `seed` and `purpose` at (`part`, `index`).
pub(crate) fn at(seed: u64, purpose: Purpose, part: u64, index: u64) -> u64 {
    splitmix::at(key(seed, purpose, part), index)
}

/// The permutation of the numbers below `count` that `seed` has for `purpose` and `part`.
pub(crate) fn permutation(seed: u64, purpose: Purpose, part: u64, count: u64) -> Permutation {
    Permutation::new(key(seed, purpose, part), count)
}

/// Maps 64 random bits to a number below `limit`.
pub(crate) fn scale(bits: u64, limit: u64) -> u64 {
    ((u128::from(bits) * u128::from(limit)) >> 64) as u64
}

/// Maps 64 random bits to a number from 0 to below 1.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A standard normal number of two draws (Box and Muller).
pub(crate) fn normal(first: u64, second: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(first)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(second)).cos()
}

/// A short sequence of numbers, for one thing that is made.
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    /// The sequence of `seed` and `purpose` at (`part`, `index`).
    pub fn new(seed: u64, purpose: Purpose, part: u64, index: u64) -> Self {
        Self(at(seed, purpose, part, index))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        scale(self.next(), limit)
    }

    /// True in a share of all cases.
    pub fn chance(&mut self, share: f64) -> bool {
        unit(self.next()) < share
    }

    /// The index of one of the weights, each as often as it says; they are not all 0.
    pub fn weighted(&mut self, weights: impl Iterator<Item = f64> + Clone) -> usize {
        let mut left = unit(self.next()) * weights.clone().sum::<f64>();
        let mut last = 0;
        for (place, weight) in weights.enumerate() {
            if weight > 0.0 {
                last = place;
            }
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

/// Fills `octets`, for keys.
pub(crate) fn fill(seed: u64, purpose: Purpose, part: u64, index: u64, octets: &mut [u8]) {
    let mut key = [0; 32];
    for (place, number) in [seed, purpose as u64, part, index].into_iter().enumerate() {
        key[8 * place..8 * place + 8].copy_from_slice(&number.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key).fill_bytes(octets);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_were() {
        // An Internet of an earlier version is repeated by later ones.
        let mut draws = Draws::new(1, Purpose::Content, 2, 3);
        let drawn = [draws.below(1000), draws.below(1000), draws.below(1000)];
        assert_eq!(drawn, [6, 964, 416]);
        assert_eq!(at(1, Purpose::Content, 2, 3), 0x74d2_2cf6_dbbc_ec3f);
        let signed = permutation(1, Purpose::Signed, 2, 1000);
        assert_eq!([5, 999].map(|index| signed.at(index)), [437, 750]);
        let popular = permutation(9, Purpose::Popularity, 0, 160_000_000);
        assert_eq!(popular.at(123_456_789), 141_968_221);
    }

    #[test]
    fn normal_numbers_are_centred() {
        let count = 20_000;
        let draw = |index| {
            let [first, second] = [0, 1].map(|part| at(9, Purpose::Jitter, part, index));
            normal(first, second)
        };
        let (mut sum, mut squares) = (0.0, 0.0);
        for number in (0..count).map(draw) {
            sum += number;
            squares += number * number;
        }
        assert!((sum / count as f64).abs() < 0.03);
        assert!((squares / count as f64 - 1.0).abs() < 0.05);
    }
}

//! Random numbers that the seed alone decides, whatever the machine and the version of `rand`.

use dnsrig_zone::splitmix::{self, Permutation};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) use dnsrig_zone::splitmix::mix;

/// What numbers are drawn for; each has numbers of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// The rate of each second.
    Rate = 1,
    /// When queries are sent, and by whom.
    Slots,
    /// What is asked.
    Questions,
    /// IDs, ports and what else is of no consequence.
    Messages,
    /// What is so of a client, always.
    Client,
    /// What is so of a name, always.
    Name,
    /// The addresses of clients.
    Address,
    /// Labels.
    Label,
    /// Answers, and when they come.
    Answers,
}

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// The sequence of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit`, which is not 0.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        scale(self.bits(), limit)
    }

    /// A number from 0 up to 1, without 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// True with this chance.
    #[inline]
    pub fn chance(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    /// A number of about the standard normal distribution: the sum of twelve uniform ones, which needs no function that
    /// differs among machines.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Maps 64 random bits to a number below `limit`.
#[inline]
pub(super) fn scale(bits: u64, limit: u64) -> u64 {
    ((u128::from(bits) * u128::from(limit)) >> 64) as u64
}

/// Maps 64 random bits to a number from 0 up to 1, without 1.
#[inline]
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// The bits of `seed` for `purpose` at `index`, without those before it.
#[inline]
pub(super) fn at(seed: u64, purpose: Purpose, index: u64) -> u64 {
    splitmix::at(splitmix::key(seed, purpose as u64), index)
}

/// The permutation of the numbers below `count` that `seed` has for `purpose`.
#[inline]
pub(super) fn permutation(seed: u64, purpose: Purpose, count: u64) -> Permutation {
    Permutation::new(splitmix::key(seed, purpose as u64), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_and_purpose_decide() {
        let drawn = |seed, purpose| Random::new(seed, purpose).bits();
        assert_eq!(drawn(1, Purpose::Slots), drawn(1, Purpose::Slots));
        assert_ne!(drawn(1, Purpose::Slots), drawn(2, Purpose::Slots));
        assert_ne!(drawn(1, Purpose::Slots), drawn(1, Purpose::Questions));
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random::new(3, Purpose::Rate);
        let drawn: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        let variance = drawn
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05,
            "{mean} {variance}"
        );
    }
}

//! How many different things there are, by HyperLogLog (Flajolet et al. 2007) in 16 KiB.

use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hasher};

const BITS: u32 = 14;
const REGISTERS: usize = 1 << BITS;

/// Counts different hashes; the standard error is 0.81 % (1.04 / sqrt(2^14)).
#[derive(Clone, Debug)]
pub struct Distinct {
    registers: Box<[u8]>,
}

impl Default for Distinct {
    fn default() -> Self {
        Self {
            registers: vec![0; REGISTERS].into(),
        }
    }
}

impl Distinct {
    /// Adds something by its hash.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        let rank = ((hash << BITS) | 1 << (BITS - 1)).leading_zeros() as u8 + 1;
        *register = (*register).max(rank);
    }

    /// Adds what another counter has.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self.registers.iter_mut().zip(&other.registers) {
            *own = (*own).max(*other);
        }
    }

    /// The estimate.
    pub fn estimate(&self) -> f64 {
        let count = REGISTERS as f64;
        let sum: f64 = self
            .registers
            .iter()
            .map(|&rank| (-f64::from(rank)).exp2())
            .sum();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = self.registers.iter().filter(|&&rank| rank == 0).count();
        // Few of them are told better by the registers that are empty.
        match raw <= 2.5 * count && empty > 0 {
            true => count * (count / empty as f64).ln(),
            false => raw,
        }
    }
}

/// The hash of a question, letter case aside.
#[inline]
pub fn question_hash(name: &[u8], qtype: u16, qclass: u16) -> u64 {
    let mut lower = [0; 255];
    let lower = &mut lower[..name.len().min(255)];
    lower.copy_from_slice(&name[..lower.len()]);
    lower.make_ascii_lowercase();
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(lower);
    hasher.write_u32(u32::from(qtype) << 16 | u32::from(qclass));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_within_their_error() {
        for expected in [0_u64, 1, 100, 10_000, 400_000] {
            let (mut first, mut second) = (Distinct::default(), Distinct::default());
            for number in 0..expected {
                let name = [&[8][..], format!("{number:08}").as_bytes(), &[0]].concat();
                let half = if number % 2 == 0 {
                    &mut first
                } else {
                    &mut second
                };
                half.add(question_hash(&name, 1, 1));
                half.add(question_hash(&name, 1, 1));
            }
            first.merge(&second);
            let error = (first.estimate() - expected as f64).abs();
            assert!(error <= 0.03 * expected as f64, "{expected}: {error}");
        }
    }

    #[test]
    fn questions_differ_by_more_than_case() {
        let hash = question_hash(b"\x03WwW\0", 1, 1);
        assert_eq!(hash, question_hash(b"\x03www\0", 1, 1));
        assert_ne!(hash, question_hash(b"\x03www\0", 28, 1));
        assert_ne!(hash, question_hash(b"\x03wwx\0", 1, 1));
    }
}

//! How many different things there are: HyperLogLog (Flajolet and others 2007) with the estimator of Ertl 2017
//! (arXiv:1702.01284, algorithm 6).

use serde::{Deserialize, Serialize};

/// Bits of a hash that choose a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits of a hash that are left.
const RANK_BITS: u32 = 64 - INDEX_BITS;
/// The character of an empty register where registers are stored; ranks are at most 51, so all are ASCII.
const ZERO: u8 = b'0';

/// A sketch of a set: 16 KiB, whatever its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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
    /// The standard error of [`Distinct::count`] as a share of it.
    pub const ERROR: f64 = 0.008_125;

    /// Adds a thing by its hash, which must be the same in all sketches that are to be merged.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        let index = (hash >> RANK_BITS) as usize;
        let rank = (hash << INDEX_BITS | 1 << (INDEX_BITS - 1)).leading_zeros() as u8 + 1;
        let register = &mut self.registers[index];
        *register = rank.max(*register);
    }

    /// Adds everything that is in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self.registers.iter_mut().zip(&other.registers) {
            *own = (*own).max(*other);
        }
    }

    /// How many different things have been added.
    pub fn count(&self) -> f64 {
        let registers = REGISTERS as f64;
        let mut counts = [0_u32; RANK_BITS as usize + 2];
        for rank in &self.registers {
            counts[usize::from(*rank)] += 1;
        }
        let [empty, ranks @ .., full] = counts;
        let mut sum = registers * tau(1.0 - f64::from(full) / registers);
        for count in ranks.iter().rev() {
            sum = 0.5 * (sum + f64::from(*count));
        }
        sum += registers * sigma(f64::from(empty) / registers);
        registers * registers / (2.0 * std::f64::consts::LN_2 * sum)
    }
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut factor, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor *= 2.0;
        if sum == before {
            return sum;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut factor, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - x).powi(2) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}

impl From<Distinct> for String {
    /// One character for each register.
    fn from(distinct: Distinct) -> Self {
        distinct
            .registers
            .iter()
            .map(|rank| char::from(ZERO + rank))
            .collect()
    }
}

impl TryFrom<String> for Distinct {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let registers: Option<Box<[u8]>> = text
            .bytes()
            .map(|character| {
                let rank = character.checked_sub(ZERO)?;
                (u32::from(rank) <= RANK_BITS + 1).then_some(rank)
            })
            .collect();
        registers
            .filter(|registers| registers.len() == REGISTERS)
            .map(|registers| Self { registers })
            .ok_or_else(|| "these are no registers of a HyperLogLog sketch".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::hashing::Hashing;

    fn of(numbers: std::ops::Range<u32>) -> Distinct {
        let mut distinct = Distinct::default();
        for number in numbers {
            distinct.add(Hashing::fixed().octets(&number.to_be_bytes()));
        }
        distinct
    }

    #[test]
    fn counts_are_within_the_stated_error() {
        assert_eq!(Distinct::default().count(), 0.0);
        for count in [1, 10, 1000, 20_000, 50_000, 1_000_000] {
            let error = of(0..count).count() / f64::from(count) - 1.0;
            assert!(error.abs() < 3.0 * Distinct::ERROR, "{count}: {error}");
        }
    }

    #[test]
    fn merged_sketches_are_that_of_the_union() {
        let mut merged = of(0..6000);
        merged.merge(&of(4000..10_000));
        assert_eq!(merged, of(0..10_000));
    }

    #[test]
    fn sketches_are_stored_and_read_back() {
        let distinct = of(0..5000);
        let stored = serde_json::to_string(&distinct).unwrap();
        assert_eq!(serde_json::from_str::<Distinct>(&stored).unwrap(), distinct);
        for bad in [
            "\"\"".to_owned(),
            stored.replacen('1', "z", 1),
            stored.replacen('1', "é", 1),
        ] {
            assert!(serde_json::from_str::<Distinct>(&bad).is_err());
        }
    }
}

//! Numbers that follow from a key and an index alone, without those before them (Steele, Lea and Flood's SplitMix64, OOPSLA
//! 2014), and permutations made of them. What is generated from a seed anywhere in the rig stands on these: other numbers would
//! be other zones, Internets and traffic for the same seed.

/// What the state of SplitMix64 grows by from number to number.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Rounds of a permutation; four make a permutation of good round functions as good as a random one (Luby and Rackoff, 1988).
const ROUNDS: u64 = 4;

/// The finaliser of SplitMix64.
#[inline]
pub fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// The key of `seed` for one purpose, of which each has a number.
#[inline]
pub fn key(seed: u64, purpose: u64) -> u64 {
    mix(seed ^ mix(purpose))
}

/// The number of `key` at `index`.
#[inline]
pub fn at(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_mul(STEP)))
}

/// A permutation of the numbers below `count` that can be gone both ways: a Feistel network, gone along until it hits a number
/// below `count`. By it exactly as many things as wanted are of a kind although each is looked at alone.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    key: u64,
}

impl Permutation {
    /// The permutation of a key.
    #[inline]
    pub fn new(key: u64, count: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            key,
        }
    }

    #[inline]
    fn round(&self, half: u64, round: u64) -> u64 {
        at(self.key, half * ROUNDS + round) & self.mask()
    }

    #[inline]
    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }

    /// Where `index`, which is below `count`, goes.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let mut place = index;
        loop {
            let (mut left, mut right) = (place >> self.half_bits, place & self.mask());
            for round in 0..ROUNDS {
                (left, right) = (right, left ^ self.round(right, round));
            }
            place = (left << self.half_bits) | right;
            if place < self.count {
                return place;
            }
        }
    }

    /// What goes to `place`, which is below `count`.
    #[inline]
    pub fn inverse(&self, place: u64) -> u64 {
        let mut index = place;
        loop {
            let (mut left, mut right) = (index >> self.half_bits, index & self.mask());
            for round in (0..ROUNDS).rev() {
                (left, right) = (right ^ self.round(left, round), left);
            }
            index = (left << self.half_bits) | right;
            if index < self.count {
                return index;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_meets_every_number_once_and_leads_back() {
        for count in [1, 2, 3, 10, 255, 256, 257, 5000] {
            let permutation = Permutation::new(key(7, 3), count);
            let mut seen: Vec<u64> = (0..count).map(|index| permutation.at(index)).collect();
            assert!(count < 255 || !seen.is_sorted());
            for (index, place) in seen.iter().enumerate() {
                assert_eq!(permutation.inverse(*place), index as u64);
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count));
        }
    }

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // The first ones of the generator's reference implementation with the seed 1234567.
        let drawn = [1, 2, 3].map(|index| at(1_234_567, index));
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, published);
    }
}

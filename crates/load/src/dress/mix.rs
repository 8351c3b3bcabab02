//! Numbers that look random and can be had again: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

/// Where the numbers for one purpose begin, so that cookies tell nothing of cases.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// The case of letters.
    Case = 1,
    /// Client cookies.
    ClientCookie = 2,
}

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub struct Mix(u64);

impl Mix {
    /// The sequence that belongs to `seed`, `purpose` and `words`.
    pub fn new(seed: u64, purpose: Purpose, words: &[u64]) -> Self {
        let start = Self(seed ^ purpose as u64).draw();
        Self(
            words
                .iter()
                .fold(start, |state, word| Self(state ^ word).draw()),
        )
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // The first outputs of the authors' program for the seed 1234567.
        let mut mix = Mix(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| mix.draw()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn every_input_counts() {
        let first = |seed, purpose, words: &[u64]| Mix::new(seed, purpose, words).draw();
        let all = [
            first(0, Purpose::Case, &[0, 0]),
            first(1, Purpose::Case, &[0, 0]),
            first(0, Purpose::ClientCookie, &[0, 0]),
            first(0, Purpose::Case, &[0, 1]),
            first(0, Purpose::Case, &[1, 0]),
        ];
        let mut sorted = all;
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

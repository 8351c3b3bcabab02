//! Drawing without putting back, so that shares of a whole stream are exact.

use super::random::Random;

/// A fixed number of draws of several kinds.
#[derive(Clone, Debug)]
pub(super) struct Urn {
    left: Vec<u64>,
    total: u64,
}

impl Urn {
    /// An urn of as many draws of each kind as `counts` says.
    pub fn of_counts(counts: Vec<u64>) -> Self {
        let total = counts.iter().sum();
        Self {
            left: counts,
            total,
        }
    }

    /// An urn of `total` draws, of which `yes` are of kind 1, or all if it is more, and the others of kind 0.
    pub fn yes_no(yes: u64, total: u64) -> Self {
        let yes = yes.min(total);
        Self::of_counts(vec![total - yes, yes])
    }

    /// Draws a kind; 0 once nothing is left.
    #[inline]
    pub fn draw(&mut self, random: &mut Random) -> usize {
        if self.total == 0 {
            return 0;
        }
        let mut place = random.below(self.total);
        self.total -= 1;
        for (kind, left) in self.left.iter_mut().enumerate() {
            if place < *left {
                *left -= 1;
                return kind;
            }
            place -= *left;
        }
        unreachable!("the total is the sum of what is left")
    }

    /// Draws yes or no from an urn of [`Self::yes_no`].
    #[inline]
    pub fn draws_yes(&mut self, random: &mut Random) -> bool {
        self.draw(random) == 1
    }
}

/// Divides `total` in proportion to `shares` by the method of largest remainders.
pub(super) fn apportion(shares: &[f64], total: u64) -> Vec<u64> {
    let sum: f64 = shares.iter().sum();
    if sum <= 0.0 {
        return vec![0; shares.len()];
    }
    let quotas: Vec<f64> = shares
        .iter()
        .map(|share| share / sum * total as f64)
        .collect();
    let mut counts: Vec<u64> = quotas.iter().map(|quota| *quota as u64).collect();
    let remainder = |index: usize| quotas[index] - quotas[index].floor();
    let mut order: Vec<usize> = (0..shares.len())
        .filter(|&index| shares[index] > 0.0)
        .collect();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b)));
    let missing = total.saturating_sub(counts.iter().sum());
    for &index in order.iter().cycle().take(missing as usize) {
        counts[index] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::random::Purpose;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_of_an_urn_is_drawn() {
        let mut random = Random::new(1, Purpose::Questions);
        let mut urn = Urn::of_counts(vec![750, 250, 0]);
        let mut counts = [0; 3];
        for _ in 0..1000 {
            counts[urn.draw(&mut random)] += 1;
        }
        assert_eq!(counts, [750, 250, 0]);
        assert_eq!(urn.draw(&mut random), 0);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_near_their_shares(shares in prop::collection::vec(0.0..100.0_f64, 1..20), total in 0..1_000_000_000_u64) {
            prop_assume!(shares.iter().sum::<f64>() > 0.0);
            let counts = apportion(&shares, total);
            prop_assert_eq!(counts.iter().sum::<u64>(), total);
            let sum: f64 = shares.iter().sum();
            for (count, share) in counts.iter().zip(&shares) {
                prop_assert!((*count as f64 - share / sum * total as f64).abs() <= 1.001);
            }
        }
    }
}

//! Drawing ranks that are as unequal as a profile says.

use super::random::{Random, scale};
use crate::profile::Ranks;

/// Ranks that have a weight of their own; further ones share that of a range.
const SINGLE_RANKS: u64 = 1024;
/// How much longer each range is than the one before it.
const RANGE_GROWTH: f64 = 1.05;
/// Bits of a draw that choose where to begin looking for its range.
const GUIDE_BITS: u32 = 12;

/// Ranks from 0 on, to be drawn by their weights.
#[derive(Clone, Debug)]
pub(super) struct RankTable {
    /// Where each range of ranks begins, and behind them all where the last ends.
    starts: Vec<u64>,
    /// The share of each range and all before it, of 2^64.
    shares: Vec<u64>,
    /// For each value of the upper bits of a draw, the first range that it can hit.
    guide: Vec<u32>,
}

impl RankTable {
    /// The table of `count` ranks, at least one.
    pub fn new(count: u64, ranks: &Ranks) -> Self {
        let starts = starts(count.max(1));
        let shares = of_all_bits(cumulative(&starts, ranks));
        let first_hit = |bits: u64| {
            let draw = bits << (64 - GUIDE_BITS);
            let place = shares.partition_point(|&share| share <= draw);
            place.min(shares.len() - 1) as u32
        };
        let guide = (0..1 << GUIDE_BITS).map(first_hit).collect();
        Self {
            starts,
            shares,
            guide,
        }
    }

    /// Draws a rank.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        let draw = random.bits();
        let last = self.shares.len() - 1;
        let mut range = self.guide[(draw >> (64 - GUIDE_BITS)) as usize] as usize;
        while range < last && self.shares[range] <= draw {
            range += 1;
        }
        let (start, end) = (self.starts[range], self.starts[range + 1]);
        match end - start {
            1 => start,
            len => start + scale(random.bits(), len),
        }
    }
}

/// Sums of weights as shares of 2^64, in steps that a 53-bit mantissa has.
fn of_all_bits(sums: Vec<f64>) -> Vec<u64> {
    let total = sums.last().copied().unwrap_or(1.0);
    let steps = (1_u64 << 53) as f64;
    let share = |sum: f64| ((sum / total * steps) as u64).saturating_mul(1 << 11);
    sums.into_iter().map(share).collect()
}

/// Where ranges begin: of one rank each, then longer and longer.
fn starts(count: u64) -> Vec<u64> {
    let mut starts: Vec<u64> = (0..=count.min(SINGLE_RANKS)).collect();
    let mut end = SINGLE_RANKS;
    while end < count {
        end = ((end as f64 * RANGE_GROWTH) as u64 + 1).min(count);
        starts.push(end);
    }
    starts
}

/// The weight of each range and all before it.
fn cumulative(starts: &[u64], ranks: &Ranks) -> Vec<f64> {
    match ranks {
        Ranks::Zipf { exponent } => {
            let mut sum = 0.0;
            let ranges = starts.windows(2).map(|pair| {
                // The middle rank of a range, counted from 1, stands for all of a range this short.
                let middle = (pair[0] + pair[1] + 1) as f64 / 2.0;
                sum += (pair[1] - pair[0]) as f64 * middle.powf(-exponent);
                sum
            });
            ranges.collect()
        }
        Ranks::Top { top } => {
            let count = starts.last().copied().unwrap_or(1) as f64;
            let ends = starts[1..].iter();
            ends.map(|&end| share_of_top(top, end as f64 / count))
                .collect()
        }
    }
}

/// The share of all queries that this share of items has, the most frequent ones: between the points of `top`, and before the
/// first as between the first two, a power of the share of items, as Zipf's law has it.
fn share_of_top(top: &[[f64; 2]], items: f64) -> f64 {
    let points: Vec<_> = top
        .iter()
        .filter(|point| point[0] > 0.0 && point[1] > 0.0)
        .collect();
    let place = points.partition_point(|point| point[0] < items);
    let Some(high) = points.get(place) else {
        return 1.0;
    };
    let (low, next) = match (place, points.get(1)) {
        (0, Some(next)) => (high, next),
        (0, None) => return high[1] * items / high[0],
        _ => (&points[place - 1], high),
    };
    let exponent = (next[1] / low[1]).ln() / (next[0] / low[0]).ln();
    low[1] * (items / low[0]).powf(exponent)
}

/// Values with shares, to be looked up by random bits.
#[derive(Clone, Debug)]
pub(super) struct Shares<T> {
    values: Vec<T>,
    /// The share of each value and all before it, of 2^64.
    up_to: Vec<u64>,
}

impl<T> Shares<T> {
    /// Values with shares in proportion, of which at least one is above 0.
    pub fn new(values: impl IntoIterator<Item = (T, f64)>) -> Self {
        let is_drawn = |(_, share): &(T, f64)| *share > 0.0;
        let (values, shares): (Vec<T>, Vec<f64>) = values.into_iter().filter(is_drawn).unzip();
        let mut sum = 0.0;
        let sums = shares.iter().map(|share| {
            sum += share;
            sum
        });
        let up_to = of_all_bits(sums.collect());
        Self { values, up_to }
    }

    /// The value that these random bits stand for.
    #[inline]
    pub fn of(&self, bits: u64) -> &T {
        let place = self.up_to.iter().position(|&share| bits < share);
        &self.values[place.unwrap_or(self.values.len() - 1)]
    }
}

impl Shares<u32> {
    /// Whole numbers by points `[value, share]`.
    pub fn of_points(points: &[[f64; 2]]) -> Self {
        Self::new(points.iter().map(|&[value, share]| (value as u32, share)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Purpose;
    use super::*;

    fn shares_of_top(table: &RankTable, tops: &[u64]) -> Vec<f64> {
        const DRAWS: usize = 200_000;
        let mut random = Random::new(5, Purpose::Questions);
        let drawn: Vec<u64> = (0..DRAWS).map(|_| table.draw(&mut random)).collect();
        let share =
            |top: &u64| drawn.iter().filter(|&rank| rank < top).count() as f64 / DRAWS as f64;
        tops.iter().map(share).collect()
    }

    #[test]
    fn zipf_ranks_have_their_shares() {
        let count = 100_000_u64;
        let table = RankTable::new(count, &Ranks::Zipf { exponent: 0.9 });
        let weight = |top: u64| (1..=top).map(|rank| (rank as f64).powf(-0.9)).sum::<f64>();
        let tops = [1, 10, 1000, 2000, 50_000];
        for (top, share) in tops.iter().zip(shares_of_top(&table, &tops)) {
            let expected = weight(*top) / weight(count);
            assert!(
                (share - expected).abs() < 0.005,
                "{top}: {share}, not {expected}"
            );
        }
    }

    #[test]
    fn the_known_points_are_kept() {
        let top = vec![[0.0001, 0.1], [0.01, 0.4], [0.1, 0.8], [1.0, 1.0]];
        let table = RankTable::new(1_000_000, &Ranks::Top { top });
        let shares = shares_of_top(&table, &[100, 10_000, 100_000, 1_000_000]);
        for (share, expected) in shares.iter().zip([0.1, 0.4, 0.8, 1.0]) {
            assert!((share - expected).abs() < 0.005, "{shares:?}");
        }
    }

    #[test]
    fn few_ranks_are_all_met_and_no_others() {
        for count in [1, 2, 1023, 1024, 1025, 1100] {
            for ranks in [
                Ranks::Zipf { exponent: 0.0 },
                Ranks::Top {
                    top: vec![[1.0, 1.0]],
                },
            ] {
                let table = RankTable::new(count, &ranks);
                let mut random = Random::new(count, Purpose::Questions);
                let mut seen = vec![false; count as usize];
                for _ in 0..40 * count {
                    seen[table.draw(&mut random) as usize] = true;
                }
                assert!(seen.iter().all(|&seen| seen), "{count} {ranks:?}");
            }
        }
    }

    #[test]
    fn values_are_as_frequent_as_their_shares() {
        let shares = Shares::new([("a", 3.0), ("none", 0.0), ("b", 1.0)]);
        let mut random = Random::new(9, Purpose::Questions);
        let of_a = (0..40_000)
            .filter(|_| *shares.of(random.bits()) == "a")
            .count();
        assert!((29_500..30_500).contains(&of_a), "{of_a}");
        assert_eq!(*shares.of(u64::MAX), "b");
    }
}

//! How often things are, in bounded memory, and how unequally.

use crate::profile::Ranks;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Things that are remembered; with more, those met once so far are forgotten.
const MOST: usize = if cfg!(test) { 2000 } else { 1 << 22 };

/// Counts by hash.
#[derive(Debug, Default)]
pub(super) struct Counts {
    counts: HashMap<u64, u32, RandomState>,
    /// Things that were forgotten after they were met once.
    forgotten: u64,
    total: u64,
}

impl Counts {
    /// Counts the thing of this hash.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        self.total += 1;
        if self.counts.len() >= MOST && !self.counts.contains_key(&hash) {
            self.forget_once();
        }
        let count = self.counts.entry(hash).or_insert(0);
        *count = count.saturating_add(1);
    }

    fn forget_once(&mut self) {
        let before = self.counts.len();
        self.counts.retain(|_, count| *count > 1);
        self.forgotten += (before - self.counts.len()) as u64;
        if self.counts.len() >= MOST {
            // All were met several times. Half of them, the less frequent, go.
            let mut sorted: Vec<u32> = self.counts.values().copied().collect();
            let (_, &mut median, _) = sorted.select_nth_unstable(MOST / 2);
            self.counts.retain(|_, count| *count > median);
        }
    }

    /// All that was counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The share of what was met once in all that was counted.
    pub fn once(&self) -> f64 {
        let once =
            self.counts.values().filter(|count| **count == 1).count() as u64 + self.forgotten;
        once as f64 / self.total.max(1) as f64
    }

    /// How many things were met at least `least` times, and how unequally.
    pub fn ranks(&self, least: u32) -> (u64, Ranks) {
        let mut counts: Vec<u32> = self
            .counts
            .values()
            .copied()
            .filter(|count| *count >= least)
            .collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        (counts.len().max(1) as u64, concentration(&counts))
    }
}

/// The shares of the most frequent items of `counts`, which fall.
pub(super) fn concentration(counts: &[u32]) -> Ranks {
    let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let mut top: Vec<[f64; 2]> = Vec::new();
    let mut sum = 0.0;
    let mut next = 1;
    for (rank, &count) in (1..).zip(counts) {
        sum += f64::from(count);
        if rank == next && rank < counts.len() {
            top.push([
                rounded(rank as f64 / counts.len() as f64),
                rounded(sum / total),
            ]);
            next = (next * 2).max(next + 1);
        }
    }
    top.dedup_by(|later, earlier| later[0] <= earlier[0]);
    top.retain(|point| point[0] < 1.0);
    top.push([1.0, 1.0]);
    Ranks::Top { top }
}

/// A figure as it stands in a profile: with six significant digits.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact_as_long_as_there_is_room() {
        let mut counts = Counts::default();
        for (hash, times) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
            (0..times).for_each(|_| counts.add(hash));
        }
        assert_eq!((counts.total(), counts.once()), (8, 0.25));
        let expected = Ranks::Top {
            top: vec![[0.5, 0.666667], [1.0, 1.0]],
        };
        assert_eq!(counts.ranks(2), (2, expected));
    }

    #[test]
    fn what_is_met_once_is_forgotten_but_counted() {
        let mut counts = Counts::default();
        for hash in 0..10_000 {
            counts.add(hash % 100);
            counts.add(1000 + hash);
        }
        assert!(counts.counts.len() <= MOST);
        assert!((counts.once() - 0.5).abs() < 0.001, "{}", counts.once());
        assert_eq!(counts.ranks(2).0, 100);
        for hash in 0..100_000_u64 {
            counts.add(hash / 3 + 50_000);
        }
        assert!(counts.counts.len() <= MOST);
    }

    #[test]
    fn figures_have_six_digits() {
        assert_eq!(rounded(1.0 / 3.0), 0.333333);
        assert_eq!(rounded(123_456_789.0), 123_457_000.0);
        assert_eq!(rounded(0.0), 0.0);
    }
}

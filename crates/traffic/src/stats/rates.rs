//! How many queries each second had.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Seconds in a block.
const BLOCK: i64 = 1024;
/// Blocks in memory, 4 KiB each: a year without a gap, or 32,768 queries that are far apart.
const MAX_BLOCKS: usize = 32 << 10;

/// Counts by the second of the clock, so that those of several captures add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub struct Rates {
    /// By the number of the block since 1970.
    blocks: BTreeMap<i64, Box<[u32; BLOCK as usize]>>,
    /// Queries at times for which there was no memory.
    beyond: u64,
}

/// Rates as they are stored: runs of seconds, by the first of each since 1970.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    runs: Vec<(i64, Vec<u32>)>,
    beyond: u64,
}

/// Rates in queries per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RateSummary {
    /// All queries by the capture's duration.
    pub mean: f64,
    /// The rate that 95 % of all seconds do not exceed.
    pub p95: f64,
    /// The rate of the second with the most.
    pub max: f64,
}

impl Rates {
    /// Adds `count` queries in `second`, counted from 1970.
    pub fn add(&mut self, second: i64, count: u32) {
        let number = second.div_euclid(BLOCK);
        if self.blocks.len() >= MAX_BLOCKS && !self.blocks.contains_key(&number) {
            self.beyond += u64::from(count);
            return;
        }
        let block = self
            .blocks
            .entry(number)
            .or_insert_with(|| Box::new([0; BLOCK as usize]));
        let place = second.rem_euclid(BLOCK) as usize;
        block[place] = block[place].saturating_add(count);
    }

    /// Adds what is in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (second, count) in other.seconds() {
            self.add(second, count);
        }
        self.beyond += other.beyond;
    }

    /// Seconds with queries in their order, with how many.
    pub fn seconds(&self) -> impl Iterator<Item = (i64, u32)> {
        self.blocks.iter().flat_map(|(number, block)| {
            let seconds = block.iter().zip(number * BLOCK..);
            seconds
                .filter(|(count, _)| **count > 0)
                .map(|(count, second)| (second, *count))
        })
    }

    /// The rates of `requests` queries in `duration_s`.
    pub fn summary(&self, requests: u64, duration_s: f64) -> RateSummary {
        let mut counts: Vec<u32> = self.seconds().map(|(_, count)| count).collect();
        let span = self.seconds().next().zip(self.seconds().last());
        let Some(((first, _), (last, _))) = span else {
            return RateSummary::default();
        };
        counts.sort_unstable();
        // Seconds without a query between the first and the last count, too; they come before all others.
        let seconds = (last - first + 1) as usize;
        let rank = (seconds * 95).div_ceil(100);
        let empty = seconds - counts.len();
        let p95 = rank.checked_sub(empty + 1).map_or(0, |place| counts[place]);
        RateSummary {
            // What is shorter than a second is too short for a rate.
            mean: requests as f64 / duration_s.max(1.0),
            p95: p95.into(),
            max: counts.last().copied().unwrap_or(0).into(),
        }
    }
}

impl From<Rates> for Stored {
    fn from(rates: Rates) -> Self {
        let mut runs: Vec<(i64, Vec<u32>)> = Vec::new();
        for (second, count) in rates.seconds() {
            match runs.last_mut() {
                Some((first, counts)) if *first + counts.len() as i64 == second => {
                    counts.push(count);
                }
                _ => runs.push((second, vec![count])),
            }
        }
        Self {
            runs,
            beyond: rates.beyond,
        }
    }
}

impl From<Stored> for Rates {
    fn from(stored: Stored) -> Self {
        let mut rates = Self {
            beyond: stored.beyond,
            ..Self::default()
        };
        for (first, counts) in stored.runs {
            for (count, place) in counts.into_iter().zip(0..) {
                rates.add(first.saturating_add(place), count);
            }
        }
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_taken_from_all_seconds() {
        let mut rates = Rates::default();
        // Hundred seconds: five of 50 queries, one of 70, ten of 20, the others without any, across a block's edge.
        for second in 0..100 {
            let count = match second {
                0 | 99 => 20,
                10 => 70,
                11..=15 => 50,
                20..=27 => 20,
                _ => continue,
            };
            rates.add(BLOCK - 50 + second, count);
        }
        let summary = rates.summary(520, 100.0);
        let expected = RateSummary {
            mean: 5.2,
            p95: 50.0,
            max: 70.0,
        };
        assert_eq!(summary, expected);
        rates.add(BLOCK - 39, 0);
        let stored = serde_json::to_string(&rates).unwrap();
        assert_eq!(serde_json::from_str::<Rates>(&stored).unwrap(), rates);
        assert_eq!(Rates::default().summary(0, 0.0), RateSummary::default());
    }

    #[test]
    fn captures_of_the_same_time_add_up() {
        let mut first = Rates::default();
        first.add(-1, 5);
        let mut second = Rates::default();
        second.add(-1, 2);
        second.add(3, 4);
        first.merge(&second);
        assert_eq!(first.seconds().collect::<Vec<_>>(), [(-1, 7), (3, 4)]);
    }

    #[test]
    fn times_without_order_do_not_fill_the_memory() {
        let mut rates = Rates::default();
        for number in 0..MAX_BLOCKS as i64 + 10 {
            rates.add(number * BLOCK * 7, 1);
        }
        assert_eq!((rates.blocks.len(), rates.beyond), (MAX_BLOCKS, 10));
    }
}

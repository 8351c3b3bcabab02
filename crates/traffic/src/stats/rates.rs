//! How many queries each second had.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Seconds in a block.
const BLOCK: i64 = 1024;
const NS_PER_S: i64 = 1_000_000_000;
/// Blocks in memory, 4 KiB each: a year without a gap, or 32,768 queries that are far apart.
const MAX_BLOCKS: usize = 32 << 10;

/// Requests whose times are so far from all others, in seconds, may be of a clock that was wrong.
const FAR_S: i64 = 30 * 86_400;
/// They are taken for that if they are fewer than one in so many.
const STRAY: u64 = 100;

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
    /// Queries at times for which there was no memory, without which are the latter two.
    pub beyond: u64,
}

/// The time in which nearly all requests are: without those whose clock was wrong, as it seems.
///
/// Left out at both ends are fewer than one in 100 requests, if they are farther from the others than 30 days, and than the others
/// last. A host that has not set its clock yet captures in 1970, and a damaged packet at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first second with a request, counted from 1970.
    pub first: i64,
    /// Its last one.
    pub last: i64,
    /// Requests at other times.
    pub outside: u64,
}

impl Window {
    /// A time span in ns without what is far outside.
    pub fn clipped(&self, (first_ns, last_ns): (i64, i64)) -> (i64, i64) {
        let ns = |second: i64| second.saturating_mul(NS_PER_S);
        let first_ns = match first_ns < ns(self.first.saturating_sub(FAR_S)) {
            true => ns(self.first),
            false => first_ns,
        };
        let last_ns = match last_ns > ns(self.last.saturating_add(FAR_S)) {
            true => ns(self.last.saturating_add(1)),
            false => last_ns,
        };
        (first_ns, last_ns)
    }
}

/// Seconds without a long pause between them.
#[derive(Clone, Copy)]
struct Stretch {
    first: i64,
    last: i64,
    count: u64,
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

    /// Seconds with queries in their order: the first second of each run of them, and the counts from that on.
    pub fn runs(&self) -> Vec<(i64, Vec<u32>)> {
        let mut runs: Vec<(i64, Vec<u32>)> = Vec::new();
        let mut next = None;
        for (second, count) in self.seconds() {
            match runs.last_mut().filter(|_| next == Some(second)) {
                Some((_, counts)) => counts.push(count),
                None => runs.push((second, vec![count])),
            }
            next = second.checked_add(1);
        }
        runs
    }

    /// When nearly all requests are; `None` if there is none.
    pub fn window(&self) -> Option<Window> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for (second, count) in self.seconds() {
            match stretches.last_mut() {
                Some(last) if second.saturating_sub(last.last) <= FAR_S => {
                    last.last = second;
                    last.count += u64::from(count);
                }
                _ => stretches.push(Stretch {
                    first: second,
                    last: second,
                    count: count.into(),
                }),
            }
        }
        let all: u64 = stretches.iter().map(|stretch| stretch.count).sum();
        let is_sure = |stretch: &Stretch| stretch.count.saturating_mul(STRAY) >= all;
        // Where each is seldom, none is strange.
        let mut from = stretches.iter().position(is_sure).unwrap_or(0);
        let mut to = stretches
            .iter()
            .rposition(is_sure)
            .unwrap_or(stretches.len().checked_sub(1)?);
        loop {
            let (first, last) = (stretches[from].first, stretches[to].last);
            let length = last.saturating_sub(first);
            let before = from.checked_sub(1).map(|place| stretches[place].last);
            let after = stretches.get(to + 1).map(|stretch| stretch.first);
            if before.is_some_and(|before| first.saturating_sub(before) <= length) {
                from -= 1;
            } else if after.is_some_and(|after| after.saturating_sub(last) <= length) {
                to += 1;
            } else {
                let inside: u64 = stretches[from..=to].iter().map(|part| part.count).sum();
                let outside = all - inside;
                return Some(Window {
                    first,
                    last,
                    outside,
                });
            }
        }
    }

    /// The rates of `requests` queries in `duration_s`, those of them left out that are outside `window`.
    pub fn summary(&self, window: &Window, requests: u64, duration_s: f64) -> RateSummary {
        let inside = |second: &i64| (window.first..=window.last).contains(second);
        let counts = self.seconds().filter(|(second, _)| inside(second));
        let mut counts: Vec<u32> = counts.map(|(_, count)| count).collect();
        counts.sort_unstable();
        // Seconds without a query between the first and the last count, too; they come before all others.
        let seconds = window.last.saturating_sub(window.first).saturating_add(1) as u128;
        let rank = (seconds * 95).div_ceil(100);
        let empty = seconds - counts.len() as u128;
        let p95 = rank
            .checked_sub(empty + 1)
            .map_or(0, |place| counts[place as usize]);
        RateSummary {
            // What is shorter than a second is too short for a rate.
            mean: requests.saturating_sub(window.outside) as f64 / duration_s.max(1.0),
            p95: p95.into(),
            max: counts.last().copied().unwrap_or(0).into(),
            beyond: self.beyond,
        }
    }
}

impl From<Rates> for Stored {
    fn from(rates: Rates) -> Self {
        Self {
            runs: rates.runs(),
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
        let window = rates.window().unwrap();
        assert_eq!(
            (window.last - window.first, window.outside),
            (99, 0),
            "{window:?}"
        );
        let summary = rates.summary(&window, 520, 100.0);
        let expected = RateSummary {
            mean: 5.2,
            p95: 50.0,
            max: 70.0,
            beyond: 0,
        };
        assert_eq!(summary, expected);
        rates.add(BLOCK - 39, 0);
        let stored = serde_json::to_string(&rates).unwrap();
        assert_eq!(serde_json::from_str::<Rates>(&stored).unwrap(), rates);
        assert_eq!(Rates::default().window(), None);
    }

    #[test]
    fn few_requests_of_another_age_are_outside() {
        const NOW: i64 = 1_700_000_000;
        let years = |count: i64| count * 365 * 86_400;
        let window = |others: &[(i64, u32)]| {
            let mut rates = Rates::default();
            (0..200).for_each(|second| rates.add(NOW + second, 5));
            others
                .iter()
                .for_each(|(second, count)| rates.add(*second, *count));
            let found = rates.window().unwrap();
            let summary = rates.summary(&found, 1000, 200.0);
            assert_eq!(summary.p95, 5.0, "{others:?}");
            (found.first - NOW, found.last - NOW, found.outside)
        };
        assert_eq!(window(&[]), (0, 199, 0));
        assert_eq!(window(&[(7, 1)]), (0, 199, 1));
        assert_eq!(window(&[(0, 2), (i64::MAX, 1), (i64::MIN, 1)]), (0, 199, 4));
        // Some days are a long pause, and many requests are no mistake.
        let mut rates = Rates::default();
        for (second, count) in [(NOW, 1), (NOW + 86_400, 1000), (NOW - years(1), 20)] {
            rates.add(second, count);
        }
        let found = rates.window().unwrap();
        assert_eq!((found.first, found.outside), (NOW - years(1), 0));
        // As long a time is not far away.
        let mut rates = Rates::default();
        for month in 0..24 {
            rates.add(NOW + month * 29 * 86_400, 1000);
        }
        rates.add(NOW - years(1), 1);
        assert_eq!(rates.window().unwrap().outside, 0);
        rates.add(NOW - years(9), 1);
        assert_eq!(rates.window().unwrap().outside, 1);
        // Where all are far apart, none is strange.
        let mut rates = Rates::default();
        (0..300).for_each(|year| rates.add(year * 365 * 86_400, 1));
        assert_eq!(rates.window().unwrap().outside, 0);
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

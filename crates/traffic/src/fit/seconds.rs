//! How the rate varies.

use super::counts::rounded;
use crate::profile::Rate;
use crate::stats::{Rates, Window};

const NS_A_SECOND: i64 = 1_000_000_000;
const SECONDS_AN_HOUR: i64 = 3600;
const HOURS_A_DAY: i64 = 24;
/// The longest capture of which every second is counted: ten weeks. Queries after it are left out of the rate.
const LONGEST_S: i64 = 6_048_000;
/// The fewest seconds of which the first and the last, which are not whole, are left out.
const FEW: usize = 10;
/// The quantiles that a profile tells.
const TOLD: [f64; 11] = [
    0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0,
];

/// When queries were sent.
#[derive(Debug, Default)]
pub(super) struct Seconds {
    /// The times of the earliest and of the latest.
    span_ns: Option<(i64, i64)>,
    rates: Rates,
    total: u64,
}

impl Seconds {
    /// Counts a query.
    #[inline]
    pub fn add(&mut self, time_ns: i64) {
        let (first_ns, last_ns) = self.span_ns.unwrap_or((time_ns, time_ns));
        self.span_ns = Some((first_ns.min(time_ns), last_ns.max(time_ns)));
        self.total += 1;
        self.rates.add(time_ns.div_euclid(NS_A_SECOND), 1);
    }

    /// The queries of each second from the first to the last, those left out whose clock was wrong.
    pub fn finish(&self) -> CountedSeconds {
        let window = self.rates.window().unwrap_or(Window {
            first: 0,
            last: 0,
            outside: 0,
        });
        let (first_ns, last_ns) = window.clipped(self.span_ns.unwrap_or_default());
        let len = window.last.saturating_sub(window.first).saturating_add(1);
        let mut counts = vec![0; len.min(LONGEST_S) as usize];
        for (second, count) in self.rates.seconds() {
            let place = usize::try_from(second.saturating_sub(window.first));
            if let Some(own) = place.ok().and_then(|place| counts.get_mut(place)) {
                *own = count;
            }
        }
        CountedSeconds {
            first: window.first,
            counts,
            total: self.total - window.outside,
            duration_s: (last_ns.saturating_sub(first_ns) as f64 / NS_A_SECOND as f64).max(0.001),
            outside: window.outside,
        }
    }
}

/// Queries of each second.
#[derive(Debug)]
pub(super) struct CountedSeconds {
    /// The first second, counted from 1970.
    first: i64,
    counts: Vec<u32>,
    total: u64,
    /// From the first query to the last, in seconds; at least a millisecond.
    pub duration_s: f64,
    /// Queries whose time is so far from all others that their clock was wrong.
    pub outside: u64,
}

impl CountedSeconds {
    /// The seconds that are whole.
    fn whole(&self) -> &[u32] {
        match self.counts.len() > FEW {
            true => &self.counts[1..self.counts.len() - 1],
            false => &self.counts,
        }
    }

    /// The rate as a profile has it.
    pub fn rate(&self) -> Rate {
        let hours = self.hours();
        let shift = usize::from(self.counts.len() > FEW) as i64;
        let mean = self
            .whole()
            .iter()
            .map(|&count| f64::from(count))
            .sum::<f64>()
            / self.whole().len().max(1) as f64;
        let relative: Vec<f64> = (shift..)
            .zip(self.whole())
            .map(|(second, &count)| {
                let expected = match hours.is_empty() {
                    true => mean,
                    false => mean * hours[self.hour(second)],
                };
                if expected > 0.0 {
                    f64::from(count) / expected
                } else {
                    1.0
                }
            })
            .collect();
        let mut sorted = relative.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |quantile: f64| {
            sorted
                .get(((sorted.len().max(1) - 1) as f64 * quantile).round() as usize)
                .copied()
        };
        Rate {
            // What is shorter than a second is too short for a rate.
            mean_qps: rounded((self.total as f64 / self.duration_s.max(1.0)).clamp(1e-9, 1e9)),
            second_quantiles: TOLD
                .iter()
                .map(|&quantile| [quantile, rounded(at(quantile).unwrap_or(1.0))])
                .collect(),
            second_correlation: rounded(correlation(&relative).clamp(0.0, 0.999)),
            hours: hours.into_iter().map(rounded).collect(),
            start_unix_s: None,
        }
    }

    fn hour(&self, second: i64) -> usize {
        ((self.first.saturating_add(second)).div_euclid(SECONDS_AN_HOUR)).rem_euclid(HOURS_A_DAY)
            as usize
    }

    /// The mean rate of each hour of the day over the mean; empty unless there is a day.
    fn hours(&self) -> Vec<f64> {
        if (self.counts.len() as i64) < SECONDS_AN_HOUR * HOURS_A_DAY {
            return Vec::new();
        }
        let (mut queries, mut seconds) = ([0.0; HOURS_A_DAY as usize], [0.0; HOURS_A_DAY as usize]);
        for (second, &count) in (0..).zip(&self.counts) {
            let hour = self.hour(second);
            queries[hour] += f64::from(count);
            seconds[hour] += 1.0;
        }
        let mean = queries.iter().sum::<f64>() / seconds.iter().sum::<f64>();
        let of = queries.iter().zip(&seconds);
        of.map(|(queries, seconds)| queries / f64::max(*seconds, 1.0) / mean)
            .collect()
    }
}

/// The correlation of each value with the one before it.
fn correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let together: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    match variance > 0.0 {
        true => together / variance,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seconds: i64, rate: impl Fn(i64) -> u32) -> CountedSeconds {
        let mut found = Seconds::default();
        for second in 0..seconds {
            for query in 0..rate(second) {
                found.add(second * NS_A_SECOND + i64::from(query) * 1000);
            }
        }
        found.finish()
    }

    #[test]
    fn bursts_are_told_by_quantiles() {
        let rate = of(1000, |second| if second % 10 == 0 { 20 } else { 5 }).rate();
        crate::profile::Quantiles::new(&rate.second_quantiles).unwrap();
        let at = |wanted: f64| {
            rate.second_quantiles
                .iter()
                .find(|point| point[0] == wanted)
                .unwrap()[1]
        };
        assert!((at(0.5) - 5.0 / 6.5).abs() < 0.01 && (at(1.0) - 20.0 / 6.5).abs() < 0.02);
        assert!((rate.mean_qps - 6.5).abs() < 0.1 && rate.hours.is_empty());
        assert_eq!(rate.second_correlation, 0.0);
    }

    #[test]
    fn a_day_has_its_hours() {
        let seconds = of(86_400, |second| if second / 3600 == 20 { 6 } else { 2 });
        let rate = seconds.rate();
        assert_eq!(rate.hours.len(), 24);
        assert!((rate.hours[20] / rate.hours[3] - 3.0).abs() < 0.01);
        let last = rate.second_quantiles.last().unwrap();
        assert!(last[1] < 1.05, "{last:?}");
    }

    #[test]
    fn a_query_of_another_age_changes_no_rate() {
        for strange_ns in [i64::MIN, 1 << 62] {
            let mut found = Seconds::default();
            found.add(strange_ns);
            for second in 0..200 {
                found.add(second * NS_A_SECOND);
            }
            let found = found.finish();
            // To a second: when the last of the others was sent, the span does not tell.
            assert!((found.duration_s - 199.0).abs() <= 1.0);
            assert_eq!(found.outside, 1);
            assert!((found.rate().mean_qps - 1.0).abs() < 0.01);
            let last = found.rate().second_quantiles.pop().unwrap();
            assert_eq!(last, [1.0, 1.0]);
        }
    }

    #[test]
    fn one_query_is_a_rate_too() {
        let rate = of(1, |_| 1).rate();
        assert_eq!(rate.mean_qps, 1.0);
        crate::profile::Quantiles::new(&rate.second_quantiles).unwrap();
    }
}

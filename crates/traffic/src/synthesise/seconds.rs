//! How many queries each second of a stream has.

use super::random::{Purpose, Random};
use crate::profile::{Quantiles, Rate};

const SECONDS_A_DAY: i64 = 86_400;

/// A stream's course.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course<'a> {
    /// The profile's rate.
    pub rate: &'a Rate,
    /// The mean rate to have.
    pub mean_qps: f64,
    /// When it begins, in seconds since 1970.
    pub start_s: i64,
    /// How long it lasts.
    pub duration_s: f64,
    /// The seed of everything random.
    pub seed: u64,
}

impl Course<'_> {
    /// The number of requests of each second, `total` of them in all; the last second may be shorter than one.
    ///
    /// The rates of seconds have the profile's distribution about the day's curve whatever the length of the stream, its maximum
    /// included; noise that is correlated from second to second decides which second is how busy. At a lower rate than the
    /// profile's, rates vary more, as they do when clients are left out.
    pub fn counts(&self, total: u64) -> Vec<u64> {
        let seconds = (self.duration_s.ceil() as usize).max(1);
        let mut random = Random::new(self.seed, Purpose::Rate);
        let points = &self.rate.second_quantiles;
        let quantiles = Quantiles::new(points).expect("checked with the profile");
        let mut rates = vec![0.0; seconds];
        let order = self.by_busyness(seconds, &mut random);
        for (place, second) in order.into_iter().enumerate() {
            let quantile = match place {
                _ if seconds == 1 => 0.5,
                0 => 0.0,
                place if place + 1 == seconds => 1.0,
                // In the middle of what it stands for.
                place => (place as f64 + 0.5) / seconds as f64,
            };
            let hour = hour_factor(&self.rate.hours, self.start_s + i64::from(second));
            rates[second as usize] = hour * quantiles.at(quantile);
        }
        let more_variance = 1.0 / self.mean_qps - 1.0 / self.rate.mean_qps;
        if more_variance > 0.0 {
            for rate in &mut rates {
                // The variance of Poisson's distribution is in proportion to the rate.
                let deviation = (more_variance * *rate).sqrt();
                *rate = (*rate + deviation * random.normal()).max(0.0);
            }
        }
        if let Some(last) = rates.last_mut() {
            *last *= self.duration_s - (seconds - 1) as f64;
        }
        spread(&rates, total)
    }

    /// The seconds from the least busy one to the busiest.
    fn by_busyness(&self, seconds: usize, random: &mut Random) -> Vec<u32> {
        let correlation = self.rate.second_correlation;
        let innovation = (1.0 - correlation * correlation).sqrt();
        let mut noise = random.normal();
        let levels: Vec<f64> = (0..seconds)
            .map(|_| {
                noise = correlation * noise + innovation * random.normal();
                noise
            })
            .collect();
        let mut order: Vec<u32> = (0..seconds as u32).collect();
        order.sort_by(|&a, &b| {
            let by_level = levels[a as usize].total_cmp(&levels[b as usize]);
            by_level.then(a.cmp(&b))
        });
        order
    }
}

/// The rate of the time of day, on lines from the middle of one hour to the middle of the next.
fn hour_factor(hours: &[f64], second: i64) -> f64 {
    if hours.is_empty() {
        return 1.0;
    }
    let hour = second.rem_euclid(SECONDS_A_DAY) as f64 / 3600.0 - 0.5;
    let whole = hour.floor();
    let of = |hour: f64| hours[(hour as i64).rem_euclid(hours.len() as i64) as usize];
    let (before, after) = (of(whole), of(whole + 1.0));
    before + (after - before) * (hour - whole)
}

/// Whole numbers in proportion to `rates` that add up to `total`, each within one of its share.
fn spread(rates: &[f64], total: u64) -> Vec<u64> {
    let sum: f64 = rates.iter().sum();
    let last = rates.len().saturating_sub(1);
    let (mut up_to, mut given) = (0.0, 0);
    let counts = rates.iter().enumerate().map(|(second, rate)| {
        up_to += rate;
        let target = match second == last {
            true => total,
            false if sum > 0.0 => ((up_to / sum * total as f64).round() as u64).min(total),
            false => 0,
        };
        let count = target.saturating_sub(given);
        given += count;
        count
    });
    counts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    const START_S: i64 = 1_163_570_400;

    fn rate() -> Rate {
        Profile::open("root-2006").unwrap().rate
    }

    fn counts(rate: &Rate, mean_qps: f64, duration_s: f64) -> Vec<u64> {
        let course = Course {
            rate,
            mean_qps,
            start_s: START_S,
            duration_s,
            seed: 1,
        };
        course.counts((duration_s * mean_qps).round() as u64)
    }

    fn percentile(counts: &[u64], share: f64) -> f64 {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        let place = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len());
        sorted[place - 1] as f64
    }

    #[test]
    fn bursts_are_the_published_ones_at_any_length() {
        let rate = rate();
        for seconds in [120.0, 3600.0, 172_800.0] {
            let counts = counts(&rate, rate.mean_qps, seconds);
            assert_eq!(counts.len() as f64, seconds);
            assert_eq!(
                counts.iter().sum::<u64>(),
                (seconds * 2401.2).round() as u64
            );
            let (p95, max) = (percentile(&counts, 0.95), percentile(&counts, 1.0));
            assert!((p95 - 3011.0).abs() < 30.0, "{seconds}: {p95}");
            assert!((max - 3921.9).abs() < 10.0, "{seconds}: {max}");
        }
    }

    #[test]
    fn the_day_has_its_curve() {
        let mut rate = rate();
        let busy = |hour: i32| if hour == 20 { 2.0 } else { 0.9 };
        rate.hours = (0..24).map(busy).collect();
        let counts = counts(&rate, rate.mean_qps, 86_400.0);
        let start = (START_S % SECONDS_A_DAY) as usize;
        let of_hour = |hour: usize| {
            let seconds = (0..3600).map(|second| (hour * 3600 + second + 86_400 - start) % 86_400);
            seconds.map(|second| counts[second]).sum::<u64>()
        };
        let busiest = (0..24).max_by_key(|&hour| of_hour(hour)).unwrap();
        assert_eq!(busiest, 20);
        let ratio = of_hour(20) as f64 / of_hour(8) as f64;
        assert!((1.6..2.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn lower_rates_vary_more_and_the_last_second_may_be_short() {
        let counts = counts(&rate(), 10.0, 999.5);
        assert_eq!((counts.len(), counts.iter().sum::<u64>()), (1000, 9995));
        let squares = counts.iter().map(|&count| (count as f64 - 9.995).powi(2));
        let variance = squares.sum::<f64>() / 1000.0;
        // About that of Poisson's distribution, 10, and that of the profile, 15 % of the rate squared.
        assert!((8.0..20.0).contains(&variance), "{variance}");
    }

    #[test]
    fn a_single_second_has_all() {
        assert_eq!(counts(&rate(), 100.0, 0.5), [50]);
        assert_eq!(spread(&[0.0, 0.0], 7), [0, 7]);
    }
}

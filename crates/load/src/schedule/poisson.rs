//! Queries at random.

use super::{Due, Schedule};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Sets these random numbers apart from others that are drawn from the same seed: the high half of ChaCha's stream
/// number, whose low half is the thread.
const STREAM: u64 = u32::from_be_bytes(*b"gaps") as u64;

/// Sends queries at random times, independent of each other and of the answers: a Poisson process.
///
/// The gaps are exponentially distributed. Queries are not gathered into batches: that would make them less random.
#[derive(Clone, Debug)]
pub struct Poisson {
    due_ns: u64,
    /// What the rounding of `due_ns` left over, so that it never adds up.
    rest_ns: f64,
    mean_gap_ns: f64,
    random: ChaCha8Rng,
}

impl Poisson {
    /// One of `threads` processes that together make one of `rate_qps` queries per second, from `start_ns` on.
    ///
    /// The times follow from `seed` and `thread`, and are independent of those of other threads.
    pub fn new(start_ns: u64, rate_qps: f64, seed: u64, thread: u64, threads: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM << 32 | thread);
        let mut schedule = Self {
            due_ns: start_ns,
            rest_ns: 0.0,
            mean_gap_ns: 1e9 * threads as f64 / rate_qps,
            random,
        };
        schedule.advance();
        schedule
    }
}

impl Schedule for Poisson {
    fn next(&self) -> Due {
        Due::At(self.due_ns)
    }

    fn advance(&mut self) {
        // Uniform in (0, 1]: the logarithm of zero is not wanted.
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let gap_ns = self.rest_ns - uniform.ln() * self.mean_gap_ns;
        self.rest_ns = gap_ns.fract();
        self.due_ns = self.due_ns.saturating_add(gap_ns as u64);
    }

    fn latency_from_schedule(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times_ns(schedule: &mut Poisson, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let due_ns = schedule.due_ns;
                schedule.advance();
                due_ns
            })
            .collect()
    }

    fn counts(times_ns: &[u64], window_ns: u64, windows: usize) -> Vec<f64> {
        let mut counts = vec![0.0; windows];
        for time_ns in times_ns {
            if let Some(count) = counts.get_mut((time_ns / window_ns) as usize) {
                *count += 1.0;
            }
        }
        counts
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_same_seed_gives_the_same_times() {
        let of = |seed, thread| times_ns(&mut Poisson::new(0, 1e5, seed, thread, 2), 100);
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(1, 1));
        assert_ne!(of(1, 0), of(2, 0));
    }

    #[test]
    fn gaps_are_exponential() {
        let times_ns = times_ns(&mut Poisson::new(0, 1e5, 7, 0, 1), 200_001);
        let gaps: Vec<f64> = times_ns
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        // Five standard deviations: the mean of n gaps deviates by 1/sqrt(n), a share p by sqrt(p (1 - p) / n).
        assert!((mean(&gaps) / 1e4 - 1.0).abs() < 5.0 / 200_000f64.sqrt());
        for multiple in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let expected = f64::exp(-multiple);
            let longer =
                gaps.iter().filter(|gap| **gap > multiple * 1e4).count() as f64 / 200_000.0;
            let deviation = (expected * (1.0 - expected) / 200_000.0).sqrt();
            assert!(
                (longer - expected).abs() < 5.0 * deviation,
                "{longer} longer than {multiple} means"
            );
        }
    }

    #[test]
    fn threads_together_are_one_process_of_the_whole_rate() {
        let mut times: Vec<u64> = (0..3)
            .flat_map(|thread| times_ns(&mut Poisson::new(0, 30_000.0, 42, thread, 3), 110_000))
            .collect();
        times.sort_unstable();
        // 3,000 windows of 3.333 ms with 100 queries each on average; mean and variance of a Poisson count are equal.
        let counts = counts(&times, 3_333_333, 3_000);
        let mean_count = mean(&counts);
        let squares: Vec<f64> = counts
            .iter()
            .map(|count| (count - mean_count).powi(2))
            .collect();
        assert!((mean_count - 100.0).abs() < 1.0, "mean {mean_count}");
        let ratio = mean(&squares) / mean_count;
        assert!(
            (ratio - 1.0).abs() < 5.0 * (2.0 / 3_000f64).sqrt(),
            "variance to mean {ratio}"
        );
    }

    #[test]
    fn rounding_does_not_add_up_at_rates_of_a_query_in_a_nanosecond() {
        let mut schedule = Poisson::new(0, 1e9, 3, 0, 1);
        let times_ns = times_ns(&mut schedule, 1_000_000);
        let mean_gap_ns = *times_ns.last().unwrap() as f64 / 1e6;
        assert!((mean_gap_ns - 1.0).abs() < 0.005, "{mean_gap_ns}");
    }

    #[test]
    fn queries_are_not_gathered() {
        assert_eq!(Poisson::new(0, 1e6, 1, 0, 1).wake_ns(500), 500);
    }
}

//! How many clients there are behind those that were seen, and how unequally they ask.
//!
//! A capture that is not long sees many clients once, and others not at all. Were those that it sees all, traffic made of the
//! profile would show fewer, and a profile of that fewer again. So those that were not seen are added: as many as Chao's
//! estimator says (A. Chao, Nonparametric estimation of the number of classes in a population, 1984, in the form without bias),
//! with such a share of the queries that a capture of the same length is expected to show as many clients as this one did.

use super::counts::rounded;
use crate::profile::Ranks;

/// The most clients that are thought to be there for each that was seen; what is seen once only tells no number.
const MOST_UNSEEN: f64 = 10.0;
/// The share of clients seen several times is not lowered by more than this, to give the others theirs.
const LEAST_SCALE: f64 = 0.5;
/// Halvings of the range of a scale.
const STEPS: usize = 40;

/// All clients, those that were not seen among them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Population {
    pub count: u64,
    pub activity: Ranks,
}

impl Population {
    /// The population of which clients were seen to begin asking so many times each, from the most active on; each at least once.
    pub fn of(draws: &[f64]) -> Self {
        let several = draws.partition_point(|draws| *draws >= 2.5);
        let once = draws.len() - draws.partition_point(|draws| *draws >= 1.5);
        let twice = (draws.len() - several - once) as f64;
        let once = once as f64;
        let unseen = (once * (once - 1.0) / (2.0 * (twice + 1.0)))
            .clamp(0.0, MOST_UNSEEN * draws.len() as f64);
        let sample = Sample {
            several: &draws[..several],
            sum_of_several: draws[..several].iter().sum(),
            sum: draws.iter().sum(),
            rare: (once + twice + unseen).round(),
        };
        Self {
            count: (several as u64 + sample.rare as u64).max(1),
            activity: sample.activity(sample.scale(draws.len() as f64)),
        }
    }
}

/// What was seen of clients.
struct Sample<'a> {
    /// How often each began to ask that did so three times or more.
    several: &'a [f64],
    sum_of_several: f64,
    /// The same of all together.
    sum: f64,
    /// Clients that did so once or twice, or were not seen: taken for alike, they are expected to be seen once and twice as they were.
    rare: f64,
}

impl Sample<'_> {
    /// How many clients a capture of the same length is expected to show, if those seen several times ask `scale` times as often as
    /// was seen, and the others have the rest.
    fn expected(&self, scale: f64) -> f64 {
        let several: f64 = self
            .several
            .iter()
            .map(|draws| -(-scale * draws).exp_m1())
            .sum();
        let rest = self.sum - scale * self.sum_of_several;
        match self.rare > 0.0 {
            true => several - self.rare * (-rest / self.rare).exp_m1(),
            false => several,
        }
    }

    /// The scale at which as many clients are expected as were `seen`; 1 if there are none to give the rest to.
    fn scale(&self, seen: f64) -> f64 {
        if self.rare == 0.0 || self.expected(1.0) >= seen {
            return 1.0;
        }
        let (mut low, mut high) = (LEAST_SCALE, 1.0);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            match self.expected(middle) >= seen {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }

    /// The shares of the most active clients, at ranks that double, and at the last that was seen several times.
    fn activity(&self, scale: f64) -> Ranks {
        let count = self.several.len() as f64 + self.rare;
        let mut top: Vec<[f64; 2]> = Vec::new();
        let (mut sum, mut next) = (0.0, 1);
        for (rank, draws) in (1..).zip(self.several) {
            sum += scale * draws;
            if rank == next || rank == self.several.len() {
                top.push([rounded(rank as f64 / count), rounded(sum / self.sum)]);
                next = rank * 2;
            }
        }
        top.dedup_by(|later, earlier| later[0] <= earlier[0]);
        top.retain(|point| point[0] < 1.0 && point[1] < 1.0);
        top.push([1.0, 1.0]);
        Ranks::Top { top }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// How often each of a thousand clients is drawn of which one of rank r has a share of r to the power of -0.8.
    fn drawn(draws: usize) -> Vec<f64> {
        let weights: Vec<f64> = (1..=1000).map(|rank| f64::from(rank).powf(-0.8)).collect();
        let sum: f64 = weights.iter().sum();
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut counts = vec![0.0; weights.len()];
        for _ in 0..draws {
            let mut rest = random.random::<f64>() * sum;
            let found = weights.iter().position(|weight| {
                rest -= weight;
                rest <= 0.0
            });
            counts[found.unwrap_or(0)] += 1.0;
        }
        counts.retain(|count| *count > 0.0);
        counts.sort_by(|a, b| f64::total_cmp(b, a));
        counts
    }

    #[test]
    fn clients_that_were_not_seen_are_added() {
        for draws in [1000, 2000, 5000] {
            let seen = drawn(draws);
            let population = Population::of(&seen);
            // Of those that ask most seldom, some are never told of.
            assert!(
                population.count > seen.len() as u64 && (650..1100).contains(&population.count),
                "{draws}: {} of {}",
                population.count,
                seen.len()
            );
        }
        assert!(drawn(1000).len() < 450);
    }

    #[test]
    fn clients_that_all_ask_often_are_all() {
        let population = Population::of(&[40.0, 20.0, 20.0]);
        let activity = Ranks::Top {
            top: vec![[0.333333, 0.5], [0.666667, 0.75], [1.0, 1.0]],
        };
        assert_eq!(population, Population { count: 3, activity });
    }

    #[test]
    fn few_clients_are_a_population_too() {
        for draws in [&[][..], &[1.0], &[1.0; 50], &[9.0], &[2.0, 1.0]] {
            let population = Population::of(draws);
            let most = 1 + 11 * draws.len() as u64;
            assert!((1..=most).contains(&population.count), "{draws:?}");
            let Ranks::Top { top } = population.activity else {
                panic!("no points");
            };
            assert_eq!(top.last(), Some(&[1.0, 1.0]));
            assert!(top.is_sorted_by(|a, b| a[0] < b[0] && a[1] <= b[1]));
        }
    }
}

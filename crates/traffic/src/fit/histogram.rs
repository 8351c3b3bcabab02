//! A histogram of durations with buckets that grow with them.

/// Buckets for each doubling.
const STEPS: u64 = 16;
const STEP_BITS: u32 = STEPS.ilog2();
const BUCKETS: usize = (64 * STEPS) as usize;
/// The quantiles that a profile tells.
const TOLD: [f64; 9] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0];
const NS_A_MS: f64 = 1e6;

/// Durations in ns, each known to a sixteenth.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            total: 0,
        }
    }
}

impl Histogram {
    /// Counts a duration.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        let place = match ns < STEPS {
            true => ns,
            false => {
                let shift = ns.ilog2() - STEP_BITS;
                u64::from(shift + 1) * STEPS + (ns >> shift) - STEPS
            }
        };
        self.counts[place as usize] += 1;
        self.total += 1;
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Some quantiles as a profile has them, in ms: points `[quantile, ms]`.
    pub fn quantiles_ms(&self) -> Vec<[f64; 2]> {
        TOLD.iter()
            .map(|&quantile| {
                [
                    quantile,
                    super::counts::rounded(self.at(quantile) / NS_A_MS),
                ]
            })
            .collect()
    }

    /// The least duration of the bucket that holds this quantile.
    fn at(&self, quantile: f64) -> f64 {
        let wanted = ((self.total as f64 * quantile).ceil() as u64).max(1);
        let mut sum = 0;
        for (place, count) in (0_u64..).zip(&self.counts) {
            sum += count;
            if sum >= wanted {
                return least(place) as f64;
            }
        }
        0.0
    }
}

/// The least duration of the bucket at `place`.
fn least(place: u64) -> u64 {
    match place < STEPS {
        true => place,
        false => (place % STEPS + STEPS) << (place / STEPS - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_its_bucket() {
        for ns in (0..2000).chain([1 << 40, u64::MAX - 1, u64::MAX]) {
            let mut histogram = Histogram::default();
            histogram.add(ns);
            let found = histogram.at(0.5);
            assert!(
                found <= ns as f64 && found >= ns as f64 * 15.0 / 16.0,
                "{ns}: {found}"
            );
        }
    }

    #[test]
    fn quantiles_do_not_fall() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|ms| histogram.add(ms * 1_000_000));
        let points = histogram.quantiles_ms();
        crate::profile::Quantiles::new(&points).unwrap();
        let median = points[3][1];
        assert!((450.0..=500.0).contains(&median), "{median}");
        assert_eq!(
            Histogram::default().quantiles_ms().last(),
            Some(&[1.0, 0.0])
        );
    }
}

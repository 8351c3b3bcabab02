//! How often each value came, in buckets whose width grows with the value.

use serde::{Deserialize, Serialize};

/// Bits of a value that its bucket keeps, so that a bucket's middle is within 1/256 of every value in it.
const KEPT_BITS: u32 = 7;
/// Values below have a bucket each.
const EXACT: u64 = 2 << KEPT_BITS;

/// A histogram of whole numbers; merging loses nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

/// A histogram as it is stored: buckets that are not empty, by their number.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    buckets: Vec<(u16, u64)>,
    sum: u64,
    max: u64,
}

fn bucket_of(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let exponent = value.ilog2();
    let kept = value >> (exponent - KEPT_BITS) & ((1 << KEPT_BITS) - 1);
    (EXACT + (u64::from(exponent - KEPT_BITS - 1) << KEPT_BITS) + kept) as usize
}

/// The middle of a bucket.
fn value_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < EXACT {
        return bucket;
    }
    let shift = ((bucket - EXACT) >> KEPT_BITS) as u32 + 1;
    let kept = (bucket - EXACT) & ((1 << KEPT_BITS) - 1) | 1 << KEPT_BITS;
    (kept << shift) + (1 << shift) / 2
}

impl Histogram {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.max = self.max.max(value);
    }

    /// Adds what is in `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (own, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += other;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The greatest value; `None` without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The smallest value than which at most the share `quantile` is less, within 1/256 of it; `None` without values.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(value_of(bucket).min(self.max))
    }
}

impl From<Histogram> for Stored {
    fn from(histogram: Histogram) -> Self {
        let buckets = histogram.buckets.iter().zip(0..);
        Self {
            buckets: buckets
                .filter(|(count, _)| **count > 0)
                .map(|(count, bucket)| (bucket, *count))
                .collect(),
            sum: histogram.sum,
            max: histogram.max,
        }
    }
}

impl TryFrom<Stored> for Histogram {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let mut histogram = Self {
            sum: stored.sum,
            max: stored.max,
            ..Self::default()
        };
        for (bucket, count) in stored.buckets {
            let bucket = usize::from(bucket);
            if bucket > bucket_of(u64::MAX) {
                return Err(format!("a histogram has no bucket {bucket}"));
            }
            if bucket >= histogram.buckets.len() {
                histogram.buckets.resize(bucket + 1, 0);
            }
            histogram.buckets[bucket] += count;
            histogram.count += count;
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_is_near_the_middle_of_its_bucket(value: u64) {
            let middle = value_of(bucket_of(value));
            prop_assert!(middle.abs_diff(value) <= value / 256);
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in prop::collection::vec(0..2_000_000_u64, 1..200), share in 0.0..1.0_f64) {
            let mut histogram = Histogram::default();
            let mut second = Histogram::default();
            for (place, value) in values.iter().enumerate() {
                if place % 3 == 0 { &mut second } else { &mut histogram }.add(*value);
            }
            histogram.merge(&second);
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).max(1);
            let expected = values[rank - 1];
            let found = histogram.quantile(share).unwrap();
            prop_assert!(found.abs_diff(expected) <= expected / 128);
            prop_assert_eq!(histogram.max(), values.last().copied());
            let stored = serde_json::to_string(&histogram).unwrap();
            let mut read: Histogram = serde_json::from_str(&stored).unwrap();
            read.buckets.resize(histogram.buckets.len(), 0);
            prop_assert_eq!(read, histogram);
        }
    }

    #[test]
    fn buckets_follow_each_other() {
        assert_eq!(bucket_of(EXACT - 1) + 1, bucket_of(EXACT));
        for value in (0..100_000).chain([u64::MAX - 1, 1 << 40, (1 << 40) - 1]) {
            let step = bucket_of(value + 1) - bucket_of(value);
            assert!(step <= 1, "{value}");
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}

//! Latency histograms as stored in reports: HDR histograms in the V2 format, deflated, in base64.

use crate::LoadError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// One point of a percentile curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PercentilePoint {
    /// Percentile, 0 to 100.
    pub percentile: f64,
    /// The latency in nanoseconds that it stands for.
    pub latency_ns: u64,
    /// Answered queries with at most this latency.
    pub count: u64,
}

/// Encodes a histogram for storage.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut octets = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut octets)
        .expect("writing to a vector cannot fail, and no histogram is too large for the format");
    STANDARD.encode(octets)
}

/// Decodes a stored histogram.
///
/// # Errors
/// [`LoadError::Histogram`] if it is not one.
pub fn decode(stored: &str) -> Result<Histogram<u64>, LoadError> {
    let fail = |reason: String| LoadError::Histogram { reason };
    let octets = STANDARD
        .decode(stored)
        .map_err(|error| fail(format!("not base64: {error}")))?;
    Deserializer::new()
        .deserialize(&mut octets.as_slice())
        .map_err(|error| fail(format!("not an HDR histogram: {error}")))
}

/// Adds up stored histograms without loss.
///
/// # Errors
/// [`LoadError::Histogram`] if one of them is none, or their sum needs a range that none of them has.
pub fn merge<'a>(stored: impl IntoIterator<Item = &'a str>) -> Result<String, LoadError> {
    let mut sum = crate::tally::empty_histogram();
    for one in stored {
        sum.add(decode(one)?)
            .map_err(|error| LoadError::Histogram {
                reason: error.to_string(),
            })?;
    }
    Ok(encode(&sum))
}

/// The points of a logarithmic percentile plot: 50, 90, 99, 99.9 % and so on, with `steps_per_half` points each time
/// the distance to 100 % halves. The last point is the maximum; without a recorded value there is none.
///
/// # Errors
/// [`LoadError::Histogram`] if `stored` is none.
pub fn percentile_points(
    stored: &str,
    steps_per_half: u32,
) -> Result<Vec<PercentilePoint>, LoadError> {
    let histogram = decode(stored)?;
    Ok(histogram
        .iter_quantiles(steps_per_half.max(1))
        .scan(0, |count, step| {
            *count += step.count_since_last_iteration();
            Some(PercentilePoint {
                percentile: step.quantile_iterated_to() * 100.0,
                latency_ns: step.value_iterated_to(),
                count: *count,
            })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::empty_histogram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn storing_and_merging_lose_nothing(
            first in proptest::collection::vec(1u64..10_000_000_000, 0..50),
            second in proptest::collection::vec(1u64..10_000_000_000, 0..50),
        ) {
            let fill = |values: &[u64]| {
                let mut histogram = empty_histogram();
                values.iter().for_each(|&value| histogram.saturating_record(value));
                histogram
            };
            let together = fill(&[first.clone(), second.clone()].concat());
            let merged = merge([encode(&fill(&first)).as_str(), encode(&fill(&second)).as_str()]).unwrap();
            prop_assert_eq!(decode(&merged).unwrap(), together);
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            let _ = decode(&text);
        }
    }

    #[test]
    fn points_end_at_the_maximum() {
        let mut histogram = empty_histogram();
        (1..=1_000).for_each(|value| histogram.saturating_record(value));
        let points = percentile_points(&encode(&histogram), 5).unwrap();
        let last = points.last().unwrap();
        assert_eq!(
            (last.percentile, last.latency_ns, last.count),
            (100.0, 1_000, 1_000)
        );
        assert!(
            points
                .windows(2)
                .all(|pair| pair[0].percentile <= pair[1].percentile
                    && pair[0].count <= pair[1].count)
        );
        assert!(
            percentile_points(&encode(&empty_histogram()), 5)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(decode("%").unwrap_err().to_string().contains("not base64"));
        assert!(
            decode("AAAA")
                .unwrap_err()
                .to_string()
                .contains("not an HDR histogram")
        );
    }
}

//! The exponent of Zipf's law for counts by rank.

/// Ranks that the exponent is taken from.
const MAX_RANKS: usize = 10_000;
/// Counts below are left out: their order is that of chance.
const MIN_COUNT: u64 = 10;
/// Fewer ranks say nothing of a law.
const MIN_RANKS: usize = 10;
/// Exponents that are looked for.
const EXPONENTS: (f64, f64) = (0.0, 10.0);

/// The exponent s with which counts most likely follow 1 / rank^s, for the greatest counts first (at most the first 10,000 with a
/// count of at least 10). `None` with fewer than ten of them.
///
/// It is where the mean logarithm of the rank, weighed by counts, is the one that the law expects.
pub fn zipf_exponent(counts: impl IntoIterator<Item = u64>) -> Option<f64> {
    let counts: Vec<f64> = counts
        .into_iter()
        .take(MAX_RANKS)
        .take_while(|count| *count >= MIN_COUNT)
        .map(|count| count as f64)
        .collect();
    if counts.len() < MIN_RANKS {
        return None;
    }
    let logs: Vec<f64> = (1..=counts.len()).map(|rank| (rank as f64).ln()).collect();
    let mean = |weights: &mut dyn Iterator<Item = f64>| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (weight, log) in weights.zip(&logs) {
            sum += weight * log;
            total += weight;
        }
        sum / total
    };
    let observed = mean(&mut counts.iter().copied());
    let (mut low, mut high) = EXPONENTS;
    // Halved so often, the interval is shorter than any figure that is shown.
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let expected = mean(&mut logs.iter().map(|log| (-middle * log).exp()));
        // The steeper the law, the more weight have the first ranks.
        if expected > observed {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_that_of_the_law() {
        for exponent in [0.0, 0.5, 0.9, 1.0, 1.4] {
            let counts = (1..=5000).map(|rank| (1e7 / f64::from(rank).powf(exponent)) as u64);
            let found = zipf_exponent(counts).unwrap();
            assert!((found - exponent).abs() < 0.01, "{exponent}: {found}");
        }
        assert_eq!(zipf_exponent([5; 100]), None);
        assert_eq!(zipf_exponent([50; 9]), None);
    }
}

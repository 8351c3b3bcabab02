//! A histogram of durations with buckets that grow with them.

/// Buckets for each doubling.
const STEPS: u64 = 16;
const STEP_BITS: u32 = STEPS.ilog2();
const BUCKETS: usize = (64 * STEPS) as usize;
/// By how much a duration at most differs from what is said of it by the straight lines between a profile's points: the natural logarithm
/// of their ratio, which is near the difference as a share.
const TOLERANCE: f64 = 1.0 / 16.0;
/// Points that a profile tells at most; where they are too few, lines differ by more.
const MOST_POINTS: usize = 64;
/// What is shorter than this, in ns, is as good as nothing.
const SHORT_NS: f64 = 1000.0;
/// Digits after the point of quantiles.
const QUANTILE_DIGITS: f64 = 1e9;
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

    /// The distribution as a profile has it: points `[quantile, ms]`, as many as it takes to tell it. Few quantiles that are always the
    /// same would not: where it rises steeply between two of them, as above the answers from a cache, most durations between them would
    /// be far from the line.
    pub fn quantiles_ms(&self) -> Vec<[f64; 2]> {
        let all = self.points();
        let mut tolerance = TOLERANCE;
        let mut kept = straightened(&all, tolerance);
        while kept.len() > MOST_POINTS {
            tolerance *= 1.5;
            kept = straightened(&all, tolerance);
        }
        let last_ns = kept.last().map_or(0.0, |last| last[1]);
        let mut told: Vec<[f64; 2]> = Vec::new();
        let ms = |ns: f64| super::counts::rounded(ns / NS_A_MS);
        for [quantile, ns] in kept {
            let quantile = (quantile * QUANTILE_DIGITS).round() / QUANTILE_DIGITS;
            let is_after = told.last().is_none_or(|[before, _]| quantile > *before);
            if is_after && quantile < 1.0 {
                told.push([quantile, ms(ns)]);
            }
        }
        told.push([1.0, ms(last_ns)]);
        told
    }

    /// Points `[quantile, ns]` of the distribution: where the durations of each bucket begin and end.
    fn points(&self) -> Vec<[f64; 2]> {
        let mut points = Vec::new();
        let whole = (self.total.max(2) - 1) as f64;
        let mut before = 0;
        for (place, &count) in (0..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let [least, most] = edges(place);
            let quantile = |number: u64| number as f64 / whole;
            if count == 1 {
                points.push([quantile(before), f64::midpoint(least, most)]);
            } else {
                points.push([quantile(before), least]);
                points.push([quantile(before + count - 1), most]);
            }
            before += count;
        }
        // Of one duration, the distribution is that alone.
        let first = points.first().map_or(0.0, |first| first[1]);
        if points.len() < 2 {
            points = vec![[0.0, first], [1.0, first]];
        }
        points
    }
}

/// The points of `all` between which straight lines differ from the others by at most `tolerance`, as [`TOLERANCE`] has it: the one that
/// differs most is kept, then those before and after it are looked at (Ramer 1972, Douglas and Peucker 1973).
fn straightened(all: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    let mut is_kept = vec![false; all.len()];
    let last = all.len().saturating_sub(1);
    for end in [0, last] {
        is_kept[end] = true;
    }
    let mut open = vec![(0, last)];
    while let Some((first, last)) = open.pop() {
        let [[from, low], [to, high]] = [all[first], all[last]];
        let difference = |place: &usize| {
            let [quantile, ns] = all[*place];
            let line = low + (high - low) * (quantile - from) / (to - from);
            (line.max(SHORT_NS) / ns.max(SHORT_NS)).ln().abs()
        };
        let farthest = (first + 1..last).max_by(|a, b| difference(a).total_cmp(&difference(b)));
        if let Some(place) = farthest.filter(|place| difference(place) > tolerance) {
            is_kept[place] = true;
            open.extend([(first, place), (place, last)]);
        }
    }
    let kept = all.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|(point, _)| *point).collect()
}

/// The least duration of the bucket at `place`, and that of the next one; the same of a bucket for one duration alone.
fn edges(place: u64) -> [f64; 2] {
    if place < STEPS {
        return [place as f64; 2];
    }
    let shift = place / STEPS - 1;
    let least = ((place % STEPS + STEPS) << shift) as f64;
    [least, least + (1_u64 << shift) as f64]
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::profile::Quantiles;

    fn told(durations_ns: impl IntoIterator<Item = u64>) -> (Quantiles, usize) {
        let mut histogram = Histogram::default();
        durations_ns.into_iter().for_each(|ns| histogram.add(ns));
        let points = histogram.quantiles_ms();
        (Quantiles::new(&points).unwrap(), points.len())
    }

    #[test]
    fn every_duration_is_in_its_bucket() {
        for ns in (0..2000).chain([1 << 40, u64::MAX - 1, u64::MAX]) {
            let mut histogram = Histogram::default();
            histogram.add(ns);
            let place = histogram.counts.iter().position(|count| *count > 0);
            let [least, most] = edges(place.unwrap() as u64);
            let ns = ns as f64;
            assert!(least <= ns && ns <= most, "{ns}: {least} to {most}");
            assert!(most - least <= ns / 16.0, "{ns}: {least} to {most}");
        }
    }

    #[test]
    fn few_durations_are_told_as_they_are() {
        assert_eq!(
            Histogram::default().quantiles_ms(),
            [[0.0, 0.0], [1.0, 0.0]]
        );
        for count in [1, 2, 3] {
            let (quantiles, _) = told(vec![5_000_000; count]);
            for quantile in [0.0, 0.5, 1.0] {
                let found = quantiles.at(quantile);
                assert!((found / 5.0 - 1.0).abs() < 0.07, "{count}: {found}");
            }
        }
        let (quantiles, _) = told([1_000_000, 900_000_000]);
        assert!(quantiles.at(0.0) < 1.1 && quantiles.at(1.0) > 850.0);
    }

    #[test]
    fn steep_distributions_are_told_between_their_quantiles_too() {
        // Four of five from a cache; above them, from 15 ms at 90 % to 2 s.
        let steep = [
            [0.0, 0.03],
            [0.8, 0.2],
            [0.9, 15.0],
            [0.97, 60.0],
            [0.995, 400.0],
            [1.0, 2000.0],
        ];
        let smooth = [[0.0, 10.0], [1.0, 12.0]];
        let two = [[0.0, 0.1], [0.899, 0.1], [0.9001, 50.0], [1.0, 50.0]];
        for points in [&steep[..], &smooth, &two] {
            let truth = Quantiles::new(points).unwrap();
            for count in [8000, 1_000_000_u32] {
                let part = |number: u32| (f64::from(number) + 0.5) / f64::from(count);
                let (found, len) =
                    told((0..count).map(|number| (truth.at(part(number)) * 1e6) as u64));
                assert!(len <= MOST_POINTS, "{len}");
                // A histogram's bucket may be a sixteenth away, and a line as much.
                for permille in (5..=995).filter(|permille| !(899..=900).contains(permille)) {
                    let quantile = f64::from(permille) / 1000.0;
                    let (found, truth) = (found.at(quantile), truth.at(quantile));
                    assert!(
                        (found / truth - 1.0).abs() < 0.13,
                        "{points:?} {count} {quantile}: {found}, not {truth}"
                    );
                }
            }
        }
    }

    #[test]
    fn points_are_few_and_rise_whatever_the_durations() {
        // Nearly all the same, and a few of any length: quantiles so near one another that they have the same digits.
        let same = std::iter::repeat_n(1_000_000, 3_000_000);
        let (quantiles, len) = told(same.chain((0..60).map(|power| 1_u64 << power)));
        assert!(len <= MOST_POINTS, "{len}");
        assert!((quantiles.at(0.5) - 1.0).abs() < 0.07);
        let (_, len) = told((0..1000_u64).map(|number| {
            number
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(number as u32)
                >> (number % 40)
        }));
        assert!(len <= MOST_POINTS, "{len}");
    }
}

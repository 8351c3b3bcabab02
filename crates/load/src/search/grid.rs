//! The rates that a search may try.

use super::Limits;

/// Evenly spaced rates on a logarithmic scale, neighbours at most the goal's width apart.
///
/// Searches with the same settings try the same rates, and two rates are equal or clearly different.
#[derive(Clone, Debug)]
pub struct Grid {
    limits: Limits,
    /// Number of the highest rate.
    top: u32,
}

impl Grid {
    /// The rates from one limit to the other whose neighbours differ by at most `width`, relative to the higher one.
    pub fn new(limits: Limits, width: f64) -> Self {
        let range = (limits.max_qps / limits.min_qps).ln();
        // Rounding must not cost a rate where the range is a whole number of widths.
        let top = (range / -(-width).ln_1p() - 1e-9).ceil().max(0.0) as u32;
        Self { limits, top }
    }

    /// The number of the highest rate; that of the lowest is 0.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// The rate with this number.
    pub fn rate_qps(&self, number: u32) -> f64 {
        let Limits { min_qps, max_qps } = self.limits;
        match number {
            0 => min_qps,
            number if number >= self.top => max_qps,
            number => min_qps * (max_qps / min_qps).powf(f64::from(number) / f64::from(self.top)),
        }
    }

    /// How many neighbours a change of the rate by `factor` is, as a power of two so that it can be halved to 1.
    pub fn steps(&self, factor: f64) -> u32 {
        let range = (self.limits.max_qps / self.limits.min_qps).ln();
        let steps = f64::from(self.top) * factor.ln() / range.max(f64::MIN_POSITIVE);
        1 << steps.log2().round().clamp(0.0, 30.0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_rate_only() {
        let limits = Limits {
            min_qps: 50.0,
            max_qps: 50.0,
        };
        let grid = Grid::new(limits, 0.02);
        assert_eq!((grid.top(), grid.rate_qps(0)), (0, 50.0));
        assert!(grid.steps(4.0) >= 1);
    }

    #[test]
    fn limits_that_are_whole_widths_apart_need_no_more_rates() {
        let limits = Limits {
            min_qps: 100.0,
            max_qps: 1_600.0,
        };
        assert_eq!(Grid::new(limits, 0.5).top(), 4);
    }

    proptest! {
        #[test]
        fn neighbours_are_within_the_width(min in 1.0f64..1e6, factor in 1.0f64..1e6, width in 0.001f64..=0.5) {
            let limits = Limits { min_qps: min, max_qps: min * factor };
            let grid = Grid::new(limits, width);
            prop_assert_eq!(grid.rate_qps(grid.top()), if grid.top() == 0 { min } else { limits.max_qps });
            for number in 0..grid.top().min(100) {
                let (low, high) = (grid.rate_qps(number), grid.rate_qps(number + 1));
                prop_assert!(low < high && (high - low) / high <= width * (1.0 + 1e-6));
            }
        }
    }
}

//! Distributions by some of their quantiles.

/// A distribution by points `[quantile, value]`, with straight lines between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles(Vec<[f64; 2]>);

impl Quantiles {
    /// The distribution of `points`, whose quantiles go from 0 to 1 and whose values do not fall.
    ///
    /// # Errors
    /// What is wrong with the points.
    pub fn new(points: &[[f64; 2]]) -> Result<Self, String> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err("has no points".to_owned());
        };
        if first[0] != 0.0 || last[0] != 1.0 {
            return Err("does not go from quantile 0 to quantile 1".to_owned());
        }
        if points
            .iter()
            .flatten()
            .any(|value| !value.is_finite() || *value < 0.0)
        {
            return Err("has a value that is no number from 0 up".to_owned());
        }
        let is_rising = |pair: &[[f64; 2]]| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1];
        match points.windows(2).all(is_rising) {
            true => Ok(Self(points.to_vec())),
            false => Err("falls somewhere".to_owned()),
        }
    }

    /// The value at `quantile`, from 0 to 1.
    pub fn at(&self, quantile: f64) -> f64 {
        let place = self.0.partition_point(|point| point[0] < quantile);
        let [high, low] =
            [place, place.saturating_sub(1)].map(|place| self.0[place.min(self.0.len() - 1)]);
        let width = high[0] - low[0];
        if width <= 0.0 {
            return high[1];
        }
        low[1] + (high[1] - low[1]) * (quantile - low[0]) / width
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        let areas = self
            .0
            .windows(2)
            .map(|pair| (pair[1][0] - pair[0][0]) * (pair[0][1] + pair[1][1]) / 2.0);
        areas.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Quantiles;

    #[test]
    fn values_lie_on_lines_between_points() {
        let quantiles = Quantiles::new(&[[0.0, 1.0], [0.5, 2.0], [1.0, 6.0]]).unwrap();
        for (quantile, value) in [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (0.75, 4.0), (1.0, 6.0)] {
            assert_eq!(quantiles.at(quantile), value);
        }
        assert_eq!(quantiles.mean(), 2.75);
    }

    #[test]
    fn points_that_are_no_distribution_are_refused() {
        for points in [
            &[][..],
            &[[0.0, 1.0]],
            &[[0.1, 1.0], [1.0, 2.0]],
            &[[0.0, 1.0], [0.9, 2.0]],
            &[[0.0, 2.0], [1.0, 1.0]],
            &[[0.0, 2.0], [0.0, 3.0], [1.0, 4.0]],
            &[[0.0, -2.0], [1.0, 1.0]],
            &[[0.0, f64::NAN], [1.0, 1.0]],
        ] {
            assert!(Quantiles::new(points).is_err(), "{points:?}");
        }
    }
}

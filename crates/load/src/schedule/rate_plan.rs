//! How the asked rate goes over time, and when its k-th query is due.

use serde::{Deserialize, Serialize};

/// A rate that is kept for some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Queries per second; 0 is a pause.
    pub rate_qps: f64,
    /// How long, in seconds. The last step of a plan goes on.
    pub span_s: f64,
}

/// A rate that is constant or changes linearly, piece by piece. The last piece has no end.
///
/// Query k, counted from 0, is due when the integral of the rate since the start reaches k. That integral is at most
/// quadratic in time and is inverted in closed form from the start of the piece, so a time is right to the nanosecond
/// for as long as 2^53 ns (104 days), whatever came before.
#[derive(Clone, Debug, PartialEq)]
pub struct RatePlan {
    pieces: Vec<Piece>,
}

/// A stretch of time in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// When it begins.
    start_s: f64,
    /// Integral of the rate before it.
    before: f64,
    /// Rate at its start.
    rate_qps: f64,
    /// Growth of the rate in queries per second, per second.
    slope: f64,
}

impl RatePlan {
    /// `rate_qps` queries per second.
    pub fn constant(rate_qps: f64) -> Self {
        Self::steps(&[Step {
            rate_qps,
            span_s: 0.0,
        }])
    }

    /// From `from_qps` to `to_qps` queries per second linearly over `span_s` seconds, then `to_qps`.
    pub fn ramp(from_qps: f64, to_qps: f64, span_s: f64) -> Self {
        let change = Piece {
            start_s: 0.0,
            before: 0.0,
            rate_qps: from_qps,
            slope: (to_qps - from_qps) / span_s,
        };
        let rest = Piece {
            start_s: span_s,
            before: whole_if_near((from_qps + to_qps) / 2.0 * span_s),
            rate_qps: to_qps,
            slope: 0.0,
        };
        let pieces = if span_s > 0.0 {
            vec![change, rest]
        } else {
            vec![rest]
        };
        Self { pieces }
    }

    /// One step after the other; the last goes on.
    ///
    /// # Panics
    /// If there is no step.
    pub fn steps(steps: &[Step]) -> Self {
        assert!(!steps.is_empty(), "a plan has at least one step");
        let mut pieces = Vec::with_capacity(steps.len());
        let (mut start_s, mut before) = (0.0, 0.0);
        for step in steps {
            pieces.push(Piece {
                start_s,
                before,
                rate_qps: step.rate_qps,
                slope: 0.0,
            });
            start_s += step.span_s;
            before = whole_if_near(before + step.rate_qps * step.span_s);
        }
        Self { pieces }
    }

    /// The number of queries asked for in the first `time_s` seconds, as the integral of the rate.
    ///
    /// The queries due before that time are as many, rounded up.
    pub fn queries_before(&self, time_s: f64) -> f64 {
        let piece = self.piece_at(time_s);
        let since_s = time_s - piece.start_s;
        piece.before + since_s * (piece.rate_qps + piece.slope * since_s / 2.0)
    }

    /// The rate asked for at `time_s`, in queries per second.
    pub fn rate_qps(&self, time_s: f64) -> f64 {
        let piece = self.piece_at(time_s);
        piece.rate_qps + piece.slope * (time_s - piece.start_s)
    }

    /// When query `number`, counted from 0, is due, in nanoseconds since the start. `None` if the plan ends before it,
    /// with a rate of zero.
    pub fn due_ns(&self, number: u64) -> Option<u64> {
        let number = number as f64;
        // Of the pieces that begin with this query, all but the last are pauses.
        let later = self.pieces.partition_point(|piece| piece.before <= number);
        let piece = &self.pieces[later - 1];
        let missing = number - piece.before;
        let since_s = if piece.slope == 0.0 {
            (piece.rate_qps > 0.0).then(|| missing / piece.rate_qps)?
        } else if missing == 0.0 {
            0.0
        } else {
            // The root of slope/2 t^2 + rate t = missing in the form that neither cancels for a small slope nor
            // divides by a rate of zero at the start.
            let square = piece.rate_qps * piece.rate_qps + 2.0 * piece.slope * missing;
            2.0 * missing / (piece.rate_qps + square.max(0.0).sqrt())
        };
        Some(((piece.start_s + since_s) * 1e9).round() as u64)
    }

    fn piece_at(&self, time_s: f64) -> &Piece {
        let later = self.pieces.partition_point(|piece| piece.start_s <= time_s);
        &self.pieces[later.saturating_sub(1)]
    }
}

/// `count`, or the whole number that it misses by rounding only, so that a piece begins with the query it should.
fn whole_if_near(count: f64) -> f64 {
    let whole = count.round();
    if (count - whole).abs() <= 1e-9 * whole.max(1.0) {
        whole
    } else {
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(rate_qps: f64, span_s: f64) -> Step {
        Step { rate_qps, span_s }
    }

    #[test]
    fn a_ramp_from_zero_is_the_square_root() {
        let plan = RatePlan::ramp(0.0, 1_000.0, 10.0);
        assert_eq!(plan.due_ns(0), Some(0));
        assert_eq!(
            plan.due_ns(50),
            Some(1_000_000_000),
            "50 t^2 queries in t seconds"
        );
        assert_eq!(plan.due_ns(5_000), Some(10_000_000_000));
        assert_eq!(
            plan.due_ns(6_000),
            Some(11_000_000_000),
            "then the final rate"
        );
        assert_eq!(plan.queries_before(5.0), 1_250.0);
        assert_eq!(plan.queries_before(12.0), 7_000.0);
        assert_eq!(plan.rate_qps(5.0), 500.0);
        assert_eq!(plan.rate_qps(50.0), 1_000.0);
    }

    #[test]
    fn a_ramp_to_zero_ends() {
        let plan = RatePlan::ramp(1_000.0, 0.0, 10.0);
        assert_eq!(plan.due_ns(3_750), Some(5_000_000_000));
        assert_eq!(
            plan.due_ns(4_950),
            Some(9_000_000_000),
            "50 (10 - t)^2 are left"
        );
        assert_eq!(plan.due_ns(5_000), None);
        assert_eq!(plan.queries_before(1e6), 5_000.0);
    }

    #[test]
    fn a_ramp_of_no_length_is_its_final_rate() {
        let plan = RatePlan::ramp(5.0, 100.0, 0.0);
        assert_eq!(plan.due_ns(100), Some(1_000_000_000));
    }

    #[test]
    fn a_level_ramp_is_a_constant_rate() {
        let plan = RatePlan::ramp(250.0, 250.0, 3.0);
        assert_eq!(plan.due_ns(250), Some(1_000_000_000));
        assert_eq!(plan.due_ns(1_000), Some(4_000_000_000));
    }

    #[test]
    fn steps_follow_each_other_and_the_last_goes_on() {
        let plan = RatePlan::steps(&[step(100.0, 2.0), step(0.0, 1.0), step(1_000.0, 1.0)]);
        assert_eq!(plan.due_ns(199), Some(1_990_000_000));
        assert_eq!(plan.due_ns(200), Some(3_000_000_000), "after the pause");
        assert_eq!(plan.due_ns(5_200), Some(8_000_000_000));
        assert_eq!(plan.queries_before(2.5), 200.0);
        assert_eq!(plan.rate_qps(2.5), 0.0);
    }

    #[test]
    fn the_rest_of_a_query_is_carried_into_the_next_step() {
        // 0.3 queries in the first second, so query 1 is due when 0.7 more are.
        let plan = RatePlan::steps(&[step(0.3, 1.0), step(7.0, 1.0)]);
        assert_eq!(plan.due_ns(1), Some(1_100_000_000));
    }

    #[test]
    fn rounded_counts_do_not_pull_a_query_before_a_pause() {
        let plan = RatePlan::steps(&[
            step(0.1, 1.0),
            step(0.2, 1.0),
            step(0.7, 1.0),
            step(0.0, 1.0),
            step(1.0, 1.0),
        ]);
        assert_eq!(plan.due_ns(1), Some(4_000_000_000));
    }

    fn any_plan() -> impl Strategy<Value = RatePlan> {
        let rate = prop_oneof![Just(0.0), 0.01..1e6f64];
        let steps = prop::collection::vec((rate.clone(), 0.0..100.0f64), 1..6);
        prop_oneof![
            (rate.clone(), rate, 0.0..10_000.0f64)
                .prop_map(|(from, to, span)| RatePlan::ramp(from, to, span)),
            steps.prop_map(|steps| RatePlan::steps(
                &steps
                    .into_iter()
                    .map(|(rate, span)| step(rate, span))
                    .collect::<Vec<_>>()
            )),
        ]
    }

    proptest! {
        #[test]
        fn constant_rates_do_not_drift_in_hours(rate_millionths in 1_000u64..=1_000_000_000_000, second in 0u64..=36_000) {
            let number = rate_millionths * second / 1_000_000;
            let exact = u128::from(number) * 1_000_000_000_000_000 / u128::from(rate_millionths);
            let due_ns = RatePlan::constant(rate_millionths as f64 / 1e6).due_ns(number).unwrap();
            prop_assert!(due_ns.abs_diff(exact as u64) <= 1, "{} for {}", due_ns, exact);
        }

        #[test]
        fn queries_are_due_when_the_integral_of_the_rate_says_so(plan in any_plan(), number in 0u64..1_000_000_000) {
            if let Some(due_ns) = plan.due_ns(number) {
                // The integral grows by the rate times a nanosecond over the rounding of the time.
                let due_s = due_ns as f64 / 1e9;
                let tolerance = 1e-8 * (number as f64).max(1.0) + 1e-9 * plan.rate_qps(due_s);
                let count = plan.queries_before(due_s);
                prop_assert!((count - number as f64).abs() <= tolerance, "{} at {} s", count, due_s);
            } else {
                prop_assert!(plan.queries_before(1e12) <= number as f64);
            }
        }

        #[test]
        fn no_query_is_due_before_an_earlier_one(plan in any_plan(), number in 0u64..1_000_000_000) {
            let due = |number| plan.due_ns(number).unwrap_or(u64::MAX);
            prop_assert!(due(number) <= due(number + 1));
        }
    }
}

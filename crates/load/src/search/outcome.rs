//! What a search found.

use super::TrialRecord;
use super::classify::{Cause, Class, Criterion};
use serde::{Deserialize, Serialize};

/// What kept a search from a higher rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// The server: the rate is its breaking point.
    Server,
    /// The generator did not keep any higher rate: the server may carry more.
    Generator,
    /// The server carried the highest rate that was to be tried: it may carry more.
    MaxRate,
    /// The server failed at the lowest rate that was to be tried: it may carry less than that, or nothing.
    MinRate,
}

/// The highest rate found that a server carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakingPoint {
    /// That rate in queries per second (Relevant Lower Bound); 0 if the lowest rate was too much.
    pub qps: f64,
    /// Answers per second at that rate (Conditional Throughput): the rate less the loss.
    pub answered_qps: f64,
    /// Between which rates the breaking point lies by all final trials: from the highest rate carried without a trial
    /// that failed at or below it, to the lowest not carried without a trial that passed at or above it.
    pub interval: [f64; 2],
    /// Loss ratio at that rate: of its final trials, in the order of their loss, the one that the exceed ratio points
    /// to (the median for 0.5). `None` if the lowest rate was too much.
    pub loss_ratio: Option<f64>,
    /// Highest 99th percentile of latency of the final trials at that rate that passed.
    pub p99_ns: Option<u64>,
    /// Why it is not more.
    pub limited_by: LimitedBy,
    /// All trials, in the order in which they were made.
    pub trials: Vec<TrialRecord>,
}

/// The bounds that a search ended with, each as a number of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The highest rate below the upper bound that is carried (Relevant Lower Bound).
    pub lower: Option<u32>,
    /// The lowest rate that is not (Relevant Upper Bound), and why.
    pub upper: Option<(u32, Cause)>,
}

impl Bounds {
    /// What kept the search from a higher lower bound.
    pub fn limited_by(&self) -> LimitedBy {
        match (self.lower, self.upper) {
            (_, None) => LimitedBy::MaxRate,
            (_, Some((_, Cause::Generator))) => LimitedBy::Generator,
            (None, Some((_, Cause::Server))) => LimitedBy::MinRate,
            (Some(_), Some((_, Cause::Server))) => LimitedBy::Server,
        }
    }
}

/// Between which loads the breaking point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// `None` is below the lowest one.
    pub from: Option<u32>,
    /// If nothing limits the search from above, the highest one.
    pub to: u32,
}

/// What the trials of full length say of single loads.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The lowest load with a trial that failed.
    pub lowest_failed: Option<u32>,
    /// The highest load with a trial that passed.
    pub highest_passed: Option<u32>,
    /// What each load is, in ascending order.
    pub classes: Vec<(u32, Class)>,
}

impl Evidence {
    /// The interval of which no trial speaks outside: from the highest load that is carried and has no trial that failed
    /// at or below it, to the lowest that is not carried and has no trial that passed at or above it.
    ///
    /// These are the bounds, unless trials contradict each other.
    ///
    /// # Errors
    /// A load whose class has to be known first: next to those that contradict, and the further the more of them do.
    pub fn interval(&self, bounds: &Bounds, top: u32) -> Result<Interval, u32> {
        Ok(Interval {
            from: self.from(bounds)?,
            to: self.to(bounds, top)?,
        })
    }

    fn from(&self, bounds: &Bounds) -> Result<Option<u32>, u32> {
        let (Some(lower), Some(failed)) = (bounds.lower, self.lowest_failed) else {
            return Ok(bounds.lower);
        };
        let carried = self
            .classes
            .iter()
            .rfind(|(load, class)| *class == Class::Lower && *load < failed);
        match carried {
            _ if failed > lower => Ok(Some(lower)),
            Some((load, _)) => Ok(Some(*load)),
            None if failed == 0 => Ok(None),
            None => Err(failed.saturating_sub(lower - failed + 1)),
        }
    }

    fn to(&self, bounds: &Bounds, top: u32) -> Result<u32, u32> {
        let upper = bounds.upper.map_or(top, |(upper, _)| upper);
        let Some(passed) = self.highest_passed else {
            return Ok(upper);
        };
        let not_carried = self
            .classes
            .iter()
            .find(|(load, class)| matches!(class, Class::Upper(_)) && *load > passed);
        match not_carried {
            _ if passed < upper => Ok(upper),
            Some((load, _)) => Ok(*load),
            None if passed == top => Ok(top),
            None => Err((passed + (passed - upper + 1)).min(top)),
        }
    }
}

/// The loss ratio that a rate is known to have: the draft's Appendix B, without the multiplication by the rate.
///
/// `trials` are the final ones at that rate, which is a lower bound.
pub fn loss_ratio(trials: &[&TrialRecord], criterion: &Criterion) -> f64 {
    let mut trials = trials.to_vec();
    trials.sort_by(|one, other| one.loss_ratio().total_cmp(&other.loss_ratio()));
    let measured_s: f64 = trials.iter().map(|trial| trial.duration_s).sum();
    let whole_s = measured_s.max(criterion.duration_sum_s);
    let mut remaining_s = whole_s * (1.0 - criterion.exceed_ratio);
    let mut loss_ratio = 1.0;
    for trial in trials {
        if remaining_s <= 0.0 {
            break;
        }
        loss_ratio = trial.loss_ratio();
        remaining_s -= trial.duration_s;
    }
    loss_ratio
}

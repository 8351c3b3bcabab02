//! What is searched for, and between which rates.

use crate::LoadError;
use serde::{Deserialize, Serialize};

/// When a rate counts as carried, and how surely and finely that is to be known.
///
/// The terms are those of draft-ietf-bmwg-mlrsearch-15, section "Goal Terms".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Goal {
    /// Goal Loss Ratio: a trial in which more of the queries are lost has failed.
    pub loss_ratio: f64,
    /// A trial with a higher 99th percentile of latency has failed, too.
    pub p99_ns: Option<u64>,
    /// Goal Width: the bounds at the end are at most this part of the upper one apart.
    pub width: f64,
    /// Goal Initial Trial Duration: length of the first trials.
    pub first_trial_s: f64,
    /// Goal Final Trial Duration: length of the trials that decide.
    pub final_trial_s: f64,
    /// Goal Duration Sum: so much of final trials decides about a rate at the latest.
    pub duration_sum_s: f64,
    /// Goal Exceed Ratio: a rate is carried if at most this part of its trials, by time, has failed.
    pub exceed_ratio: f64,
}

impl Default for Goal {
    /// A loss of 0.1 %, known to 2 %, by two of three trials of 5 s.
    fn default() -> Self {
        Self {
            loss_ratio: 0.001,
            p99_ns: None,
            width: 0.02,
            first_trial_s: 1.0,
            final_trial_s: 5.0,
            duration_sum_s: 15.0,
            exceed_ratio: 0.5,
        }
    }
}

/// The rates between which is searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Lowest rate tried, in queries per second.
    pub min_qps: f64,
    /// Highest rate tried, in queries per second.
    pub max_qps: f64,
}

/// Fewest queries of a trial: with fewer, the loss ratio means nothing.
const MIN_QUERIES: f64 = 10.0;

impl Goal {
    /// Checks that a search for this goal between `limits` makes sense and ends.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for the first setting that does not.
    pub fn check(&self, limits: &Limits) -> Result<(), LoadError> {
        let ratio = 0.0..1.0;
        require("loss_ratio", ratio.contains(&self.loss_ratio), || {
            format!("a loss ratio of {}; give 0 to less than 1", self.loss_ratio)
        })?;
        require("exceed_ratio", ratio.contains(&self.exceed_ratio), || {
            format!("{} of the trials; give 0 to less than 1", self.exceed_ratio)
        })?;
        require("p99_ns", self.p99_ns != Some(0), || {
            "no latency is 0 ns or less; give more".to_owned()
        })?;
        require("width", (0.001..=0.5).contains(&self.width), || {
            format!("a relative width of {}; give 0.001 to 0.5", self.width)
        })?;
        require(
            "first_trial_s",
            (0.1..=3_600.0).contains(&self.first_trial_s),
            || format!("{} s; give 0.1 to 3600 s", self.first_trial_s),
        )?;
        require(
            "final_trial_s",
            (self.first_trial_s..=3_600.0).contains(&self.final_trial_s),
            || {
                let Self {
                    first_trial_s,
                    final_trial_s,
                    ..
                } = self;
                format!(
                    "{final_trial_s} s; give at least the {first_trial_s} s of the first trials, and at most 3600 s"
                )
            },
        )?;
        require(
            "duration_sum_s",
            (self.final_trial_s..=100.0 * self.final_trial_s).contains(&self.duration_sum_s),
            || {
                let Self {
                    duration_sum_s,
                    final_trial_s,
                    ..
                } = self;
                format!(
                    "{duration_sum_s} s; give 1 to 100 times the {final_trial_s} s of a final trial"
                )
            },
        )?;
        let least_qps = MIN_QUERIES / self.first_trial_s;
        require(
            "min_qps",
            (least_qps..=1e9).contains(&limits.min_qps),
            || {
                format!(
                    "{} queries per second; give {least_qps} ({MIN_QUERIES} queries in the first trials) to 1000000000",
                    limits.min_qps
                )
            },
        )?;
        require(
            "max_qps",
            (limits.min_qps..=1e9).contains(&limits.max_qps),
            || {
                let Limits { min_qps, max_qps } = limits;
                format!(
                    "{max_qps} queries per second; give at least the {min_qps} of the lowest rate, and at most 1000000000"
                )
            },
        )
    }
}

fn require(
    option: &'static str,
    holds: bool,
    reason: impl FnOnce() -> String,
) -> Result<(), LoadError> {
    if holds {
        Ok(())
    } else {
        Err(LoadError::Setting {
            option,
            reason: reason(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        min_qps: 100.0,
        max_qps: 1e6,
    };

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let goal = Goal::default();
        for (goal, limits, option) in [
            (
                Goal {
                    loss_ratio: 1.0,
                    ..goal
                },
                LIMITS,
                "loss_ratio",
            ),
            (
                Goal {
                    loss_ratio: f64::NAN,
                    ..goal
                },
                LIMITS,
                "loss_ratio",
            ),
            (
                Goal {
                    exceed_ratio: -0.1,
                    ..goal
                },
                LIMITS,
                "exceed_ratio",
            ),
            (
                Goal {
                    p99_ns: Some(0),
                    ..goal
                },
                LIMITS,
                "p99_ns",
            ),
            (Goal { width: 0.0, ..goal }, LIMITS, "width"),
            (
                Goal {
                    first_trial_s: 0.0,
                    ..goal
                },
                LIMITS,
                "first_trial_s",
            ),
            (
                Goal {
                    final_trial_s: 0.5,
                    ..goal
                },
                LIMITS,
                "final_trial_s",
            ),
            (
                Goal {
                    duration_sum_s: 4.0,
                    ..goal
                },
                LIMITS,
                "duration_sum_s",
            ),
            (
                goal,
                Limits {
                    min_qps: 5.0,
                    ..LIMITS
                },
                "min_qps",
            ),
            (
                goal,
                Limits {
                    max_qps: 99.0,
                    ..LIMITS
                },
                "max_qps",
            ),
        ] {
            let error = goal.check(&limits).unwrap_err();
            assert!(
                matches!(error, LoadError::Setting { option: named, .. } if named == option),
                "{error}"
            );
        }
    }
}

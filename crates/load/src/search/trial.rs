//! Trials: what is asked, what was measured, and how that compares with the goal.

use super::Goal;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A generator that sends less than the asked rate by more than this part has not kept it.
const RATE_TOLERATED: f64 = 0.001;

/// A load at an even rate that is to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Queries per second.
    pub rate_qps: f64,
    /// How long they are sent, in whole milliseconds.
    pub duration: Duration,
    /// The rate's number in the grid.
    pub(super) load: u32,
}

/// What a trial measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialResult {
    /// Queries that counted. Where the server kept the generator from sending, as over a connection that it does not
    /// read, that includes the queries that were due and could not be sent.
    pub sent: u64,
    /// Queries of these without an answer, whatever the reason.
    pub lost: u64,
    /// 99th percentile of latency, counted from the scheduled time; `None` without any answer.
    pub p99_ns: Option<u64>,
    /// Queries of `sent` per second of the trial.
    pub achieved_qps: f64,
    /// The generator has been found to be the bottleneck.
    pub generator_limited: bool,
}

/// How a trial compares with the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// The server carried the rate ("low-loss" in the draft).
    Passed,
    /// More was lost, or latency was higher, than the goal permits ("high-loss" in the draft).
    Failed,
    /// The generator did not keep the rate, so nothing is known about the server.
    GeneratorLimited,
}

/// A trial that has been made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Queries per second asked for.
    pub rate_qps: f64,
    /// How long they were sent.
    pub duration_s: f64,
    /// Queries sent, or due and kept by the server from being sent.
    pub sent: u64,
    /// Queries of these without an answer.
    pub lost: u64,
    /// 99th percentile of latency; `None` without any answer.
    pub p99_ns: Option<u64>,
    /// Queries of `sent` per second.
    pub achieved_qps: f64,
    /// How that compares with the goal.
    pub outcome: TrialOutcome,
}

impl TrialRecord {
    pub(super) fn new(trial: &Trial, result: &TrialResult, goal: &Goal) -> Self {
        Self {
            rate_qps: trial.rate_qps,
            duration_s: seconds(trial.duration),
            sent: result.sent,
            lost: result.lost,
            p99_ns: result.p99_ns,
            achieved_qps: result.achieved_qps,
            outcome: outcome(trial, result, goal),
        }
    }

    /// The part of the queries sent that was lost.
    pub fn loss_ratio(&self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }
}

/// A trial's length, which is in whole milliseconds, as the number that reads so.
pub(super) fn seconds(duration: Duration) -> f64 {
    duration.as_millis() as f64 / 1e3
}

fn outcome(trial: &Trial, result: &TrialResult, goal: &Goal) -> TrialOutcome {
    // A trial has a whole number of queries, so one may be missing.
    let least_qps = trial.rate_qps * (1.0 - RATE_TOLERATED) - 1.0 / trial.duration.as_secs_f64();
    if result.generator_limited || result.sent == 0 || result.achieved_qps < least_qps {
        return TrialOutcome::GeneratorLimited;
    }
    let is_lossy = result.lost as f64 > goal.loss_ratio * result.sent as f64;
    let is_slow = goal
        .p99_ns
        .is_some_and(|limit_ns| result.p99_ns.is_none_or(|p99_ns| p99_ns > limit_ns));
    if is_lossy || is_slow {
        TrialOutcome::Failed
    } else {
        TrialOutcome::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: TrialResult = TrialResult {
        sent: 10_000,
        lost: 10,
        p99_ns: Some(1_000_000),
        achieved_qps: 1_000.0,
        generator_limited: false,
    };

    fn judged(result: TrialResult, p99_ns: Option<u64>) -> TrialOutcome {
        let trial = Trial {
            rate_qps: 1_000.0,
            duration: Duration::from_secs(10),
            load: 0,
        };
        let goal = Goal {
            p99_ns,
            ..Goal::default()
        };
        TrialRecord::new(&trial, &result, &goal).outcome
    }

    #[test]
    fn loss_up_to_the_goal_is_tolerated() {
        assert_eq!(judged(GOOD, None), TrialOutcome::Passed);
        assert_eq!(
            judged(TrialResult { lost: 11, ..GOOD }, None),
            TrialOutcome::Failed
        );
    }

    #[test]
    fn latency_counts_if_the_goal_says_so() {
        assert_eq!(judged(GOOD, Some(1_000_000)), TrialOutcome::Passed);
        assert_eq!(judged(GOOD, Some(999_999)), TrialOutcome::Failed);
        let silent = TrialResult {
            p99_ns: None,
            ..GOOD
        };
        assert_eq!(judged(silent, None), TrialOutcome::Passed);
        assert_eq!(judged(silent, Some(999_999)), TrialOutcome::Failed);
    }

    #[test]
    fn a_generator_that_does_not_keep_the_rate_says_nothing_of_the_server() {
        let limited = TrialOutcome::GeneratorLimited;
        for (result, expected) in [
            (
                TrialResult {
                    generator_limited: true,
                    ..GOOD
                },
                limited,
            ),
            (
                TrialResult {
                    achieved_qps: 998.8,
                    lost: 9_000,
                    ..GOOD
                },
                limited,
            ),
            (
                TrialResult {
                    achieved_qps: 998.95,
                    ..GOOD
                },
                TrialOutcome::Passed,
            ),
            (
                TrialResult {
                    sent: 0,
                    lost: 0,
                    ..GOOD
                },
                limited,
            ),
        ] {
            assert_eq!(judged(result, None), expected, "{result:?}");
        }
    }
}

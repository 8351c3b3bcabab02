//! When queries are sent.

use crate::LoadError;
use crate::schedule::{RatePlan, Step, Timeline, Times};
use dnsrig_stream::QueryStream;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Rates that can be asked for, in queries per second.
const RATES: RangeInclusive<f64> = 0.001..=1e9;

/// Spans of a rate, in seconds.
const SPANS: RangeInclusive<f64> = 0.0..=1e9;

/// When queries are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ScheduleKind {
    /// A query is sent when an earlier one has ended.
    ClosedLoop {
        /// Queries in flight over all threads.
        outstanding: usize,
        /// Highest mean rate in queries per second over all threads.
        max_rate_qps: Option<f64>,
    },
    /// Evenly spaced queries, whatever the answers do.
    FixedRate {
        /// Queries per second over all threads.
        rate_qps: f64,
    },
    /// Queries at random, independent of each other and of the answers.
    Poisson {
        /// Queries per second over all threads, on average.
        rate_qps: f64,
    },
    /// A rate that changes linearly and then stays.
    Ramp {
        /// Queries per second at the start.
        from_qps: f64,
        /// Queries per second at the end of the change.
        to_qps: f64,
        /// Seconds that the change takes.
        span_s: f64,
    },
    /// One rate after the other; the last one stays.
    Steps {
        /// The rates, each with its span.
        steps: Vec<Step>,
    },
    /// The times of the stream.
    Replay {
        /// How many times as fast.
        speed: f64,
    },
}

/// The times of a timed stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamTimes<'s>(pub &'s QueryStream);

impl Times for StreamTimes<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn time_ns(&self, index: usize) -> u64 {
        self.0.time_ns(index).unwrap_or(0)
    }
}

impl ScheduleKind {
    /// Checks the settings for a load of `threads` threads.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for the first one that no load can be run with.
    pub(crate) fn check(&self, threads: usize) -> Result<(), LoadError> {
        match self {
            Self::ClosedLoop {
                outstanding,
                max_rate_qps,
            } => {
                if !(threads..=10_000_000).contains(outstanding) {
                    return Err(LoadError::Setting {
                        option: "outstanding",
                        reason: format!(
                            "{outstanding} queries in flight; give {threads} (one a thread) to 10000000"
                        ),
                    });
                }
                max_rate_qps.map_or(Ok(()), |rate| check_rate("max_rate_qps", rate))
            }
            Self::FixedRate { rate_qps } | Self::Poisson { rate_qps } => {
                check_rate("rate_qps", *rate_qps)
            }
            Self::Ramp {
                from_qps,
                to_qps,
                span_s,
            } => {
                // A ramp may begin or end at no query at all.
                check_rate("from_qps", from_qps.max(*to_qps))?;
                check_rate("to_qps", to_qps.max(*from_qps))?;
                check_span(from_qps.min(*to_qps) >= 0.0, *span_s)
            }
            Self::Steps { steps } => {
                let highest = steps.iter().map(|step| step.rate_qps).fold(0.0, f64::max);
                check_rate("steps", highest)?;
                steps.iter().try_for_each(|step| {
                    check_span((0.0..=1e9).contains(&step.rate_qps), step.span_s)
                })
            }
            Self::Replay { speed } if !(0.001..=1_000.0).contains(speed) => {
                Err(LoadError::Setting {
                    option: "speed",
                    reason: format!("{speed} times as fast; give 0.001 to 1000"),
                })
            }
            Self::Replay { .. } => Ok(()),
        }
    }

    /// The rates over time, where the schedule is one of rates.
    pub(crate) fn rate_plan(&self) -> Option<RatePlan> {
        match self {
            Self::FixedRate { rate_qps } | Self::Poisson { rate_qps } => {
                Some(RatePlan::constant(*rate_qps))
            }
            Self::Ramp {
                from_qps,
                to_qps,
                span_s,
            } => Some(RatePlan::ramp(*from_qps, *to_qps, *span_s)),
            Self::Steps { steps } => Some(RatePlan::steps(steps)),
            Self::ClosedLoop { .. } | Self::Replay { .. } => None,
        }
    }

    /// The highest rate that it asks for, in queries per second, as far as it says one itself.
    pub(crate) fn highest_qps(&self) -> Option<f64> {
        match self {
            Self::ClosedLoop { .. } | Self::Replay { .. } => None,
            Self::FixedRate { rate_qps } | Self::Poisson { rate_qps } => Some(*rate_qps),
            Self::Ramp {
                from_qps, to_qps, ..
            } => Some(from_qps.max(*to_qps)),
            Self::Steps { steps } => {
                Some(steps.iter().map(|step| step.rate_qps).fold(0.0, f64::max))
            }
        }
    }

    /// The queries that it asks for in the first `span_ns` nanoseconds, whatever the answers do; `None` if it goes by
    /// those.
    pub(crate) fn asked_queries(&self, stream: &QueryStream, span_ns: u64) -> Option<f64> {
        if let Self::Replay { speed } = self {
            let timeline = Timeline::new(StreamTimes(stream), *speed);
            return Some(timeline.queries_before(span_ns) as f64);
        }
        let plan = self.rate_plan()?;
        Some(plan.queries_before(span_ns as f64 / 1e9))
    }
}

fn check_rate(option: &'static str, rate_qps: f64) -> Result<(), LoadError> {
    if RATES.contains(&rate_qps) {
        return Ok(());
    }
    Err(LoadError::Setting {
        option,
        reason: format!("{rate_qps} queries per second; give 0.001 to 1000000000"),
    })
}

fn check_span(is_rate_right: bool, span_s: f64) -> Result<(), LoadError> {
    if !is_rate_right {
        return Err(LoadError::Setting {
            option: "rate_qps",
            reason: "no rate is below 0, or above 1000000000 queries per second".to_owned(),
        });
    }
    if SPANS.contains(&span_s) {
        return Ok(());
    }
    Err(LoadError::Setting {
        option: "span_s",
        reason: format!("{span_s} s; give 0 to 1000000000 s"),
    })
}

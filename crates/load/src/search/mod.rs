//! Search for the breaking point: the highest rate that a server carries.
//!
//! This is a Multiple Loss Ratio search (draft-ietf-bmwg-mlrsearch-15) with one goal, in which a trial may fail by its
//! latency, too. The draft calls a rate *load*; trials at a rate make it a *lower bound* (the server carries it), an
//! *upper bound* (it does not), or leave it undecided. `docs/decisions/breaking-point.md` says what was decided where
//! the draft leaves it open.
//!
//! The search knows no clock and no network: it says which trial to make next, and is told what it measured.

mod classify;
mod drive;
mod goal;
mod grid;
mod outcome;
mod trial;

pub use drive::find;
pub use goal::{Goal, Limits};
pub use outcome::{BreakingPoint, LimitedBy};
pub use trial::{Trial, TrialOutcome, TrialRecord, TrialResult};

use crate::LoadError;
use classify::{Class, Criterion};
use grid::Grid;
use outcome::{Bounds, Evidence, Interval, loss_ratio};
use std::collections::BTreeSet;
use std::time::Duration;
use trial::seconds;

/// Factor between the rates tried at the start, until one is not carried.
const GROWTH: f64 = 4.0;

/// Number of phases: each has longer trials and half the width of the one before, the last those of the goal.
const PHASES: i32 = 3;

/// Duration sum of the phases before the last one, in trials. With an exceed ratio of 0.5, one trial that passes makes a
/// lower bound, which is measured again in the next phase, but it takes two that fail to make an upper bound: a
/// mistake there would send the search to rates far below the right ones.
const EARLY_TRIALS: f64 = 2.0;

/// What a search wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This trial made and recorded.
    Trial(Trial),
    /// Nothing: it is over.
    Done(BreakingPoint),
}

/// A search that is under way.
#[derive(Clone, Debug)]
pub struct Search {
    goal: Goal,
    grid: Grid,
    phases: Vec<Phase>,
    phase: usize,
    /// The bounds of the phase before.
    previous: Bounds,
    /// The load that this phase is measuring.
    load: Option<u32>,
    /// How far beyond a bound to go for the missing other one.
    reach: u32,
    trials: Vec<(u32, TrialRecord)>,
    next: Next,
}

/// A part of the search: the same goal at a lower effort, or in the last one the goal itself.
#[derive(Clone, Copy, Debug)]
struct Phase {
    trial: Duration,
    criterion: Criterion,
    /// How far apart bounds may be at its end, as a number of grid rates.
    width: u32,
}

impl Search {
    /// A search for `goal` between `limits`.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for a goal or limits that make no sense.
    pub fn new(goal: Goal, limits: Limits) -> Result<Self, LoadError> {
        goal.check(&limits)?;
        let grid = Grid::new(limits, goal.width);
        let phases = phases(&goal);
        Ok(Self {
            phase: 0,
            previous: Bounds::default(),
            load: Some(0),
            reach: grid.steps(GROWTH),
            trials: Vec::new(),
            next: Next::Trial(trial(&grid, 0, &phases[0])),
            goal,
            grid,
            phases,
        })
    }

    /// The trial to make now, or the result. Asking again gives the same until [`Self::record`] is called.
    pub fn next_trial(&self) -> Next {
        self.next.clone()
    }

    /// Takes what `trial` measured.
    pub fn record(&mut self, trial: &Trial, result: &TrialResult) {
        let record = TrialRecord::new(trial, result, &self.goal);
        self.trials.push((trial.load, record));
        self.next = self.plan();
    }

    /// The trials made so far, in order.
    pub fn trials(&self) -> impl Iterator<Item = &TrialRecord> {
        self.trials.iter().map(|(_, trial)| trial)
    }

    /// Goes on until a trial is needed. That ends: in a phase each load is measured until it is decided and then no more,
    /// which takes no more trials than the duration sum has.
    fn plan(&mut self) -> Next {
        loop {
            let bounds = self.bounds();
            let unfinished = self
                .load
                .filter(|load| self.class(*load) == Class::Undecided);
            let mut load = unfinished.or_else(|| self.candidate(&bounds));
            let is_last = self.phase + 1 == self.phases.len();
            if load.is_none() && is_last {
                match self.evidence().interval(&bounds, self.grid.top()) {
                    Ok(interval) => return Next::Done(self.breaking_point(&bounds, interval)),
                    Err(missing) => load = Some(missing),
                }
            }
            if let Some(load) = load {
                self.load = Some(load);
                return Next::Trial(trial(&self.grid, load, &self.phases[self.phase]));
            }
            self.previous = bounds;
            self.phase += 1;
            self.load = None;
            self.reach = self.phases[self.phase].width;
        }
    }

    /// The load to measure next in this phase, strictly between the bounds; `None` once they are close enough.
    fn candidate(&mut self, bounds: &Bounds) -> Option<u32> {
        let upper = bounds.upper.map(|(upper, _)| upper);
        let is_done = match (bounds.lower, upper) {
            (Some(lower), Some(upper)) => upper - lower <= self.phases[self.phase].width,
            (Some(lower), None) => lower == self.grid.top(),
            (None, Some(upper)) => upper == 0,
            (None, None) => false,
        };
        if is_done {
            return None;
        }
        let is_between = |load: &u32| {
            bounds.lower.is_none_or(|lower| *load > lower)
                && upper.is_none_or(|upper| *load < upper)
        };
        // The bounds of the phase before are measured again, the lower one first: it does the server no harm.
        let known = [
            self.previous.lower,
            self.previous.upper.map(|(upper, _)| upper),
        ];
        if let Some(load) = known.into_iter().flatten().find(is_between) {
            return Some(load);
        }
        Some(match (bounds.lower, upper) {
            (None, None) => 0,
            (Some(lower), None) => (lower + self.take_reach()).min(self.grid.top()),
            (None, Some(upper)) => upper.saturating_sub(self.take_reach()),
            (Some(lower), Some(upper)) => lower + (upper - lower) / 2,
        })
    }

    /// How far to go this time; the next time twice as far, up to the growth of the start.
    fn take_reach(&mut self) -> u32 {
        let reach = self.reach;
        self.reach = (2 * reach).min(self.grid.steps(GROWTH).max(reach));
        reach
    }

    fn class(&self, load: u32) -> Class {
        let trials = self.trials_at(load);
        self.phases[self.phase].criterion.classify(trials)
    }

    fn trials_at(&self, load: u32) -> impl Iterator<Item = &TrialRecord> + Clone {
        self.trials
            .iter()
            .filter(move |(other, _)| *other == load)
            .map(|(_, trial)| trial)
    }

    /// The relevant bounds for this phase's criterion. Where a lower load is an upper bound and a higher one a lower
    /// bound, the lower load counts.
    fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::default();
        for (load, class) in self.classes() {
            match class {
                Class::Undecided => {}
                Class::Lower => bounds.lower = Some(load),
                Class::Upper(cause) => {
                    bounds.upper = Some((load, cause));
                    break;
                }
            }
        }
        bounds
    }

    /// The loads measured so far in ascending order, and what they are in this phase.
    fn classes(&self) -> impl Iterator<Item = (u32, Class)> {
        let loads: BTreeSet<u32> = self.trials.iter().map(|(load, _)| *load).collect();
        loads.into_iter().map(|load| (load, self.class(load)))
    }

    fn is_full(&self, trial: &TrialRecord) -> bool {
        trial.duration_s >= self.phases[self.phase].criterion.trial_s
    }

    /// What the trials that count in full in this phase say.
    fn evidence(&self) -> Evidence {
        let full_with = |outcome| {
            self.trials
                .iter()
                .filter(move |(_, trial)| self.is_full(trial) && trial.outcome == outcome)
                .map(|(load, _)| *load)
        };
        Evidence {
            lowest_failed: full_with(TrialOutcome::Failed).min(),
            highest_passed: full_with(TrialOutcome::Passed).max(),
            classes: self.classes().collect(),
        }
    }

    fn breaking_point(&self, bounds: &Bounds, interval: Interval) -> BreakingPoint {
        let qps = |load: Option<u32>| load.map_or(0.0, |load| self.grid.rate_qps(load));
        let found: Vec<&TrialRecord> = bounds
            .lower
            .into_iter()
            .flat_map(|load| self.trials_at(load))
            .filter(|trial| self.is_full(trial))
            .collect();
        let criterion = &self.phases[self.phase].criterion;
        let loss_ratio = bounds.lower.map(|_| loss_ratio(&found, criterion));
        BreakingPoint {
            qps: qps(bounds.lower),
            answered_qps: qps(bounds.lower) * (1.0 - loss_ratio.unwrap_or(0.0)),
            interval: [qps(interval.from), qps(Some(interval.to))],
            loss_ratio,
            p99_ns: found
                .iter()
                .filter(|trial| trial.outcome == TrialOutcome::Passed)
                .filter_map(|trial| trial.p99_ns)
                .max(),
            limited_by: bounds.limited_by(),
            trials: self.trials().cloned().collect(),
        }
    }
}

/// The phases of a search: from the first trials to those of the goal in even ratios.
fn phases(goal: &Goal) -> Vec<Phase> {
    let ratio = goal.final_trial_s / goal.first_trial_s;
    let phase = |phase: i32| {
        let trial_s = goal.first_trial_s * ratio.powf(f64::from(phase) / f64::from(PHASES - 1));
        let trial = Duration::from_millis((trial_s * 1e3).round() as u64);
        let early_sum_s = (EARLY_TRIALS * seconds(trial)).min(goal.duration_sum_s);
        Phase {
            trial,
            criterion: Criterion {
                // As in the record of a trial, so that it counts as one of this length.
                trial_s: seconds(trial),
                duration_sum_s: if phase + 1 < PHASES {
                    early_sum_s
                } else {
                    goal.duration_sum_s
                },
                exceed_ratio: goal.exceed_ratio,
            },
            width: 1 << (PHASES - 1 - phase),
        }
    };
    (0..PHASES).map(phase).collect()
}

fn trial(grid: &Grid, load: u32, phase: &Phase) -> Trial {
    Trial {
        rate_qps: grid.rate_qps(load),
        duration: phase.trial,
        load,
    }
}

#[cfg(test)]
mod tests;

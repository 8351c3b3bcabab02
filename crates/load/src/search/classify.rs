//! What the trials at one rate say of it.

use super::{TrialOutcome, TrialRecord};

/// Who kept a rate from being carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The server failed.
    Server,
    /// The generator did not keep the rate.
    Generator,
}

/// What a rate is for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// More trials are needed.
    Undecided,
    /// It is carried.
    Lower,
    /// It is not.
    Upper(Cause),
}

/// What it takes to classify a rate: the part of a goal that changes from phase to phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Trials of this length count in full.
    pub trial_s: f64,
    /// So much of trials in full decides.
    pub duration_sum_s: f64,
    /// Part of the trials, by time, that may fail.
    pub exceed_ratio: f64,
}

/// Seconds of trials.
#[derive(Default)]
struct Sums {
    full_good: f64,
    full_bad: f64,
    short_good: f64,
    short_bad: f64,
}

impl Criterion {
    /// Classifies a rate by all `trials` made at it.
    ///
    /// That is the load classification of the draft's Appendix A, with trials that the generator spoiled in a class of
    /// their own: they keep a rate from being a lower bound, but it is the server's upper bound only if the trials that
    /// were not spoiled make it one.
    pub fn classify<'t>(&self, trials: impl Iterator<Item = &'t TrialRecord> + Clone) -> Class {
        let is_bad = |trial: &TrialRecord| trial.outcome != TrialOutcome::Passed;
        match self.class(self.sums(trials.clone(), is_bad)) {
            Class::Upper(_) => {
                let unspoiled =
                    trials.filter(|trial| trial.outcome != TrialOutcome::GeneratorLimited);
                match self.class(self.sums(unspoiled, is_bad)) {
                    Class::Upper(cause) => Class::Upper(cause),
                    _ => Class::Upper(Cause::Generator),
                }
            }
            class => class,
        }
    }

    fn sums<'t>(
        &self,
        trials: impl Iterator<Item = &'t TrialRecord>,
        is_bad: impl Fn(&TrialRecord) -> bool,
    ) -> Sums {
        let mut sums = Sums::default();
        for trial in trials {
            let sum = match (trial.duration_s >= self.trial_s, is_bad(trial)) {
                (true, false) => &mut sums.full_good,
                (true, true) => &mut sums.full_bad,
                (false, false) => &mut sums.short_good,
                (false, true) => &mut sums.short_bad,
            };
            *sum += trial.duration_s;
        }
        sums
    }

    /// Short trials that passed prove nothing but make up for short ones that failed; what these exceed counts.
    fn class(&self, sums: Sums) -> Class {
        let made_up_for = sums.short_good * self.exceed_ratio / (1.0 - self.exceed_ratio);
        let bad = sums.full_bad + (sums.short_bad - made_up_for).max(0.0);
        let measured = bad + sums.full_good;
        let whole = measured.max(self.duration_sum_s);
        let missing = whole - measured;
        if bad / whole > self.exceed_ratio {
            Class::Upper(Cause::Server)
        } else if (bad + missing) / whole <= self.exceed_ratio {
            Class::Lower
        } else {
            Class::Undecided
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TrialOutcome::{Failed, GeneratorLimited, Passed};

    fn classify(criterion: Criterion, trials: &[(usize, f64, TrialOutcome)]) -> Class {
        let trials: Vec<TrialRecord> = trials
            .iter()
            .flat_map(|&(count, duration_s, outcome)| {
                let trial = TrialRecord {
                    rate_qps: 1e6,
                    duration_s,
                    sent: 1,
                    lost: 0,
                    p99_ns: None,
                    achieved_qps: 1e6,
                    outcome,
                };
                std::iter::repeat_n(trial, count)
            })
            .collect();
        criterion.classify(trials.iter())
    }

    fn criterion(trial_s: f64, duration_sum_s: f64, exceed_ratio: f64) -> Criterion {
        Criterion {
            trial_s,
            duration_sum_s,
            exceed_ratio,
        }
    }

    /// The draft's "Example Search": four goals, six points in time. In points 5 and 6 a trial that fails one goal passes
    /// another that tolerates its loss.
    #[test]
    fn agrees_with_the_examples_of_the_draft() {
        const U: Class = Class::Upper(Cause::Server);
        const L: Class = Class::Lower;
        const N: Class = Class::Undecided;
        let rfc2544 = criterion(60.0, 60.0, 0.0);
        let tst009 = criterion(60.0, 120.0, 0.5);
        let short_final = criterion(1.0, 120.0, 0.5);
        let one_fifth = criterion(60.0, 60.0, 0.2);
        let good = |count| (count, 1.0, Passed);
        let bad = |count| (count, 1.0, Failed);
        let points = [
            (vec![good(59)], [N, N, N, N]),
            (vec![good(59), bad(1)], [U, N, N, N]),
            (vec![good(59), bad(60)], [U, N, N, U]),
            (vec![good(60), bad(60)], [U, N, L, U]),
        ];
        for (number, (trials, classes)) in points.iter().enumerate() {
            for (goal, class) in [rfc2544, tst009, short_final, one_fifth]
                .iter()
                .zip(classes)
            {
                assert_eq!(classify(*goal, trials), *class, "point {}", number + 1);
            }
        }
        let lossy = (1, 60.0, Failed);
        let tolerated = (1, 60.0, Passed);
        let short = [good(60), bad(60)];
        let point_5 = |long| [&short[..], &[long]].concat();
        assert_eq!(classify(rfc2544, &point_5(lossy)), U);
        assert_eq!(classify(tst009, &point_5(lossy)), N);
        assert_eq!(classify(short_final, &point_5(tolerated)), L);
        let point_6 = |long| [&short[..], &[long, tolerated]].concat();
        assert_eq!(classify(rfc2544, &point_6(lossy)), U);
        assert_eq!(classify(tst009, &point_6(lossy)), L);
        assert_eq!(classify(short_final, &point_6(tolerated)), L);
        // The draft's table says "Lower Bound" here, against its own figures and code: 42.857 % and 27.273 % of bad
        // trials are more than the 20 % that the goal permits.
        assert_eq!(classify(one_fifth, &point_5(tolerated)), U);
        assert_eq!(classify(one_fifth, &point_6(tolerated)), U);
    }

    #[test]
    fn two_of_three_final_trials_decide() {
        let goal = criterion(5.0, 15.0, 0.5);
        assert_eq!(classify(goal, &[]), Class::Undecided);
        assert_eq!(classify(goal, &[(1, 5.0, Passed)]), Class::Undecided);
        assert_eq!(classify(goal, &[(2, 5.0, Passed)]), Class::Lower);
        assert_eq!(
            classify(goal, &[(1, 5.0, Passed), (1, 5.0, Failed)]),
            Class::Undecided
        );
        assert_eq!(
            classify(goal, &[(1, 5.0, Passed), (2, 5.0, Failed)]),
            Class::Upper(Cause::Server)
        );
    }

    #[test]
    fn the_server_fails_only_in_trials_that_the_generator_did_not_spoil() {
        let goal = criterion(5.0, 15.0, 0.5);
        let generator = Class::Upper(Cause::Generator);
        assert_eq!(classify(goal, &[(2, 5.0, GeneratorLimited)]), generator);
        assert_eq!(
            classify(goal, &[(1, 5.0, GeneratorLimited), (1, 5.0, Failed)]),
            generator
        );
        assert_eq!(
            classify(goal, &[(1, 5.0, GeneratorLimited), (2, 5.0, Failed)]),
            Class::Upper(Cause::Server)
        );
        assert_eq!(
            classify(goal, &[(1, 5.0, GeneratorLimited), (2, 5.0, Passed)]),
            Class::Lower
        );
    }
}

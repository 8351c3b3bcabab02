//! Trials of loads that were never run.

use super::*;
use crate::search::{Next, TrialOutcome};
use crate::summary::samples::{self, SECOND_NS, Thread, fixed_rate};

const RATE_QPS: f64 = 60_000.0;

const GOAL: Goal = Goal {
    loss_ratio: 0.001,
    p99_ns: None,
    width: 0.02,
    first_trial_s: 10.0,
    final_trial_s: 10.0,
    duration_sum_s: 10.0,
    exceed_ratio: 0.5,
};

/// A search of one rate, and its first trial.
fn search() -> (Search, Trial) {
    let limits = Limits {
        min_qps: RATE_QPS,
        max_qps: RATE_QPS,
    };
    let search = Search::new(GOAL, limits).unwrap();
    match search.next_trial() {
        Next::Trial(trial) => (search, trial),
        Next::Done(_) => panic!("a search begins with a trial"),
    }
}

/// A load at that rate for 10 s: queries sent, all of which were answered; shares of the time in which places were full, and
/// in which the generator ran.
fn load(sent: u64, full_share: f64, cpu_share: f64) -> LoadReport {
    let mut thread = Thread::new(1).with_queries(sent, sent);
    let share = |share: f64| (share * 10.0 * SECOND_NS as f64) as u64;
    thread.outcome.blocked_ns = share(full_share);
    thread.outcome.sending_cpu_ns = share(cpu_share);
    samples::report(&fixed_rate(RATE_QPS), vec![thread])
}

/// What becomes of a trial that measures this.
fn recorded(report: &LoadReport) -> TrialRecord {
    let (mut search, trial) = search();
    search.record(&trial, &to_result(report, &trial, &GOAL));
    search.trials().next().cloned().unwrap()
}

#[test]
fn queries_held_back_by_the_server_are_lost() {
    let trial = recorded(&load(450_000, 0.76, 0.11));
    assert_eq!((trial.sent, trial.lost), (600_000, 150_000));
    assert_eq!(trial.outcome, TrialOutcome::Failed);
}

#[test]
fn what_a_generator_did_not_send_without_being_held_back_says_nothing() {
    for (full_share, cpu_share) in [(0.0, 0.11), (0.01, 0.5), (0.1, 0.85), (0.1, 0.97)] {
        let trial = recorded(&load(450_000, full_share, cpu_share));
        assert_eq!((trial.sent, trial.lost), (450_000, 0));
        assert_eq!(trial.outcome, TrialOutcome::GeneratorLimited);
    }
}

#[test]
fn a_rate_that_was_kept_although_places_were_full_is_carried() {
    let trial = recorded(&load(600_000, 0.1, 0.11));
    assert_eq!((trial.sent, trial.lost), (600_000, 0));
    assert_eq!(trial.outcome, TrialOutcome::Passed);
}

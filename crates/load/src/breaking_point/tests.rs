//! Trials of loads that were never run.

use super::*;
use crate::search::{Next, TrialOutcome};
use crate::summary::samples::{self, SECOND_NS, Thread, fixed_rate};
use crate::test_clocks::VirtualClock;

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

fn silent() -> LoadError {
    LoadError::Silent {
        server: ([127, 0, 0, 1], 53).into(),
        transport: "UDP",
        attempts: 3,
        waited_s: 3,
    }
}

/// A server that gives no sign of life in these spans of seconds, each probe of which takes 3 s.
fn lifeless_in<'c>(
    clock: &'c VirtualClock,
    spans: &'c [[u64; 2]],
) -> impl FnMut(&Trial) -> Result<LoadReport, LoadError> + 'c {
    move |trial| {
        let now_s = clock.now_ns() / SECOND_NS;
        if spans.iter().any(|[from, to]| (*from..*to).contains(&now_s)) {
            clock.sleep_until(clock.now_ns() + 3 * SECOND_NS);
            return Err(silent());
        }
        clock.sleep_until(clock.now_ns() + trial.duration.as_nanos() as u64);
        Ok(load(600_000, 0.0, 0.11))
    }
}

#[test]
fn a_server_that_recovers_in_time_costs_no_trial() {
    let (_, trial) = search();
    let clock = VirtualClock::default();
    let cancel = AtomicBool::new(false);
    let mut trials = Trials::new(
        GOAL,
        clock.clone(),
        &cancel,
        lifeless_in(&clock, &[[10, 13]]),
    );
    for _ in 0..2 {
        assert_eq!(trials.measure(&trial).unwrap().lost, 0);
    }
    let report = trials.report_of(None).unwrap();
    assert!(report.tainted.is_empty(), "{:?}", report.tainted);
}

#[test]
fn a_server_that_gives_no_sign_of_life_fails_the_trial_and_not_the_search() {
    let (_, trial) = search();
    let clock = VirtualClock::default();
    let cancel = AtomicBool::new(false);
    let mut trials = Trials::new(
        GOAL,
        clock.clone(),
        &cancel,
        lifeless_in(&clock, &[[10, 18]]),
    );
    let lost: Vec<u64> = (0..4)
        .map(|_| trials.measure(&trial).unwrap().lost)
        .collect();
    assert_eq!(lost, [0, 600_000, 0, 0]);
    let report = trials.report_of(None).unwrap();
    assert_eq!(report.tainted.len(), 1);
    assert!(
        report.tainted[0].contains("before 1 of"),
        "{:?}",
        report.tainted
    );
}

#[test]
fn a_server_that_is_gone_is_waited_for_once() {
    let (_, mut trial) = search();
    trial.duration = Duration::from_secs(1);
    let clock = VirtualClock::default();
    let cancel = AtomicBool::new(false);
    let unreachable = |_: &Trial| {
        Err(LoadError::Unreachable {
            server: ([127, 0, 0, 1], 53).into(),
            transport: "TCP",
            reason: "connection refused".to_owned(),
            advice: "",
        })
    };
    let mut trials = Trials::new(GOAL, clock.clone(), &cancel, unreachable);
    let mut ended_s = Vec::new();
    for _ in 0..3 {
        assert_eq!(trials.measure(&trial).unwrap().lost, 60_000);
        ended_s.push(clock.now_ns().div_ceil(SECOND_NS));
    }
    assert_eq!(ended_s, [5, 6, 7]);
    assert!(trials.report_of(None).is_none());
}

#[test]
fn other_errors_end_the_search() {
    let (_, trial) = search();
    let cancel = AtomicBool::new(false);
    let clock = VirtualClock::default();
    let mut trials = Trials::new(GOAL, clock.clone(), &cancel, |_| {
        Err(LoadError::EmptyStream)
    });
    assert!(matches!(
        trials.measure(&trial),
        Err(LoadError::EmptyStream)
    ));
}

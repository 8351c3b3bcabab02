//! Searches of simulated servers.

use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::AtomicBool;

const LIMITS: Limits = Limits {
    min_qps: 100.0,
    max_qps: 1_000_000.0,
};

/// No search may take more trials, whatever is measured.
const MOST_TRIALS: usize = 400;

/// Carries out a search of a server that is told rate and duration.
fn search(
    goal: Goal,
    limits: Limits,
    mut server: impl FnMut(f64, f64) -> TrialResult,
) -> BreakingPoint {
    let mut search = Search::new(goal, limits).unwrap();
    let measure = |trial: &Trial| -> Result<_, std::convert::Infallible> {
        assert!((limits.min_qps..=limits.max_qps).contains(&trial.rate_qps));
        Ok(server(trial.rate_qps, trial.duration.as_secs_f64()))
    };
    let Ok(found) = find(&mut search, &AtomicBool::new(false), measure, |_| {});
    let found = found.unwrap();
    assert!(found.trials.len() <= MOST_TRIALS, "{}", found.trials.len());
    assert!(found.interval[0] <= found.qps && found.qps <= found.interval[1]);
    found
}

/// A trial in which `lost` of the queries were lost.
fn lossy(rate_qps: f64, duration_s: f64, loss_ratio: f64) -> TrialResult {
    let sent = (rate_qps * duration_s).round();
    TrialResult {
        sent: sent as u64,
        lost: (sent * loss_ratio.clamp(0.0, 1.0)).round() as u64,
        p99_ns: Some(1_000_000),
        achieved_qps: sent / duration_s,
        generator_limited: false,
    }
}

/// A server that answers up to `ceiling_qps` and no more.
fn hard(ceiling_qps: f64) -> impl Fn(f64, f64) -> TrialResult {
    move |rate_qps, duration_s| lossy(rate_qps, duration_s, 1.0 - ceiling_qps / rate_qps)
}

/// Whether the interval holds the rate at which a server that answers 50,000 per second loses 0.1 %.
fn holds_50_050(found: &BreakingPoint) -> bool {
    found.interval[0] <= 50_050.0 && 50_050.0 <= found.interval[1]
}

#[test]
fn a_hard_ceiling_is_found_in_about_a_minute() {
    for ceiling_qps in [1_234.0, 52_000.0, 260_000.0, 800_000.0] {
        let found = search(Goal::default(), LIMITS, hard(ceiling_qps));
        assert_eq!(found.limited_by, LimitedBy::Server);
        let seconds: f64 = found.trials.iter().map(|trial| trial.duration_s).sum();
        assert!((35.0..=60.0).contains(&seconds), "{seconds} s of trials");
        assert!(found.trials.len() <= 30);
    }
}

#[test]
fn final_trials_are_made_at_both_bounds() {
    let found = search(Goal::default(), LIMITS, hard(52_000.0));
    let finals = |bound_qps| {
        let is_final = |trial: &&TrialRecord| trial.duration_s == 5.0;
        let at_bound = |trial: &&TrialRecord| trial.rate_qps == bound_qps;
        found
            .trials
            .iter()
            .filter(is_final)
            .filter(at_bound)
            .count()
    };
    assert_eq!(finals(found.qps), 2);
    // Shorter trials that failed count, too.
    assert!((1..=2).contains(&finals(found.interval[1])));
    assert_eq!(found.p99_ns, Some(1_000_000));
    assert!(found.answered_qps <= found.qps && found.answered_qps >= found.qps * 0.999);
}

#[test]
fn latency_may_be_the_limit() {
    // The 99th percentile of the time in an M/M/1 queue.
    let server = |rate_qps: f64, duration_s| TrialResult {
        p99_ns: Some((100f64.ln() / (50_000.0 - rate_qps).max(1.0) * 1e9) as u64),
        ..hard(50_000.0)(rate_qps, duration_s)
    };
    let goal = Goal {
        p99_ns: Some(500_000),
        ..Goal::default()
    };
    let found = search(goal, LIMITS, server);
    let limit_qps = 50_000.0 - 100f64.ln() / 500e-6;
    assert!(found.interval[0] <= limit_qps && limit_qps <= found.interval[1]);
    assert!(found.p99_ns.unwrap() <= 500_000);
    assert_eq!(found.limited_by, LimitedBy::Server);
}

#[test]
fn a_server_that_carries_everything_is_limited_by_the_highest_rate() {
    let found = search(Goal::default(), LIMITS, hard(2e6));
    assert_eq!(found.limited_by, LimitedBy::MaxRate);
    assert_eq!((found.qps, found.interval), (1e6, [1e6, 1e6]));
    assert_eq!(found.loss_ratio, Some(0.0));
}

#[test]
fn a_server_that_carries_nothing_is_soon_known() {
    for loss_ratio in [1.0, 0.01] {
        let server = |rate_qps, duration_s| lossy(rate_qps, duration_s, loss_ratio);
        let found = search(Goal::default(), LIMITS, server);
        assert_eq!(found.limited_by, LimitedBy::MinRate);
        assert_eq!((found.qps, found.loss_ratio), (0.0, None));
        assert_eq!(found.interval, [0.0, LIMITS.min_qps]);
        assert!(found.trials.len() <= 4, "{}", found.trials.len());
    }
}

#[test]
fn a_single_rate_is_either_carried_or_not() {
    let limits = Limits {
        min_qps: 500.0,
        max_qps: 500.0,
    };
    let found = search(Goal::default(), limits, hard(600.0));
    assert_eq!((found.qps, found.limited_by), (500.0, LimitedBy::MaxRate));
    let found = search(Goal::default(), limits, hard(400.0));
    assert_eq!((found.qps, found.limited_by), (0.0, LimitedBy::MinRate));
}

#[test]
fn a_generator_that_is_slower_than_the_server_is_named() {
    for flagged in [false, true] {
        let server = |rate_qps: f64, duration_s: f64| {
            let result = lossy(rate_qps.min(260_000.0), duration_s, 0.0);
            TrialResult {
                generator_limited: flagged && rate_qps > 260_000.0,
                ..result
            }
        };
        let found = search(Goal::default(), LIMITS, server);
        assert_eq!(found.limited_by, LimitedBy::Generator);
        assert!(found.qps <= 260_300.0 && found.interval[1] >= 260_000.0);
        let failed = |trial: &&TrialRecord| trial.outcome == TrialOutcome::Failed;
        assert_eq!(found.trials.iter().filter(failed).count(), 0);
    }
}

#[test]
fn a_server_that_fails_below_the_generators_ceiling_is_found_all_the_same() {
    let server = |rate_qps: f64, duration_s| {
        let result = hard(50_000.0)(rate_qps.min(260_000.0), duration_s);
        TrialResult {
            // An overloaded server takes the generator's CPU.
            generator_limited: rate_qps > 150_000.0,
            ..result
        }
    };
    let found = search(Goal::default(), LIMITS, server);
    assert_eq!(found.limited_by, LimitedBy::Server);
    assert!(holds_50_050(&found), "{:?}", found.interval);
}

#[test]
fn random_loss_below_the_goal_is_no_failure() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let server = |rate_qps: f64, duration_s: f64| {
        // 0.02 % of the queries, as a number of queries with the spread of a Poisson count.
        let sent = rate_qps * duration_s;
        let mean = sent * 0.000_2;
        let spread: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let loss_ratio = ((mean + spread * mean.sqrt()) / sent).max(1.0 - 50_000.0 / rate_qps);
        lossy(rate_qps, duration_s, loss_ratio)
    };
    let limits = Limits {
        min_qps: 10_000.0,
        ..LIMITS
    };
    let found = search(Goal::default(), limits, server);
    assert_eq!(found.limited_by, LimitedBy::Server);
    assert!(holds_50_050(&found), "{:?}", found.interval);
    assert!(found.loss_ratio.unwrap() > 0.0);
}

/// A ceiling that differs from trial to trial by up to `spread`, with a hiccup that spoils some of the trials.
fn noisy_searches(spread: f64, hiccups: f64) -> Vec<BreakingPoint> {
    (0..300)
        .map(|seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let server = |rate_qps, duration_s| {
                let ceiling_qps = 50_000.0 * (1.0 + random.random_range(-spread..=spread));
                let hiccup = random.random_bool(hiccups);
                hard(if hiccup { 10.0 } else { ceiling_qps })(rate_qps, duration_s)
            };
            search(Goal::default(), LIMITS, server)
        })
        .collect()
}

fn share(found: &[BreakingPoint], holds: impl Fn(&BreakingPoint) -> bool) -> f64 {
    found.iter().filter(|found| holds(found)).count() as f64 / found.len() as f64
}

#[test]
fn noise_in_the_ceiling_stays_noise_in_the_result() {
    let found = noisy_searches(0.03, 0.0);
    let near = |found: &BreakingPoint| (found.qps / 50_050.0 - 1.0).abs() <= 0.05;
    assert_eq!(share(&found, near), 1.0);
    assert!(share(&found, holds_50_050) >= 0.75);
}

#[test]
fn rare_hiccups_are_outvoted() {
    let found = noisy_searches(0.0, 0.05);
    let exact = |found: &BreakingPoint| (50_050.0 * 0.98..=50_051.0).contains(&found.qps);
    assert!(share(&found, exact) >= 0.95);
    assert!(share(&found, holds_50_050) >= 0.98);
}

#[test]
fn a_server_that_stays_slow_after_overload_is_between_its_two_ceilings() {
    let mut is_overloaded = false;
    let server = |rate_qps: f64, duration_s| {
        is_overloaded = rate_qps > if is_overloaded { 30_000.0 } else { 50_000.0 };
        let ceiling_qps = if is_overloaded { 40_000.0 } else { 50_000.0 };
        hard(ceiling_qps)(rate_qps, duration_s)
    };
    let found = search(Goal::default(), LIMITS, server);
    assert_eq!(found.limited_by, LimitedBy::Server);
    assert!((39_000.0..=50_100.0).contains(&found.qps), "{}", found.qps);
}

/// A server of 50,000 queries per second that in the first final trial at each rate of a range is one of `odd_qps`.
fn search_of_contradictions(range_qps: std::ops::Range<f64>, odd_qps: f64) -> BreakingPoint {
    let mut seen = std::collections::BTreeSet::new();
    search(Goal::default(), LIMITS, |rate_qps: f64, duration_s| {
        let is_odd =
            range_qps.contains(&rate_qps) && duration_s == 5.0 && seen.insert(rate_qps as u64);
        hard(if is_odd { odd_qps } else { 50_000.0 })(rate_qps, duration_s)
    })
}

#[test]
fn final_trials_that_fail_below_the_breaking_point_widen_the_interval_downwards() {
    let found = search_of_contradictions(45_000.0..50_000.0, 10.0);
    assert!((48_000.0..=50_050.0).contains(&found.qps));
    let [from, to] = found.interval;
    assert!((40_000.0..45_000.0).contains(&from), "{from}");
    assert!((50_050.0..=51_100.0).contains(&to), "{to}");
}

#[test]
fn final_trials_that_pass_above_the_breaking_point_widen_the_interval_upwards() {
    let found = search_of_contradictions(50_050.0..55_000.0, 1e6);
    assert!((49_000.0..=50_050.0).contains(&found.qps));
    let [from, to] = found.interval;
    assert_eq!(from, found.qps);
    assert!((55_000.0..60_000.0).contains(&to), "{to}");
}

#[test]
fn asking_again_changes_nothing() {
    let mut search = Search::new(Goal::default(), LIMITS).unwrap();
    for _ in 0..5 {
        let next = search.next_trial();
        assert_eq!(next, search.next_trial());
        let Next::Trial(trial) = next else {
            panic!("over after {} trials", search.trials().count());
        };
        search.record(&trial, &hard(5_000.0)(trial.rate_qps, 1.0));
    }
    assert_eq!(search.trials().count(), 5);
}

fn any_goal() -> impl Strategy<Value = Goal> {
    let durations = (0.1f64..2.0, 1.0f64..10.0, 1.0f64..8.0);
    let ratios = (0.0f64..0.1, 0.002f64..0.5, 0.0f64..0.9);
    (ratios, durations).prop_map(
        |((loss_ratio, width, exceed_ratio), (first, longer, more))| Goal {
            loss_ratio,
            p99_ns: None,
            width,
            first_trial_s: first,
            final_trial_s: first * longer,
            duration_sum_s: first * longer * more,
            exceed_ratio,
        },
    )
}

proptest! {
    #[test]
    fn the_ceiling_of_a_noiseless_server_is_bracketed_within_the_width(
        goal in any_goal(),
        min_qps in 100.0f64..10_000.0,
        range in 1.0f64..100_000.0,
        place in -0.1f64..1.1,
    ) {
        let limits = Limits { min_qps, max_qps: min_qps * range };
        let ceiling_qps = min_qps * range.powf(place);
        // The server answers so much; the rate at which its loss is the goal's is a little higher.
        let carries = |rate_qps: f64| 1.0 - ceiling_qps / rate_qps <= goal.loss_ratio;
        let server = |rate_qps: f64, duration_s| lossy(rate_qps, duration_s, if carries(rate_qps) { 0.0 } else { 1.0 });
        let found = search(goal, limits, server);
        match found.limited_by {
            LimitedBy::Server => {
                let [from, to] = found.interval;
                prop_assert_eq!(from, found.qps);
                prop_assert!(carries(from) && !carries(to));
                prop_assert!((to - from) / to <= goal.width * 1.000_001, "{} to {}", from, to);
            }
            LimitedBy::MaxRate => prop_assert!(carries(limits.max_qps)),
            LimitedBy::MinRate => prop_assert!(!carries(limits.min_qps)),
            LimitedBy::Generator => prop_assert!(false, "it kept every rate"),
        }
    }

    #[test]
    fn every_search_ends_whatever_is_measured(goal in any_goal(), seed in any::<u64>(), good in 0.0f64..=1.0, spoiled in 0.0f64..=1.0) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let server = |rate_qps, duration_s| TrialResult {
            generator_limited: random.random_bool(spoiled),
            ..lossy(rate_qps, duration_s, if random.random_bool(good) { 0.0 } else { 1.0 })
        };
        let limits = Limits { min_qps: 100.0, max_qps: 1e9 };
        let found = search(goal, limits, server);
        prop_assert!(found.interval[1] <= 1e9);
    }
}

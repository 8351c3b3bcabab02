//! What a search looks like to those who read its result.

use dnsrig_load::search::{self, BreakingPoint, Goal, Limits, Search, Trial, TrialResult};
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;

fn found() -> BreakingPoint {
    let limits = Limits {
        min_qps: 100.0,
        max_qps: 1e6,
    };
    let mut search = Search::new(Goal::default(), limits).unwrap();
    let measure = |trial: &Trial| -> Result<_, Infallible> {
        let sent = (trial.rate_qps * trial.duration.as_secs_f64()).round();
        let lost = sent * (1.0 - 7_000.0 / trial.rate_qps).max(0.0);
        Ok(TrialResult {
            sent: sent as u64,
            lost: lost as u64,
            p99_ns: Some(1_000_000),
            achieved_qps: trial.rate_qps,
            generator_limited: false,
        })
    };
    let Ok(found) = search::find(&mut search, &AtomicBool::new(false), measure, |_| {});
    found.unwrap()
}

#[test]
fn results_survive_serialisation() {
    let found = found();
    let json = serde_json::to_string(&found).unwrap();
    assert!(json.contains(r#""limited_by":"server""#), "{json}");
    assert!(json.contains(r#""outcome":"passed""#), "{json}");
    assert_eq!(serde_json::from_str::<BreakingPoint>(&json).unwrap(), found);
}

#[test]
fn settings_that_are_not_given_have_their_defaults() {
    let goal: Goal = serde_json::from_str(r#"{"loss_ratio":0.01}"#).unwrap();
    let expected = Goal {
        loss_ratio: 0.01,
        ..Goal::default()
    };
    assert_eq!(goal, expected);
}

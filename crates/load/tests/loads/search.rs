//! What a search looks like to those who read its result.

use super::common::{PATIENT, Server, answer, checked, config, stream};
use dnsrig_load::dress::DressSettings;
use dnsrig_load::report::Ceiling;
use dnsrig_load::search::{self, BreakingPoint, Goal, Limits, Search, Trial, TrialResult};
use dnsrig_load::{LoadConfig, find_breaking_point};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// A search by trials of 0.1 s.
const BRIEF: Goal = Goal {
    loss_ratio: 0.001,
    p99_ns: None,
    width: 0.02,
    first_trial_s: 0.1,
    final_trial_s: 0.1,
    duration_sum_s: 0.3,
    exceed_ratio: 0.5,
};

const LIMITS: Limits = Limits {
    min_qps: 100.0,
    max_qps: 200.0,
};

#[test]
fn a_search_that_is_cancelled_has_a_report_in_every_phase() {
    for first_trial_ends in [false, true] {
        let server = Server::udp(|_, query| Some(vec![answer(query)]));
        let asked = LoadConfig {
            timeout: PATIENT,
            ..config(server.address, 1)
        };
        let cancel = AtomicBool::new(!first_trial_ends);
        let goal = Goal::default();
        let report = find_breaking_point(&stream(10), &asked, goal, LIMITS, &cancel, |_| {
            cancel.store(true, Ordering::Relaxed);
        });
        let report = checked(report);
        assert!(report.breaking_point.is_none());
        assert_eq!(report.sent > 0, first_trial_ends);
    }
}

#[test]
fn a_probe_that_nobody_answers_is_given_up_when_cancelled() {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let silent = Server::udp(move |_, _| {
        flag.store(true, Ordering::Relaxed);
        Some(vec![])
    });
    let asked = config(silent.address, 10);
    let report = dnsrig_load::run(&stream(10), &asked, &cancel, |_| {
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!(checked(report).sent, 0);
}

#[test]
fn a_server_that_breaks_during_a_search_fails_trials() {
    let server = Server::udp(|number, query| (number < 40).then(|| vec![answer(query)]));
    let asked = LoadConfig {
        timeout: Duration::from_millis(300),
        ..config(server.address, 1)
    };
    let mut told = 0;
    let limits = Limits {
        max_qps: 400.0,
        ..LIMITS
    };
    let cancel = AtomicBool::new(false);
    let report = checked(find_breaking_point(
        &stream(10),
        &asked,
        BRIEF,
        limits,
        &cancel,
        |_| told += 1,
    ));
    let found = report.breaking_point.unwrap().found;
    assert_eq!(found.trials.len(), told);
    let last = found.trials.last().unwrap();
    assert!(last.sent > 0 && last.lost == last.sent);
    assert!(
        report
            .tainted
            .iter()
            .any(|reason| reason.contains("no sign of life"))
    );
}

#[test]
fn the_ceiling_of_signed_queries_is_not_measured_against_a_sink_without_the_key() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let asked = LoadConfig {
        dress: DressSettings {
            tsig: Some("hmac-sha256:key.example:c2VjcmV0".parse().unwrap()),
            ..DressSettings::default()
        },
        ..config(server.address, 1)
    };
    let cancel = AtomicBool::new(false);
    let found = find_breaking_point(&stream(10), &asked, BRIEF, LIMITS, &cancel, |_| ());
    let report = checked(found);
    // The server has no key either, so that its answers are none.
    assert!(report.sent > 0 && report.answered == 0);
    let found = report.breaking_point.unwrap();
    assert_eq!(found.generator_ceiling_from, Ceiling::CpuShare);
    assert_eq!(found.generator_ceiling_qps, None);
}

//! A search carried out.

use super::{BreakingPoint, Next, Search, Trial, TrialRecord, TrialResult};
use std::sync::atomic::{AtomicBool, Ordering};

/// Has `measure` make the trials that `search` asks for, until it is done or `cancel` is set.
///
/// Returns `None` if it was cancelled, during a trial or between two; `search` then still knows the trials made before.
/// `on_trial` gets each trial that counts. `measure` is to return once no query of its trial is in flight, so that trials do not load each other.
///
/// # Errors
/// The first one of `measure`.
pub fn find<E>(
    search: &mut Search,
    cancel: &AtomicBool,
    mut measure: impl FnMut(&Trial) -> Result<TrialResult, E>,
    mut on_trial: impl FnMut(&TrialRecord),
) -> Result<Option<BreakingPoint>, E> {
    loop {
        let trial = match search.next_trial() {
            Next::Trial(trial) => trial,
            Next::Done(breaking_point) => return Ok(Some(breaking_point)),
        };
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let result = measure(&trial)?;
        // A trial during which the search was cancelled has been cut short.
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        search.record(&trial, &result);
        search.trials().last().into_iter().for_each(&mut on_trial);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Goal, Limits};
    use super::*;

    const LIMITS: Limits = Limits {
        min_qps: 100.0,
        max_qps: 1e6,
    };

    fn passed(trial: &Trial) -> TrialResult {
        TrialResult {
            sent: 100,
            lost: 0,
            p99_ns: None,
            achieved_qps: trial.rate_qps,
            generator_limited: false,
        }
    }

    #[test]
    fn a_cancelled_search_has_no_result_and_keeps_its_trials() {
        let cancel = AtomicBool::new(false);
        let mut search = Search::new(Goal::default(), LIMITS).unwrap();
        let mut calls = 0;
        let measure = |trial: &Trial| -> Result<_, std::convert::Infallible> {
            calls += 1;
            cancel.store(calls == 3, Ordering::Relaxed);
            Ok(passed(trial))
        };
        let Ok(found) = find(&mut search, &cancel, measure, |_| {});
        assert_eq!(found, None);
        assert_eq!(search.trials().count(), 2, "the third was cut short");
        assert_eq!(
            find(&mut search, &cancel, |_| Err("not measured"), |_| {}),
            Ok(None)
        );
    }

    #[test]
    fn an_error_of_a_measurement_ends_the_search() {
        let mut search = Search::new(Goal::default(), LIMITS).unwrap();
        let found = find(
            &mut search,
            &AtomicBool::new(false),
            |_| Err("no port"),
            |_| {},
        );
        assert_eq!(found, Err("no port"));
    }
}

//! The engine in virtual time, over a transport that does harm on purpose.

use super::harmful::{Fate, Harmful, MS, Seen, TIMEOUT_NS};
use super::*;
use crate::account::Routes;
use crate::choice::{Choice, Rotation, Weighted};
use crate::config::StopCondition;
use crate::in_flight::InFlight;
use crate::order::Order;
use crate::queries::Queries;
use crate::schedule::{ClosedLoop, FixedRate, Pace};
use crate::stop::Stop;
use crate::tally::Counts;
use crate::tally::Tally;
use crate::test_clocks::VirtualClock;
use dnsrig_stream::QueryStream;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// One load in virtual time.
struct Load {
    fates: Vec<Fate>,
    clients: usize,
    delay_ns: u64,
    flush_ns: u64,
    takes: usize,
    floods: bool,
    full_until_ns: u64,
    by_weight: bool,
    cancel_in_second_interval: bool,
    stop: StopCondition,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            fates: vec![Fate::Answered],
            clients: 1,
            delay_ns: MS,
            flush_ns: 10_000,
            takes: usize::MAX,
            floods: false,
            full_until_ns: 0,
            by_weight: false,
            cancel_in_second_interval: false,
            stop: StopCondition {
                duration: Some(Duration::from_millis(2_000)),
                ..StopCondition::default()
            },
        }
    }
}

struct Run {
    total: Tally,
    parts: Vec<(Option<u64>, u64, Counts)>,
    outcome: Outcome,
    seen: Rc<RefCell<Seen>>,
}

impl Load {
    fn run(self, schedule: impl Schedule, slots: usize) -> Run {
        let mut stream = QueryStream::default();
        for name in 0..7u8 {
            stream.push(&[
                0,
                0,
                1,
                0,
                0,
                1,
                0,
                0,
                0,
                0,
                0,
                0,
                1,
                b'a' + name,
                0,
                0,
                1,
                0,
                1,
            ]);
        }
        let queries = Queries::new(&stream).unwrap();
        let clock = VirtualClock::default();
        let seen = Rc::new(RefCell::new(Seen::default()));
        let transport = Harmful {
            clock: clock.clone(),
            clients: self.clients,
            fates: self.fates,
            delay_ns: self.delay_ns,
            flush_ns: self.flush_ns,
            takes: self.takes,
            floods: self.floods,
            full_until_ns: self.full_until_ns,
            queued: Vec::new(),
            arrivals: BTreeMap::new(),
            number: 0,
            seen: Rc::clone(&seen),
        };
        let choice = if self.by_weight {
            let route = |client| (1.0, Rotation::new(client..client + 1, 3));
            Choice::Weighted {
                routes: Box::new(Weighted::new((0..self.clients).map(route), 5)),
                waits: false,
            }
        } else {
            Choice::Rotation(Rotation::new(0..self.clients, 3))
        };
        let task = Task {
            work: Work::Queries {
                order: Order::every(0, 1, 7),
                choice,
            },
            start_ns: 0,
            stop: Stop::share(&self.stop, 0, 7, &Order::every(0, 1, 7)),
            fallback: None,
        };
        let in_flight = InFlight::new(vec![slots; self.clients]);
        let routes = Routes::new(&[self.clients]);
        let account = Account::new(&queries, TIMEOUT_NS, in_flight, routes);
        let engine = Engine::new(task, schedule, transport, clock, account);
        let mut total = Tally::default();
        let mut parts = Vec::new();
        let cancel = AtomicBool::new(false);
        let outcome = engine.run(&cancel, |part| {
            cancel.fetch_or(self.cancel_in_second_interval, Ordering::Relaxed);
            total += &part.tallies[0];
            parts.push((part.number, part.end_ns, part.tallies[0].counts.clone()));
        });
        Run {
            total,
            parts,
            outcome,
            seen,
        }
    }
}

fn fixed(rate_qps: f64) -> FixedRate {
    FixedRate::new(Pace::new(0, rate_qps, 0, 1))
}

/// What holds whatever happens.
fn check_invariants(run: &Run) -> Result<(), TestCaseError> {
    let counts = &run.total.counts;
    let seen = run.seen.borrow();
    prop_assert_eq!(counts.sent, seen.sent);
    prop_assert_eq!(
        counts.sent,
        counts.answered + counts.timed_out + counts.refused() + counts.abandoned
    );
    // The drain ends with the last query, so messages may still have been under way.
    prop_assert_eq!(
        seen.delivered,
        counts.answered + counts.unmatched + counts.late + counts.malformed()
    );
    prop_assert_eq!(counts.answered, run.total.latency.len());
    prop_assert_eq!(counts.timed_out, run.total.timed_out.len());
    prop_assert_eq!(counts.answered, counts.rcodes.iter().sum::<u64>());
    let after_stop = run.outcome.answers_after_stop.len() as u64;
    prop_assert_eq!(
        counts.answered,
        run.outcome.answered_before_stop[0] + after_stop
    );
    prop_assert!(run.total.send_error.len() <= counts.sent);
    prop_assert!(run.outcome.ended_ns <= run.outcome.stopped_ns + TIMEOUT_NS + MS);
    Ok(())
}

fn any_fate() -> impl Strategy<Value = Fate> {
    use Fate::*;
    proptest::sample::select(vec![
        Answered,
        Answered,
        Answered,
        AnsweredTwice,
        AnsweredLate,
        AnsweredWithTc,
        BareError,
        Dropped,
        WrongId,
        WrongQuestion,
        TooShort,
        NotAResponse,
        UnparsableQuestion,
        CutMessage,
        SendFails,
        Unreachable,
        StreamReset,
        ConnectionLost,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_query_ends_exactly_once_in_a_closed_loop(
        fates in proptest::collection::vec(any_fate(), 1..40),
        clients in 1usize..5,
        window in 1usize..50,
        delay_us in 1u64..150_000,
        queries in 1u64..2_000,
    ) {
        let stop = StopCondition { duration: Some(Duration::from_millis(700)), queries: Some(queries), passes: None };
        let load = Load { fates, clients, delay_ns: delay_us * 1_000, stop, ..Load::default() };
        let run = load.run(ClosedLoop::new(0, window, None), 8);
        check_invariants(&run)?;
        prop_assert!(run.total.counts.sent <= queries);
    }

    #[test]
    fn every_query_ends_exactly_once_at_a_fixed_rate(
        fates in proptest::collection::vec(any_fate(), 1..40),
        clients in 1usize..5,
        rate in 1.0f64..20_000.0,
        delay_us in 1u64..150_000,
        slots in 1usize..2_000,
    ) {
        let stop = StopCondition { duration: Some(Duration::from_millis(300)), queries: None, passes: None };
        let load = Load { fates, clients, delay_ns: delay_us * 1_000, stop, ..Load::default() };
        let run = load.run(fixed(rate), slots);
        check_invariants(&run)?;
        prop_assert!(run.total.counts.sent as f64 <= rate * 0.301 + 1.0);
    }
}

#[test]
fn a_good_server_answers_all() {
    let run = Load::default().run(fixed(1_000.0), 1_000);
    check_invariants(&run).unwrap();
    assert_eq!(
        (run.total.counts.sent, run.total.counts.answered),
        (2_000, 2_000)
    );
    assert_eq!(run.outcome.stopped, Stopped::Duration);
    let numbers: Vec<_> = run.parts.iter().map(|part| part.0).collect();
    assert_eq!(numbers, [Some(0), Some(1), None]);
    assert_eq!(run.parts[0].1, INTERVAL_NS);
    assert_eq!(run.parts[0].2.sent, 1_000);
}

#[test]
fn a_stalled_generator_cannot_hide_latency() {
    // Each call takes 20 ms, in which 20 further queries come due.
    let run = Load {
        flush_ns: 20 * MS,
        ..Load::default()
    }
    .run(fixed(1_000.0), 1_000);
    check_invariants(&run).unwrap();
    assert!(
        run.total.latency.value_at_quantile(0.5) > 10 * MS,
        "counted from the scheduled time"
    );
    assert!(run.total.send_error.value_at_quantile(0.5) > 5 * MS);
}

#[test]
fn latency_of_a_closed_loop_counts_from_the_send() {
    let run = Load {
        delay_ns: 3 * MS,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 1, None), 64);
    let (least, most) = (run.total.latency.min(), run.total.latency.max());
    assert!(least >= 2_990_000 && most <= 3_010_000, "{least} to {most}");
}

#[test]
fn a_silent_server_frees_places_by_time_out() {
    let stop = StopCondition {
        duration: Some(Duration::from_millis(299)),
        ..StopCondition::default()
    };
    let run = Load {
        fates: vec![Fate::Dropped],
        stop,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 10, None), 64);
    check_invariants(&run).unwrap();
    assert_eq!(
        (run.total.counts.sent, run.total.counts.timed_out),
        (30, 30)
    );
    assert!(run.outcome.blocked_ns > 290 * MS);
}

#[test]
fn a_server_that_never_stops_sending_does_not_stop_time_outs() {
    let run = Load {
        fates: vec![Fate::Dropped],
        floods: true,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 10, None), 64);
    let drain_ns = run.outcome.ended_ns - run.outcome.stopped_ns;
    assert!(drain_ns <= TIMEOUT_NS + 5 * MS, "{drain_ns}");
    assert_eq!(run.total.counts.timed_out, run.total.counts.sent);
    assert!(run.total.counts.sent >= 190);
}

#[test]
fn queries_wait_for_a_full_route_and_hold_up_no_other() {
    let full = |full_until_ns, stop: Option<StopCondition>| {
        let load = Load {
            clients: 2,
            by_weight: true,
            full_until_ns,
            ..Load::default()
        };
        Load {
            stop: stop.unwrap_or(load.stop),
            ..load
        }
        .run(fixed(1_000.0), 4_000)
    };
    // Less than the time-out: all are sent, late by as much as the route was full.
    let run = full(TIMEOUT_NS / 2, None);
    check_invariants(&run).unwrap();
    let counts = &run.total.counts;
    assert_eq!((counts.sent, counts.answered), (2_000, 2_000));
    let late_ns = &run.total.send_error;
    assert!(late_ns.max() >= 45 * MS && late_ns.max() <= 51 * MS);
    assert!(late_ns.value_at_quantile(0.97) < MS);
    assert!(run.outcome.blocked_ns >= 45 * MS);
    assert!(run.total.latency.max() >= 45 * MS);
    // For ever: one half is sent and answered in time, the other refused.
    for stop in [
        None,
        Some(StopCondition {
            queries: Some(2_000),
            ..StopCondition::default()
        }),
    ] {
        let run = full(u64::MAX, stop);
        let counts = &run.total.counts;
        assert_eq!(counts.sent, 2_000);
        assert_eq!(counts.answered + counts.refused(), 2_000);
        assert_eq!(counts.refused[Refusal::NoPlace as usize], counts.refused());
        assert!((990..=1_010).contains(&counts.answered));
        assert!(run.total.send_error.max() < MS);
        assert_eq!(run.total.counts.sent, 2_000);
    }
}

#[test]
fn late_answers_are_told_from_strange_ones() {
    let run = Load {
        fates: vec![Fate::AnsweredLate, Fate::WrongId],
        ..Load::default()
    }
    .run(fixed(100.0), 64);
    let counts = &run.total.counts;
    assert_eq!(counts.timed_out, counts.sent);
    assert!(counts.late > 0 && counts.unmatched > 0);
    assert_eq!(counts.answered, 0);
}

#[test]
fn a_refusing_server_is_not_stormed() {
    let run = Load {
        fates: vec![Fate::Unreachable],
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 10, None), 64);
    check_invariants(&run).unwrap();
    assert!(
        run.total.counts.sent < 4_000,
        "{} queries in 2 s",
        run.total.counts.sent
    );
}

#[test]
fn the_number_of_queries_is_kept_exactly() {
    let stop = StopCondition {
        passes: Some(3),
        ..StopCondition::default()
    };
    let run = Load {
        stop,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 100, None), 256);
    assert_eq!(
        (run.total.counts.sent, run.outcome.stopped),
        (21, Stopped::Exhausted)
    );
    assert_eq!(run.total.counts.answered, 21);
}

#[test]
fn send_error_of_a_closed_loop_is_the_time_a_place_stood_empty() {
    // All answers are back before the next batch, so the window of 100 is never seen full.
    let run = Load {
        delay_ns: 1_000,
        flush_ns: 20_000,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 100, None), 256);
    check_invariants(&run).unwrap();
    let p99_ns = run.total.send_error.value_at_quantile(0.99);
    assert!((1_000..100_000).contains(&p99_ns), "{p99_ns} ns");
}

#[test]
fn places_of_refused_queries_are_free_from_the_refusal_on() {
    // The connection of one client is lost 20 ms after each send, and other clients can send at once.
    for fate in [Fate::ConnectionLost, Fate::StreamReset] {
        let run = Load {
            fates: vec![fate],
            clients: 3,
            delay_ns: 20 * MS,
            ..Load::default()
        }
        .run(ClosedLoop::new(0, 10, None), 64);
        check_invariants(&run).unwrap();
        assert!(run.total.counts.refused() > 900);
        let most_ns = run.total.send_error.max();
        assert!(
            most_ns < MS,
            "{fate:?}: a place stood empty for {most_ns} ns"
        );
    }
}

#[test]
fn the_pause_after_a_refusal_is_no_send_time_error() {
    let run = Load {
        fates: vec![Fate::Unreachable],
        delay_ns: 3 * MS,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 10, None), 64);
    check_invariants(&run).unwrap();
    let most_ns = run.total.send_error.max();
    assert!(most_ns < MS, "{most_ns} ns");
}

#[test]
fn a_cancelled_load_does_not_wait_for_silent_servers() {
    let run = Load {
        fates: vec![Fate::Answered, Fate::Dropped],
        cancel_in_second_interval: true,
        ..Load::default()
    }
    .run(fixed(1_000.0), 1_000);
    check_invariants(&run).unwrap();
    assert_eq!(run.outcome.stopped, Stopped::Cancelled);
    assert!(run.total.counts.abandoned > 0);
    assert!(run.outcome.ended_ns < run.outcome.stopped_ns + TIMEOUT_NS);
}

#[test]
fn answers_that_came_in_time_are_answers_however_late_they_are_taken() {
    // Each send takes longer than the time-out, and few answers are taken at a time.
    let run = Load {
        flush_ns: 3 * TIMEOUT_NS,
        takes: 5,
        ..Load::default()
    }
    .run(fixed(1_000.0), 1_000);
    check_invariants(&run).unwrap();
    assert_eq!(run.total.counts.answered, run.total.counts.sent);
}

#[test]
fn answers_that_came_too_late_are_late_however_soon_they_are_taken() {
    let run = Load {
        fates: vec![Fate::AnsweredLate],
        flush_ns: 3 * TIMEOUT_NS,
        ..Load::default()
    }
    .run(ClosedLoop::new(0, 1, None), 64);
    check_invariants(&run).unwrap();
    let counts = &run.total.counts;
    assert_eq!((counts.answered, counts.timed_out), (0, counts.sent));
    assert!(counts.late > 0);
}

#[test]
fn time_outs_count_from_the_scheduled_time_at_a_fixed_rate() {
    // Each send takes 50 ms, in which 50 further queries come due.
    let run = Load {
        fates: vec![Fate::Dropped],
        flush_ns: 50 * MS,
        ..Load::default()
    }
    .run(fixed(1_000.0), 1_000);
    check_invariants(&run).unwrap();
    assert!(run.total.timed_out.value_at_quantile(0.5) > TIMEOUT_NS + 20 * MS);
}

#[test]
fn a_late_id_with_another_question_answers_nothing() {
    let run = Load {
        fates: vec![Fate::AnsweredLate, Fate::WrongQuestion],
        ..Load::default()
    }
    .run(fixed(100.0), 64);
    let strange = run.seen.borrow().delivered - run.total.counts.late;
    assert_eq!(run.total.counts.unmatched, strange);
}

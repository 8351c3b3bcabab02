use super::samples::{SECOND_NS, Thread, fixed_rate, report};
use super::*;
use crate::config::Route;

/// A thread that sent at even rate until `stopped_s`, and ran, waited for a CPU, was blocked and napped for so long.
fn thread(stopped_s: f64, [ran_s, delay_s, blocked_s, napped_s]: [f64; 4]) -> Thread {
    let ns = |span_s: f64| (span_s * SECOND_NS as f64) as u64;
    let mut thread = Thread::new(1).with_queries(1_000, 1_000);
    thread.outcome.stopped_ns = ns(stopped_s);
    thread.outcome.sending_cpu_ns = ns(ran_s);
    thread.outcome.sending_run_delay_ns = ns(delay_s);
    thread.outcome.blocked_ns = ns(blocked_s);
    thread.outcome.napped_ns = ns(napped_s);
    thread
}

#[test]
fn shares_are_those_of_the_whole_load() {
    let mut early = thread(0.04, [0.027, 0.013, 0.0, 0.0]);
    early.outcome.stopped = Stopped::Exhausted;
    let busiest = thread(10.0, [1.0, 0.5, 2.0, 1.0]);
    let generator = report(&fixed_rate(200.0), vec![early, busiest]).generator;
    assert_eq!(
        (generator.cpu_share, generator.run_delay_share),
        (0.1, 0.05)
    );
    assert_eq!((generator.blocked_share, generator.nap_share), (0.1, 0.05));
}

#[test]
fn no_thread_waits_for_longer_than_the_load_took() {
    // What it waited between the end of the load and the reading of the counter stands in the counter.
    let starved = thread(0.004, [0.003, 0.009, 0.0, 0.0]);
    let generator = report(&fixed_rate(200.0), vec![starved]).generator;
    assert_eq!(generator.cpu_share, 0.75);
    assert_eq!(generator.run_delay_share, 0.25);
}

#[test]
fn threads_without_queries_are_left_out() {
    let idle = || {
        let mut thread = Thread::new(1);
        thread.outcome.stopped = Stopped::Exhausted;
        thread.outcome.stopped_ns = 20_000;
        thread.outcome.sending_cpu_ns = 20_000;
        thread
    };
    let working = thread(10.0, [1.0, 0.0, 4.0, 2.0]);
    let config = fixed_rate(100.0);
    let report = report(&config, vec![idle(), working, idle(), idle()]);
    let generator = report.generator;
    assert_eq!((generator.cpu_share, generator.threads), (0.1, 4));
    assert_eq!((generator.blocked_share, generator.nap_share), (0.4, 0.2));
    assert_ne!(report.bottleneck, Bottleneck::Generator);
}

/// A load that asked for 180 sessions a second for 10 s: how many were tried, opened and failed.
fn sessions([tried, opened, failed]: [u64; 3], closed: u64, clients: usize) -> LoadReport {
    let config = LoadConfig {
        sessions_only: true,
        ..fixed_rate(180.0).with_clients(clients)
    };
    let mut thread = Thread::new(1);
    thread.outcome.sent = tried;
    let counts = &mut thread.measured[0].counts;
    counts.connections.tried = tried;
    counts.connections.opened = opened;
    counts.connections.failed = failed;
    counts.connections.closed = closed;
    counts.session_failures[Refusal::HandshakeFailed as usize] = failed;
    report(&config, vec![thread])
}

#[test]
fn sessions_are_judged_by_the_rate_of_sessions() {
    let met = sessions([1_800, 1_800, 0], 1_700, 100);
    assert_eq!(met.bottleneck, Bottleneck::None);
    assert!(met.tainted.is_empty(), "{:?}", met.tainted);
    assert_eq!(
        met.evidence,
        ["180 sessions per second were asked for and tried; 1800 of 1800 were opened"]
    );

    let few = sessions([900, 900, 0], 800, 100);
    assert_eq!(few.bottleneck, Bottleneck::Unknown);
    assert_eq!(
        few.tainted,
        ["90.0 sessions per second were tried instead of 180.0"]
    );
    assert!(
        few.evidence[0].contains("899 were not tried"),
        "{:?}",
        few.evidence
    );
}

#[test]
fn failed_sessions_have_a_cause() {
    let report = sessions([1_800, 800, 1_000], 0, 1_800);
    assert_eq!(report.bottleneck, Bottleneck::Server);
    assert_eq!(
        report.evidence[0],
        "1000 of 1800 sessions (56 %) failed, 1000 of them as handshake_failed: the TLS or QUIC handshake failed"
    );
    assert_eq!(
        report.tainted,
        ["56 % of the attempts to open a session failed"]
    );
    assert_eq!(report.session_failures["handshake_failed"], 1_000);
}

#[test]
fn sessions_that_were_pending_at_the_end_are_no_failure_of_the_generator() {
    let report = sessions([1_800, 1_000, 0], 0, 1_800);
    assert_eq!(report.bottleneck, Bottleneck::Unknown);
    assert!(
        report.evidence[0].contains("800 of 1800 sessions"),
        "{:?}",
        report.evidence
    );
}

#[test]
fn held_sessions_meet_any_rate_once_all_are_open() {
    let report = sessions([20, 20, 0], 0, 20);
    assert_eq!(report.bottleneck, Bottleneck::None);
    assert!(report.tainted.is_empty(), "{:?}", report.tainted);
}

#[test]
fn rates_of_transports_add_up_to_that_of_the_load() {
    let mut config = fixed_rate(200.0);
    let tcp = Route::new(TransportKind::Tcp, config.routes[0].server);
    config.routes.push(tcp);
    // Over UDP all answers come before the end, over TCP some afterwards.
    let mut thread = Thread::new(2).with_queries(1_000, 1_000);
    thread.measured[1].counts.sent = 1_000;
    thread.measured[1].counts.answered = 400;
    thread.drained[1].counts.answered = 600;
    thread.outcome.answered_before_stop[1] = 400;
    let report = report(&config, vec![thread]);
    let rates: Vec<f64> = report.transports.iter().map(|part| part.qps).collect();
    assert_eq!((report.qps, rates), (140.0, vec![100.0, 40.0]));
    assert_eq!(report.transports[1].answered, 1_000);
}

/// A thread that sent 100 queries until then, of which half were answered by then, and half at `answered_s`.
fn half_answered_later(stopped: Stopped, stopped_s: u64, answered_s: u64) -> Thread {
    let mut thread = Thread::new(1).with_queries(100, 50);
    thread.drained[0].counts.timed_out = 0;
    thread.drained[0].counts.answered = 50;
    thread.outcome.stopped = stopped;
    thread.outcome.stopped_ns = stopped_s * SECOND_NS;
    thread.outcome.last_answer_ns = answered_s * SECOND_NS;
    thread.outcome.answers_after_stop = vec![
        AnswerTime {
            at_ns: answered_s * SECOND_NS,
            route: 0
        };
        50
    ];
    thread
}

#[test]
fn the_measuring_period_is_that_of_the_thread_that_stops_last() {
    use Stopped::{Cancelled, Duration, Exhausted};
    for (first, second, qps, duration_s) in [
        // The first thread's later answers come while the second one still sends; those of the second do not.
        ((Exhausted, 2, 3), (Duration, 10, 11), 15.0, 10.0),
        ((Exhausted, 2, 3), (Cancelled, 5, 6), 30.0, 5.0),
        ((Exhausted, 2, 12), (Duration, 10, 11), 10.0, 10.0),
        // All are used up: the period ends with the last answer.
        ((Exhausted, 2, 3), (Exhausted, 4, 8), 25.0, 8.0),
    ] {
        let thread =
            |(stopped, stopped_s, answered_s)| half_answered_later(stopped, stopped_s, answered_s);
        let report = report(&fixed_rate(20.0), vec![thread(first), thread(second)]);
        assert_eq!((report.qps, report.duration_s), (qps, duration_s));
        assert_eq!(report.answered, 200);
    }
}

#[test]
fn an_open_loop_that_runs_out_of_places_says_so() {
    let config = fixed_rate(40_000.0);
    let silent = |blocked_s: f64| {
        let mut thread = thread(10.0, [0.5, 0.0, blocked_s, 0.0]).with_queries(65_536, 0);
        thread.drained[0].counts.timed_out = 65_536;
        thread
    };
    let full = report(&config, vec![silent(8.0)]);
    assert!(
        full.evidence.contains(
            &"all places in flight were full for 80 % of the time: what was due then was sent late, or not at all"
                .to_owned()
        ),
        "{:?}",
        full.evidence
    );
    let taint = "7 clients have room for all that this rate has in flight within a time-out of 5 s; 1 do not";
    assert!(
        full.tainted.iter().any(|reason| reason.ends_with(taint)),
        "{:?}",
        full.tainted
    );
    let roomy = report(&config.with_clients(7), vec![silent(0.0)]);
    let said = [roomy.evidence, roomy.tainted].concat();
    assert!(
        !said
            .iter()
            .any(|reason| reason.contains("places in flight"))
    );
}

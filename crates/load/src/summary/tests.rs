use super::samples::{SECOND_NS, Thread, fixed_rate, report};
use super::*;

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

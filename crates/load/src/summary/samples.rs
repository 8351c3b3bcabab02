//! Reports of loads that were never run, for tests.

use super::{Whole, summarise};
use crate::LoadReport;
use crate::collector::Collector;
use crate::config::{LoadConfig, ScheduleKind, StopCondition};
use crate::engine::{IntervalPart, Outcome};
use crate::plan::kinds;
use crate::stop::Stopped;
use crate::tally::{Tally, empty_histogram};
use dnsrig_stream::QueryStream;
use std::time::Duration;

pub const SECOND_NS: u64 = 1_000_000_000;

/// What one thread did: by default it sent nothing for 10 s.
pub struct Thread {
    pub outcome: Outcome,
    /// Its counts of each route until it stopped sending.
    pub measured: Vec<Tally>,
    /// And afterwards.
    pub drained: Vec<Tally>,
}

impl Thread {
    /// A thread of a load over so many routes.
    pub fn new(routes: usize) -> Self {
        Self {
            outcome: Outcome {
                stopped: Stopped::Duration,
                stopped_ns: 10 * SECOND_NS,
                sent: 0,
                last_answer_ns: 0,
                answered_before_stop: vec![0; routes],
                answers_after_stop: Vec::new(),
                ended_ns: 10 * SECOND_NS,
                blocked_ns: 0,
                napped_ns: 0,
                sending_run_delay_ns: 0,
                sending_cpu_ns: 0,
                cpu_ns: 0,
                resident_bytes: None,
                wake_up_ns: empty_histogram(),
                wake_up_in_load_ns: empty_histogram(),
                transports: Vec::new(),
            },
            measured: vec![Tally::default(); routes],
            drained: vec![Tally::default(); routes],
        }
    }

    /// It sent queries over the first route, each of which was answered before it stopped, or timed out.
    pub fn with_queries(mut self, sent: u64, answered: u64) -> Self {
        let tally = &mut self.measured[0];
        tally.counts.sent = sent;
        tally.counts.answered = answered;
        tally.latency.record_n(1_000_000, answered).unwrap();
        self.drained[0].counts.timed_out = sent - answered;
        self.outcome.sent = sent;
        self.outcome.answered_before_stop[0] = answered;
        self
    }
}

/// A fixed rate for 10 s over UDP.
pub fn fixed_rate(rate_qps: f64) -> LoadConfig {
    LoadConfig {
        schedule: ScheduleKind::FixedRate { rate_qps },
        stop: StopCondition {
            duration: Some(Duration::from_secs(10)),
            ..StopCondition::default()
        },
        ..LoadConfig::new(([127, 0, 0, 1], 53).into())
    }
}

/// The report of a load that these threads carried out.
pub fn report(config: &LoadConfig, threads: Vec<Thread>) -> LoadReport {
    let mut collector = Collector::new(threads.len(), kinds(config), 0);
    let mut outcomes = Vec::new();
    for thread in threads {
        let stopped_ns = thread.outcome.stopped_ns;
        let parts = [
            (Some(0), stopped_ns, thread.measured),
            (None, thread.outcome.ended_ns, thread.drained),
        ];
        for (number, end_ns, tallies) in parts {
            let part = IntervalPart {
                number,
                last: true,
                end_ns,
                tallies,
            };
            collector.add(part, |_| ());
        }
        outcomes.push(thread.outcome);
    }
    let of_routes = config.routes.iter().map(|route| config.clients_of(route));
    let of_fallback = config.tcp_fallback.then_some(1);
    let clients = of_routes.chain(of_fallback).collect();
    let whole = Whole {
        start_ns: 0,
        start_unix_ns: 0,
        collector,
        outcomes,
        clients,
        udp_drops: 0,
        memory_bytes: None,
    };
    summarise(config, &QueryStream::default(), whole)
}

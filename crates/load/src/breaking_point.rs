//! The search for the breaking point, carried out by loads.

use crate::clock::{Clock, MonotonicClock};
use crate::config::{LoadConfig, ScheduleKind, StopCondition, TransportKind};
use crate::queries::Queries;
use crate::report::{Ceiling, LoadReport, SearchReport};
use crate::run::{check_servers, run};
use crate::search::{BreakingPoint, Goal, Limits, Search, Trial, TrialRecord, TrialResult, find};
use crate::verdict::Figures;
use crate::{Bottleneck, LoadError, sink};
use dnsrig_stream::QueryStream;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long the generator's ceiling is measured.
const CEILING_TIME: Duration = Duration::from_secs(2);

/// Queries in flight while it is.
const CEILING_WINDOW: usize = 100;

/// How long a server that gives no sign of life before a trial is waited for, the first time (RFC 2544 section 23 has
/// trials wait so long for the device to recover).
const RECOVERY: Duration = Duration::from_secs(5);

/// Pause before it is probed again.
const PROBE_AGAIN: Duration = Duration::from_millis(100);

/// Searches for the highest rate that the configured server carries; `config.schedule` and `config.stop` are not used.
///
/// The report is that of the last trial at that rate, with [`LoadReport::breaking_point`] set unless `cancel` was set
/// before the end; before the first trial, it is that of a load that was cancelled before it began. `on_trial` is called
/// after each trial.
///
/// The server has to give a sign of life before the search. If it later gives none before a trial, it is waited for some
/// seconds; if that does not help, the trial counts as failed, and the report's taints say so.
///
/// # Errors
/// [`LoadError`]
pub fn find_breaking_point(
    stream: &QueryStream,
    config: &LoadConfig,
    goal: Goal,
    limits: Limits,
    cancel: &AtomicBool,
    on_trial: impl FnMut(&TrialRecord),
) -> Result<LoadReport, LoadError> {
    let lowest = at_rate(config, limits.min_qps, CEILING_TIME);
    let mut search = Search::new(goal, limits)?;
    lowest.check()?;
    check_servers(&lowest, &Queries::new(stream)?, cancel)?;
    let ceiling_qps = measure_ceiling(stream, config, cancel)?;
    let load = |trial: &Trial| {
        let config = at_rate(config, trial.rate_qps, trial.duration);
        run(stream, &config, cancel, |_| ControlFlow::Continue(()))
    };
    let mut trials = Trials::new(goal, MonotonicClock, cancel, load);
    let found = find(&mut search, cancel, |trial| trials.measure(trial), on_trial)?;
    let Some(mut report) = trials.report_of(found.as_ref()) else {
        return run(stream, &lowest, cancel, |_| ControlFlow::Continue(()));
    };
    report.breaking_point = found.map(|found| SearchReport {
        generator_ceiling_qps: ceiling_qps.or_else(|| ceiling_by_cpu(&report)),
        generator_ceiling_from: if ceiling_qps.is_some() {
            Ceiling::Sink
        } else {
            Ceiling::CpuShare
        },
        found,
    });
    Ok(report)
}

/// The trials of a search, each a load that `load` makes.
struct Trials<'a, C, L> {
    goal: Goal,
    clock: C,
    cancel: &'a AtomicBool,
    load: L,
    /// The rate and report of each trial that was made.
    reports: Vec<(f64, LoadReport)>,
    /// Trials before which the server gave no sign of life.
    lifeless: u64,
    /// Whether the last one was such.
    is_lifeless: bool,
}

impl<'a, C, L> Trials<'a, C, L>
where
    C: Clock,
    L: FnMut(&Trial) -> Result<LoadReport, LoadError>,
{
    fn new(goal: Goal, clock: C, cancel: &'a AtomicBool, load: L) -> Self {
        Self {
            goal,
            clock,
            cancel,
            load,
            reports: Vec::new(),
            lifeless: 0,
            is_lifeless: false,
        }
    }

    fn measure(&mut self, trial: &Trial) -> Result<TrialResult, LoadError> {
        let report = self.load_patiently(trial)?;
        self.is_lifeless = report.is_none();
        let Some(report) = report else {
            self.lifeless += 1;
            return Ok(all_lost(trial));
        };
        let result = to_result(&report, trial, &self.goal);
        self.reports.push((trial.rate_qps, report));
        Ok(result)
    }

    /// Makes a trial as soon as the server gives a sign of life; `None` if it does not in time.
    fn load_patiently(&mut self, trial: &Trial) -> Result<Option<LoadReport>, LoadError> {
        // A server that did not recover is given the time of each trial, no more.
        let patience = if self.is_lifeless {
            trial.duration
        } else {
            RECOVERY
        };
        let deadline_ns = self.clock.now_ns() + patience.as_nanos() as u64;
        loop {
            match (self.load)(trial) {
                Ok(report) => return Ok(Some(report)),
                Err(LoadError::Unreachable { .. } | LoadError::Silent { .. }) => {}
                Err(error) => return Err(error),
            }
            let again_ns = self.clock.now_ns() + PROBE_AGAIN.as_nanos() as u64;
            if again_ns > deadline_ns || self.cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.clock.sleep_until(again_ns);
        }
    }

    /// The report of the last trial at the rate that was found; of a search that found nothing, of the last trial, which
    /// is the one that failed. `None` if there was no trial.
    fn report_of(mut self, found: Option<&BreakingPoint>) -> Option<LoadReport> {
        let rate_qps = found.map_or(0.0, |found| found.qps);
        let at_rate = |(rate, _): &(f64, LoadReport)| *rate == rate_qps;
        let place = self.reports.iter().rposition(at_rate);
        let place = place.or(self.reports.len().checked_sub(1))?;
        let mut report = self.reports.swap_remove(place).1;
        if self.lifeless > 0 {
            report.tainted.push(format!(
                "the server gave no sign of life before {} of the search's trials, which count as failed",
                self.lifeless
            ));
        }
        Some(report)
    }
}

fn at_rate(config: &LoadConfig, rate_qps: f64, duration: Duration) -> LoadConfig {
    LoadConfig {
        schedule: ScheduleKind::FixedRate { rate_qps },
        stop: StopCondition {
            duration: Some(duration),
            ..StopCondition::default()
        },
        ..config.clone()
    }
}

/// What `report` says of a trial.
fn to_result(report: &LoadReport, trial: &Trial, goal: &Goal) -> TrialResult {
    let sent = if Figures::from(report).was_kept_from_sending() {
        report.sent.max(due(trial))
    } else {
        report.sent
    };
    let lost = sent - report.answered;
    // What the server carries although the generator sends in fits and starts, it carries.
    let has_failed = lost as f64 > goal.loss_ratio * sent as f64
        || goal
            .p99_ns
            .zip(report.latency_ns.p99)
            .is_some_and(|(most, p99)| p99 > most);
    TrialResult {
        sent,
        lost,
        p99_ns: report.latency_ns.p99,
        achieved_qps: sent as f64 / trial.duration.as_secs_f64(),
        generator_limited: has_failed && report.bottleneck == Bottleneck::Generator,
    }
}

/// What a trial says in which the server gave no sign of life.
fn all_lost(trial: &Trial) -> TrialResult {
    let due = due(trial);
    TrialResult {
        sent: due,
        lost: due,
        p99_ns: None,
        achieved_qps: due as f64 / trial.duration.as_secs_f64(),
        generator_limited: false,
    }
}

/// Queries that are due in a trial.
fn due(trial: &Trial) -> u64 {
    (trial.rate_qps * trial.duration.as_secs_f64()) as u64
}

/// Answers per second that the generator reaches with the fastest server there is, the sink on another CPU; `None` for
/// loads that the sink cannot answer.
fn measure_ceiling(
    stream: &QueryStream,
    config: &LoadConfig,
    cancel: &AtomicBool,
) -> Result<Option<f64>, LoadError> {
    let [route] = config.routes.as_slice() else {
        return Ok(None);
    };
    // The sink has no key, and an answer without a valid TSIG record is none (RFC 8945 section 5.4).
    if route.transport != TransportKind::Udp || config.dress.tsig.is_some() {
        return Ok(None);
    }
    let loopback: IpAddr = if route.server.is_ipv4() {
        Ipv4Addr::LOCALHOST.into()
    } else {
        Ipv6Addr::LOCALHOST.into()
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, ready) = mpsc::channel();
        let stop = &stop;
        let sink = scope.spawn(move || {
            // As servers answer: with offload the ceiling would be one that no server lets it reach.
            sink::serve_echo(
                SocketAddr::new(loopback, 0),
                None,
                false,
                stop,
                move |address| {
                    let _ = sender.send(address);
                },
            )
        });
        // Without an address the sink could not be opened, which joining tells.
        let measured = ready.recv().ok().map(|address| {
            let config = ceiling_config(config, address);
            run(stream, &config, cancel, |_| ControlFlow::Continue(()))
        });
        stop.store(true, Ordering::Relaxed);
        let ended = sink
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ended?;
        let report = measured.transpose()?;
        Ok(report.map(|report| report.qps).filter(|qps| *qps > 0.0))
    })
}

/// A closed loop of the same clients and threads.
fn ceiling_config(config: &LoadConfig, sink: SocketAddr) -> LoadConfig {
    let mut config = LoadConfig {
        schedule: ScheduleKind::ClosedLoop {
            outstanding: CEILING_WINDOW.max(config.thread_count()),
            max_rate_qps: None,
        },
        stop: StopCondition {
            duration: Some(CEILING_TIME),
            ..StopCondition::default()
        },
        keep_clients: false,
        tcp_fallback: false,
        sources: Vec::new(),
        ..config.clone()
    };
    config.routes[0].server = sink;
    config
}

/// The rate at which the busiest generator thread would use all of its CPU, if its cost per query stayed the same; `None`
/// where nothing was answered.
fn ceiling_by_cpu(report: &LoadReport) -> Option<f64> {
    let share = report.generator.cpu_share;
    (share > 0.0 && report.qps > 0.0).then(|| report.qps / share)
}

#[cfg(test)]
mod tests;

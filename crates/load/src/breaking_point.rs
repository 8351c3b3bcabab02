//! The search for the breaking point, carried out by loads.

use crate::config::{LoadConfig, ScheduleKind, StopCondition, TransportKind};
use crate::report::{Ceiling, LoadReport, SearchReport};
use crate::run::run;
use crate::search::{Goal, Limits, Search, Trial, TrialRecord, TrialResult, find};
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

/// Searches for the highest rate that the configured server carries; `config.schedule` and `config.stop` are not used.
///
/// The report is that of the last trial at that rate, with [`LoadReport::breaking_point`] set unless `cancel` was set
/// before the end; before the first trial, it is that of a load that was cancelled before it began. `on_trial` is called
/// after each trial.
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
    let lowest_qps = limits.min_qps;
    let mut search = Search::new(goal, limits)?;
    let ceiling_qps = measure_ceiling(stream, config, cancel)?;
    let mut reports: Vec<(f64, LoadReport)> = Vec::new();
    let measure = |trial: &Trial| {
        let config = at_rate(config, trial.rate_qps, trial.duration);
        let report = run(stream, &config, cancel, |_| ControlFlow::Continue(()))?;
        let result = to_result(&report, trial, &goal);
        reports.push((trial.rate_qps, report));
        Ok(result)
    };
    let found = find(&mut search, cancel, measure, on_trial)?;
    if reports.is_empty() {
        let config = at_rate(config, lowest_qps, CEILING_TIME);
        return run(stream, &config, cancel, |_| ControlFlow::Continue(()));
    }
    let rate_qps = found.as_ref().map_or(0.0, |found| found.qps);
    // Of a search that found nothing, the last trial is the one that failed.
    let place = reports.iter().rposition(|(rate, _)| *rate == rate_qps);
    let place = place.unwrap_or(reports.len() - 1);
    let mut report = reports.swap_remove(place).1;
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

/// Queries that are due in a trial.
fn due(trial: &Trial) -> u64 {
    (trial.rate_qps * trial.duration.as_secs_f64()) as u64
}

/// Answers per second that the generator reaches with the fastest server there is, the sink on another CPU; `None` for
/// transports that the sink does not have.
fn measure_ceiling(
    stream: &QueryStream,
    config: &LoadConfig,
    cancel: &AtomicBool,
) -> Result<Option<f64>, LoadError> {
    let [route] = config.routes.as_slice() else {
        return Ok(None);
    };
    if route.transport != TransportKind::Udp {
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
            sink::serve_echo(SocketAddr::new(loopback, 0), None, stop, move |address| {
                let _ = sender.send(address);
            })
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
        Ok(measured.transpose()?.map(|report| report.qps))
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

/// The rate at which the busiest generator thread would use all of its CPU, if its cost per query stayed the same.
fn ceiling_by_cpu(report: &LoadReport) -> Option<f64> {
    let share = report.generator.cpu_share;
    (share > 0.0).then(|| report.qps / share)
}

#[cfg(test)]
mod tests;

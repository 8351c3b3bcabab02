//! `_core.load` and what belongs to it. Settings and reports cross as JSON, in the form that `dnsrig load --json` prints.

use crate::arguments::parse_address;
use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use crate::stream::QueryStream;
use dnsrig_load::dress::DressSettings;
use dnsrig_load::search::{Goal, Limits, TrialRecord};
use dnsrig_load::{
    Certificates, HttpMethod, HttpSettings, Interval, LoadConfig, LoadReport, Progress, Route,
    ScheduleKind, SessionSettings, StopCondition, TlsSettings, TlsVersions, TransportKind,
};
use dnsrig_load::{histogram, sink};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde::Deserialize;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a load as Python writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    routes: Vec<RouteSettings>,
    schedule: ScheduleKind,
    stop: Stop,
    threads: Option<usize>,
    timeout_s: f64,
    cpus: Vec<usize>,
    sources: Vec<IpAddr>,
    keep_clients: bool,
    seed: u64,
    cookies: bool,
    randomise_case: bool,
    tsig: Option<String>,
    tcp_fallback: bool,
    sessions_only: bool,
    hold_sessions: bool,
    allow_any_target: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RouteSettings {
    transport: TransportKind,
    server: String,
    port: u16,
    weight: f64,
    clients: Option<usize>,
    queries_per_session: Option<u64>,
    idle_s: Option<f64>,
    resumption: bool,
    tls: Tls,
    http: Http,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    versions: TlsVersions,
    cipher_suites: Vec<String>,
    roots: Option<PathBuf>,
    server_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Http {
    path: String,
    method: HttpMethod,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    duration_s: Option<f64>,
    queries: Option<u64>,
    passes: Option<u64>,
}

/// What is told of a load while it lasts.
enum Told {
    /// It began so many seconds ago.
    Start(f64),
    /// A second, or what is left of one, has ended.
    Second(Box<Interval>),
}

/// Sends `stream` as `settings` (JSON) say; returns the report as JSON, and whether Ctrl-C ended the load.
///
/// `on_second` gets each second's figures as JSON, and `on_start` before that how many seconds ago the load began.
#[pyfunction]
#[pyo3(signature = (stream, settings, on_second=None, on_start=None))]
pub fn load(
    py: Python<'_>,
    stream: &Bound<'_, QueryStream>,
    settings: &str,
    on_second: Option<Bound<'_, PyAny>>,
    on_start: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, bool)> {
    let config = parse_settings(settings)?;
    let stream = &stream.get().stream;
    let (report, raised) = detached(
        py,
        |cancel, pass_on| {
            let mut has_begun = false;
            dnsrig_load::run(stream, &config, cancel, |progress: &Progress<'_>| {
                if !mem::replace(&mut has_begun, true) {
                    pass_on(Told::Start(progress.elapsed_s));
                }
                if let Some(interval) = progress.interval {
                    pass_on(Told::Second(Box::new(interval.clone())));
                }
                ControlFlow::Continue(())
            })
        },
        |told| match (told, &on_start, &on_second) {
            (Told::Start(elapsed_s), Some(callback), _) => callback.call1((elapsed_s,)).map(drop),
            (Told::Second(interval), _, Some(callback)) => {
                callback.call1((to_json(&interval)?,)).map(drop)
            }
            _ => Ok(()),
        },
    )?;
    let interrupted = was_interrupted(py, raised)?;
    Ok((to_json(&report.or_raise()?)?, interrupted))
}

/// Searches for the highest rate that a server carries, with the load of `settings` (JSON; its schedule and stop condition
/// are not used), by `goal` and `limits` (JSON). Returns the report as JSON, and whether Ctrl-C ended the search.
///
/// `on_trial` gets each trial as JSON.
#[pyfunction]
#[pyo3(signature = (stream, settings, goal, limits, on_trial=None))]
pub fn find_breaking_point(
    py: Python<'_>,
    stream: &Bound<'_, QueryStream>,
    settings: &str,
    goal: &str,
    limits: &str,
    on_trial: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, bool)> {
    let config = parse_settings(settings)?;
    let goal: Goal = from_json("the search's goal", goal)?;
    let limits: Limits = from_json("the search's limits", limits)?;
    let stream = &stream.get().stream;
    let (report, raised) = detached(
        py,
        |cancel, pass_on| {
            dnsrig_load::find_breaking_point(stream, &config, goal, limits, cancel, |trial| {
                pass_on(trial.clone());
            })
        },
        |trial: TrialRecord| match &on_trial {
            Some(callback) => callback.call1((to_json(&trial)?,)).map(drop),
            None => Ok(()),
        },
    )?;
    Ok((to_json(&report.or_raise()?)?, was_interrupted(py, raised)?))
}

/// Whether what the caller's side raised during long work was Ctrl-C.
///
/// # Errors
/// Whatever else it was.
fn was_interrupted(py: Python<'_>, raised: PyResult<()>) -> PyResult<bool> {
    match raised {
        Ok(()) => Ok(false),
        Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Judges the bottleneck of a finished load again, with the server's own CPU share (1.0 is one busy processor).
///
/// Takes and returns a report as JSON.
#[pyfunction]
pub fn judge_bottleneck(report: &str, server_cpu_share: f64) -> PyResult<String> {
    let mut report: LoadReport = from_json("the load's report", report)?;
    report.judge(Some(server_cpu_share));
    to_json(&report)
}

/// Merges stored latency histograms; returns the latency in ns at each of `percentiles` (0 to 100).
#[pyfunction]
pub fn latency_percentiles(histograms: Vec<String>, percentiles: Vec<f64>) -> PyResult<Vec<u64>> {
    let merged = histogram::merge(histograms.iter().map(String::as_str)).or_raise()?;
    let merged = histogram::decode(&merged).or_raise()?;
    Ok(percentiles
        .iter()
        .map(|&percentile| merged.value_at_percentile(percentile))
        .collect())
}

/// Echoes every datagram as an answer until Ctrl-C; `on_ready` gets the port. Returns the number of answers.
#[pyfunction]
#[pyo3(signature = (address, port, on_ready, offload=true))]
pub fn serve_echo(
    py: Python<'_>,
    address: &str,
    port: u16,
    on_ready: Bound<'_, PyAny>,
    offload: bool,
) -> PyResult<u64> {
    let address = SocketAddr::new(parse_address(address)?, port);
    let (served, raised) = detached(
        py,
        |cancel, pass_on| {
            sink::serve_echo(address, None, offload, cancel, |bound: SocketAddr| {
                pass_on(bound.port())
            })
        },
        |port: u16| on_ready.call1((port,)).map(drop),
    )?;
    raised.and(served.or_raise())
}

fn parse_settings(settings: &str) -> PyResult<LoadConfig> {
    let settings: Settings = from_json("the load's settings", settings)?;
    let routes = settings.routes.into_iter().map(to_route);
    Ok(LoadConfig {
        routes: routes.collect::<PyResult<_>>()?,
        schedule: settings.schedule,
        stop: StopCondition {
            duration: settings.stop.duration_s.map(seconds).transpose()?,
            queries: settings.stop.queries,
            passes: settings.stop.passes,
        },
        timeout: seconds(settings.timeout_s)?,
        threads: settings.threads,
        sources: settings.sources,
        keep_clients: settings.keep_clients,
        seed: settings.seed,
        dress: DressSettings {
            cookies: settings.cookies,
            randomise_case: settings.randomise_case,
            tsig: settings
                .tsig
                .map(|key| key.parse())
                .transpose()
                .or_raise()?,
            seed: settings.seed,
        },
        tcp_fallback: settings.tcp_fallback,
        sessions_only: settings.sessions_only,
        hold_sessions: settings.hold_sessions,
        cpus: settings.cpus,
        allow_any_target: settings.allow_any_target,
    })
}

fn to_route(settings: RouteSettings) -> PyResult<Route> {
    let server = SocketAddr::new(parse_address(&settings.server)?, settings.port);
    Ok(Route {
        transport: settings.transport,
        server,
        weight: settings.weight,
        clients: settings.clients,
        sessions: SessionSettings {
            queries: settings.queries_per_session,
            idle: settings.idle_s.map(seconds).transpose()?,
            resumption: settings.resumption,
        },
        tls: TlsSettings {
            versions: settings.tls.versions,
            cipher_suites: settings.tls.cipher_suites,
            certificates: match settings.tls.roots {
                Some(file) => Certificates::Roots(file),
                None => Certificates::Unverified,
            },
            server_name: settings.tls.server_name,
        },
        http: HttpSettings {
            path: settings.http.path,
            method: settings.http.method,
        },
    })
}

fn seconds(value: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value).map_err(|_| {
        exception(
            Kind::Input,
            format!("{value} is not a number of seconds to wait"),
        )
    })
}

fn from_json<'t, T: Deserialize<'t>>(what: &str, text: &'t str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|error| exception(Kind::Input, format!("{what} cannot be read: {error}")))
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| {
        exception(
            Kind::SubjectFailed,
            format!("a result cannot be written as JSON: {error}"),
        )
    })
}

//! `_core.traffic_stats` and `_core.traffic_merge`. Options, reports and stored statistics cross as JSON.

use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::{Ports, Reading};
use dnsrig_traffic::stats::{Report, Statistics, StatsOptions, gather};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// How captures are to be read, as Python writes it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    ports: Ports,
    threads: Option<NonZeroUsize>,
}

impl ReadOptions {
    /// These options for `files`.
    pub fn reading<'a>(
        &'a self,
        files: &'a [PathBuf],
        cancel: &'a AtomicBool,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Reading<'a> {
        Reading {
            files,
            ports: &self.ports,
            threads: self.threads,
            cancel,
            progress,
        }
    }
}

/// Runs `work` on the captures `files`; `on_progress` is told the octets of them that were read.
pub fn reading<T: Send>(
    py: Python<'_>,
    files: &[PathBuf],
    options: &ReadOptions,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Reading<'_>) -> Result<T, TrafficError> + Send,
) -> PyResult<T> {
    let (result, raised) = detached(
        py,
        |cancel: &AtomicBool, pass_on| work(&options.reading(files, cancel, &pass_on)),
        |octets: u64| match on_progress {
            Some(callback) => callback.call1((octets,)).map(drop),
            None => Ok(()),
        },
    )?;
    raised?;
    result.or_raise()
}

/// Reads options that Python wrote as JSON; `what` they are stands in the error.
pub fn from_json<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json)
        .map_err(|error| exception(Kind::Input, format!("{what} cannot be used: {error}")))
}

/// Writes a result for Python.
pub fn to_json(result: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(result)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// The part of a stored report that is merged.
#[derive(Deserialize)]
struct State {
    state: Statistics,
}

/// The report of `statistics`, and what is merged: apart, as the latter may be long and Python only hands it on.
fn stored(statistics: &Statistics) -> PyResult<(String, String)> {
    Ok((to_json(&Report::of(statistics))?, to_json(statistics)?))
}

/// Reads the captures `paths` and says what is in them: the report, and the state that is merged.
#[pyfunction]
#[pyo3(signature = (paths, read="{}", options="{}", on_progress=None))]
pub fn traffic_stats(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    options: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    let options: StatsOptions = from_json("the options of statistics", options)?;
    let statistics = reading(py, &paths, &read, on_progress, |reading| {
        gather(reading, &options)
    })?;
    stored(&statistics)
}

/// Adds up stored statistics: pairs of the name of each, for errors, and a report with its state.
#[pyfunction]
pub fn traffic_merge(parts: Vec<(String, String)>) -> PyResult<(String, String)> {
    let mut sum: Option<Statistics> = None;
    for (name, json) in parts {
        let State { state } = serde_json::from_str(&json).map_err(|error| {
            let why = "holds no statistics as 'dnsrig traffic stats --json' prints them";
            exception(Kind::Input, format!("{name}: {why}: {error}"))
        })?;
        match &mut sum {
            None => sum = Some(state),
            Some(sum) => sum
                .merge(&state)
                .map_err(|error| exception(Kind::Input, format!("{name}: {error}")))?,
        }
    }
    match sum {
        Some(sum) => stored(&sum),
        None => Err(exception(Kind::Input, "give statistics to merge")),
    }
}

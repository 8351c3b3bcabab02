//! `_core.traffic_stats`, `_core.traffic_merge` and what they give. Options, reports and stored statistics cross as JSON.

use crate::doorway::with_progress;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::{Ports, Reading};
use dnsrig_traffic::stats::{Report, Statistics, StatsOptions, gather, merge_stored};
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
    let (result, raised) = with_progress(
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

/// What is in captures.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct TrafficStatistics {
    statistics: Statistics,
}

#[pymethods]
impl TrafficStatistics {
    /// The figures as JSON.
    fn report(&self) -> PyResult<String> {
        to_json(&Report::of(&self.statistics))
    }

    /// What is merged as JSON; it may be long.
    fn state(&self) -> PyResult<String> {
        to_json(&self.statistics)
    }

    /// The requests of each second: the first second of a run since 1970, and the counts from that on.
    fn rates(&self) -> Vec<(i64, Vec<u32>)> {
        self.statistics.requests().rates.runs()
    }
}

/// Reads the captures `paths` and counts what is in them.
#[pyfunction]
#[pyo3(signature = (paths, read="{}", options="{}", on_progress=None))]
pub fn traffic_stats(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    options: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<TrafficStatistics> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    let options: StatsOptions = from_json("the options of statistics", options)?;
    let statistics = reading(py, &paths, &read, on_progress, |reading| {
        gather(reading, &options)
    })?;
    Ok(TrafficStatistics { statistics })
}

/// Adds up the statistics in the files `paths`, each of which is JSON: an object with a `state`.
#[pyfunction]
#[pyo3(signature = (paths, on_progress=None))]
pub fn traffic_merge(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<TrafficStatistics> {
    let options = ReadOptions::default();
    let statistics = reading(py, &paths, &options, on_progress, |reading| {
        merge_stored(reading.files, reading.cancel, reading.progress)
    })?;
    Ok(TrafficStatistics { statistics })
}

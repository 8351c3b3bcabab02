//! `_core.traffic_filter` and the other tools that make streams of captures. Settings and results cross as JSON, in the form
//! that the commands print.

use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::{Ports, Reading};
use dnsrig_traffic::select::clients::Share;
use dnsrig_traffic::select::expression::parse_time;
use dnsrig_traffic::select::{
    Converting, Expression, Mixing, Partition, SampleSize, Sampling, Warping,
};
use dnsrig_traffic::select::{convert, filter, mix, partition, sample, warp};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// What is read: the settings that all commands have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    pub files: Vec<PathBuf>,
    #[serde(default)]
    pub ports: Ports,
    #[serde(default)]
    pub threads: Option<NonZeroUsize>,
}

pub fn from_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text)
        .map_err(|error| exception(Kind::Input, format!("the settings cannot be used: {error}")))
}

/// Does `work` on what the settings `captures` (JSON) name; gives its result as JSON. `on_progress` gets octets read.
fn run<T: Serialize + Send>(
    py: Python<'_>,
    captures: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Reading<'_>) -> Result<T, TrafficError> + Send,
) -> PyResult<String> {
    let captures: Captures = from_json(captures)?;
    let (result, raised) = detached(
        py,
        |cancel, pass_on| {
            work(&Reading {
                files: &captures.files,
                ports: &captures.ports,
                threads: captures.threads,
                cancel,
                progress: pass_on,
            })
        },
        |octets: u64| match on_progress {
            Some(callback) => callback.call1((octets,)).map(drop),
            None => Ok(()),
        },
    )?;
    raised?;
    serde_json::to_string(&result.or_raise()?)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// Writes the packets and messages for which `expression` holds to the pcap file `output`.
#[pyfunction]
#[pyo3(signature = (captures, expression, output, on_progress=None))]
pub fn traffic_filter(
    py: Python<'_>,
    captures: &str,
    expression: &str,
    output: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let expression =
        Expression::parse(expression).map_err(|error| exception(Kind::Input, error))?;
    run(py, captures, on_progress.as_ref(), |reading| {
        filter(reading, &expression, &output)
    })
}

/// A time as ns since 1970; `None` if `text` is none.
#[pyfunction]
pub fn traffic_time_ns(text: &str) -> Option<i64> {
    parse_time(text)
}

/// How a stream is to be cut.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum PartitionSettings {
    Labels { zone: String, ranges: String },
    Manifest(PathBuf),
    Clients(NonZeroUsize),
}

fn partition_of(settings: &str) -> PyResult<Partition> {
    match from_json(settings)? {
        PartitionSettings::Labels { zone, ranges } => Partition::by_labels(&zone, &ranges),
        PartitionSettings::Manifest(path) => Partition::by_manifest(&path),
        PartitionSettings::Clients(parts) => Ok(Partition::Clients(parts.get())),
    }
    .or_raise()
}

/// The files that [`traffic_partition`] would write.
#[pyfunction]
pub fn traffic_partition_files(settings: &str, prefix: PathBuf) -> PyResult<Vec<PathBuf>> {
    Ok(partition_of(settings)?.files(&prefix))
}

/// Writes a pcap file beside `prefix` for each part of the captures.
#[pyfunction]
#[pyo3(signature = (captures, settings, prefix, on_progress=None))]
pub fn traffic_partition(
    py: Python<'_>,
    captures: &str,
    settings: &str,
    prefix: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let cutting = partition_of(settings)?;
    run(py, captures, on_progress.as_ref(), |reading| {
        partition(reading, &cutting, &prefix)
    })
}

/// How large a sample is to be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleSettings {
    clients: Option<f64>,
    target_qps: Option<f64>,
    key: u64,
}

fn sampling_of(settings: &str) -> PyResult<Sampling> {
    let settings: SampleSettings = from_json(settings)?;
    let refuse = |why: &str| exception(Kind::Input, why);
    let share = settings
        .clients
        .map(|share| Share::new(share).ok_or_else(|| refuse("the share of clients is from 0 to 1")))
        .transpose()?;
    let is_rate = |qps: f64| qps.is_finite() && qps > 0.0;
    let size = match (share, settings.target_qps) {
        (Some(share), None) => SampleSize::Clients(share),
        (None, Some(qps)) if is_rate(qps) => SampleSize::Rate(qps),
        (Some(share), Some(qps)) if is_rate(qps) => SampleSize::ClientsAtRate(share, qps),
        (None, None) => return Err(refuse("a share of clients or a rate is needed")),
        _ => return Err(refuse("the rate to reach is above 0")),
    };
    Ok(Sampling {
        size,
        key: settings.key,
    })
}

/// Writes all packets of some clients to the pcap file `output`.
#[pyfunction]
#[pyo3(signature = (captures, settings, output, on_progress=None))]
pub fn traffic_sample(
    py: Python<'_>,
    captures: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let sampling = sampling_of(settings)?;
    run(py, captures, on_progress.as_ref(), |reading| {
        sample(reading, &sampling, &output)
    })
}

/// Writes the queries of the captures with those of the captures `others` among them.
#[pyfunction]
#[pyo3(signature = (captures, others, settings, output, on_progress=None))]
pub fn traffic_mix(
    py: Python<'_>,
    captures: &str,
    others: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let others: Captures = from_json(others)?;
    let mixing: Mixing = from_json(settings)?;
    run(py, captures, on_progress.as_ref(), |reading| {
        let others = Reading {
            files: &others.files,
            ports: &others.ports,
            threads: others.threads,
            cancel: reading.cancel,
            progress: &|_| (),
        };
        mix(reading, &others, &mixing, &output)
    })
}

/// Writes the captures to the pcap file `output`, at other times.
#[pyfunction]
#[pyo3(signature = (captures, settings, output, on_progress=None))]
pub fn traffic_warp(
    py: Python<'_>,
    captures: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let warping: Warping = from_json(settings)?;
    run(py, captures, on_progress.as_ref(), |reading| {
        warp(reading, &warping, &output)
    })
}

/// Converts captures, query files or binary messages into one another.
#[pyfunction]
#[pyo3(signature = (captures, settings, output, on_progress=None))]
pub fn traffic_convert(
    py: Python<'_>,
    captures: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let converting: Converting = from_json(settings)?;
    run(py, captures, on_progress.as_ref(), |reading| {
        convert(reading, &converting, &output)
    })
}

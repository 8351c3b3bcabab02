//! `_core.traffic_filter` and the other tools that make streams of captures. Settings and results cross as JSON, in the form
//! that the commands print.

use crate::errors::{Kind, OrRaise, exception};
use crate::traffic::{ReadOptions, from_json, reading, to_json};
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::Reading;
use dnsrig_traffic::select::clients::Share;
use dnsrig_traffic::select::expression::parse_time;
use dnsrig_traffic::select::{
    Converting, Expression, Mixing, Partition, SampleSize, Sampling, Warping,
};
use dnsrig_traffic::select::{convert, filter, mix, partition, sample, warp};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// What JSON is called in errors.
const SETTINGS: &str = "the settings";

/// Does `work` on the captures `paths`, read as `read` (JSON) says; gives its result as JSON.
fn run<T: Serialize + Send>(
    py: Python<'_>,
    paths: &[PathBuf],
    read: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Reading<'_>) -> Result<T, TrafficError> + Send,
) -> PyResult<String> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    to_json(&reading(py, paths, &read, on_progress, work)?)
}

/// Writes the packets and messages for which `expression` holds to the pcap file `output`.
#[pyfunction]
#[pyo3(signature = (paths, read, expression, output, on_progress=None))]
pub fn traffic_filter(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    expression: &str,
    output: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let expression =
        Expression::parse(expression).map_err(|error| exception(Kind::Input, error))?;
    run(py, &paths, read, on_progress, |reading| {
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
    match from_json(SETTINGS, settings)? {
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
#[pyo3(signature = (paths, read, settings, prefix, on_progress=None))]
pub fn traffic_partition(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    settings: &str,
    prefix: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let cutting = partition_of(settings)?;
    run(py, &paths, read, on_progress, |reading| {
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
    let settings: SampleSettings = from_json(SETTINGS, settings)?;
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
#[pyo3(signature = (paths, read, settings, output, on_progress=None))]
pub fn traffic_sample(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let sampling = sampling_of(settings)?;
    run(py, &paths, read, on_progress, |reading| {
        sample(reading, &sampling, &output)
    })
}

/// Writes the queries of the files `paths` with those of `others` among them.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (paths, others, read, settings, output, on_progress=None))]
pub fn traffic_mix(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    others: Vec<PathBuf>,
    read: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mixing: Mixing = from_json(SETTINGS, settings)?;
    run(py, &paths, read, on_progress, |reading| {
        let others = Reading {
            files: &others,
            progress: &|_| (),
            ..*reading
        };
        mix(reading, &others, &mixing, &output)
    })
}

/// Writes the captures to the pcap file `output`, at other times.
#[pyfunction]
#[pyo3(signature = (paths, read, settings, output, on_progress=None))]
pub fn traffic_warp(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let warping: Warping = from_json(SETTINGS, settings)?;
    run(py, &paths, read, on_progress, |reading| {
        warp(reading, &warping, &output)
    })
}

/// Converts captures, query files or binary messages into one another.
#[pyfunction]
#[pyo3(signature = (paths, read, settings, output, on_progress=None))]
pub fn traffic_convert(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    read: &str,
    settings: &str,
    output: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let converting: Converting = from_json(SETTINGS, settings)?;
    run(py, &paths, read, on_progress, |reading| {
        convert(reading, &converting, &output)
    })
}

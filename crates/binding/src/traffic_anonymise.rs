//! `_core.traffic_anonymise`. Settings and the summary cross as JSON.

use crate::errors::OrRaise;
use crate::traffic::{ReadOptions, from_json, reading, to_json};
use dnsrig_traffic::anonymise::{AnonymiseSettings, AnonymiseSummary, Key, anonymise};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// A summary, and whether the key was made.
#[derive(Serialize)]
struct Anonymised {
    #[serde(flatten)]
    summary: AnonymiseSummary,
    made_key: bool,
}

/// Writes the captures `paths` to `output` without anything that tells who sent a query.
///
/// The key is in the file `key`, which is made first if there is none and `make_key` is set. Without `key`, a new one is used
/// and forgotten.
#[pyfunction]
#[pyo3(signature = (paths, output, *, key=None, make_key=false, read="{}", settings="{}", on_progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn traffic_anonymise(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    output: PathBuf,
    key: Option<PathBuf>,
    make_key: bool,
    read: &str,
    settings: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    let settings: AnonymiseSettings = from_json("the settings of anonymisation", settings)?;
    let (key, made_key) = match key {
        Some(path) if make_key => Key::read_or_make(&path),
        Some(path) => Key::read(&path).map(|key| (key, false)),
        None => Key::random().map(|key| (key, false)),
    }
    .or_raise()?;
    let summary = reading(py, &paths, &read, on_progress, |reading| {
        anonymise(reading, &key, &settings, &output)
    })?;
    to_json(&Anonymised { summary, made_key })
}

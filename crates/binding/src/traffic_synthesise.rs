//! `_core.traffic_synthesise`, `_core.traffic_fit`, `_core.traffic_profiles` and `_core.traffic_profile`. Plans and results cross
//! as JSON.

use crate::doorway::with_progress;
use crate::errors::OrRaise;
use crate::traffic::{ReadOptions, from_json, reading, to_json};
use dnsrig_traffic::fit::fit;
use dnsrig_traffic::profile::{NAMED, Profile};
use dnsrig_traffic::synthesise::{Plan, Watch, synthesise};
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Writes traffic as a profile, by name or path, describes it to `path`; `-` is standard output. Gives what was made as JSON.
///
/// `on_progress` is called on this thread with the number of requests made so far.
#[pyfunction]
#[pyo3(signature = (profile, plan, path, on_progress=None))]
pub fn traffic_synthesise(
    py: Python<'_>,
    profile: &str,
    plan: &str,
    path: PathBuf,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let profile = Profile::open(profile).or_raise()?;
    let plan: Plan = from_json("the plan of traffic", plan)?;
    let (made, raised) = with_progress(
        py,
        |cancel, pass_on| {
            let watch = Watch {
                cancel,
                progress: &pass_on,
            };
            synthesise(&profile, &plan, &path, &watch)
        },
        |requests: u64| match &on_progress {
            Some(callback) => callback.call1((requests,)).map(drop),
            None => Ok(()),
        },
    )?;
    raised?;
    to_json(&made.or_raise()?)
}

/// Makes the profile `name` of captures and writes it to `output`; `-` is standard output. Gives what it was made of as JSON.
///
/// `on_progress` is called on this thread with the octets read so far.
#[pyfunction]
#[pyo3(signature = (paths, name, output, read="{}", on_progress=None))]
pub fn traffic_fit(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    name: &str,
    output: PathBuf,
    read: &str,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    let fitted = reading(py, &paths, &read, on_progress.as_ref(), |reading| {
        let fitted = fit(reading, name)?;
        fitted.write(&output)?;
        Ok(fitted)
    })?;
    #[derive(Serialize)]
    struct Made<'a> {
        #[serde(flatten)]
        summary: &'a dnsrig_traffic::fit::FitSummary,
        files: &'a [dnsrig_traffic::read::FileSummary],
    }
    to_json(&Made {
        summary: &fitted.summary,
        files: &fitted.read.files,
    })
}

/// The names and titles of the profiles that come with dnsrig.
#[pyfunction]
pub fn traffic_profiles() -> PyResult<Vec<(String, String)>> {
    let titled = |(name, text): &(&str, &str)| {
        let profile = Profile::parse(name, text).or_raise()?;
        Ok((profile.name, profile.title))
    };
    NAMED.iter().map(titled).collect()
}

/// A profile by name or path: its text, and as JSON its figures and where they are from.
#[pyfunction]
pub fn traffic_profile(source: &str) -> PyResult<(String, String)> {
    #[derive(Serialize)]
    struct Shown<'a> {
        #[serde(flatten)]
        profile: &'a Profile,
        provenance: &'a BTreeMap<String, String>,
    }
    let text = Profile::text(source).or_raise()?;
    let profile = Profile::parse(source, &text).or_raise()?;
    let shown = to_json(&Shown {
        profile: &profile,
        provenance: &profile.provenance,
    })?;
    Ok((text, shown))
}

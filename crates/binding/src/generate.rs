//! `_core.generate_zone`.

use crate::arguments::parse_name;
use crate::doorway::with_progress;
use crate::errors::{Kind, OrRaise, exception, system_error};
use crate::zone::statistics_dict;
use dnsrig_zone::ZoneError;
use dnsrig_zone::generate::{
    Model, Progress, RecordOrder, Watch, ZoneRequest, write_zone, write_zone_to,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// Makes a synthetic zone and writes it to `path`, or to standard output without one; returns counts of what is in it.
///
/// `names` counts what the model counts: delegations, owner names, addresses, hosts, or records for `small`.
/// `on_progress` is called on this thread with the names and octets made so far.
#[pyfunction]
#[pyo3(signature = (path, *, model, origin, names, seed, signed_share=0.05, unsorted=false, on_progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn generate_zone<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    model: &str,
    origin: &str,
    names: u64,
    seed: u64,
    signed_share: f64,
    unsorted: bool,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = ZoneRequest {
        origin: parse_name(origin)?,
        model: parse_model(model, signed_share)?,
        names,
        seed,
        order: match unsorted {
            true => RecordOrder::Shuffled,
            false => RecordOrder::Canonical,
        },
    };
    let (written, raised) = with_progress(
        py,
        |cancel, pass_on| {
            let watch = Watch {
                cancel,
                progress: &pass_on,
                threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            };
            match &path {
                Some(path) => write_zone(path, &request, &watch),
                None => {
                    let name = Path::new("standard output");
                    write_zone_to(&mut io::stdout(), name, &request, &watch)
                }
            }
        },
        |progress: Progress| match &on_progress {
            Some(callback) => callback.call1((progress.names, progress.octets)).map(drop),
            None => Ok(()),
        },
    )?;
    raised?;
    let written = match written {
        Err(ZoneError::Write { source, .. }) if path.is_none() => {
            return Err(system_error(py, source)?);
        }
        other => other.or_raise()?,
    };
    let found = statistics_dict(py, &written.statistics)?;
    found.set_item("octets", written.octets)?;
    Ok(found)
}

fn parse_model(name: &str, signed_share: f64) -> PyResult<Model> {
    match name {
        "tld" => Ok(Model::Tld { signed_share }),
        "enterprise" => Ok(Model::Enterprise),
        "reverse" => Ok(Model::Reverse),
        "flat" => Ok(Model::Flat),
        "small" => Ok(Model::Small),
        other => {
            let message = format!(
                "'{other}' is no model of a zone; there are tld, enterprise, reverse, flat and small"
            );
            Err(exception(Kind::Input, message))
        }
    }
}

//! `_core.Zone`.

use crate::arguments::parse_name;
use crate::errors::{Kind, OrRaise, exception};
use crate::keys::KeySet;
use dnsrig_sign::{Denial, Nsec3Parameters, SigningParameters};
use dnsrig_zone::{ReadZone, Statistics};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A zone in memory.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct Zone {
    pub(crate) zone: dnsrig_zone::Zone,
    warnings: Vec<String>,
}

#[pymethods]
impl Zone {
    /// Reads an RFC 1035 master file.
    #[staticmethod]
    #[pyo3(signature = (path, origin=None))]
    fn read(py: Python<'_>, path: PathBuf, origin: Option<&str>) -> PyResult<Self> {
        let origin = origin.map(parse_name).transpose()?;
        let read = py
            .detach(|| ReadZone::from_file(&path, origin.as_ref()))
            .or_raise()?;
        Ok(Self {
            zone: read.zone,
            warnings: read.warnings.iter().map(ToString::to_string).collect(),
        })
    }

    /// Makes a synthetic small domain of exactly `records` records.
    #[staticmethod]
    fn generate(py: Python<'_>, origin: &str, records: usize, seed: u64) -> PyResult<Self> {
        let origin = parse_name(origin)?;
        let zone = py
            .detach(|| dnsrig_zone::generate::small_domain(&origin, records, seed))
            .or_raise()?;
        Ok(Self {
            zone,
            warnings: Vec::new(),
        })
    }

    /// Writes the zone as a master file: beside, then renamed.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.zone.write(&path)).or_raise()
    }

    /// Gives the zone without what DNSSEC signing adds to it.
    fn without_dnssec(&self) -> Self {
        Self {
            zone: self.zone.without_dnssec(),
            warnings: self.warnings.clone(),
        }
    }

    /// Signs the zone; DNSSEC records that it has are replaced. Times are seconds since 1970.
    #[pyo3(signature = (keys, *, denial, iterations=0, salt="", opt_out=false, inception=None, expiration=None))]
    #[allow(clippy::too_many_arguments)]
    fn sign(
        &self,
        py: Python<'_>,
        keys: PyRef<'_, KeySet>,
        denial: &str,
        iterations: u64,
        salt: &str,
        opt_out: bool,
        inception: Option<u32>,
        expiration: Option<u32>,
    ) -> PyResult<Self> {
        let denial = match denial {
            "nsec" => Denial::Nsec,
            "nsec3" => Denial::Nsec3(Nsec3Parameters::new(iterations, salt, opt_out).or_raise()?),
            other => {
                let message = format!("'{other}' is no kind of denial; there are nsec and nsec3");
                return Err(exception(Kind::Input, message));
            }
        };
        let mut parameters = SigningParameters::new(denial);
        parameters.inception = inception.unwrap_or(parameters.inception);
        parameters.expiration = expiration.unwrap_or(parameters.expiration);
        let keys = &keys.keys;
        let zone = py
            .detach(|| dnsrig_sign::sign(&self.zone, keys, &parameters))
            .or_raise()?;
        Ok(Self {
            zone,
            warnings: Vec::new(),
        })
    }

    /// The name of the apex, with its final dot.
    #[getter]
    fn origin(&self) -> String {
        dnsrig_zone::PresentationName(self.zone.origin()).to_string()
    }

    /// What was odd in the file that the zone was read from.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Counts: records, RRsets, names, delegations, wildcards, empty non-terminals, and records by type.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics_dict(py, &self.zone.statistics())
    }
}

/// Counts of a zone as a dictionary: names of counts to numbers, and `types` with records by type.
pub(crate) fn statistics_dict<'py>(
    py: Python<'py>,
    statistics: &Statistics,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, count) in [
        ("records", statistics.records),
        ("rrsets", statistics.rrsets),
        ("names", statistics.names),
        ("delegations", statistics.delegations),
        ("signed_delegations", statistics.signed_delegations),
        ("glue_records", statistics.glue_records),
        ("wildcards", statistics.wildcards),
        ("empty_non_terminals", statistics.empty_non_terminals),
    ] {
        found.set_item(name, count)?;
    }
    let types = PyDict::new(py);
    for (rtype, count) in &statistics.types {
        types.set_item(rtype.to_string(), count)?;
    }
    found.set_item("types", types)?;
    Ok(found)
}

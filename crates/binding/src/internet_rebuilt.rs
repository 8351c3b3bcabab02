//! `_core.rebuild_internet` and `_core.RebuiltInternet`. What a rebuilt Internet consists of crosses as JSON.

use crate::errors::{Kind, OrRaise, exception};
use crate::traffic::{ReadOptions, from_json, reading, to_json};
use dnsrig_internet::{Collector, Counts, Rebuilt, RebuiltOptions, RebuiltZone, Reconstruction};
use dnsrig_sign::Algorithm;
use dnsrig_zone::{Name, Zone, ZoneError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A zone of an index.
#[derive(Serialize, Deserialize)]
struct IndexedZone {
    name: String,
    file: String,
    servers: BTreeSet<IpAddr>,
    algorithm: Option<String>,
    is_secure: bool,
    nsec3: Option<(u16, bool)>,
}

/// What stands in a rebuilt Internet's folder beside its zones, and how they came about.
#[derive(Serialize)]
struct Index {
    zones: Vec<IndexedZone>,
    used: u64,
    queries_and_others: u64,
    truncated: u64,
    of_resolvers: u64,
    malformed: u64,
    failed: u64,
    conflicts: u64,
    soa_made: u64,
    ns_made: u64,
    without_server: u64,
}

/// What serving needs of an index.
#[derive(Deserialize)]
struct Zones {
    zones: Vec<IndexedZone>,
}

fn index(made: Reconstruction, counts: Counts, folder: &Path) -> Result<Index, ZoneError> {
    let mut zones = Vec::with_capacity(made.zones.len());
    for (number, one) in made.zones.into_iter().enumerate() {
        // Names may have any octets, files may not.
        let file = format!("{number}.zone");
        one.zone.write(&folder.join(&file))?;
        zones.push(IndexedZone {
            name: one.zone.origin().fmt_with_dot().to_string(),
            file,
            servers: one.servers,
            algorithm: one.algorithm.map(|algorithm| algorithm.to_string()),
            is_secure: one.is_secure,
            nsec3: one.nsec3,
        });
    }
    Ok(Index {
        zones,
        used: counts.used,
        queries_and_others: counts.no_response,
        truncated: counts.truncated,
        of_resolvers: counts.recursive,
        malformed: counts.malformed,
        failed: counts.failed,
        conflicts: made.conflicts,
        soa_made: made.soa_made,
        ns_made: made.ns_made,
        without_server: made.without_server,
    })
}

/// Rebuilds zones of the responses in the captures `paths`, and writes them into `folder`; gives the index of them.
#[pyfunction]
#[pyo3(signature = (paths, folder, *, read="{}", on_progress=None))]
pub fn rebuild_internet(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    folder: PathBuf,
    read: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    let collector = reading(py, &paths, &read, on_progress, |reading| {
        let mut collector = Collector::new();
        dnsrig_traffic::read::messages(reading, |message| {
            if !message.is_cut {
                collector.add(message.source.address, message.octets);
            }
            ControlFlow::Continue(())
        })?;
        Ok(collector)
    })?;
    let counts = collector.counts();
    let made = py.detach(|| collector.rebuild());
    if made.zones.is_empty() {
        let why = "no response of a name server in it; capture what a resolver or an authoritative server sees on port 53";
        let files: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(exception(
            Kind::Input,
            format!("{}: {why}", files.join(", ")),
        ));
    }
    let index = py.detach(|| index(made, counts, &folder)).or_raise()?;
    to_json(&index)
}

/// An Internet that was rebuilt from captures.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct RebuiltInternet {
    pub internet: Arc<Rebuilt>,
}

fn read_zone(folder: &Path, one: IndexedZone) -> PyResult<RebuiltZone> {
    let unreadable = |what: String| exception(Kind::Input, what);
    let name = one
        .name
        .parse::<Name>()
        .map_err(|error| unreadable(format!("the zone {:?}: {error}", one.name)))?;
    let algorithm = one.algorithm.map(|name| name.parse::<Algorithm>());
    let algorithm = algorithm
        .transpose()
        .map_err(|error| unreadable(format!("the zone {}: {error}", one.name)))?;
    Ok(RebuiltZone {
        zone: Zone::read(&folder.join(&one.file), Some(&name)).or_raise()?,
        servers: one.servers,
        algorithm,
        is_secure: one.is_secure,
        nsec3: one.nsec3,
    })
}

#[pymethods]
impl RebuiltInternet {
    /// Reads the zones that `index` says are in `folder`, and makes keys and chains for those that were signed.
    #[new]
    #[pyo3(signature = (folder, index, *, seed, signed_at_s))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        index: &str,
        seed: u64,
        signed_at_s: u64,
    ) -> PyResult<Self> {
        let Zones { zones } = from_json("the index of a rebuilt Internet", index)?;
        let zones: Vec<RebuiltZone> = zones
            .into_iter()
            .map(|one| read_zone(&folder, one))
            .collect::<PyResult<_>>()?;
        if zones
            .first()
            .is_none_or(|first| *first.zone.origin() != Name::root_bytes())
        {
            return Err(exception(
                Kind::Input,
                "the first zone of a rebuilt Internet has to be the root",
            ));
        }
        let options = RebuiltOptions { seed, signed_at_s };
        let made = py.detach(|| Rebuilt::new(zones, options)).or_raise()?;
        Ok(Self {
            internet: Arc::new(made),
        })
    }

    /// The root's servers, as a file of root hints.
    #[getter]
    fn root_hints(&self) -> &str {
        self.internet.root_hints()
    }

    /// The root's DS record, as a file of trust anchors; empty if the root was not signed.
    #[getter]
    fn trust_anchor(&self) -> &str {
        self.internet.trust_anchor()
    }

    /// The addresses of all servers.
    #[getter]
    fn addresses(&self) -> Vec<String> {
        let addresses = self.internet.addresses().iter();
        addresses.map(ToString::to_string).collect()
    }
}

//! `_core.rebuild_internet` and `_core.RebuiltInternet`. What a rebuilt Internet consists of crosses as JSON.

use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use crate::traffic::{ReadOptions, from_json, reading, to_json};
use dnsrig_internet::{
    Collector, Counts, InternetError, Rebuilt, RebuiltOptions, RebuiltZone, Reconstruction,
    Responding,
};
use dnsrig_sign::Algorithm;
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::{FileSummary, ReadSummary, Reading};
use dnsrig_zone::{Name, Zone};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The index's format and its version.
const SCHEMA: &str = "dnsrig-rebuilt/1";

/// What stands in a rebuilt Internet's folder beside its zones, and how they came about: schemas/rebuilt.json.
#[derive(Serialize)]
struct Index {
    schema: &'static str,
    zones: Vec<IndexedZone>,
    used: u64,
    queries: u64,
    unanswered: u64,
    others: u64,
    truncated: u64,
    of_resolvers: u64,
    malformed: u64,
    failed: u64,
    astray: u64,
    cut: u64,
    unfit: u64,
    conflicts: u64,
    left_out: u64,
    soa_made: u64,
    ns_made: u64,
    without_server: u64,
}

/// An index, and what it was made of: the files are for messages, and stand in no index.
#[derive(Serialize)]
struct Made {
    index: Index,
    files: Vec<FileSummary>,
    /// Packets that could not be put together of their fragments.
    fragments_lost: u64,
}

/// What captures show.
struct Collected {
    collector: Collector,
    /// Messages that were left out, as only their beginnings are there.
    cut: u64,
    read: ReadSummary,
}

/// What serving needs of an index.
#[derive(Deserialize)]
struct Zones {
    schema: String,
    zones: Vec<IndexedZone>,
}

/// Writes zones into a folder; if that fails or `cancel` is set, those before stay.
fn write_zones(
    zones: Vec<RebuiltZone>,
    folder: &Path,
    cancel: &AtomicBool,
) -> Result<Vec<IndexedZone>, TrafficError> {
    let mut written = Vec::with_capacity(zones.len());
    for one in zones {
        if cancel.load(Ordering::Relaxed) {
            return Err(TrafficError::Interrupted);
        }
        // Names may have any octets, files may not.
        let file = format!("{}.zone", written.len());
        one.zone.write(&folder.join(&file))?;
        written.push(IndexedZone {
            name: one.zone.origin().fmt_with_dot().to_string(),
            file,
            servers: one.servers,
            algorithm: one.algorithm.map(|algorithm| algorithm.to_string()),
            is_secure: one.is_secure,
            nsec3: one.nsec3,
        });
    }
    Ok(written)
}

fn index(made: Reconstruction, counts: Counts, cut: u64, zones: Vec<IndexedZone>) -> Index {
    Index {
        schema: SCHEMA,
        zones,
        used: counts.used,
        queries: counts.queries,
        // A message that is cut may be the response.
        unanswered: counts.unanswered().saturating_sub(cut),
        others: counts.others,
        truncated: counts.truncated,
        of_resolvers: counts.recursive,
        malformed: counts.malformed,
        failed: counts.failed,
        astray: counts.astray,
        cut,
        unfit: counts.unfit,
        conflicts: made.conflicts,
        left_out: made.left_out,
        soa_made: made.soa_made,
        ns_made: made.ns_made,
        without_server: made.without_server,
    }
}

/// Collects what captures show, as far as `memory_octets` reach.
fn collect(reading: &Reading<'_>, memory_octets: usize) -> Result<Collected, TrafficError> {
    let mut collector = Collector::new();
    let mut cut = 0;
    let read = dnsrig_traffic::read::messages(reading, |message| {
        match message.is_cut {
            true => cut += 1,
            false => collector.add(message.source.address, message.octets),
        }
        match collector.octets() <= memory_octets {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    match collector.octets() <= memory_octets {
        true => Ok(Collected {
            collector,
            cut,
            read,
        }),
        false => Err(TrafficError::Setting {
            why: format!(
                "what the captures show takes more than {} MiB: allow more memory (dnsrig internet from-capture --memory), or take a part of them (dnsrig traffic filter)",
                memory_octets >> 20
            ),
        }),
    }
}

/// Rebuilds zones of the responses in the captures `paths`, and writes them into `folder`; gives the index of them. What the
/// captures show may take `memory_octets`, and making zones of it as many again. The JSON object has the `index`, and of each of the
/// `files` how whole it is.
#[pyfunction]
#[pyo3(signature = (paths, folder, *, memory_octets, read="{}", on_progress=None))]
pub fn rebuild_internet(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    folder: PathBuf,
    memory_octets: usize,
    read: &str,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let read: ReadOptions = from_json("the options of reading", read)?;
    let made = reading(py, &paths, &read, on_progress, |reading| {
        let Collected {
            collector,
            cut,
            read,
        } = collect(reading, memory_octets)?;
        let counts = collector.counts();
        if counts == Counts::default() && cut == 0 {
            return Err(TrafficError::Setting {
                why: format!("no DNS message in the captures: {}", read.instead()),
            });
        }
        let made = collector.rebuild(reading.cancel);
        let mut made = made.ok_or(TrafficError::Interrupted)?;
        let zones = std::mem::take(&mut made.zones);
        let zones = write_zones(zones, &folder, reading.cancel)?;
        let fragments = read.assembly.fragments;
        Ok(Made {
            index: index(made, counts, cut, zones),
            files: read.files,
            fragments_lost: fragments.incomplete + fragments.bad + fragments.unusable,
        })
    })?;
    if made.index.zones.is_empty() {
        let cut = match made.index.cut {
            0 => String::new(),
            cut => format!(
                " that is whole ({cut} messages are cut: capture whole packets, tcpdump -s 0)"
            ),
        };
        let faults = made.files.iter().flat_map(FileSummary::faults);
        let faults: String = faults.map(|fault| format!("; {fault}")).collect();
        let why = format!(
            "no response of a name server in it{cut}{faults}; capture what a resolver and name servers say to each other"
        );
        let files: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(exception(
            Kind::Input,
            format!("{}: {why}", files.join(", ")),
        ));
    }
    to_json(&made)
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
    // An index from elsewhere is to read nothing beside its zones.
    if Path::new(&one.file).file_name() != Some(one.file.as_ref()) {
        let what = "has to be the name of a file in the index's folder";
        return Err(unreadable(format!(
            "the zone {}: {:?} {what}",
            one.name, one.file
        )));
    }
    Ok(RebuiltZone {
        zone: Zone::read(&folder.join(&one.file), Some(&name)).or_raise()?,
        servers: one.servers,
        algorithm,
        is_secure: one.is_secure,
        nsec3: one.nsec3,
    })
}

/// Reads the zones of an index and makes an Internet of them.
fn read_internet(
    folder: &Path,
    zones: Vec<IndexedZone>,
    options: RebuiltOptions,
    cancel: &AtomicBool,
) -> PyResult<Rebuilt> {
    let mut read = Vec::with_capacity(zones.len());
    let mut octets = 0;
    for one in zones {
        if cancel.load(Ordering::Relaxed) {
            return Err(InternetError::Interrupted).or_raise();
        }
        let zone = read_zone(folder, one)?;
        octets += zone.octets();
        options.check_memory(octets).or_raise()?;
        read.push(zone);
    }
    Rebuilt::new(read, options, cancel).or_raise()
}

#[pymethods]
impl RebuiltInternet {
    /// Reads the zones that `index` says are in `folder`, and makes keys and chains for those that were signed. Zones and
    /// signatures may take `memory_octets`.
    #[new]
    #[pyo3(signature = (folder, index, *, seed, signed_at_s, memory_octets=1 << 30))]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        index: &str,
        seed: u64,
        signed_at_s: u64,
        memory_octets: usize,
    ) -> PyResult<Self> {
        let what = format!("the index of the rebuilt Internet in {}", folder.display());
        let Zones { schema, zones } = from_json(&what, index)?;
        if schema != SCHEMA {
            return Err(exception(
                Kind::Input,
                format!(
                    "{what} is {schema:?}, not {SCHEMA:?}: make it anew with 'dnsrig internet from-capture'"
                ),
            ));
        }
        if zones.first().is_none_or(|first| first.name != ".") {
            return Err(exception(
                Kind::Input,
                "the first zone of a rebuilt Internet has to be the root",
            ));
        }
        let options = RebuiltOptions {
            seed,
            signed_at_s,
            memory_octets,
        };
        let make = |cancel: &AtomicBool, _: &(dyn Fn(()) + Sync)| {
            read_internet(&folder, zones, options, cancel)
        };
        let (made, raised) = detached(py, make, |(): ()| Ok(()))?;
        raised?;
        Ok(Self {
            internet: Arc::new(made?),
        })
    }

    /// How many zones there are.
    #[getter]
    fn zones(&self) -> usize {
        self.internet.zones()
    }

    /// Octets that zones and signatures take now, about.
    #[getter]
    fn memory_octets(&self) -> usize {
        self.internet.octets()
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

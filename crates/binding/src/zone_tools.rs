//! `_core.zone_sort` and the other tools for zone files of any size. Results cross as JSON, in the form that the commands print.

<<<<<<< HEAD
use crate::errors::{Kind, OrRaise, exception, system_error};
use crate::reading::Reading;
use dnsrig_zone::ZoneError;
use dnsrig_zone::flow::Opening;
=======
use crate::arguments::parse_name;
use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception, system_error};
use dnsrig_zone::flow::{MEMORY_DEFAULT, Opening};
>>>>>>> refs/heads/tools
use dnsrig_zone::pool::Pool;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::tools::check::Severity;
use dnsrig_zone::tools::{self, Comparing, Cutting, LabelRanges, Manifest, PIECES_MAX};
<<<<<<< HEAD
use pyo3::prelude::*;
use serde_json::{Value, json};
=======
use dnsrig_zone::{Name, ZoneError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
>>>>>>> refs/heads/tools
use std::path::{Path, PathBuf};

/// Runs `work` on `paths`, opened as `reading` says, and gives its result as JSON.
fn run(
    py: Python<'_>,
    paths: &[PathBuf],
    reading: Reading<'_>,
    work: impl FnOnce(Vec<Opening<'_>>, &Pool) -> Result<Value, ZoneError> + Send,
) -> PyResult<String> {
    match reading.run(py, paths, work)? {
        // Who reads our output may have gone, which the command line treats in its own way.
        Err(ZoneError::Write { file, source }) if file == Path::new("-") => {
            Err(system_error(py, source)?)
        }
        other => Ok(other.or_raise()?.to_string()),
    }
}

<<<<<<< HEAD
fn name(wire: &[u8]) -> String {
    let mut text = Vec::new();
    dnsrig_zone::text::push_name(wire, &mut text);
    String::from_utf8_lossy(&text).into_owned()
=======
/// Opens `paths`; `pass_on` is told the octets read of all together.
fn with_openings<T>(
    paths: &[PathBuf],
    origin: Option<&Name>,
    memory: usize,
    cancel: &AtomicBool,
    pass_on: &(dyn Fn(u64) + Sync),
    work: impl FnOnce(Vec<Opening<'_>>) -> T,
) -> T {
    let read: Vec<AtomicU64> = paths.iter().map(|_| AtomicU64::new(0)).collect();
    let sums: Vec<_> = read
        .iter()
        .map(|own| {
            |octets: u64| {
                own.store(octets, Ordering::Relaxed);
                pass_on(read.iter().map(|file| file.load(Ordering::Relaxed)).sum());
            }
        })
        .collect();
    let openings = paths.iter().zip(&sums).map(|(path, progress)| Opening {
        memory,
        cancel,
        progress,
        ..Opening::new(path, origin)
    });
    work(openings.collect())
>>>>>>> refs/heads/tools
}

fn texts(items: &[impl ToString]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// Takes the only opening.
fn one<'a>(openings: &[Opening<'a>]) -> Opening<'a> {
    openings[0].clone()
}

/// Writes the zone of `path` to `target` in canonical order; `-` is standard input, and output.
#[pyfunction]
pub fn zone_sort(
    py: Python<'_>,
    path: PathBuf,
    target: PathBuf,
    reading: Reading<'_>,
) -> PyResult<String> {
    run(py, &[path], reading, |openings, pool| {
        let sorted = tools::sort(&one(&openings), pool, &target)?;
        Ok(json!({
            "zone": shown_name(&sorted.apex),
            "records": sorted.records,
            "warnings": texts(&sorted.warnings),
            "warning_count": sorted.warning_count,
        }))
    })
}

/// Cuts the zone of `path` into `pieces` pieces, or into one for each of the ranges `labels`, beside `prefix`.
#[pyfunction]
#[pyo3(signature = (path, prefix, reading, *, pieces=None, labels=None))]
pub fn zone_split(
    py: Python<'_>,
    path: PathBuf,
    prefix: PathBuf,
    reading: Reading<'_>,
    pieces: Option<usize>,
    labels: Option<&str>,
) -> PyResult<String> {
    let refuse = |message: String| exception(Kind::Input, message);
    let cutting = match (pieces, labels) {
        (Some(pieces @ 1..=PIECES_MAX), None) => Cutting::Pieces(pieces),
        (Some(pieces), None) => {
            return Err(refuse(format!(
                "{pieces} is not a number of pieces from 1 to {PIECES_MAX}"
            )));
        }
        (None, Some(labels)) => Cutting::Labels(LabelRanges::read(labels).map_err(refuse)?),
        _ => {
            return Err(refuse(
                "give either a number of pieces or ranges of labels".into(),
            ));
        }
    };
    run(py, &[path], reading, |openings, pool| {
        let split = tools::split(&one(&openings), pool, &cutting, &prefix)?;
        Ok(json!({
            "manifest": split.manifest_path,
            "zone": split.manifest.zone,
            "serial": split.manifest.serial,
            "pieces": split.manifest.pieces,
            "warnings": texts(&split.warnings),
            "warning_count": split.warning_count,
        }))
    })
}

/// Writes to `target` the zone whose pieces are `paths`; one of these may be the manifest, alone it tells where the pieces are.
#[pyfunction]
#[pyo3(signature = (paths, target, reading, *, manifest=None))]
pub fn zone_join(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    target: PathBuf,
    reading: Reading<'_>,
    manifest: Option<PathBuf>,
) -> PyResult<String> {
    let (mut pieces, among) = tools::sort_out(&paths).or_raise()?;
    let path = match (manifest, among) {
        (Some(path), None) | (None, Some(path)) => Some(path),
        (None, None) => None,
        (Some(first), Some(second)) => {
            let message = format!(
                "{} and {} are two manifests; give one",
                first.display(),
                second.display()
            );
            return Err(exception(Kind::Input, message));
        }
    };
    let manifest = path.as_deref().map(Manifest::read).transpose().or_raise()?;
    let manifest = path.as_deref().zip(manifest.as_ref());
    if let (true, Some((path, manifest))) = (pieces.is_empty(), manifest) {
        pieces = manifest.files(path);
    }
    run(py, &pieces, reading, |openings, pool| {
        let joined = tools::join(openings, pool, manifest, &target)?;
        Ok(json!({
            "zone": shown_name(&joined.apex),
            "pieces": joined.pieces,
            "names": joined.names,
            "records": joined.records,
            "warnings": texts(&joined.warnings),
            "warning_count": joined.warning_count,
        }))
    })
}

/// Checks the zone of `path`; `most` findings are in the result, all are counted.
#[pyfunction]
pub fn zone_check(
    py: Python<'_>,
    path: PathBuf,
    most: usize,
    reading: Reading<'_>,
) -> PyResult<String> {
    run(py, &[path], reading, |openings, pool| {
        let checked = tools::check(&one(&openings), pool, most)?;
        let finding = |found: &tools::check::Finding| {
            let at = found.at.as_ref();
            json!({
                "rule": found.rule.name(),
                "severity": found.rule.severity().to_string(),
                "file": at.map(|at| at.file.display().to_string()),
                "line": at.map(|at| at.line),
                "column": at.map(|at| at.column),
                "text": found.what,
            })
        };
        let counts = checked
            .counts
            .iter()
            .map(|(rule, count)| (rule.name().into(), (*count).into()));
        Ok(json!({
            "zone": shown_name(&checked.apex),
            "records": checked.records,
            "errors": checked.count(Severity::Error),
            "warnings": checked.count(Severity::Warning),
            "rules": Value::Object(counts.collect()),
            "findings": checked.findings.iter().map(finding).collect::<Vec<_>>(),
            "zonemd_verified": checked.has_verified_digest,
        }))
    })
}

/// The rules of [`zone_check`]: name, severity, and what each says.
#[pyfunction]
pub fn zone_rules() -> Vec<(&'static str, String, &'static str)> {
    let row =
        |rule: &tools::check::Rule| (rule.name(), rule.severity().to_string(), rule.description());
    tools::check::Rule::ALL.iter().map(row).collect()
}

/// Compares the zones of `a` and `b`; `most` differences are in the result, all are counted.
#[pyfunction]
#[pyo3(signature = (a, b, reading, *, most, ignore_rrsig_times=false, ignore_serial=false, ignore_ttl=false))]
#[allow(clippy::too_many_arguments)]
pub fn zone_compare(
    py: Python<'_>,
    a: PathBuf,
    b: PathBuf,
    reading: Reading<'_>,
    most: usize,
    ignore_rrsig_times: bool,
    ignore_serial: bool,
    ignore_ttl: bool,
) -> PyResult<String> {
    let comparing = Comparing {
        ignores_rrsig_times: ignore_rrsig_times,
        ignores_serial: ignore_serial,
        ignores_ttl: ignore_ttl,
        most,
    };
    run(py, &[a, b], reading, |openings, pool| {
        let [a, b] = [openings[0].clone(), openings[1].clone()];
        let found = tools::compare(a, b, pool, &comparing)?;
        let difference = |one: &tools::Difference| {
            json!({
                "sign": if one.is_added { "+" } else { "-" },
                "line": one.line,
                "record": one.record,
            })
        };
        let types = found.types.iter().map(|(rtype, (removed, added))| {
            (
                rtype.to_string(),
                json!({"removed": removed, "added": added}),
            )
        });
        Ok(json!({
            "zone": shown_name(&found.apex),
            "same": found.same,
            "removed": found.removed(),
            "added": found.added(),
            "types": Value::Object(types.collect()),
            "differences": found.differences.iter().map(difference).collect::<Vec<_>>(),
            "warnings": texts(&found.warnings),
            "warning_count": found.warning_count,
        }))
    })
}

/// Surveys the zone of `path`.
#[pyfunction]
pub fn zone_survey(py: Python<'_>, path: PathBuf, reading: Reading<'_>) -> PyResult<String> {
    run(py, &[path], reading, |openings, pool| {
        Ok(survey_json(&tools::survey(&one(&openings), pool)?))
    })
}

fn survey_json(survey: &tools::Survey) -> Value {
    let counts = &survey.counts;
    let types = counts
        .types
        .iter()
        .map(|(rtype, count)| (rtype.to_string(), (*count).into()));
    let ds = survey.ds.iter().map(|((algorithm, digest_type), records)| {
        json!({"algorithm": algorithm, "digest_type": digest_type, "records": records})
    });
    let keys = survey.dnskeys.iter().map(|((flags, algorithm), records)| {
        json!({"flags": flags, "algorithm": algorithm, "records": records})
    });
    let signatures = survey
        .signatures
        .iter()
        .map(|(algorithm, records)| json!({"algorithm": algorithm, "records": records}));
    let nsec3 = survey.nsec3.iter().map(|found| {
        let salt: String = found
            .salt
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect();
        json!({
            "hash_algorithm": found.algorithm,
            "iterations": found.iterations,
            "salt": salt,
            "records": found.records,
            "opt_out_records": found.opt_out,
        })
    });
    json!({
        "origin": shown_name(&survey.apex),
        "serial": survey.serial,
        "records": counts.records,
        "rrsets": counts.rrsets,
        "names": counts.names,
        "delegations": counts.delegations,
        "signed_delegations": counts.signed_delegations,
        "glue_records": counts.glue_records,
        "wildcards": counts.wildcards,
        "empty_non_terminals": counts.empty_non_terminals,
        "name_servers": survey.name_servers,
        "types": Value::Object(types.collect()),
        "sizes": {
            "servers_of_delegation": tally_json(&survey.servers_of_delegation),
            "label_octets": tally_json(&survey.label_octets),
            "owner_octets": tally_json(&survey.owner_octets),
            "depth": tally_json(&survey.depth),
            "rrset_records": tally_json(&survey.rrset_records),
            "rrset_octets": tally_json(&survey.rrset_octets),
            "ttl_s": tally_json(&survey.ttl_s),
        },
        "ds": ds.collect::<Vec<_>>(),
        "dnskey": keys.collect::<Vec<_>>(),
        "rrsig": signatures.collect::<Vec<_>>(),
        "expiration_unix": survey.expirations.map(|(earliest, latest)| [earliest, latest]),
        "nsec3": nsec3.collect::<Vec<_>>(),
        "warnings": texts(&survey.warnings),
        "warning_count": survey.warning_count,
    })
}

/// Values in a tally that are listed one by one.
const VALUES_MAX: usize = 32;

fn tally_json(tally: &tools::Tally) -> Value {
    let values = tally.0.iter().map(|(value, count)| json!([value, count]));
    json!({
        "count": tally.total(),
        "min": tally.quantile(0.0),
        "median": tally.quantile(0.5),
        "p95": tally.quantile(0.95),
        "max": tally.quantile(1.0),
        "mean": tally.mean(),
        "values": (tally.0.len() <= VALUES_MAX).then(|| values.collect::<Vec<_>>()),
    })
}

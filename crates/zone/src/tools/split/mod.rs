//! Cutting a zone into pieces, each a zone.

mod label_ranges;
mod plan;
mod publish;
mod replaced;
mod write;

pub use label_ranges::LabelRanges;
pub use plan::{Cutting, label_below};

use super::manifest::{MANIFEST_SCHEMA, MANIFEST_SUFFIX, Manifest};
use super::serial_of;
use crate::error::{Warning, ZoneError};
use crate::flow::{Opening, RecordSorter, ZoneFlow, over_names};
use crate::pool::{InOrder, Pool};
use crate::text::shown_name;
use plan::{BatchCounts, Cutter};
use publish::publish;
use replaced::check_replaced;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use write::Pieces;

/// The most pieces that a zone can be cut into.
pub const PIECES_MAX: usize = 10_000;

/// What a zone was cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The manifest, as it was written.
    pub manifest: Manifest,
    /// Where it is.
    pub manifest_path: PathBuf,
    /// The first warnings.
    pub warnings: Vec<Warning>,
    /// All warnings.
    pub warning_count: u64,
}

/// Cuts the zone of `opening` into pieces beside `prefix`: `prefix.1` and so on, with as many digits as the last number has, and
/// the [`Manifest`] `prefix.pieces`.
///
/// Every piece has all records of the apex and then the names from one cut to the next, in canonical order. Cuts are only
/// before names that are not below a zone cut, so that a delegation and the glue below it are in one piece; other
/// addresses of name servers are where their own names are. With signed zones, RRSIG and NSEC records go with their
/// names. The records of an NSEC3 chain are cut into as many equal parts in the order of their hashes, since these have nothing to do
/// with the order of names. The records of all pieces together, the apex counted once, are those of the zone.
///
/// The files get their names together, after all are on disk. None replaces what the zone is read from.
pub fn split(
    opening: &Opening<'_>,
    pool: &Pool,
    cutting: &Cutting,
    prefix: &Path,
) -> Result<Split, ZoneError> {
    if prefix.file_name().is_none() {
        let what = "this is no beginning of file names".into();
        return Err(refuse(prefix, what, "give one such as pieces/example"));
    }
    // Before anything is written, for the manifest, which is JSON, comes last.
    if prefix.to_str().is_none() {
        let what = "not UTF-8, in which the manifest gives file names".into();
        return Err(refuse(prefix, what, "name the pieces otherwise (-f)"));
    }
    over_names(opening, pool, |flow| {
        let mut nsec3 = RecordSorter::new(opening);
        let batches = count(flow, opening, cutting, &mut nsec3)?;
        check_replaced(&flow.files(), prefix, cutting.pieces())?;
        flow.rewind()?;
        let mut pieces = Pieces::new(opening, prefix, cutting.pieces(), pool, nsec3)?;
        let mut cutter = Cutter::new(cutting, &batches);
        let mut number = 0;
        while let Some(batch) = flow.next_batch()? {
            let known = batches.get(number).map(|counts| counts.records);
            if known != Some(batch.records().len()) {
                return Err(changed(opening));
            }
            let cuts = cutter.cuts(number, &batch);
            pieces.batch(Arc::new(batch), &cuts)?;
            number += 1;
        }
        if number != batches.len() {
            return Err(changed(opening));
        }
        let written = pieces.finish()?;
        let manifest = Manifest {
            schema: MANIFEST_SCHEMA.into(),
            zone: shown_name(&flow.apex()),
            serial: written.serial,
            pieces: written.entries,
        };
        let manifest_path = beside(prefix, MANIFEST_SUFFIX);
        publish(written.files, &manifest, &manifest_path, opening.cancel)?;
        let (warnings, warning_count) = flow.warnings();
        Ok(Split {
            manifest,
            manifest_path,
            warnings: warnings.to_vec(),
            warning_count,
        })
    })
}

fn changed(opening: &Opening<'_>) -> ZoneError {
    ZoneError::Changed {
        file: opening.path.to_path_buf(),
    }
}

fn refuse(file: &Path, what: String, hint: &str) -> ZoneError {
    ZoneError::Pieces {
        file: file.to_path_buf(),
        what,
        hint: hint.into(),
    }
}

/// Where the piece `number`, counted from 1, of `count` is written.
fn piece_path(prefix: &Path, number: usize, count: usize) -> PathBuf {
    let digits = count.to_string().len();
    beside(prefix, &format!("{number:0digits$}"))
}

/// `prefix` with a dot and `suffix`.
fn beside(prefix: &Path, suffix: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_os_string();
    path.push(".");
    path.push(suffix);
    path.into()
}

/// Reads the zone once to know how large it is.
fn count(
    flow: &mut ZoneFlow<'_>,
    opening: &Opening<'_>,
    cutting: &Cutting,
    nsec3: &mut RecordSorter<'_>,
) -> Result<Vec<BatchCounts>, ZoneError> {
    let pool = flow.pool();
    let mut batches = Vec::new();
    let mut counting: InOrder<BatchCounts> = InOrder::default();
    let shared = Arc::new(cutting.clone());
    while let Some(mut batch) = flow.next_batch()? {
        nsec3.push(std::mem::take(&mut batch.nsec3), pool)?;
        let cutting = shared.clone();
        counting.push(pool.submit(move || plan::count(&batch, &cutting)));
        if counting.len() > pool.depth() {
            batches.extend(counting.take());
        }
    }
    batches.extend(std::iter::from_fn(|| counting.take()));
    check(&batches, opening.path, cutting)?;
    Ok(batches)
}

/// Refuses what the zone cannot be cut into.
fn check(batches: &[BatchCounts], zone: &Path, cutting: &Cutting) -> Result<(), ZoneError> {
    let units: u64 = batches.iter().map(|batch| batch.units).sum();
    match cutting {
        Cutting::Pieces(pieces) if *pieces as u64 > units.max(1) => Err(refuse(
            zone,
            format!("{pieces} pieces of {units} names that it can be cut before"),
            "ask for fewer pieces",
        )),
        Cutting::Pieces(_) => Ok(()),
        Cutting::Labels(ranges) => {
            if let Some(outside) = batches.iter().find_map(|batch| batch.outside.as_ref()) {
                return Err(refuse(
                    zone,
                    format!("{} is in none of the ranges", shown_name(outside)),
                    "add a range for it, or leave the ends open as in -j,k-",
                ));
            }
            let mut names = vec![0; ranges.len()];
            for batch in batches {
                for (sum, count) in names.iter_mut().zip(&batch.in_range) {
                    *sum += count;
                }
            }
            ranges.check_names(&names, zone)
        }
    }
}

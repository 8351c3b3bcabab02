//! Putting the pieces of a zone together.

mod apex;
mod chain;
mod completeness;
mod merge;

pub use completeness::sort_out;

use super::manifest::Manifest;
use super::sort::text_of;
use crate::error::{Warning, ZoneError};
use crate::flow::{Head, Opening, RecordSorter, Several, over_several};
use crate::output::TextOutput;
use crate::packed::PackedRecord;
use crate::pool::Pool;
use crate::same_name;
use crate::text::shown_name;
use chain::{Break, Nsec3Chains};
use domain::base::iana::Rtype;
use merge::Merge;
use std::path::Path;

/// What was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// Pieces.
    pub pieces: usize,
    /// Records written.
    pub records: u64,
    /// Owner names written, those of NSEC3 records left out.
    pub names: u64,
    /// The first warnings.
    pub warnings: Vec<Warning>,
    /// All warnings.
    pub warning_count: u64,
}

/// Writes to `target` the zone whose pieces are those of `openings`, in any order, as [`sort`](super::sort) would write the whole.
///
/// With the manifest that [`split`](super::split) wrote, or the comments in its pieces, pieces that are missing, cut short or
/// given twice are refused; that goes for pieces signed since then, too. Without either, a gap is noticed by numbers in the
/// file names, and by a chain of NSEC or NSEC3 records that does not go on. The pieces may overlap in one name where
/// one ends and another begins, as those of ldns-zsplit do.
pub fn join(
    openings: Vec<Opening<'_>>,
    pool: &Pool,
    manifest: Option<(&Path, &Manifest)>,
    target: &Path,
) -> Result<Joined, ZoneError> {
    let paths: Vec<&Path> = openings.iter().map(|opening| opening.path).collect();
    let Some(first) = openings.first().cloned() else {
        return Err(refuse(
            target,
            "no pieces were given".into(),
            "give at least one",
        ));
    };
    let marks = completeness::by_marks(&paths, manifest.is_some())?;
    let share = first.memory / openings.len();
    let openings = openings.into_iter().map(|opening| Opening {
        memory: share,
        ..opening
    });
    over_several(openings.collect(), pool, |several| {
        let heads = heads(several, &paths)?;
        let zone = &heads[0].zone;
        let expected = match manifest {
            Some(manifest) => completeness::by_manifest(&paths, &heads, manifest)?,
            None => completeness::by_marks_alone(&marks),
        };
        let heads: Vec<(&Path, &Head)> = paths.iter().copied().zip(&heads).collect();
        let order = merge::order(&heads);
        let in_order: Vec<(&Path, &Head)> = order.iter().map(|&number| heads[number]).collect();
        let apex_records = apex::put_together(&in_order, zone)?;
        let mut output = TextOutput::create(target, &first, pool)?;
        let mut nsec3 = RecordSorter::new(&first);
        let mut merge = Merge::new(several, &paths, &heads, order, &expected, zone);
        merge.apex(&apex_records, &mut output)?;
        merge.run(&mut output, &mut nsec3)?;
        let (names, mut records, warnings, warning_count) = merge.finish()?;
        records += write_nsec3(nsec3, &mut output, pool, target)?;
        output.finish()?;
        Ok(Joined {
            apex: zone[..].into(),
            pieces: paths.len(),
            records,
            names,
            warnings,
            warning_count,
        })
    })
}

fn refuse(file: &Path, what: String, hint: &str) -> ZoneError {
    ZoneError::Pieces {
        file: file.to_path_buf(),
        what,
        hint: hint.into(),
    }
}

/// The beginning of each piece; refuses pieces of other zones, and unsigned among signed.
fn heads(several: &Several<'_>, paths: &[&Path]) -> Result<Vec<Head>, ZoneError> {
    let mut heads: Vec<Head> = Vec::with_capacity(paths.len());
    for (number, path) in paths.iter().enumerate() {
        let head = several.open(number)?.head()?;
        if let Some(first) = heads.first()
            && !same_name(&first.zone, &head.zone)
        {
            let what = format!(
                "this is a piece of {}, but {} is one of {}",
                shown_name(&head.zone),
                paths[0].display(),
                shown_name(&first.zone)
            );
            return Err(refuse(path, what, "give pieces of one zone"));
        }
        // ldns-zsplit gives later pieces no more of the apex than the SOA record, without its signature.
        let has_apex = |head: &&Head| head.apex.iter().any(|record| record.rtype == Rtype::NS);
        let whole = heads.iter().position(|head| has_apex(&head));
        if let Some(other) = whole.filter(|_| has_apex(&&head))
            && heads[other].is_signed != head.is_signed
        {
            let words = |is_signed| if is_signed { "signed" } else { "not signed" };
            let what = format!(
                "this piece is {}, but {} is {}",
                words(head.is_signed),
                paths[other].display(),
                words(heads[other].is_signed)
            );
            return Err(refuse(path, what, "sign all pieces, or none"));
        }
        heads.push(head);
    }
    Ok(heads)
}

/// Writes the records of NSEC3 chains, which must not be broken; how many there are.
fn write_nsec3(
    nsec3: RecordSorter<'_>,
    output: &mut TextOutput<'_>,
    pool: &Pool,
    target: &Path,
) -> Result<u64, ZoneError> {
    let mut sorted = nsec3.finish(pool)?;
    let mut chains = Nsec3Chains::default();
    let mut count = 0;
    let broken = |found: Break| broken(target, &found, Rtype::NSEC3);
    while let Some(records) = sorted.next_batch(pool)? {
        records
            .iter()
            .try_for_each(|record: PackedRecord<'_>| chains.take(&record))
            .map_err(broken)?;
        count += records.len() as u64;
        output.submit(move || text_of(&records))?;
    }
    chains.end().map_err(broken)?;
    Ok(count)
}

/// A chain that does not go on.
fn broken(file: &Path, found: &Break, rtype: Rtype) -> ZoneError {
    let what = format!(
        "the {rtype} record of {} names {} next, but {} comes next: a piece is missing there, or the pieces were signed as if each were the whole zone",
        shown_name(&found.owner),
        shown_name(&found.next),
        shown_name(&found.found),
    );
    refuse(
        file,
        what,
        "give all pieces; pieces are to be split from a zone with its chain (sign --chain-only) and signed with it (sign --given-chain)",
    )
}

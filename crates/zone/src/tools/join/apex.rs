//! The apex of a zone whose pieces have one each.

use super::refuse;
use crate::compare_rdata;
use crate::error::{Position, ZoneError};
use crate::flow::{Head, RecordRange};
use crate::packed::{PackedRecord, PackedRecords};
use crate::read::position;
use crate::text::shown_name;
use crate::tools::serial_of;
use domain::base::iana::Rtype;
use std::path::Path;
use std::sync::Arc;

/// Puts together the apexes of the pieces, which are given in their order.
///
/// Each RRset is that of the first piece that has it; the others must have the same or, as with ldns-zsplit, none.
/// Signatures and the NSEC record are the first piece's, for pieces that were signed one by one have each their own.
pub(super) fn put_together(
    heads: &[(&Path, &Head)],
    apex: &[u8],
) -> Result<PackedRecords, ZoneError> {
    let mut joined = PackedRecords::default();
    let mut sources: Vec<(Rtype, Option<Rtype>, &Path)> = Vec::new();
    for (path, head) in heads {
        let all = RecordRange::new(&head.apex, 0..head.apex.len());
        for set in all.runs() {
            let first = set.get(0);
            let (rtype, covered) = (first.rtype, first.covered());
            let known = sources
                .iter()
                .find(|(known, of, _)| (*known, *of) == (rtype, covered));
            let Some((.., source)) = known else {
                set.iter().for_each(|record| joined.push(&record));
                sources.push((rtype, covered, path));
                continue;
            };
            if matches!(rtype, Rtype::RRSIG | Rtype::NSEC) {
                continue;
            }
            let earlier = joined.iter().filter(|record| record.rtype == rtype);
            if !is_same(earlier.clone(), set.iter()) {
                return Err(differ(path, source, earlier, &set, apex));
            }
        }
    }
    Ok(joined)
}

fn is_same<'a>(
    a: impl Iterator<Item = PackedRecord<'a>>,
    b: impl Iterator<Item = PackedRecord<'a>>,
) -> bool {
    a.map(Some)
        .chain(std::iter::repeat(None))
        .zip(b.map(Some).chain([None]))
        .all(|pair| match pair {
            (Some(a), Some(b)) => compare_rdata(a.rtype, a.rdata, b.rdata).is_eq(),
            (None, None) => true,
            _ => false,
        })
}

fn differ<'a>(
    path: &Path,
    source: &Path,
    earlier: impl Iterator<Item = PackedRecord<'a>>,
    set: &RecordRange<'_>,
    apex: &[u8],
) -> ZoneError {
    let record = set.get(0);
    let (what, hint) = match record.rtype {
        Rtype::SOA => {
            let serial = |soa: Option<u32>| soa.map_or("none".into(), |serial| serial.to_string());
            let what = format!(
                "the SOA record (serial {}) is another than that of {} (serial {})",
                serial(serial_of(set.iter())),
                source.display(),
                serial(serial_of(earlier)),
            );
            (what, "give pieces of one version of the zone")
        }
        rtype => {
            let what = format!(
                "the {rtype} records of the apex {} are others than in {}",
                shown_name(apex),
                source.display()
            );
            (
                what,
                "give pieces of one version of the zone, signed with the same keys and options",
            )
        }
    };
    let files: [Arc<Path>; 1] = [path.into()];
    let place = crate::FilePlace {
        file: 0,
        ..record.place
    };
    let Position { line, column, .. } = position(&files, place);
    let mut at = path.as_os_str().to_os_string();
    at.push(format!(":{line}:{column}"));
    refuse(Path::new(&at), what, hint)
}

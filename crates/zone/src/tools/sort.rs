//! A zone in canonical order (RFC 4034 section 6.1).

use crate::error::{Warning, ZoneError};
use crate::flow::{Opening, RecordSorter, SortedRecords, over_names};
use crate::output::{TextOutput, push_names};
use crate::packed::{PackedRecord, PackedRecords};
use crate::pool::Pool;
use crate::text::push_record;
use std::path::Path;

/// What was sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// Records written.
    pub records: u64,
    /// The first warnings.
    pub warnings: Vec<Warning>,
    /// All warnings.
    pub warning_count: u64,
}

/// Writes the zone of `opening` to `target` in canonical order: one record a line, absolute names, no directives, the SOA
/// record first, the records of an NSEC3 chain last. Duplicates are dropped.
pub fn sort(opening: &Opening<'_>, pool: &Pool, target: &Path) -> Result<Sorted, ZoneError> {
    over_names(opening, pool, |flow| {
        let mut output = TextOutput::create(target, opening, pool)?;
        let mut nsec3 = RecordSorter::new(opening);
        let mut records = 0;
        while let Some(mut batch) = flow.next_batch()? {
            records += batch.records().len() as u64;
            nsec3.push(std::mem::take(&mut batch.nsec3), pool)?;
            output.submit(move || {
                let mut text = Vec::with_capacity(2 * batch.memory());
                push_names(&batch, &mut text);
                text
            })?;
        }
        records += write_all(&mut nsec3.finish(pool)?, &mut output, pool)?;
        output.finish()?;
        let (warnings, warning_count) = flow.warnings();
        Ok(Sorted {
            apex: flow.apex()[..].into(),
            records,
            warnings: warnings.to_vec(),
            warning_count,
        })
    })
}

/// Writes the records that are left of `sorted`; how many these are.
pub(super) fn write_all(
    sorted: &mut SortedRecords<'_>,
    output: &mut TextOutput<'_>,
    pool: &Pool,
) -> Result<u64, ZoneError> {
    let mut count = 0;
    while let Some(records) = sorted.next_batch(pool)? {
        count += records.len() as u64;
        output.submit(move || text_of(&records))?;
    }
    Ok(count)
}

/// The text of records, one a line.
pub(super) fn text_of(records: &PackedRecords) -> Vec<u8> {
    let mut text = Vec::with_capacity(2 * records.memory());
    push_records(records.iter(), &mut text);
    text
}

/// Appends the text of records, one a line.
pub(super) fn push_records<'a>(
    records: impl Iterator<Item = PackedRecord<'a>>,
    text: &mut Vec<u8>,
) {
    for record in records {
        push_record(&record, text);
    }
}

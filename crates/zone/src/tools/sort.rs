//! A zone in canonical order (RFC 4034 section 6.1).

use crate::error::{Warning, ZoneError};
use crate::flow::{Opening, over_names};
use crate::output::{TextOutput, push_names};
use crate::pool::Pool;
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
        let mut output = TextOutput::create(target, pool)?;
        let mut nsec3 = crate::PackedRecords::default();
        let mut records = 0;
        while let Some(mut batch) = flow.next_batch()? {
            records += batch.records().len() as u64;
            nsec3.append(&batch.nsec3);
            batch.nsec3 = crate::PackedRecords::default();
            output.submit(move || {
                let mut text = Vec::with_capacity(2 * batch.memory());
                push_names(&batch, &mut text);
                text
            })?;
        }
        records += output.nsec3(nsec3)?;
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

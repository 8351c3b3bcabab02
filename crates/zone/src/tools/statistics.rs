//! Counting what is in a zone.

use crate::canonical::{empty_non_terminals, label_count};
use crate::error::ZoneError;
use crate::flow::{Batch, Opening, over_names};
use crate::pool::{InOrder, Pool};
use crate::{NameKind, Statistics};
use domain::base::iana::Rtype;

/// Counts what the zone of `opening` has.
pub fn statistics(opening: &Opening<'_>, pool: &Pool) -> Result<Statistics, ZoneError> {
    over_names(opening, pool, |flow| {
        let mut total = Statistics::default();
        let mut counting: InOrder<Statistics> = InOrder::default();
        while let Some(batch) = flow.next_batch()? {
            counting.push(pool.submit(move || count(&batch)));
            if counting.len() > pool.depth()
                && let Some(counts) = counting.take()
            {
                total.add(counts);
            }
        }
        while let Some(counts) = counting.take() {
            total.add(counts);
        }
        Ok(total)
    })
}

pub(super) fn count(batch: &Batch) -> Statistics {
    let mut counts = Statistics::default();
    let apex_labels = label_count(&batch.apex);
    let mut previous = batch.previous.as_deref().unwrap_or(&batch.apex);
    for record in batch.records().iter().chain(batch.nsec3.iter()) {
        counts.records += 1;
        *counts.types.entry(record.rtype).or_default() += 1;
    }
    let hashed = batch
        .nsec3
        .iter()
        .filter(|record| record.rtype == Rtype::NSEC3);
    let hashed = hashed.count();
    counts.names += hashed;
    counts.rrsets += hashed;
    for name in batch.names() {
        counts.names += 1;
        counts.rrsets += name.rrsets().count();
        if name.kind == NameKind::BelowCut {
            let addresses = name
                .records
                .iter()
                .filter(|record| matches!(record.rtype, Rtype::A | Rtype::AAAA));
            counts.glue_records += addresses.count();
            continue;
        }
        if name.kind == NameKind::Delegation {
            counts.delegations += 1;
            counts.signed_delegations += usize::from(name.has(Rtype::DS));
        }
        counts.wildcards += usize::from(name.owner().starts_with(b"\x01*"));
        counts.empty_non_terminals +=
            empty_non_terminals(apex_labels, previous, name.owner()).count();
        previous = name.owner();
    }
    counts
}

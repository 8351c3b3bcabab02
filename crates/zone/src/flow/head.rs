//! The beginning of a zone, looked at before its names are gone over.

use super::{RecordRange, ZoneFlow};
use crate::error::ZoneError;
use crate::packed::PackedRecords;
use domain::base::iana::Rtype;
use std::sync::Arc;

/// The apex of a zone, and what comes next.
#[derive(Debug)]
pub(crate) struct Head {
    /// The zone's apex, as wire octets.
    pub zone: Arc<[u8]>,
    /// The records of the apex but those of an NSEC3 chain, sorted by type and data.
    pub apex: PackedRecords,
    /// The first owner below the apex.
    pub first: Option<Box<[u8]>>,
    /// Whether there are RRSIG records among the first names.
    pub is_signed: bool,
}

impl ZoneFlow<'_> {
    /// Reads as far as the first name below the apex; the names can be gone over afterwards as if it had not been read.
    pub(crate) fn head(&mut self) -> Result<Head, ZoneError> {
        while self.pending_names().nth(1).is_none()
            && let Some(next) = self.next_grouped()?
        {
            // Nothing comes back before the first batch was given.
            self.wait(next)?;
        }
        let mut head = Head {
            zone: self.apex.clone(),
            apex: PackedRecords::default(),
            first: None,
            is_signed: false,
        };
        let mut names = self.pending_names();
        if let Some(apex) = names.next() {
            apex.iter().for_each(|record| head.apex.push(&record));
        }
        head.first = names.next().map(|name| name.get(0).owner.into());
        let mut all = self
            .pending
            .iter()
            .flat_map(|pending| pending.records.iter().chain(pending.nsec3.iter()));
        head.is_signed = all.any(|record| record.rtype == Rtype::RRSIG);
        Ok(head)
    }

    /// The records of each name that waits.
    fn pending_names(&self) -> impl Iterator<Item = RecordRange<'_>> {
        self.pending.iter().flat_map(|pending| {
            let spans = pending.groups.iter();
            spans.map(|span| RecordRange::new(&pending.records, span.range()))
        })
    }
}

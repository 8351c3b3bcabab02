//! The beginning of a zone, looked at before its names are gone over.

use super::ZoneFlow;
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
        while !self.is_at_end
            && self
                .pending
                .as_ref()
                .is_none_or(|pending| pending.groups.len() < 2)
        {
            let Some(mut next) = self.next_grouped()? else {
                break;
            };
            self.pending = Some(match self.pending.take() {
                Some(pending) => self.joined(pending, &mut next)?,
                None => next,
            });
        }
        let mut head = Head {
            zone: self.apex.clone(),
            apex: PackedRecords::default(),
            first: None,
            is_signed: false,
        };
        let Some(pending) = &self.pending else {
            return Ok(head);
        };
        if let Some(apex) = pending.groups.first() {
            for index in apex.first..apex.end {
                head.apex.push(&pending.records.get(index as usize));
            }
        }
        let next = pending.groups.get(1);
        head.first = next.map(|span| pending.records.get(span.first as usize).owner.into());
        let mut all = pending.records.iter().chain(pending.nsec3.iter());
        head.is_signed = all.any(|record| record.rtype == Rtype::RRSIG);
        Ok(head)
    }
}

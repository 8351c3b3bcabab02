//! Stretches of the records of a zone, of which parts are handed to threads.

use crate::canonical::{compare_names, same_name};
use crate::flow::{Batch, RecordRange};
use crate::packed::PackedRecords;
use std::ops::Range;
use std::sync::Arc;

/// Records in canonical order of their owners.
#[derive(Clone, Debug)]
pub(super) enum Chunk {
    /// Names.
    Names(Arc<Batch>),
    /// Records of NSEC3 chains.
    Nsec3(Arc<PackedRecords>),
}

/// A part of a chunk: names by their indexes, NSEC3 records by theirs.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub chunk: Chunk,
    pub range: Range<usize>,
}

impl Chunk {
    /// Parts that it can be cut into.
    pub fn len(&self) -> usize {
        match self {
            Self::Names(batch) => batch.names().len(),
            Self::Nsec3(records) => records.len(),
        }
    }

    fn owner(&self, index: usize) -> &[u8] {
        match self {
            Self::Names(batch) => batch.names().nth(index).map_or(&[], |name| name.owner()),
            Self::Nsec3(records) => records.get(index).owner,
        }
    }

    /// The last owner; there must be one.
    pub fn last_owner(&self) -> &[u8] {
        self.owner(self.len() - 1)
    }

    /// The index after the last owner that is not after `bound`, searched from `first` on.
    pub fn end(&self, first: usize, bound: &[u8]) -> usize {
        let (mut low, mut high) = (first, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare_names(self.owner(middle), bound).is_gt() {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }
}

impl Part {
    /// The records of each owner.
    pub fn owners(&self) -> Box<dyn Iterator<Item = RecordRange<'_>> + '_> {
        match &self.chunk {
            Chunk::Names(batch) => Box::new(
                batch
                    .names()
                    .skip(self.range.start)
                    .take(self.range.len())
                    .map(|name| name.records),
            ),
            Chunk::Nsec3(records) => Box::new(owner_runs(records, self.range.clone())),
        }
    }
}

/// The runs of records with one owner.
fn owner_runs(
    records: &PackedRecords,
    range: Range<usize>,
) -> impl Iterator<Item = RecordRange<'_>> {
    let mut first = range.start;
    std::iter::from_fn(move || {
        if first >= range.end {
            return None;
        }
        let owner = records.get(first).owner;
        let is_other = |&index: &usize| !same_name(records.get(index).owner, owner);
        let end = (first + 1..range.end).find(is_other).unwrap_or(range.end);
        let run = RecordRange::new(records, first..end);
        first = end;
        Some(run)
    })
}

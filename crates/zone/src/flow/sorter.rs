//! Records that come in any order, sorted with bounded memory: those of NSEC3 chains, whose owners are hashes.

use super::Opening;
use super::merge::{Runs, Spilled};
use super::sorting::{INDEX_OCTETS, sorted_runs};
use crate::error::ZoneError;
use crate::packed::PackedRecords;
use crate::pool::{InOrder, Pool};
use std::sync::atomic::AtomicBool;

/// Octets of a block; smaller ones are put together.
const BLOCK_OCTETS: usize = 1 << 20;

/// Takes records in any order and gives them back sorted, by way of temporary files beyond a limit.
#[derive(Debug)]
pub struct RecordSorter<'a> {
    blocks: Vec<PackedRecords>,
    /// Octets that `blocks` take.
    memory: usize,
    limit: usize,
    spilled: Spilled<'a>,
    records: u64,
    cancel: &'a AtomicBool,
}

impl<'a> RecordSorter<'a> {
    /// Holds a quarter of what `opening` allows for sorting in memory, for the rest is for the zone's names, and makes
    /// temporary files where it says. Ends with [`ZoneError::Cancelled`] as the reading of the zone does.
    pub fn new(opening: &Opening<'a>) -> Self {
        Self {
            blocks: Vec::new(),
            memory: 0,
            limit: opening.memory / 4,
            spilled: Spilled::new(opening),
            records: 0,
            cancel: opening.cancel,
        }
    }

    /// Takes further records.
    pub fn push(&mut self, mut records: PackedRecords, pool: &Pool) -> Result<(), ZoneError> {
        if records.is_empty() {
            return Ok(());
        }
        records.shrink();
        self.records += records.len() as u64;
        self.memory += records.memory() + records.len() * INDEX_OCTETS;
        match self.blocks.last_mut() {
            Some(last) if last.memory() + records.memory() < BLOCK_OCTETS => last.append(&records),
            _ => self.blocks.push(records),
        }
        if self.memory > self.limit {
            self.memory = 0;
            let blocks = std::mem::take(&mut self.blocks);
            self.spilled.push(sorted_runs(blocks, pool, self.cancel)?)?;
        }
        Ok(())
    }

    /// Records taken so far, duplicates included.
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Whether no record was taken.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Sorts what was taken.
    pub fn finish(self, pool: &Pool) -> Result<SortedRecords<'a>, ZoneError> {
        let runs = sorted_runs(self.blocks, pool, self.cancel)?;
        Ok(SortedRecords {
            runs: Runs::new(self.spilled.with(runs)),
            sorting: InOrder::default(),
            is_at_end: false,
            cancel: self.cancel,
        })
    }
}

/// Records sorted by owner, type and data, without duplicates.
#[derive(Debug)]
pub struct SortedRecords<'a> {
    runs: Runs,
    sorting: InOrder<PackedRecords>,
    is_at_end: bool,
    cancel: &'a AtomicBool,
}

impl SortedRecords<'_> {
    /// The next some thousand records, all of each owner; `None` at the end.
    pub fn next_batch(&mut self, pool: &Pool) -> Result<Option<PackedRecords>, ZoneError> {
        while !self.is_at_end && self.sorting.len() < pool.depth() {
            let mut records = self.runs.gather()?;
            if records.is_empty() {
                self.is_at_end = true;
                break;
            }
            self.sorting.push(pool.submit(move || {
                records.sort();
                records
            }));
        }
        self.sorting.take_unless(self.cancel)
    }

    /// Begins again with the first record.
    pub fn rewind(&mut self) -> Result<(), ZoneError> {
        self.sorting = InOrder::default();
        self.is_at_end = false;
        self.runs.rewind()
    }
}

//! Records that come in any order, sorted with bounded memory: those of NSEC3 chains, whose owners are hashes.

use super::Opening;
use super::merge::{Run, Runs, spill};
use super::sorting::{INDEX_OCTETS, sorted_runs};
use crate::error::ZoneError;
use crate::packed::PackedRecords;
use crate::pool::{InOrder, Pool};
use std::path::PathBuf;

/// Octets of a block; smaller ones are put together.
const BLOCK_OCTETS: usize = 1 << 20;

/// Takes records in any order and gives them back sorted, by way of temporary files beyond a limit.
#[derive(Debug)]
pub struct RecordSorter {
    blocks: Vec<PackedRecords>,
    /// Octets that `blocks` take.
    memory: usize,
    limit: usize,
    folder: PathBuf,
    runs: Vec<Run>,
    records: u64,
}

impl RecordSorter {
    /// Holds as much in memory as `opening` allows for sorting, and makes temporary files where it says.
    pub fn new(opening: &Opening<'_>) -> Self {
        Self {
            blocks: Vec::new(),
            memory: 0,
            limit: opening.memory,
            folder: opening.folder.clone(),
            runs: Vec::new(),
            records: 0,
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
            for run in sorted_runs(std::mem::take(&mut self.blocks), pool) {
                self.runs.push(spill(run, &self.folder)?);
            }
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
    pub fn finish(mut self, pool: &Pool) -> SortedRecords {
        let runs = sorted_runs(self.blocks, pool);
        self.runs.extend(runs.into_iter().map(Run::Memory));
        SortedRecords {
            runs: Runs::new(self.runs),
            sorting: InOrder::default(),
            is_at_end: false,
        }
    }
}

/// Records sorted by owner, type and data, without duplicates.
#[derive(Debug)]
pub struct SortedRecords {
    runs: Runs,
    sorting: InOrder<PackedRecords>,
    is_at_end: bool,
}

impl SortedRecords {
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
        Ok(self.sorting.take())
    }

    /// Begins again with the first record.
    pub fn rewind(&mut self) -> Result<(), ZoneError> {
        self.sorting = InOrder::default();
        self.is_at_end = false;
        self.runs.rewind()
    }
}

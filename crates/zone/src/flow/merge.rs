//! Merging sorted runs of records, in memory and in temporary files, into batches of names.

use super::Opening;
use super::group::{Grouped, Rules, group};
use crate::canonical::{compare_names, push_sort_key, same_name};
use crate::error::ZoneError;
use crate::packed::{PackedRecords, SPAN_HEAD, record_at, span_length};
use crate::pool::{InOrder, Pool};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering as AtomicOrdering};

/// Octets of the sort key that an entry holds itself.
const KEY_HEAD: usize = 24;
/// Records of a batch, about.
const BATCH_RECORDS: usize = 6_000;
/// Octets read from or written to a temporary file at once, where there is memory.
const FILE_BUFFER: usize = 1 << 20;
/// The same where there is little.
const FILE_BUFFER_MIN: usize = 16 << 10;
/// Runs of one size in files that are merged into one.
const RUNS_MAX: usize = 64;
/// Records merged before somebody looks whether they are still wanted.
const RECORDS_BETWEEN_CHECKS: u32 = 1 << 14;

/// A record to be sorted: the beginning of its owner's sort key, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortEntry {
    head: [u64; KEY_HEAD / 8],
    block: u32,
    start: u32,
}

fn key_head(key: &[u8]) -> [u64; KEY_HEAD / 8] {
    let mut octets = [0; KEY_HEAD];
    let length = key.len().min(KEY_HEAD);
    octets[..length].copy_from_slice(&key[..length]);
    let word = |at: usize| u64::from_be_bytes(std::array::from_fn(|index| octets[at * 8 + index]));
    std::array::from_fn(word)
}

impl SortEntry {
    pub fn new(key: &[u8], block: usize, start: u32) -> Self {
        Self {
            head: key_head(key),
            block: block as u32,
            start,
        }
    }

    pub fn block(&self) -> usize {
        self.block as usize
    }

    pub fn start(&self) -> u32 {
        self.start
    }

    /// Compares as far as the heads go; where these are equal the names may still differ.
    pub fn compare_heads(&self, other: &Self) -> Ordering {
        self.head.cmp(&other.head)
    }
}

/// Sorted records in memory.
#[derive(Debug)]
pub(super) struct MemoryRun {
    blocks: Vec<PackedRecords>,
    entries: Vec<SortEntry>,
    at: usize,
}

impl MemoryRun {
    pub fn new(blocks: Vec<PackedRecords>, entries: Vec<SortEntry>) -> Self {
        Self {
            blocks,
            entries,
            at: 0,
        }
    }

    fn span(&self, entry: &SortEntry) -> &[u8] {
        self.blocks[entry.block()].span(entry.start())
    }
}

/// Sorted records in a temporary file, which has no name and goes with the process.
#[derive(Debug)]
pub(super) struct FileRun {
    reader: BufReader<File>,
    folder: PathBuf,
    /// The record at the head, empty at the end.
    span: Vec<u8>,
    head: [u64; KEY_HEAD / 8],
    key: Vec<u8>,
}

/// Records that lie in order.
#[derive(Debug)]
pub(super) enum Run {
    Memory(MemoryRun),
    File(FileRun),
}

/// Runs that were moved to temporary files. Many small ones become a larger one, so that open files and buffers stay few
/// however much there is to be sorted.
#[derive(Debug)]
pub(super) struct Spilled<'a> {
    /// In the order of the records; each with how many times it was merged.
    runs: Vec<(u32, Run)>,
    folder: PathBuf,
    /// Octets read from or written to a file at once.
    buffer: usize,
    cancel: &'a AtomicBool,
}

impl<'a> Spilled<'a> {
    pub fn new(opening: &Opening<'a>) -> Self {
        Self {
            runs: Vec::new(),
            folder: opening.folder.clone(),
            buffer: (opening.memory / RUNS_MAX).clamp(FILE_BUFFER_MIN, FILE_BUFFER),
            cancel: opening.cancel,
        }
    }

    /// Moves `runs` to a file, behind all before.
    pub fn push(&mut self, runs: Vec<MemoryRun>) -> Result<(), ZoneError> {
        let run = self.merged(runs.into_iter().map(Run::Memory).collect())?;
        self.runs.push((0, run));
        while let Some(run) = self.next_to_merge() {
            self.runs.push(run?);
        }
        Ok(())
    }

    /// Merges the last runs into one when there are many that were merged equally often.
    fn next_to_merge(&mut self) -> Option<Result<(u32, Run), ZoneError>> {
        let first = self.runs.len().checked_sub(RUNS_MAX)?;
        let merges = self.runs[first].0;
        // Each was merged as often as those before it, or less.
        if self.runs.last()?.0 != merges {
            return None;
        }
        let runs = self.runs.drain(first..).map(|(_, run)| run).collect();
        Some(self.merged(runs).map(|run| (merges + 1, run)))
    }

    fn merged(&self, runs: Vec<Run>) -> Result<Run, ZoneError> {
        let failed = |source| ZoneError::Temporary {
            folder: self.folder.clone(),
            source,
        };
        let file = tempfile::tempfile_in(&self.folder).map_err(failed)?;
        let mut writer = BufWriter::with_capacity(self.buffer, file);
        let mut runs = Runs::new(runs);
        let mut records = 0u32;
        while let Some(least) = runs.least() {
            if records.is_multiple_of(RECORDS_BETWEEN_CHECKS)
                && self.cancel.load(AtomicOrdering::Relaxed)
            {
                return Err(ZoneError::Cancelled);
            }
            records = records.wrapping_add(1);
            if let Some((_, span)) = runs.runs[least].head() {
                writer.write_all(span).map_err(failed)?;
            }
            runs.advance_least()?;
        }
        let written = writer.into_inner().map_err(io::IntoInnerError::into_error);
        let mut run = FileRun {
            reader: BufReader::with_capacity(self.buffer, written.map_err(failed)?),
            folder: self.folder.clone(),
            span: Vec::new(),
            head: [0; KEY_HEAD / 8],
            key: Vec::new(),
        };
        run.rewind()?;
        Ok(Run::File(run))
    }

    /// All runs, those of `memory` last.
    pub fn with(self, memory: Vec<MemoryRun>) -> Vec<Run> {
        let spilled = self.runs.into_iter().map(|(_, run)| run);
        spilled.chain(memory.into_iter().map(Run::Memory)).collect()
    }
}

impl FileRun {
    fn rewind(&mut self) -> Result<(), ZoneError> {
        self.reader
            .rewind()
            .map_err(|source| ZoneError::Temporary {
                folder: self.folder.clone(),
                source,
            })?;
        self.advance()
    }

    fn advance(&mut self) -> Result<(), ZoneError> {
        self.read_span().map_err(|source| ZoneError::Temporary {
            folder: self.folder.clone(),
            source,
        })?;
        if !self.span.is_empty() {
            self.key.clear();
            push_sort_key(record_at(&self.span, 0).owner, &mut self.key);
            self.head = key_head(&self.key);
        }
        Ok(())
    }

    fn read_span(&mut self) -> io::Result<()> {
        self.span.clear();
        let mut head = [0; SPAN_HEAD];
        let first = self.reader.read(&mut head)?;
        if first == 0 {
            return Ok(());
        }
        self.reader.read_exact(&mut head[first..])?;
        self.span.resize(span_length(&head), 0);
        self.span[..SPAN_HEAD].copy_from_slice(&head);
        self.reader.read_exact(&mut self.span[SPAN_HEAD..])
    }
}

impl Run {
    /// The record at the head and the beginning of its sort key; `None` at the end.
    fn head(&self) -> Option<([u64; KEY_HEAD / 8], &[u8])> {
        match self {
            Self::Memory(run) => {
                let entry = run.entries.get(run.at)?;
                Some((entry.head, run.span(entry)))
            }
            Self::File(run) => (!run.span.is_empty()).then_some((run.head, &run.span[..])),
        }
    }

    fn advance(&mut self) -> Result<(), ZoneError> {
        match self {
            Self::Memory(run) => {
                run.at += 1;
                Ok(())
            }
            Self::File(run) => run.advance(),
        }
    }
}

/// Merges runs into batches of names.
pub(super) struct Merging {
    runs: Runs,
    rules: Rules,
    done: InOrder<Grouped>,
    is_at_end: bool,
}

/// Runs that are merged.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// The numbers of the runs that are not at their ends, as a binary heap: each has the records before or at the head of the
    /// two below it.
    heap: Vec<usize>,
}

impl Merging {
    pub fn new(runs: Vec<Run>, rules: Rules) -> Self {
        Self {
            runs: Runs::new(runs),
            rules,
            done: InOrder::default(),
            is_at_end: false,
        }
    }

    /// Begins again with the first name.
    pub fn rewind(&mut self) -> Result<(), ZoneError> {
        self.done = InOrder::default();
        self.is_at_end = false;
        self.runs.rewind()
    }

    /// The next names, in order.
    pub fn next(
        &mut self,
        opening: &Opening<'_>,
        pool: &Pool,
    ) -> Result<Option<Grouped>, ZoneError> {
        while !self.is_at_end && self.done.len() < pool.depth() {
            let records = self.runs.gather()?;
            if records.is_empty() {
                self.is_at_end = true;
                break;
            }
            let rules = self.rules.clone();
            self.done.push(pool.submit(move || {
                // The merge gives them in order.
                group(records, &rules).unwrap_or_default()
            }));
        }
        self.done.take_unless(opening.cancel)
    }
}

impl Runs {
    pub fn new(runs: Vec<Run>) -> Self {
        let mut merged = Self {
            runs,
            heap: Vec::new(),
        };
        merged.build_heap();
        merged
    }

    /// Begins again with the first record.
    pub fn rewind(&mut self) -> Result<(), ZoneError> {
        for run in &mut self.runs {
            match run {
                Run::Memory(run) => run.at = 0,
                Run::File(run) => run.rewind()?,
            }
        }
        self.build_heap();
        Ok(())
    }

    /// The records of some thousand names, all of each; none at the end.
    pub fn gather(&mut self) -> Result<PackedRecords, ZoneError> {
        let mut batch = PackedRecords::with_capacity(BATCH_RECORDS + 64, BATCH_RECORDS * 48);
        while let Some(least) = self.least() {
            let Some((_, span)) = self.runs[least].head() else {
                break;
            };
            let is_full = batch.len() >= BATCH_RECORDS;
            if is_full
                && batch
                    .iter()
                    .next_back()
                    .is_some_and(|last| !same_name(last.owner, record_at(span, 0).owner))
            {
                break;
            }
            batch.push_span(span);
            self.advance_least()?;
        }
        Ok(batch)
    }

    /// The run with the least record at its head, the earliest of several.
    fn least(&self) -> Option<usize> {
        self.heap.first().copied()
    }

    /// Goes on to the next record of the run with the least.
    fn advance_least(&mut self) -> Result<(), ZoneError> {
        let Some(least) = self.least() else {
            return Ok(());
        };
        self.runs[least].advance()?;
        if self.runs[least].head().is_none() {
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(())
    }

    fn build_heap(&mut self) {
        let numbers = 0..self.runs.len();
        self.heap = numbers
            .filter(|&number| self.runs[number].head().is_some())
            .collect();
        for at in (0..self.heap.len() / 2).rev() {
            self.sift_down(at);
        }
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let below = [2 * at + 1, 2 * at + 2];
            let below = below.into_iter().filter(|&below| below < self.heap.len());
            let least = below.fold(at, |least, below| {
                match self.is_before(self.heap[below], self.heap[least]) {
                    true => below,
                    false => least,
                }
            });
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    /// Whether the record at the head of run number `a` comes before that of `b`.
    fn is_before(&self, a: usize, b: usize) -> bool {
        let (Some((head_a, span_a)), Some((head_b, span_b))) =
            (self.runs[a].head(), self.runs[b].head())
        else {
            return false;
        };
        head_a
            .cmp(&head_b)
            .then_with(|| compare_names(record_at(span_a, 0).owner, record_at(span_b, 0).owner))
            .then(a.cmp(&b))
            .is_lt()
    }
}

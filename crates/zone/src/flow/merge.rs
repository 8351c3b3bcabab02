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
use std::path::{Path, PathBuf};

/// Octets of the sort key that an entry holds itself.
const KEY_HEAD: usize = 24;
/// Records of a batch, about.
const BATCH_RECORDS: usize = 6_000;
/// Octets read from or written to a temporary file at once.
const FILE_BUFFER: usize = 1 << 20;

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

/// Writes `run` to a temporary file in `folder`.
pub(super) fn spill(run: MemoryRun, folder: &Path) -> Result<Run, ZoneError> {
    let failed = |source| ZoneError::Temporary {
        folder: folder.to_path_buf(),
        source,
    };
    let write = || -> io::Result<File> {
        let mut writer = BufWriter::with_capacity(FILE_BUFFER, tempfile::tempfile_in(folder)?);
        for entry in &run.entries {
            writer.write_all(run.span(entry))?;
        }
        let mut file = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    };
    let file = write().map_err(failed)?;
    let mut run = FileRun {
        reader: BufReader::with_capacity(FILE_BUFFER, file),
        folder: folder.to_path_buf(),
        span: Vec::new(),
        head: [0; KEY_HEAD / 8],
        key: Vec::new(),
    };
    run.advance()?;
    Ok(Run::File(run))
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
pub(super) struct Runs(Vec<Run>);

impl Merging {
    pub fn new(runs: Vec<Run>, rules: Rules) -> Self {
        Self {
            runs: Runs(runs),
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
        Self(runs)
    }

    /// Begins again with the first record.
    pub fn rewind(&mut self) -> Result<(), ZoneError> {
        for run in &mut self.0 {
            match run {
                Run::Memory(run) => run.at = 0,
                Run::File(run) => run.rewind()?,
            }
        }
        Ok(())
    }

    /// The records of some thousand names, all of each; none at the end.
    pub fn gather(&mut self) -> Result<PackedRecords, ZoneError> {
        let mut batch = PackedRecords::with_capacity(BATCH_RECORDS + 64, BATCH_RECORDS * 48);
        while let Some(least) = self.least() {
            let Some((_, span)) = self.0[least].head() else {
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
            self.0[least].advance()?;
        }
        Ok(batch)
    }

    /// The run with the least record at its head, the earliest of several.
    fn least(&self) -> Option<usize> {
        let mut least: Option<(usize, [u64; KEY_HEAD / 8], &[u8])> = None;
        for (index, run) in self.0.iter().enumerate() {
            let Some((head, span)) = run.head() else {
                continue;
            };
            let is_less = least.is_none_or(|(_, least_head, least_span)| {
                head.cmp(&least_head)
                    .then_with(|| {
                        compare_names(record_at(span, 0).owner, record_at(least_span, 0).owner)
                    })
                    .is_lt()
            });
            if is_less {
                least = Some((index, head, span));
            }
        }
        least.map(|(index, ..)| index)
    }
}

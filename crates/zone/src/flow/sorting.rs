//! Sorting a zone file in memory, and beyond a limit by way of temporary files.

use super::Opening;
use super::group::Rules;
use super::merge::{MemoryRun, Run, SortEntry, Spilled};
use super::streaming::parse;
use crate::canonical::{is_at_or_below, push_sort_key, same_name};
use crate::error::{Warning, ZoneError};
use crate::packed::{FilePlace, PackedRecords};
use crate::pool::{InOrder, Pool};
use crate::read::{Carry, Nesting, ParsedBlock, TextBlock, TextSource, position};
use crate::text::shown_name;
use domain::base::iana::Rtype;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A zone's records in runs that are each sorted.
pub(super) struct Sorted {
    pub runs: Vec<Run>,
    pub rules: Rules,
    pub warnings: Vec<Warning>,
}

/// Reads and sorts the file of `opening`.
pub(super) fn sort(opening: &Opening<'_>, pool: &Pool) -> Result<Sorted, ZoneError> {
    let mut sorting = Sorting {
        source: opening.source()?,
        carry: Carry::default(),
        files: opening.first_files(),
        soa: None,
        blocks: Vec::new(),
        memory: 0,
        spilled: Spilled::new(opening),
    };
    sorting.load(opening, pool)?;
    let rules = Rules {
        apex: sorting.apex(opening)?,
        files: sorting.files.clone().into(),
        missing_ttl_s: sorting.carry.late_ttl(),
    };
    let warnings = sorting.carry.missing_ttl(&sorting.files);
    let blocks = std::mem::take(&mut sorting.blocks);
    let runs = sorted_runs(blocks, pool, opening.cancel)?;
    Ok(Sorted {
        runs: sorting.spilled.with(runs),
        rules,
        warnings: warnings.into_iter().collect(),
    })
}

struct Sorting<'a> {
    source: TextSource<'a>,
    carry: Carry,
    files: Vec<Arc<Path>>,
    /// Owner and place of the first SOA record.
    soa: Option<(Arc<[u8]>, FilePlace)>,
    blocks: Vec<PackedRecords>,
    /// Octets that `blocks` take.
    memory: usize,
    spilled: Spilled<'a>,
}

struct Parsed {
    nesting: Nesting,
    block: Result<ParsedBlock, ZoneError>,
}

/// Octets that the index needs for each record beside the record itself, and those of sorting.
pub(super) const INDEX_OCTETS: usize = size_of::<SortEntry>();

impl Sorting<'_> {
    fn load(&mut self, opening: &Opening<'_>, pool: &Pool) -> Result<(), ZoneError> {
        let mut done: InOrder<Parsed> = InOrder::default();
        let mut waiting: Option<TextBlock> = None;
        let mut is_at_end = false;
        let mut source_error = None;
        loop {
            opening.check_cancel()?;
            (opening.progress)(self.source.octets_read());
            while !is_at_end && waiting.is_none() && done.len() < pool.depth() {
                match self.source.next_block() {
                    Ok(Some(block)) if block.inherits_owner => waiting = Some(block),
                    Ok(Some(block)) => done.push(self.submit(block, Vec::new(), pool)),
                    Ok(None) => is_at_end = true,
                    Err(error) => {
                        is_at_end = true;
                        source_error = Some(error);
                    }
                }
            }
            if let Some(parsed) = done.take_unless(opening.cancel)? {
                let mut block = parsed.block?;
                self.carry.take(parsed.nesting, &mut block);
                self.keep(block.records)?;
                if self.memory > opening.memory / 4 * 3 {
                    self.spill(opening, pool)?;
                }
            } else if let Some(block) = waiting.take() {
                let owner = self.carry.owner(block.nesting).to_vec();
                done.push(self.submit(block, owner, pool));
            } else if is_at_end {
                return source_error.map_or(Ok(()), Err);
            }
        }
    }

    fn submit(
        &mut self,
        block: TextBlock,
        owner: Vec<u8>,
        pool: &Pool,
    ) -> crate::pool::Ticket<Parsed> {
        let number = usize::from(block.file_number);
        if number >= self.files.len() {
            self.files.resize(number + 1, block.file.clone());
        }
        pool.submit(move || Parsed {
            nesting: block.nesting,
            block: parse(&block, &owner),
        })
    }

    fn keep(&mut self, mut records: PackedRecords) -> Result<(), ZoneError> {
        for soa in records.iter().filter(|record| record.rtype == Rtype::SOA) {
            match &self.soa {
                None => self.soa = Some((soa.owner.into(), soa.place)),
                // One below the other is a fault of the zone, which is reported with its names.
                Some((owner, _)) if is_at_or_below(soa.owner, owner) => {}
                Some((owner, _)) if is_at_or_below(owner, soa.owner) => {
                    self.soa = Some((soa.owner.into(), soa.place));
                }
                Some((_, first)) => {
                    return Err(ZoneError::SeveralSoas {
                        at: position(&self.files, soa.place),
                        first: position(&self.files, *first),
                    });
                }
            }
        }
        records.shrink();
        self.memory += records.memory() + records.len() * INDEX_OCTETS;
        self.blocks.push(records);
        Ok(())
    }

    /// The owner of the SOA record, which must be the name that was given, if one was.
    fn apex(&self, opening: &Opening<'_>) -> Result<Arc<[u8]>, ZoneError> {
        let given = opening.origin.as_ref();
        let no_soa = |hint: String| ZoneError::NoSoa {
            file: opening.path.to_path_buf(),
            origin: given.map(|name| shown_name(name.as_slice())),
            hint,
        };
        match &self.soa {
            None => Err(no_soa(
                "add one, or check that this is the whole zone file".into(),
            )),
            Some((apex, _)) if given.is_none_or(|given| same_name(given.as_slice(), apex)) => {
                Ok(apex.clone())
            }
            Some((apex, _)) => Err(no_soa(format!(
                "the file is the zone {}, so give that name or another file",
                shown_name(apex)
            ))),
        }
    }

    /// Sorts what is in memory and moves it to temporary files.
    fn spill(&mut self, opening: &Opening<'_>, pool: &Pool) -> Result<(), ZoneError> {
        let blocks = std::mem::take(&mut self.blocks);
        self.memory = 0;
        self.spilled
            .push(sorted_runs(blocks, pool, opening.cancel)?)
    }
}

/// Sorts the records of `blocks` in as many runs as there are threads, each of blocks that follow each other.
pub(super) fn sorted_runs(
    blocks: Vec<PackedRecords>,
    pool: &Pool,
    cancel: &AtomicBool,
) -> Result<Vec<MemoryRun>, ZoneError> {
    let share = blocks.len().div_ceil(pool.threads()).max(1);
    let mut rest = blocks;
    let mut sorting = InOrder::default();
    while !rest.is_empty() {
        let after = rest.split_off(share.min(rest.len()));
        let blocks = std::mem::replace(&mut rest, after);
        sorting.push(pool.submit(move || sort_run(blocks)));
    }
    std::iter::from_fn(|| sorting.take_unless(cancel).transpose()).collect()
}

fn sort_run(blocks: Vec<PackedRecords>) -> MemoryRun {
    let records = blocks.iter().map(PackedRecords::len).sum();
    let mut entries = Vec::with_capacity(records);
    let mut key = Vec::with_capacity(256);
    for (number, block) in blocks.iter().enumerate() {
        for &start in block.starts() {
            key.clear();
            push_sort_key(block.at(start).owner, &mut key);
            entries.push(SortEntry::new(&key, number, start));
        }
    }
    let owner = |entry: &SortEntry| blocks[entry.block()].at(entry.start()).owner;
    entries.sort_unstable_by(|a, b| {
        a.compare_heads(b)
            .then_with(|| crate::canonical::compare_names(owner(a), owner(b)))
            .then_with(|| (a.block(), a.start()).cmp(&(b.block(), b.start())))
    });
    MemoryRun::new(blocks, entries)
}

//! Writing pieces one after the other.

use super::super::manifest::Piece;
use super::super::sort::push_records;
use super::super::{data_records, marks};
use super::{piece_path, serial_of};
use crate::error::ZoneError;
use crate::flow::{Batch, Opening, RecordSorter, SortedRecords};
use crate::output::push_name_records;
use crate::packed::PackedRecords;
use crate::pool::{InOrder, Pool};
use crate::text::shown_name;
use crate::whole_file::{CompleteFile, WholeFile};
use domain::base::iana::Rtype;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pieces of a zone being written.
pub(super) struct Pieces<'a> {
    opening: &'a Opening<'a>,
    prefix: &'a Path,
    count: usize,
    pool: &'a Pool,
    /// Set with the first batch.
    zone: Arc<[u8]>,
    serial: u32,
    /// The text of the apex, and its records and RRsets.
    apex_text: Arc<Vec<u8>>,
    apex_counts: (u64, u64),
    nsec3: Nsec3Parts<'a>,
    /// Text to be written, each with the number of its piece.
    texts: InOrder<(usize, Vec<u8>)>,
    file: Option<WholeFile>,
    complete: Vec<(PathBuf, CompleteFile)>,
    entries: Vec<Piece>,
}

/// All pieces, complete.
pub(super) struct Written {
    /// The zone's serial.
    pub serial: u32,
    /// What the manifest tells of them.
    pub entries: Vec<Piece>,
    /// The files, which are not on disk and have no names yet.
    pub files: Vec<(PathBuf, CompleteFile)>,
}

/// Some records of those in a buffer.
type Records = (Arc<PackedRecords>, Range<usize>);

/// NSEC3 records, of which each piece gets an equal part.
struct Nsec3Parts<'a> {
    records: SortedRecords<'a>,
    total: u64,
    taken: u64,
    batch: Arc<PackedRecords>,
    at: usize,
}

impl<'a> Pieces<'a> {
    pub fn new(
        opening: &'a Opening<'a>,
        prefix: &'a Path,
        count: usize,
        pool: &'a Pool,
        nsec3: RecordSorter<'a>,
    ) -> Result<Self, ZoneError> {
        Ok(Self {
            opening,
            prefix,
            count,
            pool,
            zone: Arc::from([]),
            serial: 0,
            apex_text: Arc::default(),
            apex_counts: (0, 0),
            nsec3: Nsec3Parts {
                total: nsec3.len(),
                records: nsec3.finish(pool)?,
                taken: 0,
                batch: Arc::default(),
                at: 0,
            },
            texts: InOrder::default(),
            file: None,
            complete: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// Writes the names of `batch`; a new piece begins before each of those of the indexes `cuts`.
    pub fn batch(&mut self, batch: Arc<Batch>, cuts: &[usize]) -> Result<(), ZoneError> {
        let mut at = 0;
        if self.entries.is_empty() {
            self.take_apex(&batch);
            self.begin()?;
            at = 1;
        }
        for &cut in cuts {
            self.names(&batch, at..cut)?;
            self.end()?;
            self.begin()?;
            at = cut;
        }
        let names = batch.names().len();
        self.names(&batch, at..names)
    }

    /// The apex is the first name of the first batch.
    fn take_apex(&mut self, batch: &Batch) {
        self.zone = batch.apex.clone();
        let mut text = Vec::new();
        if let Some(apex) = batch.names().next() {
            push_name_records(&apex, &batch.apex, &mut text);
            self.serial = serial_of(apex.records.iter()).unwrap_or(0);
            self.apex_counts = (apex.records.len() as u64, apex.rrsets().count() as u64);
        }
        self.apex_text = Arc::new(text);
    }

    fn begin(&mut self) -> Result<(), ZoneError> {
        let number = self.entries.len() + 1;
        let path = piece_path(self.prefix, number, self.count);
        self.entries.push(Piece {
            file: path.file_name().map(PathBuf::from).unwrap_or_default(),
            first: None,
            last: None,
            next: shown_name(&self.zone),
            names: 0,
            records: self.apex_counts.0,
            rrsets: self.apex_counts.1,
            data_records: 0,
            nsec3_records: 0,
        });
        let head = marks::first_line(number, self.count, &shown_name(&self.zone));
        self.put(head.into_bytes())?;
        let apex = self.apex_text.clone();
        self.submit(move || apex.to_vec())
    }

    fn names(&mut self, batch: &Arc<Batch>, range: Range<usize>) -> Result<(), ZoneError> {
        if range.is_empty() {
            return Ok(());
        }
        let names = || batch.names().skip(range.start).take(range.len());
        let before = self.entries.len().checked_sub(2);
        let Some(piece) = self.entries.last_mut() else {
            return Ok(());
        };
        let mut begun = None;
        if piece.first.is_none() {
            begun = names().next().map(|name| shown_name(name.owner()));
            piece.first.clone_from(&begun);
        }
        piece.last = names().next_back().map(|name| shown_name(name.owner()));
        piece.names += range.len() as u64;
        for name in names() {
            piece.records += name.records.len() as u64;
            piece.rrsets += name.rrsets().count() as u64;
            piece.data_records += data_records(&name);
        }
        if let (Some(before), Some(first)) = (before, begun) {
            self.entries[before].next = first;
        }
        let batch = batch.clone();
        self.submit(move || {
            let mut text = Vec::with_capacity(2 * batch.memory());
            for name in batch.names().skip(range.start).take(range.len()) {
                push_name_records(&name, &batch.apex, &mut text);
            }
            text
        })
    }

    /// Writes what comes after the names of a piece.
    fn end(&mut self) -> Result<(), ZoneError> {
        let number = self.entries.len();
        let target = u128::from(self.nsec3.total) * number as u128 / self.count as u128;
        while let Some((records, range)) = self.nsec3.next(target as u64, self.pool)? {
            if let Some(piece) = self.entries.last_mut() {
                let rrsets = range
                    .clone()
                    .filter(|&index| records.get(index).rtype == Rtype::NSEC3);
                piece.rrsets += rrsets.count() as u64;
                piece.records += range.len() as u64;
                piece.nsec3_records += range.len() as u64;
            }
            self.submit(move || {
                let mut text = Vec::new();
                push_records(range.map(|index| records.get(index)), &mut text);
                text
            })?;
        }
        let content = self.entries.last().map(Piece::content);
        let line = marks::last_line(number, self.count, content.unwrap_or_default());
        self.put(line.into_bytes())
    }

    fn put(&mut self, text: Vec<u8>) -> Result<(), ZoneError> {
        self.submit(move || text)
    }

    /// Lets a thread make text of the piece at hand.
    fn submit(&mut self, make: impl FnOnce() -> Vec<u8> + Send + 'static) -> Result<(), ZoneError> {
        if self.texts.len() >= self.pool.depth() {
            self.write_next()?;
        }
        let number = self.entries.len();
        self.texts.push(self.pool.submit(move || (number, make())));
        Ok(())
    }

    /// Writes the earliest text; with the first of a piece, the piece before is complete.
    fn write_next(&mut self) -> Result<bool, ZoneError> {
        let Some((number, text)) = self.texts.take_unless(self.opening.cancel)? else {
            return Ok(false);
        };
        let open = self.complete.len() + usize::from(self.file.is_some());
        if number > open {
            self.complete()?;
            let path = self.path(number);
            let file = WholeFile::create(&path);
            self.file = Some(file.map_err(|source| ZoneError::Write { file: path, source })?);
        }
        if let Some(file) = &mut self.file
            && let Err(source) = file.write_all(&text)
        {
            let file = self.path(number);
            return Err(ZoneError::Write { file, source });
        }
        Ok(true)
    }

    fn path(&self, number: usize) -> PathBuf {
        let name = &self.entries[number - 1].file;
        self.prefix.parent().unwrap_or(Path::new("")).join(name)
    }

    /// Closes the open piece.
    fn complete(&mut self) -> Result<(), ZoneError> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let path = self.path(self.complete.len() + 1);
        match file.close() {
            Ok(complete) => self.complete.push((path, complete)),
            Err(source) => return Err(ZoneError::Write { file: path, source }),
        }
        Ok(())
    }

    /// Ends the last piece.
    pub fn finish(mut self) -> Result<Written, ZoneError> {
        if self.entries.len() != self.count {
            return Err(ZoneError::Changed {
                file: self.opening.path.to_path_buf(),
            });
        }
        self.end()?;
        while self.write_next()? {}
        self.complete()?;
        Ok(Written {
            serial: self.serial,
            entries: self.entries,
            files: self.complete,
        })
    }
}

impl Nsec3Parts<'_> {
    /// The next records before `target`, counted from the first of all; no owner is cut.
    fn next(&mut self, target: u64, pool: &Pool) -> Result<Option<Records>, ZoneError> {
        if self.taken >= target {
            return Ok(None);
        }
        if self.at == self.batch.len() {
            let Some(next) = self.records.next_batch(pool)? else {
                return Ok(None);
            };
            self.batch = Arc::new(next);
            self.at = 0;
        }
        let owner = |index: usize| self.batch.get(index).owner;
        let wanted = usize::try_from(target - self.taken).unwrap_or(usize::MAX);
        let mut end = self.at.saturating_add(wanted).min(self.batch.len());
        while end < self.batch.len() && crate::same_name(owner(end), owner(end - 1)) {
            end += 1;
        }
        let range = self.at..end;
        self.at = end;
        self.taken += range.len() as u64;
        Ok(Some((self.batch.clone(), range)))
    }
}

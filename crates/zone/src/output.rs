//! Writing zone files of any size: text is made by the threads of a pool and written in order.

use crate::error::ZoneError;
use crate::flow::{Batch, Opening, OwnerGroup};
use crate::packed::{PackedRecord, PackedRecords};
use crate::pool::{InOrder, Pool};
use crate::readable::NEVER;
use crate::text::push_record;
use crate::whole_file::{NamedFile, WholeFile};
use domain::base::iana::Rtype;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// NSEC3 records that one job shows.
const NSEC3_BATCH: usize = 4096;

/// A zone file being written, of which nothing is to be seen until it is finished: beside its name, or for standard output
/// and what else is no regular file by way of a temporary file.
#[derive(Debug)]
pub struct TextOutput<'a> {
    pool: &'a Pool,
    cancel: &'a AtomicBool,
    path: PathBuf,
    target: Target<'a>,
    texts: InOrder<Vec<u8>>,
    octets: u64,
}

/// Where text goes.
#[derive(Debug)]
enum Target<'a> {
    File(WholeFile),
    Memory(&'a mut Vec<u8>),
}

/// What an output has so far.
#[derive(Clone, Debug)]
pub enum Written {
    /// A file.
    File(PathBuf),
    /// A text.
    Text(Arc<[u8]>),
}

impl<'a> TextOutput<'a> {
    /// Begins to write `path`; `-` is standard output. The zone of `opening`, from which it is made, says where temporary files
    /// are and who can cancel.
    pub fn create(path: &Path, opening: &Opening<'a>, pool: &'a Pool) -> Result<Self, ZoneError> {
        let file = WholeFile::create_spooled(path, &opening.folder)?;
        Ok(Self {
            cancel: opening.cancel,
            ..Self::new(path, pool, Target::File(file))
        })
    }

    /// Appends to `text`.
    pub fn memory(text: &'a mut Vec<u8>, pool: &'a Pool) -> Self {
        Self::new(Path::new("-"), pool, Target::Memory(text))
    }

    fn new(path: &Path, pool: &'a Pool, target: Target<'a>) -> Self {
        Self {
            pool,
            cancel: &NEVER,
            path: path.to_path_buf(),
            target,
            texts: InOrder::default(),
            octets: 0,
        }
    }

    /// Lets a thread of the pool make text that goes behind all before it.
    pub fn submit(
        &mut self,
        make: impl FnOnce() -> Vec<u8> + Send + 'static,
    ) -> Result<(), ZoneError> {
        if self.texts.len() >= self.pool.depth() {
            self.write_next()?;
        }
        self.texts.push(self.pool.submit(make));
        Ok(())
    }

    /// Writes text behind all before it.
    pub fn write(&mut self, text: &[u8]) -> Result<(), ZoneError> {
        while !self.texts.is_empty() {
            self.write_next()?;
        }
        self.write_now(text)
    }

    fn write_next(&mut self) -> Result<(), ZoneError> {
        match self.texts.take_unless(self.cancel)? {
            Some(text) => self.write_now(&text),
            None => Ok(()),
        }
    }

    fn write_now(&mut self, text: &[u8]) -> Result<(), ZoneError> {
        self.octets += text.len() as u64;
        match &mut self.target {
            Target::Memory(target) => {
                target.extend_from_slice(text);
                Ok(())
            }
            Target::File(file) => {
                let written = file.write_all(text);
                written.map_err(|source| write_error(&self.path, file.spool_folder(), source))
            }
        }
    }

    /// Octets written so far.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// What was written so far, to be read again.
    pub fn written(&mut self) -> Result<Written, ZoneError> {
        while !self.texts.is_empty() {
            self.write_next()?;
        }
        match &mut self.target {
            Target::Memory(text) => Ok(Written::Text(text[..].into())),
            Target::File(file) => {
                let path = file.partial_path();
                let path =
                    path.map_err(|source| write_error(&self.path, file.spool_folder(), source))?;
                Ok(Written::File(path))
            }
        }
    }

    /// Replaces octets that were written, from the one numbered `at` on.
    pub fn patch(&mut self, at: u64, octets: &[u8]) -> Result<(), ZoneError> {
        match &mut self.target {
            Target::Memory(text) => {
                let at = at as usize;
                text[at..at + octets.len()].copy_from_slice(octets);
                Ok(())
            }
            Target::File(file) => {
                let patched = file.patch(at, octets);
                patched.map_err(|source| write_error(&self.path, file.spool_folder(), source))
            }
        }
    }

    /// Writes the records of an NSEC3 chain, in the order of their hashes; how many there are without duplicates.
    pub fn nsec3(&mut self, mut records: PackedRecords) -> Result<u64, ZoneError> {
        records.sort();
        let count = records.len();
        let records = Arc::new(records);
        for first in (0..count).step_by(NSEC3_BATCH) {
            let records = records.clone();
            self.submit(move || {
                let mut text = Vec::new();
                for index in first..count.min(first + NSEC3_BATCH) {
                    push_record(&records.get(index), &mut text);
                }
                text
            })?;
        }
        Ok(count as u64)
    }

    /// Brings the file to disk and gives it its name, unless all was cancelled; the number of octets written.
    pub fn finish(self) -> Result<u64, ZoneError> {
        let path = self.path.clone();
        let (octets, named) = self.rename()?;
        let synced = named.map_or(Ok(()), NamedFile::sync);
        synced.map_err(|source| write_error(&path, None, source))?;
        Ok(octets)
    }

    /// Brings the file to disk and gives it its name, which is on disk only after [`NamedFile::sync`], unless all was cancelled;
    /// the number of octets written, and the file, if it is not a text in memory.
    pub fn rename(mut self) -> Result<(u64, Option<NamedFile>), ZoneError> {
        while !self.texts.is_empty() {
            self.write_next()?;
        }
        let named = match self.target {
            Target::File(file) => {
                let folder = file.spool_folder().map(Path::to_path_buf);
                let complete = file
                    .complete()
                    .map_err(|source| write_error(&self.path, folder.as_deref(), source))?;
                // Looked at last, for bringing much to disk takes its time.
                if self.cancel.load(Ordering::Relaxed) {
                    return Err(ZoneError::Cancelled);
                }
                let renamed = complete.rename();
                Some(renamed.map_err(|source| write_error(&self.path, None, source))?)
            }
            Target::Memory(_) => None,
        };
        Ok((self.octets, named))
    }
}

/// What cannot be written is `path`, or a temporary file in the folder `spool` that has the text until it is complete.
fn write_error(path: &Path, spool: Option<&Path>, source: io::Error) -> ZoneError {
    match spool {
        Some(folder) => ZoneError::TemporaryOutput {
            folder: folder.to_path_buf(),
            source,
        },
        None => ZoneError::Write {
            file: path.to_path_buf(),
            source,
        },
    }
}

/// Appends the text of all names of `batch`; at the apex the SOA record comes first.
pub fn push_names(batch: &Batch, text: &mut Vec<u8>) {
    for name in batch.names() {
        push_name_records(&name, &batch.apex, text);
    }
}

/// Appends the text of a name's records; at the apex the SOA record comes first.
pub fn push_name_records(name: &OwnerGroup<'_>, apex: &[u8], text: &mut Vec<u8>) {
    let is_apex = name.owner().len() == apex.len();
    let is_first = |record: &PackedRecord<'_>| is_apex && record.rtype == Rtype::SOA;
    if is_apex {
        for record in name.records.iter().filter(is_first) {
            push_record(&record, text);
        }
    }
    for record in name.records.iter().filter(|record| !is_first(record)) {
        push_record(&record, text);
    }
}

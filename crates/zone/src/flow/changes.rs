//! Changes to a zone: records that go and records that come, as a difference between two versions says them.

use super::group::{Grouped, Rules, group};
use crate::Name;
use crate::canonical::{compare_names, same_name};
use crate::error::{Position, ZoneError};
use crate::packed::{FilePlace, PackedRecord, PackedRecords};
use crate::rdata::compare_rdata;
use crate::read::{BlockParser, Carry, TextSource};
use crate::readable::{NEVER, open_readable};
use crate::text::shown_name;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Records to be removed from a zone and records to be added to it.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    removed: PackedRecords,
    added: PackedRecords,
    file: PathBuf,
}

impl Changes {
    /// Reads the changes in `path`: one record a line, after `-` for those that go and `+` for those that come, as
    /// `dnsrig zone compare` prints them. Empty lines and comments are left aside.
    pub fn read(path: &Path, origin: Option<&Name>) -> Result<Self, ZoneError> {
        let failed = |source| ZoneError::Read {
            file: path.to_path_buf(),
            source,
        };
        let mut text = Vec::new();
        let (mut reader, _) = open_readable(path, &NEVER).map_err(failed)?;
        reader.read_to_end(&mut text).map_err(failed)?;
        // Each part keeps its line numbers by way of empty lines.
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for (number, line) in text.split(|&octet| octet == b'\n').enumerate() {
            match line.trim_ascii_start() {
                [b'-', record @ ..] => removed.extend_from_slice(record.trim_ascii()),
                [b'+', record @ ..] => added.extend_from_slice(record.trim_ascii()),
                [] | [b';', ..] => {}
                _ => {
                    return Err(ZoneError::Syntax {
                        at: Position {
                            file: path.into(),
                            line: number as u32 + 1,
                            column: 1,
                        },
                        what: "a change begins with - or +".into(),
                        hint: "write: - or +, then a record on the same line".into(),
                    });
                }
            }
            removed.push(b'\n');
            added.push(b'\n');
        }
        Ok(Self {
            removed: records(path, removed, origin)?,
            added: records(path, added, origin)?,
            file: path.to_path_buf(),
        })
    }

    /// Whether a record of `owner` goes or comes.
    pub fn touches(&self, owner: &[u8]) -> bool {
        has_owner(&self.removed, owner) || has_owner(&self.added, owner)
    }

    /// The number of records that go and come.
    pub fn len(&self) -> usize {
        self.removed.len() + self.added.len()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn records(path: &Path, text: Vec<u8>, origin: Option<&Name>) -> Result<PackedRecords, ZoneError> {
    let mut source = TextSource::text(path, text, origin.cloned());
    let mut parser = BlockParser::new();
    let mut carry = Carry::default();
    let mut records = PackedRecords::default();
    while let Some(block) = source.next_block()? {
        let mut parsed = parser.parse(&block, carry.owner(block.depth))?;
        carry.take(block.depth, &mut parsed);
        records.append(&parsed.records);
    }
    records.sort();
    Ok(records)
}

/// The first index from which the owners are not before `owner`.
fn first_not_before(records: &PackedRecords, owner: &[u8]) -> usize {
    let (mut low, mut high) = (0, records.len());
    while low < high {
        let middle = (low + high) / 2;
        match compare_names(records.get(middle).owner, owner).is_lt() {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

fn has_owner(records: &PackedRecords, owner: &[u8]) -> bool {
    let index = first_not_before(records, owner);
    index < records.len() && same_name(records.get(index).owner, owner)
}

/// Applies changes to the names of a zone as they go by in canonical order.
#[derive(Debug)]
pub(super) struct Applying {
    changes: Arc<Changes>,
    removed: usize,
    added: usize,
}

impl Applying {
    pub fn new(changes: Arc<Changes>) -> Self {
        Self {
            changes,
            removed: 0,
            added: 0,
        }
    }

    /// Changes the names of `grouped`, which all come before `next`, the first name after them.
    pub fn apply(
        &mut self,
        grouped: Grouped,
        next: Option<&[u8]>,
        rules: &Rules,
    ) -> Result<Grouped, ZoneError> {
        let changes = self.changes.clone();
        let end = |records: &PackedRecords| {
            next.map_or(records.len(), |next| first_not_before(records, next))
        };
        let removed = self.removed..end(&changes.removed).max(self.removed);
        let added = self.added..end(&changes.added).max(self.added);
        if removed.is_empty() && added.is_empty() {
            return Ok(grouped);
        }
        (self.removed, self.added) = (removed.end, added.end);
        let mut records = PackedRecords::default();
        let mut going: Vec<PackedRecord<'_>> =
            removed.map(|index| changes.removed.get(index)).collect();
        let mut coming: Vec<PackedRecord<'_>> =
            added.map(|index| changes.added.get(index)).rev().collect();
        for record in grouped.records.iter() {
            while coming
                .last()
                .is_some_and(|new| compare_names(new.owner, record.owner).is_lt())
            {
                records.push(&coming.pop().unwrap_or(record));
            }
            if let Some(index) = going.iter().position(|gone| is_same(gone, &record)) {
                going.remove(index);
                continue;
            }
            if let Some(again) = coming.iter().find(|new| is_same(new, &record)) {
                return Err(self.wrong(again, "is in the zone already"));
            }
            records.push(&record);
        }
        if let Some(missing) = going.first() {
            return Err(self.wrong(missing, "is not in the zone"));
        }
        for record in coming.into_iter().rev() {
            records.push(&record);
        }
        let in_order = in_canonical_order(&records);
        let mut changed = group(in_order, rules).map_err(|_| ZoneError::NotSorted)?;
        changed.nsec3 = grouped.nsec3;
        Ok(changed)
    }

    fn wrong(&self, record: &PackedRecord<'_>, what: &str) -> ZoneError {
        ZoneError::Change {
            at: Position {
                file: Arc::from(&*self.changes.file),
                line: record.place.line,
                column: 1,
            },
            owner: shown_name(record.owner),
            rtype: record.rtype.to_string(),
            what: what.into(),
        }
    }
}

/// The records by owner; of one owner those of the zone and the new ones are put together.
fn in_canonical_order(records: &PackedRecords) -> PackedRecords {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by(|&a, &b| compare_names(records.get(a).owner, records.get(b).owner));
    let mut sorted = PackedRecords::default();
    for index in order {
        let record = records.get(index);
        sorted.push(&PackedRecord {
            place: FilePlace { ..record.place },
            ..record
        });
    }
    sorted
}

fn is_same(a: &PackedRecord<'_>, b: &PackedRecord<'_>) -> bool {
    a.rtype == b.rtype
        && same_name(a.owner, b.owner)
        && compare_rdata(a.rtype, a.rdata, b.rdata).is_eq()
}

//! Changes to a zone: records that go and records that come, as a difference between two versions says them.

use super::batch::RecordRange;
use super::group::{Grouped, Rules, compare_data, fill_missing_ttls};
use crate::Name;
use crate::canonical::{compare_names, same_name};
use crate::error::{Position, ZoneError};
use crate::packed::{PackedRecord, PackedRecords};
use crate::read::{BlockParser, Carry, TextSource};
use crate::readable::{NEVER, open_readable};
use crate::text::shown_name;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of the file with the changes, after that of the zone itself.
pub(super) const CHANGES_FILE: u16 = 1;

/// Records to be removed from a zone and records to be added to it.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    removed: PackedRecords,
    added: PackedRecords,
    file: PathBuf,
}

impl Changes {
    /// Reads the changes in `path`, `-` for standard input: one record a line, after `-` for those that go and `+` for those that come, as
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

    /// Where they were read.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// The records that go.
    pub fn removed(&self) -> &PackedRecords {
        &self.removed
    }

    /// The records that come.
    pub fn added(&self) -> &PackedRecords {
        &self.added
    }

    /// The records of `owner` that go, and those that come, each sorted by type and data.
    pub fn at(&self, owner: &[u8]) -> (RecordRange<'_>, RecordRange<'_>) {
        (
            records_of(&self.removed, owner),
            records_of(&self.added, owner),
        )
    }

    /// Why the change that has `record` cannot be made.
    pub fn refusal(&self, record: &PackedRecord<'_>, what: &str, hint: &'static str) -> ZoneError {
        ZoneError::Change {
            at: Position {
                file: Arc::from(&*self.file),
                line: record.place.line,
                column: 1,
            },
            owner: shown_name(record.owner),
            rtype: record.rtype.to_string(),
            what: what.into(),
            hint,
        }
    }

    /// Whether a record of `owner` goes or comes.
    pub fn touches(&self, owner: &[u8]) -> bool {
        let (removed, added) = self.at(owner);
        !removed.is_empty() || !added.is_empty()
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
    let source = TextSource::text(path, text, origin.cloned());
    let mut source = source.with_number(CHANGES_FILE);
    let mut parser = BlockParser::new();
    let mut carry = Carry::default();
    let mut records = PackedRecords::default();
    while let Some(block) = source.next_block()? {
        let mut parsed = parser.parse(&block, carry.owner(block.nesting))?;
        carry.take(block.nesting, &mut parsed);
        if records.try_append(&parsed.records).is_err() {
            return Err(ZoneError::Syntax {
                at: Position {
                    file: block.file,
                    line: block.first_line,
                    column: 1,
                },
                what: "more than 4 GiB of changes".into(),
                hint: "sign the whole zone instead".into(),
            });
        }
    }
    if let Some(ttl_s) = carry.late_ttl() {
        fill_missing_ttls(&mut records, ttl_s);
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

fn records_of<'a>(records: &'a PackedRecords, owner: &[u8]) -> RecordRange<'a> {
    let first = first_not_before(records, owner);
    let mut end = first;
    while end < records.len() && same_name(records.get(end).owner, owner) {
        end += 1;
    }
    RecordRange::new(records, first..end)
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

    /// Changes the names of `grouped`, which all come before `next`, the first name after them, and are closed.
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
        let mut going = Names::new(&changes.removed, removed);
        let mut coming = Names::new(&changes.added, added);
        let mut changed = Grouped::default();
        for span in &grouped.groups {
            let owner = grouped.records.get(span.first as usize).owner;
            while let Some(name) = coming.next_before(Some(owner)) {
                changed.push_name(name.iter(), rules);
            }
            if let Some(name) = going.next_before(Some(owner)) {
                return Err(self.wrong(&name.get(0), "is not in the zone"));
            }
            let old = RecordRange::new(&grouped.records, span.range());
            match (going.next_at(owner), coming.next_at(owner)) {
                (None, None) => changed.push_closed(span, &grouped.records),
                (gone, new) => {
                    let new = new.unwrap_or_else(|| coming.none());
                    let kept = self.kept(old, gone.unwrap_or_else(|| going.none()), &new)?;
                    changed.push_name(kept.into_iter().chain(new.iter()), rules);
                }
            }
        }
        while let Some(name) = coming.next_before(None) {
            changed.push_name(name.iter(), rules);
        }
        if let Some(name) = going.next_before(None) {
            return Err(self.wrong(&name.get(0), "is not in the zone"));
        }
        changed.nsec3 = grouped.nsec3;
        changed.faults.splice(0..0, grouped.faults);
        Ok(changed)
    }

    /// The records of one name without those that are `gone`; `new` are those that come. All are sorted by type and data.
    fn kept<'r>(
        &self,
        old: RecordRange<'r>,
        gone: RecordRange<'_>,
        new: &RecordRange<'_>,
    ) -> Result<Vec<PackedRecord<'r>>, ZoneError> {
        let mut gone = gone.iter().peekable();
        let mut new = new.iter().peekable();
        let mut kept = Vec::with_capacity(old.len());
        for record in old.iter() {
            let is_before = |other: &PackedRecord<'_>| compare_data(other, &record).is_lt();
            let is_same = |other: &PackedRecord<'_>| compare_data(other, &record).is_eq();
            if let Some(missing) = gone.next_if(|gone| is_before(gone)) {
                return Err(self.wrong(&missing, "is not in the zone"));
            }
            if gone.next_if(|gone| is_same(gone)).is_some() {
                continue;
            }
            while new.next_if(|new| is_before(new)).is_some() {}
            if let Some(again) = new.next_if(|new| is_same(new)) {
                return Err(self.wrong(&again, "is in the zone already"));
            }
            kept.push(record);
        }
        match gone.next() {
            Some(missing) => Err(self.wrong(&missing, "is not in the zone")),
            None => Ok(kept),
        }
    }

    fn wrong(&self, record: &PackedRecord<'_>, what: &str) -> ZoneError {
        let hint = "make the changes from this version of the zone";
        self.changes.refusal(record, what, hint)
    }
}

/// Records sorted by owner, gone over a name at a time.
struct Names<'a> {
    records: &'a PackedRecords,
    rest: Range<usize>,
}

impl<'a> Names<'a> {
    fn new(records: &'a PackedRecords, rest: Range<usize>) -> Self {
        Self { records, rest }
    }

    /// The records of the next owner, if it comes before `owner`.
    fn next_before(&mut self, owner: Option<&[u8]>) -> Option<RecordRange<'a>> {
        let first = self.first()?;
        owner
            .is_none_or(|owner| compare_names(first, owner).is_lt())
            .then(|| self.take_name(first))
    }

    /// The records of `owner`, if it is the next.
    fn next_at(&mut self, owner: &[u8]) -> Option<RecordRange<'a>> {
        let first = self.first()?;
        same_name(first, owner).then(|| self.take_name(first))
    }

    fn none(&self) -> RecordRange<'a> {
        RecordRange::new(self.records, 0..0)
    }

    fn first(&self) -> Option<&'a [u8]> {
        (!self.rest.is_empty()).then(|| self.records.get(self.rest.start).owner)
    }

    fn take_name(&mut self, owner: &[u8]) -> RecordRange<'a> {
        let first = self.rest.start;
        let is_same = |&index: &usize| same_name(self.records.get(index).owner, owner);
        let count = self.rest.clone().take_while(is_same).count();
        self.rest.start += count;
        RecordRange::new(self.records, first..first + count)
    }
}

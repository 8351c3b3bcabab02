//! The names of all pieces in canonical order; pieces are open only while their names come.

use super::chain::NsecChain;
use super::completeness::Expected;
use super::{broken, refuse};
use crate::NameKind;
use crate::canonical::{compare_names, same_name};
use crate::error::{Warning, ZoneError};
use crate::flow::{Batch, FlowOfSeveral, Head, OwnerGroup, RecordRange, RecordSorter, Several};
use crate::output::{TextOutput, push_name_records};
use crate::packed::PackedRecords;
use crate::text::shown_name;
use crate::tools::data_records;
use crate::tools::manifest::Content;
use domain::base::iana::Rtype;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Names fewer than these are shown at once rather than by a thread of the pool.
const JOB_NAMES_MIN: usize = 64;
/// Octets of text that are written together.
const TEXT_OCTETS: usize = 256 << 10;
/// Warnings that are kept.
const WARNINGS_MAX: usize = 100;

/// The pieces in the order of their first names; those without names come first.
pub(super) fn order(heads: &[(&Path, &Head)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..heads.len()).collect();
    order.sort_by(|&a, &b| match (&heads[a].1.first, &heads[b].1.first) {
        (Some(a), Some(b)) => compare_names(a, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    order
}

/// Where one open piece is.
struct Cursor<'s, 'a> {
    piece: usize,
    flow: FlowOfSeveral<'s, 'a>,
    batch: Arc<Batch>,
    /// Whether the batch begins with the apex, as the first does.
    has_apex: bool,
    at: usize,
    /// What is below the apex so far, those at hand not counted.
    content: Content,
    last: Option<String>,
}

/// Pieces being merged.
pub(super) struct Merge<'m, 'a> {
    several: &'m Several<'a>,
    paths: &'m [&'m Path],
    heads: &'m [(&'m Path, &'m Head)],
    expected: &'m [Expected],
    zone: &'m [u8],
    /// Pieces that are not open yet, the next last.
    closed: Vec<usize>,
    open: Vec<Cursor<'m, 'a>>,
    chain: NsecChain,
    /// Text that goes before what is submitted next.
    text: Vec<u8>,
    names: u64,
    records: u64,
    warnings: Vec<Warning>,
    warning_count: u64,
}

impl<'m, 'a> Merge<'m, 'a> {
    pub fn new(
        several: &'m Several<'a>,
        paths: &'m [&'m Path],
        heads: &'m [(&'m Path, &'m Head)],
        order: Vec<usize>,
        expected: &'m [Expected],
        zone: &'m [u8],
    ) -> Self {
        Self {
            several,
            paths,
            heads,
            expected,
            zone,
            closed: order.into_iter().rev().collect(),
            open: Vec::new(),
            chain: NsecChain::default(),
            text: Vec::new(),
            names: 0,
            records: 0,
            warnings: Vec::new(),
            warning_count: 0,
        }
    }

    /// Writes the apex.
    pub fn apex(
        &mut self,
        records: &PackedRecords,
        output: &mut TextOutput<'_>,
    ) -> Result<(), ZoneError> {
        let apex = whole(records);
        push_name_records(&apex, self.zone, &mut self.text);
        self.names += 1;
        self.records += records.len() as u64;
        // As of a piece before all others: the first name of these must be the one that the apex names.
        self.take_chain(usize::MAX, std::iter::once(apex))?;
        self.flush(output)
    }

    /// Writes all names below the apex.
    pub fn run(
        &mut self,
        output: &mut TextOutput<'_>,
        nsec3: &mut RecordSorter<'_>,
    ) -> Result<(), ZoneError> {
        while self.open_next(nsec3)? {
            let least = self.least();
            let count = self.names_before_others(least);
            if count == 0 {
                self.shared_name(nsec3)?;
            } else {
                self.write_names(least, count, output)?;
                self.open[least].at += count;
                self.advance(least, nsec3)?;
            }
            if self.text.len() >= TEXT_OCTETS {
                self.flush(output)?;
            }
        }
        self.flush(output)
    }

    /// Opens the pieces that begin before all names at hand; false if there are no more names.
    fn open_next(&mut self, nsec3: &mut RecordSorter<'_>) -> Result<bool, ZoneError> {
        while let Some(&piece) = self.closed.last() {
            let is_due = match (&self.heads[piece].1.first, self.open.is_empty()) {
                (_, true) | (None, _) => true,
                (Some(first), false) => {
                    compare_names(first, self.owner(self.least())) != Ordering::Greater
                }
            };
            if !is_due {
                break;
            }
            self.closed.pop();
            self.open_piece(piece, nsec3)?;
        }
        Ok(!self.open.is_empty())
    }

    fn open_piece(&mut self, piece: usize, nsec3: &mut RecordSorter<'_>) -> Result<(), ZoneError> {
        let mut flow = self.several.open(piece)?;
        let Some(mut batch) = flow.next_batch()? else {
            return self.check_whole(piece, Content::default(), None);
        };
        let pool = flow.pool();
        nsec3.push(std::mem::take(&mut batch.nsec3), pool)?;
        self.open.push(Cursor {
            piece,
            flow,
            batch: Arc::new(batch),
            has_apex: true,
            // The apex was written already.
            at: 1,
            content: Content::default(),
            last: None,
        });
        self.advance(self.open.len() - 1, nsec3)
    }

    /// Reads on where an open piece has no name at hand, and closes it at its end.
    fn advance(&mut self, index: usize, nsec3: &mut RecordSorter<'_>) -> Result<(), ZoneError> {
        let cursor = &mut self.open[index];
        while cursor.at == cursor.batch.names().len() {
            if let Some(last) = cursor.batch.names().next_back() {
                cursor.last = Some(shown_name(last.owner()));
            }
            let below = cursor.batch.names().skip(usize::from(cursor.has_apex));
            cursor.content.names += below.len() as u64;
            cursor.content.data_records += below.map(|name| data_records(&name)).sum::<u64>();
            cursor.has_apex = false;
            let Some(mut batch) = cursor.flow.next_batch()? else {
                let cursor = self.open.swap_remove(index);
                let (warnings, count) = cursor.flow.warnings();
                let room = WARNINGS_MAX.saturating_sub(self.warnings.len());
                self.warnings.extend(warnings.iter().take(room).cloned());
                self.warning_count += count;
                cursor.flow.close();
                return self.check_whole(cursor.piece, cursor.content, cursor.last);
            };
            let pool = cursor.flow.pool();
            nsec3.push(std::mem::take(&mut batch.nsec3), pool)?;
            cursor.batch = Arc::new(batch);
            cursor.at = 0;
        }
        Ok(())
    }

    /// Refuses a piece that has not what it should have.
    fn check_whole(
        &self,
        piece: usize,
        found: Content,
        last: Option<String>,
    ) -> Result<(), ZoneError> {
        let expected = &self.expected[piece];
        let wanted = expected.content.unwrap_or(found);
        let what = if wanted.names != found.names {
            format!(
                "{} names below the apex, but the piece was made with {}",
                found.names, wanted.names
            )
        } else if let (Some(wanted), Some(last)) = (&expected.last, &last)
            && !wanted.eq_ignore_ascii_case(last)
        {
            format!("the last name is {last}, but the piece was made with {wanted}")
        } else if wanted.data_records != found.data_records {
            format!(
                "{} records below the apex other than RRSIG and NSEC, but the piece was made with {}",
                found.data_records, wanted.data_records
            )
        } else {
            return Ok(());
        };
        let hint = "it was cut short or changed since; make the piece again";
        Err(refuse(self.paths[piece], what, hint))
    }

    fn owner(&self, index: usize) -> &[u8] {
        let cursor = &self.open[index];
        cursor
            .batch
            .names()
            .nth(cursor.at)
            .map_or(&[], |name| name.owner())
    }

    /// The open piece with the least name at hand, the first given of several.
    fn least(&self) -> usize {
        let mut least = 0;
        for index in 1..self.open.len() {
            let order = compare_names(self.owner(index), self.owner(least))
                .then(self.open[index].piece.cmp(&self.open[least].piece));
            if order.is_lt() {
                least = index;
            }
        }
        least
    }

    /// How many names of an open piece come before those at hand in all others.
    fn names_before_others(&self, index: usize) -> usize {
        let cursor = &self.open[index];
        let others = (0..self.open.len())
            .filter(|&other| other != index)
            .map(|other| self.owner(other));
        let next = self
            .closed
            .last()
            .and_then(|&piece| self.heads[piece].1.first.as_deref());
        let bound = others.chain(next).min_by(|a, b| compare_names(a, b));
        let names = cursor.batch.names();
        let left = names.len() - cursor.at;
        let Some(bound) = bound else { return left };
        let is_before = |at: usize| {
            let name = names.clone().nth(at);
            name.is_some_and(|name| compare_names(name.owner(), bound).is_lt())
        };
        if is_before(names.len() - 1) {
            return left;
        }
        let (mut low, mut high) = (cursor.at, names.len() - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(middle) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low - cursor.at
    }

    /// Writes the next `count` names of an open piece.
    fn write_names(
        &mut self,
        index: usize,
        count: usize,
        output: &mut TextOutput<'_>,
    ) -> Result<(), ZoneError> {
        let cursor = &self.open[index];
        let (batch, piece) = (cursor.batch.clone(), cursor.piece);
        let range = cursor.at..cursor.at + count;
        self.take_chain(piece, names_of(&batch, range.clone()))?;
        self.names += count as u64;
        self.records += names_of(&batch, range.clone())
            .map(|name| name.records.len() as u64)
            .sum::<u64>();
        if count < JOB_NAMES_MIN {
            for name in names_of(&batch, range) {
                push_name_records(&name, self.zone, &mut self.text);
            }
            return Ok(());
        }
        self.flush(output)?;
        output.submit(move || {
            let mut text = Vec::with_capacity(2 * batch.memory());
            for name in names_of(&batch, range) {
                push_name_records(&name, &batch.apex, &mut text);
            }
            text
        })
    }

    /// Writes a name that several pieces have: the end of one and the beginning of the next.
    fn shared_name(&mut self, nsec3: &mut RecordSorter<'_>) -> Result<(), ZoneError> {
        let owner: Box<[u8]> = self.owner(self.least()).into();
        let mut sharing: Vec<usize> = (0..self.open.len())
            .filter(|&index| same_name(self.owner(index), &owner))
            .collect();
        sharing.sort_by_key(|&index| self.open[index].piece);
        let pieces: Vec<usize> = sharing
            .iter()
            .map(|&index| self.open[index].piece)
            .collect();
        let mut records = PackedRecords::default();
        for &index in &sharing {
            let cursor = &self.open[index];
            if let Some(name) = cursor.batch.names().nth(cursor.at) {
                name.records.iter().for_each(|record| records.push(&record));
            }
        }
        records.sort();
        let name = whole(&records);
        push_name_records(&name, self.zone, &mut self.text);
        self.names += 1;
        self.records += records.len() as u64;
        self.take_chain(pieces[0], std::iter::once(name.clone()))?;
        self.take_chain(pieces[pieces.len() - 1], std::iter::empty())?;
        // From the last on, for a piece that is closed changes the places of those behind it.
        sharing.sort_unstable();
        for &index in sharing.iter().rev() {
            self.open[index].at += 1;
            self.advance(index, nsec3)?;
        }
        let left = pieces
            .iter()
            .filter(|piece| self.open.iter().any(|cursor| cursor.piece == **piece));
        let is_marked = pieces
            .iter()
            .any(|&piece| self.expected[piece].content.is_some());
        if left.count() > 1 || is_marked {
            let what = format!(
                "{} is also in {}",
                shown_name(&owner),
                self.paths[pieces[0]].display()
            );
            let hint = "give each piece once, and pieces that have no name in common but where one ends and another begins";
            return Err(refuse(self.paths[pieces[1]], what, hint));
        }
        Ok(())
    }

    fn take_chain<'n>(
        &mut self,
        piece: usize,
        names: impl DoubleEndedIterator<Item = OwnerGroup<'n>> + Clone,
    ) -> Result<(), ZoneError> {
        let path = self.paths.get(piece).copied().unwrap_or(Path::new("-"));
        self.chain
            .take(piece, names)
            .map_err(|found| broken(path, &found, Rtype::NSEC))
    }

    fn flush(&mut self, output: &mut TextOutput<'_>) -> Result<(), ZoneError> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        output.submit(move || text)
    }

    /// Names and records written, the first warnings and the number of all.
    pub fn finish(self) -> Result<(u64, u64, Vec<Warning>, u64), ZoneError> {
        let path = self.paths.last().copied().unwrap_or(Path::new("-"));
        self.chain
            .end(self.zone)
            .map_err(|found| broken(path, &found, Rtype::NSEC))?;
        Ok((self.names, self.records, self.warnings, self.warning_count))
    }
}

fn names_of(
    batch: &Batch,
    range: Range<usize>,
) -> impl DoubleEndedIterator<Item = OwnerGroup<'_>> + Clone {
    batch.names().skip(range.start).take(range.len())
}

/// All of `records` as those of one name.
fn whole(records: &PackedRecords) -> OwnerGroup<'_> {
    OwnerGroup {
        records: RecordRange::new(records, 0..records.len()),
        kind: NameKind::Authoritative,
    }
}

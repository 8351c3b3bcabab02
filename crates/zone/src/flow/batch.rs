//! Batches of names, each with what is to know of the names before and after.

use super::group::{GroupSpan, Grouped};
use crate::NameKind;
use crate::canonical::{is_at_or_below, same_name};
use crate::error::ZoneError;
use crate::packed::{PackedRecord, PackedRecords};
use domain::base::iana::Rtype;
use std::ops::Range;
use std::sync::Arc;

/// Names of a zone that follow each other in canonical order, some thousands.
#[derive(Debug)]
pub struct Batch {
    /// The zone's apex, as wire octets.
    pub apex: Arc<[u8]>,
    /// The owner before the first, and after the last, of those that are not below a zone cut; `None` at the zone's ends. All names
    /// of a batch may be below one cut.
    pub previous: Option<Box<[u8]>>,
    /// See [`Self::previous`].
    pub next: Option<Box<[u8]>>,
    /// NSEC3 records and their signatures that stood in the file among these names; their owners are hashes.
    pub nsec3: PackedRecords,
    /// What makes the file no zone, if that is kept.
    pub faults: Vec<ZoneError>,
    records: PackedRecords,
    groups: Vec<GroupSpan>,
    kinds: Vec<NameKind>,
}

impl Batch {
    /// A batch of what stood between names.
    pub(super) fn nameless(apex: Arc<[u8]>, grouped: Grouped) -> Self {
        Self {
            apex,
            previous: None,
            next: None,
            nsec3: grouped.nsec3,
            faults: grouped.faults,
            records: grouped.records,
            groups: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// The names.
    pub fn names(
        &self,
    ) -> impl DoubleEndedIterator<Item = OwnerGroup<'_>> + ExactSizeIterator + Clone {
        let spans = self.groups.iter().zip(&self.kinds);
        spans.map(|(span, &kind)| OwnerGroup {
            records: RecordRange {
                all: &self.records,
                range: span.first as usize..span.end as usize,
            },
            kind,
        })
    }

    /// The apex, if the batch begins with it.
    pub fn at_apex(&self) -> Option<OwnerGroup<'_>> {
        let first = self.names().next()?;
        same_name(first.owner(), &self.apex).then_some(first)
    }

    /// All records, sorted by owner, type and data.
    pub fn records(&self) -> &PackedRecords {
        &self.records
    }

    /// Octets of memory that the batch takes.
    pub fn memory(&self) -> usize {
        self.records.memory() + self.nsec3.memory()
    }
}

/// An owner name with all its records but those of an NSEC3 chain.
#[derive(Clone, Debug)]
pub struct OwnerGroup<'a> {
    /// The records, sorted by type and data; at least one.
    pub records: RecordRange<'a>,
    /// What the name is to its zone.
    pub kind: NameKind,
}

impl<'a> OwnerGroup<'a> {
    /// The owner name, as wire octets.
    pub fn owner(&self) -> &'a [u8] {
        self.records.get(0).owner
    }

    /// Whether the name has a record of `rtype`.
    pub fn has(&self, rtype: Rtype) -> bool {
        self.records.iter().any(|record| record.rtype == rtype)
    }

    /// The RRsets, in the order of their types; RRSIG records form none (RFC 4034 section 3).
    pub fn rrsets(&self) -> impl Iterator<Item = RecordRange<'a>> + use<'a> {
        self.records
            .runs()
            .filter(|run| run.get(0).rtype != Rtype::RRSIG)
    }

    /// The RRSIG records that cover `rtype`.
    pub fn signatures(&self, rtype: Rtype) -> RecordRange<'a> {
        let covers = |run: &RecordRange<'a>| run.get(0).covered() == Some(rtype);
        self.records.runs().find(covers).unwrap_or(RecordRange {
            all: self.records.all,
            range: 0..0,
        })
    }
}

/// Records that follow each other.
#[derive(Clone, Debug)]
pub struct RecordRange<'a> {
    all: &'a PackedRecords,
    range: Range<usize>,
}

impl<'a> RecordRange<'a> {
    /// A range of `all`.
    pub fn new(all: &'a PackedRecords, range: Range<usize>) -> Self {
        Self { all, range }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The record at `index`.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, index: usize) -> PackedRecord<'a> {
        self.all.get(self.range.start + index)
    }

    /// The records in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PackedRecord<'a>> + Clone + use<'a> {
        let all = self.all;
        self.range.clone().map(move |index| all.get(index))
    }

    /// The runs of records of one type, RRSIG records by the type that they cover.
    pub(crate) fn runs(&self) -> impl Iterator<Item = RecordRange<'a>> + use<'a> {
        let all = self.all;
        let mut rest = self.range.clone();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let first = all.get(rest.start);
            let (rtype, covered) = (first.rtype, first.covered());
            let mut end = rest.start + 1;
            while end < rest.end {
                let record = all.get(end);
                if record.rtype != rtype || record.covered() != covered {
                    break;
                }
                end += 1;
            }
            let run = RecordRange {
                all,
                range: rest.start..end,
            };
            rest.start = end;
            Some(run)
        })
    }
}

/// Tells what the names are to their zone, going over them in canonical order.
#[derive(Debug)]
pub(super) struct Kinds {
    apex: Arc<[u8]>,
    /// The zone cut, or the owner of a DNAME, below which the names are that come next.
    cut: Option<Box<[u8]>>,
    previous: Option<Box<[u8]>>,
}

impl Kinds {
    pub fn new(apex: Arc<[u8]>) -> Self {
        Self {
            apex,
            cut: None,
            previous: None,
        }
    }

    /// Makes a batch of `grouped`, the names after those of the last batch; `next` is the next that is not below a cut.
    pub fn batch(&mut self, grouped: Grouped, next: Option<Box<[u8]>>) -> Batch {
        let mut kinds = Vec::with_capacity(grouped.groups.len());
        let cut = kinds_of(&self.apex, self.cut.as_deref(), &grouped, |kind| {
            kinds.push(kind)
        });
        let cut: Option<Box<[u8]>> = cut.map(Into::into);
        self.cut = cut;
        let last_visible = kinds.iter().rposition(|&kind| kind != NameKind::BelowCut);
        let last = last_visible.map(|index| {
            grouped
                .records
                .get(grouped.groups[index].first as usize)
                .owner
                .into()
        });
        let previous = std::mem::replace(&mut self.previous, last);
        if self.previous.is_none() {
            self.previous.clone_from(&previous);
        }
        Batch {
            apex: self.apex.clone(),
            previous,
            next,
            nsec3: grouped.nsec3,
            faults: grouped.faults,
            records: grouped.records,
            groups: grouped.groups,
            kinds,
        }
    }

    /// The first name of `next` that is not below a cut, `pending` being the names before it.
    pub fn first_visible(&self, pending: &Grouped, next: &Grouped) -> Option<Box<[u8]>> {
        let cut = kinds_of(&self.apex, self.cut.as_deref(), pending, |_| {});
        let owners = next
            .groups
            .iter()
            .map(|span| next.records.get(span.first as usize).owner);
        let is_visible = |owner: &&[u8]| cut.is_none_or(|cut| !is_strictly_below(owner, cut));
        owners.into_iter().find(is_visible).map(Into::into)
    }
}

fn is_strictly_below(owner: &[u8], cut: &[u8]) -> bool {
    owner.len() > cut.len() && is_at_or_below(owner, cut)
}

/// Tells the kind of each name of `grouped`; returns the cut that the names after it may be below.
fn kinds_of<'a>(
    apex: &[u8],
    cut: Option<&'a [u8]>,
    grouped: &'a Grouped,
    mut tell: impl FnMut(NameKind),
) -> Option<&'a [u8]> {
    let mut cut = cut;
    for span in &grouped.groups {
        let owner = grouped.records.get(span.first as usize).owner;
        if cut.is_some_and(|cut| is_strictly_below(owner, cut)) {
            tell(NameKind::BelowCut);
            continue;
        }
        let kind = match span.has_ns && !same_name(owner, apex) {
            true => NameKind::Delegation,
            false => NameKind::Authoritative,
        };
        if kind == NameKind::Delegation || span.has_dname {
            cut = Some(owner);
        }
        tell(kind);
    }
    cut
}

/// Whether the last name of `first` is the first of `second`.
pub(super) fn meet_in_one_name(first: &Grouped, second: &Grouped) -> bool {
    match (first.groups.last(), second.groups.first()) {
        (Some(last), Some(next)) => same_name(
            first.records.get(last.first as usize).owner,
            second.records.get(next.first as usize).owner,
        ),
        _ => false,
    }
}

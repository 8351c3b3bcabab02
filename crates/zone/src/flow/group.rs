//! Records that lie in canonical order of their owners, grouped by owner, and what must hold for each name.

use crate::canonical::{compare_names, is_at_or_below, same_name};
use crate::error::{Warning, ZoneError};
use crate::packed::{PackedRecord, PackedRecords, record_at};
use crate::rdata::compare_rdata;
use crate::read::{TTL_MISSING, position};
use crate::text::shown_name;
use domain::base::iana::Rtype;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What is known of a zone when its records are grouped.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The zone's apex, as wire octets.
    pub apex: Arc<[u8]>,
    /// Path of each file, by number.
    pub files: Arc<[Arc<Path>]>,
    /// The TTL of records with [`TTL_MISSING`], in seconds.
    pub missing_ttl_s: Option<u32>,
}

/// One owner's records: a range of the records, and which types decide what kind of name it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSpan {
    pub first: u32,
    pub end: u32,
    pub has_ns: bool,
    pub has_dname: bool,
    /// There may be more records of the name, so these are neither sorted nor checked yet.
    pub is_open: bool,
}

impl GroupSpan {
    pub fn len(&self) -> usize {
        self.range().len()
    }

    pub fn range(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// A stretch of a zone: owners in canonical order, each one's records sorted by type and data.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// The records of `groups`, and no others.
    pub records: PackedRecords,
    pub groups: Vec<GroupSpan>,
    /// NSEC3 records and their signatures, whose owners are hashes, in the order of the file.
    pub nsec3: PackedRecords,
    pub warnings: Vec<Warning>,
    /// What makes this no zone, in the order of the names.
    pub faults: Vec<ZoneError>,
}

/// An owner comes before that of the record before it.
#[derive(Debug)]
pub(crate) struct NotInOrder;

/// Groups `records` by owner. The first and the last name stay open until [`Grouped::close`], since what comes before and
/// after may have more records of them.
pub(crate) fn group(mut records: PackedRecords, rules: &Rules) -> Result<Grouped, NotInOrder> {
    if let Some(ttl_s) = rules.missing_ttl_s {
        fill_missing_ttls(&mut records, ttl_s);
    }
    let mut grouped = Grouped::default();
    grouped.nsec3 = take_nsec3(&mut records, rules, &mut grouped.faults);
    let spans = owner_spans(&records)?;
    grouped.records = records;
    let last = spans.len().saturating_sub(1);
    // Duplicates and names of other zones are dropped: `kept` records stand before the name at hand.
    let mut kept = 0;
    for (number, mut span) in spans.into_iter().enumerate() {
        if !grouped.is_in_zone(&span, rules) {
            continue;
        }
        grouped.records.move_down(span.range(), kept);
        (span.first, span.end) = (kept as u32, (kept + span.len()) as u32);
        span.is_open = grouped.groups.is_empty() || number == last;
        if !span.is_open {
            grouped.settle(&mut span, rules);
        }
        kept = span.end as usize;
        grouped.groups.push(span);
    }
    grouped.records.truncate(kept);
    Ok(grouped)
}

impl Grouped {
    /// Closes the first and the last name, of which there are no more records.
    pub fn close(&mut self, rules: &Rules) {
        let inner = std::mem::take(&mut self.faults);
        if let Some(mut first) = self.groups.first().copied().filter(|first| first.is_open) {
            let end = first.end;
            self.settle(&mut first, rules);
            self.records.remove(first.end as usize..end as usize);
            let dropped = end - first.end;
            for span in &mut self.groups {
                span.first = span.first.saturating_sub(dropped);
                span.end -= dropped;
            }
            self.groups[0] = first;
        }
        self.faults.extend(inner);
        if let Some(mut last) = self.groups.last().copied().filter(|last| last.is_open) {
            self.settle(&mut last, rules);
            self.records.truncate(last.end as usize);
            self.groups.pop();
            self.groups.push(last);
        }
    }

    /// Appends a name with its records, and checks it.
    pub fn push_name<'a>(
        &mut self,
        records: impl Iterator<Item = PackedRecord<'a>>,
        rules: &Rules,
    ) {
        let first = self.records.len();
        records.for_each(|record| self.records.push(&record));
        let mut span = GroupSpan {
            first: first as u32,
            end: self.records.len() as u32,
            has_ns: false,
            has_dname: false,
            is_open: false,
        };
        for record in span.range().map(|index| self.records.get(index)) {
            span.has_ns |= record.rtype == Rtype::NS;
            span.has_dname |= record.rtype == Rtype::DNAME;
        }
        if span.range().is_empty() || !self.is_in_zone(&span, rules) {
            self.records.truncate(first);
            return;
        }
        self.settle(&mut span, rules);
        self.records.truncate(span.end as usize);
        self.groups.push(span);
    }

    /// Appends a name of other `records` as it is.
    pub fn push_closed(&mut self, span: &GroupSpan, records: &PackedRecords) {
        let first = self.records.len() as u32;
        for record in span.range().map(|index| records.get(index)) {
            self.records.push(&record);
        }
        self.groups.push(GroupSpan {
            first,
            end: self.records.len() as u32,
            ..*span
        });
    }

    /// Whether the name is in the zone; notes the fault if it is not.
    fn is_in_zone(&mut self, span: &GroupSpan, rules: &Rules) -> bool {
        let record = self.records.get(span.first as usize);
        let fault = out_of_zone(&record, rules);
        let is_in_zone = fault.is_none();
        self.faults.extend(fault);
        is_in_zone
    }

    /// Sorts the records of a name, gives its RRsets one TTL each, drops duplicates and checks the name. Records that were
    /// dropped are still there behind those of `span`.
    fn settle(&mut self, span: &mut GroupSpan, rules: &Rules) {
        span.is_open = false;
        if span.len() > 1 {
            self.records.sort_range(span.range(), compare_data);
            level_ttls(self, *span, rules);
            let kept = self.records.dedup_range(span.range(), compare_data);
            span.end = span.first + kept as u32;
            check_soa(self, *span, rules);
            check_cname(self, *span, rules);
            return;
        }
        let record = self.records.get(span.first as usize);
        if record.rtype == Rtype::SOA && !same_name(record.owner, &rules.apex) {
            check_soa(self, *span, rules);
        }
    }

    /// Forgets the names that have nothing but RRSIG and NSEC records.
    pub fn leave_out_orphans(&mut self) {
        let mut kept = 0;
        let records = &mut self.records;
        self.groups.retain_mut(|span| {
            let mut all = span.range().map(|index| records.get(index).rtype);
            if all.all(|rtype| matches!(rtype, Rtype::RRSIG | Rtype::NSEC)) {
                return false;
            }
            records.move_down(span.range(), kept);
            (span.first, span.end) = (kept as u32, (kept + span.len()) as u32);
            kept = span.end as usize;
            true
        });
        self.records.truncate(kept);
    }

    /// The first owner.
    pub fn first_owner(&self) -> Option<&[u8]> {
        let first = self.groups.first()?;
        Some(self.records.get(first.first as usize).owner)
    }
}

/// Gives records without TTL this one.
pub(super) fn fill_missing_ttls(records: &mut PackedRecords, ttl_s: u32) {
    for index in 0..records.len() {
        if records.get(index).ttl_s == TTL_MISSING {
            records.set_ttl(index, ttl_s);
        }
    }
}

/// Moves the records of the NSEC3 chain out of `records`.
fn take_nsec3(
    records: &mut PackedRecords,
    rules: &Rules,
    faults: &mut Vec<ZoneError>,
) -> PackedRecords {
    let mut nsec3 = PackedRecords::default();
    if !records.iter().any(|record| record.is_nsec3()) {
        return nsec3;
    }
    for record in records.iter().filter(|record| record.is_nsec3()) {
        match out_of_zone(&record, rules) {
            None => nsec3.push(&record),
            Some(fault) => faults.push(fault),
        }
    }
    let (octets, starts) = records.starts_mut();
    starts.retain(|&start| !record_at(octets, start).is_nsec3());
    nsec3
}

/// What is wrong with the owner of `record`, if it is not in the zone.
fn out_of_zone(record: &PackedRecord<'_>, rules: &Rules) -> Option<ZoneError> {
    (!is_at_or_below(record.owner, &rules.apex)).then(|| ZoneError::OutOfZone {
        at: position(&rules.files, record.place),
        owner: shown_name(record.owner),
        origin: shown_name(&rules.apex),
    })
}

/// The runs of records with one owner.
fn owner_spans(records: &PackedRecords) -> Result<Vec<GroupSpan>, NotInOrder> {
    let mut spans: Vec<GroupSpan> = Vec::with_capacity(records.len() / 2);
    let mut owner: &[u8] = &[];
    for (index, record) in records.iter().enumerate() {
        let is_new = match owner == record.owner {
            true => false,
            false if owner.is_empty() => true,
            false => match compare_names(owner, record.owner) {
                Ordering::Less => true,
                Ordering::Equal => false,
                Ordering::Greater => return Err(NotInOrder),
            },
        };
        if is_new {
            owner = record.owner;
            spans.push(GroupSpan {
                first: index as u32,
                end: index as u32,
                has_ns: false,
                has_dname: false,
                is_open: false,
            });
        }
        if let Some(span) = spans.last_mut() {
            span.end = index as u32 + 1;
            span.has_ns |= record.rtype == Rtype::NS;
            span.has_dname |= record.rtype == Rtype::DNAME;
        }
    }
    Ok(spans)
}

/// The order of two records of one owner: by type, then by data in canonical form (RFC 4034 section 6.3).
pub(super) fn compare_data(a: &PackedRecord<'_>, b: &PackedRecord<'_>) -> Ordering {
    a.rtype
        .to_int()
        .cmp(&b.rtype.to_int())
        .then_with(|| compare_rdata(a.rtype, a.rdata, b.rdata))
}

/// Refuses SOA records elsewhere than at the apex, and more than one there (RFC 1035 section 5.2).
fn check_soa(grouped: &mut Grouped, span: GroupSpan, rules: &Rules) {
    let records = (span.first..span.end).map(|index| grouped.records.get(index as usize));
    let mut soas = records.filter(|record| record.rtype == Rtype::SOA);
    let Some(first) = soas.next() else { return };
    let is_apex = same_name(first.owner, &rules.apex);
    let fault = match (is_apex, soas.next()) {
        (true, None) => return,
        (true, Some(second)) => ZoneError::SeveralSoas {
            at: position(&rules.files, second.place),
            first: position(&rules.files, first.place),
        },
        (false, _) => ZoneError::SoaBelowApex {
            at: position(&rules.files, first.place),
            owner: shown_name(first.owner),
            origin: shown_name(&rules.apex),
        },
    };
    grouped.faults.push(fault);
}

/// Refuses anything beside a CNAME but what DNSSEC adds (RFC 4035 section 2.5).
fn check_cname(grouped: &mut Grouped, span: GroupSpan, rules: &Rules) {
    let records = (span.first..span.end).map(|index| grouped.records.get(index as usize));
    let Some(cname) = records.clone().find(|record| record.rtype == Rtype::CNAME) else {
        return;
    };
    let offending = records.clone().find(|record| match record.rtype {
        Rtype::CNAME => compare_rdata(Rtype::CNAME, record.rdata, cname.rdata).is_ne(),
        rtype => !matches!(
            rtype,
            Rtype::RRSIG | Rtype::NSEC | Rtype::KEY | Rtype::SIG | Rtype::NXT
        ),
    });
    if let Some(record) = offending {
        let fault = ZoneError::BesideCname {
            at: position(&rules.files, record.place),
            owner: shown_name(record.owner),
            rtype: record.rtype.to_string(),
        };
        grouped.faults.push(fault);
    }
}

/// Gives each RRset one TTL, the lowest (RFC 2181 section 5.2), as servers do; RRSIGs go by the type they cover.
fn level_ttls(grouped: &mut Grouped, span: GroupSpan, rules: &Rules) {
    let mut first = span.first as usize;
    while first < span.end as usize {
        let set = grouped.records.get(first);
        let (rtype, covered) = (set.rtype, set.covered());
        let mut end = first + 1;
        let (mut lowest, mut highest) = (set.ttl_s, set.ttl_s);
        while end < span.end as usize {
            let record = grouped.records.get(end);
            if record.rtype != rtype || record.covered() != covered {
                break;
            }
            lowest = lowest.min(record.ttl_s);
            highest = highest.max(record.ttl_s);
            end += 1;
        }
        if lowest != highest {
            let other = (first..end)
                .map(|index| grouped.records.get(index))
                .filter(|record| record.ttl_s != lowest)
                .min_by_key(|record| (record.place.file, record.place.line));
            let record = other.unwrap_or(set);
            let warning = Warning {
                at: position(&rules.files, record.place),
                what: format!(
                    "the records of {} {rtype} have different TTLs; the lowest, {lowest} s, was taken for all (RFC 2181 section 5.2)",
                    shown_name(record.owner)
                ),
            };
            grouped.warnings.push(warning);
            for index in first..end {
                grouped.records.set_ttl(index, lowest);
            }
        }
        first = end;
    }
}

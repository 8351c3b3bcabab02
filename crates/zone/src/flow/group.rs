//! Records that lie in canonical order of their owners, grouped by owner, and what must hold for each name.

use crate::canonical::{compare_names, is_at_or_below, same_name};
use crate::error::{Warning, ZoneError};
use crate::packed::{PackedRecord, PackedRecords, record_at};
use crate::rdata::compare_rdata;
use crate::read::position;
use crate::text::shown_name;
use domain::base::iana::Rtype;
use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

/// What is known of a zone when its records are grouped.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The zone's apex, as wire octets.
    pub apex: Arc<[u8]>,
    /// Path of each file, by number.
    pub files: Arc<[Arc<Path>]>,
}

/// One owner's records: a range of the records, and which types decide what kind of name it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSpan {
    pub first: u32,
    pub end: u32,
    pub has_ns: bool,
    pub has_dname: bool,
}

/// A stretch of a zone: owners in canonical order, each one's records sorted by type and data.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    pub records: PackedRecords,
    pub groups: Vec<GroupSpan>,
    /// NSEC3 records and their signatures, whose owners are hashes, in the order of the file.
    pub nsec3: PackedRecords,
    pub warnings: Vec<Warning>,
    /// What makes this no zone, in the order of the names.
    pub faults: Vec<ZoneError>,
}

impl Grouped {
    /// Puts the NSEC3 records of `earlier`, which comes later all the same, before these.
    pub fn put_nsec3_before(&mut self, earlier: Option<&mut Self>) {
        if let Some(earlier) = earlier
            && !earlier.nsec3.is_empty()
        {
            let mut nsec3 = std::mem::take(&mut earlier.nsec3);
            nsec3.append(&self.nsec3);
            self.nsec3 = nsec3;
        }
    }

    /// Forgets the names that have nothing but RRSIG and NSEC records.
    pub fn leave_out_orphans(&mut self) {
        let records = &self.records;
        let is_orphan = |index: u32| {
            matches!(
                records.get(index as usize).rtype,
                Rtype::RRSIG | Rtype::NSEC
            )
        };
        self.groups
            .retain(|span| !(span.first..span.end).all(is_orphan));
    }

    /// The first owner.
    pub fn first_owner(&self) -> Option<&[u8]> {
        let first = self.groups.first()?;
        Some(self.records.get(first.first as usize).owner)
    }
}

/// An owner comes before that of the record before it.
#[derive(Debug)]
pub(crate) struct NotInOrder;

/// Groups `records` by owner.
pub(crate) fn group(mut records: PackedRecords, rules: &Rules) -> Result<Grouped, NotInOrder> {
    let nsec3 = take_nsec3(&mut records);
    let mut grouped = Grouped {
        nsec3,
        ..Grouped::default()
    };
    let mut spans = owner_spans(&records)?;
    let (octets, starts) = records.starts_mut();
    let record = |start: u32| record_at(octets, start);
    // Duplicates are dropped: `kept` records stand before the group at hand.
    let mut kept = 0usize;
    for span in &mut spans {
        let group = span.first as usize..span.end as usize;
        if group.len() > 1 {
            let order = |a: &u32, b: &u32| compare_data(&record(*a), &record(*b)).then(a.cmp(b));
            starts[group.clone()].sort_unstable_by(order);
        }
        span.first = kept as u32;
        for at in group {
            let start = starts[at];
            let before = (kept > span.first as usize).then(|| record(starts[kept - 1]));
            if before.is_some_and(|before| compare_data(&before, &record(start)).is_eq()) {
                continue;
            }
            starts[kept] = start;
            kept += 1;
        }
        span.end = kept as u32;
    }
    records.truncate(kept);
    grouped.records = records;
    for span in spans {
        check_name(&mut grouped, span, rules);
    }
    Ok(grouped)
}

/// Moves the records of the NSEC3 chain out of `records`.
fn take_nsec3(records: &mut PackedRecords) -> PackedRecords {
    let mut nsec3 = PackedRecords::default();
    if !records.iter().any(|record| record.is_nsec3()) {
        return nsec3;
    }
    for record in records.iter().filter(|record| record.is_nsec3()) {
        nsec3.push(&record);
    }
    let (octets, starts) = records.starts_mut();
    starts.retain(|&start| !record_at(octets, start).is_nsec3());
    nsec3
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
fn compare_data(a: &PackedRecord<'_>, b: &PackedRecord<'_>) -> Ordering {
    a.rtype
        .to_int()
        .cmp(&b.rtype.to_int())
        .then_with(|| compare_rdata(a.rtype, a.rdata, b.rdata))
}

/// Checks the records of one name, levels the TTLs of its RRsets and appends it to the groups.
fn check_name(grouped: &mut Grouped, span: GroupSpan, rules: &Rules) {
    let owner_record = grouped.records.get(span.first as usize);
    if !is_at_or_below(owner_record.owner, &rules.apex) {
        let fault = ZoneError::OutOfZone {
            at: position(&rules.files, owner_record.place),
            owner: shown_name(owner_record.owner),
            origin: shown_name(&rules.apex),
        };
        grouped.faults.push(fault);
        return;
    }
    if span.end - span.first > 1 {
        check_soa(grouped, span, rules);
        check_cname(grouped, span, rules);
        level_ttls(grouped, span, rules);
    } else if owner_record.rtype == Rtype::SOA && !same_name(owner_record.owner, &rules.apex) {
        check_soa(grouped, span, rules);
    }
    grouped.groups.push(span);
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

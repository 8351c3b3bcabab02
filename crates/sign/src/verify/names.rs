//! Checking a batch of names.

use super::chain::ChainCheck;
use super::nsec3::BatchLinks;
use super::signatures::Signatures;
use super::{Fault, Zone};
use crate::zonefile::chain::{FLAG_OPT_OUT, Types, is_signed, types_at};
use dnsrig_zone::flow::{Batch, OwnerGroup, RecordRange};
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{NameKind, PackedRecord, PackedRecords, push_type_bitmap, same_name};
use domain::base::iana::Rtype;
use std::ops::Range;

/// What was found in a batch.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub records: u64,
    pub rrsets: u64,
    pub signatures: u64,
    pub chain_names: u64,
    pub faults: Vec<Fault>,
    pub links: BatchLinks,
}

/// Checks the names of `batch`, and the NSEC3 records that stood among them.
pub(super) fn check_batch(zone: &Zone, batch: &Batch) -> Checked {
    let mut work = Work {
        zone,
        signatures: Signatures::new(zone),
        checked: Checked::default(),
        types: Types::new(),
    };
    let names: Vec<OwnerGroup<'_>> = batch.names().collect();
    let mut next: &[u8] = batch.next.as_deref().unwrap_or(&batch.apex);
    // From the last to the first, since a name's NSEC record names the next.
    for name in names.iter().rev() {
        work.name(name, next);
        if name.kind != NameKind::BelowCut {
            next = name.owner();
        }
    }
    if let ChainCheck::Nsec3(hashing) = &zone.chain {
        work.checked.links.names(zone, hashing, batch);
    }
    work.checked.records = (batch.records().len() + batch.nsec3.len()) as u64;
    work.nsec3(&batch.nsec3);
    work.finish()
}

/// Checks NSEC3 records alone.
pub(super) fn check_nsec3(zone: &Zone, records: &PackedRecords) -> Checked {
    let mut work = Work {
        zone,
        signatures: Signatures::new(zone),
        checked: Checked::default(),
        types: Types::new(),
    };
    work.checked.records = records.len() as u64;
    work.nsec3(records);
    work.finish()
}

struct Work<'a> {
    zone: &'a Zone,
    signatures: Signatures<'a>,
    checked: Checked,
    types: Types,
}

impl<'a> Work<'a> {
    fn finish(mut self) -> Checked {
        self.checked.rrsets = self.signatures.sets() as u64;
        let (valid, faults) = self.signatures.verify();
        self.checked.signatures = valid;
        self.checked.faults.extend(faults);
        self.checked
            .faults
            .sort_by_key(|fault| (fault.at.line, fault.at.column));
        self.checked
    }

    fn fault(&mut self, record: &PackedRecord<'_>, rtype: Rtype, what: impl Into<String>) {
        self.checked
            .faults
            .push(self.zone.fault(record, rtype, what));
    }

    fn name(&mut self, name: &OwnerGroup<'a>, next: &[u8]) {
        if name.kind == NameKind::BelowCut {
            for record in name.records.iter() {
                if matches!(record.rtype, Rtype::RRSIG | Rtype::NSEC) {
                    self.fault(
                        &record,
                        record.rtype,
                        "below a zone cut, where nothing is signed",
                    );
                }
            }
            return;
        }
        for rrset in name.rrsets() {
            let first = rrset.get(0);
            let signatures = name.signatures(first.rtype);
            if is_signed(name.kind, first.rtype) {
                self.signatures.rrset(&rrset, &signatures);
            } else if !signatures.is_empty() {
                let what = format!("{} is signed, but it is the child zone's", first.rtype);
                self.fault(&signatures.get(0), Rtype::RRSIG, what);
            }
        }
        self.orphans(name);
        self.ds(name);
        if matches!(self.zone.chain, ChainCheck::Nsec) {
            self.nsec(name, next);
        } else if let Some(record) = name
            .records
            .iter()
            .find(|record| record.rtype == Rtype::NSEC)
        {
            self.fault(
                &record,
                Rtype::NSEC,
                "an NSEC record, but the apex has none",
            );
        }
    }

    /// Signatures of RRsets that are not there.
    fn orphans(&mut self, name: &OwnerGroup<'a>) {
        let mut last = None;
        for record in name.records.iter() {
            let Some(covered) = record.covered() else {
                continue;
            };
            if last != Some(covered) && !name.has(covered) {
                let what = format!("a signature of {covered}, which the name has not");
                self.fault(&record, Rtype::RRSIG, what);
            }
            last = Some(covered);
        }
    }

    /// DS records must be at zone cuts, with a digest as long as its type says (RFC 4034 section 5.1, RFC 4509, RFC 6605).
    fn ds(&mut self, name: &OwnerGroup<'a>) {
        for record in name
            .records
            .iter()
            .filter(|record| record.rtype == Rtype::DS)
        {
            if name.kind != NameKind::Delegation {
                self.fault(&record, Rtype::DS, "a DS record where no zone is delegated");
            }
            let expected = match record.rdata.get(3) {
                Some(1) => Some(20),
                Some(2) => Some(32),
                Some(4) => Some(48),
                _ => None,
            };
            let octets = record.rdata.len().saturating_sub(4);
            if let Some(expected) = expected.filter(|&expected| expected != octets) {
                let what = format!("the digest has {octets} octets instead of {expected}");
                self.fault(&record, Rtype::DS, what);
            }
        }
    }

    /// Checks the name's NSEC record (RFC 4034 section 4.1, RFC 4035 section 2.3).
    fn nsec(&mut self, name: &OwnerGroup<'a>, next: &[u8]) {
        let mut records = name
            .records
            .iter()
            .filter(|record| record.rtype == Rtype::NSEC);
        let Some(record) = records.next() else {
            let first = name.records.get(0);
            self.fault(&first, Rtype::NSEC, "the name has no NSEC record");
            return;
        };
        self.checked.chain_names += 1;
        if let Some(second) = records.next() {
            self.fault(&second, Rtype::NSEC, "a second NSEC record");
        }
        types_at(&name.records, name.kind, &mut self.types);
        self.types.extend([Rtype::RRSIG, Rtype::NSEC]);
        let named = record.rdata.get(..next.len());
        let mut bitmap = Vec::new();
        push_type_bitmap(&mut self.types, &mut bitmap);
        if !named.is_some_and(|named| same_name(named, next)) {
            let what = format!("the next name is not {}", shown_name(next));
            self.fault(&record, Rtype::NSEC, what);
        } else if record.rdata[next.len()..] != bitmap {
            let what = format!("the types are not {}", shown_types(&bitmap));
            self.fault(&record, Rtype::NSEC, what);
        }
    }

    /// Takes NSEC3 records, those of each owner together.
    fn nsec3(&mut self, records: &'a PackedRecords) {
        let mut first = 0;
        while first < records.len() {
            let owner = records.get(first).owner;
            let mut end = first + 1;
            while end < records.len() && same_name(records.get(end).owner, owner) {
                end += 1;
            }
            self.nsec3_owner(records, first..end);
            first = end;
        }
    }

    /// Takes the records of one owner, of which the NSEC3 records lie together and the signatures do.
    fn nsec3_owner(&mut self, records: &'a PackedRecords, range: Range<usize>) {
        let is_nsec3 = |index: usize| records.get(index).rtype == Rtype::NSEC3;
        let starts_with_nsec3 = is_nsec3(range.start);
        let middle = range
            .clone()
            .find(|&index| is_nsec3(index) != starts_with_nsec3)
            .unwrap_or(range.end);
        let parts = [range.start..middle, middle..range.end];
        let [head, tail] = parts.map(|part| RecordRange::new(records, part));
        let (set, signatures) = match starts_with_nsec3 {
            true => (head, tail),
            false => (tail, head),
        };
        if set.is_empty() {
            let what = "a signature of NSEC3, which the name has not";
            self.fault(&signatures.get(0), Rtype::RRSIG, what);
            return;
        }
        for second in set.iter().skip(1) {
            self.fault(&second, Rtype::NSEC3, "a second NSEC3 record of this hash");
        }
        self.signatures.rrset(&set, &signatures);
        let record = set.get(0);
        if let Some(what) = nsec3_flags_fault(&record) {
            self.fault(&record, Rtype::NSEC3, what);
        }
        let not_in_chain = match &self.zone.chain {
            ChainCheck::Nsec3(hashing) => {
                self.checked.links.record(self.zone, hashing, &record).err()
            }
            ChainCheck::Nsec => Some("an NSEC3 record, but the apex has an NSEC record".into()),
            ChainCheck::None => Some(
                "an NSEC3 record, but the apex has no NSEC3PARAM record of a known algorithm"
                    .into(),
            ),
        };
        if let Some(what) = not_in_chain {
            self.fault(&record, Rtype::NSEC3, what);
        }
    }
}

/// Validators ignore NSEC3 records with flags that they do not know (RFC 5155 section 8.2).
fn nsec3_flags_fault(record: &PackedRecord<'_>) -> Option<String> {
    let flags = *record.rdata.get(1)?;
    (flags & !FLAG_OPT_OUT != 0).then(|| {
        format!(
            "the flags are {flags} instead of 0 or 1, so validators ignore the record (RFC 5155 section 8.2)"
        )
    })
}

/// The types of a bitmap, as a master file writes them.
pub(super) fn shown_types(bitmap: &[u8]) -> String {
    let types: Vec<String> = dnsrig_zone::bitmap_types(bitmap)
        .map(|rtype| rtype.to_string())
        .collect();
    match types.is_empty() {
        true => "none".into(),
        false => types.join(" "),
    }
}

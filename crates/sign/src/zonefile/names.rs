//! Signing a batch of names.

use super::Counts;
use super::chain::{Types, is_signed, types_at};
use super::links::BatchLinks;
use super::plan::{Chain, Plan};
use super::previous::paired;
use super::refusals::check_name;
use super::tasks::{Rrset, Tasks};
use super::warnings::{of_deletion, of_name, of_size};
use crate::SignError;
use dnsrig_zone::flow::{Batch, OwnerGroup, RecordRange};
use dnsrig_zone::text::push_record;
use dnsrig_zone::{
    FilePlace, NameKind, PackedRecord, Warning, empty_non_terminals, push_type_bitmap,
};
use domain::base::iana::Rtype;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A batch that was signed.
#[derive(Debug, Default)]
pub(super) struct SignedBatch {
    /// Its lines of the zone file.
    pub text: Vec<u8>,
    pub records: u64,
    pub chain_names: u64,
    pub counts: Counts,
    pub links: BatchLinks,
    pub digests: Vec<u128>,
    pub warnings: Vec<Warning>,
    /// The lines of the signatures of the apex's ZONEMD records, if the zone gets any.
    pub zonemd_signatures: Vec<u8>,
}

/// A name between being looked at and being written.
struct Name<'a> {
    records: RecordRange<'a>,
    kind: NameKind,
    /// Its signatures.
    tasks: Range<usize>,
    /// The data of its new NSEC record.
    nsec: Option<Range<usize>>,
    /// Signatures of ZONEMD records, whose digests are still to come.
    zonemd_tasks: Range<usize>,
    is_apex: bool,
}

/// Signs the names of `batch`, which come from `files`; `earlier` has the same names of an earlier version of the zone, if that
/// is to have the signatures.
pub(super) fn sign_batch(
    plan: &Plan,
    batch: &Batch,
    earlier: Option<&[Arc<Batch>]>,
    files: &[Arc<Path>],
) -> Result<SignedBatch, SignError> {
    let mut work = Work {
        files,
        plan,
        tasks: Tasks::new(plan),
        nsec: Vec::new(),
        types: Types::new(),
        signed: SignedBatch::default(),
    };
    let names: Vec<OwnerGroup<'_>> = batch.names().collect();
    let next = next_owners(&names, batch);
    let mut earlier = earlier.map(|earlier| paired(&names, earlier).into_iter());
    let mut looked_at = Vec::with_capacity(names.len());
    for (name, next) in names.into_iter().zip(next) {
        if name.kind != NameKind::BelowCut {
            check_name(plan, &name, files)?;
            of_name(&name, files, &mut work.signed.warnings);
        }
        let signed = match &mut earlier {
            None => Signed::Here,
            Some(earlier) => Signed::Earlier(earlier.next().flatten()),
        };
        looked_at.push(work.name(name, &signed, next));
    }
    if plan.hashing.is_some() {
        work.hash(batch);
    }
    work.tasks.resolve()?;
    work.signed.text.reserve(2 * batch.memory());
    for name in &looked_at {
        work.write(name);
    }
    work.signed.digests = work.tasks.digests();
    work.signed.counts = Counts {
        dropped: work
            .signed
            .counts
            .dropped
            .saturating_sub(work.tasks.counts.kept),
        ..work.tasks.counts
    };
    Ok(work.signed)
}

/// For each name the next one that is in the chain.
fn next_owners<'a>(names: &[OwnerGroup<'a>], batch: &'a Batch) -> Vec<&'a [u8]> {
    let mut next: &[u8] = batch.next.as_deref().unwrap_or(&batch.apex);
    let mut owners = vec![next; names.len()];
    for (owner, name) in owners.iter_mut().zip(names).rev() {
        *owner = next;
        if name.kind != NameKind::BelowCut {
            next = name.owner();
        }
    }
    owners
}

/// Where the signatures of a name are.
enum Signed<'a> {
    /// Among its own records.
    Here,
    /// Among the records that it had earlier, if it was there.
    Earlier(Option<OwnerGroup<'a>>),
}

struct Work<'p> {
    plan: &'p Plan,
    files: &'p [Arc<Path>],
    tasks: Tasks<'p>,
    /// Data of new NSEC records, one after another.
    nsec: Vec<u8>,
    types: Types,
    signed: SignedBatch,
}

impl<'p> Work<'p> {
    /// Looks at a name: what of it is signed, and its place in the chain.
    fn name<'a>(&mut self, name: OwnerGroup<'a>, signed: &Signed<'_>, next: &[u8]) -> Name<'a>
    where
        'p: 'a,
    {
        let plan = self.plan;
        let is_apex = name.owner().len() == plan.signer.len();
        let records = match is_apex {
            true => RecordRange::new(&plan.apex.records, 0..plan.apex.records.len()),
            false => name.records,
        };
        let name = OwnerGroup {
            records: records.clone(),
            kind: name.kind,
        };
        let nothing = || OwnerGroup {
            records: RecordRange::new(&plan.apex.records, 0..0),
            kind: name.kind,
        };
        let signed = match signed {
            Signed::Here => name.clone(),
            Signed::Earlier(earlier) => earlier.clone().unwrap_or_else(nothing),
        };
        let signatures = signed.records.iter();
        let signatures = signatures.filter(|record| record.rtype == Rtype::RRSIG);
        self.signed.counts.dropped += signatures.count() as u64;
        if is_apex {
            of_deletion(&records, self.files, &mut self.signed.warnings);
        }
        let first = self.tasks.len();
        let mut nsec = None;
        let mut zonemd_tasks = 0..0;
        if name.kind != NameKind::BelowCut {
            if plan.signing.chain == Chain::Nsec {
                nsec = Some(self.nsec_record(&name, next));
            }
            if plan.signing.signs {
                zonemd_tasks = self.rrsets(&name, &signed, is_apex);
                if let Some(nsec) = nsec.clone() {
                    self.nsec_signature(name.owner(), &signed, nsec);
                }
            }
        }
        Name {
            records,
            kind: name.kind,
            tasks: first..self.tasks.len(),
            nsec,
            zonemd_tasks,
            is_apex,
        }
    }

    /// Takes the RRsets of a name; the signatures of ZONEMD records that are to get their digests yet.
    fn rrsets(
        &mut self,
        name: &OwnerGroup<'_>,
        signed: &OwnerGroup<'_>,
        is_apex: bool,
    ) -> Range<usize> {
        let plan = self.plan;
        let mut zonemd_tasks = 0..0;
        for rrset in name.rrsets() {
            let first = rrset.get(0);
            let is_replaced = first.rtype == Rtype::NSEC && plan.signing.chain != Chain::Given;
            if is_replaced || !is_signed(name.kind, first.rtype) {
                continue;
            }
            let is_of_keys =
                is_apex && matches!(first.rtype, Rtype::DNSKEY | Rtype::CDNSKEY | Rtype::CDS);
            let key_keys = is_of_keys.then(|| plan.key_keys(first.rtype));
            let keys = key_keys.as_deref().unwrap_or(&plan.data_keys);
            let has_no_digest =
                is_apex && first.rtype == Rtype::ZONEMD && !plan.apex.digests.is_empty();
            let what = Rrset {
                owner: first.owner,
                rtype: first.rtype,
                ttl_s: first.ttl_s,
                existing: (!has_no_digest).then(|| signed.signatures(first.rtype)),
            };
            let rdatas = rrset.iter().map(|record| record.rdata);
            let first_task = self.tasks.len();
            self.tasks.rrset(&what, keys, rdatas);
            of_size(plan, &rrset, keys, self.files, &mut self.signed.warnings);
            if is_of_keys {
                for rrsig in plan.offline.signatures(first.rtype) {
                    self.tasks.keep(rrsig);
                }
            }
            if has_no_digest {
                zonemd_tasks = first_task..self.tasks.len();
            }
        }
        zonemd_tasks
    }

    /// Makes the data of the NSEC record (RFC 4034 section 4.1).
    fn nsec_record(&mut self, name: &OwnerGroup<'_>, next: &[u8]) -> Range<usize> {
        types_at(&name.records, name.kind, &mut self.types);
        self.types.extend([Rtype::RRSIG, Rtype::NSEC]);
        let start = self.nsec.len();
        self.nsec.extend_from_slice(next);
        push_type_bitmap(&mut self.types, &mut self.nsec);
        start..self.nsec.len()
    }

    fn nsec_signature(&mut self, owner: &[u8], signed: &OwnerGroup<'_>, nsec: Range<usize>) {
        let rdata = &self.nsec[nsec];
        let ttl_s = self.plan.apex.chain_ttl_s;
        let mut old = signed.records.iter();
        let old = old.find(|record| record.rtype == Rtype::NSEC);
        // A record that changed has no signature to keep.
        let is_same = old.is_some_and(|old| old.rdata == rdata && old.ttl_s == ttl_s);
        let what = Rrset {
            owner,
            rtype: Rtype::NSEC,
            ttl_s,
            existing: is_same.then(|| signed.signatures(Rtype::NSEC)),
        };
        self.tasks
            .rrset(&what, &self.plan.data_keys, std::iter::once(rdata));
    }

    /// Hashes the names that are in the NSEC3 chain (RFC 5155 section 7.1), empty non-terminals included.
    fn hash(&mut self, batch: &Batch) {
        let plan = self.plan;
        let Some(hashing) = &plan.hashing else { return };
        // With opt-out the name before may be one that is left out, so every ancestor is taken; the chain drops those that
        // come twice.
        let mut previous = match plan.opt_out {
            true => &batch.apex[..],
            false => batch.previous.as_deref().unwrap_or(&batch.apex),
        };
        for name in batch.names().filter(|name| name.kind != NameKind::BelowCut) {
            let is_insecure = name.kind == NameKind::Delegation && !name.has(Rtype::DS);
            if is_insecure && plan.opt_out {
                continue;
            }
            for empty in empty_non_terminals(plan.apex_labels, previous, name.owner()) {
                self.signed.links.add(hashing, empty, &mut []);
            }
            let is_apex = name.owner().len() == plan.signer.len();
            let records = match is_apex {
                true => RecordRange::new(&plan.apex.records, 0..plan.apex.records.len()),
                false => name.records.clone(),
            };
            types_at(&records, name.kind, &mut self.types);
            if !is_insecure {
                self.types.push(Rtype::RRSIG);
            }
            self.signed
                .links
                .add(hashing, name.owner(), &mut self.types);
            previous = name.owner();
        }
    }

    /// Appends the name's lines, in the order of their types but for the SOA record, which comes first.
    fn write(&mut self, name: &Name<'_>) {
        let plan = self.plan;
        let owner = name.records.get(0).owner;
        let is_given = plan.signing.chain == Chain::Given;
        let text = &mut self.signed.text;
        let mut written = 0;
        let mut write = |record: &PackedRecord<'_>, text: &mut Vec<u8>| {
            let is_dropped = record.rtype == Rtype::RRSIG
                || record.rtype == Rtype::NSEC && (!is_given || name.kind == NameKind::BelowCut);
            if !is_dropped {
                push_record(record, text);
                written += 1;
            }
        };
        let is_first = |record: &PackedRecord<'_>| name.is_apex && record.rtype == Rtype::SOA;
        let is_before = |record: &PackedRecord<'_>| record.rtype.to_int() < Rtype::RRSIG.to_int();
        for record in name.records.iter().filter(is_first) {
            write(&record, text);
        }
        for record in name
            .records
            .iter()
            .filter(|record| is_before(record) && !is_first(record))
        {
            write(&record, text);
        }
        self.tasks.push_lines(owner, name.tasks.clone(), text);
        let lines = &mut self.signed.zonemd_signatures;
        self.tasks
            .push_lines(owner, name.zonemd_tasks.clone(), lines);
        if let Some(nsec) = name.nsec.clone() {
            let record = PackedRecord {
                owner,
                rtype: Rtype::NSEC,
                ttl_s: plan.apex.chain_ttl_s,
                rdata: &self.nsec[nsec],
                place: FilePlace::default(),
            };
            push_record(&record, text);
            self.signed.records += 1;
            self.signed.chain_names += 1;
        }
        for record in name.records.iter().filter(|record| !is_before(record)) {
            write(&record, text);
        }
        self.signed.records += written + name.tasks.len() as u64;
    }
}

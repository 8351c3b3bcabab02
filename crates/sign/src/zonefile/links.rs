//! The NSEC3 chain (RFC 5155 section 7.1): collected while names go by, closed and signed at the end.

use super::chain::{FLAG_OPT_OUT, nsec3_head};
use super::given::check_nsec3;
use super::names::SignedBatch;
use super::plan::{Chain, Plan};
use super::tasks::{Rrset, Tasks};
use crate::SignError;
use data_encoding::BASE32HEX_NOPAD;
use dnsrig_zone::flow::RecordRange;
use dnsrig_zone::lookup::{Hash, Nsec3Params};
use dnsrig_zone::text::push_record;
use dnsrig_zone::{
    FilePlace, PackedRecord, PackedRecords, compare_names, push_type_bitmap, same_name,
};
use domain::base::iana::Rtype;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Names whose NSEC3 records one job signs.
const JOB_LINKS: usize = 2048;
/// Longest name in wire format.
const NAME_OCTETS_MAX: usize = 255;

/// A name of the chain: its hash, and the number of its type bitmap.
type Link = (Hash, u32);

/// The names of the chain in one batch.
#[derive(Debug, Default)]
pub(super) struct BatchLinks {
    links: Vec<Link>,
    bitmaps: Vec<Vec<u8>>,
    lower: Vec<u8>,
    bitmap: Vec<u8>,
}

impl BatchLinks {
    /// Adds a name with its types.
    pub fn add(&mut self, hashing: &Nsec3Params, owner: &[u8], types: &mut [Rtype]) {
        self.lower.clear();
        self.lower.extend_from_slice(owner);
        self.lower.make_ascii_lowercase();
        self.bitmap.clear();
        push_type_bitmap(types, &mut self.bitmap);
        // A zone has few different bitmaps, and the last ones come again.
        let found = self.bitmaps.iter().rposition(|known| *known == self.bitmap);
        let number = found.unwrap_or_else(|| {
            self.bitmaps.push(self.bitmap.clone());
            self.bitmaps.len() - 1
        });
        self.links.push((hashing.hash(&self.lower), number as u32));
    }
}

/// The names of the chain of the whole zone.
#[derive(Debug, Default)]
pub(super) struct Links {
    links: Vec<Link>,
    bitmaps: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl Links {
    pub fn add(&mut self, batch: BatchLinks) {
        let numbers: Vec<u32> = batch
            .bitmaps
            .into_iter()
            .map(|bitmap| {
                *self.numbers.entry(bitmap).or_insert_with_key(|bitmap| {
                    self.bitmaps.push(bitmap.clone());
                    self.bitmaps.len() as u32 - 1
                })
            })
            .collect();
        let links = batch.links.into_iter();
        self.links
            .extend(links.map(|(hash, number)| (hash, numbers[number as usize])));
    }

    /// Sorts the names by hash. Ancestors that were taken for empty non-terminals more than once, or though they have
    /// records, are dropped; other names with one hash are refused.
    fn close(&mut self) -> Result<(), SignError> {
        self.links.sort_unstable();
        let empty = self.numbers.get(&Vec::new()).copied();
        let is_empty = |link: &Link| Some(link.1) == empty;
        self.links.dedup_by(|later, kept| {
            let is_same_name = later.0 == kept.0 && (is_empty(later) || is_empty(kept));
            if is_same_name && is_empty(kept) {
                *kept = *later;
            }
            is_same_name
        });
        let mut neighbours = self.links.iter().zip(self.links.iter().skip(1));
        match neighbours.find(|(a, b)| a.0 == b.0) {
            None => Ok(()),
            Some((first, _)) => Err(SignError::HashCollision {
                hash: BASE32HEX_NOPAD.encode(&first.0),
            }),
        }
    }
}

/// What all jobs of a chain share.
struct Shared {
    plan: Arc<Plan>,
    links: Links,
    old: PackedRecords,
    head: Vec<u8>,
}

type ChainJob = Box<dyn FnOnce() -> Result<SignedBatch, SignError> + Send>;

/// The jobs that make and sign the NSEC3 records: those of `links`, or those of the input, `old`, where the chain is given.
pub(super) fn chain_jobs(
    plan: &Arc<Plan>,
    mut links: Links,
    mut old: PackedRecords,
) -> Result<Vec<ChainJob>, SignError> {
    old.sort();
    let is_given = plan.signing.chain == Chain::Given;
    if is_given {
        check_nsec3(&plan.apex, &old)?;
    }
    let head = match &plan.signing.chain {
        Chain::Nsec => return Ok(Vec::new()),
        Chain::Nsec3(parameters) => {
            if plan.signer.len() + 33 > NAME_OCTETS_MAX {
                return Err(SignError::HashedNameTooLong {
                    zone: dnsrig_zone::text::shown_name(&plan.signer),
                });
            }
            links.close()?;
            nsec3_head(parameters, if plan.opt_out { FLAG_OPT_OUT } else { 0 })
        }
        // The kept chain is one of the others by now.
        Chain::Given | Chain::Kept => Vec::new(),
    };
    let count = if is_given {
        old.len()
    } else {
        links.links.len()
    };
    let shared = Arc::new(Shared {
        plan: plan.clone(),
        links,
        old,
        head,
    });
    let mut jobs: Vec<ChainJob> = Vec::new();
    let mut first = 0;
    while first < count {
        let mut end = count.min(first + JOB_LINKS);
        if is_given {
            end = end_of_owner(&shared.old, end);
        }
        let range = first..end;
        let shared = shared.clone();
        jobs.push(match is_given {
            true => Box::new(move || sign_given(&shared, range)),
            false => Box::new(move || sign_links(&shared, range)),
        });
        first = end;
    }
    Ok(jobs)
}

/// The first index from `index` on where another owner begins.
fn end_of_owner(records: &PackedRecords, index: usize) -> usize {
    let mut end = index;
    while end < records.len() && same_name(records.get(end).owner, records.get(end - 1).owner) {
        end += 1;
    }
    end
}

/// Makes and signs the NSEC3 records of a range of the names.
fn sign_links(shared: &Shared, range: Range<usize>) -> Result<SignedBatch, SignError> {
    let plan = &*shared.plan;
    let links = &shared.links.links;
    let mut tasks = Tasks::new(plan);
    let mut owners: Vec<u8> = Vec::new();
    let mut rdatas: Vec<u8> = Vec::new();
    let mut made: Vec<(Range<usize>, Range<usize>, Range<usize>)> = Vec::with_capacity(range.len());
    let mut old_first = None;
    let mut dropped = 0;
    for index in range {
        let (hash, bitmap) = &links[index];
        let next = &links[(index + 1) % links.len()].0;
        let owner = push_owner(&mut owners, hash, &plan.apex);
        let start = rdatas.len();
        rdatas.extend_from_slice(&shared.head);
        rdatas.push(next.len() as u8);
        rdatas.extend_from_slice(next);
        rdatas.extend_from_slice(&shared.links.bitmaps[*bitmap as usize]);
        let rdata = start..rdatas.len();
        let old = old_records(&shared.old, &owners[owner.clone()], &mut old_first);
        let first_task = tasks.len();
        if plan.signing.signs {
            dropped += old
                .iter()
                .filter(|record| record.rtype == Rtype::RRSIG)
                .count();
            sign_nsec3(
                &mut tasks,
                plan,
                &owners[owner.clone()],
                &rdatas[rdata.clone()],
                &old,
            );
        }
        made.push((owner, rdata, first_task..tasks.len()));
    }
    tasks.resolve()?;
    let mut signed = SignedBatch::default();
    for (owner, rdata, range) in made {
        let owner = &owners[owner];
        signed.records += 1 + range.len() as u64;
        signed.chain_names += 1;
        tasks.push_lines(owner, range, &mut signed.text);
        let record = PackedRecord {
            owner,
            rtype: Rtype::NSEC3,
            ttl_s: plan.apex.chain_ttl_s,
            rdata: &rdatas[rdata],
            place: FilePlace::default(),
        };
        push_record(&record, &mut signed.text);
    }
    Ok(finish(signed, tasks, dropped))
}

fn finish(mut signed: SignedBatch, tasks: Tasks<'_>, dropped: usize) -> SignedBatch {
    signed.digests = tasks.digests();
    signed.counts = tasks.counts;
    signed.counts.dropped = (dropped as u64).saturating_sub(tasks.counts.kept);
    signed
}

fn sign_nsec3(
    tasks: &mut Tasks<'_>,
    plan: &Plan,
    owner: &[u8],
    rdata: &[u8],
    old: &RecordRange<'_>,
) {
    let ttl_s = plan.apex.chain_ttl_s;
    // A record that changed has no signature to keep.
    let is_same = old
        .iter()
        .any(|old| old.rtype == Rtype::NSEC3 && old.rdata == rdata && old.ttl_s == ttl_s);
    let what = Rrset {
        owner,
        rtype: Rtype::NSEC3,
        ttl_s,
        existing: is_same.then(|| old.clone()),
    };
    tasks.rrset(&what, &plan.data_keys, std::iter::once(rdata));
}

/// Appends the owner name of a hash: base32hex, upper case as RFC 5155 and dnssec-signzone write it, below the apex.
pub(super) fn push_owner(
    owners: &mut Vec<u8>,
    hash: &Hash,
    apex: &super::apex::Apex,
) -> Range<usize> {
    let start = owners.len();
    let mut label = [0; 32];
    BASE32HEX_NOPAD.encode_mut(hash, &mut label);
    owners.push(label.len() as u8);
    owners.extend_from_slice(&label);
    owners.extend_from_slice(apex.records.get(0).owner);
    start..owners.len()
}

/// The records of `owner` among `records`, which are sorted; `from` is where the search for the owner before ended.
pub(super) fn old_records<'a>(
    records: &'a PackedRecords,
    owner: &[u8],
    from: &mut Option<usize>,
) -> RecordRange<'a> {
    let is_before = |index: usize| compare_names(records.get(index).owner, owner).is_lt();
    let mut first = from.unwrap_or_else(|| {
        let (mut low, mut high) = (0, records.len());
        while low < high {
            let middle = (low + high) / 2;
            match is_before(middle) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    });
    while first < records.len() && is_before(first) {
        first += 1;
    }
    let mut end = first;
    while end < records.len() && same_name(records.get(end).owner, owner) {
        end += 1;
    }
    *from = Some(end);
    RecordRange::new(records, first..end)
}

/// Signs NSEC3 records that the input has.
fn sign_given(shared: &Shared, range: Range<usize>) -> Result<SignedBatch, SignError> {
    let plan = &*shared.plan;
    let mut tasks = Tasks::new(plan);
    let mut names: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let mut dropped = 0;
    let mut first = range.start;
    while first < range.end {
        let end = end_of_owner(&shared.old, first + 1);
        let records = RecordRange::new(&shared.old, first..end);
        dropped += records
            .iter()
            .filter(|record| record.rtype == Rtype::RRSIG)
            .count();
        let nsec3 = records.iter().filter(|record| record.rtype == Rtype::NSEC3);
        let first_task = tasks.len();
        if let Some(record) = nsec3.clone().next()
            && plan.signing.signs
        {
            let what = Rrset {
                owner: record.owner,
                rtype: Rtype::NSEC3,
                ttl_s: record.ttl_s,
                existing: Some(records.clone()),
            };
            tasks.rrset(&what, &plan.data_keys, nsec3.map(|record| record.rdata));
        }
        names.push((first..end, first_task..tasks.len()));
        first = end;
    }
    tasks.resolve()?;
    let mut signed = SignedBatch::default();
    for (records, range) in names {
        let records = RecordRange::new(&shared.old, records);
        signed.records += range.len() as u64;
        signed.chain_names += 1;
        tasks.push_lines(records.get(0).owner, range, &mut signed.text);
        for record in records.iter().filter(|record| record.rtype == Rtype::NSEC3) {
            push_record(&record, &mut signed.text);
            signed.records += 1;
        }
    }
    Ok(finish(signed, tasks, dropped))
}

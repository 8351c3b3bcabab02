//! The digest of a zone (RFC 8976), scheme SIMPLE.

mod claims;

pub use claims::{Claim, Unverifiable, WRONG_DIGEST, claims, refuted};

use crate::canonical::compare_names;
use crate::error::ZoneError;
use crate::flow::{Batch, Opening, SortedRecords, ZoneFlow, over_names};
use crate::packed::{PackedRecord, PackedRecords};
use crate::pool::{InOrder, Pool};
use crate::rdata::{compare_rdata, push_canonical_rdata};
use aws_lc_rs::digest::{Context, SHA384, SHA512};
use domain::base::iana::{Class, Rtype};
use std::collections::VecDeque;

/// The scheme SIMPLE: one digest of all records (RFC 8976 section 5.2).
pub const SCHEME_SIMPLE: u8 = 1;

/// A hash algorithm for the digest of a zone (RFC 8976 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ZonemdHash {
    /// SHA-384, which all have that verify digests.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl ZonemdHash {
    /// The algorithm with this number, if it is known.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Sha384),
            2 => Some(Self::Sha512),
            _ => None,
        }
    }

    /// Its number in ZONEMD records.
    pub fn number(self) -> u8 {
        match self {
            Self::Sha384 => 1,
            Self::Sha512 => 2,
        }
    }

    /// Octets of a digest.
    pub fn octets(self) -> usize {
        match self {
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    fn context(self) -> Context {
        Context::new(match self {
            Self::Sha384 => &SHA384,
            Self::Sha512 => &SHA512,
        })
    }
}

/// The digests of the zone file of `opening`, which is in canonical order but for its NSEC3 records, these in the order of
/// their hashes at the end: as signing writes zones. One for each of `hashes`.
///
/// The file is read twice side by side if it `has_nsec3` records, since these lie among the other names in canonical order.
pub fn zone_digests(
    opening: &Opening<'_>,
    pool: &Pool,
    has_nsec3: bool,
    hashes: &[ZonemdHash],
) -> Result<Vec<Vec<u8>>, ZoneError> {
    over_names(opening, pool, |names| {
        if !has_nsec3 {
            return digests(names, Box::new(|| Ok(None)), hashes);
        }
        over_names(opening, pool, |nsec3| {
            let next = || loop {
                match nsec3.next_batch()? {
                    Some(batch) if batch.nsec3.is_empty() => (),
                    other => return Ok(other.map(|batch| batch.nsec3)),
                }
            };
            digests(names, Box::new(next), hashes)
        })
    })
}

/// The digests of the zone of `flow`, whose NSEC3 records are `nsec3`, one for each of `hashes`.
fn flow_digests(
    flow: &mut ZoneFlow<'_>,
    nsec3: SortedRecords<'_>,
    hashes: &[ZonemdHash],
) -> Result<Vec<Vec<u8>>, ZoneError> {
    let pool = flow.pool();
    let mut nsec3 = nsec3;
    digests(flow, Box::new(move || nsec3.next_batch(pool)), hashes)
}

/// Gives NSEC3 records in canonical order.
type NextNsec3<'a> = Box<dyn FnMut() -> Result<Option<PackedRecords>, ZoneError> + 'a>;

fn digests(
    flow: &mut ZoneFlow<'_>,
    nsec3: NextNsec3<'_>,
    hashes: &[ZonemdHash],
) -> Result<Vec<Vec<u8>>, ZoneError> {
    let pool = flow.pool();
    let mut contexts: Vec<Context> = hashes.iter().map(|hash| hash.context()).collect();
    let mut update = |octets: &[u8]| {
        contexts
            .iter_mut()
            .for_each(|context| context.update(octets));
    };
    let mut parts: InOrder<Vec<u8>> = InOrder::default();
    let mut nsec3 = Hashes::new(nsec3);
    while let Some(batch) = flow.next_batch()? {
        let last = batch.names().next_back().map(|name| name.owner());
        let beside = nsec3.up_to(last.unwrap_or_default())?;
        parts.push(pool.submit(move || canonical(Some(&batch), &beside)));
        if parts.len() > pool.depth()
            && let Some(octets) = parts.take()
        {
            update(&octets);
        }
    }
    while let Some(octets) = parts.take() {
        update(&octets);
    }
    while let Some(records) = nsec3.rest()? {
        update(&canonical(None, &records));
    }
    let digests = contexts.into_iter().map(Context::finish);
    Ok(digests.map(|digest| digest.as_ref().to_vec()).collect())
}

/// NSEC3 records in order, taken up to one owner after the other.
struct Hashes<'a> {
    next: NextNsec3<'a>,
    at_hand: VecDeque<PackedRecords>,
    /// Records of the first at hand that were taken.
    taken: usize,
}

impl<'a> Hashes<'a> {
    fn new(next: NextNsec3<'a>) -> Self {
        Self {
            next,
            at_hand: VecDeque::new(),
            taken: 0,
        }
    }

    /// The next records up to the owner `bound`.
    fn up_to(&mut self, bound: &[u8]) -> Result<PackedRecords, ZoneError> {
        let mut found = PackedRecords::default();
        loop {
            if self.at_hand.is_empty() {
                match (self.next)()? {
                    Some(records) => self.at_hand.push_back(records),
                    None => return Ok(found),
                }
            }
            let Some(first) = self.at_hand.front() else {
                return Ok(found);
            };
            while self.taken < first.len() {
                let record = first.get(self.taken);
                if compare_names(record.owner, bound).is_gt() {
                    return Ok(found);
                }
                found.push(&record);
                self.taken += 1;
            }
            self.at_hand.pop_front();
            self.taken = 0;
        }
    }

    /// Some of the records that are left.
    fn rest(&mut self) -> Result<Option<PackedRecords>, ZoneError> {
        let Some(first) = self.at_hand.pop_front() else {
            return (self.next)();
        };
        let mut left = PackedRecords::default();
        (self.taken..first.len()).for_each(|index| left.push(&first.get(index)));
        self.taken = 0;
        Ok(Some(left))
    }
}

/// The octets of the names of `batch` and of `hashes` that are digested (RFC 8976 section 3.3).
fn canonical(batch: Option<&Batch>, hashes: &PackedRecords) -> Vec<u8> {
    let apex = batch.map_or(0, |batch| batch.apex.len());
    let mut octets = Vec::with_capacity(batch.map_or(0, Batch::memory) + hashes.memory());
    let mut hashes = hashes.iter().peekable();
    let mut beside: Vec<PackedRecord<'_>> = Vec::new();
    for name in batch.iter().flat_map(|batch| batch.names()) {
        beside.clear();
        while let Some(record) =
            hashes.next_if(|record| compare_names(record.owner, name.owner()).is_le())
        {
            match compare_names(record.owner, name.owner()).is_lt() {
                true => push_canonical(&record, apex, &mut octets),
                false => beside.push(record),
            }
        }
        if !beside.is_empty() {
            beside.extend(name.records.iter());
            beside.sort_by(|a, b| {
                a.rtype
                    .to_int()
                    .cmp(&b.rtype.to_int())
                    .then_with(|| compare_rdata(a.rtype, a.rdata, b.rdata))
            });
            beside
                .iter()
                .for_each(|record| push_canonical(record, apex, &mut octets));
            continue;
        }
        for record in name.records.iter() {
            push_canonical(&record, apex, &mut octets);
        }
    }
    hashes.for_each(|record| push_canonical(&record, apex, &mut octets));
    octets
}

/// Appends a record in canonical form (RFC 4034 section 6.2), unless it is a digest of the zone or the signature of one: these are
/// at the apex, a name of `apex` octets.
fn push_canonical(record: &PackedRecord<'_>, apex: usize, octets: &mut Vec<u8>) {
    let is_digest = record.rtype == Rtype::ZONEMD || record.covered() == Some(Rtype::ZONEMD);
    if is_digest && record.owner.len() == apex {
        return;
    }
    let start = octets.len();
    octets.extend_from_slice(record.owner);
    octets[start..].make_ascii_lowercase();
    octets.extend_from_slice(&record.rtype.to_int().to_be_bytes());
    octets.extend_from_slice(&Class::IN.to_int().to_be_bytes());
    octets.extend_from_slice(&record.ttl_s.to_be_bytes());
    let length = octets.len();
    octets.extend_from_slice(&[0; 2]);
    push_canonical_rdata(record.rtype, record.rdata, octets);
    let rdata = (octets.len() - length - 2) as u16;
    octets[length..length + 2].copy_from_slice(&rdata.to_be_bytes());
}

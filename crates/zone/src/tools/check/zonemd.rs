//! The digest of a zone (RFC 8976), scheme SIMPLE.

use super::findings::Findings;
use super::rules::Rule;
use crate::canonical::compare_names;
use crate::error::ZoneError;
use crate::flow::{Batch, OwnerGroup, SortedRecords, ZoneFlow};
use crate::packed::{FilePlace, PackedRecord, PackedRecords};
use crate::pool::{InOrder, Pool};
use crate::rdata::{compare_rdata, push_canonical_rdata};
use crate::tools::serial_of;
use aws_lc_rs::digest::{Context, SHA384, SHA512};
use domain::base::iana::{Class, Rtype};
use std::collections::VecDeque;

/// A ZONEMD record that can be verified.
#[derive(Clone, Debug)]
pub(super) struct Zonemd {
    place: FilePlace,
    hash_algorithm: u8,
    digest: Vec<u8>,
}

/// The ZONEMD records of the apex that can be verified; notes those that cannot, and other serials.
pub(super) fn records(apex: &OwnerGroup<'_>, findings: &mut Findings) -> Vec<Zonemd> {
    let soa_serial = serial_of(apex.records.iter());
    let mut found = Vec::new();
    for record in apex
        .records
        .iter()
        .filter(|record| record.rtype == Rtype::ZONEMD)
    {
        let [s0, s1, s2, s3, scheme, hash_algorithm, digest @ ..] = record.rdata else {
            continue;
        };
        let serial = u32::from_be_bytes([*s0, *s1, *s2, *s3]);
        if let Some(soa_serial) = soa_serial.filter(|soa_serial| *soa_serial != serial) {
            findings.note(Rule::ZonemdSerial, &record, || {
                format!("the ZONEMD record has the serial {serial}, the SOA record {soa_serial}; make the digest anew")
            });
            continue;
        }
        let octets = match (scheme, hash_algorithm) {
            (1, 1) => 48,
            (1, 2) => 64,
            _ => {
                findings.note(Rule::ZonemdUnknown, &record, || {
                    format!("scheme {scheme} with hash algorithm {hash_algorithm} of the ZONEMD record is unknown; scheme 1 with 1 (SHA-384) or 2 (SHA-512) can be verified")
                });
                continue;
            }
        };
        if digest.len() != octets {
            findings.note(Rule::ZonemdDigest, &record, || {
                format!("the digest of the ZONEMD record has {} octets, but hash algorithm {hash_algorithm} has {octets}; make it anew", digest.len())
            });
            continue;
        }
        found.push(Zonemd {
            place: record.place,
            hash_algorithm: *hash_algorithm,
            digest: digest.to_vec(),
        });
    }
    found
}

/// Computes the digest of the zone of `flow`, whose NSEC3 records are `nsec3`, and notes which of `expected` differ.
pub(super) fn verify(
    flow: &mut ZoneFlow<'_>,
    nsec3: SortedRecords,
    expected: &[Zonemd],
    findings: &mut Findings,
) -> Result<(), ZoneError> {
    let pool = flow.pool();
    let mut contexts: Vec<(u8, Context)> = Vec::new();
    for record in expected {
        if !contexts
            .iter()
            .any(|(algorithm, _)| *algorithm == record.hash_algorithm)
        {
            let algorithm = if record.hash_algorithm == 1 {
                &SHA384
            } else {
                &SHA512
            };
            contexts.push((record.hash_algorithm, Context::new(algorithm)));
        }
    }
    let mut texts: InOrder<Vec<u8>> = InOrder::default();
    let mut update = |octets: Option<Vec<u8>>| {
        if let Some(octets) = octets {
            contexts
                .iter_mut()
                .for_each(|(_, context)| context.update(&octets));
        }
    };
    let mut hashes = Hashes::new(nsec3);
    while let Some(batch) = flow.next_batch()? {
        let last = batch.names().next_back().map(|name| name.owner());
        let hashes = hashes.up_to(last.unwrap_or_default(), pool)?;
        texts.push(pool.submit(move || canonical(Some(&batch), &hashes)));
        if texts.len() > pool.depth() {
            update(texts.take());
        }
    }
    while let Some(text) = texts.take() {
        update(Some(text));
    }
    while let Some(records) = hashes.rest(pool)? {
        update(Some(canonical(None, &records)));
    }
    let digests: Vec<_> = contexts
        .into_iter()
        .map(|(algorithm, context)| (algorithm, context.finish()))
        .collect();
    for record in expected {
        let digest = digests
            .iter()
            .find(|(algorithm, _)| *algorithm == record.hash_algorithm);
        if digest.is_some_and(|(_, digest)| digest.as_ref() != record.digest) {
            findings.note_at(Rule::ZonemdDigest, Some(record.place), || {
                "the digest of the ZONEMD record is not that of the zone; the zone was changed since, so make it anew".into()
            });
        }
    }
    Ok(())
}

/// NSEC3 records in order, taken up to one owner after the other.
struct Hashes {
    sorted: SortedRecords,
    at_hand: VecDeque<PackedRecords>,
    /// Records of the first at hand that were taken.
    taken: usize,
}

impl Hashes {
    fn new(sorted: SortedRecords) -> Self {
        Self {
            sorted,
            at_hand: VecDeque::new(),
            taken: 0,
        }
    }

    /// The next records up to the owner `bound`.
    fn up_to(&mut self, bound: &[u8], pool: &Pool) -> Result<PackedRecords, ZoneError> {
        let mut found = PackedRecords::default();
        loop {
            if self.at_hand.is_empty() {
                match self.sorted.next_batch(pool)? {
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
    fn rest(&mut self, pool: &Pool) -> Result<Option<PackedRecords>, ZoneError> {
        let Some(first) = self.at_hand.pop_front() else {
            return self.sorted.next_batch(pool);
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

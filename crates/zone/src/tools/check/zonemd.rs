//! ZONEMD records of a zone (RFC 8976): whether they are of it as it is.

use super::findings::Findings;
use super::rules::Rule;
use crate::error::ZoneError;
use crate::flow::{OwnerGroup, SortedRecords, ZoneFlow};
use crate::packed::FilePlace;
use crate::tools::serial_of;
use crate::zonemd::{SCHEME_SIMPLE, ZonemdHash, flow_digests};
use domain::base::iana::Rtype;

/// A ZONEMD record that can be verified.
#[derive(Clone, Debug)]
pub(super) struct Zonemd {
    place: FilePlace,
    hash: ZonemdHash,
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
        let known = ZonemdHash::from_number(*hash_algorithm).filter(|_| *scheme == SCHEME_SIMPLE);
        let Some(hash) = known else {
            findings.note(Rule::ZonemdUnknown, &record, || {
                format!("scheme {scheme} with hash algorithm {hash_algorithm} of the ZONEMD record is unknown; scheme 1 with 1 (SHA-384) or 2 (SHA-512) can be verified")
            });
            continue;
        };
        let octets = hash.octets();
        if digest.len() != octets {
            findings.note(Rule::ZonemdDigest, &record, || {
                format!("the digest of the ZONEMD record has {} octets, but hash algorithm {hash_algorithm} has {octets}; make it anew", digest.len())
            });
            continue;
        }
        found.push(Zonemd {
            place: record.place,
            hash,
            digest: digest.to_vec(),
        });
    }
    found
}

/// Computes the digest of the zone of `flow`, whose NSEC3 records are `nsec3`, and notes which of `expected` differ; whether none does.
pub(super) fn verify(
    flow: &mut ZoneFlow<'_>,
    nsec3: SortedRecords<'_>,
    expected: &[Zonemd],
    findings: &mut Findings,
) -> Result<bool, ZoneError> {
    let mut hashes: Vec<ZonemdHash> = expected.iter().map(|record| record.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let digests = flow_digests(flow, nsec3, &hashes)?;
    let mut are_all_right = true;
    for record in expected {
        let mut known = hashes.iter().zip(&digests);
        let is_same = known.any(|(hash, digest)| *hash == record.hash && *digest == record.digest);
        if !is_same {
            are_all_right = false;
            findings.note_at(Rule::ZonemdDigest, Some(record.place), || {
                "the digest of the ZONEMD record is not that of the zone; the zone was changed since, so make it anew".into()
            });
        }
    }
    Ok(are_all_right)
}

//! What the ZONEMD records of a zone say of it, and whether that is so (RFC 8976 section 4).

use super::{SCHEME_SIMPLE, ZonemdHash, flow_digests};
use crate::error::ZoneError;
use crate::flow::{OwnerGroup, SortedRecords, ZoneFlow};
use crate::packed::FilePlace;
use crate::tools::serial_of;
use domain::base::iana::Rtype;
use std::fmt;

/// What is wrong with a digest that is not that of the zone.
pub const WRONG_DIGEST: &str = "the digest of the ZONEMD record is not that of the zone; the zone was changed since, so make it anew";

/// A digest that the zone is said to have, by a record that can be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The record.
    pub place: FilePlace,
    /// What the digest was made with.
    pub hash: ZonemdHash,
    digest: Vec<u8>,
}

/// Why a ZONEMD record cannot be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unverifiable {
    /// It is of another version of the zone.
    Serial {
        /// Its serial number.
        serial: u32,
        /// That of the SOA record.
        soa_serial: u32,
    },
    /// Its scheme or its hash algorithm is unknown.
    Unknown {
        /// Its scheme.
        scheme: u8,
        /// Its hash algorithm.
        algorithm: u8,
    },
    /// Its digest is not as long as those of its hash algorithm.
    Length {
        /// The hash algorithm.
        hash: ZonemdHash,
        /// Octets of the digest.
        octets: usize,
    },
    /// There are several with this scheme and hash algorithm, of which none counts.
    Several {
        /// The hash algorithm.
        hash: ZonemdHash,
    },
}

impl fmt::Display for Unverifiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial { serial, soa_serial } => write!(
                f,
                "the ZONEMD record has the serial {serial}, the SOA record {soa_serial}; make the digest anew"
            ),
            Self::Unknown { scheme, algorithm } => write!(
                f,
                "scheme {scheme} with hash algorithm {algorithm} of the ZONEMD record is unknown; scheme 1 with 1 (SHA-384) or 2 (SHA-512) can be verified"
            ),
            Self::Length { hash, octets } => write!(
                f,
                "the digest of the ZONEMD record has {octets} octets, but hash algorithm {} has {}; make it anew",
                hash.number(),
                hash.octets()
            ),
            Self::Several { hash } => write!(
                f,
                "there are several ZONEMD records of scheme 1 with hash algorithm {}, of which none counts (RFC 8976 section 4); keep the right one",
                hash.number()
            ),
        }
    }
}

/// What the ZONEMD records of `apex` say that can be verified, and the others.
pub fn claims(apex: &OwnerGroup<'_>) -> (Vec<Claim>, Vec<(FilePlace, Unverifiable)>) {
    let soa_serial = serial_of(apex.records.iter());
    let (mut claims, mut others) = (Vec::new(), Vec::new());
    let is_zonemd = |rtype: Rtype| rtype == Rtype::ZONEMD;
    for record in apex.records.iter().filter(|record| is_zonemd(record.rtype)) {
        let [s0, s1, s2, s3, scheme, algorithm, digest @ ..] = record.rdata else {
            continue;
        };
        let serial = u32::from_be_bytes([*s0, *s1, *s2, *s3]);
        let known = ZonemdHash::from_number(*algorithm).filter(|_| *scheme == SCHEME_SIMPLE);
        let other_soa = soa_serial.filter(|soa_serial| *soa_serial != serial);
        let found = match (other_soa, known) {
            (Some(soa_serial), _) => Err(Unverifiable::Serial { serial, soa_serial }),
            (None, None) => Err(Unverifiable::Unknown {
                scheme: *scheme,
                algorithm: *algorithm,
            }),
            (None, Some(hash)) if digest.len() != hash.octets() => Err(Unverifiable::Length {
                hash,
                octets: digest.len(),
            }),
            (None, Some(hash)) => Ok(Claim {
                place: record.place,
                hash,
                digest: digest.to_vec(),
            }),
        };
        match found {
            Ok(claim) => claims.push(claim),
            Err(other) => others.push((record.place, other)),
        }
    }
    for hash in [ZonemdHash::Sha384, ZonemdHash::Sha512] {
        let of_hash = |claim: &Claim| claim.hash == hash;
        if claims.iter().filter(|claim| of_hash(claim)).count() > 1 {
            let several = claims.extract_if(.., |claim| of_hash(claim));
            others.extend(several.map(|claim| (claim.place, Unverifiable::Several { hash })));
        }
    }
    (claims, others)
}

/// Those of `claims` that the zone of `flow` does not bear out, whose NSEC3 records are `nsec3`.
pub fn refuted<'c>(
    flow: &mut ZoneFlow<'_>,
    nsec3: SortedRecords<'_>,
    claims: &'c [Claim],
) -> Result<Vec<&'c Claim>, ZoneError> {
    let hashes: Vec<ZonemdHash> = claims.iter().map(|claim| claim.hash).collect();
    let digests = flow_digests(flow, nsec3, &hashes)?;
    let compared = claims.iter().zip(digests);
    let refuted = compared.filter(|(claim, digest)| claim.digest != *digest);
    Ok(refuted.map(|(claim, _)| claim).collect())
}

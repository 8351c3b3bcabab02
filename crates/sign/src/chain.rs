//! Chains of denial: NSEC (RFC 4034 section 4) and NSEC3 (RFC 5155 section 7.1).

use crate::{Nsec3Parameters, SignError};
use bytes::Bytes;
use dnsrig_zone::lookup::{Hash, Nsec3Params};
use dnsrig_zone::{Name, NameKind, OwnerRecords, PresentationName, Record, Zone};
use domain::base::iana::{Class, Rtype};
use domain::base::name::ToName;
use domain::rdata::dnssec::RtypeBitmapBuilder;
use domain::utils::base32;

/// SHA-1, the only hash algorithm of NSEC3 (RFC 5155 section 11).
const NSEC3_SHA1: u8 = 1;
/// The Opt-Out flag (RFC 5155 section 3.1.2.1).
const FLAG_OPT_OUT: u8 = 1;
/// TTL of the NSEC3PARAM record, which nobody but the zone's servers reads; dnssec-signzone gives the same.
const NSEC3PARAM_TTL_S: u32 = 0;

/// The NSEC records of `zone`, which has no chain yet but its DNSKEY records.
pub(crate) fn nsec(zone: &Zone, ttl_s: u32) -> Vec<Record> {
    let names: Vec<OwnerRecords<'_>> = zone
        .names()
        .filter(|name| name.kind != NameKind::BelowCut)
        .collect();
    let next_names = names.iter().skip(1).chain(names.first());
    let records = names.iter().zip(next_names).map(|(name, next)| {
        let mut types = types_at(name);
        types.extend([Rtype::RRSIG, Rtype::NSEC]);
        let mut rdata = next.owner().as_slice().to_vec();
        rdata.extend(bitmap(&types));
        record(name.owner().clone(), Rtype::NSEC, ttl_s, rdata)
    });
    records.collect()
}

/// The NSEC3PARAM record for `zone`'s apex (RFC 5155 section 4).
pub(crate) fn nsec3param(zone: &Zone, parameters: &Nsec3Parameters) -> Record {
    let rdata = nsec3_head(parameters, 0);
    record(
        zone.origin().clone(),
        Rtype::NSEC3PARAM,
        NSEC3PARAM_TTL_S,
        rdata,
    )
}

/// The NSEC3 records of `zone`, which has no chain yet but its DNSKEY and NSEC3PARAM records.
pub(crate) fn nsec3(
    zone: &Zone,
    parameters: &Nsec3Parameters,
    ttl_s: u32,
) -> Result<Vec<Record>, SignError> {
    let hashing = Nsec3Params {
        iterations: parameters.iterations,
        salt: parameters.salt.clone().into(),
    };
    let mut links: Vec<Link> = Vec::new();
    let mut previous = zone.origin();
    for name in zone.names().filter(|name| name.kind != NameKind::BelowCut) {
        let is_insecure = name.kind == NameKind::Delegation && !name.has(Rtype::DS);
        if is_insecure && parameters.opt_out {
            continue;
        }
        for empty in zone.empty_non_terminals_between(previous, name.owner()) {
            links.push(Link::new(&hashing, &empty, Vec::new()));
        }
        let mut types = types_at(&name);
        if !is_insecure {
            types.push(Rtype::RRSIG);
        }
        links.push(Link::new(&hashing, name.owner(), types));
        previous = name.owner();
    }
    links.sort_by_key(|link| link.hash);
    let mut neighbours = links.iter().zip(links.iter().skip(1));
    if let Some((first, _)) = neighbours.find(|(first, second)| first.hash == second.hash) {
        return Err(SignError::HashCollision {
            hash: base32::encode_string_hex(&first.hash),
        });
    }
    let flags = if parameters.opt_out { FLAG_OPT_OUT } else { 0 };
    let head = nsec3_head(parameters, flags);
    let next_links = links.iter().skip(1).chain(links.first());
    let records = links.iter().zip(next_links).map(|(link, next)| {
        let mut rdata = head.clone();
        rdata.push(next.hash.len() as u8);
        rdata.extend(next.hash);
        rdata.extend(bitmap(&link.types));
        Ok(record(
            hashed_owner(zone, &link.hash)?,
            Rtype::NSEC3,
            ttl_s,
            rdata,
        ))
    });
    records.collect()
}

/// A name of the NSEC3 chain before it is a record.
struct Link {
    hash: Hash,
    types: Vec<Rtype>,
}

impl Link {
    fn new(hashing: &Nsec3Params, name: &Name, types: Vec<Rtype>) -> Self {
        let lower: Name = name.to_canonical_name();
        Self {
            hash: hashing.hash(lower.as_slice()),
            types,
        }
    }
}

/// The types that a chain announces for a name, without those that the chain and its signatures add: at a zone cut only
/// NS and DS, since glue with the cut's own name is not the zone's (RFC 4035 section 2.3).
fn types_at(name: &OwnerRecords<'_>) -> Vec<Rtype> {
    let types = name.rrsets().map(|rrset| rrset[0].rtype);
    match name.kind {
        NameKind::Delegation => types
            .filter(|rtype| matches!(*rtype, Rtype::NS | Rtype::DS))
            .collect(),
        _ => types.collect(),
    }
}

/// The type bitmap (RFC 4034 section 4.1.2); no octets for no types.
fn bitmap(types: &[Rtype]) -> Vec<u8> {
    let mut builder = RtypeBitmapBuilder::<Vec<u8>>::new();
    for rtype in types {
        // Appending to a Vec cannot fail.
        let _ = builder.add(*rtype);
    }
    builder.finalize().as_slice().to_vec()
}

/// The fields that NSEC3 and NSEC3PARAM begin with.
pub(crate) fn nsec3_head(parameters: &Nsec3Parameters, flags: u8) -> Vec<u8> {
    let mut rdata = vec![NSEC3_SHA1, flags];
    rdata.extend(parameters.iterations.to_be_bytes());
    rdata.push(parameters.salt.len() as u8);
    rdata.extend(&parameters.salt);
    rdata
}

/// The hash in base32hex, upper case as RFC 5155 and dnssec-signzone write it, below the apex.
fn hashed_owner(zone: &Zone, hash: &Hash) -> Result<Name, SignError> {
    let label = base32::encode_string_hex(hash).to_ascii_uppercase();
    let mut wire = vec![label.len() as u8];
    wire.extend(label.as_bytes());
    wire.extend(zone.origin().as_slice());
    Name::from_octets(Bytes::from(wire)).map_err(|_| SignError::HashedNameTooLong {
        zone: PresentationName(zone.origin()).to_string(),
    })
}

fn record(owner: Name, rtype: Rtype, ttl: u32, rdata: Vec<u8>) -> Record {
    Record {
        owner,
        rtype,
        class: Class::IN,
        ttl,
        rdata: Bytes::from(rdata),
    }
}

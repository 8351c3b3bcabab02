//! Signing a zone in memory.

use crate::signature::{Task, sign_all};
use crate::{Denial, KeyPair, Role, SignError, SigningParameters, chain};
use dnsrig_zone::{NameKind, PresentationName, Record, Zone};
use domain::base::iana::Rtype;

/// Signs `zone` with `keys`.
///
/// DNSSEC records that the zone has already are left out: RRSIG, NSEC, NSEC3, NSEC3PARAM, and DNSKEY records of `keys`; other
/// DNSKEY records stay, and so does anything else, a ZONEMD record included although signing makes it wrong.
///
/// Key-signing keys sign the DNSKEY, CDNSKEY and CDS RRsets (RFC 7344 section 4.1), zone-signing keys all else; where an
/// algorithm has only keys of one role, these sign everything. The new records' TTLs: DNSKEY as the DNSKEY records in
/// the zone, else as the SOA; NSEC and NSEC3 the lesser of the SOA's minimum and TTL (RFC 9077 section 3); RRSIG as what it
/// covers (RFC 4034 section 3). The same input gives the same records, but for the random part of ECDSA signatures.
pub fn sign(
    zone: &Zone,
    keys: &[KeyPair],
    parameters: &SigningParameters,
) -> Result<Zone, SignError> {
    parameters.check()?;
    check_keys(zone, keys)?;
    let soa = zone
        .soa()
        .ok_or_else(|| SignError::NoSoa { zone: shown(zone) })?;
    let minimum = soa
        .rdata
        .last_chunk::<4>()
        .map_or(0, |octets| u32::from_be_bytes(*octets));
    let chain_ttl_s = minimum.min(soa.ttl);
    let mut records = unsigned_records(zone, keys, soa.ttl);
    if let Denial::Nsec3(nsec3) = &parameters.denial {
        records.push(chain::nsec3param(zone, nsec3));
    }
    let unsigned = Zone::new(zone.origin().clone(), records);
    let links = match &parameters.denial {
        Denial::Nsec => chain::nsec(&unsigned, chain_ttl_s),
        Denial::Nsec3(nsec3) => chain::nsec3(&unsigned, nsec3, chain_ttl_s)?,
    };
    let chained = Zone::new(zone.origin().clone(), [unsigned.records(), &links].concat());
    let signatures = sign_all(&tasks(&chained, keys), parameters)?;
    Ok(Zone::new(
        zone.origin().clone(),
        [chained.records(), &signatures].concat(),
    ))
}

fn shown(zone: &Zone) -> String {
    PresentationName(zone.origin()).to_string()
}

fn check_keys(zone: &Zone, keys: &[KeyPair]) -> Result<(), SignError> {
    if keys.is_empty() {
        return Err(SignError::NoKeys { zone: shown(zone) });
    }
    for key in keys {
        key.algorithm().check_sha1(false)?;
    }
    match keys.iter().find(|key| key.owner() != zone.origin()) {
        None => Ok(()),
        Some(key) => Err(SignError::ForeignKey {
            tag: key.tag(),
            owner: PresentationName(key.owner()).to_string(),
            zone: shown(zone),
        }),
    }
}

/// The zone's records without those that signing makes, and the DNSKEY records of `keys`.
fn unsigned_records(zone: &Zone, keys: &[KeyPair], soa_ttl_s: u32) -> Vec<Record> {
    let is_apex_dnskey =
        |record: &&Record| record.rtype == Rtype::DNSKEY && record.owner == *zone.origin();
    let dnskey_ttl_s = zone
        .records()
        .iter()
        .find(is_apex_dnskey)
        .map_or(soa_ttl_s, |record| record.ttl);
    let dnskeys: Vec<Record> = keys.iter().map(|key| key.dnskey(dnskey_ttl_s)).collect();
    let is_kept = |record: &&Record| match record.rtype {
        Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM => false,
        Rtype::DNSKEY => !dnskeys
            .iter()
            .any(|ours| ours.rdata == record.rdata && ours.owner == record.owner),
        _ => true,
    };
    let kept: Vec<Record> = zone.records().iter().filter(is_kept).cloned().collect();
    [kept, dnskeys].concat()
}

/// Every RRset that is to be signed, with each key that signs it.
fn tasks<'a>(zone: &'a Zone, keys: &'a [KeyPair]) -> Vec<Task<'a>> {
    let signs_keys = signers(keys, Role::Ksk);
    let signs_data = signers(keys, Role::Zsk);
    let mut tasks = Vec::new();
    for name in zone.names() {
        let is_apex = name.owner() == zone.origin();
        for rrset in name
            .rrsets()
            .filter(|rrset| is_signed(name.kind, rrset[0].rtype))
        {
            let keys = match rrset[0].rtype {
                Rtype::DNSKEY | Rtype::CDNSKEY | Rtype::CDS if is_apex => &signs_keys,
                _ => &signs_data,
            };
            tasks.extend(keys.iter().map(|key| Task { rrset, key }));
        }
    }
    tasks
}

/// The keys of `role`; of an algorithm without such keys, all of them (RFC 4035 section 2.2: every algorithm in the DNSKEY
/// RRset must sign everything).
pub(crate) fn signers(keys: &[KeyPair], role: Role) -> Vec<&KeyPair> {
    let has_role = |wanted: &KeyPair| {
        keys.iter()
            .any(|key| key.algorithm() == wanted.algorithm() && key.role() == role)
    };
    keys.iter()
        .filter(|key| key.role() == role || !has_role(key))
        .collect()
}

/// Whether an RRset is authoritative data (RFC 4035 section 2.2). NSEC3 records are also where a DNAME at the apex makes all
/// other names below it non-authoritative.
fn is_signed(kind: NameKind, rtype: Rtype) -> bool {
    match kind {
        NameKind::Authoritative => rtype != Rtype::RRSIG,
        NameKind::Delegation => matches!(rtype, Rtype::DS | Rtype::NSEC),
        NameKind::BelowCut => rtype == Rtype::NSEC3,
    }
}

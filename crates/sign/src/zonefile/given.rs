//! Whether the chain that a zone has, and that is to be signed as it is, fits the zone.

use super::apex::Apex;
use super::chain::{Types, types_at};
use super::links::{old_records, push_owner};
use super::plan::{Chain, FileSigning};
use crate::SignError;
use dnsrig_zone::flow::RecordRange;
use dnsrig_zone::lookup::Nsec3Params;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{NameKind, PackedRecord, PackedRecords, push_type_bitmap};
use domain::base::iana::Rtype;

/// Refuses settings by which a chain that stays as it is would no longer fit.
pub(super) fn check_settings(signing: &FileSigning, has_changes: bool) -> Result<(), SignError> {
    if signing.chain != Chain::Given {
        return Ok(());
    }
    let what = match (has_changes, signing.publishes_cds) {
        (true, _) => "changes to the zone (--changes)",
        (_, true) => "CDS and CDNSKEY records of its keys (--cds)",
        (false, false) => return Ok(()),
    };
    Err(SignError::ChangesGivenChain { what })
}

/// Refuses an apex whose NSEC record, if it has one, does not name its types.
pub(super) fn check_nsec(name: &[u8], records: &PackedRecords) -> Result<(), SignError> {
    let Some(nsec) = records.iter().find(|record| record.rtype == Rtype::NSEC) else {
        return Ok(());
    };
    let bitmap = &nsec.rdata[name_octets(nsec.rdata)..];
    check_types(name, records, bitmap, &[Rtype::RRSIG, Rtype::NSEC])
}

/// Refuses a zone that has no chain, and one whose NSEC3 record of the apex, if it is among the records `nsec3`, does not
/// name its types. A piece of a zone has a part of the chain, which may be another.
pub(super) fn check_nsec3(apex: &Apex, nsec3: &PackedRecords) -> Result<(), SignError> {
    let name = apex.records.get(0).owner;
    let mut has_chain = apex.has_nsec;
    let of_apex = apex.records.iter();
    for parameters in of_apex.filter(|record| record.rtype == Rtype::NSEC3PARAM) {
        let Some(hashing) = Nsec3Params::from_rdata(parameters.rdata) else {
            continue;
        };
        let is_of_chain = |record: &PackedRecord<'_>| is_of_chain(record, &hashing);
        has_chain |= nsec3.iter().any(|record| is_of_chain(&record));
        let mut owner = Vec::new();
        push_owner(&mut owner, &hashing.hash(&name.to_ascii_lowercase()), apex);
        let found = old_records(nsec3, &owner, &mut None);
        if let Some(record) = found.iter().find(is_of_chain) {
            // Algorithm, flags, iterations, salt and next hash, the last two with their lengths.
            let salt = 5 + usize::from(record.rdata[4]);
            let bitmap = salt + 1 + usize::from(record.rdata[salt]);
            check_types(
                name,
                &apex.records,
                &record.rdata[bitmap..],
                &[Rtype::RRSIG],
            )?;
        }
    }
    match has_chain {
        true => Ok(()),
        false => Err(SignError::NoGivenChain {
            zone: shown_name(name),
        }),
    }
}

fn is_of_chain(record: &PackedRecord<'_>, hashing: &Nsec3Params) -> bool {
    record.rtype == Rtype::NSEC3
        && Nsec3Params::from_rdata(record.rdata).is_some_and(|own| own == *hashing)
}

/// Refuses an apex whose types, with those that `signing` adds, are not those of `bitmap`.
fn check_types(
    name: &[u8],
    records: &PackedRecords,
    bitmap: &[u8],
    signing: &[Rtype],
) -> Result<(), SignError> {
    let mut types = Types::new();
    let all = RecordRange::new(records, 0..records.len());
    types_at(&all, NameKind::Authoritative, &mut types);
    types.extend_from_slice(signing);
    let mut expected = Vec::new();
    push_type_bitmap(&mut types, &mut expected);
    if expected == bitmap {
        return Ok(());
    }
    let shown: Vec<String> = types.iter().map(ToString::to_string).collect();
    Err(SignError::GivenTypes {
        zone: shown_name(name),
        types: shown.join(" "),
    })
}

/// Octets of the name that `octets` begin with.
fn name_octets(octets: &[u8]) -> usize {
    let mut at = 0;
    while octets[at] != 0 {
        at += 1 + usize::from(octets[at]);
    }
    at + 1
}

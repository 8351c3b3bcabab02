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

/// Where the length of the salt stands in the data of an NSEC3 record.
const NSEC3_SALT: usize = 4;

/// Refuses settings by which a chain that stays as it is would no longer fit.
pub(super) fn check_settings(signing: &FileSigning, has_changes: bool) -> Result<(), SignError> {
    if signing.chain != Chain::Given {
        return Ok(());
    }
    let what = match (has_changes, signing.publishes_cds) {
        (true, _) => "changes to the zone (--changes)",
        (_, true) => "CDS and CDNSKEY records of its keys (--cds)",
        _ if signing.previous.is_some() => "that of an earlier version of the zone (--previous)",
        (false, false) => return Ok(()),
    };
    Err(SignError::ChangesGivenChain { what })
}

/// Refuses an apex whose NSEC record, if it has one, does not name its types.
pub(super) fn check_nsec(name: &[u8], records: &PackedRecords) -> Result<(), SignError> {
    let Some(nsec) = records.iter().find(|record| record.rtype == Rtype::NSEC) else {
        return Ok(());
    };
    let bitmap = nsec_bitmap(nsec.rdata);
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
            let bitmap = nsec3_bitmap(record.rdata);
            check_types(name, &apex.records, bitmap, &[Rtype::RRSIG])?;
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

/// What follows the next owner name in the data of an NSEC record (RFC 4034 section 4.1); nothing if it is cut short.
fn nsec_bitmap(rdata: &[u8]) -> &[u8] {
    let mut rest = rdata;
    while let [length, after @ ..] = rest {
        rest = after.get(usize::from(*length)..).unwrap_or_default();
        if *length == 0 {
            return rest;
        }
    }
    &[]
}

/// What follows salt and next hash in the data of an NSEC3 record (RFC 5155 section 3.2); nothing if it is cut short.
fn nsec3_bitmap(rdata: &[u8]) -> &[u8] {
    let of_length = |at: usize| Some(at + 1 + usize::from(*rdata.get(at)?));
    let bitmap = of_length(NSEC3_SALT).and_then(of_length);
    bitmap.and_then(|at| rdata.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_and_data_cut_short() {
        assert_eq!(nsec_bitmap(b"\x01a\x00\x00\x01\x02"), b"\x00\x01\x02");
        assert_eq!(nsec_bitmap(b"\x00"), b"");
        assert_eq!(nsec_bitmap(b"\x05a"), b"");
        assert_eq!(nsec_bitmap(b""), b"");
        let rdata = b"\x01\x00\x00\x00\x01\xaa\x02ab\x00\x01\x02";
        assert_eq!(nsec3_bitmap(rdata), b"\x00\x01\x02");
        for end in 0..9 {
            assert_eq!(nsec3_bitmap(&rdata[..end]), b"");
        }
    }
}

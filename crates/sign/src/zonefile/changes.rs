//! Changes to a zone that would have no effect on it once it is signed.

use crate::SignError;
use dnsrig_zone::flow::Changes;
use dnsrig_zone::{PackedRecord, PackedRecords, ZoneError};
use domain::base::iana::Rtype;

/// Refuses changes to records that signing makes itself: signatures and chains.
pub(super) fn check_types(changes: &Changes) -> Result<(), SignError> {
    let all = changes.removed().iter().chain(changes.added().iter());
    let made = all.filter(|record| {
        matches!(
            record.rtype,
            Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM
        )
    });
    match made.min_by_key(|record| record.place.line) {
        None => Ok(()),
        Some(record) => Err(refused(
            changes,
            &record,
            "is a record that signing makes, so changing it has no effect",
            "leave the line out: compare the zones without DNSSEC records",
        )),
    }
}

/// Refuses changes to the apex `name` that its `records`, as they are to be signed, do not show, and those after which
/// there is no name server.
pub(super) fn check_apex(
    changes: &Changes,
    name: &[u8],
    records: &PackedRecords,
) -> Result<(), SignError> {
    let (removed, added) = changes.at(name);
    let is_of_keys = |record: &PackedRecord<'_>| {
        matches!(record.rtype, Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY)
    };
    let is_in_zone = |record: &PackedRecord<'_>| records.iter().any(|other| same(record, &other));
    let is_added = |record: &PackedRecord<'_>| added.iter().any(|other| same(record, &other));
    let is_ns = |record: &PackedRecord<'_>| record.rtype == Rtype::NS;
    let mut found: Vec<(u32, ZoneError)> = Vec::new();
    let mut refuse = |record: &PackedRecord<'_>, what: &str, hint| {
        found.push((record.place.line, changes.refusal(record, what, hint)));
    };
    for record in removed.iter() {
        if is_of_keys(&record) && is_in_zone(&record) && !is_added(&record) {
            refuse(
                &record,
                "comes back, as it is of a key that the zone is signed with",
                "change the key's times (Inactive, Delete, SyncDelete), or leave the line out",
            );
        }
        if is_ns(&record) && !records.iter().any(|other| is_ns(&other)) {
            refuse(
                &record,
                "is the last NS record of the apex, without which this is no zone",
                "add another NS record (RFC 1034 section 4.2.1)",
            );
        }
    }
    for record in added.iter() {
        if is_of_keys(&record) && !is_in_zone(&record) {
            refuse(
                &record,
                "does not come into the zone: the times of its keys say otherwise",
                "change the key's times (Publish, Delete, SyncPublish), or leave the line out",
            );
        }
    }
    match found.into_iter().min_by_key(|(line, _)| *line) {
        None => Ok(()),
        Some((_, refusal)) => Err(SignError::Zone(refusal)),
    }
}

fn same(a: &PackedRecord<'_>, b: &PackedRecord<'_>) -> bool {
    a.rtype == b.rtype && a.rdata == b.rdata
}

fn refused(
    changes: &Changes,
    record: &PackedRecord<'_>,
    what: &str,
    hint: &'static str,
) -> SignError {
    SignError::Zone(changes.refusal(record, what, hint))
}

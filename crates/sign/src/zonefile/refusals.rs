//! Names of a zone that no valid signatures could be made for.

use super::plan::{Chain, Plan};
use crate::SignError;
use dnsrig_zone::flow::OwnerGroup;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{NameKind, PackedRecord, Position};
use domain::base::iana::Rtype;
use std::path::Path;
use std::sync::Arc;

/// Refuses a name that is not below a zone cut and
/// - has DS records without NS records, or is the apex and has DS records, since these are the parent zone's (RFC 4035
///   section 2.4);
/// - has no NSEC record where those that the zone has are its chain of denial.
pub(super) fn check_name(
    plan: &Plan,
    name: &OwnerGroup<'_>,
    files: &[Arc<Path>],
) -> Result<(), SignError> {
    let refused = |record: &PackedRecord<'_>, what, hint| SignError::Name {
        at: position(files, record),
        what,
        owner: shown_name(name.owner()),
        hint,
    };
    let ds = |record: &PackedRecord<'_>| record.rtype == Rtype::DS;
    if name.kind == NameKind::Authoritative
        && let Some(record) = name.records.iter().find(ds)
    {
        return Err(refused(
            &record,
            "a DS record at",
            "which delegates no zone (RFC 4035 section 2.4); add the NS records of the delegation, or remove the DS record",
        ));
    }
    let has_nsec_chain = plan.signing.chain == Chain::Given && plan.apex.has_nsec;
    if has_nsec_chain && !name.has(Rtype::NSEC) {
        return Err(refused(
            &name.records.get(0),
            "no NSEC record at",
            "though the apex has one; make the chain anew (--chain-only), and sign that with the chain as given",
        ));
    }
    Ok(())
}

pub(super) fn position(files: &[Arc<Path>], record: &PackedRecord<'_>) -> Position {
    let file = files
        .get(usize::from(record.place.file))
        .or(files.first())
        .cloned();
    Position {
        file: file.unwrap_or_else(|| Arc::from(Path::new("-"))),
        line: record.place.line,
        column: u32::from(record.place.column),
    }
}

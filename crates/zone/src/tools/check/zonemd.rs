//! ZONEMD records of a zone (RFC 8976): whether they are of it as it is.

use super::findings::Findings;
use super::rules::Rule;
use crate::error::ZoneError;
use crate::flow::{OwnerGroup, SortedRecords, ZoneFlow};
use crate::zonemd::{Claim, Unverifiable, WRONG_DIGEST, claims, refuted};

/// What the ZONEMD records of the apex say that can be verified; notes the others.
pub(super) fn records(apex: &OwnerGroup<'_>, findings: &mut Findings) -> Vec<Claim> {
    let (claims, others) = claims(apex);
    for (place, other) in others {
        let rule = match other {
            Unverifiable::Serial { .. } => Rule::ZonemdSerial,
            Unverifiable::Unknown { .. } => Rule::ZonemdUnknown,
            Unverifiable::Length { .. } | Unverifiable::Several { .. } => Rule::ZonemdDigest,
        };
        findings.note_at(rule, Some(place), || other.to_string());
    }
    claims
}

/// Notes which of `claims` the zone of `flow` does not bear out, whose NSEC3 records are `nsec3`; whether it does all.
pub(super) fn verify(
    flow: &mut ZoneFlow<'_>,
    nsec3: SortedRecords<'_>,
    claims: &[Claim],
    findings: &mut Findings,
) -> Result<bool, ZoneError> {
    let refuted = refuted(flow, nsec3, claims)?;
    for claim in &refuted {
        findings.note_at(Rule::ZonemdDigest, Some(claim.place), || {
            WRONG_DIGEST.into()
        });
    }
    Ok(refuted.is_empty())
}

//! The digests of the zone that is verified (RFC 8976 section 4).

use super::{Fault, Verified, Zone};
use crate::SignError;
use dnsrig_zone::flow::{Batch, SortedRecords, ZoneFlow};
use dnsrig_zone::zonemd::{Claim, Unverifiable, WRONG_DIGEST, claims, refuted};
use dnsrig_zone::{FilePlace, Warning};
use domain::base::iana::Rtype;

/// What the zone's ZONEMD records say.
#[derive(Debug, Default)]
pub(super) struct Digests {
    claims: Vec<Claim>,
    others: Vec<(FilePlace, Unverifiable)>,
}

impl Digests {
    /// Those of the apex, which `first` begins with.
    pub fn new(first: Option<&Batch>) -> Self {
        let Some(name) = first.and_then(Batch::at_apex) else {
            return Self::default();
        };
        let (claims, others) = claims(&name);
        Self { claims, others }
    }

    /// Whether there is none that can be verified.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// What is wrong with records whatever the zone has.
    pub fn faults(&self, zone: &Zone) -> Vec<Fault> {
        self.others
            .iter()
            .filter(|(_, other)| !matches!(other, Unverifiable::Unknown { .. }))
            .map(|(place, other)| fault(zone, *place, other.to_string()))
            .collect()
    }

    /// Records of unknown schemes and hash algorithms, which are no fault.
    pub fn warnings(&self, zone: &Zone) -> Vec<Warning> {
        self.others
            .iter()
            .filter(|(_, other)| matches!(other, Unverifiable::Unknown { .. }))
            .map(|(place, other)| Warning {
                at: fault(zone, *place, "").at,
                what: other.to_string(),
            })
            .collect()
    }

    /// Compares the digests with that of the zone of `flow`, whose NSEC3 records are `nsec3`: tells the wrong ones, and puts
    /// the others into `found`.
    pub fn verify(
        &self,
        flow: &mut ZoneFlow<'_>,
        nsec3: SortedRecords<'_>,
        zone: &Zone,
        found: &mut Verified,
    ) -> Result<Vec<Fault>, SignError> {
        let wrong = refuted(flow, nsec3, &self.claims)?;
        let right = self.claims.iter().filter(|claim| !wrong.contains(claim));
        found.digests = right.map(|claim| claim.hash).collect();
        let faults = wrong.into_iter();
        Ok(faults
            .map(|claim| fault(zone, claim.place, WRONG_DIGEST))
            .collect())
    }
}

fn fault(zone: &Zone, place: FilePlace, what: impl Into<String>) -> Fault {
    zone.fault_at(place, &zone.signer, Rtype::ZONEMD, what)
}

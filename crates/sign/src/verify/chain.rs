//! Which chain of denial a zone has.

use super::keys::apex_of;
use dnsrig_zone::flow::Batch;
use dnsrig_zone::lookup::Nsec3Params;
use domain::base::iana::Rtype;

/// The chain that has to be complete.
#[derive(Debug)]
pub(super) enum ChainCheck {
    /// NSEC (RFC 4034 section 4).
    Nsec,
    /// NSEC3 with these parameters (RFC 5155).
    Nsec3(Nsec3Params),
    /// NSEC3 of an unknown hash algorithm, or no chain at all.
    None,
}

impl ChainCheck {
    /// Goes by what the apex has: an NSEC record, else an NSEC3PARAM record.
    pub fn new(apex: &[u8], first: Option<&Batch>) -> Self {
        let Some(name) = first.and_then(|batch| apex_of(apex, batch)) else {
            return Self::None;
        };
        if name.has(Rtype::NSEC) {
            return Self::Nsec;
        }
        let parameters = name
            .records
            .iter()
            .filter(|record| record.rtype == Rtype::NSEC3PARAM)
            .find_map(|record| Nsec3Params::from_rdata(record.rdata));
        parameters.map_or(Self::None, Self::Nsec3)
    }

    pub fn name(&self) -> Option<&'static str> {
        match self {
            Self::Nsec => Some("NSEC"),
            Self::Nsec3(_) => Some("NSEC3"),
            Self::None => None,
        }
    }

    pub fn hashing(&self) -> Option<Nsec3Params> {
        match self {
            Self::Nsec3(parameters) => Some(parameters.clone()),
            _ => None,
        }
    }
}

//! Which chain of denial a zone has.

use super::Placed;
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
    /// Goes by what the apex has: an NSEC record, else an NSEC3PARAM record. Also what is wrong with the latter, and where.
    pub fn new(first: Option<&Batch>) -> (Self, Vec<Placed>) {
        let Some(name) = first.and_then(Batch::at_apex) else {
            return (Self::None, Vec::new());
        };
        let parameters = name
            .records
            .iter()
            .filter(|record| record.rtype == Rtype::NSEC3PARAM);
        let with_flags = parameters.clone().filter_map(|record| {
            let flags = *record.rdata.get(1).filter(|&&flags| flags != 0)?;
            let what = format!(
                "the flags are {flags} instead of 0, so servers ignore the record (RFC 5155 section 4.1.2)"
            );
            Some((what, record.place))
        });
        let faults = with_flags.collect();
        if name.has(Rtype::NSEC) {
            return (Self::Nsec, faults);
        }
        // Where there is only one that is ignored, the chain is looked at all the same.
        let usable = parameters
            .clone()
            .find_map(|record| Nsec3Params::from_nsec3param(record.rdata));
        let any = || {
            let mut parameters = parameters.clone();
            parameters.find_map(|record| Nsec3Params::from_rdata(record.rdata))
        };
        let chain = usable.or_else(any).map_or(Self::None, Self::Nsec3);
        (chain, faults)
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

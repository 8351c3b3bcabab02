//! What the records of a chain of denial consist of: NSEC (RFC 4034 section 4) and NSEC3 (RFC 5155 section 3).

use crate::Nsec3Parameters;
use dnsrig_zone::NameKind;
use dnsrig_zone::flow::RecordRange;
use domain::base::iana::Rtype;

/// SHA-1, the only hash algorithm of NSEC3 (RFC 5155 section 11).
const NSEC3_SHA1: u8 = 1;
/// The Opt-Out flag (RFC 5155 section 3.1.2.1).
pub(crate) const FLAG_OPT_OUT: u8 = 1;

/// The fields that NSEC3 and NSEC3PARAM begin with.
pub(crate) fn nsec3_head(parameters: &Nsec3Parameters, flags: u8) -> Vec<u8> {
    let mut rdata = vec![NSEC3_SHA1, flags];
    rdata.extend(parameters.iterations.to_be_bytes());
    rdata.push(parameters.salt.len() as u8);
    rdata.extend(&parameters.salt);
    rdata
}

/// The types of a name.
pub(crate) type Types = Vec<Rtype>;

/// Puts into `types` the types of a name's RRsets, without those that the chain and its signatures add: at a zone cut only
/// NS and DS, since glue with the cut's own name is not the zone's (RFC 4035 section 2.3).
pub(crate) fn types_at(records: &RecordRange<'_>, kind: NameKind, types: &mut Types) {
    types.clear();
    for record in records.iter() {
        let is_announced = match kind {
            NameKind::Delegation => matches!(record.rtype, Rtype::NS | Rtype::DS),
            _ => !matches!(record.rtype, Rtype::RRSIG | Rtype::NSEC),
        };
        if is_announced && types.last() != Some(&record.rtype) {
            types.push(record.rtype);
        }
    }
}

/// Whether an RRset of the input is authoritative data that is signed (RFC 4035 section 2.2).
pub(crate) fn is_signed(kind: NameKind, rtype: Rtype) -> bool {
    match kind {
        NameKind::Authoritative => rtype != Rtype::RRSIG,
        NameKind::Delegation => matches!(rtype, Rtype::DS | Rtype::NSEC),
        NameKind::BelowCut => false,
    }
}

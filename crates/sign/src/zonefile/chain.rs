//! The types that a chain of denial announces for a name.

use dnsrig_zone::NameKind;
use dnsrig_zone::flow::RecordRange;
use domain::base::iana::Rtype;

/// Types that a name can have before the list grows on the heap.
pub(super) type Types = Vec<Rtype>;

/// Puts into `types` the types of a name's RRsets, without those that the chain and its signatures add: at a zone cut only
/// NS and DS, since glue with the cut's own name is not the zone's (RFC 4035 section 2.3).
pub(super) fn types_at(records: &RecordRange<'_>, kind: NameKind, types: &mut Types) {
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
pub(super) fn is_signed(kind: NameKind, rtype: Rtype) -> bool {
    match kind {
        NameKind::Authoritative => rtype != Rtype::RRSIG,
        NameKind::Delegation => matches!(rtype, Rtype::DS | Rtype::NSEC),
        NameKind::BelowCut => false,
    }
}

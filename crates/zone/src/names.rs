//! The owner names of a zone, and which of them the zone is authoritative for.

use crate::{Name, Record, Zone};
use domain::base::iana::Rtype;
use domain::base::name::ToName;

/// What a name is to its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The zone has the authoritative data of this name.
    Authoritative,
    /// A zone cut: NS records below the apex. Only the DS records here are authoritative.
    Delegation,
    /// Below a zone cut (glue) or below a DNAME (occluded, RFC 6672 section 2.4): not authoritative.
    BelowCut,
}

/// An owner name with all its records.
#[derive(Clone, Copy, Debug)]
pub struct OwnerRecords<'a> {
    /// All records of the owner, sorted by type; never empty.
    pub records: &'a [Record],
    /// What the name is to its zone.
    pub kind: NameKind,
}

impl<'a> OwnerRecords<'a> {
    /// The owner name.
    pub fn owner(&self) -> &'a Name {
        &self.records[0].owner
    }

    /// The RRsets, RRSIG records as one whatever they cover.
    pub fn rrsets(&self) -> impl Iterator<Item = &'a [Record]> + use<'a> {
        self.records.chunk_by(|a, b| a.rtype == b.rtype)
    }

    /// Whether the name has a record of `rtype`.
    pub fn has(&self, rtype: Rtype) -> bool {
        self.records.iter().any(|record| record.rtype == rtype)
    }
}

impl Zone {
    /// The owner names in canonical order.
    pub fn names(&self) -> impl Iterator<Item = OwnerRecords<'_>> {
        let mut cut: Option<&Name> = None;
        self.records()
            .chunk_by(|a, b| a.owner == b.owner)
            .map(move |records| {
                let owner = &records[0].owner;
                let has = |rtype| records.iter().any(|record| record.rtype == rtype);
                if cut.is_some_and(|cut| owner.ends_with(cut)) {
                    return OwnerRecords {
                        records,
                        kind: NameKind::BelowCut,
                    };
                }
                let kind = match owner != self.origin() && has(Rtype::NS) {
                    true => NameKind::Delegation,
                    false => NameKind::Authoritative,
                };
                if kind == NameKind::Delegation || has(Rtype::DNAME) {
                    cut = Some(owner);
                }
                OwnerRecords { records, kind }
            })
    }

    /// The empty non-terminals above `owner` that do not also lie above `previous`, nearest to the apex first.
    ///
    /// Going over the names in canonical order with the name before as `previous` gives every empty non-terminal of
    /// the zone once (RFC 5155 section 1.3). For the first name, the apex, pass the apex itself.
    pub fn empty_non_terminals_between(&self, previous: &Name, owner: &Name) -> Vec<Name> {
        let mut found: Vec<Name> = owner
            .iter_suffixes()
            .skip(1)
            .take_while(|ancestor| ancestor.label_count() > self.origin().label_count())
            .take_while(|ancestor| !previous.ends_with(ancestor))
            .map(|ancestor| ancestor.to_name())
            .collect();
        found.reverse();
        found
    }
}

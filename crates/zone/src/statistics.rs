//! What a zone consists of, in numbers.

use crate::{NameKind, Zone};
use domain::base::iana::Rtype;
use domain::base::name::Label;
use std::collections::BTreeMap;

/// Counts of one zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All records.
    pub records: usize,
    /// All RRsets; RRSIG records form none (RFC 4034 section 3).
    pub rrsets: usize,
    /// Owner names, glue included and empty non-terminals not.
    pub names: usize,
    /// Zone cuts.
    pub delegations: usize,
    /// Zone cuts with DS records.
    pub signed_delegations: usize,
    /// Address records below zone cuts.
    pub glue_records: usize,
    /// Wildcards: authoritative names that begin with the label `*`.
    pub wildcards: usize,
    /// Authoritative names that exist only because of a name below them.
    pub empty_non_terminals: usize,
    /// Records of each type.
    pub types: BTreeMap<Rtype, usize>,
}

impl Statistics {
    /// Adds the counts of another part of the zone.
    pub(crate) fn add(&mut self, other: Self) {
        self.records += other.records;
        self.rrsets += other.rrsets;
        self.names += other.names;
        self.delegations += other.delegations;
        self.signed_delegations += other.signed_delegations;
        self.glue_records += other.glue_records;
        self.wildcards += other.wildcards;
        self.empty_non_terminals += other.empty_non_terminals;
        for (rtype, count) in other.types {
            *self.types.entry(rtype).or_default() += count;
        }
    }
}

impl Zone {
    /// Counts what the zone has.
    pub fn statistics(&self) -> Statistics {
        let mut counts = Statistics {
            records: self.records().len(),
            ..Statistics::default()
        };
        for record in self.records() {
            *counts.types.entry(record.rtype).or_default() += 1;
        }
        let mut previous = self.origin();
        for name in self.names() {
            counts.names += 1;
            counts.rrsets += name
                .rrsets()
                .filter(|rrset| rrset[0].rtype != Rtype::RRSIG)
                .count();
            if name.kind == NameKind::BelowCut {
                let is_address = |rtype| matches!(rtype, Rtype::A | Rtype::AAAA);
                counts.glue_records += name
                    .records
                    .iter()
                    .filter(|record| is_address(record.rtype))
                    .count();
                continue;
            }
            if name.kind == NameKind::Delegation {
                counts.delegations += 1;
                counts.signed_delegations += usize::from(name.has(Rtype::DS));
            }
            counts.wildcards += usize::from(name.owner().first() == Label::wildcard());
            counts.empty_non_terminals += self
                .empty_non_terminals_between(previous, name.owner())
                .len();
            previous = name.owner();
        }
        counts
    }
}

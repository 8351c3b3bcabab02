//! A zone in memory: its records in canonical order.

use crate::rdata::compare_rdata;
use crate::{Name, Record};
use domain::base::iana::Rtype;
use domain::base::name::ToName;

/// A zone: all records of one master file, sorted by owner (RFC 4034 section 6.1), then type, then data in canonical
/// form (section 6.3).
///
/// Records below zone cuts (glue) are part of it. Duplicates, which differ at most in the case of names, were
/// dropped when it was made.
#[derive(Clone, Debug)]
pub struct Zone {
    origin: Name,
    records: Vec<Record>,
}

impl Zone {
    /// Makes a zone of `records`, sorting them and dropping duplicates (RFC 2181 section 5).
    pub fn new(origin: Name, mut records: Vec<Record>) -> Self {
        records.sort_by(|a, b| {
            a.owner
                .name_cmp(&b.owner)
                .then(a.rtype.to_int().cmp(&b.rtype.to_int()))
                .then_with(|| compare_rdata(a.rtype, &a.rdata, &b.rdata))
        });
        records.dedup_by(|a, b| {
            a.rtype == b.rtype
                && compare_rdata(a.rtype, &a.rdata, &b.rdata).is_eq()
                && a.owner == b.owner
        });
        Self { origin, records }
    }

    /// The name of the zone's apex.
    pub fn origin(&self) -> &Name {
        &self.origin
    }

    /// All records in canonical order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The RRsets in canonical order: each a run of records with the same owner and type.
    ///
    /// RRSIG records of an owner come as one run, whatever types they cover.
    pub fn rrsets(&self) -> impl Iterator<Item = &[Record]> {
        self.records
            .chunk_by(|a, b| a.rtype == b.rtype && a.owner == b.owner)
    }

    /// The SOA record at the apex, if there is one.
    pub fn soa(&self) -> Option<&Record> {
        self.records
            .iter()
            .find(|record| record.rtype == Rtype::SOA && record.owner == self.origin)
    }
}

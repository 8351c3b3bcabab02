//! A part of a zone that is small enough to be put in order in memory.

use super::sink::Sink;
use crate::read::rdata_from_text;
use domain::base::iana::Rtype;

/// One record of a part.
pub(super) struct Entry {
    /// The owner's labels from the top down, each ended by a zero octet; sorts as the names do (RFC 4034 section 6.1),
    /// since no label has octets as low.
    key: Vec<u8>,
    /// The owner, relative to the origin.
    owner: String,
    rtype: Rtype,
    ttl_s: u32,
    data: String,
}

impl Entry {
    /// The record of `owner`, which is relative to the origin and in lower case.
    pub fn new(owner: String, rtype: Rtype, ttl_s: u32, data: String) -> Self {
        let mut key = Vec::with_capacity(owner.len() + 1);
        for label in owner.rsplit('.') {
            key.extend_from_slice(label.as_bytes());
            key.push(0);
        }
        Self {
            key,
            owner,
            rtype,
            ttl_s,
            data,
        }
    }

    /// The label of the owner next to the origin.
    pub fn top_label(&self) -> &str {
        self.owner.rsplit('.').next().unwrap_or_default()
    }

    fn labels(&self) -> usize {
        self.key.iter().filter(|&&octet| octet == 0).count()
    }

    /// How many labels the owners of both share, from the top.
    fn shared_labels(&self, other: &Self) -> usize {
        let pairs = self.key.iter().zip(&other.key);
        let same = pairs.take_while(|(a, b)| a == b);
        same.filter(|&(&octet, _)| octet == 0).count()
    }
}

/// Writes all records with the top labels that `entries` have, in canonical order.
pub(super) fn write(mut entries: Vec<Entry>, origin: &[u8], sink: &mut Sink) {
    // Wire formats are made only where records of one RRset are compared.
    let wire = |entry: &Entry| rdata_from_text(entry.rtype, &entry.data);
    entries.sort_by(|a, b| {
        let rrset = |entry: &Entry| entry.rtype.to_int();
        a.key
            .cmp(&b.key)
            .then(rrset(a).cmp(&rrset(b)))
            .then_with(|| wire(a).cmp(&wire(b)))
    });
    let mut previous: Option<&Entry> = None;
    let mut cut: Option<&Entry> = None;
    for name in entries.chunk_by(|a, b| a.key == b.key) {
        let first = &name[0];
        for rrset in name.chunk_by(|a, b| a.rtype == b.rtype) {
            write_rrset(rrset, origin, sink);
        }
        sink.counts.names += 1;
        sink.name_done();
        if cut.is_some_and(|cut| first.key.starts_with(&cut.key)) {
            let is_address = |entry: &&Entry| matches!(entry.rtype, Rtype::A | Rtype::AAAA);
            sink.counts.glue_records += name.iter().filter(is_address).count();
            continue;
        }
        if name.iter().any(|entry| entry.rtype == Rtype::NS) {
            cut = Some(first);
            sink.counts.delegations += 1;
            let is_signed = name.iter().any(|entry| entry.rtype == Rtype::DS);
            sink.counts.signed_delegations += usize::from(is_signed);
        }
        sink.counts.wildcards += usize::from(first.owner.starts_with("*."));
        let shared = previous.map_or(0, |previous| first.shared_labels(previous));
        sink.counts.empty_non_terminals += (first.labels() - 1).saturating_sub(shared);
        previous = Some(first);
    }
}

fn write_rrset(rrset: &[Entry], origin: &[u8], sink: &mut Sink) {
    let first = &rrset[0];
    let owner = [first.owner.as_bytes(), b".", origin].concat();
    let head = format!(" {} IN {} ", first.ttl_s, first.rtype);
    let data: Vec<&[u8]> = rrset.iter().map(|entry| entry.data.as_bytes()).collect();
    sink.plain(&owner, first.rtype, &head, &data);
}

//! Making the index of a zone.

use super::denial::Nsec3Chain;
use super::{
    Chain, LookupName, Node, NodeId, Nsec3Params, Occlusion, RrsetId, RrsetSpan, ZoneIndex,
    key_head,
};
use crate::{Name, Record, Zone};
use domain::base::iana::Rtype;
use std::ops::Range;
use std::sync::Arc;

impl ZoneIndex {
    /// Indexes a zone; records outside it are left out.
    ///
    /// With an NSEC3 chain this hashes every name once, and every possible closest encloser's wildcard as well.
    pub fn new(zone: impl Into<Arc<Zone>>) -> Self {
        let zone = zone.into();
        let apex = LookupName::from(zone.origin());
        let mut index = Self {
            apex_key: apex.key().into(),
            apex_labels: apex.labels(),
            nodes: Vec::new(),
            key_heads: Vec::new(),
            keys: Vec::new(),
            rrsets: Vec::new(),
            denial: Chain::None,
            zone: Arc::clone(&zone),
        };
        let origin = zone.origin().clone();
        index.push_node(&origin, &[], None);
        let mut nsec3_rrsets = Vec::new();
        index.add_owners(&zone, &mut nsec3_rrsets);
        index.add_denial(&zone, &nsec3_rrsets);
        index
    }

    fn add_owners(&mut self, zone: &Zone, nsec3_rrsets: &mut Vec<RrsetId>) {
        let mut name = LookupName::default();
        let mut start = 0;
        for records in zone.records().chunk_by(|a, b| a.owner == b.owner) {
            let span = start..start + records.len() as u32;
            start = span.end;
            if name.set(records[0].owner.as_slice()).is_none() {
                continue;
            }
            let Some(key) = name.key().strip_prefix(&*self.apex_key) else {
                continue;
            };
            let hashed = self.add_rrsets(records, span.start, |rtype| rtype == Rtype::NSEC3);
            nsec3_rrsets.extend(hashed.map(RrsetId));
            let nsec3_only = |record: &Record| {
                record.rtype == Rtype::NSEC3 || signature_covers(record) == Some(Rtype::NSEC3)
            };
            if records.iter().all(nsec3_only) {
                continue;
            }
            let node = self.add_node_with_ancestors(&records[0].owner, key);
            self.nodes[node.index()].rrsets =
                self.add_rrsets(records, span.start, |rtype| rtype != Rtype::NSEC3);
            self.set_occlusion(node);
        }
    }

    /// Adds the RRsets among `records`, all of one owner, whose type is `wanted`; `first` is the place of the first record.
    fn add_rrsets(
        &mut self,
        records: &[Record],
        first: u32,
        wanted: impl Fn(Rtype) -> bool,
    ) -> Range<u32> {
        let before = self.rrsets.len() as u32;
        let place = |record: usize| first + record as u32;
        let signatures_of = |rtype: Rtype| {
            // Records are sorted by type, then data, and RRSIG data begin with the type covered: each type's are together.
            let covers = |record: &Record| signature_covers(record) == Some(rtype);
            let start = records.iter().position(covers).unwrap_or(0);
            let count = records[start..]
                .iter()
                .take_while(|record| covers(record))
                .count();
            place(start)..place(start + count)
        };
        let mut at = 0;
        for set in records.chunk_by(|a, b| a.rtype == b.rtype) {
            let rtype = set[0].rtype;
            if wanted(rtype) {
                self.rrsets.push(RrsetSpan {
                    rtype,
                    records: place(at)..place(at + set.len()),
                    signatures: signatures_of(rtype),
                });
            }
            at += set.len();
        }
        before..self.rrsets.len() as u32
    }

    fn add_node_with_ancestors(&mut self, owner: &Name, key: &[u8]) -> NodeId {
        let last = NodeId(self.nodes.len() as u32 - 1);
        let mut ancestor = self.closest_encloser(last, key);
        if self.key(self.node(ancestor)).len() == key.len() {
            return ancestor;
        }
        let wire = owner.as_octets();
        let starts: Vec<usize> = label_starts(owner);
        // Keys of the names between the existing ancestor and the owner: empty non-terminals, then the owner itself.
        let mut end = self.key(self.node(ancestor)).len();
        while end < key.len() {
            end += 1 + key[end..]
                .iter()
                .position(|&octet| octet == 0)
                .unwrap_or(key.len() - end - 1);
            let labels = self.labels(ancestor) + 1;
            let start = starts[starts.len() - labels];
            let name = Name::from_octets(wire.slice(start..)).unwrap_or_else(|_| owner.clone());
            ancestor = self.push_node(&name, &key[..end], Some(ancestor));
        }
        ancestor
    }

    fn push_node(&mut self, name: &Name, key: &[u8], parent: Option<NodeId>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let start = self.keys.len() as u32;
        self.keys.extend_from_slice(key);
        self.key_heads.push(key_head(key));
        self.nodes.push(Node {
            name: name.clone(),
            key: start..self.keys.len() as u32,
            labels: match parent {
                Some(parent) => self.node(parent).labels + 1,
                None => self.apex_labels as u8,
            },
            parent,
            rrsets: 0..0,
            occlusion: Occlusion::None,
            wildcard: None,
            nsec: None,
            nsec3: None,
            nsec3_no_wildcard: None,
        });
        if let Some(parent) = parent {
            if name.as_slice().starts_with(b"\x01*") {
                self.nodes[parent.index()].wildcard = Some(id);
            }
            self.set_occlusion(id);
        }
        id
    }

    /// Works out what hides the node's records; its parent's state and its own RRsets are known by now.
    fn set_occlusion(&mut self, id: NodeId) {
        let Some(parent) = self.node(id).parent else {
            return;
        };
        let occlusion = match self.node(parent).occlusion {
            Occlusion::None if self.find_at(parent, Rtype::DNAME).is_some() => {
                Occlusion::Dname(parent)
            }
            Occlusion::None if self.find_at(id, Rtype::NS).is_some() => Occlusion::Cut(id),
            inherited => inherited,
        };
        self.nodes[id.index()].occlusion = occlusion;
    }

    fn add_denial(&mut self, zone: &Zone, nsec3_rrsets: &[RrsetId]) {
        if let Some(params) = Nsec3Params::of_zone(zone) {
            let chain = Nsec3Chain::new(self, params, nsec3_rrsets);
            self.link_nsec3(&chain);
            self.denial = Chain::Nsec3(chain);
        } else if self.find_at(self.apex(), Rtype::NSEC).is_some() {
            let mut nearest = None;
            for id in self.node_ids() {
                nearest = self.find_at(id, Rtype::NSEC).or(nearest);
                self.nodes[id.index()].nsec = nearest;
            }
            self.denial = Chain::Nsec;
        }
    }

    fn link_nsec3(&mut self, chain: &Nsec3Chain) {
        let mut name = LookupName::default();
        let mut wildcard = [0; 257];
        wildcard[..2].copy_from_slice(b"\x01*");
        for id in self.node_ids() {
            let node = self.node(id);
            let (is_cut, authoritative) = (
                node.occlusion == Occlusion::Cut(id),
                node.occlusion == Occlusion::None,
            );
            if !is_cut && !authoritative {
                continue;
            }
            name.set(node.name.as_slice());
            let wire = name.wire();
            let here = chain.find(&chain.params.hash(wire));
            let below = (authoritative && node.wildcard.is_none()).then(|| {
                wildcard[2..2 + wire.len()].copy_from_slice(wire);
                chain.find(&chain.params.hash(&wildcard[..2 + wire.len()]))
            });
            let node = &mut self.nodes[id.index()];
            node.nsec3 = here;
            node.nsec3_no_wildcard = below.flatten();
        }
    }
}

/// The type that a record covers, if it is a signature.
fn signature_covers(record: &Record) -> Option<Rtype> {
    match &record.rdata[..] {
        [high, low, ..] if record.rtype == Rtype::RRSIG => {
            Some(Rtype::from_int(u16::from_be_bytes([*high, *low])))
        }
        _ => None,
    }
}

fn label_starts(name: &Name) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    for label in name.iter().filter(|label| !label.is_root()) {
        starts.push(at);
        at += label.len() + 1;
    }
    starts
}

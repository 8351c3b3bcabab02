//! Look-ups in a zone as RFC 1034 section 4.3.2 and RFC 4592 define them, and the denial proofs that go with them.
//!
//! A [`ZoneIndex`] keeps the names of a zone in canonical order, empty non-terminals included. One binary search finds
//! a name or the name before it; from the latter follow the closest encloser and the covering NSEC record. Nothing is
//! allocated per look-up.

mod build;
mod denial;
mod name;
mod nsec3;
mod outcome;
#[cfg(test)]
mod tests;

use crate::{Name, Record, Zone};
use domain::base::iana::Rtype;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

pub use name::LookupName;
pub use nsec3::{Hash, Nsec3Params};
pub use outcome::{Outcome, Via};

/// A zone with an index over its names.
#[derive(Debug)]
pub struct ZoneIndex {
    zone: Arc<Zone>,
    apex_key: Box<[u8]>,
    apex_labels: usize,
    /// All names of the zone in canonical order, so the apex is the first. Owners of nothing but NSEC3 are not among
    /// them (RFC 5155 section 7.2.8).
    nodes: Vec<Node>,
    /// The first eight octets of each node's key: most of a binary search happens in this dense array.
    key_heads: Vec<u64>,
    /// Sort keys of all nodes, the apex's cut off.
    keys: Vec<u8>,
    rrsets: Vec<RrsetSpan>,
    denial: Chain,
}

/// A name of the zone, by its place in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The name's number: they count from zero without gaps, see [`ZoneIndex::node_ids`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An RRset of the zone, by its place in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RrsetId(u32);

impl RrsetId {
    /// The RRset's number: they count from zero without gaps, see [`ZoneIndex::rrset_ids`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
struct Node {
    name: Name,
    key: Range<u32>,
    labels: u8,
    parent: Option<NodeId>,
    rrsets: Range<u32>,
    occlusion: Occlusion,
    /// The child whose first label is an asterisk.
    wildcard: Option<NodeId>,
    /// The NSEC RRset here or, failing that, the nearest before.
    nsec: Option<RrsetId>,
    /// The NSEC3 record that matches or covers this name.
    nsec3: Option<denial::Nsec3Link>,
    /// The NSEC3 record that covers the wildcard below this name, where there is none.
    nsec3_no_wildcard: Option<denial::Nsec3Link>,
}

/// What keeps a name's own records from being answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occlusion {
    None,
    /// The name is this zone cut or below it.
    Cut(NodeId),
    /// The name is below this owner of a DNAME.
    Dname(NodeId),
}

/// Where in [`Zone::records`] an RRset is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RrsetSpan {
    /// The type.
    pub rtype: Rtype,
    /// The places of its records.
    pub records: Range<u32>,
    /// The places of the RRSIG records that cover it.
    pub signatures: Range<u32>,
}

/// How a zone denies existence.
#[derive(Debug)]
enum Chain {
    None,
    Nsec,
    Nsec3(denial::Nsec3Chain),
}

/// The kind of authenticated denial of existence a zone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenialKind {
    /// The zone is not signed.
    None,
    /// NSEC (RFC 4034).
    Nsec,
    /// NSEC3 (RFC 5155).
    Nsec3,
}

/// An RRset with the signatures that cover it.
#[derive(Clone, Copy, Debug)]
pub struct Rrset<'z> {
    /// The type; for RRSIG the records are all signatures at the owner, whatever they cover.
    pub rtype: Rtype,
    /// The records, at least one.
    pub records: &'z [Record],
    /// The RRSIG records that cover the RRset.
    pub signatures: &'z [Record],
}

impl<'z> Rrset<'z> {
    /// The owner name.
    pub fn owner(&self) -> &'z Name {
        &self.records[0].owner
    }
}

impl ZoneIndex {
    /// The zone itself.
    pub fn zone(&self) -> &Arc<Zone> {
        &self.zone
    }

    /// How the zone denies existence.
    pub fn denial_kind(&self) -> DenialKind {
        match self.denial {
            Chain::None => DenialKind::None,
            Chain::Nsec => DenialKind::Nsec,
            Chain::Nsec3(_) => DenialKind::Nsec3,
        }
    }

    /// Looks up `rtype` at `name`.
    pub fn lookup(&self, name: &LookupName, rtype: Rtype) -> Outcome {
        let Some(key) = self.relative_key(name) else {
            return Outcome::NotAuthoritative;
        };
        let predecessor = match self.search(key) {
            Ok(node) => return self.at_node(node, rtype),
            Err(predecessor) => predecessor,
        };
        let closest_encloser = self.closest_encloser(predecessor, key);
        match self.node(closest_encloser).occlusion {
            Occlusion::Cut(cut) => return self.referral(cut),
            Occlusion::Dname(owner) => return self.dname(owner),
            Occlusion::None => {}
        }
        if self.find_at(closest_encloser, Rtype::DNAME).is_some() {
            return self.dname(closest_encloser);
        }
        match self.node(closest_encloser).wildcard {
            Some(node) => self.data_at(node, Via::Wildcard { predecessor }, rtype),
            None => Outcome::NxDomain {
                closest_encloser,
                predecessor,
            },
        }
    }

    fn at_node(&self, node: NodeId, rtype: Rtype) -> Outcome {
        match self.node(node).occlusion {
            // The DS RRset at a cut is the parent's (RFC 4035 section 3.1.4.1).
            Occlusion::Cut(cut) if cut != node || rtype != Rtype::DS => self.referral(cut),
            Occlusion::Dname(owner) => self.dname(owner),
            _ => self.data_at(node, Via::Exact, rtype),
        }
    }

    fn data_at(&self, node: NodeId, via: Via, rtype: Rtype) -> Outcome {
        if rtype == Rtype::ANY {
            return match self.node(node).rrsets.is_empty() {
                true => Outcome::NoData { node, via },
                false => Outcome::Any { node, via },
            };
        }
        // These may stand beside a CNAME, so an alias is not followed for them (RFC 4035 section 2.5).
        let beside_cname = matches!(rtype, Rtype::NSEC | Rtype::RRSIG);
        if let Some(rrset) = self.find_at(node, rtype) {
            Outcome::Answer { node, via, rrset }
        } else if let Some(rrset) = self.find_at(node, Rtype::CNAME).filter(|_| !beside_cname) {
            Outcome::Cname { node, via, rrset }
        } else {
            Outcome::NoData { node, via }
        }
    }

    fn referral(&self, cut: NodeId) -> Outcome {
        match self.find_at(cut, Rtype::NS) {
            Some(ns) => Outcome::Referral {
                cut,
                ns,
                ds: self.find_at(cut, Rtype::DS),
            },
            None => unreachable!("a zone cut has an NS RRset"),
        }
    }

    fn dname(&self, node: NodeId) -> Outcome {
        match self.find_at(node, Rtype::DNAME) {
            Some(rrset) => Outcome::Dname { node, rrset },
            None => unreachable!("a node marked as owner of a DNAME has one"),
        }
    }

    /// The node with this name, whatever zone cut may be above it.
    pub fn find(&self, name: &LookupName) -> Option<NodeId> {
        self.search(self.relative_key(name)?).ok()
    }

    /// The RRset of this type at a node, whatever zone cut may be above it: glue is found as well.
    pub fn find_at(&self, node: NodeId, rtype: Rtype) -> Option<RrsetId> {
        self.rrsets_at(node)
            .find(|&id| self.rrsets[id.index()].rtype == rtype)
    }

    /// The RRsets at a node, by ascending type; NSEC3 is not among them.
    pub fn rrsets_at(&self, node: NodeId) -> impl Iterator<Item = RrsetId> + use<> {
        self.node(node).rrsets.clone().map(RrsetId)
    }

    /// The RRset with this id.
    pub fn rrset(&self, id: RrsetId) -> Rrset<'_> {
        let span = &self.rrsets[id.index()];
        Rrset {
            rtype: span.rtype,
            records: self.records(&span.records),
            signatures: self.records(&span.signatures),
        }
    }

    /// Where the records of an RRset are.
    pub fn span(&self, id: RrsetId) -> &RrsetSpan {
        &self.rrsets[id.index()]
    }

    /// All RRsets in canonical order of their owners: glue and NSEC3 included.
    pub fn rrset_ids(&self) -> impl Iterator<Item = RrsetId> + use<> {
        (0..self.rrsets.len() as u32).map(RrsetId)
    }

    /// All names in canonical order, empty non-terminals and names below zone cuts included.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The zone's apex.
    pub fn apex(&self) -> NodeId {
        NodeId(0)
    }

    /// A node's name.
    pub fn name(&self, node: NodeId) -> &Name {
        &self.node(node).name
    }

    /// The number of labels of a node's name, the root's not counted.
    pub fn labels(&self, node: NodeId) -> usize {
        usize::from(self.node(node).labels)
    }

    /// The parent of a node; the apex has none.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.node(node).parent
    }

    /// Whether the zone is authoritative for the records at the node: it is neither zone cut nor below one, nor below a DNAME.
    pub fn is_authoritative(&self, node: NodeId) -> bool {
        self.node(node).occlusion == Occlusion::None
    }

    /// The zone cut that the node is or is below.
    pub fn zone_cut(&self, node: NodeId) -> Option<NodeId> {
        match self.node(node).occlusion {
            Occlusion::Cut(cut) => Some(cut),
            _ => None,
        }
    }

    /// The wildcard directly below the node.
    pub fn wildcard(&self, node: NodeId) -> Option<NodeId> {
        self.node(node).wildcard
    }

    fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    fn records(&self, range: &Range<u32>) -> &[Record] {
        &self.zone.records()[range.start as usize..range.end as usize]
    }

    fn key(&self, node: &Node) -> &[u8] {
        &self.keys[node.key.start as usize..node.key.end as usize]
    }

    fn relative_key<'n>(&self, name: &'n LookupName) -> Option<&'n [u8]> {
        name.key().strip_prefix(&*self.apex_key)
    }

    /// Finds the node with this key, or else the one before where it would be.
    fn search(&self, key: &[u8]) -> Result<NodeId, NodeId> {
        let head = key_head(key);
        let (mut low, mut high) = (0, self.nodes.len());
        while low < high {
            let middle = low.midpoint(high);
            let order = self.key_heads[middle]
                .cmp(&head)
                .then_with(|| self.key(&self.nodes[middle]).cmp(key));
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(NodeId(middle as u32)),
            }
        }
        // The apex has the empty key, which is the least: whatever is not found has a node before it.
        Err(NodeId(low as u32 - 1))
    }

    /// The nearest ancestor of the name with `key` that exists.
    ///
    /// In canonical order the names below a node follow it without a gap, so the name before shares that ancestor.
    fn closest_encloser(&self, predecessor: NodeId, key: &[u8]) -> NodeId {
        let mut node = predecessor;
        while !key.starts_with(self.key(self.node(node))) {
            match self.node(node).parent {
                Some(parent) => node = parent,
                None => return self.apex(),
            }
        }
        node
    }
}

fn key_head(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = key.len().min(8);
    head[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(head)
}

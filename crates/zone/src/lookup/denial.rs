//! Which NSEC or NSEC3 records prove an outcome (RFC 4035 section 3.1.3, RFC 5155 section 7.2).

use super::nsec3::owner_hash;
use super::{Chain, Hash, LookupName, NodeId, Nsec3Params, Outcome, RrsetId, Via, ZoneIndex};

/// An NSEC3 chain: the hashes in order, each with its RRset.
#[derive(Debug)]
pub(super) struct Nsec3Chain {
    pub(super) params: Nsec3Params,
    entries: Vec<(Hash, RrsetId)>,
}

/// The NSEC3 RRset that speaks about a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nsec3Link {
    rrset: RrsetId,
    /// Its owner is the name's hash; otherwise it covers that.
    matches: bool,
}

impl Nsec3Chain {
    pub(super) fn new(index: &ZoneIndex, params: Nsec3Params, rrsets: &[RrsetId]) -> Self {
        let mut entries: Vec<_> = rrsets
            .iter()
            .filter_map(|&id| {
                let record = &index.rrset(id).records[0];
                let same_chain = Nsec3Params::from_rdata(&record.rdata).as_ref() == Some(&params);
                let hash = owner_hash(record, index.zone.origin())?;
                same_chain.then_some((hash, id))
            })
            .collect();
        entries.sort_unstable();
        Self { params, entries }
    }

    /// The record that matches or covers a hash; `None` only in an empty chain.
    pub(super) fn find(&self, hash: &Hash) -> Option<Nsec3Link> {
        let (place, matches) = match self.entries.binary_search_by(|(entry, _)| entry.cmp(hash)) {
            Ok(place) => (place, true),
            // Before the first hash comes the last: the chain is a ring.
            Err(0) => (self.entries.len().checked_sub(1)?, false),
            Err(place) => (place - 1, false),
        };
        Some(Nsec3Link {
            rrset: self.entries[place].1,
            matches,
        })
    }
}

impl ZoneIndex {
    /// Appends to `proof` the NSEC or NSEC3 RRsets that an answer with this outcome needs, none twice.
    ///
    /// `name` is the name that was looked up. An unsigned zone, a positive answer without wildcard and a signed
    /// delegation need none.
    pub fn denial_proof(&self, name: &LookupName, outcome: &Outcome, proof: &mut Vec<RrsetId>) {
        match &self.denial {
            Chain::None => {}
            Chain::Nsec => self.nsec_proof(outcome, proof),
            Chain::Nsec3(chain) => self.nsec3_proof(chain, name, outcome, proof),
        }
    }

    fn nsec_proof(&self, outcome: &Outcome, proof: &mut Vec<RrsetId>) {
        // At an empty non-terminal there is no NSEC; the one before proves by its next name that the name has no data.
        let mut add = |node: NodeId| push_new(proof, self.node(node).nsec);
        match *outcome {
            Outcome::NoData { node, via } => {
                if let Via::Wildcard { predecessor } = via {
                    add(predecessor);
                }
                add(node);
            }
            Outcome::Answer { via, .. } | Outcome::Any { via, .. } | Outcome::Cname { via, .. } => {
                if let Via::Wildcard { predecessor } = via {
                    add(predecessor);
                }
            }
            Outcome::NxDomain {
                closest_encloser,
                predecessor,
            } => {
                add(predecessor);
                add(self.before_wildcard(closest_encloser));
            }
            Outcome::Referral { cut, ds: None, .. } => add(cut),
            Outcome::Referral { .. } | Outcome::Dname { .. } | Outcome::NotAuthoritative => {}
        }
    }

    /// The name before the wildcard that `closest_encloser` does not have.
    fn before_wildcard(&self, closest_encloser: NodeId) -> NodeId {
        let encloser = self.key(self.node(closest_encloser));
        let mut key = [0; 512];
        key[..encloser.len()].copy_from_slice(encloser);
        key[encloser.len()] = b'*';
        match self.search(&key[..encloser.len() + 2]) {
            Ok(node) | Err(node) => node,
        }
    }

    fn nsec3_proof(
        &self,
        chain: &Nsec3Chain,
        name: &LookupName,
        outcome: &Outcome,
        proof: &mut Vec<RrsetId>,
    ) {
        match *outcome {
            // RFC 5155 section 7.2.3; 7.2.4 where opt-out left the name out of the chain.
            Outcome::NoData {
                node,
                via: Via::Exact,
            }
            | Outcome::Referral {
                cut: node,
                ds: None,
                ..
            } => match self.node(node).nsec3 {
                Some(link) if link.matches => push_new(proof, Some(link.rrset)),
                _ => {
                    self.closest_encloser_proof(chain, name, node, proof);
                }
            },
            // Section 7.2.5.
            Outcome::NoData {
                node,
                via: Via::Wildcard { .. },
            } => {
                self.closest_encloser_proof(chain, name, self.parent(node).unwrap_or(node), proof);
                push_new(proof, self.node(node).nsec3.map(|link| link.rrset));
            }
            // Section 7.2.6: the signature's label count tells the closest encloser.
            Outcome::Answer { node, via, .. }
            | Outcome::Any { node, via }
            | Outcome::Cname { node, via, .. } => {
                if let Via::Wildcard { .. } = via {
                    push_new(proof, next_closer(chain, name, self.labels(node) - 1));
                }
            }
            // Section 7.2.2.
            Outcome::NxDomain {
                closest_encloser, ..
            } => {
                let proven = self.closest_encloser_proof(chain, name, closest_encloser, proof);
                push_new(
                    proof,
                    self.node(proven).nsec3_no_wildcard.map(|link| link.rrset),
                );
            }
            Outcome::Referral { .. } | Outcome::Dname { .. } | Outcome::NotAuthoritative => {}
        }
    }

    /// RFC 5155 section 7.2.1: the record matching the closest provable encloser and the one covering the next closer name.
    fn closest_encloser_proof(
        &self,
        chain: &Nsec3Chain,
        name: &LookupName,
        mut encloser: NodeId,
        proof: &mut Vec<RrsetId>,
    ) -> NodeId {
        // An empty non-terminal above nothing but opted-out delegations is not in the chain either.
        while !self.node(encloser).nsec3.is_some_and(|link| link.matches) {
            match self.parent(encloser) {
                Some(parent) => encloser = parent,
                None => break,
            }
        }
        push_new(proof, self.node(encloser).nsec3.map(|link| link.rrset));
        push_new(proof, next_closer(chain, name, self.labels(encloser)));
        encloser
    }
}

/// The record covering the ancestor (or self) of `name` with one label more than the closest encloser has.
fn next_closer(chain: &Nsec3Chain, name: &LookupName, encloser_labels: usize) -> Option<RrsetId> {
    let hash = chain.params.hash(name.suffix(encloser_labels + 1));
    chain.find(&hash).map(|link| link.rrset)
}

fn push_new(proof: &mut Vec<RrsetId>, rrset: Option<RrsetId>) {
    if let Some(rrset) = rrset
        && !proof.contains(&rrset)
    {
        proof.push(rrset);
    }
}

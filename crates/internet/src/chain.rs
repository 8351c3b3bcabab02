//! Chains of NSEC (RFC 4034 section 4) and NSEC3 records (RFC 5155) for zones whose records are all there.

use crate::wire::{RecordList, child};
use dnsrig_zone::lookup::{Hash, Nsec3Params};
use dnsrig_zone::{Name, Record, Zone, push_type_bitmap};
use domain::base::iana::Rtype;
use domain::base::name::ToName;
use domain::utils::base32;
use std::collections::BTreeMap;

/// SHA-1, the only hash that NSEC3 has.
const SHA1: u8 = 1;
/// The Opt-Out flag (RFC 5155 section 3.1.2.1).
const OPT_OUT: u8 = 1;

/// An owner name of a zone, with its types as a chain lists them.
struct Owner {
    name: Name,
    types: Vec<Rtype>,
    is_delegation: bool,
}

/// The authoritative names of a zone in canonical order; delegations with NS and DS only, nothing below them.
fn owners(zone: &Zone) -> Vec<Owner> {
    let mut owners: Vec<Owner> = Vec::new();
    let mut cut: Option<Name> = None;
    for rrset in zone.rrsets() {
        let (name, rtype) = (&rrset[0].owner, rrset[0].rtype);
        if cut
            .as_ref()
            .is_some_and(|cut| name != cut && name.ends_with(cut))
        {
            continue;
        }
        if owners.last().is_none_or(|last| last.name != *name) {
            owners.push(Owner {
                name: name.clone(),
                types: Vec::new(),
                is_delegation: false,
            });
        }
        let Some(owner) = owners.last_mut() else {
            continue;
        };
        owner.types.push(rtype);
        if rtype == Rtype::NS && name != zone.origin() {
            owner.is_delegation = true;
            cut = Some(name.clone());
        }
    }
    for owner in owners.iter_mut().filter(|owner| owner.is_delegation) {
        owner
            .types
            .retain(|rtype| matches!(*rtype, Rtype::NS | Rtype::DS));
    }
    owners
}

/// The names at which a zone hands over to another.
pub(crate) fn cuts(zone: &Zone) -> Vec<Name> {
    let delegations = owners(zone).into_iter().filter(|owner| owner.is_delegation);
    delegations.map(|owner| owner.name).collect()
}

/// An NSEC record's data.
pub(crate) fn nsec_rdata(next: &Name, types: &[Rtype]) -> Vec<u8> {
    let mut rdata = next.as_slice().to_vec();
    let mut types = [types, &[Rtype::RRSIG, Rtype::NSEC]].concat();
    push_type_bitmap(&mut types, &mut rdata);
    rdata
}

/// The NSEC records of a whole zone.
pub(crate) fn nsec_chain(zone: &Zone, ttl_s: u32) -> Vec<Record> {
    let owners = owners(zone);
    let mut list = RecordList::new();
    for (place, owner) in owners.iter().enumerate() {
        let next = &owners[(place + 1) % owners.len()].name;
        list.add(
            &owner.name,
            Rtype::NSEC,
            ttl_s,
            nsec_rdata(next, &owner.types),
        );
    }
    list.records
}

/// The parameters of a zone's NSEC3 chain.
#[derive(Clone, Debug)]
pub(crate) struct Nsec3 {
    pub params: Nsec3Params,
    pub opt_out: bool,
}

impl Nsec3 {
    pub fn new(iterations: u16, opt_out: bool) -> Self {
        Self {
            params: Nsec3Params {
                iterations,
                salt: Box::default(),
            },
            opt_out,
        }
    }

    /// The NSEC3PARAM record's data.
    pub fn param_rdata(&self) -> Vec<u8> {
        self.head(0)
    }

    fn head(&self, flags: u8) -> Vec<u8> {
        let Nsec3Params { iterations, salt } = &self.params;
        let mut rdata = vec![SHA1, flags];
        rdata.extend_from_slice(&iterations.to_be_bytes());
        rdata.push(salt.len() as u8);
        rdata.extend_from_slice(salt);
        rdata
    }

    /// The hash of a name.
    pub fn hash(&self, name: &Name) -> Hash {
        let lower: Name = name.to_canonical_name();
        self.params.hash(lower.as_slice())
    }

    /// An NSEC3 record.
    pub fn record(
        &self,
        list: &mut RecordList,
        apex: &Name,
        hash: &Hash,
        next: &Hash,
        types: &[Rtype],
        ttl_s: u32,
    ) {
        let label = base32::encode_string_hex(hash).to_ascii_lowercase();
        let mut rdata = self.head(if self.opt_out { OPT_OUT } else { 0 });
        rdata.push(next.len() as u8);
        rdata.extend_from_slice(next);
        push_type_bitmap(&mut types.to_vec(), &mut rdata);
        list.add(&child(label.as_bytes(), apex), Rtype::NSEC3, ttl_s, rdata);
    }
}

/// The NSEC3 records of a whole zone.
pub(crate) fn nsec3_chain(zone: &Zone, nsec3: &Nsec3, ttl_s: u32) -> Vec<Record> {
    let mut names: BTreeMap<Hash, Vec<Rtype>> = BTreeMap::new();
    let apex_labels = zone.origin().label_count();
    for owner in owners(zone) {
        let is_signed = !owner.is_delegation || owner.types.contains(&Rtype::DS);
        if nsec3.opt_out && !is_signed {
            continue;
        }
        // Empty non-terminals have records of their own (RFC 5155 section 7.1).
        let ancestors = owner.name.iter_suffixes().skip(1);
        for ancestor in ancestors.take_while(|name| name.label_count() > apex_labels) {
            let ancestor: Name = ancestor.to_name();
            names.entry(nsec3.hash(&ancestor)).or_default();
        }
        let mut types = owner.types;
        if is_signed {
            types.push(Rtype::RRSIG);
        }
        names.insert(nsec3.hash(&owner.name), types);
    }
    let hashes: Vec<Hash> = names.keys().copied().collect();
    let mut list = RecordList::new();
    for (place, (hash, types)) in names.iter().enumerate() {
        let next = &hashes[(place + 1) % hashes.len()];
        nsec3.record(&mut list, zone.origin(), hash, next, types, ttl_s);
    }
    list.records
}

//! Names that records point to, looked up across the zone with bounded memory: 64-bit hashes of names stand for them.

use crate::canonical::{is_at_or_below, label_count, parent, same_name};
use crate::flow::OwnerGroup;
use crate::packed::PackedRecord;
use crate::rdata::name_length;
use domain::base::iana::Rtype;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU8, Ordering};

/// A name server of the zone or of a delegation has the name.
const NAME_SERVER: u8 = 1;
/// The name has records.
const EXISTS: u8 = 2;
/// The name has addresses.
const ADDRESS: u8 = 4;
/// The name has a CNAME record.
const ALIAS: u8 = 8;
/// The name is a delegation.
const CUT: u8 = 16;
/// The name has a DNAME record.
const DNAME: u8 = 32;

/// Hashes names, letter case aside; keyed afresh in each run, so that nobody can make names that meet.
#[derive(Clone, Debug, Default)]
pub(super) struct NameHasher(RandomState);

impl NameHasher {
    fn hash(&self, name: &[u8]) -> u64 {
        let mut lower = [0; 256];
        let lower = &mut lower[..name.len().min(255)];
        lower.copy_from_slice(&name[..lower.len()]);
        lower.make_ascii_lowercase();
        self.0.hash_one(&*lower)
    }
}

/// Names that are asked for, and those asked for by wildcards, as a part of the zone tells them.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    names: Vec<(u64, u8)>,
    /// Names above wildcards, with what the wildcards are.
    wildcards: Vec<(u64, u8)>,
}

/// What the names that are asked for are in the zone.
#[derive(Debug, Default)]
pub(super) struct Targets {
    hasher: NameHasher,
    names: HashMap<u64, AtomicU8>,
    wildcards: HashMap<u64, u8>,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'n> {
    /// A name with addresses, itself or by a wildcard.
    Address,
    /// An alias, itself, by a wildcard, or by a DNAME above it.
    Alias,
    /// At or below a delegation, without glue.
    BelowCut(&'n [u8]),
    /// A name with records but no address.
    OtherData,
    /// No such name.
    Nothing,
}

/// The name that a record points to, if that record's kind is looked at.
pub(super) fn target_of<'a>(record: &PackedRecord<'a>) -> Option<&'a [u8]> {
    let name = match record.rtype {
        Rtype::NS | Rtype::CNAME | Rtype::SOA => record.rdata,
        Rtype::MX => record.rdata.get(2..)?,
        Rtype::SRV => record.rdata.get(6..)?,
        _ => return None,
    };
    name.get(..name_length(name)?)
}

/// What `name` is.
fn bits(name: &OwnerGroup<'_>, apex: &[u8]) -> u8 {
    let is_apex = name.owner().len() == apex.len();
    name.records.iter().fold(EXISTS, |bits, record| {
        bits | match record.rtype {
            Rtype::A | Rtype::AAAA => ADDRESS,
            Rtype::CNAME => ALIAS,
            Rtype::NS if !is_apex => CUT,
            Rtype::DNAME => DNAME,
            _ => 0,
        }
    })
}

impl Wanted {
    /// Takes the names that the records of `name` point to.
    pub fn take(&mut self, name: &OwnerGroup<'_>, apex: &[u8], hasher: &NameHasher) {
        let owner = name.owner();
        if owner.starts_with(b"\x01*") {
            let above = hasher.hash(parent(owner).unwrap_or_default());
            self.wildcards.push((above, bits(name, apex)));
        }
        for record in name.records.iter() {
            let target = target_of(&record).filter(|target| is_at_or_below(target, apex));
            if let Some(target) = target {
                let bits = if record.rtype == Rtype::NS {
                    NAME_SERVER
                } else {
                    0
                };
                self.names.push((hasher.hash(target), bits));
                let above = ancestors(target, apex).skip(1);
                self.names.extend(above.map(|name| (hasher.hash(name), 0)));
            }
        }
    }
}

/// `name` and the names above it, below `apex`.
fn ancestors<'a>(name: &'a [u8], apex: &[u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let count = label_count(name).saturating_sub(label_count(apex));
    std::iter::successors(Some(name), |name| parent(name)).take(count)
}

impl Targets {
    /// The hasher that all parts of the zone use.
    pub fn hasher(&self) -> NameHasher {
        self.hasher.clone()
    }

    /// Takes what a part of the zone asks for.
    pub fn ask(&mut self, wanted: Wanted) {
        for (name, bits) in wanted.names {
            *self.names.entry(name).or_default().get_mut() |= bits;
        }
        for (above, bits) in wanted.wildcards {
            *self.wildcards.entry(above).or_default() |= bits;
        }
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Notes what `name` is, if it is asked for.
    pub fn answer(&self, name: &OwnerGroup<'_>, apex: &[u8]) {
        if let Some(found) = self.names.get(&self.hasher.hash(name.owner())) {
            found.fetch_or(bits(name, apex), Ordering::Relaxed);
        }
    }

    fn bits(&self, name: &[u8]) -> u8 {
        let found = self.names.get(&self.hasher.hash(name));
        found.map_or(0, |bits| bits.load(Ordering::Relaxed))
    }

    /// Whether some name server has the name.
    pub fn is_name_server(&self, name: &[u8]) -> bool {
        self.bits(name) & NAME_SERVER != 0
    }

    /// Whether some name that is asked for may be without addresses.
    pub fn may_lack(&self) -> bool {
        let lacks = |bits: &AtomicU8| {
            let bits = bits.load(Ordering::Relaxed);
            bits & ADDRESS == 0 || bits & (ALIAS | DNAME) != 0
        };
        self.names.values().any(lacks)
    }

    /// What `name`, at or below `apex`, is, all names of the zone having answered.
    pub fn find<'n>(&self, name: &'n [u8], apex: &[u8]) -> Found<'n> {
        let own = self.bits(name);
        if own & ALIAS != 0 {
            return Found::Alias;
        }
        if own & ADDRESS != 0 {
            return Found::Address;
        }
        // The nearest to the apex decides.
        let mut above: Option<Found<'n>> = None;
        for ancestor in ancestors(name, apex) {
            let bits = self.bits(ancestor);
            if bits & CUT != 0 {
                above = Some(Found::BelowCut(ancestor));
            } else if bits & DNAME != 0 && !same_name(ancestor, name) {
                above = Some(Found::Alias);
            }
        }
        if let Some(found) = above {
            return found;
        }
        if own & EXISTS != 0 || name.len() == apex.len() {
            return Found::OtherData;
        }
        let wildcards = ancestors(name, apex)
            .skip(1)
            .chain([&name[name.len() - apex.len()..]])
            .filter_map(|above| self.wildcards.get(&self.hasher.hash(above)));
        match wildcards.fold(0, |all, bits| all | bits) {
            bits if bits & ADDRESS != 0 => Found::Address,
            bits if bits & ALIAS != 0 => Found::Alias,
            bits if bits != 0 => Found::OtherData,
            _ => Found::Nothing,
        }
    }
}

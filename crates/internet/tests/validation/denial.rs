//! Whether NSEC and NSEC3 records prove what a response says (RFC 4035 section 5.4, RFC 5155 section 8).

use crate::message::{Response, Rrset};
use dnsrig_zone::lookup::{Hash, Nsec3Params};
use dnsrig_zone::{Name, bitmap_types, compare_names};
use domain::base::iana::Rtype;
use domain::base::name::{ToLabelIter, ToName};
use domain::utils::base32;
use std::cmp::Ordering;

/// The records of denial in a response's authority section.
pub enum Proof<'a> {
    Nsec(Vec<&'a Rrset>),
    Nsec3(Vec<Nsec3<'a>>),
}

pub struct Nsec3<'a> {
    hash: Vec<u8>,
    next: &'a [u8],
    is_opt_out: bool,
    types: Vec<Rtype>,
    params: Nsec3Params,
}

fn next_and_types(rdata: &[u8]) -> (&[u8], Vec<Rtype>) {
    let mut at = 0;
    while rdata[at] > 0 {
        at += 1 + usize::from(rdata[at]);
    }
    (&rdata[..=at], bitmap_types(&rdata[at + 1..]).collect())
}

/// Whether `name` stands strictly between two neighbours of a ring.
fn is_between<T: ?Sized>(
    first: &T,
    name: &T,
    next: &T,
    compare: impl Fn(&T, &T) -> Ordering,
) -> bool {
    let (after, before) = (compare(first, name).is_lt(), compare(name, next).is_lt());
    match compare(first, next) {
        Ordering::Less => after && before,
        _ => after || before,
    }
}

impl<'a> Proof<'a> {
    pub fn of(response: &'a Response) -> Self {
        let nsec: Vec<&Rrset> = Response::find(&response.authority, Rtype::NSEC).collect();
        if !nsec.is_empty() {
            return Self::Nsec(nsec);
        }
        let nsec3 = Response::find(&response.authority, Rtype::NSEC3).map(|rrset| {
            let rdata = &rrset.rdata[0];
            let salt_end = 5 + usize::from(rdata[4]);
            let next_end = salt_end + 1 + usize::from(rdata[salt_end]);
            let label = rrset.owner.iter_labels().next().unwrap().to_string();
            Nsec3 {
                hash: base32::decode_hex(&label).expect("a hash"),
                next: &rdata[salt_end + 1..next_end],
                is_opt_out: rdata[1] & 1 == 1,
                types: bitmap_types(&rdata[next_end..]).collect(),
                params: Nsec3Params::from_rdata(rdata).expect("parameters"),
            }
        });
        Self::Nsec3(nsec3.collect())
    }

    fn hash(&self, name: &Name) -> Hash {
        let Self::Nsec3(records) = self else {
            panic!("there are no NSEC3 records");
        };
        let lower: Name = name.to_canonical_name();
        records
            .first()
            .expect("a record of denial")
            .params
            .hash(lower.as_slice())
    }

    /// The types that a name has, if a record matches it.
    fn types(&self, name: &Name) -> Option<Vec<Rtype>> {
        match self {
            Self::Nsec(records) => {
                let found = records.iter().find(|record| record.owner == *name)?;
                Some(next_and_types(&found.rdata[0]).1)
            }
            Self::Nsec3(records) => {
                let hash = self.hash(name);
                let found = records.iter().find(|record| record.hash == hash)?;
                Some(found.types.clone())
            }
        }
    }

    /// Whether a record covers a name; with `true` if that record has the opt-out flag.
    fn covers(&self, name: &Name) -> Option<bool> {
        match self {
            Self::Nsec(records) => records
                .iter()
                .any(|record| {
                    let (next, _) = next_and_types(&record.rdata[0]);
                    is_between(
                        record.owner.as_slice(),
                        name.as_slice(),
                        next,
                        compare_names,
                    )
                })
                .then_some(false),
            Self::Nsec3(records) => {
                let hash = self.hash(name);
                let covering = records.iter().find(|record| {
                    is_between(&record.hash[..], &hash[..], record.next, <[u8]>::cmp)
                });
                covering.map(|record| record.is_opt_out)
            }
        }
    }

    /// Whether a covering record leads to a name below `name`: then `name` is an empty non-terminal (RFC 4592 section 2.2.2).
    fn is_empty_non_terminal(&self, name: &Name) -> bool {
        let Self::Nsec(records) = self else {
            return false;
        };
        records.iter().any(|record| {
            let (next, _) = next_and_types(&record.rdata[0]);
            let next = Name::from_octets(next.to_vec().into()).unwrap();
            next != *name && next.ends_with(name)
        })
    }

    /// The closest encloser of a name that is proved not to exist, and its next closer name.
    fn encloser(&self, zone: &Name, name: &Name) -> (Name, Name) {
        let ancestors: Vec<Name> = name.iter_suffixes().map(|one| one.to_name()).collect();
        for pair in ancestors.windows(2) {
            let exists = match self {
                Self::Nsec(records) => records.iter().any(|record| {
                    let (next, _) = next_and_types(&record.rdata[0]);
                    let next = Name::from_octets(next.to_vec().into()).unwrap();
                    record.owner.ends_with(&pair[1]) || next.ends_with(&pair[1])
                }),
                Self::Nsec3(_) => self.types(&pair[1]).is_some(),
            };
            if exists {
                assert!(pair[1].ends_with(zone));
                return (pair[1].clone(), pair[0].clone());
            }
        }
        panic!("no closest encloser of {name} is proved");
    }

    /// Fails unless it is proved that `name` does not exist, nor a wildcard for it.
    pub fn check_nxdomain(&self, zone: &Name, name: &Name) {
        let (encloser, next_closer) = self.encloser(zone, name);
        let covered = self.covers(&next_closer);
        assert!(covered.is_some(), "{next_closer} is not covered");
        let wildcard = wildcard(&encloser);
        assert!(
            self.covers(&wildcard).is_some(),
            "{wildcard} is not covered"
        );
    }

    /// Fails unless it is proved that a wildcard was rightly used for `name`, which has `expanded` labels beyond it.
    pub fn check_wildcard(&self, name: &Name, expanded: usize) {
        let next_closer = name.iter_suffixes().nth(expanded - 1).unwrap().to_name();
        let name = match self {
            Self::Nsec(_) => name,
            Self::Nsec3(_) => &next_closer,
        };
        assert!(self.covers(name).is_some(), "{name} is not covered");
    }

    /// Fails unless it is proved that `name` has no data of `rtype`.
    pub fn check_nodata(&self, zone: &Name, name: &Name, rtype: Rtype) {
        let of = match self.types(name) {
            Some(types) => Some(types),
            None if self.is_empty_non_terminal(name) => Some(Vec::new()),
            None => {
                let (encloser, next_closer) = self.encloser(zone, name);
                let covered = self.covers(&next_closer);
                assert!(covered.is_some(), "{next_closer} is not covered");
                // RFC 5155 section 8.6: an unsigned delegation in a span with opt-out.
                if rtype == Rtype::DS && covered == Some(true) {
                    return;
                }
                self.types(&wildcard(&encloser))
            }
        };
        let types = of.unwrap_or_else(|| panic!("nothing speaks of {name}"));
        assert!(
            !types.contains(&rtype) && !types.contains(&Rtype::CNAME),
            "{name} has {rtype}"
        );
        if rtype == Rtype::DS {
            assert!(!types.contains(&Rtype::SOA), "the child denies its DS");
        }
    }

    /// Fails unless it is proved that the delegation `name` has no DS records.
    pub fn check_insecure(&self, zone: &Name, name: &Name) {
        if let Some(types) = self.types(name) {
            assert!(types.contains(&Rtype::NS), "{name} is no delegation");
        }
        self.check_nodata(zone, name, Rtype::DS);
    }
}

fn wildcard(encloser: &Name) -> Name {
    let octets = [b"\x01*", encloser.as_slice()].concat();
    Name::from_octets(octets.into()).unwrap()
}

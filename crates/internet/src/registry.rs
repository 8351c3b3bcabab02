//! A zone of delegations that is not in memory: a top-level domain, or a public suffix below one, with any number of domains.

use crate::chain::Nsec3;
use crate::keys::{KeyKind, ZoneKeys, ZoneNumber};
use crate::labels::{Label, Labels};
use crate::profile::Registry as RegistryProfile;
use crate::random::{Purpose, at, permutation, unit};
use crate::servers::SetId;
use crate::wire::child;
use dnsrig_zone::Name;
use dnsrig_zone::lookup::Hash;
use dnsrig_zone::splitmix::Permutation;
use std::sync::{Arc, OnceLock};

/// A top-level domain, or a public suffix below one such as co.uk.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Its number: tells its random numbers from others'.
    pub number: u64,
    pub name: Name,
    /// Labels of its name.
    pub depth: usize,
    pub profile: RegistryProfile,
    pub set: SetId,
    /// How it is signed, if it is.
    pub signing: Option<RegistrySigning>,
    /// Its keys, once they have been needed.
    pub keys: OnceLock<Arc<ZoneKeys>>,
    pub labels: Labels,
    /// Delegations that are there besides, of operators' domains and of registries below, sorted by their labels.
    pub extra: Vec<(Box<[u8]>, Delegation)>,
    /// How many domains are under the registries before this.
    pub domains_before: u64,
    seed: u64,
    signed: Permutation,
    signed_count: u64,
    ring: OnceLock<Vec<(Hash, Entry)>>,
}

/// How a registry's zone is signed.
#[derive(Clone, Debug)]
pub(crate) struct RegistrySigning {
    pub keys: KeyKind,
    /// NSEC3's parameters; without, it has NSEC.
    pub nsec3: Option<Nsec3>,
}

/// Whose name a hash of the chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    Apex,
    Signed,
    Unsigned,
}

/// A delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Delegation {
    /// Domain number `n` of the registry.
    Domain(u64),
    /// The domain of an operator: number `n` of all.
    Operator(u32),
    /// A registry below, number `n` of all, which is signed if this one is.
    Registry(u32),
}

/// Between which delegations a label stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gap {
    /// Domains before it or equal.
    pub domains: u64,
    /// Other delegations before it or equal.
    pub extra: u32,
}

impl Registry {
    #[expect(
        clippy::too_many_arguments,
        reason = "one caller, which has them from a profile"
    )]
    pub fn new(
        seed: u64,
        number: u64,
        name: Name,
        profile: RegistryProfile,
        set: SetId,
        signing: Option<RegistrySigning>,
        domains: u64,
        domains_before: u64,
        signed_share: f64,
    ) -> Self {
        Self {
            number,
            depth: name.label_count() - 1,
            name,
            profile,
            set,
            signing,
            keys: OnceLock::new(),
            labels: Labels::new(seed, number, domains),
            extra: Vec::new(),
            domains_before,
            seed,
            signed: permutation(seed, Purpose::Signed, number, domains),
            signed_count: (domains as f64 * signed_share).round() as u64,
            ring: OnceLock::new(),
        }
    }

    pub fn zone_number(&self) -> ZoneNumber {
        ZoneNumber {
            part: u64::MAX,
            index: self.number,
        }
    }

    /// The delegation of the lower-case `label`, if there is one, and where the label stands.
    pub fn find(&self, label: &[u8]) -> (Option<Delegation>, Gap) {
        let place = self.labels.place(label);
        let extra = self.extra.partition_point(|(known, _)| &known[..] <= label);
        let gap = Gap {
            domains: place.before + u64::from(place.exists),
            extra: extra as u32,
        };
        let last = extra.checked_sub(1).map(|last| &self.extra[last]);
        let found = match last {
            // These take a label from the domains.
            Some((known, delegation)) if &known[..] == label => Some(*delegation),
            _ => place.exists.then_some(Delegation::Domain(place.before)),
        };
        (found, gap)
    }

    fn extra_label(&self, place: usize) -> Option<&[u8]> {
        self.extra.get(place).map(|(label, _)| &label[..])
    }

    fn domain_label(&self, index: u64) -> Option<Label> {
        (index < self.labels.count()).then(|| self.labels.label(index))
    }

    /// The last delegation up to a gap; none at the zone's beginning.
    pub fn before(&self, gap: Gap) -> Option<Delegation> {
        let last = |count: u32| (count as usize).checked_sub(1);
        let domain = gap.domains.checked_sub(1);
        let extra = last(gap.extra);
        let takes_extra = match (domain, extra) {
            (Some(domain), Some(extra)) => {
                self.extra_label(extra) >= Some(self.labels.label(domain).as_bytes())
            }
            (None, extra) => extra.is_some(),
            (Some(_), None) => false,
        };
        match takes_extra {
            true => extra.map(|extra| self.extra[extra].1),
            false => domain.map(Delegation::Domain),
        }
    }

    /// The name of the first delegation after a gap, or the apex after the last.
    pub fn name_after(&self, gap: Gap) -> Name {
        let domain = self.domain_label(gap.domains);
        let extra = self.extra_label(gap.extra as usize);
        let label = match (&domain, extra) {
            (Some(domain), Some(extra)) => Some(domain.as_bytes().min(extra)),
            (Some(domain), None) => Some(domain.as_bytes()),
            (None, extra) => extra,
        };
        match label {
            Some(label) => child(label, &self.name),
            None => self.name.clone(),
        }
    }

    /// The name of domain number `index`.
    pub fn domain_name(&self, index: u64) -> Name {
        child(self.labels.label(index).as_bytes(), &self.name)
    }

    /// Whether a delegation has DS records.
    pub fn is_secure(&self, delegation: Delegation) -> bool {
        if self.signing.is_none() {
            return false;
        }
        match delegation {
            Delegation::Domain(index) => self.signed.at(index) < self.signed_count,
            Delegation::Operator(zone) => {
                let share = self.signed_count as f64 / self.labels.count().max(1) as f64;
                unit(at(self.seed, Purpose::Signed, u64::MAX, zone.into())) < share
            }
            Delegation::Registry(_) => true,
        }
    }

    /// The hashes of the NSEC3 chain in order. They are made when they are first needed: that takes 200 to 300
    /// nanoseconds for each name in the chain, and 21 octets.
    pub fn ring(&self, nsec3: &Nsec3) -> &[(Hash, Entry)] {
        self.ring.get_or_init(|| self.make_ring(nsec3))
    }

    /// The octets of these hashes; 0 before they are made.
    pub fn ring_octets(&self) -> usize {
        self.ring
            .get()
            .map_or(0, |ring| size_of_val(ring.as_slice()))
    }

    fn make_ring(&self, nsec3: &Nsec3) -> Vec<(Hash, Entry)> {
        let mut ring = vec![(nsec3.hash(&self.name), Entry::Apex)];
        let mut put = |name: &Name, is_secure: bool| match is_secure {
            true => ring.push((nsec3.hash(name), Entry::Signed)),
            false if nsec3.opt_out => {}
            false => ring.push((nsec3.hash(name), Entry::Unsigned)),
        };
        if nsec3.opt_out {
            for place in 0..self.signed_count.min(self.labels.count()) {
                put(&self.domain_name(self.signed.inverse(place)), true);
            }
        } else {
            for index in 0..self.labels.count() {
                let is_secure = self.is_secure(Delegation::Domain(index));
                put(&self.domain_name(index), is_secure);
            }
        }
        for (label, delegation) in &self.extra {
            let name = child(label, &self.name);
            put(&name, self.is_secure(*delegation));
        }
        ring.sort_unstable();
        // A label that both a domain and an operator would have is the operator's.
        ring.dedup_by_key(|(hash, _)| *hash);
        ring.shrink_to_fit();
        ring
    }

    /// The place in the ring of the record that matches or covers `hash`.
    pub fn slot(ring: &[(Hash, Entry)], hash: &Hash) -> u32 {
        let after = ring.partition_point(|(known, _)| known <= hash);
        match after {
            // Before the first comes the last: the chain is a ring.
            0 => ring.len() as u32 - 1,
            _ => after as u32 - 1,
        }
    }
}

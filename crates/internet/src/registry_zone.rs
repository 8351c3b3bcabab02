//! Making the part of a registry's zone that an answer needs.

use crate::InternetError;
use crate::chain::{Nsec3, nsec_rdata};
use crate::excerpt::Excerpt;
use crate::internet::Internet;
use crate::keys::{ZoneKeys, ds_of};
use crate::registry::{Delegation, Entry, Gap, Registry, RegistrySigning};
use crate::wire::{RecordList, child};
use crate::zones::{Glue, Part, REGISTRY_DNSKEY_TTL_S, REGISTRY_NS_TTL_S};
use dnsrig_zone::{Name, Zone};
use domain::base::iana::Rtype;
use std::sync::Arc;

/// The types at the apex of a signed zone of delegations, beside those of its chain.
const APEX_TYPES: [Rtype; 3] = [Rtype::NS, Rtype::SOA, Rtype::DNSKEY];

impl Internet {
    /// The part of a registry's zone that answers for the name whose label below the apex is `label`.
    pub(crate) fn part_for(&self, registry: &Registry, label: Option<&[u8]>) -> Part {
        let Some(label) = label else {
            return Part::Apex;
        };
        let (found, gap) = registry.find(label);
        match (&registry.signing, found) {
            (Some(signing), _) if signing.nsec3.is_none() => Part::Gap(gap),
            (_, Some(delegation)) => Part::Delegation(delegation),
            (Some(signing), None) => {
                let Some(nsec3) = &signing.nsec3 else {
                    return Part::Gap(gap);
                };
                let hash = nsec3.hash(&child(label, &registry.name));
                Part::Slot(Registry::slot(registry.ring(nsec3), &hash))
            }
            (None, None) => Part::Apex,
        }
    }

    pub(crate) fn make_registry(
        &self,
        registry: &Registry,
        part: Part,
    ) -> Result<Excerpt, InternetError> {
        let (apex, profile) = (&registry.name, &registry.profile);
        let mut list = RecordList::new();
        let servers = self.servers.of_set(registry.set);
        list.soa(
            apex,
            &servers[0].name,
            1_669_852_800,
            profile.negative_ttl_s,
        );
        for server in servers {
            list.name(apex, Rtype::NS, REGISTRY_NS_TTL_S, &server.name);
        }
        let delegation = match part {
            Part::Gap(gap) => registry.before(gap),
            Part::Delegation(delegation) => Some(delegation),
            Part::Apex | Part::Slot(_) => None,
        };
        let delegated = match delegation {
            Some(delegation) => Some(self.put_delegation(&mut list, registry, delegation)?),
            None => None,
        };
        let Some(signing) = &registry.signing else {
            return Excerpt::unsigned(Zone::new(apex.clone(), list.records));
        };
        let keys = self.registry_keys(registry, signing)?;
        list.records.extend(keys.dnskeys(REGISTRY_DNSKEY_TTL_S));
        match &signing.nsec3 {
            None => {
                let gap = match part {
                    Part::Gap(gap) => gap,
                    _ => Gap {
                        domains: 0,
                        extra: 0,
                    },
                };
                put_nsec(&mut list, registry, gap, delegated);
            }
            Some(nsec3) => {
                list.add(apex, Rtype::NSEC3PARAM, 0, nsec3.param_rdata());
                put_nsec3(&mut list, registry, nsec3, part, delegated);
            }
        }
        let zone = Zone::new(apex.clone(), list.records);
        Excerpt::signed(zone, keys, self.validity)
    }

    /// A registry's keys, made once: all parts of its zone have them.
    fn registry_keys(
        &self,
        registry: &Registry,
        signing: &RegistrySigning,
    ) -> Result<Arc<ZoneKeys>, InternetError> {
        if let Some(known) = registry.keys.get() {
            return Ok(Arc::clone(known));
        }
        let made = self
            .keys
            .keys(&registry.name, registry.zone_number(), signing.keys)?;
        Ok(Arc::clone(registry.keys.get_or_init(|| Arc::new(made))))
    }

    /// Adds a delegation's records; gives its name and whether it has a DS record.
    fn put_delegation(
        &self,
        list: &mut RecordList,
        registry: &Registry,
        delegation: Delegation,
    ) -> Result<(Name, bool), InternetError> {
        let profile = &registry.profile;
        let (name, servers, glue) = match delegation {
            Delegation::Domain(index) => {
                let name = registry.domain_name(index);
                let (servers, glue) = self.name_servers(registry.number, index, &name);
                (name, servers, glue)
            }
            Delegation::Operator(zone) => {
                let operator = &self.operators[zone as usize];
                let servers = self.servers.of_set(operator.sets[0]);
                let glue: Vec<Glue> = servers
                    .iter()
                    .map(|server| (server.name.clone(), server.ipv4, server.ipv6))
                    .collect();
                let names = servers.iter().map(|server| server.name.clone()).collect();
                (operator.name.clone(), names, glue)
            }
            Delegation::Registry(number) => {
                let below = &self.registries[number as usize];
                let servers = self.servers.of_set(below.set).iter();
                let names = servers.map(|server| server.name.clone()).collect();
                // The same servers as this zone's, known from the referral to it; below this cut there is no glue.
                (below.name.clone(), names, Vec::new())
            }
        };
        for server in &servers {
            list.name(&name, Rtype::NS, profile.ns_ttl_s, server);
        }
        for (server, ipv4, ipv6) in &glue {
            list.addresses(server, profile.ns_ttl_s, *ipv4, *ipv6);
        }
        let is_secure = registry.is_secure(delegation);
        if is_secure {
            let (number, kind) = match delegation {
                Delegation::Domain(index) => self.domain_number(registry.number, index),
                Delegation::Operator(zone) => self.operator_number(zone),
                // It is signed as this one is.
                Delegation::Registry(below) => {
                    let below = &self.registries[below as usize];
                    let kind = below.signing.as_ref().map(|signing| signing.keys);
                    let as_this = registry.signing.as_ref().map(|signing| signing.keys);
                    let Some(kind) = kind.or(as_this) else {
                        return Ok((name, false));
                    };
                    (below.zone_number(), kind)
                }
            };
            let ksk = self.keys.ksk(&name, number, kind.algorithm)?;
            list.records.push(ds_of(&ksk, profile.ds_ttl_s));
        }
        Ok((name, is_secure))
    }
}

/// The NSEC records of the apex and of the delegation before `gap`.
fn put_nsec(list: &mut RecordList, registry: &Registry, gap: Gap, delegated: Option<(Name, bool)>) {
    let ttl_s = registry.profile.negative_ttl_s;
    let first = registry.name_after(Gap {
        domains: 0,
        extra: 0,
    });
    list.add(
        &registry.name,
        Rtype::NSEC,
        ttl_s,
        nsec_rdata(&first, &APEX_TYPES),
    );
    if let Some((name, is_secure)) = delegated {
        let types: &[Rtype] = if is_secure {
            &[Rtype::NS, Rtype::DS]
        } else {
            &[Rtype::NS]
        };
        let next = registry.name_after(gap);
        list.add(&name, Rtype::NSEC, ttl_s, nsec_rdata(&next, types));
    }
}

/// The NSEC3 records that match the apex, match or cover the delegation, cover the wildcard, and stand in the slot.
fn put_nsec3(
    list: &mut RecordList,
    registry: &Registry,
    nsec3: &Nsec3,
    part: Part,
    delegated: Option<(Name, bool)>,
) {
    let ring = registry.ring(nsec3);
    let slot_of = |name: &Name| Registry::slot(ring, &nsec3.hash(name));
    let mut slots = vec![
        slot_of(&registry.name),
        slot_of(&child(b"*", &registry.name)),
    ];
    slots.extend(delegated.map(|(name, _)| slot_of(&name)));
    if let Part::Slot(slot) = part {
        slots.push(slot);
    }
    slots.sort_unstable();
    slots.dedup();
    for slot in slots {
        let (hash, entry) = &ring[slot as usize];
        let (next, _) = &ring[(slot as usize + 1) % ring.len()];
        let types: &[Rtype] = match entry {
            Entry::Apex => &[
                Rtype::NS,
                Rtype::SOA,
                Rtype::RRSIG,
                Rtype::DNSKEY,
                Rtype::NSEC3PARAM,
            ],
            Entry::Signed => &[Rtype::NS, Rtype::DS, Rtype::RRSIG],
            Entry::Unsigned => &[Rtype::NS],
        };
        let ttl_s = registry.profile.negative_ttl_s;
        nsec3.record(list, &registry.name, hash, next, types, ttl_s);
    }
}

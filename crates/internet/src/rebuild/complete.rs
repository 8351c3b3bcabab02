//! Making zones of what was collected, and completing what resolving needs and no response had.

use super::collect::{Collector, RrsetKey, Variants};
use super::owners::Owners;
use super::served::can_serve;
use crate::excerpt::octets_of;
use crate::wire::{RecordList, child};
use dnsrig_sign::Algorithm;
use dnsrig_zone::{Name, Record, Zone};
use domain::base::iana::{Class, Rtype};
use domain::base::name::ToName;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};

/// A type of the range for private use (RFC 6895 section 3.1): it stands at names that exist, but have no data that was seen.
const PLACEHOLDER: Rtype = Rtype::from_int(65_280);
/// TTL of what is completed, in seconds.
const COMPLETED_TTL_S: u32 = 3600;
/// The invented root server, if no response of the root was seen: of the addresses for benchmarks (RFC 2544).
const ROOT_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 53);

/// A zone that was rebuilt, without DNSSEC records but DS records' places.
#[derive(Debug)]
pub struct RebuiltZone {
    /// Its data.
    pub zone: Zone,
    /// Addresses of its servers.
    pub servers: BTreeSet<IpAddr>,
    /// The algorithm that it was signed with, or one as short if that cannot be made; none: it was not signed.
    pub algorithm: Option<Algorithm>,
    /// Whether its parent has DS records for it.
    pub is_secure: bool,
    /// With NSEC3: its iterations and whether it opts out.
    pub nsec3: Option<(u16, bool)>,
}

impl RebuiltZone {
    /// Octets that it takes in memory, about, before it is signed.
    pub fn octets(&self) -> usize {
        octets_of(&self.zone)
    }
}

/// What came out.
#[derive(Debug)]
pub struct Reconstruction {
    /// The zones, in canonical order of their names.
    pub zones: Vec<RebuiltZone>,
    /// RRsets that were seen with different data; the most frequent was taken.
    pub conflicts: u64,
    /// How often RRsets had data beside the first 64 different ones; these were left out.
    pub left_out: u64,
    /// SOA records that were made up.
    pub soa_made: u64,
    /// Delegations and NS RRsets that were made up or taken from elsewhere.
    pub ns_made: u64,
    /// Zones that no server was seen for; only their delegations are there.
    pub without_server: u64,
}

pub(super) struct Builder<'a> {
    pub seen: &'a Collector,
    cancel: &'a AtomicBool,
    pub cuts: BTreeSet<Name>,
    pub servers: BTreeMap<Name, BTreeSet<IpAddr>>,
    /// Names of servers by their addresses.
    pub names: HashMap<IpAddr, Name>,
    records: BTreeMap<Name, RecordList>,
    soa_made: u64,
    ns_made: u64,
}

impl Collector {
    /// Makes zones of what was seen; no zones if nothing was. `None` if `cancel` was set meanwhile.
    pub fn rebuild(&self, cancel: &AtomicBool) -> Option<Reconstruction> {
        let mut cuts = self.apexes.clone();
        cuts.insert(Name::root_bytes());
        let mut builder = Builder {
            seen: self,
            cancel,
            cuts,
            servers: BTreeMap::new(),
            names: HashMap::new(),
            records: BTreeMap::new(),
            soa_made: 0,
            ns_made: 0,
        };
        builder.find_servers();
        let without_server = builder.drop_unserved();
        if !builder.servers.is_empty() {
            builder.serve_root();
            builder.put_data();
            builder.put_existing();
            builder.complete_apexes();
            builder.put_delegations();
        }
        let made = builder.finish(without_server);
        (!cancel.load(Ordering::Relaxed)).then_some(made)
    }
}

/// The address of an address RRset's record.
pub(super) fn address(rtype: Rtype, rdata: &[u8]) -> Option<IpAddr> {
    match rtype {
        Rtype::A => <[u8; 4]>::try_from(rdata).ok().map(IpAddr::from),
        Rtype::AAAA => <[u8; 16]>::try_from(rdata).ok().map(IpAddr::from),
        _ => None,
    }
}

/// The parent of a name, which is not the root.
pub(super) fn above(name: &Name) -> Name {
    let parent = name.iter_suffixes().nth(1);
    parent.map_or_else(Name::root_bytes, |parent| parent.to_name())
}

impl Builder<'_> {
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// The zone that a name is in.
    pub fn zone_of(&self, name: &Name) -> Name {
        let mut suffixes = name.iter_suffixes().map(|suffix| suffix.to_name());
        let found = suffixes.find(|suffix: &Name| self.cuts.contains(suffix));
        found.unwrap_or_else(Name::root_bytes)
    }

    /// The zone above the one with this apex.
    pub fn parent_of(&self, apex: &Name) -> Name {
        self.zone_of(&above(apex))
    }

    fn best(&self, key: &RrsetKey) -> Option<&super::collect::Variant> {
        let of = |variants: &BTreeMap<RrsetKey, Variants>| variants.contains_key(key);
        match of(&self.seen.authoritative) {
            true => self.seen.authoritative[key].best(),
            false => self.seen.hearsay.get(key)?.best(),
        }
    }

    /// Names of a zone's servers, as it says itself, or else as the one above says.
    pub fn name_servers(&self, apex: &Name) -> Vec<Name> {
        let ns = self.best(&(apex.clone(), Rtype::NS));
        let rdata = ns.into_iter().flat_map(|ns| &ns.rdata);
        rdata
            .filter_map(|rdata| Name::from_octets(rdata.clone()).ok())
            .map(|name| name.to_canonical_name())
            .collect()
    }

    /// Addresses of a server, but for those that nobody can be asked at.
    pub fn addresses_of(&self, server: &Name) -> Vec<IpAddr> {
        let types = [Rtype::A, Rtype::AAAA];
        let known = types.map(|rtype| (rtype, self.best(&(server.clone(), rtype))));
        let known = known
            .into_iter()
            .filter_map(|(rtype, one)| Some((rtype, one?)));
        known
            .flat_map(|(rtype, one)| {
                one.rdata
                    .iter()
                    .filter_map(move |data| address(rtype, data))
            })
            .filter(can_serve)
            .collect()
    }

    /// Forgets zones that nobody serves; of those that others delegate to, the delegations stay. Says how many these are.
    fn drop_unserved(&mut self) -> u64 {
        let unserved: Vec<Name> = self
            .cuts
            .iter()
            .filter(|apex| !self.servers.contains_key(*apex) && apex.label_count() > 1)
            .cloned()
            .collect();
        let mut delegated = 0;
        for apex in unserved {
            match self.name_servers(&apex).is_empty() {
                true => drop(self.cuts.remove(&apex)),
                false => delegated += 1,
            }
        }
        delegated
    }

    /// Gives the root a server if none was seen.
    fn serve_root(&mut self) {
        let root = Name::root_bytes();
        let servers = self.servers.entry(root).or_default();
        if servers.is_empty() {
            servers.insert(ROOT_SERVER.into());
        }
    }

    fn list(&mut self, apex: &Name) -> &mut RecordList {
        let list = || RecordList {
            records: Vec::new(),
        };
        self.records.entry(apex.clone()).or_insert_with(list)
    }

    fn put(&mut self, apex: &Name, key: &RrsetKey) {
        let Some(best) = self.best(key).cloned() else {
            return;
        };
        let list = self.list(apex);
        for rdata in best.rdata {
            list.add(&key.0, key.1, best.ttl, rdata);
        }
    }

    /// Puts data into the zones that they are of. Of addresses that only additional sections had, those of zones with servers
    /// go there as well.
    fn put_data(&mut self) {
        let seen = self.seen;
        let hearsay = seen.hearsay.keys();
        let addresses = hearsay.filter(|(_, rtype)| *rtype != Rtype::NS);
        let unsaid = addresses.filter(|key| !seen.authoritative.contains_key(*key));
        for key in seen.authoritative.keys().chain(unsaid) {
            if self.is_cancelled() {
                return;
            }
            let (owner, rtype) = key;
            let apex = self.zone_of(owner);
            let is_cut = *owner == apex && owner.label_count() > 1;
            match *rtype {
                // Delegations are made of the zones below; DS records are those of the keys made anew.
                Rtype::NS | Rtype::DS | Rtype::NSEC3PARAM if is_cut => {}
                // That of a zone that nobody serves, whose data are taken for the zone's above.
                Rtype::SOA if *owner != apex => {}
                _ if self.servers.contains_key(&apex) => self.put(&apex, key),
                _ => {}
            }
        }
    }

    /// Keeps names existing that had an empty answer and have nothing at or below them.
    fn put_existing(&mut self) {
        let seen = self.seen;
        let mut owners: BTreeMap<Name, Owners> = BTreeMap::new();
        for (apex, list) in &self.records {
            if self.is_cancelled() {
                return;
            }
            let of_zone = owners.entry(apex.clone()).or_default();
            list.records.iter().for_each(|one| of_zone.add(&one.owner));
        }
        for name in &seen.existing {
            if self.is_cancelled() {
                return;
            }
            let apex = self.zone_of(name);
            let of_zone = owners.entry(apex.clone()).or_default();
            let is_served = self.servers.contains_key(&apex) && *name != apex;
            let has_cut = self.cuts.range(name.clone()..).next();
            let has_cut = has_cut.is_some_and(|cut| cut.ends_with(name));
            if is_served && !has_cut && !of_zone.have(name, &apex) {
                of_zone.add(name);
                self.list(&apex)
                    .add(name, PLACEHOLDER, COMPLETED_TTL_S, Vec::new());
            }
        }
    }

    /// The names of a zone's servers; for servers without a known name one is made up, with its address in the root's zone.
    fn names_for(&mut self, apex: &Name) -> Vec<Name> {
        let known = self.name_servers(apex);
        // Of the root, resolvers have to know addresses as well.
        let is_usable =
            apex.label_count() > 1 || known.iter().any(|name| !self.addresses_of(name).is_empty());
        if !known.is_empty() && is_usable {
            return known;
        }
        self.ns_made += 1;
        let addresses: Vec<IpAddr> = self.servers[apex].iter().copied().collect();
        let mut names = BTreeSet::new();
        for address in addresses {
            let name = match self.names.get(&address) {
                Some(name) => name.clone(),
                None => self.invent(address),
            };
            names.insert(name);
        }
        names.into_iter().collect()
    }

    fn invent(&mut self, address: IpAddr) -> Name {
        let label = address.to_string().replace(['.', ':'], "-");
        let tree = crate::wire::below(&[b"servers", b"invalid"], &Name::root_bytes());
        let name = child(format!("ns-{label}").as_bytes(), &tree);
        let root = Name::root_bytes();
        let list = self.list(&root);
        match address {
            IpAddr::V4(ipv4) => list.addresses(&name, COMPLETED_TTL_S, ipv4, None),
            IpAddr::V6(ipv6) => {
                let rdata = ipv6.octets().to_vec();
                list.add(&name, Rtype::AAAA, COMPLETED_TTL_S, rdata);
            }
        }
        self.names.insert(address, name.clone());
        name
    }

    /// Gives each zone an SOA record and an NS RRset.
    fn complete_apexes(&mut self) {
        for apex in self.servers.keys().cloned().collect::<Vec<_>>() {
            let names = self.names_for(&apex);
            let ns = self.best(&(apex.clone(), Rtype::NS));
            let ttl = ns.map_or(COMPLETED_TTL_S, |ns| ns.ttl);
            if apex.label_count() == 1 {
                self.put_root_addresses(&names);
            }
            let list = self.list(&apex);
            let has_soa = list
                .records
                .iter()
                .any(|one| one.rtype == Rtype::SOA && one.owner == apex);
            list.records
                .retain(|one| one.rtype != Rtype::NS || one.owner != apex);
            for name in &names {
                list.name(&apex, Rtype::NS, ttl, name);
            }
            if !has_soa {
                list.soa(&apex, &names[0], 1, COMPLETED_TTL_S);
                self.soa_made += 1;
            }
        }
    }

    /// Puts the addresses of the root's servers into its zone, where resolvers that prime look for them (RFC 9609).
    fn put_root_addresses(&mut self, names: &[Name]) {
        let root = Name::root_bytes();
        for name in names
            .iter()
            .filter(|name| self.zone_of(name) != root)
            .cloned()
            .collect::<Vec<_>>()
        {
            for rtype in [Rtype::A, Rtype::AAAA] {
                self.put(&root, &(name.clone(), rtype));
            }
        }
    }

    /// Delegates each zone from the one above, with the addresses of servers that are in that.
    fn put_delegations(&mut self) {
        let cuts: Vec<Name> = self
            .cuts
            .iter()
            .filter(|apex| apex.label_count() > 1)
            .cloned()
            .collect();
        for apex in cuts {
            if self.is_cancelled() {
                return;
            }
            let parent = self.parent_of(&apex);
            if !self.servers.contains_key(&parent) {
                continue;
            }
            let names = match self.servers.contains_key(&apex) {
                true => self.names_for(&apex),
                false => self.name_servers(&apex),
            };
            // What the zone above says has the TTL that resolvers see first.
            let key = (apex.clone(), Rtype::NS);
            let said = self.seen.hearsay.get(&key).and_then(Variants::best);
            let ttl = said.map_or(COMPLETED_TTL_S, |said| said.ttl);
            for name in &names {
                self.list(&parent).name(&apex, Rtype::NS, ttl, name);
                let is_glue = name.ends_with(&parent) && self.zone_of(name) != parent;
                for rtype in [Rtype::A, Rtype::AAAA] {
                    if is_glue {
                        self.put(&parent, &(name.clone(), rtype));
                    }
                }
            }
        }
    }

    fn finish(mut self, without_server: u64) -> Reconstruction {
        let all = self
            .seen
            .authoritative
            .values()
            .chain(self.seen.hearsay.values());
        let left_out = all.clone().map(|variants| variants.left_out).sum();
        let conflicts = all.filter(|variants| variants.is_conflict()).count() as u64;
        let mut zones = Vec::new();
        for (apex, mut list) in std::mem::take(&mut self.records) {
            if self.is_cancelled() {
                break;
            }
            drop_aliases(&mut list.records);
            let Some(servers) = self.servers.remove(&apex) else {
                continue;
            };
            let is_secure = apex.label_count() == 1
                || self
                    .seen
                    .authoritative
                    .contains_key(&(apex.clone(), Rtype::DS));
            zones.push(RebuiltZone {
                algorithm: self.algorithm(&apex),
                is_secure,
                nsec3: self.seen.nsec3.get(&apex).copied(),
                zone: Zone::new(apex, alike(list.records)),
                servers,
            });
        }
        Reconstruction {
            zones,
            conflicts,
            left_out,
            soa_made: self.soa_made,
            ns_made: self.ns_made,
            without_server,
        }
    }

    /// The most frequent algorithm of a zone's signatures; of a zone none of whose were seen, that which its DS records name.
    fn algorithm(&self, apex: &Name) -> Option<Algorithm> {
        let signed = self.seen.algorithms.get(apex);
        let most = signed.and_then(|counts| counts.iter().max_by_key(|(_, count)| **count));
        let number = match most {
            Some((number, _)) => *number,
            None => self.delegated_algorithm(apex)?,
        };
        let mut all = Algorithm::ALL.into_iter();
        let same = all.find(|one| one.number() == number && !one.is_sha1());
        Some(same.unwrap_or(Algorithm::EcdsaP256Sha256))
    }

    /// The algorithm in the first DS record of a zone (RFC 4034 section 5.1).
    fn delegated_algorithm(&self, apex: &Name) -> Option<u8> {
        let delegated = self.seen.authoritative.get(&(apex.clone(), Rtype::DS))?;
        delegated.best()?.rdata.first()?.get(2).copied()
    }
}

/// Drops aliases of names that have other data, as a name that changed meanwhile may (RFC 1034 section 3.6.2).
fn drop_aliases(records: &mut Vec<Record>) {
    let others = records.iter().filter(|one| one.rtype != Rtype::CNAME);
    let others: BTreeSet<Name> = others.map(|one| one.owner.clone()).collect();
    records.retain(|one| one.rtype != Rtype::CNAME || !others.contains(&one.owner));
}

/// Gives all records of an RRset the longest of their TTLs (RFC 2181 section 5.2): some may be from elsewhere.
fn alike(mut records: Vec<Record>) -> Vec<Record> {
    let mut ttls: HashMap<RrsetKey, u32> = HashMap::new();
    for record in &records {
        let ttl = ttls
            .entry((record.owner.clone(), record.rtype))
            .or_default();
        *ttl = record.ttl.max(*ttl);
    }
    for record in &mut records {
        record.class = Class::IN;
        record.ttl = ttls[&(record.owner.clone(), record.rtype)];
    }
    records
}

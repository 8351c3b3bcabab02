//! Making the zones of the Internet, or the part of one that an answer needs.

use crate::InternetError;
use crate::chain::{Nsec3, nsec_chain, nsec3_chain};
use crate::content::{Filling, negative_ttl};
use crate::excerpt::{Excerpt, Validity};
use crate::hosting::Hosting;
use crate::internet::{Internet, ROOT_NUMBER};
use crate::keys::{KeyKind, KeyMaker, ZoneNumber, ds_of};
use crate::random::{Draws, Purpose};
use crate::registry::{Delegation, Gap};
use crate::reverse::ReverseZone;
use crate::wire::{RecordList, child};
use dnsrig_zone::{Name, Zone};
use domain::base::iana::Rtype;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The `part` of operators' zones among zone numbers.
const OPERATORS: u64 = u64::MAX - 1;
/// TTL of DNSKEY RRsets of the root and registries, in seconds.
pub(crate) const REGISTRY_DNSKEY_TTL_S: u32 = 86_400;
/// TTL of the root's and registries' own NS RRsets, in seconds.
pub(crate) const REGISTRY_NS_TTL_S: u32 = 86_400;

/// A zone, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExcerptKey {
    Root,
    Registry(u32, Part),
    Domain(u32, u64),
    Operator(u32),
    Reverse(ReverseZone),
}

/// A part of a registry's zone; the apex is in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Apex,
    /// With NSEC: the delegation before a gap, and the denial of what is in the gap.
    Gap(Gap),
    /// One delegation.
    Delegation(Delegation),
    /// With NSEC3: the denial of what is between two hashes.
    Slot(u32),
}

/// The name and the addresses of a server that is in the zone that it serves.
pub(crate) type Glue = (Name, Ipv4Addr, Option<Ipv6Addr>);

/// How a zone of records is signed.
pub(crate) struct WholeSigning {
    pub number: ZoneNumber,
    pub keys: KeyKind,
    pub nsec3: Option<Nsec3>,
    pub dnskey_ttl_s: u32,
    pub negative_ttl_s: u32,
}

impl Internet {
    /// The excerpt, made if it is not known.
    pub(crate) fn excerpt(&self, key: ExcerptKey) -> Result<Arc<Excerpt>, InternetError> {
        let known = match key {
            ExcerptKey::Root => self.root.get().cloned(),
            _ => self.excerpts.get(&key),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Arc::new(match key {
            ExcerptKey::Root => self.make_root()?,
            ExcerptKey::Registry(number, part) => {
                self.make_registry(&self.registries[number as usize], part)?
            }
            ExcerptKey::Domain(registry, index) => self.make_domain(registry, index)?,
            ExcerptKey::Operator(zone) => self.make_operator(zone)?,
            ExcerptKey::Reverse(zone) => self.make_reverse(zone)?,
        });
        self.zones_made.fetch_add(1, Ordering::Relaxed);
        if key == ExcerptKey::Root {
            return Ok(Arc::clone(self.root.get_or_init(|| made)));
        }
        self.excerpts.put(key, Arc::clone(&made), made.octets);
        Ok(made)
    }

    fn make_root(&self) -> Result<Excerpt, InternetError> {
        let root = Name::root_bytes();
        let profile = &self.profile.root;
        let mut list = RecordList::new();
        let servers = self.servers.of_set(self.root_set);
        list.soa(
            &root,
            &servers[0].name,
            2_022_120_100,
            profile.negative_ttl_s,
        );
        for server in servers {
            list.name(&root, Rtype::NS, REGISTRY_NS_TTL_S * 6, &server.name);
            list.addresses(
                &server.name,
                REGISTRY_NS_TTL_S * 6,
                server.ipv4,
                server.ipv6,
            );
        }
        for registry in self.registries.iter().filter(|one| one.depth == 1) {
            for server in self.servers.of_set(registry.set) {
                list.name(&registry.name, Rtype::NS, profile.ns_ttl_s, &server.name);
                list.addresses(&server.name, profile.ns_ttl_s, server.ipv4, server.ipv6);
            }
            if let (Some(signing), Some(_)) = (&registry.signing, &self.root_signing) {
                let algorithm = signing.keys.algorithm;
                let ksk = self
                    .keys
                    .ksk(&registry.name, registry.zone_number(), algorithm)?;
                list.records.push(ds_of(&ksk, profile.ds_ttl_s));
            }
        }
        self.put_arpa(&mut list)?;
        let signing = self.root_signing.as_ref().map(|signing| WholeSigning {
            number: ROOT_NUMBER,
            keys: signing.keys,
            nsec3: signing.nsec3.clone(),
            dnskey_ttl_s: 2 * REGISTRY_DNSKEY_TTL_S,
            negative_ttl_s: profile.negative_ttl_s,
        });
        self.whole_zone(root, list, signing)
    }

    /// A zone whose records are all in `list`, signed if wanted.
    pub(crate) fn whole_zone(
        &self,
        apex: Name,
        list: RecordList,
        signing: Option<WholeSigning>,
    ) -> Result<Excerpt, InternetError> {
        whole_zone(&self.keys, self.validity, apex, list, signing)
    }

    /// The name servers of a domain, and the addresses of those that are in it.
    pub(crate) fn name_servers(
        &self,
        part: u64,
        index: u64,
        domain: &Name,
    ) -> (Vec<Name>, Vec<Glue>) {
        match self.hosting.of(part, index) {
            Hosting::Operator(set) => {
                let servers = self.servers.of_set(set).iter();
                (
                    servers.map(|server| server.name.clone()).collect(),
                    Vec::new(),
                )
            }
            Hosting::Own(count) => {
                let glue = (0..count).map(|server| {
                    let name = child(format!("ns{}", server + 1).as_bytes(), domain);
                    let (_, ipv4, ipv6) = self.servers.own_server(part, index, server);
                    (name, ipv4, ipv6)
                });
                let glue: Vec<Glue> = glue.collect();
                (glue.iter().map(|(name, _, _)| name.clone()).collect(), glue)
            }
        }
    }

    pub(crate) fn domain_number(&self, part: u64, index: u64) -> (ZoneNumber, KeyKind) {
        (ZoneNumber { part, index }, self.key_kind(part, index))
    }

    pub(crate) fn operator_number(&self, zone: u32) -> (ZoneNumber, KeyKind) {
        let index = zone.into();
        let part = OPERATORS;
        (ZoneNumber { part, index }, self.key_kind(part, index))
    }

    pub(crate) fn key_kind(&self, part: u64, index: u64) -> KeyKind {
        let signing = &self.profile.signing;
        let mut draws = Draws::new(self.options.seed, Purpose::Signing, part, index);
        let weights = signing.algorithms.iter().map(|one| one.weight);
        let place = draws.weighted(weights);
        // The profile was checked, so that its algorithms are known.
        let algorithm = signing.algorithms[place].algorithm.parse();
        KeyKind {
            algorithm: algorithm.unwrap_or(dnsrig_sign::Algorithm::EcdsaP256Sha256),
            is_single: draws.chance(signing.single_key_share),
        }
    }

    /// How the zone of a domain is signed, if it is.
    pub(crate) fn domain_signing(
        &self,
        number: ZoneNumber,
        keys: KeyKind,
        is_secure: bool,
    ) -> Option<WholeSigning> {
        let signing = &self.profile.signing;
        let seed = self.options.seed;
        let mut draws = Draws::new(seed, Purpose::Signing, !number.part, number.index);
        let is_signed = is_secure || draws.chance(signing.without_ds_share);
        let has_nsec3 = draws.chance(signing.nsec3_share);
        let weights = signing.nsec3_iterations.iter().map(|one| one.weight);
        let iterations = signing.nsec3_iterations[draws.weighted(weights)].iterations;
        is_signed.then(|| WholeSigning {
            number,
            keys,
            nsec3: has_nsec3.then(|| Nsec3::new(iterations, false)),
            dnskey_ttl_s: signing.dnskey_ttl_s,
            negative_ttl_s: negative_ttl(seed, number.part, number.index, &self.profile.zones),
        })
    }

    fn make_domain(&self, registry: u32, index: u64) -> Result<Excerpt, InternetError> {
        let registry = &self.registries[registry as usize];
        let apex = registry.domain_name(index);
        let part = registry.number;
        let (name_servers, own) = self.name_servers(part, index, &apex);
        let mut draws = Draws::new(self.options.seed, Purpose::Content, !part, index);
        let content_network = *draws.pick(&self.content_networks);
        let list = Filling {
            seed: self.options.seed,
            zones: &self.profile.zones,
            servers: &self.servers,
            apex: &apex,
            part,
            index,
            name_servers: &name_servers,
            own: &own,
            content_network: self.operators[content_network as usize].name.clone(),
        }
        .domain();
        let (number, kind) = self.domain_number(part, index);
        let is_secure = registry.is_secure(Delegation::Domain(index));
        let signing = self.domain_signing(number, kind, is_secure);
        self.whole_zone(apex, list, signing)
    }

    fn make_operator(&self, zone: u32) -> Result<Excerpt, InternetError> {
        let operator = &self.operators[zone as usize];
        let of_set = |set| self.servers.of_set(set);
        let name_servers: Vec<Name> = of_set(operator.sets[0])
            .iter()
            .map(|server| server.name.clone())
            .collect();
        let all = operator.sets.iter().flat_map(|set| of_set(*set));
        let own: Vec<Glue> = all
            .map(|server| (server.name.clone(), server.ipv4, server.ipv6))
            .collect();
        let delivery = operator
            .delivery
            .map(|zone| &self.operators[zone as usize].name);
        let list = Filling {
            seed: self.options.seed,
            zones: &self.profile.zones,
            servers: &self.servers,
            apex: &operator.name,
            part: OPERATORS,
            index: zone.into(),
            name_servers: &name_servers,
            own: &own,
            content_network: operator.name.clone(),
        }
        .operator(delivery);
        let (number, kind) = self.operator_number(zone);
        let registry = &self.registries[operator.registry as usize];
        let is_secure = registry.is_secure(Delegation::Operator(zone));
        let signing = self.domain_signing(number, kind, is_secure);
        self.whole_zone(operator.name.clone(), list, signing)
    }
}

/// A zone whose records are all in `list`, signed if wanted.
pub(crate) fn whole_zone(
    keys: &KeyMaker,
    validity: Validity,
    apex: Name,
    mut list: RecordList,
    signing: Option<WholeSigning>,
) -> Result<Excerpt, InternetError> {
    let Some(signing) = signing else {
        return Excerpt::unsigned(Zone::new(apex, list.records));
    };
    let keys = keys.keys(&apex, signing.number, signing.keys)?;
    list.records.extend(keys.dnskeys(signing.dnskey_ttl_s));
    if let Some(nsec3) = &signing.nsec3 {
        list.add(&apex, Rtype::NSEC3PARAM, 0, nsec3.param_rdata());
    }
    let unchained = Zone::new(apex.clone(), list.records);
    let chain = match &signing.nsec3 {
        None => nsec_chain(&unchained, signing.negative_ttl_s),
        Some(nsec3) => nsec3_chain(&unchained, nsec3, signing.negative_ttl_s),
    };
    let records = [unchained.records(), &chain].concat();
    Excerpt::signed(Zone::new(apex, records), Arc::new(keys), validity)
}

//! The names of addresses: arpa, in-addr.arpa (RFC 1035 section 3.5), ip6.arpa (RFC 3596 section 2.5), and the zones of networks
//! below them. They are made as wholes: none has more than 256 names, but the one of the name servers' IPv6 addresses.

use crate::InternetError;
use crate::answer::label;
use crate::build::signing_of;
use crate::content::POOL_LABEL;
use crate::excerpt::Excerpt;
use crate::internet::Internet;
use crate::keys::{ZoneNumber, ds_of};
use crate::profile::{Addresses, Reverse as ReverseProfile};
use crate::random::{Draws, Purpose, at, unit};
use crate::servers::{ServerTable, SetId};
use crate::wire::{RecordList, below, child};
use crate::zones::{REGISTRY_DNSKEY_TTL_S, REGISTRY_NS_TTL_S, WholeSigning};
use dnsrig_sign::Algorithm;
use dnsrig_zone::Name;
use dnsrig_zone::lookup::LookupName;
use domain::base::iana::Rtype;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The `part` of these zones among zone numbers.
const REVERSE: u64 = u64::MAX - 2;
/// The first and the last octet of addresses that are delegated: neither 0/8 nor multicast.
const FIRST_OCTETS: std::ops::RangeInclusive<u32> = 1..=223;
/// Labels of in-addr.arpa and ip6.arpa.
const TREE_DEPTH: usize = 2;
const SERIAL: u32 = 2_022_110_100;

/// Who serves the tree.
#[derive(Clone, Debug)]
pub(crate) struct ReverseSets {
    pub arpa: SetId,
    /// in-addr.arpa and ip6.arpa.
    pub tree: SetId,
    /// The zones of one octet.
    pub registries: Vec<SetId>,
}

/// A zone of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReverseZone {
    Arpa,
    /// The network of the first `octets` octets, 0 to 3; `prefix` is the number that they write.
    V4 {
        octets: u8,
        prefix: u32,
    },
    /// ip6.arpa.
    V6,
    /// The network of the name servers.
    V6Servers,
}

/// What of the tree there is.
#[derive(Debug)]
pub(crate) struct ReverseTree {
    seed: u64,
    profile: ReverseProfile,
    sets: ReverseSets,
    /// The addresses of name servers, from the first to the last.
    servers: (u32, u32),
    v6_apex: Option<Name>,
}

/// The name of an IPv4 address in in-addr.arpa.
pub(crate) fn address_name(address: Ipv4Addr) -> Name {
    network_name(address.to_bits(), 4)
}

/// The name of the network of the first `octets` octets of an address.
fn network_name(prefix: u32, octets: u8) -> Name {
    let tree = below(&[b"in-addr", b"arpa"], &Name::root_bytes());
    (0..octets).rev().fold(tree, |name, place| {
        let octet = prefix >> (8 * u32::from(place)) & 0xff;
        child(octet.to_string().as_bytes(), &name)
    })
}

/// The name of the first `nibbles` half-octets of an address in ip6.arpa.
fn nibbles_name(address: Ipv6Addr, nibbles: u32) -> Name {
    let tree = below(&[b"ip6", b"arpa"], &Name::root_bytes());
    (0..nibbles).fold(tree, |name, place| {
        let nibble = (address.to_bits() >> (124 - 4 * place)) as u32 & 0xf;
        let digit = char::from_digit(nibble, 16).unwrap_or('0');
        child(digit.to_string().as_bytes(), &name)
    })
}

/// The octet that a label writes: decimal, without zeros in front.
fn octet(label: &[u8]) -> Option<u32> {
    let is_plain = label.iter().all(u8::is_ascii_digit) && (label == b"0" || label[0] != b'0');
    let number: u32 = std::str::from_utf8(label).ok()?.parse().ok()?;
    (is_plain && number < 256).then_some(number)
}

impl ReverseTree {
    pub fn new(
        seed: u64,
        profile: &ReverseProfile,
        sets: ReverseSets,
        addresses: &Addresses,
        servers: &ServerTable,
    ) -> Self {
        let all = servers.servers();
        let bits = |place: Option<&crate::NameServer>| place.map_or(0, |one| one.ipv4.to_bits());
        let has_ipv6 = all.iter().any(|server| server.ipv6.is_some());
        let nibbles = u32::from(addresses.ipv6_length) / 4;
        Self {
            seed,
            profile: profile.clone(),
            sets,
            servers: (bits(all.first()), bits(all.last())),
            v6_apex: has_ipv6.then(|| nibbles_name(addresses.ipv6, nibbles)),
        }
    }

    /// Labels of a zone's name.
    pub fn depth(&self, zone: ReverseZone) -> usize {
        match zone {
            ReverseZone::Arpa => 1,
            ReverseZone::V4 { octets, .. } => TREE_DEPTH + usize::from(octets),
            ReverseZone::V6 => TREE_DEPTH,
            ReverseZone::V6Servers => self
                .v6_apex
                .as_ref()
                .map_or(0, |name| name.label_count() - 1),
        }
    }

    /// Gives the zones that a name is in, those above first; none if it is not in arpa.
    pub fn walk(&self, name: &LookupName, mut give: impl FnMut(ReverseZone)) {
        if label(name, 1) != Some(b"arpa") {
            return;
        }
        give(ReverseZone::Arpa);
        match label(name, TREE_DEPTH) {
            Some(b"in-addr") => {
                let mut prefix = 0;
                give(ReverseZone::V4 { octets: 0, prefix });
                for octets in 1..=3 {
                    let label = label(name, TREE_DEPTH + usize::from(octets));
                    let Some(octet) = label.and_then(octet) else {
                        return;
                    };
                    prefix = prefix << 8 | octet;
                    if !self.is_delegated(octets, prefix) {
                        return;
                    }
                    give(ReverseZone::V4 { octets, prefix });
                }
            }
            Some(b"ip6") => {
                give(ReverseZone::V6);
                let depth = self.depth(ReverseZone::V6Servers);
                let is_below =
                    |apex: &Name| name.labels() >= depth && name.suffix(depth) == apex.as_slice();
                if self.v6_apex.as_ref().is_some_and(is_below) {
                    give(ReverseZone::V6Servers);
                }
            }
            _ => {}
        }
    }

    /// Whether the network of the first `octets` octets has a zone, if the one above has.
    fn is_delegated(&self, octets: u8, prefix: u32) -> bool {
        let share = match octets {
            1 => return FIRST_OCTETS.contains(&prefix),
            2 => self.profile.delegated_share,
            _ => self.profile.assigned_share,
        };
        // Name servers have names.
        let shift = 32 - 8 * u32::from(octets);
        let (first, last) = self.servers;
        let of_servers = (first >> shift..=last >> shift).contains(&prefix);
        let bits = at(self.seed, Purpose::Reverse, octets.into(), prefix.into());
        of_servers || unit(bits) < share
    }

    /// Whether an operator's zone is signed: that of two octets and those below it are alike.
    fn is_signed(&self, octets: u8, prefix: u32) -> bool {
        let network = prefix >> (8 * u32::from(octets.saturating_sub(2)));
        let bits = at(self.seed, Purpose::Reverse, 5, network.into());
        unit(bits) < self.profile.signed_share
    }
}

impl Internet {
    /// The servers of a zone of the tree.
    pub(crate) fn reverse_set(&self, zone: ReverseZone) -> Option<SetId> {
        let tree = self.reverse.as_ref()?;
        Some(match zone {
            ReverseZone::Arpa => tree.sets.arpa,
            ReverseZone::V6 | ReverseZone::V4 { octets: 0, .. } => tree.sets.tree,
            ReverseZone::V4 { octets: 1, prefix } => {
                let mut draws = Draws::new(tree.seed, Purpose::Reverse, 6, prefix.into());
                *draws.pick(&tree.sets.registries)
            }
            // A network's servers are those of the larger network that it is in.
            ReverseZone::V4 { octets, prefix } => {
                let network = prefix >> (8 * u32::from(octets - 2));
                self.hosting.operator_of(REVERSE, network.into())
            }
            ReverseZone::V6Servers => self.hosting.operator_of(REVERSE, u64::MAX),
        })
    }

    fn reverse_name(&self, zone: ReverseZone) -> Name {
        let root = Name::root_bytes();
        match zone {
            ReverseZone::Arpa => child(b"arpa", &root),
            ReverseZone::V4 { octets, prefix } => network_name(prefix, octets),
            ReverseZone::V6 => below(&[b"ip6", b"arpa"], &root),
            ReverseZone::V6Servers => {
                let apex = self.reverse.as_ref().and_then(|tree| tree.v6_apex.clone());
                apex.unwrap_or(root)
            }
        }
    }

    /// How a zone of the tree is signed, if it is.
    fn reverse_signing(&self, zone: ReverseZone) -> Option<WholeSigning> {
        let tree = self.reverse.as_ref()?;
        // The root's delegation has a DS record only if the root is signed; without one there is no use in signatures below.
        self.root_signing.as_ref()?;
        let registry = signing_of(&tree.profile.registry)?;
        let index = match zone {
            ReverseZone::Arpa => 0,
            ReverseZone::V6 => 1,
            ReverseZone::V6Servers => 2,
            ReverseZone::V4 { octets, prefix } => u64::from(octets + 1) << 32 | u64::from(prefix),
        };
        let part = REVERSE;
        let number = ZoneNumber { part, index };
        match zone {
            ReverseZone::V4 { octets, prefix } if octets > 1 => {
                let keys = self.key_kind(part, index);
                let is_signed = tree.is_signed(octets, prefix);
                is_signed.then(|| self.domain_signing(number, keys, true))?
            }
            _ => Some(WholeSigning {
                number,
                keys: registry.keys,
                nsec3: registry.nsec3,
                dnskey_ttl_s: REGISTRY_DNSKEY_TTL_S,
                negative_ttl_s: tree.profile.registry.negative_ttl_s,
            }),
        }
    }

    /// Adds the delegation of arpa to the root's records, if there is an arpa.
    pub(crate) fn put_arpa(&self, list: &mut RecordList) -> Result<(), InternetError> {
        let Some(set) = self.reverse_set(ReverseZone::Arpa) else {
            return Ok(());
        };
        let ttl_s = self.profile.root.ns_ttl_s;
        for server in self.servers.of_set(set) {
            list.addresses(&server.name, ttl_s, server.ipv4, server.ipv6);
        }
        self.put_network(list, ReverseZone::Arpa, ttl_s, self.profile.root.ds_ttl_s)
    }

    /// Adds the delegation of a zone of the tree; its servers' names are elsewhere.
    fn put_network(
        &self,
        list: &mut RecordList,
        zone: ReverseZone,
        ns_ttl_s: u32,
        ds_ttl_s: u32,
    ) -> Result<(), InternetError> {
        let name = self.reverse_name(zone);
        let Some(set) = self.reverse_set(zone) else {
            return Ok(());
        };
        for server in self.servers.of_set(set) {
            list.name(&name, Rtype::NS, ns_ttl_s, &server.name);
        }
        if let Some(signing) = self.reverse_signing(zone) {
            let algorithm: Algorithm = signing.keys.algorithm;
            let ksk = self.keys.ksk(&name, signing.number, algorithm)?;
            list.records.push(ds_of(&ksk, ds_ttl_s));
        }
        Ok(())
    }

    /// The zones that a zone of the tree delegates.
    fn networks_below(&self, tree: &ReverseTree, zone: ReverseZone) -> Vec<ReverseZone> {
        let top = ReverseZone::V4 {
            octets: 0,
            prefix: 0,
        };
        match zone {
            ReverseZone::Arpa => vec![top, ReverseZone::V6],
            ReverseZone::V6 => tree
                .v6_apex
                .iter()
                .map(|_| ReverseZone::V6Servers)
                .collect(),
            ReverseZone::V4 { octets, prefix } if octets < 3 => {
                let octets = octets + 1;
                let all = (0..256).map(|octet| prefix << 8 | octet);
                all.filter(|&prefix| tree.is_delegated(octets, prefix))
                    .map(|prefix| ReverseZone::V4 { octets, prefix })
                    .collect()
            }
            ReverseZone::V4 { .. } | ReverseZone::V6Servers => Vec::new(),
        }
    }

    pub(crate) fn make_reverse(&self, zone: ReverseZone) -> Result<Excerpt, InternetError> {
        let apex = self.reverse_name(zone);
        let mut list = RecordList::new();
        if let (Some(tree), Some(set)) = (&self.reverse, self.reverse_set(zone)) {
            let profile = &tree.profile.registry;
            let servers = self.servers.of_set(set);
            list.soa(&apex, &servers[0].name, SERIAL, profile.negative_ttl_s);
            for server in servers {
                list.name(&apex, Rtype::NS, REGISTRY_NS_TTL_S, &server.name);
            }
            for network in self.networks_below(tree, zone) {
                self.put_network(&mut list, network, profile.ns_ttl_s, profile.ds_ttl_s)?;
            }
            self.put_names(&mut list, tree, zone);
        }
        self.whole_zone(apex, list, self.reverse_signing(zone))
    }

    /// Adds the PTR records of a zone that has some: name servers have their names, the other addresses one in the pool of the
    /// network's operator.
    fn put_names(&self, list: &mut RecordList, tree: &ReverseTree, zone: ReverseZone) {
        let ttl_s = tree.profile.ptr_ttl_s;
        if zone == ReverseZone::V6Servers {
            for server in self.servers.servers() {
                if let Some(ipv6) = server.ipv6 {
                    let owner = nibbles_name(ipv6, 32);
                    list.name(&owner, Rtype::PTR, ttl_s, &server.name);
                }
            }
        }
        let ReverseZone::V4 { octets: 3, prefix } = zone else {
            return;
        };
        let Some(set) = self.reverse_set(zone) else {
            return;
        };
        let operator = self.operators.iter().find(|one| one.sets.contains(&set));
        for last in 0..256 {
            let address = Ipv4Addr::from_bits(prefix << 8 | last);
            let bits = at(tree.seed, Purpose::Reverse, 4, address.to_bits().into());
            let owner = address_name(address);
            let server = match self.servers.at(IpAddr::V4(address)) {
                Some(crate::ServerId::Listed(number)) => {
                    self.servers.servers().get(number as usize)
                }
                _ => None,
            };
            if let Some(server) = server {
                list.name(&owner, Rtype::PTR, ttl_s, &server.name);
            } else if let Some(operator) = operator
                && unit(bits) < tree.profile.named_share
            {
                let host = address.to_string().replace('.', "-");
                let target = below(&[host.as_bytes(), POOL_LABEL], &operator.name);
                list.name(&owner, Rtype::PTR, ttl_s, &target);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_addresses() {
        let of_v4 = address_name(Ipv4Addr::new(198, 18, 0, 7));
        assert_eq!(of_v4.to_string(), "7.0.18.198.in-addr.arpa");
        let of_v6 = nibbles_name("2001:2::".parse().unwrap(), 12);
        assert_eq!(of_v6.to_string(), "0.0.0.0.2.0.0.0.1.0.0.2.ip6.arpa");
        assert_eq!(network_name(0xc6, 1).to_string(), "198.in-addr.arpa");
    }

    #[test]
    fn labels_that_are_octets() {
        let read = [
            &b"0"[..],
            b"7",
            b"255",
            b"256",
            b"07",
            b"",
            b"1a",
            b"+1",
            b"-",
        ]
        .map(|label| match label {
            [] => None,
            label => octet(label),
        });
        let expected = [
            Some(0),
            Some(7),
            Some(255),
            None,
            None,
            None,
            None,
            None,
            None,
        ];
        assert_eq!(read, expected);
    }
}

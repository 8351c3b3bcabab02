//! Who serves which zone.

use super::complete::Builder;
use dnsrig_zone::Name;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Zones that each server is known to have, or not to have.
type ZonesByServer = BTreeMap<IpAddr, BTreeSet<Name>>;

/// Whether one of a server's zones is `apex` or below it.
fn is_within(zones: &ZonesByServer, server: IpAddr, apex: &Name) -> bool {
    let next = zones
        .get(&server)
        .and_then(|zones| zones.range(apex.clone()..).next());
    next.is_some_and(|next| next.ends_with(apex))
}

/// Whether `apex` itself is one of a server's zones.
fn contains(zones: &ZonesByServer, server: IpAddr, apex: &Name) -> bool {
    zones.get(&server).is_some_and(|zones| zones.contains(apex))
}

/// Whether a server can be asked at an address from anywhere: capture files have others too, and so have zones.
///
/// Those of the loopback device can be served, if a resolver asks them.
pub(super) fn can_serve(address: &IpAddr) -> bool {
    match address {
        // 240.0.0.0/4 is reserved and has the broadcast address (RFC 1112 section 4).
        IpAddr::V4(ipv4) => ipv4.octets()[0] != 0 && ipv4.octets()[0] < 224,
        IpAddr::V6(ipv6) => {
            let is_of_ipv4 = ipv6.to_ipv4().is_some() && !ipv6.is_loopback();
            !(ipv6.is_multicast() || ipv6.is_unicast_link_local() || is_of_ipv4)
        }
    }
}

impl Builder<'_> {
    /// A server serves what it answered for and the zone whose delegations it gave, unless it answered or refused for the zone
    /// that it referred to or one below: then it is a lame server that referred upwards. Of zones that some server was seen to
    /// serve so, those that their NS RRsets name serve them too, but for what they refused; and so they do where one of them
    /// answered for any other zone: resolvers content with glue do not ask the zone that name servers' names are in.
    pub fn find_servers(&mut self) {
        let mut answered = ZonesByServer::new();
        let answers = self.seen.answered.iter();
        for (server, name, is_of_parent) in answers.filter(|(server, ..)| can_serve(server)) {
            if self.is_cancelled() {
                return;
            }
            let is_apex = self.cuts.contains(name) && *name != Name::root_bytes();
            let zone = match *is_of_parent && is_apex {
                true => self.parent_of(name),
                false => self.zone_of(name),
            };
            answered.entry(*server).or_default().insert(zone);
        }
        let mut refused = ZonesByServer::new();
        for (server, name) in &self.seen.refused {
            let zone = self.zone_of(name);
            refused.entry(*server).or_default().insert(zone);
        }
        let referrals = self.seen.referred.iter();
        for (server, child) in referrals.filter(|(server, _)| can_serve(server)) {
            if self.is_cancelled() {
                return;
            }
            let is_lame = [&answered, &refused]
                .into_iter()
                .any(|zones| is_within(zones, *server, child));
            if !is_lame {
                let zone = self.parent_of(child);
                self.servers.entry(zone).or_default().insert(*server);
            }
        }
        for (server, zones) in &answered {
            for zone in zones {
                let servers = self.servers.entry(zone.clone()).or_default();
                servers.insert(*server);
            }
        }
        self.add_named_servers(&answered, &refused);
        self.add_other_addresses(&refused);
    }

    /// Adds the servers that the NS RRsets of zones name, and notes their names.
    fn add_named_servers(&mut self, answered: &ZonesByServer, refused: &ZonesByServer) {
        for apex in &self.cuts {
            if self.is_cancelled() {
                return;
            }
            let mut named = Vec::new();
            for name in self.name_servers(apex) {
                for address in self.addresses_of(&name) {
                    self.names.entry(address).or_insert_with(|| name.clone());
                    if !contains(refused, address, apex) {
                        named.push(address);
                    }
                }
            }
            let is_there = |address: &IpAddr| answered.contains_key(address);
            let is_served = self.servers.contains_key(apex);
            if is_served || apex.label_count() > 1 && named.iter().any(is_there) {
                self.servers.entry(apex.clone()).or_default().extend(named);
            }
        }
    }

    /// Zones whose NS RRset was not seen are going to be delegated to the names of the addresses that answered for them: all
    /// other addresses of these names serve them too, but for what they refused, and those of the names that these have in
    /// turn. A resolver that asks one is not referred back.
    fn add_other_addresses(&mut self, refused: &ZonesByServer) {
        let served: Vec<Name> = self.servers.keys().cloned().collect();
        for apex in served {
            if self.is_cancelled() {
                return;
            }
            if !self.name_servers(&apex).is_empty() {
                continue;
            }
            let servers = &self.servers[&apex];
            let mut known = servers.clone();
            let mut unseen: Vec<IpAddr> = servers.iter().copied().collect();
            while let Some(one) = unseen.pop() {
                let name = self.names.get(&one).into_iter();
                for other in name.flat_map(|name| self.addresses_of(name)) {
                    if !contains(refused, other, &apex) && known.insert(other) {
                        unseen.push(other);
                    }
                }
            }
            self.servers.insert(apex, known);
        }
    }
}

//! What is in the zones of second-level domains: made from the seed and the domain's number, the same every time.

use crate::profile::{WeightedTtl, Zones};
use crate::random::{Draws, Purpose, at};
use crate::servers::ServerTable;
use crate::wire::{RecordList, below, child};
use dnsrig_zone::Name;
use domain::base::iana::Rtype;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Hosts that domains have, the commonest first.
const HOSTS: [&str; 24] = [
    "mail", "ftp", "shop", "blog", "api", "m", "webmail", "dev", "vpn", "cdn", "static", "img",
    "test", "app", "portal", "remote", "smtp", "imap", "support", "status", "docs", "news",
    "stage", "git",
];
const ISSUERS: [&str; 4] = ["letsencrypt.org", "pki.goog", "digicert.com", "sectigo.com"];

/// What is below this label of a domain is an alias of what is below the domain.
pub(crate) const OLD_LABEL: &[u8] = b"old";
/// Names of operators' customers' addresses are below this label of their domains.
pub(crate) const POOL_LABEL: &[u8] = b"pool";

/// Which zone to fill.
pub(crate) struct Filling<'a> {
    pub seed: u64,
    pub zones: &'a Zones,
    pub servers: &'a ServerTable,
    /// Apex of the zone, and its numbers.
    pub apex: &'a Name,
    pub part: u64,
    pub index: u64,
    /// Its name servers.
    pub name_servers: &'a [Name],
    /// Addresses of those that are in the zone.
    pub own: &'a [(Name, Ipv4Addr, Option<Ipv6Addr>)],
    /// The domain of the network for content that www may lead to.
    pub content_network: Name,
}

fn pick_ttl(draws: &mut Draws, ttls: &[WeightedTtl]) -> u32 {
    let weights = ttls.iter().map(|ttl| ttl.weight);
    ttls[draws.weighted(weights)].ttl_s
}

/// The TTL of a domain's negative answers, in seconds.
pub(crate) fn negative_ttl(seed: u64, part: u64, index: u64, zones: &Zones) -> u32 {
    let mut draws = Draws::new(seed, Purpose::Serial, part, index);
    pick_ttl(&mut draws, &zones.negative_ttl_s)
}

impl Filling<'_> {
    fn soa_and_ns(&self, list: &mut RecordList, ttl: u32) {
        let bits = at(self.seed, Purpose::Serial, self.part, self.index);
        let serial = 2_022_010_100 + (bits % 36_500) as u32;
        let negative = negative_ttl(self.seed, self.part, self.index, self.zones);
        list.soa(self.apex, &self.name_servers[0], serial, negative);
        for server in self.name_servers {
            list.name(self.apex, Rtype::NS, ttl, server);
        }
        for (name, ipv4, ipv6) in self.own {
            list.addresses(name, ttl, *ipv4, *ipv6);
        }
    }

    fn host(
        &self,
        list: &mut RecordList,
        draws: &mut Draws,
        owner: &Name,
        ttl: u32,
    ) -> (Ipv4Addr, Option<Ipv6Addr>) {
        let ipv4 = self.servers.host_address(draws.next());
        let bits = draws.next();
        let ipv6 = draws
            .chance(self.zones.aaaa_share)
            .then(|| self.servers.host_address_v6(bits));
        list.addresses(owner, ttl, ipv4, ipv6);
        (ipv4, ipv6)
    }

    /// Whether the domain has HTTPS records: drawn apart, so that its other data do not depend on it.
    fn has_https(&self) -> bool {
        let mut drawn = Draws::new(self.seed, Purpose::Https, self.part, self.index);
        drawn.chance(self.zones.https_share)
    }

    /// The data of a customer's domain.
    pub fn domain(&self) -> RecordList {
        let zones = self.zones;
        let mut draws = Draws::new(self.seed, Purpose::Content, self.part, self.index);
        let mut list = RecordList::new();
        let ttl = pick_ttl(&mut draws, &zones.other_ttl_s);
        let address_ttl = pick_ttl(&mut draws, &zones.address_ttl_s);
        self.soa_and_ns(&mut list, ttl);
        let has_https = self.has_https();
        let (ipv4, ipv6) = self.host(&mut list, &mut draws, self.apex, address_ttl);
        if has_https {
            list.https(self.apex, address_ttl, ipv4, ipv6);
        }
        self.services(&mut list, &mut draws, ttl);
        let www = child(b"www", self.apex);
        if draws.chance(zones.content_network_share) {
            let customer = format!("c{}-{}", self.part, self.index);
            let target = below(&[customer.as_bytes(), b"map"], &self.content_network);
            list.name(&www, Rtype::CNAME, address_ttl, &target);
        } else if draws.chance(zones.cname_share) {
            list.name(&www, Rtype::CNAME, address_ttl, self.apex);
        } else {
            let (ipv4, ipv6) = self.host(&mut list, &mut draws, &www, address_ttl);
            if has_https {
                list.https(&www, address_ttl, ipv4, ipv6);
            }
        }
        self.further_hosts(&mut list, &mut draws, address_ttl);
        if draws.chance(zones.dname_share) {
            let old = child(OLD_LABEL, self.apex);
            list.name(&old, Rtype::DNAME, ttl, self.apex);
        }
        if draws.chance(zones.wildcard_share) {
            let wildcard = child(b"*", self.apex);
            self.host(&mut list, &mut draws, &wildcard, address_ttl);
        }
        list
    }

    fn services(&self, list: &mut RecordList, draws: &mut Draws, ttl: u32) {
        let (zones, apex) = (self.zones, self.apex);
        if draws.chance(zones.mx_share) {
            let exchanges = ["mx1", "mx2"].map(|label| child(label.as_bytes(), apex));
            for (place, exchange) in exchanges.iter().enumerate() {
                list.mx(apex, ttl, 10 * (1 + place as u16), exchange);
                self.host(list, draws, exchange, ttl);
            }
        }
        if draws.chance(zones.txt_share) {
            list.txt(apex, ttl, "v=spf1 mx -all");
            list.txt(&child(b"_dmarc", apex), ttl, "v=DMARC1; p=reject");
        }
        if draws.chance(zones.caa_share) {
            let issuer: &&str = draws.pick(&ISSUERS);
            list.caa(apex, ttl, issuer);
        }
        if draws.chance(zones.srv_share) {
            // _tcp is an empty non-terminal.
            let service = below(&[b"_sip", b"_tcp"], apex);
            let host = child(b"sip", apex);
            list.srv(&service, ttl, 5060, &host);
            self.host(list, draws, &host, ttl);
        }
    }

    /// Hosts beside www: their number is geometrically distributed around the mean.
    fn further_hosts(&self, list: &mut RecordList, draws: &mut Draws, ttl: u32) {
        let mean = self.zones.hosts;
        for label in HOSTS {
            if !draws.chance(mean / (1.0 + mean)) {
                break;
            }
            let owner = child(label.as_bytes(), self.apex);
            match draws.chance(self.zones.cname_share) {
                true => list.name(&owner, Rtype::CNAME, ttl, self.apex),
                false => {
                    self.host(list, draws, &owner, ttl);
                }
            }
        }
    }

    /// The data of an operator's domain; with `delivery`, of a network for content whose customers' names lead to there.
    pub fn operator(&self, delivery: Option<&Name>) -> RecordList {
        const DAY_S: u32 = 86_400;
        let mut draws = Draws::new(self.seed, Purpose::Content, self.part, self.index);
        let mut list = RecordList::new();
        self.soa_and_ns(&mut list, DAY_S);
        self.host(&mut list, &mut draws, self.apex, DAY_S);
        self.host(&mut list, &mut draws, &child(b"www", self.apex), DAY_S);
        let pool = below(&[b"*", POOL_LABEL], self.apex);
        self.host(&mut list, &mut draws, &pool, DAY_S);
        let Some(delivery) = delivery else {
            return list;
        };
        let ttl = self.zones.content_network_ttl_s;
        let customers = below(&[b"*", b"map"], self.apex);
        list.name(
            &customers,
            Rtype::CNAME,
            10 * ttl,
            &below(&[b"pop", b"edge"], delivery),
        );
        for label in [&b"pop"[..], b"*"] {
            let edge = below(&[label, b"edge"], self.apex);
            self.host(&mut list, &mut draws, &edge, ttl);
        }
        list
    }
}

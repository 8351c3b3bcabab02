//! Names to ask for: what clients of a resolver would want of the Internet.

use crate::content::OLD_LABEL;
use crate::internet::Internet;
use crate::random::{Draws, Purpose, unit};
use crate::reverse::address_name;
use crate::wire::{below, child};
use dnsrig_zone::Name;
use dnsrig_zone::splitmix::Permutation;
use domain::base::iana::Rtype;
use std::net::Ipv4Addr;

/// Types that clients ask for, with their weights.
const TYPES: [(Rtype, f64); 5] = [
    (Rtype::A, 0.62),
    (Rtype::AAAA, 0.28),
    (Rtype::TXT, 0.03),
    (Rtype::MX, 0.04),
    (Rtype::NS, 0.03),
];
/// Labels in front of domains, with their weights; none is the domain itself.
const HOSTS: [(&str, f64); 6] = [
    ("www", 0.45),
    ("", 0.3),
    ("mail", 0.06),
    ("api", 0.05),
    ("shop", 0.03),
    ("m", 0.03),
];

/// The mnemonic of a type, or TYPE and its number (RFC 3597 section 5).
pub fn type_name(rtype: u16) -> String {
    Rtype::from_int(rtype).to_string()
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
}

/// Questions for names of an Internet, as many as wanted; the same seed gives the same ones.
///
/// Domains are asked for by a Zipf law with exponent 1 over a popularity that the Internet's seed decides.
#[derive(Debug)]
pub struct QueryNames<'a> {
    internet: &'a Internet,
    popularity: Permutation,
    draws: Draws,
    missing_share: f64,
}

impl<'a> QueryNames<'a> {
    /// Questions of `seed`, of which `missing_share` are for names that do not exist.
    pub fn new(internet: &'a Internet, seed: u64, missing_share: f64) -> Self {
        Self {
            internet,
            popularity: internet.popularity(),
            draws: Draws::new(seed, Purpose::Popularity, 1, 0),
            missing_share,
        }
    }

    /// A question for the name of an address, in the share of cases that the profile says: half of them of name servers.
    fn address(&mut self) -> Option<Asked> {
        let internet = self.internet;
        let share = internet.profile.reverse.as_ref()?.query_share;
        if !self.draws.chance(share) {
            return None;
        }
        let address = match self.draws.chance(0.5) {
            true => self.draws.pick(internet.servers.servers()).ipv4,
            false => Ipv4Addr::from_bits((1 << 24) + self.draws.below(223 << 24) as u32),
        };
        Some(Asked {
            name: address_name(address),
            rtype: Rtype::PTR,
        })
    }

    /// The domain whose popularity has this rank; 0 is the most popular.
    fn domain(&self, rank: u64) -> Name {
        let (registry, index) = self.internet.domain_of(self.popularity.at(rank));
        self.internet.registries[registry as usize].domain_name(index)
    }
}

impl Iterator for QueryNames<'_> {
    type Item = Asked;

    fn next(&mut self) -> Option<Asked> {
        let domains = self.internet.domains();
        // The inverse of the distribution function of a Zipf law with exponent 1, made continuous.
        let rank = (domains as f64).powf(unit(self.draws.next())) as u64 - 1;
        if let Some(asked) = self.address() {
            return Some(asked);
        }
        let domain = self.domain(rank.min(domains - 1));
        let rtype = TYPES[self.draws.weighted(TYPES.iter().map(|(_, weight)| *weight))].0;
        let name = if self.draws.chance(self.missing_share) {
            let label = format!("x{:x}", self.draws.next() >> 32);
            match self.draws.chance(0.5) {
                true => child(label.as_bytes(), &domain),
                false => child(label.as_bytes(), &parent(&domain)),
            }
        } else {
            let host = HOSTS[self.draws.weighted(HOSTS.iter().map(|(_, weight)| *weight))].0;
            let has_old = self
                .draws
                .chance(self.internet.profile.zones.dname_share / 10.0);
            match host {
                "" => domain,
                host if has_old => below(&[host.as_bytes(), OLD_LABEL], &domain),
                host => child(host.as_bytes(), &domain),
            }
        };
        Some(Asked { name, rtype })
    }
}

fn parent(name: &Name) -> Name {
    let octets = name
        .as_octets()
        .slice(1 + usize::from(name.as_slice()[0])..);
    // What follows a label of a name is a name.
    Name::from_octets(octets).unwrap_or_else(|_| Name::root_bytes())
}

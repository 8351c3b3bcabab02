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
/// Domains are asked for by the profile's Zipf law over a popularity that the Internet's seed decides, types and hosts by its
/// weights.
#[derive(Debug)]
pub struct QueryNames<'a> {
    internet: &'a Internet,
    popularity: Permutation,
    draws: Draws,
    missing_share: f64,
    types: Vec<(Rtype, f64)>,
    hosts: Vec<(Vec<Box<[u8]>>, f64)>,
}

impl<'a> QueryNames<'a> {
    /// Questions of `seed`, of which `missing_share` are for names that do not exist.
    pub fn new(internet: &'a Internet, seed: u64, missing_share: f64) -> Self {
        Self {
            internet,
            popularity: internet.popularity(),
            draws: Draws::new(seed, Purpose::Popularity, 1, 0),
            missing_share,
            types: internet.profile.clients.weighted_types(),
            hosts: internet.profile.clients.weighted_hosts(),
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
        let zipf = self.internet.profile.clients.zipf;
        let rank = zipf_rank(unit(self.draws.next()), domains, zipf);
        if let Some(asked) = self.address() {
            return Some(asked);
        }
        let domain = self.domain(rank);
        let rtype = self.types[self
            .draws
            .weighted(self.types.iter().map(|(_, weight)| *weight))]
        .0;
        let name = if self.draws.chance(self.missing_share) {
            let label = format!("x{:x}", self.draws.next() >> 32);
            match self.draws.chance(0.5) {
                true => child(label.as_bytes(), &domain),
                false => child(label.as_bytes(), &parent(&domain)),
            }
        } else {
            let weights = self.hosts.iter().map(|(_, weight)| *weight);
            let host = &self.hosts[self.draws.weighted(weights)].0;
            let has_old = self
                .draws
                .chance(self.internet.profile.zones.dname_share / 10.0);
            let labels = host.iter().map(|label| &**label);
            match host.is_empty() {
                true => domain,
                false if has_old => below(&labels.chain([OLD_LABEL]).collect::<Vec<_>>(), &domain),
                false => below(&labels.collect::<Vec<_>>(), &domain),
            }
        };
        Some(Asked { name, rtype })
    }
}

/// The rank, from 0 on, of the domain that a number from 0 to below 1 stands for by a Zipf law over `domains`.
///
/// The inverse of the law's distribution function, made continuous.
fn zipf_rank(drawn: f64, domains: u64, exponent: f64) -> u64 {
    let place = match 1.0 - exponent {
        0.0 => (domains as f64).powf(drawn),
        // Near an exponent of 1 differences of powers would have no digits left.
        rest => ((drawn * (rest * (domains as f64).ln()).exp_m1()).ln_1p() / rest).exp(),
    };
    (place.max(1.0) as u64 - 1).min(domains - 1)
}

fn parent(name: &Name) -> Name {
    let octets = name
        .as_octets()
        .slice(1 + usize::from(name.as_slice()[0])..);
    // What follows a label of a name is a name.
    Name::from_octets(octets).unwrap_or_else(|_| Name::root_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InternetOptions, Profile, WeightedHost, WeightedType};

    fn small(change: impl FnOnce(&mut Profile)) -> Internet {
        let mut profile = Profile::load("small").unwrap();
        profile.domains = 2000;
        change(&mut profile);
        Internet::new(&profile, InternetOptions::new(1, 1_700_000_000)).unwrap()
    }

    fn lines(internet: &Internet, count: usize) -> Vec<String> {
        QueryNames::new(internet, 5, 0.1)
            .take(count)
            .map(|asked| format!("{} {}", asked.name.fmt_with_dot(), asked.rtype))
            .collect()
    }

    #[test]
    fn questions_stay_what_they_were() {
        // Streams of an earlier version are repeated by later ones, also of profiles that say nothing of clients.
        let before = [
            "www.pufeke.com. A",
            "sewe-immobilien.net. A",
            "api.celu.se. A",
            "api.wolo-online.se. A",
            "www.dokefoods.com.se. A",
            "www.vuhugi.com. AAAA",
        ];
        assert_eq!(lines(&small(|_| ()), 6), before);
        let silent = small(|profile| profile.clients = Default::default());
        assert_eq!(lines(&silent, 6), before);
    }

    #[test]
    fn clients_are_as_the_profile_says() {
        let internet = small(|profile| {
            profile.reverse = None;
            profile.zones.dname_share = 0.0;
            profile.clients.types = vec![WeightedType {
                rtype: "SRV".into(),
                weight: 1.0,
            }];
            let hosts = [("_sip._tcp", 3.0), ("", 1.0), ("never", 0.0)];
            profile.clients.hosts = hosts
                .map(|(host, weight)| WeightedHost {
                    host: host.into(),
                    weight,
                })
                .into();
        });
        let asked: Vec<Asked> = QueryNames::new(&internet, 5, 0.0).take(2000).collect();
        assert!(asked.iter().all(|one| one.rtype == Rtype::SRV));
        let starts = |octets: &[u8]| {
            let of = |one: &&Asked| one.name.as_slice().starts_with(octets);
            asked.iter().filter(of).count()
        };
        let services = starts(b"\x04_sip\x04_tcp");
        assert!((1400..1600).contains(&services), "{services} of 2000");
        assert_eq!(starts(b"\x05never"), 0);
    }

    #[test]
    fn the_larger_the_exponent_the_more_is_asked_for_the_most_popular() {
        let domains = 1_000_000;
        // The share of queries for the hundred most popular, by the distribution function of the continuous law.
        for (exponent, share) in [(0.0, 1e-4), (0.5, 0.0090), (1.0, 1.0 / 3.0), (2.0, 0.99)] {
            let count = 1_000_000;
            let top = (0..count)
                .filter(|number| {
                    zipf_rank((*number as f64 + 0.5) / count as f64, domains, exponent) < 99
                })
                .count();
            let found = top as f64 / count as f64;
            assert!((found / share - 1.0).abs() < 0.02, "{exponent}: {found}");
        }
        for exponent in [0.0, 0.3, 1.0, 1.0 + 1e-12, 1.5, 4.0] {
            for drawn in [0.0, 0.5, 1.0 - f64::EPSILON / 2.0] {
                for domains in [1, 2, 1_000_000_000] {
                    assert!(zipf_rank(drawn, domains, exponent) < domains);
                }
            }
            let near = |drawn| zipf_rank(drawn, domains, exponent);
            assert!(near(0.2) <= near(0.7));
        }
        let [exactly, nearly] = [1.0, 1.0 + 1e-9].map(|exponent| zipf_rank(0.8, domains, exponent));
        assert!(exactly.abs_diff(nearly) <= 1, "{exactly} and {nearly}");
    }
}

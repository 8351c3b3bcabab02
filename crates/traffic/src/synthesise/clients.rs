//! Who sends queries.

use super::random::{Purpose, Random, at, permutation, unit};
use super::ranks::{RankTable, Shares};
use crate::profile::{ClientGroup, Profile, Quantiles};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Clients are in 10.0.0.0/8, which has room for so many.
pub(super) const MOST_CLIENTS: u64 = 1 << 24;
/// The most queries of one burst.
const LONGEST_BURST: u32 = 64;
const NS_A_MS: f64 = 1e6;

/// The server's addresses, of the blocks for documentation (RFC 5737, RFC 3849).
pub(super) const SERVER_V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 53));
pub(super) const SERVER_V6: IpAddr =
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0x53, 0, 0, 0, 0, 0x53));

/// A client: its number among all of them, and that of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Client {
    pub number: u32,
    pub group: u8,
}

/// All clients.
#[derive(Debug)]
pub(super) struct Population {
    seed: u64,
    groups: Vec<Group>,
    by_queries: Shares<u8>,
}

/// Clients that behave alike.
#[derive(Debug)]
struct Group {
    first: u64,
    activity: RankTable,
    figures: ClientGroup,
    round_trip_ms: Quantiles,
}

impl Population {
    /// The clients of `profile`, `scale` times as many as it says.
    ///
    /// # Errors
    /// Says so if they are too many.
    pub fn new(profile: &Profile, scale: f64, seed: u64) -> Result<Self, String> {
        let mut first = 0;
        let mut groups = Vec::with_capacity(profile.clients.len());
        for figures in &profile.clients {
            let count = (figures.clients * scale).round().max(1.0) as u64;
            let quantiles = Quantiles::new(&figures.round_trip_ms);
            groups.push(Group {
                first,
                activity: RankTable::new(count.min(MOST_CLIENTS), &figures.activity),
                figures: figures.clone(),
                round_trip_ms: quantiles.expect("checked with the profile"),
            });
            first = first.saturating_add(count);
        }
        if first > MOST_CLIENTS || groups.len() > usize::from(u8::MAX) {
            return Err(format!(
                "at this rate there are {first} clients, more than {MOST_CLIENTS}: lower the rate"
            ));
        }
        let shares = (0..)
            .zip(&profile.clients)
            .map(|(group, figures)| (group, figures.queries));
        Ok(Self {
            seed,
            by_queries: Shares::new(shares),
            groups,
        })
    }

    /// Draws a client, as often as it is active.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> Client {
        let group = match self.groups.len() {
            1 => 0,
            _ => *self.by_queries.of(random.bits()),
        };
        let own = &self.groups[usize::from(group)];
        Client {
            number: (own.first + own.activity.draw(random)) as u32,
            group,
        }
    }

    fn figures(&self, client: Client) -> &ClientGroup {
        &self.groups[usize::from(client.group)].figures
    }

    /// How many queries `client` sends now, and within how many ns.
    #[inline]
    pub fn burst(&self, client: Client, random: &mut Random) -> (u32, u64) {
        let figures = self.figures(client);
        let mut queries = 1;
        if figures.burst_queries > 1.0 {
            // A geometric distribution.
            let goes_on = 1.0 - 1.0 / figures.burst_queries;
            while queries < LONGEST_BURST && random.chance(goes_on) {
                queries += 1;
            }
        }
        (queries, (figures.burst_ms * NS_A_MS) as u64)
    }

    /// Whether `client` keeps answers.
    #[inline]
    pub fn is_caching(&self, client: Client) -> bool {
        self.fact(client, 0) < self.figures(client).caching
    }

    /// The chance that `client` asks again what it asked last.
    #[inline]
    pub fn repeats(&self, client: Client) -> f64 {
        self.figures(client).repeats
    }

    /// The round-trip time between `client` and the server.
    #[inline]
    pub fn round_trip_ns(&self, client: Client) -> u64 {
        let quantiles = &self.groups[usize::from(client.group)].round_trip_ms;
        (quantiles.at(self.fact(client, 1)) * NS_A_MS) as u64
    }

    /// The address of `client`, and the server's address of the same family.
    #[inline]
    pub fn addresses(&self, client: Client) -> (IpAddr, IpAddr) {
        if self.fact(client, 2) < self.figures(client).ipv6 {
            let bits = at(self.seed, Purpose::Address, client.number.into());
            let [a, b, c, d] = [48, 32, 16, 0].map(|shift| (bits >> shift) as u16);
            // 2001:db8:8000::/33, which the server is not in. The number makes every address another.
            let [upper, lower] = [(client.number >> 16) as u16, client.number as u16];
            let address = Ipv6Addr::new(0x2001, 0xdb8, a | 0x8000, b, c, d, upper, lower);
            return (address.into(), SERVER_V6);
        }
        let host = permutation(self.seed, Purpose::Address, MOST_CLIENTS).at(client.number.into());
        (
            Ipv4Addr::from_bits(10 << 24 | host as u32).into(),
            SERVER_V4,
        )
    }

    /// A number from 0 to 1 that is always the same for this client.
    #[inline]
    fn fact(&self, client: Client, which: u64) -> f64 {
        unit(at(
            self.seed,
            Purpose::Client,
            u64::from(client.number) << 2 | which,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_client_has_an_address_of_its_own_outside_the_internet() {
        let profile = Profile::open("resolver-2022").unwrap();
        let population = Population::new(&profile, 0.01, 3).unwrap();
        let mut seen = HashSet::new();
        let mut of_ipv6 = 0;
        for number in 0..8000 {
            let client = Client {
                number,
                group: u8::from(number >= 3500),
            };
            let (address, server) = population.addresses(client);
            assert_eq!(address.is_ipv6(), server.is_ipv6());
            of_ipv6 += u32::from(address.is_ipv6());
            match address {
                IpAddr::V4(address) => assert_eq!(address.octets()[0], 10),
                IpAddr::V6(address) => assert_eq!(address.segments()[..2], [0x2001, 0xdb8]),
            }
            assert!(seen.insert(address));
        }
        // A quarter of 3,500 and half of 4,500.
        assert!((2900..3350).contains(&of_ipv6), "{of_ipv6}");
    }

    #[test]
    fn groups_and_bursts_have_their_shares() {
        let profile = Profile::open("resolver-2022").unwrap();
        let population = Population::new(&profile, 0.01, 3).unwrap();
        let mut random = Random::new(1, Purpose::Slots);
        let (mut landline, mut queries) = (0, 0);
        for _ in 0..20_000 {
            let client = population.draw(&mut random);
            assert_eq!(client.group == 0, client.number < 3500);
            if client.group == 0 {
                landline += 1;
                queries += population.burst(client, &mut random).0;
            }
        }
        assert!((12_700..13_300).contains(&landline), "{landline}");
        let mean = f64::from(queries) / f64::from(landline);
        assert!((2.85..3.15).contains(&mean), "{mean}");
    }

    #[test]
    fn too_many_clients_are_refused() {
        let profile = Profile::open("root-2006").unwrap();
        let error = Population::new(&profile, 17.0, 3).unwrap_err();
        assert!(error.contains("17000000 clients"), "{error}");
    }
}

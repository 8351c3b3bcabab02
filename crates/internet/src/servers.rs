//! The name servers of the hierarchy: which there are, at which addresses, how far away, and what they do wrong.

use crate::profile::{Addresses, Faults, Latency};
use crate::random::{self, Purpose, at, unit};
use dnsrig_zone::Name;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::time::Duration;

/// A set of name servers that serve the same zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(pub(crate) u32);

/// One of the name servers that have an address of their own.
#[derive(Clone, Debug)]
pub struct NameServer {
    /// Its name.
    pub name: Name,
    /// Its IPv4 address.
    pub ipv4: Ipv4Addr,
    /// Its IPv6 address, if it has one.
    pub ipv6: Option<Ipv6Addr>,
    /// The set that it belongs to.
    pub set: SetId,
}

/// What kind of server was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServerId {
    /// Number `n` of those that have an address of their own; see [`ServerTable::servers`].
    Listed(u32),
    /// A name server of a domain that has its own; several domains' may share this address.
    Own(u32),
}

/// How all the servers of one operator are.
#[derive(Clone, Debug)]
pub(crate) struct SetTraits {
    /// The operator's name, for accounts: `.`, `.com`, or as in the profile.
    pub operator: String,
    servers: Range<u32>,
}

/// The operator, for accounts, of all domains that have servers of their own.
pub(crate) const OWN_SERVERS: &str = "own servers";
/// Where the servers of a domain are that has its own.
const OWN_SERVERS_FROM: u32 = 1 << 15;

/// All servers.
#[derive(Debug)]
pub struct ServerTable {
    seed: u64,
    addresses: Addresses,
    servers: Vec<NameServer>,
    sets: Vec<SetTraits>,
    own_latency: Vec<Latency>,
    faults: Faults,
    manners: Vec<Manner>,
}

/// What a server does with EDNS and sizes, all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Habits {
    pub edns: EdnsHabit,
    /// Octets of the longest answer over UDP.
    pub udp_payload: u16,
}

/// What servers have in common that answer every query alike: their set, whether they are its last, which lacks some of the set's
/// zones, and habits. Domains' own servers have nothing in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alike([u8; 8]);

impl Alike {
    fn new(kind: u8, group: u32, habits: Habits) -> Self {
        let [g0, g1, g2, g3] = group.to_be_bytes();
        let [payload_high, payload_low] = habits.udp_payload.to_be_bytes();
        let edns = habits.edns as u8;
        Self([kind, g0, g1, g2, g3, edns, payload_high, payload_low])
    }

    pub fn octets(self) -> [u8; 8] {
        self.0
    }
}

/// What a server does with EDNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdnsHabit {
    /// What RFC 6891 says.
    Sound,
    /// It answers FORMERR, as servers from before EDNS do (section 7).
    FormErr,
    /// It answers as if there were no OPT record.
    Ignored,
}

/// How a server is: what every query needs, in one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Manner {
    /// How long an answer takes at least.
    base_ms: f64,
    jitter_ms: f64,
    loss_share: f64,
    pub habits: Habits,
    pub alike: Alike,
}

const SOUND: Habits = Habits {
    edns: EdnsHabit::Sound,
    udp_payload: 1232,
};

impl ServerTable {
    pub(crate) fn new(
        seed: u64,
        addresses: Addresses,
        own_latency: Vec<Latency>,
        faults: Faults,
    ) -> Self {
        Self {
            seed,
            addresses,
            servers: Vec::new(),
            sets: Vec::new(),
            own_latency,
            faults,
            manners: Vec::new(),
        }
    }

    /// Adds a set of servers with these names; all have IPv6 addresses, or each with the profile's share.
    pub(crate) fn add_set(
        &mut self,
        operator: &str,
        names: Vec<Name>,
        latency: Latency,
        is_registry: bool,
    ) -> SetId {
        let set = SetId(self.sets.len() as u32);
        let first = self.servers.len() as u32;
        for name in names {
            let number = self.servers.len() as u32;
            let bits = at(self.seed, Purpose::Hosting, 1 << 40, number.into());
            let share = self.addresses.ipv6_share;
            let has_ipv6 = share > 0.0 && is_registry || unit(bits) < share;
            self.servers.push(NameServer {
                name,
                ipv4: self.ipv4(number),
                ipv6: has_ipv6.then(|| self.ipv6(number)),
                set,
            });
        }
        self.sets.push(SetTraits {
            operator: operator.to_owned(),
            servers: first..self.servers.len() as u32,
        });
        for number in first..self.servers.len() as u32 {
            let group = (u8::from(self.is_last(number)), set.0);
            // The root's and registries' have no faults.
            let manner = self.drawn(ServerId::Listed(number), latency, !is_registry, group);
            self.manners.push(manner);
        }
        set
    }

    /// How many servers with addresses of their own there may be.
    pub(crate) fn listed_max(&self) -> u32 {
        let hosts = 1u32 << (32 - self.addresses.ipv4_length);
        OWN_SERVERS_FROM.min(hosts / 2) - 256
    }

    /// Where the addresses of domains' own servers begin.
    fn own_from(&self) -> u32 {
        self.listed_max() + 256
    }

    fn own_count(&self) -> u32 {
        (1u32 << (32 - self.addresses.ipv4_length)) - self.own_from() - 256
    }

    /// The address of host `number`; the first of the prefix are left free for resolvers and clients.
    fn ipv4(&self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.addresses.ipv4.to_bits() + 256 + number)
    }

    fn ipv6(&self, number: u32) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.addresses.ipv6.to_bits() + 0x100 + u128::from(number))
    }

    /// All servers that have an address of their own.
    pub fn servers(&self) -> &[NameServer] {
        &self.servers
    }

    /// The servers of a set.
    pub fn of_set(&self, set: SetId) -> &[NameServer] {
        let range = &self.sets[set.0 as usize].servers;
        &self.servers[range.start as usize..range.end as usize]
    }

    /// Who operates a server, for accounts.
    pub fn operator(&self, server: ServerId) -> &str {
        match server {
            ServerId::Listed(number) => &self.traits(number).operator,
            ServerId::Own(_) => OWN_SERVERS,
        }
    }

    /// Whether a listed server is the last of its set.
    pub(crate) fn is_last(&self, number: u32) -> bool {
        self.traits(number).servers.end == number + 1
    }

    fn traits(&self, number: u32) -> &SetTraits {
        &self.sets[self.servers[number as usize].set.0 as usize]
    }

    /// The server at an address, if there is one.
    pub fn at(&self, address: IpAddr) -> Option<ServerId> {
        let number = match address {
            IpAddr::V4(address) => address
                .to_bits()
                .checked_sub(self.addresses.ipv4.to_bits() + 256)?,
            IpAddr::V6(address) => {
                let number = address
                    .to_bits()
                    .checked_sub(self.addresses.ipv6.to_bits() + 0x100)?;
                u32::try_from(number).ok()?
            }
        };
        if let Some(server) = self.servers.get(number as usize) {
            let is_there = address.is_ipv4() || server.ipv6.is_some();
            return is_there.then_some(ServerId::Listed(number));
        }
        let own = self.own_from()..self.own_from() + self.own_count();
        own.contains(&number).then_some(ServerId::Own(number))
    }

    /// The addresses of name server `index` of a domain that has its own.
    pub(crate) fn own_server(
        &self,
        registry: u64,
        domain: u64,
        index: u64,
    ) -> (ServerId, Ipv4Addr, Option<Ipv6Addr>) {
        let bits = at(self.seed, Purpose::OwnServer, registry, domain * 16 + index);
        let number = self.own_from() + random::scale(bits, self.own_count().into()) as u32;
        // The lowest bits, which `scale` uses least.
        let has_ipv6 = unit(bits.rotate_left(40)) < self.addresses.ipv6_share;
        let ipv6 = has_ipv6.then(|| self.ipv6(number));
        (ServerId::Own(number), self.ipv4(number), ipv6)
    }

    /// An address of a host that is no server; nothing answers there.
    pub(crate) fn host_address(&self, bits: u64) -> Ipv4Addr {
        let number = random::scale(bits, 128) as u32;
        Ipv4Addr::from_bits(self.addresses.ipv4.to_bits() + 128 + number % 128)
    }

    /// An IPv6 address of a host that is no server.
    pub(crate) fn host_address_v6(&self, bits: u64) -> Ipv6Addr {
        let prefix = self.addresses.ipv6.to_bits();
        Ipv6Addr::from_bits(prefix | 1 << 48 | u128::from(bits >> 16))
    }

    fn number(server: ServerId) -> u64 {
        match server {
            ServerId::Listed(number) | ServerId::Own(number) => number.into(),
        }
    }

    /// How a server is, all the time.
    pub(crate) fn manner(&self, server: ServerId) -> Manner {
        match server {
            ServerId::Listed(number) => self.manners[number as usize],
            ServerId::Own(number) => {
                let bits = at(self.seed, Purpose::Distance, 1, number.into());
                let place = random::scale(bits, self.own_latency.len() as u64);
                self.drawn(server, self.own_latency[place as usize], true, (2, number))
            }
        }
    }

    /// The manner of a server of a latency; `group` tells those apart that do not answer alike.
    fn drawn(
        &self,
        server: ServerId,
        latency: Latency,
        may_fail: bool,
        (kind, group): (u8, u32),
    ) -> Manner {
        let number = Self::number(server);
        let [first, second] = [2, 3].map(|part| at(self.seed, Purpose::Distance, part, number));
        let habits = match may_fail {
            true => self.habits(number),
            false => SOUND,
        };
        Manner {
            base_ms: latency.median_ms * (latency.sigma * random::normal(first, second)).exp(),
            jitter_ms: latency.jitter_ms,
            loss_share: latency.loss_share,
            habits,
            alike: Alike::new(kind, group, habits),
        }
    }

    /// How long an answer of a server takes, and whether it is lost on its way; `occasion` tells queries apart.
    pub(crate) fn distance(
        &self,
        server: ServerId,
        manner: &Manner,
        occasion: u64,
    ) -> (Duration, bool) {
        let number = Self::number(server);
        let more = -(1.0 - unit(at(self.seed, Purpose::Jitter, number, occasion))).ln();
        let ms = manner.base_ms + manner.jitter_ms * more;
        let is_lost = manner.loss_share > 0.0
            && unit(at(self.seed, Purpose::Loss, number, occasion)) < manner.loss_share;
        // Beyond that every resolver has given up.
        (Duration::from_secs_f64(ms.min(30_000.0) / 1e3), is_lost)
    }

    /// What a server that may fail does with EDNS and sizes.
    fn habits(&self, number: u64) -> Habits {
        let faults = &self.faults;
        let draw = |part| unit(at(self.seed, Purpose::Edns, part, number));
        let (edns, size) = (draw(0), draw(1));
        Habits {
            edns: match edns {
                _ if edns < faults.edns_formerr_share => EdnsHabit::FormErr,
                _ if edns < faults.edns_formerr_share + faults.edns_ignored_share => {
                    EdnsHabit::Ignored
                }
                _ => EdnsHabit::Sound,
            },
            udp_payload: match size {
                _ if size < faults.udp_512_share => 512,
                _ if size < faults.udp_512_share + faults.udp_4096_share => 4096,
                _ => 1232,
            },
        }
    }
}

//! A zone below in-addr.arpa: networks of 256 addresses, each with a use of its own.

use super::{NS, PTR, apex, origin_text, servers_of_others, some_domain};
use crate::Name;
use crate::generate::labels::LabelModel;
use crate::generate::pipeline::Parts;
use crate::generate::random::{self, Purpose, Random};
use crate::generate::sink::Sink;
use crate::generate::words;
use domain::base::iana::Rtype;
use std::io::Write;

/// Addresses of a network that hosts can have: neither the first nor the last.
const HOSTS: u8 = 254;
/// Hosts from which on a network is a pool that starts at its first address.
const POOL: u8 = 100;

/// What a network is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Nothing.
    None,
    /// It is delegated as a whole.
    Delegated,
    /// Its hosts have PTR records.
    Hosts(u8),
    /// Its hosts have CNAME records into delegations of parts of the network (RFC 2317).
    Parts(u8),
}

/// A zone below in-addr.arpa, ready to be made.
pub(super) struct Reverse {
    model: LabelModel,
    seed: u64,
    origin: Vec<u8>,
    servers: [&'static str; 2],
    /// The octets that the origin stands for, as in an address.
    octets: Vec<u8>,
    /// The networks, by the octets that they have beyond `octets`.
    networks: Vec<Use>,
    /// The numbers of an octet in the order of their labels.
    numbers: Vec<u8>,
}

impl Reverse {
    /// The zone with PTR or CNAME records for `names` addresses, or why there is none.
    pub fn new(origin: &Name, octets: Vec<u8>, names: u64, seed: u64) -> Result<Self, String> {
        let count = 256_u64.pow(3 - octets.len() as u32);
        if names > count * u64::from(HOSTS) {
            return Err(format!(
                "it has no more than {} addresses for hosts, so choose fewer names or a larger network",
                count * u64::from(HOSTS)
            ));
        }
        let mut numbers: Vec<u8> = (0..=255).collect();
        numbers.sort_by_cached_key(u8::to_string);
        Ok(Self {
            model: LabelModel::new(),
            seed,
            origin: origin_text(origin),
            servers: servers_of_others(origin),
            octets,
            networks: networks(count, names, seed),
            numbers,
        })
    }

    /// What is below the label `number` of the origin, whose networks begin at `first`.
    fn networks_below(&self, number: u8, first: usize, sink: &mut Sink) {
        let networks = &self.networks[first..first + 256];
        if networks.iter().all(|&network| network == Use::None) {
            return;
        }
        sink.counts.empty_non_terminals += 1;
        let name = [number.to_string().as_bytes(), b".", &self.origin].concat();
        for &label in &self.numbers {
            self.network(label, first + usize::from(label), &name, sink);
        }
    }

    /// The network of index `index`, whose label is `number` below `parent`.
    fn network(&self, number: u8, index: usize, parent: &[u8], sink: &mut Sink) {
        let name = [number.to_string().as_bytes(), b".", parent].concat();
        match self.networks[index] {
            Use::None => {}
            Use::Delegated => {
                let mut random = Random::new(self.seed, Purpose::Network, index as u64);
                self.delegate(&name, &mut random, sink);
            }
            Use::Hosts(_) | Use::Parts(_) => {
                sink.counts.empty_non_terminals += 1;
                self.hosts(index, &name, sink);
            }
        }
    }

    /// The hosts of the network of index `index`, which is called `name`.
    fn hosts(&self, index: usize, name: &[u8], sink: &mut Sink) {
        let mut random = Random::new(self.seed, Purpose::Network, index as u64);
        match self.networks[index] {
            Use::Hosts(count) => self.named_hosts(count, index, name, &mut random, sink),
            Use::Parts(count) => self.parts(count, name, &mut random, sink),
            Use::None | Use::Delegated => {}
        }
    }

    fn named_hosts(
        &self,
        count: u8,
        index: usize,
        name: &[u8],
        random: &mut Random,
        sink: &mut Sink,
    ) {
        let domain = some_domain(&self.model, random);
        let prefix = *random.pick(&["pool", "dyn", "host", "ip", "cpe", "dsl"]);
        let mut network = self.octets.clone();
        let further = (index as u32).to_be_bytes();
        network.extend(&further[1 + self.octets.len()..]);
        let mut used: Vec<u8> = match count >= POOL {
            true => (1..=count).collect(),
            false => some_hosts(count, random),
        };
        used.sort_by_cached_key(u8::to_string);
        let (mut owner, mut target) = (Vec::new(), Vec::new());
        for host in used {
            target.clear();
            match count >= POOL {
                true => write!(
                    target,
                    "{prefix}-{}-{}-{}-{host}.",
                    network[0], network[1], network[2]
                ),
                false => match random.percent(50) {
                    true => write!(target, "{}.", random.pick(&words::HOSTS)),
                    false => write!(target, "{}{host}.", random.pick(&words::NUMBERED)),
                },
            }
            .expect("a Vec takes any text");
            target.extend_from_slice(&domain);
            set_owner(&mut owner, host, name);
            sink.plain(&owner, Rtype::PTR, PTR, &[&target]);
            sink.counts.names += 1;
            sink.name_done();
        }
    }

    /// Delegations of equal parts of a network, and aliases for its hosts, by RFC 2317.
    fn parts(&self, count: u8, name: &[u8], random: &mut Random, sink: &mut Sink) {
        let mask = 25 + random.below(4);
        let size = 256 >> (mask - 24);
        let start = |host: u8| u32::from(host) / size * size;
        let hosts = some_hosts(count, random);
        let mut labels: Vec<(String, Option<u8>)> = hosts
            .iter()
            .flat_map(|&host| {
                let part = (format!("{}/{mask}", start(host)), None);
                [part, (host.to_string(), Some(host))]
            })
            .collect();
        labels.sort_unstable();
        labels.dedup();
        let (mut owner, mut target) = (Vec::new(), Vec::new());
        for (label, host) in labels {
            owner.clear();
            owner.extend_from_slice(label.as_bytes());
            owner.push(b'.');
            owner.extend_from_slice(name);
            let Some(host) = host else {
                self.delegate(&owner, random, sink);
                continue;
            };
            target.clear();
            write!(target, "{host}.{}/{mask}.", start(host)).expect("a Vec takes any text");
            target.extend_from_slice(name);
            sink.plain(&owner, Rtype::CNAME, " 86400 IN CNAME ", &[&target]);
            sink.counts.names += 1;
            sink.name_done();
        }
    }

    fn delegate(&self, owner: &[u8], random: &mut Random, sink: &mut Sink) {
        let domain = some_domain(&self.model, random);
        let [ns1, ns2] = [b"ns1.", b"ns2."].map(|server| [&server[..], &domain].concat());
        sink.plain(owner, Rtype::NS, NS, &[&ns1, &ns2]);
        sink.counts.names += 1;
        sink.counts.delegations += 1;
    }
}

impl Parts for Reverse {
    fn count(&self) -> usize {
        match self.octets.len() {
            3 => 2,
            _ => 1 + 256,
        }
    }

    fn make(&self, index: usize, sink: &mut Sink) {
        let Some(place) = index.checked_sub(1) else {
            return apex(&self.origin, self.servers, sink);
        };
        let number = self.numbers[place];
        match self.octets.len() {
            1 => self.networks_below(number, usize::from(number) << 8, sink),
            2 => self.network(number, usize::from(number), &self.origin, sink),
            _ => self.hosts(0, &self.origin, sink),
        }
    }
}

fn set_owner(owner: &mut Vec<u8>, host: u8, name: &[u8]) {
    owner.clear();
    write!(owner, "{host}.").expect("a Vec takes any text");
    owner.extend_from_slice(name);
}

/// `count` addresses for hosts, anywhere in a network.
fn some_hosts(count: u8, random: &mut Random) -> Vec<u8> {
    let mut hosts: Vec<u8> = (1..=HOSTS).collect();
    for place in 0..usize::from(count) {
        let other = place + random.below((hosts.len() - place) as u32) as usize;
        hosts.swap(place, other);
    }
    hosts.truncate(usize::from(count));
    hosts
}

/// What each of `count` networks is used for, so that `names` addresses in all have names: networks in a random order as
/// they are, and if these are not enough, the same networks filled up.
fn networks(count: u64, names: u64, seed: u64) -> Vec<Use> {
    let mut networks = vec![Use::None; count as usize];
    let order = random::permutation(seed, Purpose::Kind, count);
    let mut left = names;
    for place in 0..count {
        if left == 0 {
            return networks;
        }
        let index = order.at(place);
        let bits = random::at(seed, Purpose::Network, index);
        let some = |least: u32, most: u32| {
            let number = least + random::scale(bits as u32, most - least + 1);
            u64::from(number).min(left) as u8
        };
        let network = match random::scale((bits >> 32) as u32, 100) {
            0..45 => Use::Hosts(some(150, 254)),
            45..80 => Use::Hosts(some(1, 24)),
            80..92 => Use::Parts(some(8, 200)),
            // The origin itself cannot be delegated.
            _ if count == 1 => Use::Hosts(some(1, 24)),
            _ => Use::Delegated,
        };
        if let Use::Hosts(hosts) | Use::Parts(hosts) = network {
            left -= u64::from(hosts);
        }
        networks[index as usize] = network;
    }
    for place in 0..count {
        let network = &mut networks[order.at(place) as usize];
        let used = match *network {
            Use::Hosts(hosts) | Use::Parts(hosts) => hosts,
            Use::None | Use::Delegated => 0,
        };
        let more = left.min(u64::from(HOSTS - used));
        if more > 0 {
            *network = Use::Hosts(used + more as u8);
            left -= more;
        }
    }
    networks
}

//! A zone below ip6.arpa: networks of 64 bits, in runs of sixteen.

use super::{PTR, apex, origin_text, servers_of_others, some_domain};
use crate::Name;
use crate::generate::labels::LabelModel;
use crate::generate::pipeline::Parts;
use crate::generate::random::{self, Purpose, Random};
use crate::generate::sink::Sink;
use crate::generate::words;
use domain::base::iana::Rtype;
use std::io::Write;

/// Hosts of a network, on average.
const HOSTS: u64 = 16;
/// Networks whose numbers follow each other.
const RUN: u64 = 16;
/// Networks of one part of the zone.
const NETWORKS_PER_PART: u64 = 256;
/// Hosts up to which a network may have addresses made of its hosts' hardware addresses.
const AUTOMATIC_MAX: u64 = 4096;

/// A zone below ip6.arpa, ready to be made.
pub(super) struct Reverse {
    model: LabelModel,
    seed: u64,
    origin: Vec<u8>,
    servers: [&'static str; 2],
    /// The bits that the origin stands for, as the first of an address' upper half.
    prefix: u64,
    /// Nibbles of the prefix.
    prefix_nibbles: u32,
    networks: u64,
    names: u64,
}

impl Reverse {
    /// The zone with PTR records for `names` addresses.
    pub fn new(origin: &Name, nibbles: Vec<u8>, names: u64, seed: u64) -> Self {
        let free_bits = 64 - 4 * nibbles.len() as u32;
        let all_networks = 1_u64 << free_bits;
        let prefix = nibbles
            .iter()
            .fold(0_u64, |bits, &nibble| bits << 4 | u64::from(nibble));
        Self {
            model: LabelModel::new(),
            seed,
            origin: origin_text(origin),
            servers: servers_of_others(origin),
            prefix: prefix << free_bits,
            prefix_nibbles: nibbles.len() as u32,
            networks: names.div_ceil(HOSTS).min(all_networks),
            names,
        }
    }

    /// The upper half of the addresses in network `index`; larger for each next one.
    fn network(&self, index: u64) -> u64 {
        let all = 1_u64 << (64 - 4 * self.prefix_nibbles);
        let (run, place) = (index / RUN, index % RUN);
        let runs = self.networks.div_ceil(RUN);
        let stride = all.div_ceil(RUN) / runs;
        let offset = random::at(self.seed, Purpose::Network, run) % stride;
        self.prefix | ((run * stride + offset) * RUN + place)
    }

    /// How many hosts network `index` has: each two networks have their due together, at least one each.
    fn hosts(&self, index: u64) -> u64 {
        let up_to = |networks: u64| {
            let product = u128::from(networks) * u128::from(self.names);
            (product / u128::from(self.networks)) as u64
        };
        let first = index & !1;
        if first + 1 == self.networks {
            return up_to(first + 1) - up_to(first);
        }
        let both = up_to(first + 2) - up_to(first);
        let part = 1 + random::at(self.seed, Purpose::Kind, first) % (both - 1);
        if index == first { part } else { both - part }
    }

    fn network_hosts(&self, index: u64, sink: &mut Sink) {
        let upper = self.network(index);
        // Nibbles that the first name shares with the last of the network before.
        let mut shared = match index.checked_sub(1) {
            None => self.prefix_nibbles,
            Some(before) => (upper ^ self.network(before)).leading_zeros() / 4,
        };
        let mut random = Random::new(self.seed, Purpose::Network, index);
        let domain = some_domain(&self.model, &mut random);
        let count = self.hosts(index);
        let is_automatic = count <= AUTOMATIC_MAX && random.percent(60);
        let automatic = match is_automatic {
            true => automatic(count, &mut random),
            false => Vec::new(),
        };
        let (mut owner, mut target) = (Vec::new(), Vec::new());
        let mut previous = None;
        for number in 0..count {
            let lower = automatic
                .get(number as usize)
                .copied()
                .unwrap_or(number + 1);
            if let Some(previous) = previous {
                shared = 16 + u64::leading_zeros(lower ^ previous) / 4;
            }
            previous = Some(lower);
            sink.counts.empty_non_terminals += 31 - shared as usize;
            self.set_owner(&mut owner, u128::from(upper) << 64 | u128::from(lower));
            target.clear();
            match is_automatic {
                true => write!(target, "h{:06x}.", lower & 0xFF_FFFF),
                false => write!(target, "{}{lower}.", random.pick(&words::NUMBERED)),
            }
            .expect("a Vec takes any text");
            target.extend_from_slice(&domain);
            sink.plain(&owner, Rtype::PTR, PTR, &[&target]);
            sink.counts.names += 1;
            sink.name_done();
            if sink.is_over() {
                return;
            }
        }
    }

    fn set_owner(&self, owner: &mut Vec<u8>, address: u128) {
        owner.clear();
        for place in 0..32 - self.prefix_nibbles {
            let nibble = (address >> (4 * place)) as usize & 15;
            owner.extend_from_slice(&[b"0123456789abcdef"[nibble], b'.']);
        }
        owner.extend_from_slice(&self.origin);
    }
}

/// `count` interface identifiers made of hardware addresses of three makers (RFC 4291 appendix A), in order.
fn automatic(count: u64, random: &mut Random) -> Vec<u64> {
    const MAKERS: [u64; 3] = [0x02_00_5E, 0x02_01_5E, 0x02_02_5E];
    let mut found: Vec<u64> = Vec::new();
    while (found.len() as u64) < count {
        let missing = count - found.len() as u64;
        for _ in 0..missing {
            let maker = *random.pick(&MAKERS);
            let host = u64::from(random.below(1 << 24));
            found.push(maker << 40 | 0xFF_FE00_0000 | host);
        }
        found.sort_unstable();
        found.dedup();
    }
    found
}

impl Parts for Reverse {
    fn count(&self) -> usize {
        1 + self.networks.div_ceil(NETWORKS_PER_PART) as usize
    }

    fn make(&self, index: usize, sink: &mut Sink) {
        let Some(part) = index.checked_sub(1) else {
            return apex(&self.origin, self.servers, sink);
        };
        let first = part as u64 * NETWORKS_PER_PART;
        for network in first..(first + NETWORKS_PER_PART).min(self.networks) {
            self.network_hosts(network, sink);
        }
    }
}

//! Who runs the name servers of a registry's delegations: few operators have many of them.

use super::labels::LabelModel;
use super::random::{Purpose, Random, scale};
use super::tld;
use std::collections::HashSet;

/// Delegations for one operator.
const DELEGATIONS_PER_OPERATOR: u64 = 40;
/// The most, so that they do not fill the memory.
const OPERATORS_MAX: u64 = 250_000;
/// The least, so that there is one for each size of a name server set.
const OPERATORS_MIN: u64 = 8;
/// Delegations that share a name server set before an operator has a further one.
const DELEGATIONS_PER_SET: u64 = 400;
/// Top-level domains of operators' own names, those that occur more often more than once.
const TLDS: [&str; 14] = [
    "com", "com", "com", "com", "com", "com", "net", "net", "net", "org", "de", "fr", "info", "biz",
];
/// What the servers' names begin with, before their number.
const PREFIXES: [&str; 8] = ["ns", "ns", "ns", "ns", "dns", "ns-", "pdns", "dns-"];

/// An operator of name servers.
pub(super) struct Operator {
    /// Its domain name, absolute, or the label of its delegation if that is in the zone.
    pub domain: Vec<u8>,
    /// Whether its domain is a delegation of the zone, so that its servers have glue there.
    pub is_in_zone: bool,
    /// Servers of each set: 2 to 4.
    pub servers: usize,
    /// Name server sets.
    pub sets: u32,
    prefix: &'static str,
}

impl Operator {
    /// Appends the first label of server `index` of `set`, both from 0.
    pub fn push_server(&self, set: u32, index: usize, out: &mut Vec<u8>) {
        let number = set as usize * self.servers + index + 1;
        out.extend_from_slice(self.prefix.as_bytes());
        out.extend_from_slice(number.to_string().as_bytes());
    }
}

/// All operators, those with more delegations first.
pub(super) struct Operators {
    /// The operators.
    pub all: Vec<Operator>,
    /// For sets of 2, 3 and 4 servers: operators with the weight of each and all before it.
    by_servers: [Vec<(u64, u32)>; 3],
}

impl Operators {
    /// The operators of a zone with `delegations`, whose origin ends with `last_label`.
    pub fn new(model: &LabelModel, delegations: u64, seed: u64, last_label: &str) -> Self {
        let count = (delegations / DELEGATIONS_PER_OPERATOR).clamp(OPERATORS_MIN, OPERATORS_MAX);
        let tlds: Vec<&str> = TLDS
            .into_iter()
            .filter(|&other| other != last_label)
            .collect();
        let mut random = Random::new(seed, Purpose::Operators, 0);
        let total_weight: u64 = (0..count).map(weight).sum();
        // The registry has a label of its own already.
        let mut in_zone = HashSet::from([tld::REGISTRY.to_vec()]);
        let mut operators = Self {
            all: Vec::new(),
            by_servers: Default::default(),
        };
        for rank in 0..count {
            let is_in_zone = rank % 5 == 4 && rank * 8 < delegations;
            let mut domain = Vec::new();
            for attempt in 0.. {
                domain.clear();
                let group = model.some_group(&mut random);
                model.draw(group, attempt / 10, &mut random, &mut domain);
                // Who sells hosting has a short name.
                let is_fit = domain.len() <= 12 || attempt > 20;
                if is_fit && (!is_in_zone || in_zone.insert(domain.clone())) {
                    break;
                }
            }
            if !is_in_zone {
                domain.extend_from_slice(b".");
                domain.extend_from_slice(random.pick::<&str>(&tlds).as_bytes());
                domain.push(b'.');
            }
            let servers = [2, 2, 2, 3, 2, 2, 4, 2][(rank % 8) as usize];
            let own = u128::from(weight(rank)) * u128::from(delegations) / u128::from(total_weight);
            let list = &mut operators.by_servers[servers - 2];
            let weight_before = list.last().map_or(0, |&(weight, _)| weight);
            list.push((weight_before + weight(rank), rank as u32));
            operators.all.push(Operator {
                domain,
                is_in_zone,
                servers,
                sets: 1 + (own / u128::from(DELEGATIONS_PER_SET)).isqrt() as u32,
                prefix: random.pick::<&str>(&PREFIXES),
            });
        }
        operators
    }

    /// An operator with sets of `servers` servers, and one of its sets, by 64 random bits.
    pub fn choose(&self, servers: usize, bits: u64) -> (&Operator, u32) {
        let list = &self.by_servers[servers - 2];
        let total = list.last().map_or(1, |&(weight, _)| weight);
        let draw = ((u128::from(bits) * u128::from(total)) >> 64) as u64;
        let place = list.partition_point(|&(weight, _)| weight <= draw);
        let operator = &self.all[list[place].1 as usize];
        // The lower bits are as good as unused by the choice of an operator.
        (operator, scale(bits as u32, operator.sets))
    }
}

/// How many delegations the operator of `rank` has compared with others: 1 / (rank + 1) ^ 1.25, by whole numbers so
/// that it is the same on every machine.
fn weight(rank: u64) -> u64 {
    let place = rank + 1;
    // 2^16 times the fourth root; places stay below 2^32.
    let root = (place << 32).isqrt().isqrt() << 8;
    (1 << 56) / (place * root)
}

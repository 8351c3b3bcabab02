//! How many of what a registry's zone has, and where.

use crate::Name;
use crate::generate::check_room;
use crate::generate::labels::LabelModel;
use crate::generate::operators::Operators;
use crate::generate::random::{Purpose, permutation};
use crate::splitmix::Permutation;
use domain::base::name::ToLabelIter;
use std::collections::BTreeMap;

/// The delegations of a zone of CA-2006's size: with 5 % of them signed, 1,361,002 records and 612,409 RRsets.
pub const TLD_NAMES: u64 = 550_000;

/// What a zone of [`TLD_NAMES`] delegations has; others have as much in proportion.
mod shape {
    /// Delegations with three servers.
    pub const THREE_SERVERS: u64 = 88_040;
    /// Delegations with four servers; all others have two.
    pub const FOUR_SERVERS: u64 = 55_000;
    /// Address records below delegations, each an RRset.
    pub const GLUE: u64 = 34_903;
}

/// Of 100 signed delegations, how many have two DS records.
const TWO_SIGNERS_PERCENT: u64 = 2;
/// Of 100 delegations, how many are at the third level.
const THIRD_LEVEL_PERCENT: u64 = 2;
/// Second-level labels below which the registry delegates, with their parts of its third level.
const THIRD_LEVEL: [(&[u8; 2], u64); 8] = [
    (b"ab", 12),
    (b"bc", 18),
    (b"mb", 4),
    (b"nb", 4),
    (b"ns", 4),
    (b"on", 36),
    (b"qc", 18),
    (b"sk", 4),
];
/// Of 100 glue records of delegations that run servers of their own, how many belong to those with AAAA records, and
/// to those with two A records; all others are a single one.
const DUAL_PERCENT: u64 = 30;
const TWO_ADDRESSES_PERCENT: u64 = 40;
/// Octets that the longest name needs above the origin: `ns1`, a label and a label of two octets.
const PREFIX_OCTETS_MAX: usize = 4 + 64 + 3;

/// Who serves a delegation that is no operator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Two servers below it, with A and if `dual` AAAA records.
    OwnServers { dual: bool },
    /// One server below it, with an A record, and one of an operator.
    OneOwnServer,
    /// A name server set of an operator.
    Operator { servers: usize },
}

/// What has a label of its own choice.
#[derive(Clone, Copy)]
pub(super) enum Member {
    /// The registry, for its own hosts.
    Registry,
    /// An operator, by its number.
    Operator(u32),
}

/// The names that begin with the same two octets.
pub(super) struct Partition {
    /// The index of the label group.
    pub group: usize,
    /// Delegations below the domain that is the group's prefix, which come first.
    pub third_level: u64,
    /// Delegations of the group, but for its members.
    pub second_level: u64,
    /// The number of the first delegation among those that are no operator's.
    pub first_plain: u64,
    /// The number of the first delegation among all.
    pub first_delegation: u64,
    /// Labels of the group with a purpose, sorted.
    pub members: Vec<(Vec<u8>, Member)>,
}

/// The whole zone but for its text.
pub(super) struct Plan {
    pub model: LabelModel,
    pub operators: Operators,
    pub partitions: Vec<Partition>,
    kinds: Permutation,
    /// Kinds with the place that ends each in the order of `kinds`.
    kind_ends: [(u64, Kind); 5],
    signed: Permutation,
    signed_count: u64,
}

/// Whether the servers of operator `index` have AAAA records.
pub(super) fn has_address6(index: u32) -> bool {
    index.is_multiple_of(3)
}

fn percent_of(count: u64, percent: u64) -> u64 {
    count * percent / 100
}

impl Plan {
    /// The plan, or why there is none.
    pub fn new(origin: &Name, names: u64, seed: u64, signed_share: f64) -> Result<Self, String> {
        if origin.is_root() {
            return Err(
                "name servers of others would be in the zone, so choose a top-level domain".into(),
            );
        }
        check_room(origin, PREFIX_OCTETS_MAX)?;
        if !(0.0..=1.0).contains(&signed_share) {
            return Err(format!(
                "a share of {signed_share} signed is not within 0 and 1"
            ));
        }
        let tld = origin
            .iter_labels()
            .rev()
            .nth(1)
            .map_or_else(String::new, |label| {
                String::from_utf8_lossy(label.as_slice()).to_ascii_lowercase()
            });
        let model = LabelModel::new();
        let operators = Operators::new(&model, names, seed, &tld);
        let in_zone = operators
            .all
            .iter()
            .filter(|operator| operator.is_in_zone)
            .count() as u64;
        let plain = names - in_zone;
        let mut plan = Self {
            kinds: permutation(seed, Purpose::Kind, plain),
            kind_ends: kind_ends(names, plain, &operators),
            signed: permutation(seed, Purpose::Signed, names),
            signed_count: (signed_share * names as f64).round() as u64,
            partitions: Vec::new(),
            model,
            operators,
        };
        plan.partition(plain);
        Ok(plan)
    }

    fn partition(&mut self, plain: u64) {
        let mut members = self.members();
        let third_level = percent_of(plain, THIRD_LEVEL_PERCENT);
        let parents: BTreeMap<[u8; 2], u64> = THIRD_LEVEL
            .iter()
            .map(|&(label, percent)| (*label, percent_of(third_level, percent)))
            .collect();
        let second_level = plain - parents.values().sum::<u64>();
        let (mut first_plain, mut first_delegation) = (0, 0);
        for (index, group) in self.model.groups.iter().enumerate() {
            let partition = Partition {
                group: index,
                third_level: parents.get(&group.prefix).copied().unwrap_or(0),
                second_level: self.model.share_of_group(second_level, index),
                first_plain,
                first_delegation,
                members: members.remove(&group.prefix).unwrap_or_default(),
            };
            let of_operators =
                |(_, member): &&(Vec<u8>, Member)| matches!(member, Member::Operator(_));
            first_plain += partition.third_level + partition.second_level;
            first_delegation += partition.third_level
                + partition.second_level
                + partition.members.iter().filter(of_operators).count() as u64;
            self.partitions.push(partition);
        }
    }

    /// The members of each group, by the group's prefix.
    fn members(&self) -> BTreeMap<[u8; 2], Vec<(Vec<u8>, Member)>> {
        let mut members: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let operators = self.operators.all.iter().enumerate();
        let operators = operators
            .filter(|(_, operator)| operator.is_in_zone)
            .map(|(index, operator)| (operator.domain.clone(), Member::Operator(index as u32)));
        let registry = (super::REGISTRY.to_vec(), Member::Registry);
        for (label, member) in operators.chain([registry]) {
            let prefix = [label[0], label[1]];
            members.entry(prefix).or_default().push((label, member));
        }
        for members in members.values_mut() {
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        members
    }

    /// The kind of a delegation that is no operator's, by its number.
    pub fn kind(&self, plain: u64) -> Kind {
        let place = self.kinds.at(plain);
        self.kind_ends
            .iter()
            .find(|&&(end, _)| place < end)
            .map_or(Kind::Operator { servers: 2 }, |&(_, kind)| kind)
    }

    /// How many DS records a delegation has, by its number.
    pub fn signers(&self, delegation: u64) -> usize {
        let place = self.signed.at(delegation);
        usize::from(place < self.signed_count)
            + usize::from(place < percent_of(self.signed_count, TWO_SIGNERS_PERCENT))
    }
}

/// The kinds of `plain` delegations out of `names`, each with the sum of its own number and those before; all further
/// delegations have two servers of an operator.
fn kind_ends(names: u64, plain: u64, operators: &Operators) -> [(u64, Kind); 5] {
    let scaled = |figure: u64| {
        let product = u128::from(figure) * u128::from(names);
        ((product + u128::from(TLD_NAMES / 2)) / u128::from(TLD_NAMES)) as u64
    };
    let in_zone = || {
        operators
            .all
            .iter()
            .enumerate()
            .filter(|(_, operator)| operator.is_in_zone)
    };
    let with_servers = |servers| {
        in_zone()
            .filter(|(_, operator)| operator.servers == servers)
            .count() as u64
    };
    let glue_of_operators: u64 = in_zone()
        .map(|(index, operator)| {
            let records_each = 1 + u64::from(has_address6(index as u32));
            u64::from(operator.sets) * operator.servers as u64 * records_each
        })
        .sum();
    let glue = scaled(shape::GLUE).saturating_sub(glue_of_operators);
    let dual = percent_of(glue, DUAL_PERCENT) / 4;
    let two = percent_of(glue, TWO_ADDRESSES_PERCENT) / 2;
    let one = glue - 4 * dual - 2 * two;
    let four_servers = scaled(shape::FOUR_SERVERS).saturating_sub(with_servers(4));
    let three_servers = scaled(shape::THREE_SERVERS).saturating_sub(with_servers(3));
    let mut end = 0;
    [
        (dual, Kind::OwnServers { dual: true }),
        (two, Kind::OwnServers { dual: false }),
        (one, Kind::OneOwnServer),
        (four_servers, Kind::Operator { servers: 4 }),
        (three_servers, Kind::Operator { servers: 3 }),
    ]
    .map(|(count, kind)| {
        end = (end + count).min(plain);
        (end, kind)
    })
}

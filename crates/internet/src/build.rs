//! Making an Internet of a profile: its servers, operators and top-level domains.

use crate::chain::Nsec3;
use crate::hosting::HostingTable;
use crate::internet::OperatorZone;
use crate::keys::KeyKind;
use crate::labels::Labels;
use crate::profile::{Denial, Latency, Profile, Registry as RegistryProfile};
use crate::random::{Draws, Purpose};
use crate::registry::{Delegation, Registry, RegistrySigning};
use crate::reverse::ReverseSets;
use crate::servers::{ServerTable, SetId};
use crate::wire::child;
use dnsrig_zone::Name;
use std::collections::HashMap;

/// The label of the domain that a named top-level domain's servers are in.
const REGISTRY_LABEL: &str = "nic";
/// The domain that the root's servers are in, below the top-level domain of infrastructure.
const ROOT_LABEL: &str = "root-servers";
/// The domain that the servers of arpa are in.
const ARPA_LABEL: &str = "arpa-servers";
/// The domain that the servers of in-addr.arpa and ip6.arpa are in.
const TREE_LABEL: &str = "in-addr-servers";
/// What the labels begin with of the domains of other operators, and of what else there are several of; numbers follow.
const OTHER_OPERATOR: &str = "dns-h";
const CONTENT_NETWORK: &str = "content-";
const SHARED_REGISTRY: &str = "registry-";
const ADDRESS_REGISTRY: &str = "address-registry-";
/// Labels of the Internet's own domains.
pub(crate) const OWN_LABELS: [&str; 4] = [REGISTRY_LABEL, ROOT_LABEL, ARPA_LABEL, TREE_LABEL];
/// What further ones begin with; numbers follow.
pub(crate) const NUMBERED_LABELS: [&str; 4] = [
    OTHER_OPERATOR,
    CONTENT_NETWORK,
    SHARED_REGISTRY,
    ADDRESS_REGISTRY,
];
/// The top-level domain for infrastructure, if the profile has it.
const INFRASTRUCTURE: &str = "net";

/// What an Internet consists of.
pub(crate) struct Parts {
    pub servers: ServerTable,
    pub root_set: SetId,
    pub root_signing: Option<RegistrySigning>,
    pub registries: Vec<Registry>,
    pub operators: Vec<OperatorZone>,
    /// The numbers of the operators' zones that are networks for content.
    pub content_networks: Vec<u32>,
    pub hosting: HostingTable,
    /// Who serves the reverse tree, if there is one.
    pub reverse: Option<ReverseSets>,
    /// Sets by the names that outages have for them.
    pub sets_by_operator: HashMap<String, Vec<SetId>>,
}

struct Builder<'a> {
    seed: u64,
    profile: &'a Profile,
    servers: ServerTable,
    operators: Vec<OperatorZone>,
    /// Delegations beside domains: the registry, the label, and what is delegated.
    delegations: Vec<(u32, Box<[u8]>, Delegation)>,
    sets_by_operator: HashMap<String, Vec<SetId>>,
}

/// Makes all parts; `Err` says what is wrong with the profile.
pub(crate) fn build(seed: u64, profile: &Profile) -> Result<Parts, String> {
    let own_latency = &profile.hosting.other_latency;
    let own_latency = own_latency
        .iter()
        .map(|name| profile.latency[name])
        .collect();
    let mut builder = Builder {
        seed,
        profile,
        servers: ServerTable::new(seed, profile.addresses, own_latency, profile.faults),
        operators: Vec::new(),
        delegations: Vec::new(),
        sets_by_operator: HashMap::new(),
    };
    let infrastructure = profile
        .tld
        .iter()
        .position(|tld| tld.name == INFRASTRUCTURE);
    let infrastructure = infrastructure.unwrap_or(0) as u32;
    let root = &profile.root;
    let root_set = builder.operator(
        ".",
        ROOT_LABEL,
        infrastructure,
        letters(root.servers),
        &root.latency,
        true,
    );
    let mut sets = Vec::new();
    for (place, tld) in profile.tld.iter().enumerate() {
        let names = letters(tld.registry.servers);
        let account = format!(".{}", tld.name);
        sets.push(builder.operator(
            &account,
            REGISTRY_LABEL,
            place as u32,
            names,
            &tld.registry.latency,
            true,
        ));
    }
    let other = &profile.other_tlds;
    let mut shared_sets = Vec::new();
    for number in 1..=other.operators.min(other.count) {
        let label = format!("{SHARED_REGISTRY}{number}");
        let names = letters(other.registry.servers);
        shared_sets.push(builder.operator(
            &label,
            &label,
            infrastructure,
            names,
            &other.registry.latency,
            true,
        ));
    }
    let (large, others) = builder.hosting_sets();
    let content_networks = builder.content_networks();
    let reverse = builder.reverse_sets(infrastructure);
    let listed = builder.servers.servers().len();
    let room = builder.servers.listed_max();
    if listed > room as usize {
        return Err(format!(
            "hosting: its operators have {listed} name servers, but addresses.ipv4_length leaves room for {room}; choose a shorter prefix or fewer operators"
        ));
    }
    let registries = builder.registries(&sets, &shared_sets);
    Ok(Parts {
        root_set,
        root_signing: signing_of(root),
        registries,
        content_networks,
        reverse,
        hosting: HostingTable::new(seed, &profile.hosting, large, others),
        servers: builder.servers,
        operators: builder.operators,
        sets_by_operator: builder.sets_by_operator,
    })
}

/// A share of all domains, one at least.
fn share_of(profile: &Profile, share: f64) -> u64 {
    ((profile.domains as f64 * share).round() as u64).max(1)
}

/// `a`, `b`, ... as labels.
fn letters(count: u32) -> Vec<Vec<String>> {
    let letter = |place: u32| char::from(b'a' + place as u8).to_string();
    vec![(0..count).map(letter).collect()]
}

/// `ns1`, `ns2`, ... in sets.
fn numbered(sets: u32, servers: u32) -> Vec<Vec<String>> {
    let label = |set: u32, server: u32| format!("ns{}", set * servers + server + 1);
    (0..sets)
        .map(|set| (0..servers).map(|server| label(set, server)).collect())
        .collect()
}

pub(crate) fn signing_of(registry: &RegistryProfile) -> Option<RegistrySigning> {
    let algorithm = registry.algorithm.as_ref()?.parse().ok()?;
    let nsec3 = match registry.denial {
        Denial::Nsec => None,
        Denial::Nsec3 => Some(Nsec3::new(0, false)),
        Denial::Nsec3OptOut => Some(Nsec3::new(0, true)),
    };
    Some(RegistrySigning {
        keys: KeyKind {
            algorithm,
            is_single: false,
        },
        nsec3,
    })
}

impl Builder<'_> {
    fn latency(&self, name: &str) -> Latency {
        self.profile.latency[name]
    }

    fn tld_name(&self, registry: u32) -> Name {
        let label = &self.profile.tld[registry as usize].name;
        child(label.as_bytes(), &Name::root_bytes())
    }

    /// Adds an operator with its domain and sets of servers; gives the first set.
    fn operator(
        &mut self,
        account: &str,
        label: &str,
        registry: u32,
        sets: Vec<Vec<String>>,
        latency: &str,
        is_registry: bool,
    ) -> SetId {
        let name = child(label.as_bytes(), &self.tld_name(registry));
        let latency = self.latency(latency);
        let mut ids = Vec::with_capacity(sets.len());
        for set in sets {
            let names = set
                .iter()
                .map(|host| child(host.as_bytes(), &name))
                .collect();
            ids.push(self.servers.add_set(account, names, latency, is_registry));
        }
        let zone = self.operators.len() as u32;
        let delegation = Delegation::Operator(zone);
        self.delegations
            .push((registry, label.as_bytes().into(), delegation));
        let first = ids[0];
        self.sets_by_operator
            .insert(account.to_owned(), ids.clone());
        self.operators.push(OperatorZone {
            name,
            registry,
            sets: ids,
            delivery: None,
        });
        first
    }

    fn hosting_sets(&mut self) -> (Vec<Vec<SetId>>, Vec<SetId>) {
        let hosting = &self.profile.hosting;
        let mut large = Vec::new();
        for operator in &hosting.operator {
            let tlds = &self.profile.tld;
            let registry = tlds
                .iter()
                .position(|tld| tld.name == operator.tld)
                .unwrap_or(0);
            let names = numbered(operator.sets, operator.servers);
            self.operator(
                &operator.name,
                &operator.name,
                registry as u32,
                names,
                &operator.latency,
                false,
            );
            large.push(self.operators[self.operators.len() - 1].sets.clone());
        }
        let mut others = Vec::new();
        for number in 0..hosting.other_operators {
            let mut draws = Draws::new(self.seed, Purpose::Hosting, 1 << 41, number.into());
            let registry = draws.below(self.profile.tld.len() as u64) as u32;
            let latency = draws.pick(&hosting.other_latency).clone();
            let label = format!("{OTHER_OPERATOR}{}", number + 1);
            let names = numbered(1, hosting.other_servers);
            others.push(self.operator(&label, &label, registry, names, &latency, false));
        }
        (large, others)
    }

    /// Networks for content; what every second one's customers are led to is in the next one.
    fn content_networks(&mut self) -> Vec<u32> {
        let hosting = &self.profile.hosting;
        let first = self.operators.len() as u32;
        let count = hosting.content_networks;
        for number in 0..count {
            let registry = number % self.profile.tld.len() as u32;
            let latency = &hosting.other_latency[number as usize % hosting.other_latency.len()];
            let label = format!("{CONTENT_NETWORK}{}", number + 1);
            self.operator(&label, &label, registry, numbered(1, 4), latency, false);
        }
        for number in 0..count {
            let led_to = if number % 2 == 0 {
                number
            } else {
                (number + 1) % count
            };
            self.operators[(first + number) as usize].delivery = Some(first + led_to);
        }
        (first..first + count).collect()
    }

    /// The servers of the reverse tree.
    fn reverse_sets(&mut self, infrastructure: u32) -> Option<ReverseSets> {
        let reverse = self.profile.reverse.as_ref()?;
        let mut add = |label: &str| {
            let names = letters(reverse.registry.servers);
            let latency = &reverse.registry.latency;
            self.operator(label, label, infrastructure, names, latency, true)
        };
        Some(ReverseSets {
            arpa: add(ARPA_LABEL),
            tree: add(TREE_LABEL),
            registries: (1..=reverse.registries)
                .map(|number| add(&format!("{ADDRESS_REGISTRY}{number}")))
                .collect(),
        })
    }

    fn registries(&mut self, sets: &[SetId], shared_sets: &[SetId]) -> Vec<Registry> {
        let (seed, profile) = (self.seed, self.profile);
        let mut registries: Vec<Registry> = Vec::new();
        let mut before = 0;
        for (place, tld) in profile.tld.iter().enumerate() {
            let below: f64 = tld.second_level.iter().map(|one| one.share).sum();
            let domains = share_of(profile, tld.share * (1.0 - below));
            registries.push(Registry::new(
                seed,
                place as u64,
                child(tld.name.as_bytes(), &Name::root_bytes()),
                tld.registry.clone(),
                sets[place],
                signing_of(&tld.registry),
                domains,
                before,
                tld.signed_share,
            ));
            before += domains;
        }
        let other = &profile.other_tlds;
        let weight = |place: u32| f64::from(place + 1).powf(-other.zipf);
        let total: f64 = (0..other.count).map(weight).sum();
        let of_tlds = profile.tld.iter().map(|tld| share_of(profile, tld.share));
        let rest = profile.domains.saturating_sub(of_tlds.sum());
        let labels = Labels::new(seed, 1 << 32, other.count.into());
        for place in 0..other.count {
            let mut label = labels.stem(place.into());
            while profile.tld.iter().any(|tld| tld.name == label) {
                label.push('x');
            }
            let mut draws = Draws::new(seed, Purpose::TopLevel, place.into(), 0);
            let domains = ((rest as f64 * weight(place) / total) as u64).max(1);
            let registry = self.other_registry(&mut draws);
            registries.push(Registry::new(
                seed,
                registries.len() as u64,
                child(label.as_bytes(), &Name::root_bytes()),
                registry.clone(),
                *draws.pick(shared_sets),
                signing_of(&registry),
                domains,
                before,
                other.signed_share,
            ));
            before += domains;
        }
        self.second_levels(&mut registries, before);
        for (registry, label, delegation) in std::mem::take(&mut self.delegations) {
            registries[registry as usize]
                .extra
                .push((label, delegation));
        }
        for registry in &mut registries {
            registry.extra.sort_unstable();
        }
        registries
    }

    /// Adds the public suffixes below top-level domains; `before` domains are under those.
    fn second_levels(&mut self, registries: &mut Vec<Registry>, mut before: u64) {
        for (place, tld) in self.profile.tld.iter().enumerate() {
            for second in &tld.second_level {
                let number = registries.len() as u32;
                let label = second.label.as_bytes();
                let domains = share_of(self.profile, tld.share * second.share);
                let above = &registries[place];
                let added = Registry::new(
                    self.seed,
                    number.into(),
                    child(label, &above.name),
                    tld.registry.clone(),
                    above.set,
                    above.signing.clone(),
                    domains,
                    before,
                    tld.signed_share,
                );
                registries.push(added);
                before += domains;
                let delegation = Delegation::Registry(number);
                self.delegations
                    .push((place as u32, label.into(), delegation));
            }
        }
    }

    /// How one of the top-level domains is that are not named.
    fn other_registry(&self, draws: &mut Draws) -> RegistryProfile {
        let other = &self.profile.other_tlds;
        let mut registry = other.registry.clone();
        if !draws.chance(other.signed_tlds) {
            registry.algorithm = None;
        }
        let draw = crate::random::unit(draws.next());
        if draw < other.nsec_share {
            registry.denial = Denial::Nsec;
        } else if draw < other.nsec_share + other.nsec3_share {
            registry.denial = Denial::Nsec3;
        }
        registry
    }
}

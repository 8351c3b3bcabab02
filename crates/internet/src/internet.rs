//! The simulated Internet: its parts, and what answering from them needs.

use crate::InternetError;
use crate::answer::{Answer, Arrived, Scratch};
use crate::build::{Parts, build};
use crate::cache::Cache;
use crate::excerpt::{Excerpt, Validity};
use crate::hosting::HostingTable;
use crate::keys::{KeyMaker, ZoneNumber, ds_of};
use crate::limits::RateLimits;
use crate::outages::Outages;
use crate::profile::{Addresses, Profile};
use crate::ready::ReadyAnswers;
use crate::registry::{Registry, RegistrySigning};
use crate::reverse::ReverseTree;
use crate::serve::{Responding, ServedBy};
use crate::servers::{OWN_SERVERS, ServerId, ServerTable, SetId};
use crate::signatures::Signatures;
use crate::zones::ExcerptKey;
use dnsrig_zone::{Name, PresentationName, PresentationRecord};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const DAY_S: u64 = 86_400;
/// The shares of memory that are for signatures and for answers, of 8 parts; the rest is for zones.
const SIGNATURES_OF_8: usize = 2;
const ANSWERS_OF_8: usize = 1;
/// TTL of the root's hints, in seconds.
const HINTS_TTL_S: u32 = 3_600_000;

/// How an Internet is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternetOptions {
    /// The seed of everything random.
    pub seed: u64,
    /// When signatures have to be valid, in seconds since 1970; they are from the day before on. The same time gives the
    /// same signatures.
    pub signed_at_s: u64,
    /// Octets that zones, signatures and answers may take together, about.
    pub memory_octets: usize,
    /// Whether answers are delayed and lost as the profile says.
    pub has_distances: bool,
    /// Puts all IPv4 addresses into 127.0.0.0/8 and leaves out IPv6, for a rig without network namespaces.
    pub on_loopback: bool,
}

impl InternetOptions {
    /// 1 GiB of memory, distances, the profile's addresses.
    pub fn new(seed: u64, signed_at_s: u64) -> Self {
        Self {
            seed,
            signed_at_s,
            memory_octets: 1 << 30,
            has_distances: true,
            on_loopback: false,
        }
    }
}

/// The domain of an operator of name servers.
#[derive(Clone, Debug)]
pub(crate) struct OperatorZone {
    pub name: Name,
    pub registry: u32,
    /// Its sets of servers; the first serves the domain itself.
    pub sets: Vec<SetId>,
    /// For a network for content: the operator's zone that its customers' names lead to.
    pub delivery: Option<u32>,
}

/// Adds a server of the root to a file of hints.
pub(crate) fn push_hint(text: &mut String, name: &Name, addresses: impl Iterator<Item = IpAddr>) {
    let name = PresentationName(name).to_string();
    // Writing to a String cannot fail.
    let _ = writeln!(text, ".\t{HINTS_TTL_S}\tIN\tNS\t{name}");
    for address in addresses {
        let rtype = if address.is_ipv4() { "A" } else { "AAAA" };
        let _ = writeln!(text, "{name}\t{HINTS_TTL_S}\tIN\t{rtype}\t{address}");
    }
}

/// A simulated Internet. Threads share it.
pub struct Internet {
    pub(crate) profile: Profile,
    pub(crate) options: InternetOptions,
    pub(crate) validity: Validity,
    pub(crate) servers: ServerTable,
    pub(crate) root_set: SetId,
    pub(crate) root_signing: Option<RegistrySigning>,
    pub(crate) registries: Vec<Registry>,
    pub(crate) registry_by_label: HashMap<Box<[u8]>, u32, RandomState>,
    pub(crate) operators: Vec<OperatorZone>,
    pub(crate) content_networks: Vec<u32>,
    pub(crate) hosting: HostingTable,
    pub(crate) reverse: Option<ReverseTree>,
    pub(crate) keys: KeyMaker,
    pub(crate) signatures: Signatures,
    /// Kept apart, as it is larger than all others, and every resolver asks it first.
    pub(crate) root: OnceLock<Arc<Excerpt>>,
    pub(crate) excerpts: Cache<ExcerptKey, Arc<Excerpt>>,
    pub(crate) ready: ReadyAnswers,
    pub(crate) zones_made: AtomicU64,
    pub(crate) refusing: Excerpt,
    pub(crate) rate_limits: RateLimits,
    pub(crate) outages: Outages,
}

impl std::fmt::Debug for Internet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Internet")
            .field("profile", &self.profile.name)
            .field("seed", &self.options.seed)
            .finish_non_exhaustive()
    }
}

/// 127.0.0.0/8 has room for every prefix that a profile may have but itself.
fn loopback(addresses: Addresses) -> Addresses {
    let host_bits = u32::MAX >> addresses.ipv4_length;
    let length = addresses.ipv4_length.max(9);
    let prefix = match addresses.ipv4_length {
        // The upper half: the lower has the machine's own 127.0.0.1.
        8 => 0x7f80_0000,
        _ => 0x7f00_0000 | (addresses.ipv4.to_bits() & 0x00ff_ffff & !host_bits),
    };
    Addresses {
        ipv4: Ipv4Addr::from_bits(prefix),
        ipv4_length: length,
        ipv6_share: 0.0,
        ..addresses
    }
}

/// The limit of each server: its operator's, or that of all.
fn rate_limits(profile: &Profile, servers: &ServerTable) -> RateLimits {
    let of_operator: HashMap<&str, u32> = profile
        .rate_limit
        .iter()
        .map(|limit| (limit.operator.as_str(), limit.qps))
        .collect();
    let limit = |operator: &str| {
        let own = of_operator.get(operator).copied();
        own.or(profile.faults.rate_limit_qps)
    };
    let numbers = 0..servers.servers().len() as u32;
    let listed = numbers.map(|number| limit(servers.operator(ServerId::Listed(number))));
    RateLimits::new(listed.collect(), limit(OWN_SERVERS))
}

impl Internet {
    /// Makes the Internet of `profile`; its zones are made when they are first asked for.
    ///
    /// # Errors
    /// [`InternetError::Profile`] if there can be no such one.
    pub fn new(profile: &Profile, options: InternetOptions) -> Result<Self, InternetError> {
        profile.check()?;
        let mut profile = profile.clone();
        if options.on_loopback {
            // Checked before, as elsewhere no profile may have these.
            profile.addresses = loopback(profile.addresses);
        }
        let refuse = |what| profile.refuse(what);
        let Parts {
            servers,
            root_set,
            root_signing,
            registries,
            operators,
            content_networks,
            hosting,
            reverse,
            sets_by_operator,
        } = build(options.seed, &profile).map_err(refuse)?;
        let label = |registry: &Registry| -> Box<[u8]> {
            let octets = registry.name.as_slice();
            octets[1..1 + usize::from(octets[0])].into()
        };
        let numbered = registries.iter().zip(0..);
        let numbered = numbered.filter(|(one, _)| one.depth == 1);
        let registry_by_label = numbered.map(|(one, number)| (label(one), number)).collect();
        let known =
            |operator: &str| operator == OWN_SERVERS || sets_by_operator.contains_key(operator);
        let outages = profile.outage.iter().map(|one| ("outage", &one.operator));
        let limits = profile.rate_limit.iter();
        let limits = limits.map(|one| ("rate_limit", &one.operator));
        for (what, operator) in outages.chain(limits) {
            if !known(operator) {
                return Err(refuse(format!(
                    "{what} of {operator}: there is no such operator; name one of hosting.operator, a tld as .com, . for the root, or one that accounts of the Internet name, such as dns-h1 or {OWN_SERVERS}"
                )));
            }
        }
        let outages = profile.outage.iter().flat_map(|outage| {
            let sets = sets_by_operator.get(&outage.operator).into_iter().flatten();
            let own = (outage.operator == OWN_SERVERS).then_some(None);
            let sets = sets.map(|set| Some(*set)).chain(own);
            sets.map(move |set| (set, outage))
        });
        let outages = Outages::new(outages);
        let rate_limits = rate_limits(&profile, &servers);
        let reverse = profile.reverse.as_ref().zip(reverse);
        let reverse = reverse.map(|(one, sets)| {
            ReverseTree::new(options.seed, one, sets, &profile.addresses, &servers)
        });
        let day = options.signed_at_s / DAY_S * DAY_S;
        let validity_s = u64::from(profile.signing.validity_days) * DAY_S;
        let for_signatures = options.memory_octets / 8 * SIGNATURES_OF_8;
        let for_answers = options.memory_octets / 8 * ANSWERS_OF_8;
        Ok(Self {
            validity: Validity {
                inception: day.saturating_sub(DAY_S) as u32,
                expiration: (day + validity_s) as u32,
            },
            keys: KeyMaker::new(options.seed, profile.signing.rsa_zsk_bits),
            signatures: Signatures::new(for_signatures),
            root: OnceLock::new(),
            excerpts: Cache::new(options.memory_octets - for_signatures - for_answers),
            ready: ReadyAnswers::new(for_answers),
            zones_made: AtomicU64::new(0),
            refusing: Excerpt::refusing()?,
            rate_limits,
            profile,
            options,
            servers,
            root_set,
            root_signing,
            registries,
            registry_by_label,
            operators,
            content_networks,
            hosting,
            reverse,
            outages,
        })
    }

    /// Its profile, as it is served.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Its name servers and their addresses.
    pub fn servers(&self) -> &ServerTable {
        &self.servers
    }

    /// Second-level domains, under all top-level domains together.
    pub fn domains(&self) -> u64 {
        let last = self.registries.last();
        last.map_or(0, |last| last.domains_before + last.labels.count())
    }

    /// Names and addresses of the root's servers, as a file of root hints (RFC 9609).
    pub fn root_hints(&self) -> String {
        let mut text = String::new();
        for server in self.servers.of_set(self.root_set) {
            let ipv6 = server.ipv6.map(IpAddr::V6);
            let addresses = [Some(IpAddr::V4(server.ipv4)), ipv6];
            push_hint(&mut text, &server.name, addresses.into_iter().flatten());
        }
        text
    }

    /// The root's DS record, as a file of trust anchors; nothing if the root is not signed.
    ///
    /// # Errors
    /// [`InternetError::Sign`] if its key cannot be made.
    pub fn trust_anchor(&self) -> Result<String, InternetError> {
        let Some(signing) = &self.root_signing else {
            return Ok(String::new());
        };
        let root = Name::root_bytes();
        let ksk = self.keys.ksk(&root, ROOT_NUMBER, signing.keys.algorithm)?;
        Ok(format!("{}\n", PresentationRecord(&ds_of(&ksk, 86_400))))
    }
}

/// The root's number among zones.
pub(crate) const ROOT_NUMBER: ZoneNumber = ZoneNumber {
    part: u64::MAX,
    index: u64::MAX,
};

impl Responding for Internet {
    fn answer(&self, arrived: &Arrived<'_>, scratch: &mut Scratch, out: &mut [u8]) -> Answer {
        Self::answer(self, arrived, scratch, out)
    }

    fn has_ipv6(&self) -> bool {
        self.profile.addresses.ipv6_share > 0.0
    }

    fn nearest(&self) -> Option<Duration> {
        if !self.options.has_distances {
            return None;
        }
        let medians = self.profile.latency.values().map(|one| one.median_ms);
        let least = medians.reduce(f64::min)?;
        Some(Duration::from_secs_f64(least / 1e3))
    }

    fn served_by(&self, server: ServerId) -> ServedBy {
        match server {
            ServerId::Own(_) => ServedBy::OwnServers,
            ServerId::Listed(number) => {
                let name = &self.servers.servers()[number as usize].name;
                let operator = self.servers.operator(server);
                ServedBy::Server(operator.to_owned(), name.fmt_with_dot().to_string())
            }
        }
    }

    fn begin_outages(&self, now: Duration, elapsed: Duration) {
        self.outages.begin(now, elapsed);
    }

    fn hold_outages(&self) {
        self.outages.hold();
    }

    fn signatures_made(&self) -> u64 {
        self.signatures.made()
    }

    fn zones_made(&self) -> u64 {
        self.zones_made.load(Ordering::Relaxed)
    }

    fn octets(&self) -> usize {
        let root = self.root.get().map_or(0, |root| root.octets);
        root + self.excerpts.octets() + self.signatures.octets() + self.ready.octets()
    }
}

//! Profiles: what a simulated Internet consists of, in TOML, each figure with its source.

mod check;
mod check_addresses;
mod check_names;
mod clients;
mod named;

use crate::InternetError;
use crate::keys::RSA_ZSK_BITS;
use dnsrig_sign::Algorithm;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

pub use clients::{Clients, WeightedHost, WeightedType};
pub use named::{NAMED_PROFILES, profile_text};

/// What a simulated Internet consists of. Shares are from 0 to 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The file or the named profile that it was read from, for messages; empty if it was neither.
    #[serde(skip)]
    pub(crate) read_from: String,
    /// A name for reports.
    pub name: String,
    /// What it is like, in a sentence.
    pub description: String,
    /// Where figures come from, by what they are about.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// Second-level domains, under all top-level domains together.
    pub domains: u64,
    /// Where the servers are.
    pub addresses: Addresses,
    /// The root zone.
    pub root: Registry,
    /// The large top-level domains by name.
    #[serde(default)]
    pub tld: Vec<Tld>,
    /// All others.
    pub other_tlds: OtherTlds,
    /// Who serves second-level domains.
    pub hosting: Hosting,
    /// The names of addresses; without, there are none.
    pub reverse: Option<Reverse>,
    /// What is in second-level domains.
    pub zones: Zones,
    /// How second-level domains are signed.
    pub signing: Signing,
    /// What clients ask for.
    #[serde(default)]
    pub clients: Clients,
    /// How far servers are, by name.
    pub latency: BTreeMap<String, Latency>,
    /// How far they are from elsewhere: by the name of the vantage, what replaces some of `latency`.
    #[serde(default)]
    pub vantage: BTreeMap<String, BTreeMap<String, Latency>>,
    /// What servers do wrong.
    #[serde(default)]
    pub faults: Faults,
    /// When operators are not to be reached.
    #[serde(default)]
    pub outage: Vec<Outage>,
    /// How many answers operators' servers give, where it is not what `faults` says.
    #[serde(default)]
    pub rate_limit: Vec<RateLimit>,
}

/// The prefixes of all server addresses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addresses {
    /// First IPv4 address.
    pub ipv4: Ipv4Addr,
    /// Length of the IPv4 prefix, 8 to 20.
    pub ipv4_length: u8,
    /// First IPv6 address.
    pub ipv6: Ipv6Addr,
    /// Length of the IPv6 prefix, 16 to 64.
    pub ipv6_length: u8,
    /// The share of name servers that have an IPv6 address too; the root's and registries' all have, unless this is 0.
    pub ipv6_share: f64,
}

/// How a zone of delegations is served and signed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// How many name servers, 1 to 13.
    pub servers: u32,
    /// The mnemonic of the algorithm of its keys; none: it is not signed.
    pub algorithm: Option<String>,
    /// How it denies existence.
    #[serde(default)]
    pub denial: Denial,
    /// TTL of NS RRsets of delegations, in seconds.
    pub ns_ttl_s: u32,
    /// TTL of DS RRsets of delegations, in seconds.
    pub ds_ttl_s: u32,
    /// TTL of negative answers, in seconds.
    pub negative_ttl_s: u32,
    /// How far its servers are: a name of `latency`.
    pub latency: String,
}

/// How a zone denies existence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denial {
    /// A chain of NSEC records.
    Nsec,
    /// A chain of NSEC3 records.
    Nsec3,
    /// A chain of NSEC3 records without unsigned delegations.
    #[default]
    Nsec3OptOut,
}

/// A large top-level domain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tld {
    /// Its label.
    pub name: String,
    /// Its share of all second-level domains.
    pub share: f64,
    /// The share of its delegations that have DS records.
    pub signed_share: f64,
    /// How it is served and signed.
    pub registry: Registry,
    /// Public suffixes below it with zones of their own, as co.uk has; domains are below them too.
    #[serde(default)]
    pub second_level: Vec<SecondLevel>,
}

/// A public suffix of two labels, served and signed as the top-level domain is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondLevel {
    /// Its first label.
    pub label: String,
    /// Its share of the top-level domain's domains.
    pub share: f64,
}

/// The names of addresses: arpa, in-addr.arpa and ip6.arpa, and the zones of networks below.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reverse {
    /// Address registries, which serve the zones of one octet.
    pub registries: u32,
    /// The share of networks of two octets that are delegated to an operator of name servers.
    pub delegated_share: f64,
    /// The share of networks of three octets within these that have a zone.
    pub assigned_share: f64,
    /// The share of addresses in these that have a PTR record.
    pub named_share: f64,
    /// The share of operators' zones that are signed.
    pub signed_share: f64,
    /// TTL of PTR RRsets, in seconds.
    pub ptr_ttl_s: u32,
    /// The share of PTR queries among those that clients ask.
    pub query_share: f64,
    /// How the zones above operators' are served and signed.
    pub registry: Registry,
}

/// The top-level domains that are not named.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherTlds {
    /// How many.
    pub count: u32,
    /// Domains under number `n` are as many as 1 / n to this power.
    pub zipf: f64,
    /// Registry operators that serve them all.
    pub operators: u32,
    /// The share that is signed.
    pub signed_tlds: f64,
    /// The share of signed ones that have NSEC.
    pub nsec_share: f64,
    /// The share of signed ones that have NSEC3 without opt-out.
    pub nsec3_share: f64,
    /// The share of their delegations that have DS records.
    pub signed_share: f64,
    /// How each is served, and signed where it is; `denial` is for those that the shares leave.
    pub registry: Registry,
}

/// Who serves second-level domains.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosting {
    /// The large operators.
    #[serde(default)]
    pub operator: Vec<Operator>,
    /// How many more there are.
    pub other_operators: u32,
    /// Domains that other operator number `n` has are as many as 1 / n to this power.
    pub zipf: f64,
    /// Name servers of other operators, 1 to 13.
    pub other_servers: u32,
    /// How far other operators' servers are: names of `latency`, each equally often.
    pub other_latency: Vec<String>,
    /// The share of domains whose name servers have names in the domain itself.
    pub own_servers_share: f64,
    /// The networks for content that names lead to by CNAME records.
    pub content_networks: u32,
}

/// A large operator of name servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    /// Its name: the first label of its domain, and none that the Internet has for domains of its own, such as `nic` or `dns-h1`.
    pub name: String,
    /// The top-level domain of its domain, which `tld` has.
    pub tld: String,
    /// Its share of all second-level domains.
    pub share: f64,
    /// How many different sets of name servers its customers get.
    pub sets: u32,
    /// Name servers of a set, 1 to 13.
    pub servers: u32,
    /// How far they are: a name of `latency`.
    pub latency: String,
}

/// What is in second-level domains.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// The share of names with an IPv6 address.
    pub aaaa_share: f64,
    /// The share of domains that get mail.
    pub mx_share: f64,
    /// The share of domains with TXT records at the apex.
    pub txt_share: f64,
    /// The share of domains with CAA records.
    pub caa_share: f64,
    /// The share of domains with SRV records, below an empty non-terminal.
    pub srv_share: f64,
    /// The share of domains with HTTPS records at the apex and at www (RFC 9460), unless that is an alias.
    #[serde(default)]
    pub https_share: f64,
    /// The share of domains with a wildcard.
    pub wildcard_share: f64,
    /// The share of hosts that are an alias of the apex.
    pub cname_share: f64,
    /// The share of domains with an alias of all below them, `old` (DNAME, RFC 6672).
    #[serde(default)]
    pub dname_share: f64,
    /// The share of domains whose www is an alias into a network for content.
    pub content_network_share: f64,
    /// Further hosts of a domain, on average.
    pub hosts: f64,
    /// TTLs of addresses and aliases.
    pub address_ttl_s: Vec<WeightedTtl>,
    /// TTLs of everything else.
    pub other_ttl_s: Vec<WeightedTtl>,
    /// TTL of what a network for content answers, in seconds.
    pub content_network_ttl_s: u32,
    /// TTLs of negative answers.
    pub negative_ttl_s: Vec<WeightedTtl>,
}

/// A TTL and how often it is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedTtl {
    /// Seconds.
    pub ttl_s: u32,
    /// Its weight among the others.
    pub weight: f64,
}

/// How second-level domains are signed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signing {
    /// Algorithms and how often each is.
    pub algorithms: Vec<WeightedAlgorithm>,
    /// The share of zones with NSEC3.
    pub nsec3_share: f64,
    /// NSEC3's additional iterations and how often each number is.
    pub nsec3_iterations: Vec<WeightedIterations>,
    /// The share of zones whose one key signs everything (CSK).
    pub single_key_share: f64,
    /// Bits of the RSA keys that sign everything but DNSKEY RRsets, in all zones; those that sign these, and single keys, have 2048.
    #[serde(default = "rsa_zsk_bits")]
    pub rsa_zsk_bits: u32,
    /// Share of zones that are signed although their registry has no DS records for them.
    pub without_ds_share: f64,
    /// TTL of DNSKEY RRsets, in seconds.
    pub dnskey_ttl_s: u32,
    /// Days that signatures are valid from the day of serving on.
    pub validity_days: u32,
}

fn rsa_zsk_bits() -> u32 {
    RSA_ZSK_BITS
}

/// An algorithm and how often it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedAlgorithm {
    /// Its mnemonic.
    pub algorithm: String,
    /// Its weight among the others.
    pub weight: f64,
}

/// A number of NSEC3 iterations and how often it is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedIterations {
    /// Additional iterations.
    pub iterations: u16,
    /// Its weight among the others.
    pub weight: f64,
}

/// Round-trip times: for each server one from a log-normal distribution, and a little more for each answer.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Median of the servers' round-trip times, in milliseconds.
    pub median_ms: f64,
    /// Spread between servers: standard deviation of the logarithm.
    pub sigma: f64,
    /// Mean of what each answer takes beyond its server's time, in milliseconds; exponentially distributed.
    pub jitter_ms: f64,
    /// The share of datagrams that get no answer.
    #[serde(default)]
    pub loss_share: f64,
}

/// What servers do wrong, each with the share of second-level domains' servers that do it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// The share of domains one of whose servers, not the first, refuses to answer for them.
    pub lame_share: f64,
    /// The share of servers that answer queries with EDNS by FORMERR (RFC 6891 section 7).
    pub edns_formerr_share: f64,
    /// The share of servers that ignore EDNS.
    pub edns_ignored_share: f64,
    /// The share of servers that send no UDP answers of more than 512 octets.
    pub udp_512_share: f64,
    /// The share of servers that let UDP answers have 4096 octets; others have 1232.
    pub udp_4096_share: f64,
    /// UDP answers that one server gives per second, root and registries included, beyond which every second is dropped and the others are truncated.
    pub rate_limit_qps: Option<u32>,
}

/// A time during which an operator is not to be reached.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The operator, as accounts name it: its name, a top-level domain with a dot before it, `.` for the root's servers,
    /// `dns-h1` and so on for the unnamed operators, `own servers` for those of all domains that have their own.
    pub operator: String,
    /// When it begins, in seconds after the beginning: that of serving, or in studies of each load.
    pub from_s: f64,
    /// How long it lasts, in seconds.
    pub for_s: f64,
}

/// How many answers each server of an operator gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The operator, as for outages.
    pub operator: String,
    /// As `rate_limit_qps` of the faults.
    pub qps: u32,
}

impl Profile {
    /// The algorithms that its zones are signed with, each once.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let tlds = self.tld.iter().map(|tld| &tld.registry);
        let reverse = self.reverse.iter().map(|reverse| &reverse.registry);
        let registries = tlds
            .chain(reverse)
            .chain([&self.root, &self.other_tlds.registry]);
        let of_registries = registries.filter_map(|registry| registry.algorithm.as_deref());
        let of_domains = self.signing.algorithms.iter();
        let of_domains = of_domains.filter_map(|one| (one.weight > 0.0).then_some(&*one.algorithm));
        // The profile was checked, so that they are known.
        let known = of_registries
            .chain(of_domains)
            .filter_map(|name| name.parse().ok());
        let mut all: Vec<Algorithm> = known.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The error that it says something that cannot be.
    pub(crate) fn refuse(&self, what: String) -> InternetError {
        let read_from = [&self.read_from, &self.name];
        let named = read_from.into_iter().find(|name| !name.is_empty());
        InternetError::Profile {
            profile: named.cloned().unwrap_or_default(),
            what,
        }
    }

    /// Puts the resolver elsewhere: distances are as seen from `vantage`.
    ///
    /// # Errors
    /// [`InternetError::Profile`] if it has no such vantage.
    pub fn see_from(&mut self, vantage: &str) -> Result<(), InternetError> {
        let Some(seen) = self.vantage.get(vantage) else {
            let known: Vec<&str> = self.vantage.keys().map(String::as_str).collect();
            return Err(self.refuse(match known[..] {
                [] => {
                    format!("there is no vantage {vantage}, nor any other; add [vantage.{vantage}]")
                }
                _ => format!(
                    "there is no vantage {vantage}; choose {}",
                    known.join(" or ")
                ),
            }));
        };
        self.latency.extend(seen.clone());
        Ok(())
    }

    /// The profile with this name, or of this file if `name` ends in `.toml`.
    pub fn load(name: &str) -> Result<Self, InternetError> {
        Self::parse(name, &profile_text(name)?)
    }

    /// The profile that `text` is; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, InternetError> {
        let mut profile: Self =
            toml::from_str(text).map_err(|source| InternetError::ParseProfile {
                profile: name.to_owned(),
                source: Box::new(source),
            })?;
        profile.read_from = name.to_owned();
        profile.check()?;
        Ok(profile)
    }
}

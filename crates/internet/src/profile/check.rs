//! Whether a profile can be.

use super::check_names::{check_label, check_own};
use super::{Latency, Operator, Outage, Profile, Registry, Tld};
use crate::InternetError;
use dnsrig_sign::Algorithm;

/// Domains at most: with more, numbers of labels would exceed 64 bits.
const DOMAINS_MAX: u64 = 1_000_000_000;
/// Characters of a name at most: reports have it in sentences.
const NAME_MAX: usize = 60;
/// Servers of a zone at most: more do not fit in a response of 512 octets.
const SERVERS_MAX: u32 = 13;
/// The longest TTL (RFC 2181 section 8).
const TTL_MAX_S: u32 = i32::MAX as u32;

pub(super) type Checked = Result<(), String>;

impl Profile {
    /// Fails unless every value is possible and every name known.
    pub fn check(&self) -> Result<(), InternetError> {
        self.check_all().map_err(|what| self.refuse(what))
    }

    fn check_all(&self) -> Checked {
        let is_shown = !self.name.trim().is_empty() && !self.name.chars().any(breaks_lines);
        if !is_shown || self.name.chars().count() > NAME_MAX {
            return Err(format!(
                "name: reports show it; choose 1 to {NAME_MAX} characters, in one line, and none that controls a terminal or turns text round"
            ));
        }
        between("domains", self.domains, 1, DOMAINS_MAX)?;
        self.addresses.check()?;
        self.check_registries()?;
        self.check_hosting()?;
        self.check_reverse()?;
        self.check_zones()?;
        self.check_signing()?;
        self.check_faults()?;
        self.clients.check()?;
        for (name, latency) in &self.latency {
            check_latency(name, latency)?;
        }
        for (vantage, seen) in &self.vantage {
            for (name, latency) in seen {
                self.check_latency_name(&format!("vantage.{vantage}"), name)?;
                check_latency(&format!("{name} from {vantage}"), latency)?;
            }
        }
        self.outage.iter().try_for_each(check_outage)?;
        self.check_rate_limits()
    }

    /// Checks that no operator has two; whether there is such an operator is known when the Internet is made.
    fn check_rate_limits(&self) -> Checked {
        for (place, limit) in self.rate_limit.iter().enumerate() {
            let mut before = self.rate_limit[..place].iter();
            if before.any(|other| other.operator == limit.operator) {
                return Err(format!(
                    "rate_limit of {} is given twice; leave one of them out",
                    limit.operator
                ));
            }
        }
        Ok(())
    }

    fn check_registries(&self) -> Checked {
        self.check_registry("root", &self.root)?;
        let mut sum = 0.0;
        for (place, tld) in self.tld.iter().enumerate() {
            let what = format!("tld {}", tld.name);
            check_label(&what, &tld.name)?;
            share(&format!("{what}: share"), tld.share)?;
            share(&format!("{what}: signed_share"), tld.signed_share)?;
            self.check_registry(&what, &tld.registry)?;
            if self.tld[..place].iter().any(|other| other.name == tld.name) {
                return Err(format!("{what} is given twice; leave one of them out"));
            }
            self.check_second_levels(&what, tld)?;
            sum += tld.share;
        }
        whole("the shares of all tld", sum)?;
        if self.tld.is_empty() {
            return Err(
                "there is no tld; name at least one, which holds the domains of operators".into(),
            );
        }
        let other = &self.other_tlds;
        between("other_tlds.count", other.count.into(), 0, 20_000)?;
        between("other_tlds.operators", other.operators.into(), 1, 1000)?;
        for (what, value) in [
            ("other_tlds.signed_tlds", other.signed_tlds),
            ("other_tlds.nsec_share", other.nsec_share),
            ("other_tlds.nsec3_share", other.nsec3_share),
            ("other_tlds.signed_share", other.signed_share),
            (
                "other_tlds: nsec_share and nsec3_share",
                other.nsec_share + other.nsec3_share,
            ),
        ] {
            share(what, value)?;
        }
        finite("other_tlds.zipf", other.zipf, 4.0)?;
        self.check_registry("other_tlds", &other.registry)
    }

    fn check_second_levels(&self, what: &str, tld: &Tld) -> Checked {
        let mut sum = 0.0;
        for (place, second) in tld.second_level.iter().enumerate() {
            let what = format!("{what}: second_level {}", second.label);
            check_label(&what, &second.label)?;
            share(&format!("{what}: share"), second.share)?;
            let is_operator =
                |operator: &Operator| (&operator.tld, &operator.name) == (&tld.name, &second.label);
            check_own(&what, &second.label)?;
            if self.hosting.operator.iter().any(is_operator) {
                return Err(format!(
                    "{what} is an operator's domain; choose another label"
                ));
            }
            let mut before = tld.second_level[..place].iter();
            if before.any(|other| other.label == second.label) {
                return Err(format!("{what} is given twice; leave one of them out"));
            }
            sum += second.share;
        }
        whole(&format!("{what}: the shares of all second_level"), sum)
    }

    fn check_reverse(&self) -> Checked {
        let Some(reverse) = &self.reverse else {
            return Ok(());
        };
        between("reverse.registries", reverse.registries.into(), 1, 50)?;
        for (what, value) in [
            ("delegated_share", reverse.delegated_share),
            ("assigned_share", reverse.assigned_share),
            ("named_share", reverse.named_share),
            ("signed_share", reverse.signed_share),
            ("query_share", reverse.query_share),
        ] {
            share(&format!("reverse.{what}"), value)?;
        }
        let ttl_s = reverse.ptr_ttl_s.into();
        between("reverse.ptr_ttl_s", ttl_s, 0, TTL_MAX_S.into())?;
        if self.tld.iter().any(|tld| tld.name == "arpa") {
            return Err("tld arpa: it is made by [reverse]; leave one of them out".into());
        }
        self.check_registry("reverse", &reverse.registry)
    }

    fn check_registry(&self, what: &str, registry: &Registry) -> Checked {
        between(
            &format!("{what}: servers"),
            registry.servers.into(),
            1,
            SERVERS_MAX.into(),
        )?;
        for (field, ttl_s) in [
            ("ns_ttl_s", registry.ns_ttl_s),
            ("ds_ttl_s", registry.ds_ttl_s),
            ("negative_ttl_s", registry.negative_ttl_s),
        ] {
            between(
                &format!("{what}: {field}"),
                ttl_s.into(),
                0,
                TTL_MAX_S.into(),
            )?;
        }
        if let Some(algorithm) = &registry.algorithm {
            check_algorithm(what, algorithm)?;
        }
        self.check_latency_name(what, &registry.latency)
    }

    fn check_hosting(&self) -> Checked {
        let hosting = &self.hosting;
        let mut sum = hosting.own_servers_share;
        share("hosting.own_servers_share", sum)?;
        for (place, operator) in hosting.operator.iter().enumerate() {
            let what = format!("hosting.operator {}", operator.name);
            check_label(&what, &operator.name)?;
            check_own(&what, &operator.name)?;
            share(&format!("{what}: share"), operator.share)?;
            between(&format!("{what}: sets"), operator.sets.into(), 1, 1000)?;
            between(
                &format!("{what}: servers"),
                operator.servers.into(),
                1,
                SERVERS_MAX.into(),
            )?;
            self.check_latency_name(&what, &operator.latency)?;
            if !self.tld.iter().any(|tld| tld.name == operator.tld) {
                return Err(format!(
                    "{what}: the top-level domain {} is none of those under tld; name one of them",
                    operator.tld
                ));
            }
            let mut before = hosting.operator[..place].iter();
            if before.any(|other| other.name == operator.name) {
                return Err(format!("{what} is given twice; leave one of them out"));
            }
            sum += operator.share;
        }
        whole("the shares of all operators and own_servers_share", sum)?;
        between(
            "hosting.other_operators",
            hosting.other_operators.into(),
            0,
            5000,
        )?;
        if hosting.other_operators == 0 && hosting.operator.is_empty() {
            return Err(
                "there are no operators; hosting.other_operators has to be 1 at least".into(),
            );
        }
        between(
            "hosting.other_servers",
            hosting.other_servers.into(),
            1,
            SERVERS_MAX.into(),
        )?;
        between(
            "hosting.content_networks",
            hosting.content_networks.into(),
            1,
            100,
        )?;
        finite("hosting.zipf", hosting.zipf, 4.0)?;
        if hosting.other_latency.is_empty() {
            return Err("hosting.other_latency names no latency; give one at least".into());
        }
        hosting
            .other_latency
            .iter()
            .try_for_each(|name| self.check_latency_name("hosting.other_latency", name))
    }

    fn check_zones(&self) -> Checked {
        let zones = &self.zones;
        for (what, value) in [
            ("aaaa_share", zones.aaaa_share),
            ("mx_share", zones.mx_share),
            ("txt_share", zones.txt_share),
            ("caa_share", zones.caa_share),
            ("https_share", zones.https_share),
            ("srv_share", zones.srv_share),
            ("wildcard_share", zones.wildcard_share),
            ("cname_share", zones.cname_share),
            ("dname_share", zones.dname_share),
            ("content_network_share", zones.content_network_share),
        ] {
            share(&format!("zones.{what}"), value)?;
        }
        finite("zones.hosts", zones.hosts, 100.0)?;
        let ttl = zones.content_network_ttl_s.into();
        between("zones.content_network_ttl_s", ttl, 0, TTL_MAX_S.into())?;
        for (what, ttls) in [
            ("address_ttl_s", &zones.address_ttl_s),
            ("other_ttl_s", &zones.other_ttl_s),
            ("negative_ttl_s", &zones.negative_ttl_s),
        ] {
            let what = format!("zones.{what}");
            weights(&what, ttls.iter().map(|ttl| ttl.weight))?;
            for ttl in ttls {
                between(&what, ttl.ttl_s.into(), 0, TTL_MAX_S.into())?;
            }
        }
        Ok(())
    }

    fn check_signing(&self) -> Checked {
        let signing = &self.signing;
        let algorithms = signing.algorithms.iter();
        weights(
            "signing.algorithms",
            algorithms.clone().map(|one| one.weight),
        )?;
        for one in algorithms {
            check_algorithm("signing.algorithms", &one.algorithm)?;
        }
        let iterations = signing.nsec3_iterations.iter();
        weights("signing.nsec3_iterations", iterations.map(|one| one.weight))?;
        share("signing.nsec3_share", signing.nsec3_share)?;
        share("signing.single_key_share", signing.single_key_share)?;
        Algorithm::RsaSha256
            .key_bits(Some(signing.rsa_zsk_bits))
            .map_err(|error| format!("signing.rsa_zsk_bits: {error}"))?;
        share("signing.without_ds_share", signing.without_ds_share)?;
        between(
            "signing.dnskey_ttl_s",
            signing.dnskey_ttl_s.into(),
            0,
            TTL_MAX_S.into(),
        )?;
        between(
            "signing.validity_days",
            signing.validity_days.into(),
            2,
            3650,
        )
    }

    fn check_faults(&self) -> Checked {
        let faults = &self.faults;
        for (what, value) in [
            ("lame_share", faults.lame_share),
            ("edns_formerr_share", faults.edns_formerr_share),
            ("edns_ignored_share", faults.edns_ignored_share),
            ("udp_512_share", faults.udp_512_share),
            ("udp_4096_share", faults.udp_4096_share),
        ] {
            share(&format!("faults.{what}"), value)?;
        }
        whole(
            "faults: edns_formerr_share and edns_ignored_share",
            faults.edns_formerr_share + faults.edns_ignored_share,
        )?;
        whole(
            "faults: udp_512_share and udp_4096_share",
            faults.udp_512_share + faults.udp_4096_share,
        )
    }

    fn check_latency_name(&self, what: &str, name: &str) -> Checked {
        match self.latency.contains_key(name) {
            true => Ok(()),
            false => Err(format!(
                "{what}: there is no latency {name}; add [latency.{name}] or name another"
            )),
        }
    }
}

/// Checks its times; whether there is such an operator is known when the Internet is made.
fn check_outage(outage: &Outage) -> Checked {
    finite("outage: from_s", outage.from_s, 1e9)?;
    finite("outage: for_s", outage.for_s, 1e9)
}

fn check_latency(name: &str, latency: &Latency) -> Checked {
    finite(
        &format!("latency.{name}: median_ms"),
        latency.median_ms,
        10_000.0,
    )?;
    finite(&format!("latency.{name}: sigma"), latency.sigma, 3.0)?;
    finite(
        &format!("latency.{name}: jitter_ms"),
        latency.jitter_ms,
        10_000.0,
    )?;
    share(&format!("latency.{name}: loss_share"), latency.loss_share)
}

fn check_algorithm(what: &str, name: &str) -> Checked {
    let algorithm: Algorithm = name.parse().map_err(|error| format!("{what}: {error}"))?;
    match algorithm.is_sha1() {
        true => Err(format!(
            "{what}: nothing is signed with {algorithm} (RFC 9905); choose another"
        )),
        false => Ok(()),
    }
}

pub(super) fn between(what: &str, value: u64, least: u64, most: u64) -> Checked {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!(
            "{what} is {value}; choose a number from {least} to {most}"
        )),
    }
}

pub(super) fn share(what: &str, value: f64) -> Checked {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} is {}; a share is from 0 to 1", told(value))),
    }
}

/// Whether a character controls terminals, ends lines, or turns round what is written after it (UAX #9 section 2).
fn breaks_lines(character: char) -> bool {
    let turns = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}')
}

/// A number for messages; three hundred digits say less than an exponent.
fn told(value: f64) -> String {
    match value == 0.0 || (1e-6..1e15).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

/// Sums of shares may miss 1 by what adding decimal fractions costs.
fn whole(what: &str, sum: f64) -> Checked {
    match sum <= 1.0 + 1e-9 {
        true => Ok(()),
        false => Err(format!(
            "{what} are {} together; they cannot exceed 1",
            told(sum)
        )),
    }
}

pub(super) fn finite(what: &str, value: f64, most: f64) -> Checked {
    match (0.0..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!(
            "{what} is {}; choose a number from 0 to {most}",
            told(value)
        )),
    }
}

pub(super) fn weights(what: &str, weights: impl Iterator<Item = f64>) -> Checked {
    let mut sum = 0.0;
    for weight in weights {
        finite(&format!("{what}: weight"), weight, 1e9)?;
        sum += weight;
    }
    match sum > 0.0 {
        true => Ok(()),
        false => Err(format!(
            "{what}: the weights are 0 together; give one that is more"
        )),
    }
}

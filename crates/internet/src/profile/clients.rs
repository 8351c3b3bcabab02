//! What clients ask an Internet for.

use super::check::{Checked, finite, weights};
use domain::base::iana::Rtype;
use serde::Deserialize;
use std::str::FromStr;

/// Labels that a host may have.
const LABELS_MAX: usize = 4;
/// The longest label that a host may have; a label of 63 octets is the longest there is (RFC 1035 section 2.3.4).
const LABEL_MAX: usize = 40;
/// Query types and meta-types (RFC 6895 section 3.1), which no records have.
const META_TYPES: std::ops::RangeInclusive<u16> = 128..=255;

/// The queries of clients, drawn at random: a domain by its popularity, then a type and a host in front of it.
///
/// Names of addresses are drawn apart (`reverse.query_share`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clients {
    /// Types that are asked for, and how often each is.
    pub types: Vec<WeightedType>,
    /// What precedes domains in names, and how often each does.
    pub hosts: Vec<WeightedHost>,
    /// The domain that is number `n` by popularity is asked for as often as 1 / n to this power.
    pub zipf: f64,
}

/// A type and how often it is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedType {
    /// Its mnemonic, or TYPE and its number (RFC 3597 section 5).
    #[serde(rename = "type")]
    pub rtype: String,
    /// Its weight among the others.
    pub weight: f64,
}

/// What precedes a domain, and how often it does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedHost {
    /// One label or several, with dots between them; none is the domain itself.
    pub host: String,
    /// Its weight among the others.
    pub weight: f64,
}

impl Default for Clients {
    /// The population of profiles that do not say; estimates of the rig's authors.
    fn default() -> Self {
        let types = [
            ("A", 0.62),
            ("AAAA", 0.28),
            ("TXT", 0.03),
            ("MX", 0.04),
            ("NS", 0.03),
        ];
        let hosts = [
            ("www", 0.45),
            ("", 0.3),
            ("mail", 0.06),
            ("api", 0.05),
            ("shop", 0.03),
            ("m", 0.03),
        ];
        Self {
            types: types
                .map(|(rtype, weight)| WeightedType {
                    rtype: rtype.into(),
                    weight,
                })
                .into(),
            hosts: hosts
                .map(|(host, weight)| WeightedHost {
                    host: host.into(),
                    weight,
                })
                .into(),
            zipf: 1.0,
        }
    }
}

impl Clients {
    /// Fails unless every value is possible.
    pub(super) fn check(&self) -> Checked {
        let all = self.types.iter().map(|one| one.weight);
        weights("clients.types", all)?;
        for WeightedType { rtype, .. } in &self.types {
            let is_of_records = |rtype: Rtype| {
                !META_TYPES.contains(&rtype.to_int())
                    && ![Rtype::OPT, Rtype::from_int(0)].contains(&rtype)
            };
            if !Rtype::from_str(rtype).is_ok_and(is_of_records) {
                return Err(format!(
                    "clients.types: {rtype} is no type of records; give a mnemonic such as A, or TYPE and a number"
                ));
            }
        }
        weights("clients.hosts", self.hosts.iter().map(|one| one.weight))?;
        for WeightedHost { host, .. } in &self.hosts {
            let labels: Vec<&str> = host.split('.').collect();
            if !host.is_empty()
                && (labels.len() > LABELS_MAX || !labels.iter().all(|label| is_label(label)))
            {
                return Err(format!(
                    "clients.hosts: '{host}' precedes no domain; give 1 to {LABELS_MAX} labels with dots between them, \
                     each of 1 to {LABEL_MAX} letters a to z, digits, hyphens and underscores, or \"\" for the domain itself"
                ));
            }
        }
        finite("clients.zipf", self.zipf, 4.0)
    }

    /// The types with their weights; those that are none, which checked profiles do not have, are left out.
    pub(crate) fn weighted_types(&self) -> Vec<(Rtype, f64)> {
        let types = self.types.iter();
        let known = types.map(|one| Rtype::from_str(&one.rtype).map(|rtype| (rtype, one.weight)));
        known.filter_map(Result::ok).collect()
    }

    /// The labels of hosts with their weights.
    pub(crate) fn weighted_hosts(&self) -> Vec<(Vec<Box<[u8]>>, f64)> {
        let labels = |host: &str| {
            let labels = host.split('.').filter(|label| !label.is_empty());
            labels.map(|label| label.as_bytes().into()).collect()
        };
        let hosts = self.hosts.iter();
        hosts.map(|one| (labels(&one.host), one.weight)).collect()
    }
}

fn is_label(label: &str) -> bool {
    let is_plain = |octet: u8| {
        octet.is_ascii_lowercase() || octet.is_ascii_digit() || [b'-', b'_'].contains(&octet)
    };
    (1..=LABEL_MAX).contains(&label.len()) && label.bytes().all(is_plain)
}

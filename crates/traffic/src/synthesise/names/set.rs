//! Names by their numbers: how often each is asked for, and of what form it is.

use super::super::random::{Random, mix, unit};
use super::super::ranks::{RankTable, Shares};
use crate::profile::NameFigures;

/// Names of one domain, so that zones have several names.
const NAMES_OF_A_DOMAIN: u64 = 4;
/// Last labels where a profile does not tell them, from the most frequent on.
pub(super) const USUAL_SUFFIXES: [&str; 24] = [
    "com", "net", "org", "de", "uk", "io", "jp", "fr", "nl", "br", "it", "ru", "info", "cn", "pl",
    "ca", "au", "es", "eu", "ch", "se", "tv", "app", "co",
];
/// Last labels that do not exist, likewise.
pub(super) const USUAL_UNKNOWN_SUFFIXES: [&str; 12] = [
    "local",
    "localhost",
    "lan",
    "home",
    "localdomain",
    "internal",
    "workgroup",
    "domain",
    "corp",
    "invalid",
    "intranet",
    "private",
];

/// Names that exist, or those that do not.
#[derive(Debug)]
pub(super) struct NameSet {
    pub count: u64,
    once: f64,
    popularity: RankTable,
    pub ttl_s: Shares<u32>,
    labels: Shares<u32>,
    /// Labels of names that have a host's label.
    host_labels: Option<Shares<u32>>,
    /// The share of names that are a last label alone.
    bare: f64,
    /// How many names a domain has, of which the first is the domain itself with the chance of `apex`.
    pub of_a_domain: u64,
    apex: f64,
    pub label_octets: Shares<u32>,
    pub suffixes: Shares<Box<[u8]>>,
}

impl NameSet {
    /// The names of `figures`, the shares of whose last labels are those of `usual_suffixes` if it does not tell them.
    pub fn new(figures: &NameFigures, usual_suffixes: &[&str]) -> Self {
        let share = |labels: f64| -> f64 {
            let of = figures.labels.iter().filter(|point| point[0] == labels);
            of.map(|point| point[1]).sum()
        };
        let total: f64 = figures.labels.iter().map(|point| point[1]).sum();
        let [bare, domains] = [share(1.0), share(2.0)];
        let hosts = total - bare - domains;
        let has_host = |point: &&[f64; 2]| point[0] >= 3.0 && point[1] > 0.0;
        let host_labels: Vec<[f64; 2]> = figures.labels.iter().filter(has_host).copied().collect();
        let share_of_domains = match domains + hosts > 0.0 {
            true => domains / (domains + hosts),
            false => 1.0,
        };
        let of_a_domain = ((1.0 / share_of_domains) as u64).clamp(1, NAMES_OF_A_DOMAIN);
        let suffixes: Vec<(Box<[u8]>, f64)> = match &figures.suffixes[..] {
            [] => with_shares(usual_suffixes, &figures.suffix_shares),
            told => told
                .iter()
                .map(|suffix| (suffix.label.as_bytes().into(), suffix.share))
                .collect(),
        };
        Self {
            count: figures.count as u64,
            once: figures.once,
            popularity: RankTable::new(figures.count as u64, &figures.popularity),
            ttl_s: Shares::of_points(&figures.ttl_s),
            labels: Shares::of_points(&figures.labels),
            host_labels: (!host_labels.is_empty()).then(|| Shares::of_points(&host_labels)),
            bare: bare / total,
            of_a_domain,
            apex: share_of_domains * of_a_domain as f64,
            label_octets: Shares::of_points(&figures.label_octets),
            suffixes: Shares::new(suffixes),
        }
    }
}

/// Labels with their shares in order; without shares, with those of Zipf's law.
fn with_shares(labels: &[&str], shares: &[f64]) -> Vec<(Box<[u8]>, f64)> {
    let share = |place: usize| match shares {
        [] => 1.0 / (place + 1) as f64,
        known => known.get(place).copied().unwrap_or(0.0),
    };
    let labels = labels.iter().enumerate();
    labels
        .map(|(place, label)| (label.as_bytes().into(), share(place)))
        .collect()
}

impl NameSet {
    /// How many labels the name has.
    pub fn labels_of(&self, number: u64, bits: u64) -> u32 {
        let draw = unit(mix(bits ^ 5));
        if draw < self.bare {
            return 1;
        }
        let Some(host_labels) = &self.host_labels else {
            return (*self.labels.of(mix(bits ^ 6))).max(2);
        };
        let is_first = number.is_multiple_of(self.of_a_domain);
        match is_first && unit(mix(bits ^ 7)) < self.apex {
            true => 2,
            false => *host_labels.of(mix(bits ^ 8)),
        }
    }

    /// Draws the number of a name.
    pub fn draw(&self, fresh: &mut u64, random: &mut Random) -> u64 {
        if self.once > 0.0 && random.chance(self.once) {
            *fresh += 1;
            return self.count + *fresh;
        }
        self.popularity.draw(random)
    }
}

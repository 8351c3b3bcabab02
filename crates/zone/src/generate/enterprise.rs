//! An organisation's zone: its own servers at the apex, and sites with hosts and services of theirs.

mod site;

use super::entries::{self, Entry};
use super::labels::{LabelModel, Labels};
use super::pipeline::Parts;
use super::random::{self, Purpose, Random};
use super::sink::{DelegationSigner, Sink};
use super::{addresses, check_room, origin_text, servers_of_others, small};
use crate::Name;
use domain::base::iana::Rtype;
use domain::utils::base64;
use site::Site;
use std::collections::BTreeMap;

/// Owner names of the apex and of what every organisation has.
const HEAD_NAMES: u64 = 24;
/// Owner names of one site on average, and the bounds of that.
const SITE_NAMES_MIN: u64 = 40;
const SITE_NAMES_MAX: u64 = 600;
/// Octets that the longest name needs above the origin.
const PREFIX_OCTETS_MAX: usize = 112;

/// A part of the zone below the apex.
enum Part {
    /// What every organisation has below one label: its index among all such labels.
    Head(usize),
    /// A site: its label, its number, and how many owner names it has.
    Site(Vec<u8>, u64, u64),
}

/// An organisation's zone, ready to be made.
pub(super) struct Enterprise {
    setting: Setting,
    /// Top labels of what every organisation has.
    head: Vec<String>,
    parts: Vec<Part>,
}

/// What the records of all parts depend on.
struct Setting {
    seed: u64,
    origin: String,
    /// A name server of another organisation.
    other_server: &'static str,
}

impl Setting {
    fn address(&self, owner: &str, ttl_s: u32, place: u64) -> Entry {
        let address = addresses::v4(self.seed, place).to_string();
        Entry::new(owner.to_owned(), Rtype::A, ttl_s, address)
    }

    fn address6(&self, owner: &str, ttl_s: u32, place: u64) -> Entry {
        let address = addresses::v6(self.seed, place).to_string();
        Entry::new(owner.to_owned(), Rtype::AAAA, ttl_s, address)
    }

    /// The absolute form of a name relative to the origin.
    fn absolute(&self, name: &str) -> String {
        format!("{name}.{}", self.origin)
    }

    /// A delegation with a server of its own that has glue, and one of another organisation: two owner names.
    fn delegation(&self, owner: &str, is_signed: bool, place: u64) -> Vec<Entry> {
        let ns1 = format!("ns1.{owner}");
        let servers = [self.absolute(&ns1), self.other_server.to_owned()];
        let mut made: Vec<Entry> = servers
            .into_iter()
            .map(|server| Entry::new(owner.to_owned(), Rtype::NS, 86400, server))
            .collect();
        made.push(self.address(&ns1, 86400, place));
        if is_signed {
            let signer = DelegationSigner::some(self.seed, place).to_string();
            made.push(Entry::new(owner.to_owned(), Rtype::DS, 86400, signer));
        }
        made
    }

    fn domain_key(&self, owner: String, random: &mut Random) -> Entry {
        let mut modulus = [0; 256];
        random.fill(&mut modulus);
        Entry::new(owner, Rtype::TXT, 3600, small::domain_key(modulus))
    }
}

/// `octets` random octets in base64.
fn token(octets: usize, random: &mut Random) -> String {
    let mut buffer = vec![0; octets];
    random.fill(&mut buffer);
    base64::encode_string(&buffer)
}

impl Enterprise {
    /// The zone `origin` with `names` owner names, or why there is none.
    pub fn new(origin: &Name, names: u64, seed: u64) -> Result<Self, String> {
        check_room(origin, PREFIX_OCTETS_MAX)?;
        if origin.is_root() {
            return Err("an organisation's zone is below the root, so choose another name".into());
        }
        if names < HEAD_NAMES {
            return Err(format!("choose {HEAD_NAMES} names or more"));
        }
        let setting = Setting {
            seed,
            origin: String::from_utf8_lossy(&origin_text(origin)).into_owned(),
            other_server: servers_of_others(origin)[1],
        };
        let mut made = Self {
            head: head_by_label(&setting).into_keys().collect(),
            setting,
            parts: Vec::new(),
        };
        made.parts = made.all_parts(names - HEAD_NAMES);
        Ok(made)
    }

    /// Parts in the order of their labels, the sites with `names` owner names in all.
    fn all_parts(&self, names: u64) -> Vec<Part> {
        let average = names.isqrt().clamp(SITE_NAMES_MIN, SITE_NAMES_MAX);
        let count = names.div_ceil(average);
        let weights: Vec<u64> = (0..count)
            .map(|site| 1 + random::at(self.setting.seed, Purpose::Site, site) % 8)
            .collect();
        let total: u64 = weights.iter().sum();
        let share_up_to = |weight: u64| names * weight / total.max(1);
        let mut weight_before = 0;
        let sites = self.site_labels(count).into_iter().zip(weights).zip(0..);
        let mut parts: Vec<(Vec<u8>, Part)> = sites
            .map(|((label, weight), site)| {
                let before = share_up_to(weight_before);
                weight_before += weight;
                let names = share_up_to(weight_before) - before;
                (label.clone(), Part::Site(label, site, names))
            })
            .collect();
        let head = self.head.iter().enumerate();
        parts.extend(head.map(|(index, label)| (label.clone().into_bytes(), Part::Head(index))));
        parts.sort_by(|(a, _), (b, _)| a.cmp(b));
        parts.into_iter().map(|(_, part)| part).collect()
    }

    fn site_labels(&self, count: u64) -> Vec<Vec<u8>> {
        let model = LabelModel::new();
        let taken: Vec<&[u8]> = self.head.iter().map(String::as_bytes).collect();
        let mut found = Vec::new();
        for (index, group) in model.groups.iter().enumerate() {
            let mut random = Random::new(self.setting.seed, Purpose::Labels, index as u64);
            let count = model.share_of_group(count, index) as usize;
            let labels = Labels::draw(&model, group, count, &taken, &mut random);
            found.extend(labels.iter().map(<[u8]>::to_vec));
        }
        found
    }

    /// The records of the apex, the SOA record first.
    fn apex(&self, sink: &mut Sink) {
        let Setting { seed, origin, .. } = &self.setting;
        let apex = origin.as_bytes();
        let mut random = Random::new(*seed, Purpose::Site, u64::MAX);
        let mut rrset = |rtype: Rtype, ttl_s: u32, data: &[String]| {
            let head = format!(" {ttl_s} IN {rtype} ");
            let data: Vec<&[u8]> = data.iter().map(String::as_bytes).collect();
            sink.plain(apex, rtype, &head, &data);
        };
        let soa = format!("ns1.{origin} hostmaster.{origin} 2025010101 10800 3600 1209600 3600");
        rrset(Rtype::SOA, 3600, &[soa]);
        rrset(Rtype::A, 300, &[addresses::v4(*seed, u64::MAX).to_string()]);
        let mut servers = [
            format!("ns1.{origin}"),
            self.setting.other_server.to_owned(),
        ];
        servers.sort_by_cached_key(|server| crate::read::rdata_from_text(Rtype::NS, server));
        rrset(Rtype::NS, 86400, &servers);
        let exchanges = [(10, "mail"), (20, "mail2")];
        let exchanges = exchanges.map(|(preference, host)| format!("{preference} {host}.{origin}"));
        rrset(Rtype::MX, 3600, &exchanges);
        let texts = [
            "\"v=spf1 mx ip4:198.18.0.0/15 ip6:2001:db8::/32 -all\"".to_owned(),
            format!("\"site-verification={}\"", token(32, &mut random)),
        ];
        rrset(Rtype::TXT, 3600, &texts);
        rrset(
            Rtype::AAAA,
            300,
            &[addresses::v6(*seed, u64::MAX).to_string()],
        );
        let policies = [
            "0 iodef \"mailto:security@ca.example\"",
            "0 issue \"ca.example\"",
        ];
        rrset(Rtype::CAA, 3600, &policies.map(str::to_owned));
        sink.counts.names += 1;
        sink.name_done();
    }
}

/// What every organisation has below the apex, by the label next to it.
fn head_by_label(setting: &Setting) -> BTreeMap<String, Vec<Entry>> {
    let mut random = Random::new(setting.seed, Purpose::Site, u64::MAX - 1);
    let text =
        |owner: &str, data: &str| Entry::new(owner.to_owned(), Rtype::TXT, 3600, data.to_owned());
    let alias = |owner: &str, target: &str| {
        Entry::new(
            owner.to_owned(),
            Rtype::CNAME,
            3600,
            setting.absolute(target),
        )
    };
    let service = |owner: &str, port: u16, target: &str| {
        let data = format!("0 1 {port} {}", setting.absolute(target));
        Entry::new(owner.to_owned(), Rtype::SRV, 3600, data)
    };
    let mut entries = vec![
        text(
            "_dmarc",
            "\"v=DMARC1; p=quarantine; rua=mailto:dmarc@reports.example; pct=100\"",
        ),
        setting.domain_key("default._domainkey".to_owned(), &mut random),
        alias("imap", "mail"),
        alias("ftp", "www"),
        service("_imaps._tcp", 993, "mail"),
        service("_submission._tcp", 587, "mail"),
        setting.address("*.apps", 300, u64::MAX - 1),
        setting.address("db.internal", 3600, u64::MAX - 2),
    ];
    let hosts = [
        "mail", "mail2", "ns1", "www", "api", "blog", "portal", "shop", "vpn", "webmail",
        "intranet",
    ];
    for (host, place) in hosts.into_iter().zip(16..) {
        entries.push(setting.address(host, 3600, u64::MAX - place));
        entries.push(setting.address6(host, 3600, u64::MAX - place));
    }
    entries.extend(setting.delegation("sub", true, u64::MAX - 3));
    entries.extend(setting.delegation("legacy", false, u64::MAX - 4));
    let mut by_label: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        let list = by_label.entry(entry.top_label().to_owned()).or_default();
        list.push(entry);
    }
    by_label
}

impl Parts for Enterprise {
    fn count(&self) -> usize {
        1 + self.parts.len()
    }

    fn make(&self, index: usize, sink: &mut Sink) {
        let Some(part) = index.checked_sub(1).map(|index| &self.parts[index]) else {
            return self.apex(sink);
        };
        let records = match part {
            Part::Head(index) => head_by_label(&self.setting)
                .remove(&self.head[*index])
                .unwrap_or_default(),
            Part::Site(label, number, names) => {
                Site::new(&self.setting, &String::from_utf8_lossy(label), *number).make(*names)
            }
        };
        entries::write(records, self.setting.origin.as_bytes(), sink);
    }
}

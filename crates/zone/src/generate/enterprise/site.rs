//! One site of an organisation: hosts, services, aliases, wildcards, mail domains and child zones.

use super::{Setting, token};
use crate::generate::entries::Entry;
use crate::generate::random::{Purpose, Random};
use crate::generate::words;
use domain::base::iana::Rtype;
use std::collections::HashSet;

/// A site being made.
pub(super) struct Site<'a> {
    setting: &'a Setting,
    label: &'a str,
    random: Random,
    entries: Vec<Entry>,
    /// Owner names in use, relative to the site.
    taken: HashSet<String>,
    /// Owners of address records, as targets.
    hosts: Vec<String>,
    next_place: u64,
}

impl<'a> Site<'a> {
    /// The site of this label, the `number`-th of the zone.
    pub fn new(setting: &'a Setting, label: &'a str, number: u64) -> Self {
        Self {
            setting,
            label,
            random: Random::new(setting.seed, Purpose::Site, number),
            entries: Vec::new(),
            taken: HashSet::new(),
            hosts: Vec::new(),
            next_place: number << 24,
        }
    }

    /// The records of the site, with `names` owner names.
    pub fn make(mut self, names: u64) -> Vec<Entry> {
        while (self.taken.len() as u64) < names {
            let missing = names - self.taken.len() as u64;
            match self.random.below(100) {
                // Aliases and services need a host to point to.
                _ if self.hosts.is_empty() => self.host(""),
                0..4 if missing >= 2 => self.child_zone(),
                4..8 => self.mail_domain(),
                8..10 => self.wildcard(),
                10..13 => self.service(),
                13..24 => self.alias(),
                24..25 => self.domain_key(),
                25..31 => self.text(),
                31..50 => {
                    let branch = format!(".{}", self.random.pick(&words::BRANCHES));
                    self.host(&branch);
                }
                _ => self.host(""),
            }
        }
        self.entries
    }

    /// The name of `owner`, which is relative to the site, relative to the origin.
    fn name(&self, owner: &str) -> String {
        format!("{owner}.{}", self.label)
    }

    fn record(&mut self, owner: &str, rtype: Rtype, data: String) {
        let entry = Entry::new(self.name(owner), rtype, 3600, data);
        self.entries.push(entry);
        self.taken.insert(owner.to_owned());
    }

    fn place(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place
    }

    /// A word and a number, then `suffix`, that nothing has yet.
    fn new_name(&mut self, suffix: &str) -> String {
        let mut limit = 10;
        loop {
            let word = self.random.pick(&words::NUMBERED);
            let number = 1 + self.random.below(limit);
            let owner = format!("{word}{number}{suffix}");
            if !self.taken.contains(&owner) {
                return owner;
            }
            limit = limit.saturating_mul(2);
        }
    }

    /// The absolute name of a host of the site.
    fn some_host(&mut self) -> String {
        let host = self.random.pick(&self.hosts);
        self.setting.absolute(&self.name(host))
    }

    fn address(&mut self, owner: &str, ttl_s: u32, is_dual: bool) {
        let name = self.name(owner);
        let place = self.place();
        self.entries.push(self.setting.address(&name, ttl_s, place));
        if is_dual {
            self.entries
                .push(self.setting.address6(&name, ttl_s, place));
        }
        self.taken.insert(owner.to_owned());
    }

    fn host(&mut self, suffix: &str) {
        let owner = self.new_name(suffix);
        let ttl_s = *self.random.pick(&[300, 3600, 3600, 86400]);
        let is_dual = self.random.percent(40);
        self.address(&owner, ttl_s, is_dual);
        self.hosts.push(owner);
    }

    fn alias(&mut self) {
        let owner = self.new_name("");
        let target = self.some_host();
        self.record(&owner, Rtype::CNAME, target);
    }

    fn service(&mut self) {
        let (service, port) = *self.random.pick(&words::SERVICES);
        let owner = match self.taken.contains(service) {
            true => format!("{service}.{}", self.random.pick(&words::BRANCHES)),
            false => service.to_owned(),
        };
        if self.taken.contains(&owner) {
            return self.alias();
        }
        let target = self.some_host();
        self.record(&owner, Rtype::SRV, format!("10 5 {port} {target}"));
    }

    fn wildcard(&mut self) {
        let owner = format!("*.{}", self.random.pick(&words::BRANCHES));
        match self.taken.contains(&owner) {
            true => self.alias(),
            false => self.address(&owner, 300, false),
        }
    }

    fn text(&mut self) {
        let owner = self.new_name("");
        let token = token(24, &mut self.random);
        let data = format!("\"asset={owner}\" \"owner-token={token}\"");
        self.record(&owner, Rtype::TXT, data);
    }

    /// A name with mail of its own: MX, SPF and an address.
    fn mail_domain(&mut self) {
        let branch = format!(".{}", self.random.pick(&words::BRANCHES));
        let owner = self.new_name(&branch);
        let exchange = format!("10 {}", self.setting.absolute("mail"));
        self.record(&owner, Rtype::MX, exchange);
        self.record(&owner, Rtype::TXT, "\"v=spf1 mx -all\"".to_owned());
        self.address(&owner, 3600, false);
    }

    fn domain_key(&mut self) {
        let selector = format!("s{}._domainkey", 20_200_101 + self.random.below(40_000));
        if self.taken.contains(&selector) {
            return self.alias();
        }
        let name = self.name(&selector);
        let entry = self.setting.domain_key(name, &mut self.random);
        self.entries.push(entry);
        self.taken.insert(selector);
    }

    fn child_zone(&mut self) {
        let word = *self.random.pick(&words::CHILDREN);
        let owner = match self.taken.contains(word) {
            true => self.new_name(""),
            false => word.to_owned(),
        };
        let is_signed = self.random.percent(50);
        let place = self.place();
        let name = self.name(&owner);
        let made = self.setting.delegation(&name, is_signed, place);
        self.entries.extend(made);
        self.taken.insert(format!("ns1.{owner}"));
        self.taken.insert(owner);
    }
}

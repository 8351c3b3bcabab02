//! The zone of a small organisation, as JPRS-2010 measured one.

use super::pipeline::Parts;
use super::sink::Sink;
use super::words;
use crate::presentation::PresentationName;
use crate::{Name, Zone, ZoneError};
use domain::utils::base64;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;
use std::fmt::Write;

/// Records of the "small domain in operation" that JPRS-2010 measured.
pub const SMALL_DOMAIN_RECORDS: usize = 244;

/// The least that [`small_domain`] makes: one of each thing it promises.
pub const SMALL_DOMAIN_RECORDS_MIN: usize = 34;

/// The most that [`small_domain`] makes; it is a small domain, not a registry.
pub const SMALL_DOMAIN_RECORDS_MAX: usize = 100_000;

/// Octets that the longest generated name needs below the origin.
const PREFIX_OCTETS_MAX: usize = 48;

/// Makes a zone as a small organisation runs it, of exactly `records` records; the same for the same arguments, to
/// the octet.
///
/// It has SOA, two NS of which one is in the zone, MX, TXT with SPF, DKIM (a 2048-bit key's length) and DMARC, hosts with
/// A and AAAA records, SRV, CNAME and CAA records, wildcards in branches, delegations with glue, with DS records and without, and
/// empty non-terminals. Addresses are from 198.18.0.0/15 (RFC 2544) and 2001:db8::/32 (RFC 3849).
///
/// Fails if `records` is not within [`SMALL_DOMAIN_RECORDS_MIN`] and [`SMALL_DOMAIN_RECORDS_MAX`], or `origin` leaves no
/// room for names below it.
pub fn small_domain(origin: &Name, records: usize, seed: u64) -> Result<Zone, ZoneError> {
    let refuse = |why: String| ZoneError::Generate {
        size: format!("{records} records"),
        origin: PresentationName(origin).to_string(),
        why,
    };
    if !(SMALL_DOMAIN_RECORDS_MIN..=SMALL_DOMAIN_RECORDS_MAX).contains(&records) {
        return Err(refuse(format!(
            "choose a number from {SMALL_DOMAIN_RECORDS_MIN} to {SMALL_DOMAIN_RECORDS_MAX}"
        )));
    }
    if origin.len() + PREFIX_OCTETS_MAX > 255 {
        return Err(refuse(
            "the names below it would exceed 255 octets, so choose a shorter name".into(),
        ));
    }
    let mut domain = SmallDomain::new(origin, records, seed);
    domain.fixed_part();
    while domain.missing() > 0 {
        domain.one_more_thing();
    }
    Zone::parse(domain.text.as_bytes(), Some(origin))
}

/// A small domain, as the one part of a zone to be written.
pub(super) struct Whole(Zone);

impl Whole {
    /// [`small_domain`] with its errors.
    pub fn new(origin: &Name, records: usize, seed: u64) -> Result<Self, ZoneError> {
        small_domain(origin, records, seed).map(Self)
    }
}

impl Parts for Whole {
    fn count(&self) -> usize {
        1
    }

    fn make(&self, _: usize, sink: &mut Sink) {
        let mut text = Vec::new();
        self.0.write_to(&mut text).expect("a Vec takes any text");
        sink.whole(&text, self.0.statistics());
    }
}

/// A domain being made, as the text of a master file.
struct SmallDomain {
    text: String,
    wanted: usize,
    made: usize,
    random: ChaCha8Rng,
    /// Owner names in use, relative to the origin.
    taken: HashSet<String>,
    /// Owners of address records, as targets for CNAME, MX and SRV.
    hosts: Vec<String>,
    next_host: usize,
    next_address: u32,
    /// The second name server of the domain and of its child zones.
    second_server: &'static str,
}

/// A name server of another operator; where any such name would be in the zone and lack an address there, a host that
/// [`SmallDomain::fixed_part`] gives one.
fn second_server(origin: &Name) -> &'static str {
    let is_outside =
        |server: &&str| Name::bytes_from_str(server).is_ok_and(|name| !name.ends_with(origin));
    ["ns2.isp.example.", "ns2.isp.test."]
        .into_iter()
        .find(is_outside)
        .unwrap_or("mail2")
}

impl SmallDomain {
    fn new(origin: &Name, wanted: usize, seed: u64) -> Self {
        let text = format!("$ORIGIN {}\n$TTL 3600\n", PresentationName(origin));
        Self {
            text,
            wanted,
            made: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
            taken: HashSet::new(),
            hosts: Vec::new(),
            next_host: 0,
            next_address: 0,
            second_server: second_server(origin),
        }
    }

    fn missing(&self) -> usize {
        self.wanted - self.made
    }

    /// A number below `limit`, which is small; independent of how `rand` maps ranges in its next version.
    fn below(&mut self, limit: usize) -> usize {
        self.random.next_u32() as usize % limit
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn record(&mut self, owner: &str, ttl_s: u32, data: &str) {
        writeln!(self.text, "{owner} {ttl_s} IN {data}").expect("a String takes any text");
        self.taken.insert(owner.to_owned());
        self.made += 1;
    }

    /// Gives `owner` an address of its own, and an IPv6 address if `dual`.
    fn addresses(&mut self, owner: &str, ttl_s: u32, dual: bool) {
        self.next_address += 1;
        let number = self.next_address;
        let [_, high, middle, low] = number.to_be_bytes();
        self.record(
            owner,
            ttl_s,
            &format!("A 198.{}.{middle}.{low}", 18 + high % 2),
        );
        if dual {
            let site = self.below(16);
            self.record(
                owner,
                ttl_s,
                &format!("AAAA 2001:db8:{site:x}:{high:x}::{number:x}"),
            );
        }
        if !owner.contains('*') {
            self.hosts.push(owner.to_owned());
        }
    }

    /// One of each thing: [`SMALL_DOMAIN_RECORDS_MIN`] records.
    fn fixed_part(&mut self) {
        self.record(
            "@",
            3600,
            "SOA ns1 hostmaster 2025010101 10800 3600 1209600 3600",
        );
        for (preference, server) in [(10, "mail"), (20, "mail2")] {
            self.record("@", 3600, &format!("MX {preference} {server}"));
            self.addresses(server, 3600, true);
        }
        // One server of its own and one of another operator, as a small domain has it.
        self.record("@", 86400, "NS ns1");
        self.addresses("ns1", 86400, false);
        self.record("@", 86400, &format!("NS {}", self.second_server));
        self.addresses("@", 300, true);
        self.addresses("www", 300, true);
        self.record(
            "@",
            3600,
            "TXT \"v=spf1 mx ip4:198.18.0.0/15 ip6:2001:db8::/32 -all\"",
        );
        let token = self.base64_text(32);
        self.record("@", 3600, &format!("TXT \"site-verification={token}\""));
        self.record(
            "_dmarc",
            3600,
            "TXT \"v=DMARC1; p=quarantine; rua=mailto:dmarc@reports.example; pct=100\"",
        );
        self.domain_key("default");
        self.record("@", 3600, "CAA 0 issue \"ca.example\"");
        self.record("@", 3600, "CAA 0 iodef \"mailto:security@ca.example\"");
        self.record("imap", 3600, "CNAME mail");
        self.record("ftp", 3600, "CNAME www");
        self.record("_imaps._tcp", 3600, "SRV 0 1 993 mail");
        self.record("_submission._tcp", 3600, "SRV 0 1 587 mail");
        self.addresses("*.apps", 300, false);
        self.addresses("db.internal", 3600, false);
        self.delegation("sub", true, 1);
        self.delegation("legacy", false, 2);
    }

    /// Adds what a growing domain adds next; never more than is missing.
    fn one_more_thing(&mut self) {
        let missing = self.missing();
        match self.below(100) {
            0..8 if missing >= 5 => self.child_zone(),
            8..12 if missing >= 3 => self.mail_domain(),
            12..14 => self.wildcard(),
            14..17 => self.service(),
            17..28 => self.alias(),
            28..30 => self.domain_key_of_day(),
            30..36 => self.text_record(),
            36..55 => {
                let dual = missing >= 2 && self.below(2) == 0;
                let owner = self.branch_host();
                self.addresses(&owner, 3600, dual);
            }
            _ => {
                let dual = missing >= 2 && self.below(5) < 2;
                let owner = self.new_host();
                let ttl_s = [300, 3600, 3600, 86400][self.below(4)];
                self.addresses(&owner, ttl_s, dual);
            }
        }
    }

    /// A host name that nothing has yet: the usual ones first, then numbered ones.
    fn new_host(&mut self) -> String {
        while let Some(&word) = words::HOSTS.get(self.next_host) {
            self.next_host += 1;
            if !self.taken.contains(word) {
                return word.to_owned();
            }
        }
        self.new_numbered("")
    }

    fn branch_host(&mut self) -> String {
        let branch = format!(".{}", self.pick(&words::BRANCHES));
        self.new_numbered(&branch)
    }

    /// A word and a number, then `suffix`, that nothing has yet.
    fn new_numbered(&mut self, suffix: &str) -> String {
        let mut limit = 10;
        loop {
            let word = self.pick(&words::NUMBERED);
            let number = 1 + self.below(limit);
            let owner = format!("{word}{number}{suffix}");
            if !self.taken.contains(&owner) {
                return owner;
            }
            limit *= 2;
        }
    }

    fn some_host(&mut self) -> String {
        let index = self.below(self.hosts.len());
        self.hosts[index].clone()
    }

    fn alias(&mut self) {
        let owner = self.new_numbered("");
        let target = self.some_host();
        self.record(&owner, 3600, &format!("CNAME {target}"));
    }

    fn service(&mut self) {
        let (service, port) = words::SERVICES[self.below(words::SERVICES.len())];
        let branch = self.pick(&words::BRANCHES);
        let owner = match self.taken.contains(service) {
            true => format!("{service}.{branch}"),
            false => service.to_owned(),
        };
        if self.taken.contains(&owner) {
            return self.alias();
        }
        let target = self.some_host();
        self.record(&owner, 3600, &format!("SRV 10 5 {port} {target}"));
    }

    fn wildcard(&mut self) {
        let branch = self.pick(&words::BRANCHES);
        let owner = format!("*.{branch}");
        match self.taken.contains(&owner) {
            true => self.alias(),
            false => self.addresses(&owner, 300, false),
        }
    }

    fn text_record(&mut self) {
        let owner = self.new_numbered("");
        let token = self.base64_text(24);
        self.record(
            &owner,
            3600,
            &format!("TXT \"asset={owner}\" \"owner-token={token}\""),
        );
    }

    /// A name with mail of its own: MX, SPF and an address.
    fn mail_domain(&mut self) {
        let owner = self.branch_host();
        self.record(&owner, 3600, "MX 10 mail");
        self.record(&owner, 3600, "TXT \"v=spf1 mx -all\"");
        self.addresses(&owner, 3600, false);
    }

    fn domain_key_of_day(&mut self) {
        let selector = format!("s{}", 20_200_101 + self.below(40_000));
        match self.taken.contains(&format!("{selector}._domainkey")) {
            true => self.alias(),
            false => self.domain_key(&selector),
        }
    }

    fn domain_key(&mut self, selector: &str) {
        let mut modulus = [0; 256];
        self.random.fill_bytes(&mut modulus);
        let data = domain_key(modulus);
        self.record(
            &format!("{selector}._domainkey"),
            3600,
            &format!("TXT {data}"),
        );
    }

    fn child_zone(&mut self) {
        let word = self.pick(&words::CHILDREN);
        let owner = match self.taken.contains(word) {
            true => self.new_numbered(""),
            false => word.to_owned(),
        };
        let signed = self.below(2) == 0;
        let glue = if signed { 1 } else { 2 };
        self.delegation(&owner, signed, glue);
    }

    /// Four records (signed with one glue record, or unsigned with two): two NS, DS if `signed`, and `glue` addresses.
    fn delegation(&mut self, owner: &str, signed: bool, glue: usize) {
        for number in 1..=2 {
            let server = match number <= glue {
                true => format!("ns{number}.{owner}"),
                false => self.second_server.to_owned(),
            };
            self.record(owner, 86400, &format!("NS {server}"));
            if number <= glue {
                self.next_address += 1;
                let [_, high, middle, low] = self.next_address.to_be_bytes();
                let address = format!("A 198.{}.{middle}.{low}", 18 + high % 2);
                self.record(&server, 86400, &address);
            }
        }
        if signed {
            let tag = self.below(65536);
            let mut digest = [0; 32];
            self.random.fill_bytes(&mut digest);
            let digest = domain::utils::base16::encode_string(&digest);
            self.record(owner, 86400, &format!("DS {tag} 13 2 {digest}"));
        }
    }

    /// `octets` random octets in base64.
    fn base64_text(&mut self, octets: usize) -> String {
        let mut buffer = vec![0; octets];
        self.random.fill_bytes(&mut buffer);
        base64::encode_string(&buffer)
    }
}

/// The data of a DKIM record (RFC 6376 section 3.6.1) with an RSA key of 2048 bits, in two strings as it exceeds 255
/// octets.
pub(super) fn domain_key(mut modulus: [u8; 256]) -> String {
    // SubjectPublicKeyInfo up to the modulus, whose first octet (0) is included.
    const HEAD: &str = "30820122300d06092a864886f70d01010105000382010f003082010a0282010100";
    const EXPONENT_65537: [u8; 5] = [2, 3, 1, 0, 1];
    let mut key = domain::utils::base16::decode::<Vec<u8>>(HEAD).expect("HEAD is hexadecimal");
    modulus[0] |= 0x80;
    modulus[255] |= 1;
    key.extend(modulus);
    key.extend(EXPONENT_65537);
    let text = base64::encode_string(&key);
    let (first, second) = text.split_at(230);
    format!("\"v=DKIM1; k=rsa; p={first}\" \"{second}\"")
}

//! Sorting what responses have: RRsets by owner and type, zone cuts, and who answered for what.

use super::message::{Response, Rrset, Signed, Unused};
use bytes::Bytes;
use dnsrig_zone::Name;
use domain::base::ParsedName;
use domain::base::iana::Rtype;
use domain::base::name::ToName;
use domain::dep::octseq::Parser;
use domain::rdata::Nsec;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

const NOERROR: u8 = 0;
const NXDOMAIN: u8 = 3;
const REFUSED: u8 = 5;

/// Different data of one RRset that are kept. Some servers give other addresses each time, from pools without end.
const VARIANTS_MAX: usize = 64;
/// Types of an NSEC record whose owner need not exist.
const MADE_UP: [Rtype; 3] = [Rtype::RRSIG, Rtype::NSEC, Rtype::from_int(128)];
/// Octets that an entry takes in a tree beside its names and data.
const ENTRY: usize = 128;

/// An owner and a type.
pub(super) type RrsetKey = (Name, Rtype);

/// The data that an RRset had at one time.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub rdata: Vec<Bytes>,
    pub ttl: u32,
    count: u64,
}

/// What an RRset was seen to be, the first seen first.
#[derive(Clone, Debug, Default)]
pub(super) struct Variants {
    kept: Vec<Variant>,
    /// How often it was something else when there was no room any more.
    pub left_out: u64,
}

impl Variants {
    /// Says how many octets more it takes, about.
    fn add(&mut self, rrset: &Rrset) -> usize {
        if let Some(known) = self.kept.iter_mut().find(|one| one.rdata == rrset.rdata) {
            known.count += 1;
            known.ttl = known.ttl.max(rrset.ttl);
            return 0;
        }
        if self.kept.len() >= VARIANTS_MAX {
            self.left_out += 1;
            return 0;
        }
        self.kept.push(Variant {
            rdata: rrset.rdata.clone(),
            ttl: rrset.ttl,
            count: 1,
        });
        let of_record = |data: &Bytes| data.len() + size_of::<Bytes>();
        size_of::<Variant>() + rrset.rdata.iter().map(of_record).sum::<usize>()
    }

    /// The most frequent one, of equally frequent ones the first.
    pub fn best(&self) -> Option<&Variant> {
        let most = self.kept.iter().map(|one| one.count).max()?;
        self.kept.iter().find(|one| one.count == most)
    }

    /// Whether there were several.
    pub fn is_conflict(&self) -> bool {
        self.kept.len() > 1
    }
}

/// What became of the messages of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Responses of name servers that were used.
    pub used: u64,
    /// Of these, parts of whole zones (AXFR), whose queries are among the others.
    pub transferred: u64,
    /// Queries that such responses could answer.
    pub queries: u64,
    /// Messages of other opcodes and classes, differences between versions of a zone, and queries for whole zones.
    pub others: u64,
    /// Truncated responses.
    pub truncated: u64,
    /// Answers of resolvers to their clients.
    pub recursive: u64,
    /// Messages that cannot be read.
    pub malformed: u64,
    /// Responses with an error such as SERVFAIL, which tell nothing.
    pub failed: u64,
    /// Referrals that do not lead towards the name asked for, as lame servers give them.
    pub astray: u64,
    /// Records of used responses that were left out, as they cannot stand in a zone: data that do not fit their type, types
    /// of queries and messages, second records of types of which a name has one.
    pub unfit: u64,
}

impl Counts {
    /// How many queries no response answers at least: those beyond the responses, some of which may answer none that was
    /// captured. 0 where responses alone were.
    pub fn unanswered(&self) -> u64 {
        let responses = [
            self.used - self.transferred,
            self.truncated,
            self.recursive,
            self.malformed,
            self.failed,
            self.astray,
        ];
        self.queries.saturating_sub(responses.iter().sum())
    }
}

/// Takes responses of name servers.
#[derive(Debug, Default)]
pub struct Collector {
    /// What zones themselves say.
    pub(super) authoritative: BTreeMap<RrsetKey, Variants>,
    /// What referrals and additional sections say: NS RRsets of zones below, addresses of servers.
    pub(super) hearsay: BTreeMap<RrsetKey, Variants>,
    pub(super) apexes: BTreeSet<Name>,
    /// Names that were asked for with authority, by server; with DS, whose data is in the zone above.
    pub(super) answered: BTreeSet<(IpAddr, Name, bool)>,
    /// Zones that were referred to, by server.
    pub(super) referred: BTreeSet<(IpAddr, Name)>,
    pub(super) refused: BTreeSet<(IpAddr, Name)>,
    /// Names that exist although no data was seen.
    pub(super) existing: BTreeSet<Name>,
    /// By zone, the algorithms of its signatures and how often each was seen.
    pub(super) algorithms: BTreeMap<Name, BTreeMap<u8, u64>>,
    /// By zone, the iterations of its NSEC3 records and whether they opt out.
    pub(super) nsec3: BTreeMap<Name, (u16, bool)>,
    counts: Counts,
    octets: usize,
}

impl Collector {
    /// One that has nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What became of the messages so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Octets that it takes, about; making zones of it takes as many again.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Takes a message that `server` sent; what is no response of a name server is counted and left out.
    pub fn add(&mut self, server: IpAddr, message: &[u8]) {
        match Response::parse(message) {
            Ok(response) => self.take(server, response),
            Err(Unused::Query) => self.counts.queries += 1,
            Err(Unused::Other) => self.counts.others += 1,
            Err(Unused::Truncated) => self.counts.truncated += 1,
            Err(Unused::Recursive) => self.counts.recursive += 1,
            Err(Unused::Malformed) => self.counts.malformed += 1,
        }
    }

    fn take(&mut self, server: IpAddr, mut response: Response) {
        match response.rcode {
            NOERROR | NXDOMAIN if response.is_astray() => {
                self.counts.astray += 1;
                return;
            }
            NOERROR | NXDOMAIN => {
                self.count_used(&response);
                self.counts.unfit += response.unfit;
            }
            REFUSED => {
                self.count_used(&response);
                // These are refused of zones that a server has, too (RFC 5936 section 5, RFC 8482 section 4).
                if !matches!(response.rtype, Rtype::ANY | Rtype::AXFR | Rtype::IXFR) {
                    self.octets += of_name(&response.name);
                    self.refused.insert((server, response.name));
                }
                return;
            }
            _ => {
                self.counts.failed += 1;
                return;
            }
        }
        self.take_signatures(&response.signed);
        for section in [&mut response.answer, &mut response.authority] {
            section
                .iter_mut()
                .for_each(|rrset| contract(rrset, &response.signed));
        }
        if response.is_authoritative {
            self.take_authoritative(server, &response);
        } else {
            self.take_referral(server, &response);
        }
        for rrset in &response.additional {
            if matches!(rrset.rtype, Rtype::A | Rtype::AAAA) {
                self.octets += add(&mut self.hearsay, rrset);
            }
        }
    }

    fn count_used(&mut self, response: &Response) {
        self.counts.used += 1;
        self.counts.transferred += u64::from(response.rtype == Rtype::AXFR);
    }

    fn take_signatures(&mut self, signed: &[Signed]) {
        for one in signed {
            self.take_apex(&one.signer);
            if !self.algorithms.contains_key(&one.signer) {
                self.octets += of_name(&one.signer);
            }
            let algorithms = self.algorithms.entry(one.signer.clone()).or_default();
            *algorithms.entry(one.algorithm).or_default() += 1;
        }
    }

    /// Takes down that a zone begins at a name.
    fn take_apex(&mut self, apex: &Name) {
        if self.apexes.insert(apex.clone()) {
            self.octets += of_name(apex);
        }
    }

    fn take_authoritative(&mut self, server: IpAddr, response: &Response) {
        let is_of_parent = response.rtype == Rtype::DS;
        let answered = (server, response.name.clone(), is_of_parent);
        if self.answered.insert(answered) {
            self.octets += of_name(&response.name);
        }
        let mut redirected: Option<&Name> = None;
        for rrset in &response.answer {
            let is_made = rrset.rtype == Rtype::CNAME
                && redirected.is_some_and(|above| rrset.owner.ends_with(above));
            if rrset.rtype == Rtype::DNAME {
                redirected = Some(&rrset.owner);
            }
            // The alias that comes with a DNAME record is made of it (RFC 6672 section 3.1).
            if !is_made {
                self.take_own(rrset);
            }
        }
        for rrset in &response.authority {
            match rrset.rtype {
                Rtype::SOA | Rtype::NSEC | Rtype::NSEC3 => self.take_own(rrset),
                Rtype::NS => {
                    self.take_apex(&rrset.owner);
                    self.octets += add(&mut self.hearsay, rrset);
                }
                _ => {}
            }
        }
        let is_empty = response.rcode == NOERROR && response.answer.is_empty();
        if is_empty && !is_of_parent && self.existing.insert(response.name.clone()) {
            self.octets += of_name(&response.name);
        }
    }

    /// Takes an RRset that its zone says.
    fn take_own(&mut self, rrset: &Rrset) {
        match rrset.rtype {
            // Chains are made anew, as names are known that they would deny.
            Rtype::NSEC3PARAM | Rtype::DNSKEY => self.take_apex(&rrset.owner),
            Rtype::NSEC => self.take_nsec(rrset),
            Rtype::NSEC3 => self.take_nsec3(rrset),
            _ => {
                if matches!(rrset.rtype, Rtype::SOA | Rtype::NS) {
                    self.take_apex(&rrset.owner);
                }
                self.octets += add(&mut self.authoritative, rrset);
            }
        }
    }

    /// Keeps the owner of an NSEC record existing, unless it is one that was made up for a denial: such have no types but those that
    /// come with signing (RFC 4470 section 2), and NXNAME (RFC 9824 section 3.4).
    fn take_nsec(&mut self, rrset: &Rrset) {
        let has_data = rrset.rdata.iter().any(|rdata| {
            let data = Nsec::<_, ParsedName<_>>::parse(&mut Parser::from_ref(&rdata[..]));
            data.is_ok_and(|nsec| nsec.types().iter().any(|rtype| !MADE_UP.contains(&rtype)))
        });
        if has_data && self.existing.insert(rrset.owner.clone()) {
            self.octets += of_name(&rrset.owner);
        }
    }

    fn take_nsec3(&mut self, rrset: &Rrset) {
        let Some(zone) = rrset.owner.iter_suffixes().nth(1) else {
            return;
        };
        for rdata in &rrset.rdata {
            if let [_, flags, high, low, ..] = rdata[..] {
                let iterations = u16::from_be_bytes([high, low]);
                let zone: Name = zone.to_name();
                if !self.nsec3.contains_key(&zone) {
                    self.octets += of_name(&zone);
                }
                let known = self.nsec3.entry(zone).or_insert((iterations, false));
                known.1 |= flags & 1 == 1;
            }
        }
    }

    fn take_referral(&mut self, server: IpAddr, response: &Response) {
        for rrset in &response.authority {
            match rrset.rtype {
                Rtype::NS => {
                    self.take_apex(&rrset.owner);
                    if self.referred.insert((server, rrset.owner.clone())) {
                        self.octets += of_name(&rrset.owner);
                    }
                    self.octets += add(&mut self.hearsay, rrset);
                }
                Rtype::DS | Rtype::NSEC | Rtype::NSEC3 => self.take_own(rrset),
                _ => {}
            }
        }
    }
}

/// Octets that a name takes in a tree, about.
fn of_name(name: &Name) -> usize {
    ENTRY + name.len()
}

/// Adds an RRset, and says how many octets more that takes, about.
fn add(to: &mut BTreeMap<RrsetKey, Variants>, rrset: &Rrset) -> usize {
    let known = to.entry((rrset.owner.clone(), rrset.rtype)).or_default();
    let of_key = match known.kept.is_empty() {
        true => of_name(&rrset.owner),
        false => 0,
    };
    of_key + known.add(rrset)
}

/// Gives an RRset that was made of a wildcard the wildcard's name, which its signature tells (RFC 4035 section 5.3.4).
fn contract(rrset: &mut Rrset, signed: &[Signed]) {
    let mut signatures = signed.iter();
    let of_it = |one: &&Signed| one.covered == rrset.rtype && one.owner == rrset.owner;
    let Some(one) = signatures.find(of_it) else {
        return;
    };
    // The root is a label to `label_count`; a wildcard's own label does not count in signatures.
    let labels = rrset.owner.label_count() - 1;
    let is_wildcard = rrset.owner.as_slice().starts_with(b"\x01*");
    if one.labels + usize::from(is_wildcard) >= labels {
        return;
    }
    if let Some(closest) = rrset.owner.iter_suffixes().nth(labels - one.labels) {
        let closest: Name = closest.to_name();
        rrset.owner = crate::wire::child(b"*", &closest);
    }
}

//! Answering from zones that were rebuilt.

use crate::InternetError;
use crate::answer::{Answer, Arrived, Scratch};
use crate::chain::Nsec3;
use crate::excerpt::{Excerpt, Validity};
use crate::internet::push_hint;
use crate::keys::{KeyKind, KeyMaker, RSA_ZSK_BITS, ZoneNumber, ds_of};
use crate::query::{HEADER, question_end};
use crate::rebuild::RebuiltZone;
use crate::rebuild::complete::address;
use crate::serve::{Responding, ServedBy};
use crate::servers::ServerId;
use crate::signatures::Signatures;
use crate::wire::RecordList;
use crate::zones::{WholeSigning, whole_zone};
use dnsrig_zone::lookup::LookupName;
use dnsrig_zone::{Name, PresentationRecord, Record};
use domain::base::iana::Rtype;
use foldhash::quality::FixedState;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const DAY_S: u64 = 86_400;
/// Days that signatures are valid from the day of serving on.
const VALIDITY_DAYS: u64 = 30;
/// The TTL of DNSKEY and DS RRsets that are made anew, in seconds.
const KEYS_TTL_S: u32 = 3600;

/// How rebuilt zones are answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuiltOptions {
    /// The seed of keys.
    pub seed: u64,
    /// When signatures have to be valid, in seconds since 1970; they are from the day before on.
    pub signed_at_s: u64,
    /// Octets that zones and signatures may take together, about. While zones are read and made, it may be twice as much.
    pub memory_octets: usize,
}

impl RebuiltOptions {
    fn for_signatures(&self) -> usize {
        self.memory_octets / 4
    }

    /// Refuses zones of so many octets if they are too many.
    ///
    /// # Errors
    /// [`InternetError::Memory`].
    pub fn check_memory(&self, octets_of_zones: usize) -> Result<(), InternetError> {
        match octets_of_zones <= self.memory_octets - self.for_signatures() {
            true => Ok(()),
            false => Err(InternetError::Memory {
                memory_mib: self.memory_octets >> 20,
            }),
        }
    }
}

/// A server's number and its zones by their names in lower case.
type Served = (u32, HashMap<Box<[u8]>, usize>);

/// An Internet rebuilt from responses. Threads share it.
#[derive(Debug)]
pub struct Rebuilt {
    excerpts: Vec<Excerpt>,
    /// Octets of the excerpts, about.
    octets: usize,
    refusing: Excerpt,
    by_server: HashMap<IpAddr, Served>,
    addresses: Vec<IpAddr>,
    signatures: Signatures,
    hints: String,
    trust_anchor: String,
}

/// How a zone is signed.
fn signing_of(zone: &RebuiltZone) -> Option<WholeSigning> {
    let apex = zone.zone.origin();
    let number = ZoneNumber {
        part: FixedState::with_seed(0x5eed).hash_one(apex.as_slice()),
        index: 0,
    };
    let soa = zone.zone.soa();
    Some(WholeSigning {
        number,
        keys: KeyKind {
            algorithm: zone.algorithm?,
            is_single: false,
        },
        nsec3: zone
            .nsec3
            .map(|(iterations, opt_out)| Nsec3::new(iterations, opt_out)),
        dnskey_ttl_s: KEYS_TTL_S,
        negative_ttl_s: soa.map_or(KEYS_TTL_S, |soa| soa.ttl),
    })
}

/// The root's servers as its zone, or what it has as glue, names them.
fn hints(root: &RebuiltZone) -> String {
    let mut text = String::new();
    let records = root.zone.records().iter();
    let apex = root.zone.origin();
    for ns in records
        .clone()
        .filter(|one| one.rtype == Rtype::NS && one.owner == *apex)
    {
        let Ok(name) = Name::from_octets(ns.rdata.clone()) else {
            continue;
        };
        let of_it = records.clone().filter(|one| one.owner == name);
        let addresses = of_it.filter_map(|one| address(one.rtype, &one.rdata));
        push_hint(&mut text, &name, addresses);
    }
    text
}

impl Rebuilt {
    /// Makes keys and chains for `zones`, of which the first has to be the root.
    ///
    /// # Errors
    /// [`InternetError::Sign`], [`InternetError::Answer`], [`InternetError::Memory`]; [`InternetError::Interrupted`] if `cancel`
    /// was set.
    pub fn new(
        zones: Vec<RebuiltZone>,
        options: RebuiltOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, InternetError> {
        let day = options.signed_at_s / DAY_S * DAY_S;
        let validity = Validity {
            inception: day.saturating_sub(DAY_S) as u32,
            expiration: (day + VALIDITY_DAYS * DAY_S) as u32,
        };
        let keys = KeyMaker::new(options.seed, RSA_ZSK_BITS);
        let mut ds = BTreeMap::new();
        for zone in zones.iter().filter(|zone| zone.is_secure) {
            if cancel.load(Ordering::Relaxed) {
                return Err(InternetError::Interrupted);
            }
            if let Some(signing) = signing_of(zone) {
                let apex = zone.zone.origin();
                let ksk = keys.ksk(apex, signing.number, signing.keys.algorithm)?;
                ds.insert(apex.clone(), ds_of(&ksk, KEYS_TTL_S));
            }
        }
        let root = Name::root_bytes();
        let anchor = ds.remove(&root);
        let mut made = Self {
            excerpts: Vec::with_capacity(zones.len()),
            octets: 0,
            refusing: Excerpt::refusing()?,
            by_server: HashMap::new(),
            addresses: Vec::new(),
            signatures: Signatures::new(options.for_signatures()),
            hints: zones.first().map(hints).unwrap_or_default(),
            trust_anchor: anchor
                .map_or_else(String::new, |ds| format!("{}\n", PresentationRecord(&ds))),
        };
        for zone in zones {
            if cancel.load(Ordering::Relaxed) {
                return Err(InternetError::Interrupted);
            }
            made.put(zone, &keys, validity, &ds)?;
            options.check_memory(made.octets)?;
        }
        Ok(made)
    }

    /// Adds a zone; `ds` has the DS records of zones by their names.
    fn put(
        &mut self,
        zone: RebuiltZone,
        keys: &KeyMaker,
        validity: Validity,
        ds: &BTreeMap<Name, Record>,
    ) -> Result<(), InternetError> {
        let signing = signing_of(&zone);
        let apex = zone.zone.origin().clone();
        let mut records = zone.zone.records().to_vec();
        if signing.is_some() {
            let delegated = zone.zone.rrsets().map(|rrset| &rrset[0]);
            let delegated = delegated.filter(|one| one.rtype == Rtype::NS && one.owner != apex);
            records.extend(delegated.filter_map(|one| ds.get(&one.owner).cloned()));
        }
        let place = self.excerpts.len();
        for server in zone.servers {
            let number = self.addresses.len() as u32;
            let addresses = &mut self.addresses;
            let served = self.by_server.entry(server).or_insert_with(|| {
                addresses.push(server);
                (number, HashMap::new())
            });
            served.1.insert(apex.as_slice().into(), place);
        }
        let made = whole_zone(keys, validity, apex, RecordList { records }, signing)?;
        self.octets += made.octets;
        self.excerpts.push(made);
        Ok(())
    }

    /// How many zones it has.
    pub fn zones(&self) -> usize {
        self.excerpts.len()
    }

    /// The addresses of all servers.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// Names and addresses of the root's servers, as a file of root hints (RFC 9609).
    pub fn root_hints(&self) -> &str {
        &self.hints
    }

    /// The root's DS record, as a file of trust anchors; nothing if the root is not signed.
    pub fn trust_anchor(&self) -> &str {
        &self.trust_anchor
    }

    /// What a server answers from: its nearest zone, for DS the one above the cut if it has that.
    fn excerpt(
        &self,
        zones: &HashMap<Box<[u8]>, usize>,
        name: &LookupName,
        rtype: Rtype,
    ) -> &Excerpt {
        let labels = name.labels();
        let mut places = (0..=labels)
            .rev()
            .filter_map(|labels| Some((labels, *zones.get(name.suffix(labels))?)));
        let nearest = places.next();
        let place = match nearest {
            Some((depth, place)) if rtype == Rtype::DS && depth == labels => {
                Some(places.next().map_or(place, |(_, above)| above))
            }
            other => other.map(|(_, place)| place),
        };
        place.map_or(&self.refusing, |place| &self.excerpts[place])
    }
}

impl Responding for Rebuilt {
    fn answer(&self, arrived: &Arrived<'_>, scratch: &mut Scratch, out: &mut [u8]) -> Answer {
        let message = arrived.message;
        let served = self.by_server.get(&arrived.server);
        let mut answer = Answer {
            len: None,
            delay: Duration::ZERO,
            server: served.map(|(number, _)| ServerId::Listed(*number)),
            rtype: 0,
        };
        let Some((_, zones)) = served else {
            return answer;
        };
        let question = message
            .get(HEADER..)
            .and_then(|rest| scratch.name.set(rest));
        let end = question.and_then(|_| question_end(message));
        if let Some(end) = end {
            answer.rtype = u16::from_be_bytes([message[end - 4], message[end - 3]]);
        }
        let rtype = Rtype::from_int(answer.rtype);
        let excerpt = match end {
            Some(_) if rtype != Rtype::AXFR => self.excerpt(zones, &scratch.name, rtype),
            _ => &self.refusing,
        };
        answer.len = excerpt.answer(
            message,
            arrived.transport,
            &mut scratch.answering,
            out,
            &self.signatures,
        );
        answer
    }

    fn nearest(&self) -> Option<Duration> {
        None
    }

    fn has_ipv6(&self) -> bool {
        self.addresses.iter().any(IpAddr::is_ipv6)
    }

    fn served_by(&self, server: ServerId) -> ServedBy {
        match server {
            ServerId::Listed(number) => {
                let address = self.addresses[number as usize].to_string();
                ServedBy::Server("rebuilt".to_owned(), address)
            }
            ServerId::Own(_) => ServedBy::OwnServers,
        }
    }

    fn signatures_made(&self) -> u64 {
        self.signatures.made()
    }

    fn zones_made(&self) -> u64 {
        // All are there since it was read.
        0
    }

    fn octets(&self) -> usize {
        self.octets + self.signatures.octets()
    }
}

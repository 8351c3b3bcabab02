//! A resolver without cache of answers or sockets: it asks the Internet itself, and says beforehand what is secure.

use crate::internet::{Internet, Name, Transport};
use crate::message::{Entry, Response};
use bytes::Bytes;
use domain::base::iana::{Nsec3HashAlgorithm, Rcode, Rtype};
use domain::base::name::ToName;
use domain::dnssec::common::nsec3_hash;
use domain::rdata::nsec3::{Nsec3Salt, OwnerHash};
use std::collections::HashMap;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::rc::Rc;

/// Algorithms for which the validator of domain 0.12 takes a delegation to be secure
/// (`dnssec::validator::base::supported_algorithm`). Those that are not here, ECDSAP384SHA384 and ED25519, it can verify all
/// the same, so that a zone of theirs is validated from a trust anchor of its own on.
pub const TAKEN_ALGORITHMS: [u8; 5] = [5, 7, 8, 10, 13];

/// A zone on the way down.
#[derive(Clone, Debug)]
pub struct Zone {
    pub apex: Name,
    servers: Rc<[Ipv4Addr]>,
    /// Whether there are DS records all the way down to it.
    pub is_secure: bool,
    /// The zones on the way that need a trust anchor of their own, and these.
    pub anchors: Rc<Vec<Anchor>>,
    /// What the referral to it says about DS records, as an answer to the question for them; none if parent and child are on
    /// the same servers.
    referral: Option<Response>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    pub apex: Name,
    /// DS records in presentation format.
    pub text: String,
}

/// What a resolver gives to a client that validates for itself.
#[derive(Debug)]
pub struct Resolved {
    /// As the server sent it if no alias leads to another zone.
    pub octets: Bytes,
    pub response: Response,
    pub is_secure: bool,
    /// Whether a zone other than the root answered.
    pub is_below_root: bool,
    pub anchors: Rc<Vec<Anchor>>,
}

pub struct Resolver {
    internet: Internet,
    root: Zone,
    /// By name what is there: a zone, or none of its own.
    zones: HashMap<Name, Option<Zone>>,
}

fn query(name: &Name, rtype: Rtype) -> Vec<u8> {
    let mut message = vec![7, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    message.extend_from_slice(name.as_slice());
    message.extend_from_slice(&rtype.to_int().to_be_bytes());
    // Class IN; EDNS with 1232 octets and DO.
    message.extend_from_slice(&[0, 1, 0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0]);
    message
}

impl Resolver {
    pub fn new(internet: Internet) -> Self {
        let address = |line: &str| line.rsplit('\t').next()?.parse().ok();
        let root = Zone {
            apex: Name::root_bytes(),
            servers: internet.hints.lines().filter_map(address).collect(),
            is_secure: true,
            anchors: Rc::new(vec![Anchor {
                apex: Name::root_bytes(),
                text: internet.anchor.clone(),
            }]),
            referral: None,
        };
        Self {
            internet,
            root,
            zones: HashMap::new(),
        }
    }

    /// Asks a server by UDP, and by TCP if the answer is truncated.
    fn ask(&mut self, server: Ipv4Addr, name: &Name, rtype: Rtype) -> (Bytes, Response) {
        let message = query(name, rtype);
        for transport in [Transport::Udp, Transport::Tcp] {
            let octets = self.internet.ask(server, transport, &message);
            assert!(
                !octets.is_empty(),
                "{server} does not answer {name} {rtype}"
            );
            let response = Response::parse(&octets);
            if !response.is_truncated {
                return (octets, response);
            }
        }
        panic!("the answer to {name} {rtype} by TCP is truncated");
    }

    /// The deepest zone that has a name.
    fn zone_of(&mut self, name: &Name) -> Zone {
        let mut zone = self.root.clone();
        let suffixes: Vec<Name> = name.iter_suffixes().map(|one| one.to_name()).collect();
        for suffix in suffixes.into_iter().rev().skip(1) {
            let below = match self.zones.get(&suffix) {
                Some(known) => known.clone(),
                None => {
                    let found = self.below(&zone, &suffix);
                    self.zones.insert(suffix, found.clone());
                    found
                }
            };
            zone = below.unwrap_or(zone);
        }
        zone
    }

    /// The zone that begins at `apex` within `parent`, if one does.
    fn below(&mut self, parent: &Zone, apex: &Name) -> Option<Zone> {
        let (_, response) = self.ask(parent.servers[0], apex, Rtype::SOA);
        let (servers, referral, of_ds) = if response.is_authoritative {
            if !Response::has(&response.answer, apex, Rtype::SOA) {
                return None;
            }
            let (_, of_ds) = self.ask(parent.servers[0], apex, Rtype::DS);
            (parent.servers.clone(), None, of_ds)
        } else {
            let is_ns = |entry: &&Entry| entry.rtype == Rtype::NS && entry.owner == *apex;
            let names = response.authority.iter().filter(is_ns);
            let names: Vec<Name> = names
                .map(|entry| Name::from_octets(entry.rdata.clone().into()).unwrap())
                .collect();
            assert!(!names.is_empty(), "no referral to {apex}: {response:?}");
            let servers = names
                .iter()
                .flat_map(|name| self.addresses(name, &response.additional))
                .collect();
            let of_ds = as_answer_for_ds(&response, apex);
            (servers, Some(of_ds.clone()), of_ds)
        };
        let ds = of_ds.answer.iter().filter(|one| one.rtype == Rtype::DS);
        let ds: Vec<&[u8]> = ds.map(|entry| &entry.rdata[..]).collect();
        let mut anchors = parent.anchors.clone();
        let is_taken = |rdata: &&[u8]| TAKEN_ALGORITHMS.contains(&rdata[2]);
        let is_secure = parent.is_secure && !ds.is_empty();
        if is_secure && !ds.iter().any(is_taken) {
            Rc::make_mut(&mut anchors).push(Anchor {
                apex: apex.clone(),
                text: ds.iter().map(|rdata| ds_line(apex, rdata)).collect(),
            });
        }
        Some(Zone {
            apex: apex.clone(),
            servers,
            is_secure,
            anchors,
            referral,
        })
    }

    /// The addresses of a name server: glue, or else what the Internet says.
    fn addresses(&mut self, server: &Name, glue: &[Entry]) -> Vec<Ipv4Addr> {
        let address =
            |entry: &Entry| Ipv4Addr::from(<[u8; 4]>::try_from(&entry.rdata[..]).unwrap());
        let of = |section: &[Entry], name: &Name| -> Vec<Ipv4Addr> {
            let found = section
                .iter()
                .filter(|entry| entry.rtype == Rtype::A && entry.owner == *name);
            found.map(address).collect()
        };
        let glued = of(glue, server);
        if !glued.is_empty() {
            return glued;
        }
        let resolved = self.resolve(server, Rtype::A).response;
        let found = of(&resolved.answer, &resolved.alias_end());
        assert!(!found.is_empty(), "the server {server} has no address");
        found
    }

    /// Resolves a name from the root and follows aliases.
    pub fn resolve(&mut self, name: &Name, rtype: Rtype) -> Resolved {
        let mut current = name.clone();
        let mut steps: Vec<(Zone, Bytes, Response)> = Vec::new();
        for _ in 0..12 {
            let (zone, octets, response) = self.step(&current, rtype);
            let end = response.alias_end();
            let is_over = end == current
                || Response::has(&response.answer, &end, rtype)
                // The server has followed the alias to its end, but for DS records it may be that of the child zone.
                || (rtype != Rtype::DS
                    && response.authority.iter().any(|one| one.rtype == Rtype::SOA));
            steps.push((zone, octets, response));
            if is_over {
                return merge(steps, name);
            }
            current = end;
        }
        panic!("the aliases of {name} do not end");
    }

    fn step(&mut self, name: &Name, rtype: Rtype) -> (Zone, Bytes, Response) {
        let zone = match rtype {
            // The DS RRset at a cut is the parent's.
            Rtype::DS if !name.is_root() => self.zone_of(&name.parent().unwrap()),
            _ => self.zone_of(name),
        };
        let (octets, response) = self.ask(zone.servers[0], name, rtype);
        assert!(
            response.is_authoritative,
            "{} of {} is lame for {name} {rtype}",
            zone.servers[0], zone.apex
        );
        (zone, octets, response)
    }

    /// What the referral to a zone says in place of an answer to the question for its DS records.
    pub fn referral(&mut self, apex: &Name) -> Option<Response> {
        let zone = self.zone_of(apex);
        zone.referral.filter(|_| zone.apex == *apex)
    }
}

fn ds_line(apex: &Name, rdata: &[u8]) -> String {
    let tag = u16::from_be_bytes([rdata[0], rdata[1]]);
    let mut line = format!("{apex}. 3600 IN DS {tag} {} {} ", rdata[2], rdata[3]);
    for octet in &rdata[4..] {
        write!(line, "{octet:02x}").unwrap();
    }
    line + "\n"
}

/// The DS records of a referral, or the proof that there are none, in the places where they are in an answer.
fn as_answer_for_ds(referral: &Response, apex: &Name) -> Response {
    let of = |types: &[Rtype]| -> Vec<Entry> {
        let entries = referral.authority.iter();
        let chosen = entries.filter(|entry| types.contains(&entry.covers()));
        chosen.cloned().collect()
    };
    Response {
        name: apex.clone(),
        rtype: Rtype::DS,
        rcode: Rcode::NOERROR,
        answer: of(&[Rtype::DS]),
        authority: of(&[Rtype::NSEC, Rtype::NSEC3]),
        additional: Vec::new(),
        ..referral.clone()
    }
}

/// One response of those of the zones on the way of an alias.
fn merge(mut steps: Vec<(Zone, Bytes, Response)>, name: &Name) -> Resolved {
    let (last_zone, octets, last) = steps.pop().unwrap();
    let is_secure = last_zone.is_secure && !is_opted_out(&last);
    if steps.is_empty() {
        return Resolved {
            octets,
            response: last,
            is_secure,
            is_below_root: !last_zone.apex.is_root(),
            anchors: last_zone.anchors,
        };
    }
    let mut whole = Response {
        name: name.clone(),
        answer: Vec::new(),
        authority: Vec::new(),
        ..last.clone()
    };
    let mut anchors = last_zone.anchors;
    let mut are_secure = is_secure;
    for (zone, _, response) in steps {
        are_secure &= zone.is_secure;
        for anchor in zone.anchors.iter() {
            if !anchors.contains(anchor) {
                Rc::make_mut(&mut anchors).push(anchor.clone());
            }
        }
        whole.answer.extend(response.answer);
        // A SOA record is that of a denial, which comes last.
        let proofs = response.authority.into_iter();
        whole
            .authority
            .extend(proofs.filter(|entry| entry.covers() != Rtype::SOA));
    }
    whole.answer.extend(last.answer);
    whole.authority.extend(last.authority);
    Resolved {
        octets: whole.compose(),
        response: whole,
        is_secure: are_secure,
        is_below_root: true,
        anchors,
    }
}

/// Whether a response denies something by an NSEC3 record with the opt-out flag that covers it (RFC 5155 section 9.2).
fn is_opted_out(response: &Response) -> bool {
    let of = |rtype| {
        response
            .authority
            .iter()
            .filter(move |entry| entry.rtype == rtype)
    };
    if of(Rtype::SOA).next().is_none() || of(Rtype::NSEC3).all(|entry| entry.rdata[1] & 1 == 0) {
        return false;
    }
    let name = response.alias_end();
    // A record that matches the name says which types it has, with whatever flag.
    let is_matched = of(Rtype::NSEC3).any(|entry| {
        let [algorithm, _, high, low, salt_len, rest @ ..] = &entry.rdata[..] else {
            panic!("{entry:?} is too short");
        };
        let salt = Nsec3Salt::from_octets(&rest[..usize::from(*salt_len)]).unwrap();
        let iterations = u16::from_be_bytes([*high, *low]);
        let hash: OwnerHash<Vec<u8>> = nsec3_hash(
            &name,
            Nsec3HashAlgorithm::from_int(*algorithm),
            iterations,
            &salt,
        )
        .unwrap();
        let label = entry.owner.first().to_string();
        label.eq_ignore_ascii_case(&hash.to_string())
    });
    !is_matched
}

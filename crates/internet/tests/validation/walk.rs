//! A validating resolver without cache or sockets: it asks the Internet itself, and panics where anything does not validate.

use crate::denial::Proof;
use crate::message::{Response, Rrset};
use bytes::Bytes;
use dnsrig_answer::Transport;
use dnsrig_internet::{Arrived, Internet, Responding, Scratch};
use dnsrig_sign::{DigestType, Dnskey};
use dnsrig_zone::{Name, Record};
use domain::base::iana::{Class, Rtype};
use domain::base::name::ToName;
use domain::utils::base16;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// When everything is validated, in seconds since 1970.
pub const NOW_S: u32 = 1_669_900_000;

/// What a name led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Data(Vec<Vec<u8>>),
    NoData,
    NxDomain,
}

/// Asks and validates.
pub struct Walker<'a> {
    internet: &'a dyn Responding,
    scratch: Scratch,
    out: Vec<u8>,
    root_servers: Vec<Ipv4Addr>,
    /// DS data of the root.
    anchor: Vec<Vec<u8>>,
    /// The root and top-level domains that have been validated.
    top_zones: HashMap<Name, Zone>,
    known_addresses: HashMap<Name, Vec<Ipv4Addr>>,
    /// Answers that were secure, and all.
    pub secure: u64,
    pub answers: u64,
    /// Whether the last question's answer was secure.
    pub is_secure: bool,
    /// What servers sent, also what was truncated.
    pub sent: Vec<(IpAddr, Vec<u8>)>,
}

/// A zone on the way down.
#[derive(Clone)]
struct Zone {
    name: Name,
    servers: Vec<Ipv4Addr>,
    /// Its keys, if it is secure.
    keys: Option<Vec<Vec<u8>>>,
}

pub fn query(name: &Name, rtype: Rtype, dnssec_ok: bool) -> Vec<u8> {
    let mut message = vec![7, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    message.extend_from_slice(name.as_slice());
    message.extend_from_slice(&rtype.to_int().to_be_bytes());
    message.extend_from_slice(&[0, 1, 0, 0, 41, 4, 208, 0, 0]);
    message.extend_from_slice(&[if dnssec_ok { 0x80 } else { 0 }, 0, 0, 0]);
    message
}

impl<'a> Walker<'a> {
    pub fn new(internet: &'a Internet) -> Self {
        Self::over(
            internet,
            &internet.root_hints(),
            &internet.trust_anchor().unwrap(),
        )
    }

    /// Asks anything that is served, from the root's servers in `hints` on and with the DS records in `anchor`.
    pub fn over(internet: &'a dyn Responding, hints: &str, anchor: &str) -> Self {
        let address = |line: &str| line.rsplit('\t').next()?.parse().ok();
        Self {
            internet,
            scratch: Scratch::default(),
            out: vec![0; 65_535],
            root_servers: hints.lines().filter_map(address).collect(),
            anchor: anchor.lines().map(ds_rdata).collect(),
            top_zones: HashMap::new(),
            known_addresses: HashMap::new(),
            secure: 0,
            answers: 0,
            is_secure: false,
            sent: Vec::new(),
        }
    }

    /// Asks a server by UDP, and by TCP if the answer is truncated.
    pub fn ask(&mut self, server: Ipv4Addr, name: &Name, rtype: Rtype) -> Response {
        let message = query(name, rtype, true);
        for transport in [Transport::Udp, Transport::Tcp] {
            let arrived = Arrived {
                server: IpAddr::V4(server),
                transport,
                message: &message,
                now: Duration::ZERO,
            };
            let answer = self
                .internet
                .answer(&arrived, &mut self.scratch, &mut self.out);
            let len = answer
                .len
                .unwrap_or_else(|| panic!("{server} does not answer {name} {rtype}"));
            self.sent.push((server.into(), self.out[..len].to_vec()));
            let response = Response::parse(&self.out[..len]);
            assert!(transport == Transport::Tcp || len <= 1232);
            if !response.is_truncated {
                self.answers += 1;
                return response;
            }
        }
        panic!("an answer by TCP is truncated");
    }

    /// The addresses of a name server: glue, or else what the Internet says.
    fn addresses(&mut self, server: &Name, glue: &[Rrset]) -> Vec<Ipv4Addr> {
        let address = |rdata: &Vec<u8>| Ipv4Addr::new(rdata[0], rdata[1], rdata[2], rdata[3]);
        let glued = glue
            .iter()
            .find(|rrset| rrset.owner == *server && rrset.rtype == Rtype::A);
        if let Some(rrset) = glued {
            return rrset.rdata.iter().map(address).collect();
        }
        if let Some(known) = self.known_addresses.get(server) {
            return known.clone();
        }
        let found: Vec<Ipv4Addr> = match self.resolve(server, Rtype::A) {
            Found::Data(rdata) => rdata.iter().map(address).collect(),
            other => panic!("the server {server} has no address: {other:?}"),
        };
        self.known_addresses.insert(server.clone(), found.clone());
        found
    }

    fn keys(&mut self, name: &Name, servers: &[Ipv4Addr], ds: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let response = self.ask(servers[0], name, Rtype::DNSKEY);
        assert_eq!(response.answer.len(), 1, "{name} DNSKEY");
        let rrset = &response.answer[0];
        let trusted: Vec<Vec<u8>> = rrset
            .rdata
            .iter()
            .filter(|rdata| {
                let key = Dnskey::from_record(&Record {
                    owner: name.clone(),
                    rtype: Rtype::DNSKEY,
                    class: Class::IN,
                    ttl: 0,
                    rdata: rdata.to_vec().into(),
                });
                let own = key.expect("a key").ds(DigestType::Sha256, 0);
                ds.contains(&own.rdata.to_vec())
            })
            .cloned()
            .collect();
        assert!(!trusted.is_empty(), "no DS record is of a key of {name}");
        rrset.verify(name, &trusted, NOW_S);
        rrset.rdata.clone()
    }

    /// Resolves a name from the root, validating all on the way; follows aliases.
    pub fn resolve(&mut self, name: &Name, rtype: Rtype) -> Found {
        let mut name = name.clone();
        for _ in 0..12 {
            match self.resolve_once(&name, rtype) {
                Ok(found) => return found,
                Err(target) => name = target,
            }
        }
        panic!("the aliases of {name} do not end");
    }

    fn root(&mut self) -> Zone {
        let root = Name::root_bytes();
        if let Some(known) = self.top_zones.get(&root) {
            return known.clone();
        }
        let (servers, anchor) = (self.root_servers.clone(), self.anchor.clone());
        let keys = (!anchor.is_empty()).then(|| self.keys(&root, &servers, &anchor));
        let zone = Zone {
            name: root.clone(),
            servers,
            keys,
        };
        self.top_zones.insert(root, zone.clone());
        zone
    }

    /// Where to begin: the top-level domain of a name if it is known, otherwise the root.
    fn begin(&mut self, name: &Name, rtype: Rtype) -> Zone {
        let above = usize::from(rtype == Rtype::DS);
        let known = name
            .iter_suffixes()
            .skip(above)
            .find_map(|suffix| self.top_zones.get(&suffix.to_name::<Bytes>()));
        match known {
            Some(zone) => zone.clone(),
            None => self.root(),
        }
    }

    /// What was found, or the name to go on with.
    fn resolve_once(&mut self, name: &Name, rtype: Rtype) -> Result<Found, Name> {
        let mut zone = self.begin(name, rtype);
        loop {
            let server = zone.servers[0];
            let response = self.ask(server, name, rtype);
            let delegated = Response::find(&response.authority, Rtype::NS)
                .find(|rrset| !response.is_authoritative && rrset.owner != zone.name);
            if let Some(ns) = delegated {
                let ns = ns.clone();
                let is_next = ns.owner.label_count() == zone.name.label_count() + 1;
                // A zone in between may be on the same servers.
                let between = match is_next {
                    true => None,
                    false => self.below_on_same_servers(&zone, name, rtype),
                };
                zone = between.unwrap_or_else(|| self.descend(&zone, &response, &ns));
                continue;
            }
            assert!(
                response.is_authoritative,
                "{server} is lame for {name}, rcode {}",
                response.rcode
            );
            match self.below_on_same_servers(&zone, name, rtype) {
                Some(below) => zone = below,
                None => return self.take(&zone, &response, name, rtype),
            }
        }
    }

    /// The zone one label below `zone` towards `name`, if the servers of `zone` have that as well, so that they give no referral.
    fn below_on_same_servers(&mut self, zone: &Zone, name: &Name, rtype: Rtype) -> Option<Zone> {
        let labels = zone.name.label_count() + 1;
        let child: Name = name
            .iter_suffixes()
            .find(|one| one.label_count() == labels)?
            .to_name();
        let server = zone.servers[0];
        // The DS RRset at a cut is the parent's.
        if child == *name && rtype == Rtype::DS {
            return None;
        }
        let response = self.ask(server, &child, Rtype::SOA);
        if !response.is_authoritative {
            // Something further down is there, and is reached by the referral.
            let ns = Response::find(&response.authority, Rtype::NS)
                .next()?
                .clone();
            return Some(self.descend(zone, &response, &ns));
        }
        Response::find(&response.answer, Rtype::SOA).find(|soa| soa.owner == child)?;
        let of_parent = self.ask(server, &child, Rtype::DS);
        let ds = Response::find(&of_parent.answer, Rtype::DS).next();
        let keys = match (&zone.keys, ds) {
            (Some(keys), Some(ds)) => {
                assert_eq!(ds.verify(&zone.name, keys, NOW_S), 0);
                Some(self.keys(&child, &zone.servers, &ds.rdata))
            }
            (Some(keys), None) => {
                verify_all(&of_parent.authority, &zone.name, keys, None);
                Proof::of(&of_parent).check_insecure(&zone.name, &child);
                None
            }
            (None, _) => None,
        };
        Some(Zone {
            name: child,
            servers: zone.servers.clone(),
            keys,
        })
    }

    fn descend(&mut self, parent: &Zone, response: &Response, ns: &Rrset) -> Zone {
        let ds = Response::find(&response.authority, Rtype::DS).next();
        let secure_ds = match (&parent.keys, ds) {
            (None, _) => None,
            (Some(keys), Some(ds)) => {
                assert_eq!(ds.verify(&parent.name, keys, NOW_S), 0);
                Some(ds.rdata.clone())
            }
            (Some(keys), None) => {
                verify_all(&response.authority, &parent.name, keys, Some(&ns.owner));
                Proof::of(response).check_insecure(&parent.name, &ns.owner);
                None
            }
        };
        let mut servers = Vec::new();
        for rdata in &ns.rdata {
            let server = Name::from_octets(rdata.clone().into()).unwrap();
            servers.extend(self.addresses(&server, &response.additional));
        }
        let keys = secure_ds.map(|ds| self.keys(&ns.owner, &servers, &ds));
        let zone = Zone {
            name: ns.owner.clone(),
            servers,
            keys,
        };
        if zone.name.label_count() == 2 {
            self.top_zones.insert(zone.name.clone(), zone.clone());
        }
        zone
    }

    /// Validates an answer, positive or negative.
    fn take(
        &mut self,
        zone: &Zone,
        response: &Response,
        name: &Name,
        rtype: Rtype,
    ) -> Result<Found, Name> {
        let mut current = name.clone();
        let mut found = None;
        let mut redirected: Option<Rrset> = None;
        for rrset in &response.answer {
            if rrset.rtype == Rtype::DNAME && rrset.owner != current {
                assert!(
                    current.ends_with(&rrset.owner),
                    "{} is not above {current}",
                    rrset.owner
                );
                if let Some(keys) = &zone.keys {
                    assert_eq!(rrset.verify(&zone.name, keys, NOW_S), 0);
                }
                redirected = Some(rrset.clone());
                continue;
            }
            assert!(rrset.owner == current, "{} is not {current}", rrset.owner);
            if let Some(dname) = redirected.take() {
                // The alias that follows is made of the DNAME record, and is not signed (RFC 6672 section 5.3.1).
                assert_eq!(rrset.rtype, Rtype::CNAME);
                let above = current.len() - dname.owner.len();
                let target = [&current.as_slice()[..above], &dname.rdata[0]].concat();
                assert_eq!(rrset.rdata[0], target);
                current = Name::from_octets(target.into()).unwrap();
                continue;
            }
            let expanded = zone
                .keys
                .as_ref()
                .map_or(0, |keys| rrset.verify(&zone.name, keys, NOW_S));
            if expanded > 0 {
                Proof::of(response).check_wildcard(&current, expanded);
            }
            match rrset.rtype {
                Rtype::CNAME if rtype != Rtype::CNAME => {
                    current = Name::from_octets(rrset.rdata[0].clone().into()).unwrap();
                }
                _ => found = Some(rrset.rdata.clone()),
            }
        }
        self.is_secure = zone.keys.is_some();
        if let Some(keys) = &zone.keys {
            verify_all(&response.authority, &zone.name, keys, None);
            self.secure += 1;
        }
        if let Some(data) = found {
            return Ok(Found::Data(data));
        }
        if !current.ends_with(&zone.name)
            || (current != *name
                && response
                    .authority
                    .iter()
                    .all(|rrset| rrset.rtype != Rtype::SOA))
        {
            return Err(current);
        }
        // A DS RRset is the parent's; after an alias to its apex, this zone has answered for itself.
        if rtype == Rtype::DS && current == zone.name && current != *name {
            return Err(current);
        }
        assert!(
            Response::find(&response.authority, Rtype::SOA).any(|soa| soa.owner == zone.name),
            "a negative answer for {current} without SOA"
        );
        let is_nxdomain = response.rcode == 3;
        if zone.keys.is_some() {
            match is_nxdomain {
                true => Proof::of(response).check_nxdomain(&zone.name, &current),
                false => Proof::of(response).check_nodata(&zone.name, &current, rtype),
            }
        }
        Ok(if is_nxdomain {
            Found::NxDomain
        } else {
            Found::NoData
        })
    }
}

/// The data of a DS record in presentation format.
fn ds_rdata(line: &str) -> Vec<u8> {
    let fields: Vec<&str> = line.split_whitespace().rev().collect();
    let [digest, digest_type, algorithm, tag, ..] = fields[..] else {
        panic!("no DS record: {line}");
    };
    let mut rdata = tag.parse::<u16>().unwrap().to_be_bytes().to_vec();
    rdata.extend([algorithm, digest_type].map(|number| number.parse::<u8>().unwrap()));
    rdata.extend(base16::decode::<Vec<u8>>(digest).unwrap());
    rdata
}

/// Verifies all RRsets of a section, but the NS RRset of a delegation.
fn verify_all(section: &[Rrset], zone: &Name, keys: &[Vec<u8>], delegation: Option<&Name>) {
    for rrset in section {
        let is_delegation = rrset.rtype == Rtype::NS && delegation == Some(&rrset.owner);
        if !is_delegation {
            rrset.verify(zone, keys, NOW_S);
        }
    }
}

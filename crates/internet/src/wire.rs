//! Names and records of generated zones.

use bytes::Bytes;
use dnsrig_zone::{Name, Record};
use domain::base::iana::{Class, Rtype};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Keys of SVCB parameters (RFC 9460 section 14.3.2).
const SVC_ALPN: u16 = 1;
const SVC_IPV4_HINT: u16 = 4;
const SVC_IPV6_HINT: u16 = 6;

/// `label` in front of `parent`; the labels made here are short, so that no name is too long.
pub(crate) fn child(label: &[u8], parent: &Name) -> Name {
    let mut octets = Vec::with_capacity(1 + label.len() + parent.len());
    octets.push(label.len() as u8);
    octets.extend_from_slice(label);
    octets.extend_from_slice(parent.as_slice());
    // The labels have at most 63 octets, and zones here stand at most three labels deep.
    Name::from_octets(octets.into()).unwrap_or_else(|_| parent.clone())
}

/// Several labels, the leftmost first, in front of `parent`.
pub(crate) fn below(labels: &[&[u8]], parent: &Name) -> Name {
    let mut name = parent.clone();
    for label in labels.iter().rev() {
        name = child(label, &name);
    }
    name
}

/// Collects the records of one zone.
#[derive(Debug)]
pub(crate) struct RecordList {
    pub records: Vec<Record>,
}

impl RecordList {
    pub fn new() -> Self {
        Self {
            records: Vec::with_capacity(24),
        }
    }

    pub fn add(&mut self, owner: &Name, rtype: Rtype, ttl: u32, rdata: impl Into<Bytes>) {
        self.records.push(Record {
            owner: owner.clone(),
            rtype,
            class: Class::IN,
            ttl,
            rdata: rdata.into(),
        });
    }

    /// A record whose data is one name: NS, CNAME.
    pub fn name(&mut self, owner: &Name, rtype: Rtype, ttl: u32, target: &Name) {
        self.add(owner, rtype, ttl, target.as_octets().clone());
    }

    pub fn addresses(&mut self, owner: &Name, ttl: u32, ipv4: Ipv4Addr, ipv6: Option<Ipv6Addr>) {
        self.add(owner, Rtype::A, ttl, ipv4.octets().to_vec());
        if let Some(ipv6) = ipv6 {
            self.add(owner, Rtype::AAAA, ttl, ipv6.octets().to_vec());
        }
    }

    pub fn mx(&mut self, owner: &Name, ttl: u32, preference: u16, exchange: &Name) {
        let rdata = [&preference.to_be_bytes(), exchange.as_slice()].concat();
        self.add(owner, Rtype::MX, ttl, rdata);
    }

    pub fn txt(&mut self, owner: &Name, ttl: u32, text: &str) {
        let text = &text.as_bytes()[..text.len().min(255)];
        let rdata = [&[text.len() as u8], text].concat();
        self.add(owner, Rtype::TXT, ttl, rdata);
    }

    pub fn caa(&mut self, owner: &Name, ttl: u32, issuer: &str) {
        let rdata = [&[0, 5], &b"issue"[..], issuer.as_bytes()].concat();
        self.add(owner, Rtype::CAA, ttl, rdata);
    }

    /// An HTTPS record for `owner` itself with priority 1 (RFC 9460 section 2.2): alpn, and its addresses as hints, in the order of
    /// their keys.
    pub fn https(&mut self, owner: &Name, ttl: u32, ipv4: Ipv4Addr, ipv6: Option<Ipv6Addr>) {
        let mut rdata = vec![0, 1, 0];
        let ipv6 = ipv6.map(|ipv6| ipv6.octets());
        let parameters = [
            (SVC_ALPN, Some(&b"\x02h3\x02h2"[..])),
            (SVC_IPV4_HINT, Some(&ipv4.octets()[..])),
            (SVC_IPV6_HINT, ipv6.as_ref().map(|octets| &octets[..])),
        ];
        for (key, value) in parameters {
            if let Some(value) = value {
                rdata.extend_from_slice(&key.to_be_bytes());
                rdata.extend_from_slice(&(value.len() as u16).to_be_bytes());
                rdata.extend_from_slice(value);
            }
        }
        self.add(owner, Rtype::HTTPS, ttl, rdata);
    }

    pub fn srv(&mut self, owner: &Name, ttl: u32, port: u16, target: &Name) {
        let mut rdata = vec![0, 10, 0, 5];
        rdata.extend_from_slice(&port.to_be_bytes());
        rdata.extend_from_slice(target.as_slice());
        self.add(owner, Rtype::SRV, ttl, rdata);
    }

    /// The SOA record; `negative_ttl_s` is its MINIMUM field and its own TTL.
    pub fn soa(&mut self, apex: &Name, server: &Name, serial: u32, negative_ttl_s: u32) {
        let mailbox = child(b"hostmaster", apex);
        let mut rdata = [server.as_slice(), mailbox.as_slice()].concat();
        for number in [serial, 7200, 3600, 1_209_600, negative_ttl_s] {
            rdata.extend_from_slice(&number.to_be_bytes());
        }
        self.add(apex, Rtype::SOA, negative_ttl_s, rdata);
    }
}

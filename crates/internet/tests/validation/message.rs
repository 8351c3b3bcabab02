//! Messages taken apart: RRsets with their signatures.

use dnsrig_sign::PublicKey;
use dnsrig_zone::{Name, compare_rdata, label_count, push_canonical_rdata, same_name};
use domain::base::iana::Rtype;
use domain::base::name::ToName;
use domain::base::rdata::ComposeRecordData;
use domain::base::{Message, ParsedName};
use domain::rdata::AllRecordData;

/// An RRset of a message; its records have no duplicates.
#[derive(Clone, Debug)]
pub struct Rrset {
    pub owner: Name,
    pub rtype: Rtype,
    pub ttl: u32,
    pub rdata: Vec<Vec<u8>>,
    pub signatures: Vec<Vec<u8>>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub rcode: u8,
    pub is_authoritative: bool,
    pub is_truncated: bool,
    pub answer: Vec<Rrset>,
    pub authority: Vec<Rrset>,
    pub additional: Vec<Rrset>,
}

impl Response {
    pub fn parse(octets: &[u8]) -> Self {
        let message = Message::from_octets(octets).expect("a message");
        let header = message.header();
        let sections = message.sections().expect("whole sections");
        Self {
            rcode: header.rcode().to_int(),
            is_authoritative: header.aa(),
            is_truncated: header.tc(),
            answer: rrsets(sections.1),
            authority: rrsets(sections.2),
            additional: rrsets(sections.3),
        }
    }

    pub fn find(section: &[Rrset], rtype: Rtype) -> impl Iterator<Item = &Rrset> {
        section.iter().filter(move |rrset| rrset.rtype == rtype)
    }
}

fn rrsets(section: domain::base::message::RecordSection<'_, &[u8]>) -> Vec<Rrset> {
    let mut found: Vec<Rrset> = Vec::new();
    let mut signatures = Vec::new();
    for record in section {
        let record = record.expect("a whole record");
        if record.rtype() == Rtype::OPT {
            continue;
        }
        let record = record
            .to_record::<AllRecordData<_, ParsedName<_>>>()
            .expect("readable data")
            .expect("all types are known");
        let owner: Name = record.owner().to_name();
        let mut rdata = Vec::new();
        record.data().compose_rdata(&mut rdata).unwrap();
        let ttl = record.ttl().as_secs();
        match record.rtype() {
            Rtype::RRSIG => signatures.push((owner, rdata)),
            rtype => add(&mut found, owner, rtype, ttl, rdata),
        }
    }
    for (owner, rdata) in signatures {
        let covered = Rtype::from_int(u16::from_be_bytes([rdata[0], rdata[1]]));
        let of = found
            .iter_mut()
            .find(|rrset| rrset.rtype == covered && rrset.owner == owner);
        of.expect("a signature comes with what it covers")
            .signatures
            .push(rdata);
    }
    found
}

fn add(found: &mut Vec<Rrset>, owner: Name, rtype: Rtype, ttl: u32, rdata: Vec<u8>) {
    let same = found
        .iter_mut()
        .find(|rrset| rrset.rtype == rtype && rrset.owner == owner);
    match same {
        Some(rrset) => {
            assert_eq!(
                rrset.ttl, ttl,
                "TTLs of an RRset differ (RFC 2181 section 5.2)"
            );
            assert!(!rrset.rdata.contains(&rdata), "a record comes twice");
            rrset.rdata.push(rdata);
        }
        None => found.push(Rrset {
            owner,
            rtype,
            ttl,
            rdata: vec![rdata],
            signatures: Vec::new(),
        }),
    }
}

impl Rrset {
    /// Verifies the RRset by a zone's DNSKEY RRset (RFC 4035 section 5.3); gives how many labels the owner has more than the
    /// signature says: 0 unless it comes from a wildcard.
    pub fn verify(&self, zone: &Name, dnskeys: &[Vec<u8>], now: u32) -> usize {
        let mut algorithms: Vec<u8> = Vec::new();
        let mut expanded = 0;
        for signature in &self.signatures {
            expanded = self.verify_one(signature, zone, dnskeys, now);
            algorithms.push(signature[2]);
        }
        for key in dnskeys {
            assert!(
                algorithms.contains(&key[3]),
                "{} {} of {zone} has no signature of algorithm {} (RFC 4035 section 2.2)",
                self.owner,
                self.rtype,
                key[3]
            );
        }
        expanded
    }

    fn verify_one(&self, signature: &[u8], zone: &Name, dnskeys: &[Vec<u8>], now: u32) -> usize {
        let what = format!("{} {}", self.owner, self.rtype);
        let number = |at: usize| {
            u32::from_be_bytes([
                signature[at],
                signature[at + 1],
                signature[at + 2],
                signature[at + 3],
            ])
        };
        assert!((number(12)..=number(8)).contains(&now), "{what}: validity");
        assert!(
            number(4) >= self.ttl,
            "{what}: the TTL exceeds the original one"
        );
        let tag = u16::from_be_bytes([signature[16], signature[17]]);
        let signer_len = zone.as_slice().len();
        assert!(
            same_name(&signature[18..18 + signer_len], zone.as_slice()),
            "{what}: signer"
        );
        let labels = label_count(self.owner.as_slice());
        let is_wildcard = self.owner.as_slice().starts_with(b"\x01*");
        let expanded = labels - usize::from(is_wildcard) - usize::from(signature[3]);
        let data = self.signed_data(&signature[..18 + signer_len], expanded);
        let is_valid = dnskeys
            .iter()
            .map(|key| PublicKey::from_dnskey(key).expect("a key"))
            .filter(|key| key.tag() == tag && key.algorithm().number() == signature[2])
            .any(|key| key.verify(&data, &signature[18 + signer_len..]));
        assert!(
            is_valid,
            "{what}: no key verifies the signature with tag {tag}"
        );
        expanded
    }

    fn signed_data(&self, head: &[u8], expanded: usize) -> Vec<u8> {
        let mut owner = self.owner.as_slice().to_ascii_lowercase();
        if expanded > 0 {
            for _ in 0..expanded {
                owner.drain(..1 + usize::from(owner[0]));
            }
            owner.splice(..0, *b"\x01*");
        }
        let mut records = self.rdata.clone();
        records.sort_by(|a, b| compare_rdata(self.rtype, a, b));
        let mut data = head.to_vec();
        for rdata in records {
            let mut canonical = Vec::new();
            push_canonical_rdata(self.rtype, &rdata, &mut canonical);
            data.extend_from_slice(&owner);
            data.extend_from_slice(&self.rtype.to_int().to_be_bytes());
            data.extend_from_slice(&[0, 1]);
            data.extend_from_slice(&head[4..8]);
            data.extend_from_slice(&(canonical.len() as u16).to_be_bytes());
            data.extend_from_slice(&canonical);
        }
        data
    }
}

//! Responses taken apart: RRsets with what their signatures tell.

use bytes::Bytes;
use dnsrig_zone::Name;
use domain::base::iana::{Class, Rtype};
use domain::base::message::RecordSection;
use domain::base::name::ToName;
use domain::base::rdata::ComposeRecordData;
use domain::base::{Message, ParsedName};
use domain::rdata::AllRecordData;
use std::fmt::Write;

/// The longest TTL; a longer one is taken for 0 (RFC 2181 section 8).
const TTL_MAX_S: u32 = i32::MAX as u32;

/// An RRset of a response; RRSIG records are not among its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rrset {
    /// In lower case.
    pub owner: Name,
    pub rtype: Rtype,
    pub ttl: u32,
    /// Sorted.
    pub rdata: Vec<Bytes>,
}

/// What an RRSIG record tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub owner: Name,
    pub covered: Rtype,
    /// Labels of the owner before a wildcard was expanded.
    pub labels: usize,
    pub algorithm: u8,
    /// The zone.
    pub signer: Name,
}

/// A response to one question of class IN.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub name: Name,
    pub rtype: Rtype,
    pub rcode: u8,
    pub is_authoritative: bool,
    pub answer: Vec<Rrset>,
    pub authority: Vec<Rrset>,
    pub additional: Vec<Rrset>,
    pub signed: Vec<Signed>,
    /// Records of class IN that were left out, as they cannot stand in a zone.
    pub unfit: u64,
}

/// What is taken out of the records of a response beside RRsets.
#[derive(Default)]
struct Aside {
    signed: Vec<Signed>,
    unfit: u64,
}

/// Why a message is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unused {
    /// A query that a response of use could answer.
    Query,
    /// Another opcode than QUERY, another class than IN, differences between versions of a zone (IXFR), or the query for a
    /// whole zone (AXFR), whose answer has many messages.
    Other,
    /// It is truncated; the whole answer came by TCP, if at all.
    Truncated,
    /// A resolver's answer: recursion was available and the answer is not authoritative.
    Recursive,
    /// No DNS message, one without a question or with several (RFC 9619 section 4), or one whose records cannot be read.
    Malformed,
}

/// `name` in lower case.
pub(super) fn lower(name: &impl ToName) -> Name {
    name.to_canonical_name()
}

impl Response {
    /// Whether it is a referral that leads away from the name asked for, upwards to the root as a rule: it says nothing of the
    /// server, but that it does not have the zone.
    pub fn is_astray(&self) -> bool {
        let mut delegations = self.authority.iter();
        !self.is_authoritative
            && delegations.any(|rrset| {
                let is_downwards =
                    rrset.owner.label_count() > 1 && self.name.ends_with(&rrset.owner);
                rrset.rtype == Rtype::NS && !is_downwards
            })
    }

    pub fn parse(octets: &[u8]) -> Result<Self, Unused> {
        let message = Message::from_octets(octets).map_err(|_| Unused::Malformed)?;
        let header = message.header();
        if header.opcode().to_int() != 0 {
            return Err(Unused::Other);
        }
        if is_further_of_transfer(&message) {
            return Self::of_transfer(&message);
        }
        let question = message.sole_question().map_err(|_| Unused::Malformed)?;
        // Before anything else: what is left out of queries has to be left out of responses.
        let is_left_out = question.qclass() != Class::IN || question.qtype() == Rtype::IXFR;
        if is_left_out || (!header.qr() && question.qtype() == Rtype::AXFR) {
            return Err(Unused::Other);
        }
        if !header.qr() {
            return Err(Unused::Query);
        }
        if header.tc() {
            return Err(Unused::Truncated);
        }
        if header.ra() && !header.aa() {
            return Err(Unused::Recursive);
        }
        Self::to(lower(question.qname()), question.qtype(), &message)
    }

    /// A response to the question for `name` and `rtype`.
    fn to(name: Name, rtype: Rtype, message: &Message<&[u8]>) -> Result<Self, Unused> {
        let header = message.header();
        let sections = message.sections().map_err(|_| Unused::Malformed)?;
        let mut aside = Aside::default();
        Ok(Self {
            name,
            rtype,
            rcode: header.rcode().to_int(),
            // Who gives a whole zone away has it, though not all servers say so (RFC 5936 section 2.2.1).
            is_authoritative: header.aa() || rtype == Rtype::AXFR,
            answer: rrsets(sections.1, &mut aside)?,
            authority: rrsets(sections.2, &mut aside)?,
            additional: rrsets(sections.3, &mut aside)?,
            signed: aside.signed,
            unfit: aside.unfit,
        })
    }

    /// A message of a zone transfer that does not repeat the question: it is taken for an answer to one for its first record.
    fn of_transfer(message: &Message<&[u8]>) -> Result<Self, Unused> {
        let mut answer = message.answer().map_err(|_| Unused::Malformed)?;
        let first = answer.next().and_then(Result::ok);
        let first = first.ok_or(Unused::Malformed)?;
        Self::to(lower(&first.owner()), Rtype::AXFR, message)
    }
}

/// Whether a message is a further one of a zone transfer, of which the first alone need have the question (RFC 5936 section 2.2.1).
fn is_further_of_transfer(message: &Message<&[u8]>) -> bool {
    let (header, counts) = (message.header(), message.header_counts());
    let is_whole = header.qr() && !header.tc() && header.rcode().to_int() == 0;
    is_whole && counts.qdcount() == 0 && counts.ancount() > 0 && counts.nscount() == 0
}

/// Whether records of a type never stand in a zone: those without a type, query types and meta types (RFC 6895 section 3.1).
fn is_meta(rtype: Rtype) -> bool {
    matches!(rtype.to_int(), 0 | 128..=255)
}

/// Whether a name can have one record of the type at most (RFC 1035 section 5.2, RFC 2181 section 10.1, RFC 6672 section 2.4).
fn is_single(rtype: Rtype) -> bool {
    matches!(rtype, Rtype::SOA | Rtype::CNAME | Rtype::DNAME)
}

/// Types most records are of, whose data are what could be read of them.
fn is_frequent(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::A
            | Rtype::AAAA
            | Rtype::NS
            | Rtype::SOA
            | Rtype::CNAME
            | Rtype::DS
            | Rtype::NSEC
            | Rtype::NSEC3
    )
}

/// Whether data fit their type, as who reads the zone's file will find: `domain` takes some from messages that it does not take
/// from zone files, and does not know all types.
fn fits(rtype: Rtype, rdata: &[u8]) -> bool {
    let mut text = format!("\\# {} ", rdata.len());
    for octet in rdata {
        // Writing to a String cannot fail.
        let _ = write!(text, "{octet:02X}");
    }
    dnsrig_zone::read_rdata(rtype, &text, None).is_ok()
}

fn rrsets(section: RecordSection<'_, &[u8]>, aside: &mut Aside) -> Result<Vec<Rrset>, Unused> {
    let mut found: Vec<Rrset> = Vec::new();
    for record in section {
        let record = record.map_err(|_| Unused::Malformed)?;
        if record.rtype() == Rtype::OPT || record.class() != Class::IN {
            continue;
        }
        let typed = record.to_record::<AllRecordData<_, ParsedName<_>>>();
        let (Ok(Some(record)), false) = (typed, is_meta(record.rtype())) else {
            aside.unfit += 1;
            continue;
        };
        let owner = lower(record.owner());
        if let AllRecordData::Rrsig(rrsig) = record.data() {
            aside.signed.push(Signed {
                owner,
                covered: rrsig.type_covered(),
                labels: rrsig.labels().into(),
                algorithm: rrsig.algorithm().to_int(),
                signer: lower(rrsig.signer_name()),
            });
            continue;
        }
        let mut rdata = Vec::new();
        // Compressed names have the question's letters, which resolvers write as they like (0x20). Writing to a Vec cannot fail.
        let _ = record.data().compose_canonical_rdata(&mut rdata);
        let (rtype, ttl) = (record.rtype(), record.ttl().as_secs());
        if !is_frequent(rtype) && !fits(rtype, &rdata) {
            aside.unfit += 1;
            continue;
        }
        let ttl = if ttl > TTL_MAX_S { 0 } else { ttl };
        let rdata = Bytes::from(rdata);
        let mut known = found.iter_mut();
        match known.find(|rrset| rrset.rtype == rtype && rrset.owner == owner) {
            Some(rrset) => rrset.rdata.push(rdata),
            None => found.push(Rrset {
                owner,
                rtype,
                ttl,
                rdata: vec![rdata],
            }),
        }
    }
    for rrset in &mut found {
        rrset.rdata.sort_unstable();
        rrset.rdata.dedup();
        if is_single(rrset.rtype) {
            aside.unfit += rrset.rdata.len() as u64 - 1;
            rrset.rdata.truncate(1);
        }
    }
    Ok(found)
}

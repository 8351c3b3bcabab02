//! Responses taken apart: RRsets with what their signatures tell.

use bytes::Bytes;
use dnsrig_zone::Name;
use domain::base::iana::{Class, Rtype};
use domain::base::message::RecordSection;
use domain::base::name::ToName;
use domain::base::rdata::ComposeRecordData;
use domain::base::{Message, ParsedName};
use domain::rdata::AllRecordData;

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
}

/// Why a message is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unused {
    /// A query, another opcode than QUERY, or another class than IN.
    NoResponse,
    /// It is truncated; the whole answer came by TCP, if at all.
    Truncated,
    /// A resolver's answer: recursion was available and the answer is not authoritative.
    Recursive,
    /// No DNS message, or one whose records cannot be read.
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
        if !header.qr() || header.opcode().to_int() != 0 {
            return Err(Unused::NoResponse);
        }
        if header.tc() {
            return Err(Unused::Truncated);
        }
        if header.ra() && !header.aa() {
            return Err(Unused::Recursive);
        }
        let sections = message.sections().map_err(|_| Unused::Malformed)?;
        let mut questions = sections.0;
        let question = questions.next().and_then(Result::ok);
        let question = question.ok_or(Unused::Malformed)?;
        if question.qclass() != Class::IN || questions.next().is_some() {
            return Err(Unused::NoResponse);
        }
        let mut signed = Vec::new();
        Ok(Self {
            name: lower(question.qname()),
            rtype: question.qtype(),
            rcode: header.rcode().to_int(),
            is_authoritative: header.aa(),
            answer: rrsets(sections.1, &mut signed)?,
            authority: rrsets(sections.2, &mut signed)?,
            additional: rrsets(sections.3, &mut signed)?,
            signed,
        })
    }
}

fn rrsets(
    section: RecordSection<'_, &[u8]>,
    signed: &mut Vec<Signed>,
) -> Result<Vec<Rrset>, Unused> {
    let mut found: Vec<Rrset> = Vec::new();
    for record in section {
        let record = record.map_err(|_| Unused::Malformed)?;
        if record.rtype() == Rtype::OPT || record.class() != Class::IN {
            continue;
        }
        let typed = record.to_record::<AllRecordData<_, ParsedName<_>>>();
        let Ok(Some(record)) = typed else {
            return Err(Unused::Malformed);
        };
        let owner = lower(record.owner());
        if let AllRecordData::Rrsig(rrsig) = record.data() {
            signed.push(Signed {
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
    }
    Ok(found)
}

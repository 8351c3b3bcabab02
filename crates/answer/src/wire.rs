//! A zone laid out for answering: records in wire format, and what goes with each RRset.

use crate::AnswerError;
use crate::names::{NameId, NameTable, NameTableBuilder};
use dnsrig_zone::lookup::{LookupName, NodeId, RrsetId, ZoneIndex};
use dnsrig_zone::{Record, Zone};
use domain::base::iana::Rtype;
use std::ops::Range;
use std::sync::Arc;

/// Octets of type, class, TTL and RDLENGTH.
pub(crate) const RECORD_FIXED_LEN: usize = 10;

/// Octets of the five numbers that end SOA data.
pub(crate) const SOA_TAIL_LEN: usize = 20;

/// A zone ready to be answered from.
#[derive(Debug)]
pub(crate) struct ZoneWire {
    pub index: ZoneIndex,
    pub names: NameTable,
    /// All records, each as type, class, TTL, RDLENGTH and uncompressed RDATA.
    octets: Vec<u8>,
    records: Vec<WireRecord>,
    /// The owner of each RRset.
    owners: Vec<NameId>,
    nodes: Vec<NameId>,
    /// For each RRset the part of `addresses` that is additional data of it.
    additional: Vec<Additional>,
    addresses: Vec<RrsetId>,
    pub soa: RrsetId,
    pub ns: Option<RrsetId>,
    /// TTL of negative answers, in seconds: the lesser of the SOA's TTL and its MINIMUM field (RFC 2308 section 3).
    pub negative_ttl: u32,
}

/// Where a record is, and which names in its data may be compressed (RFC 3597 section 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireRecord {
    start: u32,
    len: u16,
    /// Octets of RDATA before the first name.
    pub lead: u8,
    pub owner: NameId,
    pub names: [Option<NameId>; 2],
}

#[derive(Clone, Debug, Default)]
struct Additional {
    span: Range<u32>,
    /// How many of them, from the start, a referral cannot do without: in-domain glue (RFC 9471 section 3).
    required: u32,
}

impl ZoneWire {
    pub fn new(zone: Arc<Zone>) -> Result<Self, AnswerError> {
        let no_soa = || AnswerError::NoSoa {
            zone: zone.origin().fmt_with_dot().to_string(),
        };
        let index = ZoneIndex::new(Arc::clone(&zone));
        let soa = index.find_at(index.apex(), Rtype::SOA).ok_or_else(no_soa)?;
        let soa_record = &index.rrset(soa).records[0];
        let minimum = soa_record.rdata.last_chunk().ok_or_else(no_soa)?;
        let negative_ttl = soa_record.ttl.min(u32::from_be_bytes(*minimum));

        let mut names = NameTableBuilder::new();
        let mut octets = Vec::new();
        let records = lay_out(&zone, &mut names, &mut octets);
        let owner = |id: RrsetId| records[index.span(id).records.start as usize].owner;
        let owners = index.rrset_ids().map(owner).collect();
        let nodes = index
            .node_ids()
            .map(|node| names.add(index.name(node).as_slice()))
            .collect();
        let mut addresses = Vec::new();
        let additional = index
            .rrset_ids()
            .map(|id| additional_of(&index, id, &mut addresses))
            .collect();
        Ok(Self {
            ns: index.find_at(index.apex(), Rtype::NS),
            names: names.finish(),
            octets,
            records,
            owners,
            nodes,
            additional,
            addresses,
            soa,
            negative_ttl,
            index,
        })
    }

    pub fn record(&self, place: u32) -> (WireRecord, &[u8]) {
        let record = self.records[place as usize];
        let start = record.start as usize;
        (
            record,
            &self.octets[start..start + RECORD_FIXED_LEN + usize::from(record.len)],
        )
    }

    pub fn owner(&self, rrset: RrsetId) -> NameId {
        self.owners[rrset.index()]
    }

    pub fn node_name(&self, node: NodeId) -> NameId {
        self.nodes[node.index()]
    }

    /// The address RRsets of the hosts that an RRset names; the second part may be left out of any answer.
    pub fn additional(&self, rrset: RrsetId) -> (&[RrsetId], &[RrsetId]) {
        let additional = &self.additional[rrset.index()];
        let span = additional.span.start as usize..additional.span.end as usize;
        self.addresses[span].split_at(additional.required as usize)
    }
}

fn lay_out(zone: &Zone, names: &mut NameTableBuilder, octets: &mut Vec<u8>) -> Vec<WireRecord> {
    let to_wire = |record: &Record| {
        let start = octets.len() as u32;
        octets.extend_from_slice(&record.rtype.to_int().to_be_bytes());
        octets.extend_from_slice(&record.class.to_int().to_be_bytes());
        octets.extend_from_slice(&record.ttl.to_be_bytes());
        octets.extend_from_slice(&(record.rdata.len() as u16).to_be_bytes());
        octets.extend_from_slice(&record.rdata);
        let (lead, spans) = compressible_names(record);
        WireRecord {
            start,
            len: record.rdata.len() as u16,
            lead,
            owner: names.add(record.owner.as_slice()),
            names: spans.map(|span| span.map(|span| names.add(&record.rdata[span]))),
        }
    };
    zone.records().iter().map(to_wire).collect()
}

/// The names in a record's data that may be compressed, and how many octets precede them.
fn compressible_names(record: &Record) -> (u8, [Option<Range<usize>>; 2]) {
    let (lead, count) = match record.rtype {
        Rtype::NS | Rtype::CNAME | Rtype::PTR => (0, 1),
        Rtype::MX => (2, 1),
        Rtype::SOA => (0, 2),
        _ => (0, 0),
    };
    let mut spans = [None, None];
    let mut at = usize::from(lead);
    for span in &mut spans[..count] {
        let Some(len) = record
            .rdata
            .get(at..)
            .and_then(|rest| LookupName::default().set(rest))
        else {
            return (0, [None, None]);
        };
        *span = Some(at..at + len);
        at += len;
    }
    let tail = if record.rtype == Rtype::SOA {
        SOA_TAIL_LEN
    } else {
        0
    };
    if at + tail != record.rdata.len() {
        return (0, [None, None]);
    }
    (lead, spans)
}

/// Appends the address RRsets of an RRset's targets, the in-domain ones of a delegation first.
fn additional_of(index: &ZoneIndex, id: RrsetId, addresses: &mut Vec<RrsetId>) -> Additional {
    let rrset = index.rrset(id);
    let target_at = match rrset.rtype {
        Rtype::NS => 0,
        Rtype::MX => 2,
        Rtype::SRV => 6,
        _ => return Additional::default(),
    };
    let start = addresses.len();
    let cut = index
        .find(&LookupName::from(rrset.owner()))
        .and_then(|node| index.zone_cut(node));
    let mut target = LookupName::default();
    let (mut required, mut optional) = (Vec::new(), Vec::new());
    for record in rrset.records {
        let host = record
            .rdata
            .get(target_at..)
            .and_then(|octets| target.set(octets));
        let Some(node) = host.and_then(|_| index.find(&target)) else {
            continue;
        };
        let in_domain = cut.is_some() && index.zone_cut(node) == cut;
        let list = if in_domain {
            &mut required
        } else {
            &mut optional
        };
        list.extend(
            [Rtype::A, Rtype::AAAA]
                .into_iter()
                .filter_map(|rtype| index.find_at(node, rtype)),
        );
    }
    let required_len = required.len() as u32;
    addresses.extend(required.into_iter().chain(optional));
    Additional {
        span: start as u32..addresses.len() as u32,
        required: required_len,
    }
}

//! Messages as lists of records, to be put together and spoilt.

use crate::internet::Name;
use bytes::Bytes;
use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message::RecordSection;
use domain::base::rdata::ComposeRecordData;
use domain::base::{Message, MessageBuilder, ParsedName, Record, ToName, Ttl, UnknownRecordData};
use domain::rdata::AllRecordData;

/// A record; its data has no compressed names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub owner: Name,
    pub rtype: Rtype,
    pub ttl: Ttl,
    pub rdata: Vec<u8>,
}

impl Entry {
    /// The type of the RRset that this record belongs to: for a signature what it covers.
    pub fn covers(&self) -> Rtype {
        match self.rtype {
            Rtype::RRSIG => Rtype::from_int(u16::from_be_bytes([self.rdata[0], self.rdata[1]])),
            rtype => rtype,
        }
    }
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    pub name: Name,
    pub rtype: Rtype,
    pub rcode: Rcode,
    pub is_authoritative: bool,
    pub is_truncated: bool,
    pub answer: Vec<Entry>,
    pub authority: Vec<Entry>,
    pub additional: Vec<Entry>,
}

impl Response {
    pub fn parse(octets: &[u8]) -> Self {
        let message = Message::from_octets(octets).expect("a message");
        let question = message.sole_question().expect("one question");
        let sections = message.sections().expect("whole sections");
        Self {
            name: question.qname().to_name(),
            rtype: question.qtype(),
            rcode: message.header().rcode(),
            is_authoritative: message.header().aa(),
            is_truncated: message.header().tc(),
            answer: entries(sections.1),
            authority: entries(sections.2),
            additional: entries(sections.3),
        }
    }

    pub fn compose(&self) -> Bytes {
        let mut builder = MessageBuilder::new_vec();
        builder.header_mut().set_qr(true);
        builder.header_mut().set_rcode(self.rcode);
        let mut builder = builder.question();
        builder.push((&self.name, self.rtype)).unwrap();
        let mut builder = builder.answer();
        for entry in &self.answer {
            builder.push(record(entry)).unwrap();
        }
        let mut builder = builder.authority();
        for entry in &self.authority {
            builder.push(record(entry)).unwrap();
        }
        builder.finish().into()
    }

    pub fn has(section: &[Entry], owner: &Name, rtype: Rtype) -> bool {
        section
            .iter()
            .any(|entry| entry.rtype == rtype && entry.owner == *owner)
    }

    /// Where aliases in the answer lead from its question on; the question's name if there are none.
    pub fn alias_end(&self) -> Name {
        let mut name = self.name.clone();
        if self.rtype == Rtype::CNAME {
            return name;
        }
        while let Some(alias) = self
            .answer
            .iter()
            .find(|entry| entry.rtype == Rtype::CNAME && entry.owner == name)
        {
            name = Name::from_octets(alias.rdata.clone().into()).unwrap();
        }
        name
    }
}

fn record(entry: &Entry) -> Record<Name, UnknownRecordData<&[u8]>> {
    let data = UnknownRecordData::from_octets(entry.rtype, &entry.rdata[..]).unwrap();
    Record::new(entry.owner.clone(), Class::IN, entry.ttl, data)
}

fn entries(section: RecordSection<'_, &[u8]>) -> Vec<Entry> {
    let records = section.map(|record| record.expect("a whole record"));
    let records = records.filter(|record| record.rtype() != Rtype::OPT);
    records
        .map(|record| {
            let parsed = record.to_record::<AllRecordData<_, ParsedName<_>>>();
            let parsed = parsed.expect("readable data").expect("all types are known");
            let mut rdata = Vec::new();
            parsed.data().compose_rdata(&mut rdata).unwrap();
            Entry {
                owner: record.owner().to_name(),
                rtype: record.rtype(),
                ttl: record.ttl(),
                rdata,
            }
        })
        .collect()
}

//! Reading a query (RFC 1035 section 4.1, EDNS by RFC 6891).

use dnsrig_zone::lookup::LookupName;
use domain::base::iana::{Class, Opcode, Rtype};

/// Octets of a message header.
pub(crate) const HEADER_LEN: usize = 12;

const FLAG_RESPONSE: u8 = 0x80;
const FLAG_RECURSION_DESIRED: u8 = 0x01;
const FLAG_DNSSEC_OK: u8 = 0x80;

/// EDNS option codes (RFC 7828 section 3.1, RFC 7830 section 3).
const OPTION_TCP_KEEPALIVE: u16 = 11;
pub(crate) const OPTION_PADDING: u16 = 12;

/// A query's header, question and OPT record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub id: [u8; 2],
    pub opcode: Opcode,
    pub recursion_desired: bool,
    /// Absent if the message holds no question that can be read.
    pub question: Option<Question>,
    pub edns: Option<Edns>,
    /// Whether the whole message could be read and makes sense.
    pub well_formed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub rtype: Rtype,
    pub class: Class,
    /// Where the question ends in the message.
    pub end: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edns {
    pub udp_payload: u16,
    pub version: u8,
    pub dnssec_ok: bool,
    /// The client pads its query, and wants a padded response (RFC 7830 section 4).
    pub padding: bool,
    /// The edns-tcp-keepalive option is there (RFC 7828).
    pub tcp_keepalive: bool,
}

impl Query {
    /// Reads a message and its question's name into `name`; `None` if it is to be left unanswered: too short for a header,
    /// or a response (answering those would let two servers talk forever).
    pub fn parse(message: &[u8], name: &mut LookupName) -> Option<Self> {
        let header: &[u8; HEADER_LEN] = message.first_chunk()?;
        if header[2] & FLAG_RESPONSE != 0 {
            return None;
        }
        let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let mut query = Self {
            id: [header[0], header[1]],
            opcode: Opcode::from_int(header[2] >> 3 & 0x0f),
            recursion_desired: header[2] & FLAG_RECURSION_DESIRED != 0,
            question: None,
            edns: None,
            well_formed: false,
        };
        if count(4) == 1 {
            query.question = Question::parse(message, name);
        }
        if let Some(question) = query.question {
            let others = u32::from(count(6)) + u32::from(count(8));
            let records = others + u32::from(count(10));
            // A query has no answer or authority section; IXFR is the exception (RFC 1995), and not served here.
            let expected =
                others == 0 || query.opcode != Opcode::QUERY || question.rtype == Rtype::IXFR;
            query.well_formed =
                query.read_records(message, question.end, records).is_some() && expected;
        }
        Some(query)
    }

    /// Walks over the records after the question, taking note of OPT.
    fn read_records(&mut self, message: &[u8], mut at: usize, records: u32) -> Option<()> {
        for _ in 0..records {
            let owner = at;
            at = skip_name(message, at)?;
            let fixed: &[u8; 10] = message.get(at..)?.first_chunk()?;
            let rdata_len = usize::from(u16::from_be_bytes([fixed[8], fixed[9]]));
            let rdata = message.get(at + 10..at + 10 + rdata_len)?;
            if Rtype::from_int(u16::from_be_bytes([fixed[0], fixed[1]])) == Rtype::OPT {
                if self.edns.is_some() || message[owner] != 0 {
                    return None;
                }
                let mut edns = Edns {
                    udp_payload: u16::from_be_bytes([fixed[2], fixed[3]]),
                    version: fixed[5],
                    dnssec_ok: fixed[6] & FLAG_DNSSEC_OK != 0,
                    padding: false,
                    tcp_keepalive: false,
                };
                edns.read_options(rdata)?;
                self.edns = Some(edns);
            }
            at += 10 + rdata_len;
        }
        (at == message.len()).then_some(())
    }
}

/// Whether a message has the edns-tcp-keepalive option; reads the question's name into `name`.
pub(crate) fn has_tcp_keepalive(message: &[u8], name: &mut LookupName) -> bool {
    Query::parse(message, name)
        .and_then(|query| query.edns)
        .is_some_and(|edns| edns.tcp_keepalive)
}

impl Question {
    fn parse(message: &[u8], name: &mut LookupName) -> Option<Self> {
        let name_len = name.set(&message[HEADER_LEN..])?;
        let rest: &[u8; 4] = message[HEADER_LEN + name_len..].first_chunk()?;
        Some(Self {
            rtype: Rtype::from_int(u16::from_be_bytes([rest[0], rest[1]])),
            class: Class::from_int(u16::from_be_bytes([rest[2], rest[3]])),
            end: HEADER_LEN + name_len + 4,
        })
    }
}

/// Where the possibly compressed name at `at` ends.
pub(crate) fn skip_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            len @ 1..=63 => at += 1 + usize::from(len),
            0xc0.. => return message.get(at + 1).map(|_| at + 2),
            _ => return None,
        }
    }
}

impl Edns {
    /// Takes note of the options that matter here; `None` if one is cut off.
    fn read_options(&mut self, mut rdata: &[u8]) -> Option<()> {
        while let [code_high, code_low, len_high, len_low, rest @ ..] = rdata {
            rdata = rest.get(usize::from(u16::from_be_bytes([*len_high, *len_low]))..)?;
            match u16::from_be_bytes([*code_high, *code_low]) {
                OPTION_PADDING => self.padding = true,
                OPTION_TCP_KEEPALIVE => self.tcp_keepalive = true,
                _ => {}
            }
        }
        rdata.is_empty().then_some(())
    }
}

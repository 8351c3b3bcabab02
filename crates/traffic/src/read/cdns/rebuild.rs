//! Messages made again of what a block of C-DNS says of them.

use super::block::{Block, ClassType, MalformedData, Sections, Signature, Transaction};
use crate::message::{Endpoint, Message, SentLen, Transport};
use crate::wire::{HEADER_LEN, TYPE_OPT};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const DNS_PORT: u16 = 53;
const NS_PER_S: i128 = 1_000_000_000;
/// Of `qr-sig-flags` (RFC 8618 section 7.3.2.3.2).
const HAS_QUERY: u64 = 1;
const HAS_RESPONSE: u64 = 1 << 1;
const QUERY_HAS_OPT: u64 = 1 << 2;
const RESPONSE_HAS_OPT: u64 = 1 << 3;
const QUERY_HAS_NO_QUESTION: u64 = 1 << 4;
const RESPONSE_HAS_NO_QUESTION: u64 = 1 << 5;
/// DO among the flags of a query.
const QUERY_DO: u64 = 1 << 7;
/// Where the flags CD, AD, Z, RA, RD, TC and AA of `qr-dns-flags`, in this order, stand in a header.
const HEADER_FLAGS: [u16; 7] = [0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x400];
const QR: u16 = 0x8000;
/// DO in the TTL of an OPT record (RFC 6891 section 6.1.4).
const TTL_DO: u32 = 0x8000;
/// The payload of UDP where EDNS does not tell another.
const DEFAULT_UDP_SIZE: u16 = 512;
/// A pointer to the first question's name.
const QUESTION_POINTER: [u8; 2] = [0xC0, HEADER_LEN as u8];

/// A message that was made again.
#[derive(Debug)]
pub struct Rebuilt {
    time_ns: i64,
    source: Endpoint,
    destination: Endpoint,
    transport: Transport,
    octets: Vec<u8>,
    sent_len: SentLen,
}

impl Rebuilt {
    /// The message, with its number in the file.
    pub fn view(&self, number: u64) -> Message<'_> {
        Message {
            time_ns: self.time_ns,
            source: self.source,
            destination: self.destination,
            transport: self.transport,
            octets: &self.octets,
            is_cut: false,
            sent_len: self.sent_len,
            number,
        }
    }
}

/// Makes the messages of `block` in the order of their times, which count `ticks_per_second`.
pub fn rebuild(block: &Block, ticks_per_second: u64) -> Vec<Rebuilt> {
    let maker = Maker {
        block,
        ticks_per_second: ticks_per_second.into(),
    };
    let mut made = Vec::with_capacity(2 * block.transactions.len() + block.malformed.len());
    for transaction in &block.transactions {
        maker.transaction(transaction, &mut made);
    }
    for malformed in &block.malformed {
        let data = at(&block.malformed_data, malformed.data);
        let empty = MalformedData::default();
        let data = data.unwrap_or(&empty);
        made.push(Rebuilt {
            time_ns: maker.time_ns(malformed.ticks, 0),
            source: maker.client(
                malformed.client_address,
                malformed.client_port,
                data.transport,
            ),
            destination: maker.server(data.server_address, data.server_port, data.transport),
            transport: transport(data.transport),
            octets: data.octets.to_vec(),
            sent_len: SentLen::Own,
        });
    }
    made.sort_by_key(|message| message.time_ns);
    made
}

fn at<T>(table: &[T], index: Option<u64>) -> Option<&T> {
    table.get(usize::try_from(index?).ok()?)
}

/// The length of a message that the file tells of, but does not hold.
fn sent_len(told: Option<u16>) -> SentLen {
    told.map_or(SentLen::Unknown, SentLen::Told)
}

fn transport(flags: Option<u64>) -> Transport {
    match flags.map(|flags| flags >> 1 & 0xF) {
        Some(0) => Transport::Udp,
        Some(1) => Transport::Tcp,
        // TLS and DTLS.
        Some(2 | 3) => Transport::Tls,
        Some(4) => Transport::Https,
        _ => Transport::Unknown,
    }
}

struct Maker<'b> {
    block: &'b Block,
    ticks_per_second: i128,
}

impl Maker<'_> {
    fn transaction(&self, transaction: &Transaction, made: &mut Vec<Rebuilt>) {
        let unknown = Signature::default();
        let signature = at(&self.block.signatures, transaction.signature).unwrap_or(&unknown);
        let client = self.client(
            transaction.client_address,
            transaction.client_port,
            signature.transport,
        );
        let server = self.server(
            signature.server_address,
            signature.server_port,
            signature.transport,
        );
        // Where the flags were not collected, it is not known whether there was a response.
        let flags = signature.flags.unwrap_or(HAS_QUERY);
        let has_query = flags & HAS_QUERY != 0;
        if has_query {
            made.push(Rebuilt {
                time_ns: self.time_ns(transaction.ticks, 0),
                source: client,
                destination: server,
                transport: transport(signature.transport),
                octets: self.query(transaction, signature, flags),
                sent_len: sent_len(transaction.lens[0]),
            });
        }
        if flags & HAS_RESPONSE != 0 {
            let delay = if has_query {
                transaction.delay_ticks
            } else {
                0
            };
            made.push(Rebuilt {
                time_ns: self.time_ns(transaction.ticks, delay),
                source: server,
                destination: client,
                transport: transport(signature.transport),
                octets: self.response(transaction, signature, flags),
                sent_len: sent_len(transaction.lens[1]),
            });
        }
    }

    /// The time so many ticks after the block's earliest one, in ns since 1970.
    fn time_ns(&self, offset: u64, delay: i64) -> i64 {
        let (seconds, ticks) = self.block.earliest;
        let ticks = i128::from(ticks) + i128::from(offset) + i128::from(delay);
        let time = i128::from(seconds) * NS_PER_S + ticks * NS_PER_S / self.ticks_per_second;
        time.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    fn client(&self, address: Option<u64>, port: u16, transport: Option<u64>) -> Endpoint {
        Endpoint::new(self.address(address, transport), port)
    }

    fn server(&self, address: Option<u64>, port: Option<u16>, transport: Option<u64>) -> Endpoint {
        Endpoint::new(self.address(address, transport), port.unwrap_or(DNS_PORT))
    }

    /// An address, of which the file may have only a prefix.
    fn address(&self, index: Option<u64>, transport: Option<u64>) -> IpAddr {
        let octets = at(&self.block.addresses, index).map_or(&[][..], |octets| octets);
        let is_ipv6 = transport.map_or(octets.len() > 4, |flags| flags & 1 != 0);
        let mut whole = [0; 16];
        let len = octets.len().min(16);
        whole[..len].copy_from_slice(&octets[..len]);
        match is_ipv6 {
            true => Ipv6Addr::from(whole).into(),
            false => Ipv4Addr::new(whole[0], whole[1], whole[2], whole[3]).into(),
        }
    }

    fn query(&self, transaction: &Transaction, signature: &Signature, flags: u64) -> Vec<u8> {
        let has_question = flags & QUERY_HAS_NO_QUESTION == 0;
        let header = header_flags(signature.dns_flags, signature) | rcode(signature.query_rcode);
        let mut message = Writer::new(transaction.id, header);
        self.questions(
            &mut message,
            transaction,
            signature,
            has_question,
            &transaction.query,
        );
        self.sections(&mut message, &transaction.query);
        if flags & QUERY_HAS_OPT != 0 && !message.has_opt {
            let ttl = (signature.query_rcode as u32 >> 4 & 0xFF) << 24
                | (signature.edns_version as u32 & 0xFF) << 16
                | if signature.dns_flags & QUERY_DO != 0 {
                    TTL_DO
                } else {
                    0
                };
            let opt = ClassType {
                rtype: TYPE_OPT,
                class: signature.udp_size.unwrap_or(DEFAULT_UDP_SIZE),
            };
            let data = at(&self.block.names, signature.opt_data);
            message.record(&[0], opt, ttl, data.map_or(&[], |data| data));
            message.counts[3] += 1;
        }
        message.finish()
    }

    fn response(&self, transaction: &Transaction, signature: &Signature, flags: u64) -> Vec<u8> {
        let has_question = flags & RESPONSE_HAS_NO_QUESTION == 0;
        let header = QR
            | header_flags(signature.dns_flags >> 8, signature)
            | rcode(signature.response_rcode);
        let mut message = Writer::new(transaction.id, header);
        self.questions(
            &mut message,
            transaction,
            signature,
            has_question,
            &transaction.response,
        );
        self.sections(&mut message, &transaction.response);
        if flags & RESPONSE_HAS_OPT != 0 && !message.has_opt {
            // That there was one is known, but not what it said beside the RCODE.
            let opt = ClassType {
                rtype: TYPE_OPT,
                class: DEFAULT_UDP_SIZE,
            };
            let ttl = (signature.response_rcode as u32 >> 4 & 0xFF) << 24;
            message.record(&[0], opt, ttl, &[]);
            message.counts[3] += 1;
        }
        message.finish()
    }

    fn questions(
        &self,
        message: &mut Writer,
        transaction: &Transaction,
        signature: &Signature,
        has_question: bool,
        sections: &Sections,
    ) {
        let name = at(&self.block.names, transaction.name).filter(|_| has_question);
        if let Some(name) = name {
            let class_type = at(&self.block.class_types, signature.class_type);
            message.question(name, class_type.copied().unwrap_or_default());
        }
        let others = at(&self.block.question_lists, sections.questions);
        for index in others.iter().flat_map(|list| list.iter()) {
            let Some(question) = at(&self.block.questions, Some(*index)) else {
                continue;
            };
            let name = at(&self.block.names, Some(question.name));
            let class_type = at(&self.block.class_types, Some(question.class_type));
            if let (Some(name), Some(class_type)) = (name, class_type) {
                message.question(name, *class_type);
            }
        }
    }

    fn sections(&self, message: &mut Writer, sections: &Sections) {
        for (section, list) in sections.records.iter().enumerate() {
            let list = at(&self.block.record_lists, *list);
            for index in list.iter().flat_map(|list| list.iter()) {
                let Some(record) = at(&self.block.records, Some(*index)) else {
                    continue;
                };
                let name = at(&self.block.names, Some(record.name));
                let class_type = at(&self.block.class_types, Some(record.class_type));
                let data = at(&self.block.names, record.data);
                if let (Some(name), Some(class_type)) = (name, class_type) {
                    let data = data.map_or(&[][..], |data| data);
                    message.record(name, *class_type, record.ttl, data);
                    message.counts[1 + section] += 1;
                }
            }
        }
    }
}

/// The flags of a header, and the opcode.
fn header_flags(flags: u64, signature: &Signature) -> u16 {
    let opcode = (signature.opcode as u16 & 0xF) << 11;
    let set = (0..)
        .zip(HEADER_FLAGS)
        .filter(|(bit, _)| flags >> bit & 1 != 0);
    set.fold(opcode, |header, (_, flag)| header | flag)
}

/// The part of an RCODE that the header has.
fn rcode(rcode: u64) -> u16 {
    rcode as u16 & 0xF
}

/// A message that is being written.
struct Writer {
    octets: Vec<u8>,
    counts: [u16; 4],
    has_opt: bool,
    /// The length of the first question's name.
    question_len: usize,
}

impl Writer {
    fn new(id: u16, flags: u16) -> Self {
        let mut octets = Vec::with_capacity(128);
        octets.extend_from_slice(&id.to_be_bytes());
        octets.extend_from_slice(&flags.to_be_bytes());
        octets.resize(HEADER_LEN, 0);
        Self {
            octets,
            counts: [0; 4],
            has_opt: false,
            question_len: 0,
        }
    }

    fn question(&mut self, name: &[u8], class_type: ClassType) {
        if self.counts[0] == 0 {
            self.question_len = name.len();
        }
        self.counts[0] += 1;
        self.octets.extend_from_slice(name);
        self.class_type(class_type);
    }

    fn class_type(&mut self, class_type: ClassType) {
        self.octets
            .extend_from_slice(&class_type.rtype.to_be_bytes());
        self.octets
            .extend_from_slice(&class_type.class.to_be_bytes());
    }

    fn record(&mut self, name: &[u8], class_type: ClassType, ttl: u32, data: &[u8]) {
        let question = HEADER_LEN..HEADER_LEN + self.question_len;
        if name.len() > QUESTION_POINTER.len() && self.octets[question] == *name {
            self.octets.extend_from_slice(&QUESTION_POINTER);
        } else {
            self.octets.extend_from_slice(name);
        }
        self.has_opt |= class_type.rtype == TYPE_OPT;
        self.class_type(class_type);
        self.octets.extend_from_slice(&ttl.to_be_bytes());
        // Longer data than a record can have make the message malformed, as they must.
        self.octets
            .extend_from_slice(&(data.len() as u16).to_be_bytes());
        self.octets.extend_from_slice(data);
    }

    fn finish(mut self) -> Vec<u8> {
        for (place, count) in (4..).step_by(2).zip(self.counts) {
            self.octets[place..place + 2].copy_from_slice(&count.to_be_bytes());
        }
        self.octets
    }
}

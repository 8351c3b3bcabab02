//! Writing a response: sections, name compression, truncation at whole RRsets.

use crate::names::{NameId, NameTable};
use crate::query::{HEADER_LEN, OPTION_PADDING, Query};
use crate::wire::{RECORD_FIXED_LEN, SOA_TAIL_LEN, ZoneWire};
use domain::base::iana::{Class, OptRcode, Rtype};
use std::ops::Range;

/// Octets of an OPT record without options.
pub(crate) const OPT_LEN: usize = 11;
/// Padded responses are a multiple of this long (RFC 8467 section 4.1).
const PADDING_BLOCK: usize = 468;
/// Octets of an EDNS option's code and length.
const OPTION_FIXED_LEN: usize = 4;
/// Compression pointers reach no further (RFC 1035 section 4.1.4).
const POINTER_REACH: usize = 0x4000;
/// More names than this are not remembered for compression: looking through them would cost more than it saves.
const MAX_KNOWN: usize = 64;

const FLAG_RESPONSE: u8 = 0x80;
const FLAG_AUTHORITATIVE: u8 = 0x04;
const FLAG_TRUNCATED: u8 = 0x02;
const FLAG_RECURSION_DESIRED: u8 = 0x01;

/// The RRset does not fit; the message is as it was before.
#[derive(Debug)]
pub(crate) struct Full;

/// Sections of a message in order.
#[derive(Clone, Copy)]
pub(crate) enum Section {
    Answer,
    Authority,
    Additional,
}

/// The owner of an RRset, as the response writes it.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    /// A name of the zone.
    Name(NameId),
    /// A name that the message holds already, at this offset.
    At(usize),
}

/// Names in the message and where they are.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    names: Vec<(NameId, u16)>,
}

impl KnownNames {
    pub fn clear(&mut self) {
        self.names.clear();
    }

    pub fn add(&mut self, name: NameId, at: usize) {
        if at < POINTER_REACH && self.names.len() < MAX_KNOWN {
            self.names.push((name, at as u16));
        }
    }

    fn find(&self, name: NameId) -> Option<u16> {
        self.names
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, at)| *at)
    }
}

/// A response being written.
pub(crate) struct MessageWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    limit: usize,
    counts: [u16; 3],
    known: &'a mut KnownNames,
}

impl<'a> MessageWriter<'a> {
    /// Begins a response to `message`, repeating its question; at most `limit` octets of `out` are used before [`Self::finish`].
    ///
    /// `None` if not even the question fits.
    pub fn new(
        out: &'a mut [u8],
        limit: usize,
        message: &[u8],
        query: &Query,
        known: &'a mut KnownNames,
    ) -> Option<Self> {
        let at = query.question.map_or(HEADER_LEN, |question| question.end);
        let limit = limit.min(out.len());
        if at > limit {
            return None;
        }
        out[..2].copy_from_slice(&query.id);
        out[4..6].copy_from_slice(&u16::from(query.question.is_some()).to_be_bytes());
        out[HEADER_LEN..at].copy_from_slice(&message[HEADER_LEN..at]);
        known.clear();
        Some(Self {
            out,
            at,
            limit,
            counts: [0; 3],
            known,
        })
    }

    /// Makes a name that the message holds already known for compression.
    pub fn know(&mut self, name: NameId, at: usize) {
        self.known.add(name, at);
    }

    /// The octets written so far.
    pub fn len(&self) -> usize {
        self.at
    }

    /// Writes records of one owner, or none of them.
    pub fn put(
        &mut self,
        zone: &ZoneWire,
        section: Section,
        owner: Owner,
        spans: [&Range<u32>; 2],
        ttl: Option<u32>,
    ) -> Result<(), Full> {
        let (at, known) = (self.at, self.known.names.len());
        let mut records = 0;
        for place in spans.into_iter().flat_map(Range::clone) {
            if self.put_record(zone, owner, place, ttl).is_none() {
                self.at = at;
                self.known.names.truncate(known);
                return Err(Full);
            }
            records += 1;
        }
        self.counts[section as usize] += records;
        Ok(())
    }

    fn put_record(
        &mut self,
        zone: &ZoneWire,
        owner: Owner,
        place: u32,
        ttl: Option<u32>,
    ) -> Option<()> {
        let (record, octets) = zone.record(place);
        self.put_owner(&zone.names, owner)?;
        let start = self.at;
        let [Some(first), second] = record.names else {
            self.put_octets(octets)?;
            self.set_ttl(start, ttl);
            return Some(());
        };
        // The name's length in the zone's octets is not needed: what follows the names is known from the end.
        let tail = match record.names {
            [Some(_), Some(_)] => SOA_TAIL_LEN,
            _ => 0,
        };
        self.put_octets(&octets[..RECORD_FIXED_LEN + usize::from(record.lead)])?;
        self.put_name(&zone.names, first)?;
        if let Some(second) = second {
            self.put_name(&zone.names, second)?;
        }
        self.put_octets(&octets[octets.len() - tail..])?;
        let rdata_len = (self.at - start - RECORD_FIXED_LEN) as u16;
        self.out[start + RECORD_FIXED_LEN - 2..start + RECORD_FIXED_LEN]
            .copy_from_slice(&rdata_len.to_be_bytes());
        self.set_ttl(start, ttl);
        Some(())
    }

    /// Writes the CNAME record that stands for a DNAME (RFC 6672 section 3.1) in the answer section; returns where its
    /// target, an uncompressed name, is.
    pub fn put_synthesised_cname(
        &mut self,
        owner: Owner,
        names: &NameTable,
        ttl: u32,
        target: &[u8],
    ) -> Result<usize, Full> {
        let (at, known) = (self.at, self.known.names.len());
        let written = (|| {
            self.put_owner(names, owner)?;
            self.put_octets(&Rtype::CNAME.to_int().to_be_bytes())?;
            self.put_octets(&Class::IN.to_int().to_be_bytes())?;
            self.put_octets(&ttl.to_be_bytes())?;
            self.put_octets(&(target.len() as u16).to_be_bytes())?;
            self.put_octets(target)
        })();
        if written.is_none() {
            self.at = at;
            self.known.names.truncate(known);
            return Err(Full);
        }
        self.counts[Section::Answer as usize] += 1;
        Ok(self.at - target.len())
    }

    fn put_owner(&mut self, names: &NameTable, owner: Owner) -> Option<()> {
        match owner {
            Owner::Name(name) => self.put_name(names, name),
            Owner::At(at) => self.put_pointer(at),
        }
    }

    fn set_ttl(&mut self, record: usize, ttl: Option<u32>) {
        if let Some(ttl) = ttl {
            self.out[record + 4..record + 8].copy_from_slice(&ttl.to_be_bytes());
        }
    }

    fn put_name(&mut self, names: &NameTable, mut name: NameId) -> Option<()> {
        while name != NameId::ROOT {
            if let Some(at) = self.known.find(name) {
                return self.put_pointer(usize::from(at));
            }
            self.known.add(name, self.at);
            let label = names.label(name);
            self.put_octets(&[label.len() as u8])?;
            self.put_octets(label)?;
            name = names.parent(name);
        }
        self.put_octets(&[0])
    }

    fn put_pointer(&mut self, at: usize) -> Option<()> {
        if at >= POINTER_REACH {
            return None;
        }
        self.put_octets(&(at as u16 | 0xc000).to_be_bytes())
    }

    fn put_octets(&mut self, octets: &[u8]) -> Option<()> {
        let end = self.at + octets.len();
        if end > self.limit {
            return None;
        }
        self.out[self.at..end].copy_from_slice(octets);
        self.at = end;
        Some(())
    }

    /// Fills in the header and appends OPT if the query had one; returns the message's length.
    ///
    /// Room for OPT, [`OPT_LEN`] octets, must have been kept free above the limit.
    pub fn finish(self, query: &Query, flags: Flags, udp_payload: u16) -> usize {
        let rcode = flags.rcode.to_int();
        self.out[2] = FLAG_RESPONSE
            | query.opcode.to_int() << 3
            | if flags.authoritative {
                FLAG_AUTHORITATIVE
            } else {
                0
            }
            | if flags.truncated { FLAG_TRUNCATED } else { 0 }
            | if query.recursion_desired {
                FLAG_RECURSION_DESIRED
            } else {
                0
            };
        self.out[3] = (rcode & 0x0f) as u8;
        let mut counts = self.counts;
        let mut len = self.at;
        if let Some(edns) = query.edns
            && let Some(opt) = self.out.get_mut(len..len + OPT_LEN)
        {
            opt.fill(0);
            opt[1..3].copy_from_slice(&Rtype::OPT.to_int().to_be_bytes());
            opt[3..5].copy_from_slice(&udp_payload.to_be_bytes());
            opt[5] = (rcode >> 4) as u8;
            opt[7] = if edns.dnssec_ok { 0x80 } else { 0 };
            counts[Section::Additional as usize] += 1;
            len += OPT_LEN;
            if edns.padding {
                len = pad(self.out, len);
            }
        }
        for (at, count) in [6, 8, 10].into_iter().zip(counts) {
            self.out[at..at + 2].copy_from_slice(&count.to_be_bytes());
        }
        len
    }
}

/// Appends the padding option to a message of `len` octets whose end is an OPT record without options; returns the new length.
///
/// A message is filled up to the end of `out` or to 65,535 octets at most, and left as it is if not even the option's
/// header fits.
fn pad(out: &mut [u8], len: usize) -> usize {
    let with_option = len + OPTION_FIXED_LEN;
    let room = out.len().min(usize::from(u16::MAX));
    let end = with_option.next_multiple_of(PADDING_BLOCK).min(room);
    if end < with_option {
        return len;
    }
    let option_len = (end - len) as u16;
    out[len - 2..len].copy_from_slice(&option_len.to_be_bytes());
    let option = &mut out[len..end];
    option.fill(0);
    option[..2].copy_from_slice(&OPTION_PADDING.to_be_bytes());
    option[2..OPTION_FIXED_LEN]
        .copy_from_slice(&(option_len - OPTION_FIXED_LEN as u16).to_be_bytes());
    end
}

/// What a response's header says.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    pub authoritative: bool,
    pub truncated: bool,
    pub rcode: OptRcode,
}

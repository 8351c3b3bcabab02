//! The structure of a message's records (RFC 1035 sections 3.2, 4.1.3 and 4.1.4), walked once and without copying.

use super::HEADER_LEN;

/// RRTYPEs that the walk knows the record data of, or that mean something to a message as a whole.
pub mod rrtype {
    pub const A: u16 = 1;
    pub const NS: u16 = 2;
    pub const CNAME: u16 = 5;
    pub const SOA: u16 = 6;
    pub const PTR: u16 = 12;
    pub const MX: u16 = 15;
    pub const SIG: u16 = 24;
    pub const AAAA: u16 = 28;
    pub const SRV: u16 = 33;
    pub const DNAME: u16 = 39;
    pub const OPT: u16 = 41;
    pub const TSIG: u16 = 250;
}

/// Class IN.
const IN: u16 = 1;

/// Class ANY.
pub const ANY: u16 = 255;

/// Octets of a record between its owner name and its record data.
pub const FIXED_LEN: usize = 10;

/// Octets of the root name.
const ROOT_LEN: usize = 1;

/// Longest name in octets (RFC 1035 section 3.1).
const LONGEST_NAME: usize = 255;

/// A name has at most 127 labels, and each pointer but the last leads to one or more.
const MOST_POINTERS: usize = 127;

/// A record, by where it begins in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where its owner name begins.
    pub start: usize,
    /// Its RRTYPE.
    pub rrtype: u16,
}

/// What a walk over all records of a message found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Where the OPT record begins.
    pub opt: Option<usize>,
    /// The last record.
    pub last: Option<Place>,
    /// Where the last record ends.
    pub end: usize,
}

/// Walks over all records of `message`, which begin at `start`; `None` if one of them does not parse.
///
/// Names have to end within the message and to have at most 255 octets, and their compression pointers to lead
/// backwards, past the header. Record data has to lie within the message; that of the types of RFC 1035 and others
/// that every server sends has to be of the right length or to hold the right names. OPT has to stand in the additional
/// section, once, with the root as its owner and options that fill its data (RFC 6891 section 6.1).
#[inline]
pub fn walk(message: &[u8], start: usize) -> Option<Records> {
    let mut records = Records {
        end: start,
        ..Records::default()
    };
    for section in 0..3 {
        let is_additional = section == 2;
        for _ in 0..word(message, 6 + 2 * section)? {
            records.step(message, is_additional)?;
        }
    }
    Some(records)
}

/// Walks over the records of a message that was cut at or within one of them; `None` if a record before that does not
/// parse, or if there was no cut. The records end where the message does.
#[cold]
pub fn walk_to_cut(message: &[u8], start: usize) -> Option<Records> {
    let mut records = Records {
        end: start,
        ..Records::default()
    };
    for section in 0..3 {
        let is_additional = section == 2;
        for _ in 0..word(message, 6 + 2 * section)? {
            if is_cut(message, records.end) {
                records.end = message.len();
                return Some(records);
            }
            records.step(message, is_additional)?;
        }
    }
    None
}

/// Whether the message ends before the record that begins at `start` does.
fn is_cut(message: &[u8], start: usize) -> bool {
    let mut at = start;
    let name_end = loop {
        match message.get(at) {
            None => return true,
            Some(0) => break at + 1,
            Some(len @ 1..=63) => at += 1 + usize::from(*len),
            // A pointer ends the name; what is no label is for the walk to find.
            Some(_) => break at + 2,
        }
    };
    let rdata = name_end + FIXED_LEN;
    match word(message, rdata - 2) {
        None => true,
        Some(rdata_len) => rdata + usize::from(rdata_len) > message.len(),
    }
}

impl Records {
    #[inline]
    fn step(&mut self, message: &[u8], is_additional: bool) -> Option<()> {
        let start = self.end;
        let name_end = skip_name(message, start)?;
        let fixed = message.get(name_end..)?.first_chunk::<FIXED_LEN>()?;
        let rrtype = u16::from_be_bytes([fixed[0], fixed[1]]);
        let class = u16::from_be_bytes([fixed[2], fixed[3]]);
        let rdata = name_end + FIXED_LEN;
        let end = rdata + usize::from(u16::from_be_bytes([fixed[8], fixed[9]]));
        if end > message.len() {
            return None;
        }
        if rrtype == rrtype::OPT {
            let may_stand = is_additional && self.opt.is_none() && name_end == start + ROOT_LEN;
            if !may_stand || message[start] != 0 || !fills_options(&message[rdata..end]) {
                return None;
            }
            self.opt = Some(start);
        } else if !rdata_parses(message, rrtype, class, rdata, end) {
            return None;
        }
        self.last = Some(Place { start, rrtype });
        self.end = end;
        Some(())
    }
}

/// Whether record data from `at` to `end` is what its type asks for, as far as this module knows the type.
fn rdata_parses(message: &[u8], rrtype: u16, class: u16, at: usize, end: usize) -> bool {
    let name_from = |at: usize| skip_name(message, at) == Some(end);
    match rrtype {
        // Class NONE and ANY have empty data, in messages of a dynamic update (RFC 2136 section 2.4).
        _ if class != IN => true,
        rrtype::A => end - at == 4,
        rrtype::AAAA => end - at == 16,
        rrtype::NS | rrtype::CNAME | rrtype::PTR | rrtype::DNAME => name_from(at),
        rrtype::MX => name_from(at + 2),
        rrtype::SRV => name_from(at + 6),
        rrtype::SOA => skip_name(message, at)
            .and_then(|rname| skip_name(message, rname))
            .is_some_and(|numbers| numbers + 20 == end),
        _ => true,
    }
}

/// Where the name at `start` ends, or `None` if it does not parse.
#[inline]
pub fn skip_name(message: &[u8], start: usize) -> Option<usize> {
    // Most owner names are a pointer to that of the only question, which has been read.
    let is_question = message.get(start..start + 2) == Some(&[0xc0, HEADER_LEN as u8])
        && message.get(4..6) == Some(&[0, 1]);
    if is_question {
        return Some(start + 2);
    }
    follow_name(message, start)
}

fn follow_name(message: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    // Where the name ends in its own place, once a pointer has led away from it.
    let mut end = None;
    let mut pointers_before = start;
    let mut pointers = 0;
    let mut len = 0;
    loop {
        let first = *message.get(at)?;
        match first {
            0 => return Some(end.unwrap_or(at + 1)),
            1..=63 => {
                let label_len = 1 + usize::from(first);
                len += label_len;
                at += label_len;
                // With the root's octet to come.
                if len >= LONGEST_NAME {
                    return None;
                }
            }
            0xc0.. => {
                let target = usize::from(word(message, at)? & 0x3fff);
                end.get_or_insert(at + 2);
                pointers += 1;
                if !(HEADER_LEN..pointers_before).contains(&target) || pointers > MOST_POINTERS {
                    return None;
                }
                pointers_before = target;
                at = target;
            }
            // 01 and 10 are no label types any more (RFC 6891 section 5).
            _ => return None,
        }
    }
}

/// The code and data of each option of an OPT record's data (RFC 6891 section 6.1.2), up to the first that is cut.
pub fn options(mut rdata: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (code, data, rest) = split_option(rdata)?;
        rdata = rest;
        Some((code, data))
    })
}

fn fills_options(mut rdata: &[u8]) -> bool {
    while let Some((_, _, rest)) = split_option(rdata) {
        rdata = rest;
    }
    rdata.is_empty()
}

fn split_option(rdata: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (head, rest) = rdata.split_first_chunk::<4>()?;
    let len = u16::from_be_bytes([head[2], head[3]]);
    let (data, rest) = rest.split_at_checked(usize::from(len))?;
    Some((u16::from_be_bytes([head[0], head[1]]), data, rest))
}

fn word(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*message.get(at..)?.first_chunk::<2>()?))
}

//! Where in a packet something is, and where in a message captured octets may be carried.

use crate::anonymise::options::{CLIENT_SUBNET, COOKIE};
use crate::anonymise::pieces::{Tuples, are_filled_texts, are_known_protocols};
use crate::wire::{HEADER_LEN, Section, TYPE_OPT, View};
use dnsrig_stream::capture::ip::TCP;
use domain::base::iana::Rtype;
use std::fmt;

pub const UDP_HEADER_LEN: usize = 8;
/// Written without options.
const TCP_HEADER_LEN: usize = 20;
const NAME_SERVER_ID: u16 = 3;
/// The parameter of a service that lists its protocols.
const PROTOCOLS: u16 = 1;

/// Where something is, for messages about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Source,
    Destination,
    /// The message's header, or headers below it.
    Header,
    Question,
    /// The owner of a record of this type.
    Owner(u16, Section),
    /// The data of a record of this type.
    Data(u16, Section),
    /// The option with this code.
    Option(u16),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Source => formatter.write_str("its source"),
            Self::Destination => formatter.write_str("its destination"),
            Self::Header => formatter.write_str("its headers"),
            Self::Question => formatter.write_str("its question"),
            Self::Owner(rtype, section) => {
                formatter.write_str("the owner of a record")?;
                write_kind(rtype, section, formatter)
            }
            Self::Data(rtype, section) => {
                formatter.write_str("a record's data")?;
                write_kind(rtype, section, formatter)
            }
            Self::Option(CLIENT_SUBNET) => formatter.write_str("a client subnet (EDNS option 8)"),
            Self::Option(code) => write!(formatter, "EDNS option {code}"),
        }
    }
}

fn write_kind(rtype: u16, section: Section, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let section = match section {
        Section::Answer => "answer",
        Section::Authority => "authority",
        Section::Additional => "additional",
    };
    write!(
        formatter,
        " ({}, {section} section)",
        Rtype::from_int(rtype)
    )
}

/// What the octet at `at` of an IP packet's payload belongs to.
pub fn place_in_payload(protocol: u8, payload: &[u8], at: usize) -> Place {
    let found = match protocol {
        TCP => {
            framed(payload).find(|(start, message)| (*start..start + message.len()).contains(&at))
        }
        _ => payload
            .get(UDP_HEADER_LEN..)
            .map(|message| (UDP_HEADER_LEN, message)),
    };
    match found {
        Some((start, message)) if at >= start => place_in_message(message, at - start),
        _ => Place::Header,
    }
}

fn place_in_message(message: &[u8], at: usize) -> Place {
    let Ok(view) = View::parse(message) else {
        return Place::Header;
    };
    if at < HEADER_LEN {
        return Place::Header;
    }
    if at < view.questions_end {
        return Place::Question;
    }
    let mut records = view.records().map_while(Result::ok);
    let Some(record) = records.find(|record| at < record.rdata.end) else {
        return Place::Header;
    };
    let Some(place) = at.checked_sub(record.rdata.start) else {
        return Place::Owner(record.rtype, record.section);
    };
    let option = (record.rtype == TYPE_OPT)
        .then(|| {
            let mut options = Tuples::of(record.data());
            options.find(|(_, range)| range.as_ref().is_some_and(|range| place < range.end))
        })
        .flatten();
    match option {
        Some((code, _)) => Place::Option(code),
        None => Place::Data(record.rtype, record.section),
    }
}

/// The messages of a TCP segment as it is written, and where they begin in it: each is whole, after its length.
pub fn framed(segment: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = TCP_HEADER_LEN;
    std::iter::from_fn(move || {
        let (len, rest) = segment.get(at..)?.split_first_chunk()?;
        let message = rest.get(..u16::from_be_bytes(*len).into())?;
        let start = at + len.len();
        at = start + message.len();
        Some((start, message))
    })
}

/// Asks `look` about the octets in data of type `rtype` that captured ones may be carried in, with the code of the option that
/// they are in. Addresses are looked at as such; cookies, numbers, digests and keys hold any four octets by
/// chance, and so does what was written in the place of texts.
pub fn find_carried<T>(
    rtype: u16,
    data: &[u8],
    mut look: impl FnMut(Option<u16>, &[u8]) -> Option<T>,
) -> Option<T> {
    match rtype {
        TYPE_OPT => {
            // Lists of algorithms (5 to 7) are made of few numbers.
            let mut options = Tuples::of(data).filter(|(code, _)| {
                !matches!(*code, NAME_SERVER_ID | 5..=7 | CLIENT_SUBNET | COOKIE)
            });
            options.find_map(|(code, range)| look(Some(code), data.get(range?)?))
        }
        // SVCB, HTTPS: all but lists of keys and addresses, and of protocols that many services have.
        64 | 65 => {
            let parameters = data.get(2 + name_len(data.get(2..)?)?..)?;
            let mut values = Tuples::of(parameters).filter(|(key, _)| !matches!(*key, 0 | 4 | 6));
            values.find_map(|(key, range)| {
                let value = parameters.get(range?)?;
                let is_usual = key == PROTOCOLS && are_known_protocols(value);
                (!is_usual).then(|| look(None, value))?
            })
        }
        // CAA (RFC 8659): what is behind a tag of letters and digits.
        257 => {
            let value_at = 2 + usize::from(*data.get(1)?);
            let tag = data.get(2..value_at);
            let is_tag = tag.is_some_and(|tag| tag.iter().all(u8::is_ascii_alphanumeric));
            look(None, if is_tag { &data[value_at..] } else { data })
        }
        // Addresses; names with numbers before or after them; signatures, keys, digests, types.
        1..=9
        | 12
        | 14
        | 15
        | 17
        | 18
        | 21
        | 23..=26
        | 28
        | 30
        | 33
        | 35
        | 36
        | 39
        | 43
        | 44
        | 46..=48
        | 50..=52
        | 58..=60
        | 62
        | 63
        | 107
        | 32769 => None,
        _ if are_filled_texts(data) => None,
        _ => look(None, data),
    }
}

/// Octets of the name that `octets` begin with.
fn name_len(octets: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *octets.get(at)? {
            0 => return Some(at + 1),
            0xC0.. => return Some(at + 2),
            len => at += 1 + usize::from(len),
        }
    }
}

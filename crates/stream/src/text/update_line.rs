//! One line of dnsperf's format of dynamic updates, as a record of an UPDATE message (RFC 2136 sections 2.4 and 2.5).

use super::lines;
use bytes::Bytes;
use dnsrig_zone::{Name, read_rdata};
use domain::base::iana::{Class, Rtype};
use domain::base::name::UncertainName;
use domain::base::{ParseRecordData, ParsedName, ToName};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;
use std::str::FromStr;

/// The largest TTL (RFC 2181 section 8).
const MAX_TTL: u32 = i32::MAX as u32;

/// The section of the message in which a record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Prerequisite,
    Update,
}

/// Appends to `record` what the line `command rest` says in an update of `zone`; returns the record's section.
pub fn compose(
    command: &str,
    rest: &str,
    zone: &Name,
    record: &mut Vec<u8>,
) -> Result<Section, String> {
    let (section, without_data, with_data) = match command {
        "require" => (Section::Prerequisite, Class::ANY, Some(Class::IN)),
        "prohibit" => (Section::Prerequisite, Class::NONE, None),
        "delete" => (Section::Update, Class::ANY, Some(Class::NONE)),
        "add" => (Section::Update, Class::IN, Some(Class::IN)),
        _ => {
            return Err(format!(
                "'{command}' is no command; there are require, prohibit, add, delete and send"
            ));
        }
    };
    let mut rest = rest;
    let owner =
        take_field(&mut rest).ok_or_else(|| format!("'{command}' without a name after it"))?;
    let owner = relative_name(owner, zone)?;
    let ttl = if command == "add" { ttl(&mut rest)? } else { 0 };
    let rtype = match take_field(&mut rest) {
        Some(text) => lines::rtype(text)?,
        None if command == "add" => return Err("'add' without a type after the TTL".into()),
        None => Rtype::ANY,
    };
    let is_bare = rest.is_empty();
    if is_bare && command == "add" {
        return Err(format!("'add' without data after the type {rtype}"));
    }
    let (class, rdata) = match with_data {
        _ if is_bare => (without_data, Bytes::new()),
        Some(class) => (class, scan_rdata(rtype, rest, zone)?),
        None => {
            return Err(format!(
                "'{rest}' after the type; '{command}' takes no data"
            ));
        }
    };
    let rdata_len =
        u16::try_from(rdata.len()).map_err(|_| "the data are longer than 65535 octets")?;
    record.extend_from_slice(owner.as_slice());
    record.extend_from_slice(&rtype.to_int().to_be_bytes());
    record.extend_from_slice(&class.to_int().to_be_bytes());
    record.extend_from_slice(&ttl.to_be_bytes());
    record.extend_from_slice(&rdata_len.to_be_bytes());
    record.extend_from_slice(&rdata);
    Ok(section)
}

/// Takes the next field off `text`, which then begins at the field after it.
pub fn take_field<'t>(text: &mut &'t str) -> Option<&'t str> {
    let whole = text.trim_ascii();
    let end = whole
        .find(|octet: char| octet.is_ascii_whitespace())
        .unwrap_or(whole.len());
    let (field, rest) = whole.split_at(end);
    *text = rest.trim_ascii_start();
    (!field.is_empty()).then_some(field)
}

fn ttl(rest: &mut &str) -> Result<u32, String> {
    let text = take_field(rest).ok_or("'add' without a TTL after the name")?;
    text.parse()
        .ok()
        .filter(|&ttl| ttl <= MAX_TTL)
        .ok_or_else(|| format!("'{text}' is not a TTL in seconds from 0 to {MAX_TTL}"))
}

/// Reads a name; without a final dot it is relative to the zone, and `@` is the zone itself.
fn relative_name(text: &str, zone: &Name) -> Result<Name, String> {
    if text == "@" {
        return Ok(zone.clone());
    }
    let wrong = |why: &dyn std::fmt::Display| format!("'{text}' is not a domain name: {why}");
    match UncertainName::<Vec<u8>>::from_str(text).map_err(|error| wrong(&error))? {
        UncertainName::Absolute(name) => Ok(name.to_name()),
        UncertainName::Relative(name) => {
            let name = name.chain(zone).map_err(|error| wrong(&error))?;
            Ok(name.to_name())
        }
    }
}

/// RDATA from presentation to wire format.
fn scan_rdata(rtype: Rtype, text: &str, zone: &Name) -> Result<Bytes, String> {
    let wire = read_rdata(rtype, text, Some(zone))?;
    // `domain` lets a name with an empty label pass when it reads text.
    let mut parser = Parser::from_ref(&wire);
    let read = ZoneRecordData::<_, ParsedName<_>>::parse_rdata(rtype, &mut parser);
    if !matches!(read, Ok(Some(_))) || parser.remaining() > 0 {
        return Err(format!(
            "bad data for type {rtype}: the octets do not fit the type"
        ));
    }
    Ok(wire)
}

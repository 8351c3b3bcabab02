//! What stands between a record's owner and its data: TTL, class, type (RFC 1035 section 5.1).

use super::EntryError;
use super::lexer::{Place, Token};
use super::name::shortened;
use super::ttl::parse_ttl;
use domain::base::iana::{Class, Rtype};
use std::str::FromStr;

/// What stands between owner and data.
pub(super) struct Header {
    /// The TTL that the record gives, in seconds.
    pub ttl: Option<u32>,
    pub rtype: Rtype,
    /// Index of the first token of the data.
    pub data: usize,
}

/// Reads `[TTL] [IN] type` for the types of most records; `None` for anything else, which [`read_header`] reads.
pub(super) fn read_plain_header(tokens: &[Token<'_>]) -> Option<Header> {
    let mut data = 0;
    let mut ttl = None;
    if let Some(seconds) = plain_seconds(tokens.first()?.text) {
        ttl = Some(seconds);
        data += 1;
    }
    if tokens.get(data)?.text == b"IN" {
        data += 1;
    }
    let rtype = match tokens.get(data)?.text {
        b"NS" => Rtype::NS,
        b"A" => Rtype::A,
        b"AAAA" => Rtype::AAAA,
        b"RRSIG" => Rtype::RRSIG,
        b"NSEC" => Rtype::NSEC,
        b"NSEC3" => Rtype::NSEC3,
        b"DS" => Rtype::DS,
        b"PTR" => Rtype::PTR,
        b"CNAME" => Rtype::CNAME,
        b"MX" => Rtype::MX,
        b"TXT" => Rtype::TXT,
        _ => return None,
    };
    Some(Header {
        ttl,
        rtype,
        data: data + 1,
    })
}

/// A number of seconds without units, of at most nine digits.
fn plain_seconds(text: &[u8]) -> Option<u32> {
    if text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        text.iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0')),
    )
}

/// Reads `[TTL] [class] type` or `[class] [TTL] type`; `place` is that of the record.
pub(super) fn read_header(place: Place, tokens: &[Token<'_>]) -> Result<Header, EntryError> {
    let mut ttl = None;
    let mut has_class = false;
    for (index, token) in tokens.iter().enumerate().take(3) {
        let text = std::str::from_utf8(token.text).unwrap_or_default();
        if let Ok(rtype) = Rtype::from_str(&text.replace("NSAP-PTR", "NSAPPTR")) {
            check_type(token, rtype)?;
            return Ok(Header {
                ttl,
                rtype,
                data: index + 1,
            });
        }
        if ttl.is_none() && token.text.first().is_some_and(u8::is_ascii_digit) {
            ttl = parse_ttl(token.text);
            if ttl.is_some() {
                continue;
            }
            return Err(EntryError::syntax(
                token.place,
                format!("{text} is not a TTL"),
                "give 0 to 2147483647 seconds, or units such as 1h or 1W2D",
            ));
        }
        match Class::from_str(text) {
            Ok(Class::IN) if !has_class => has_class = true,
            Ok(class) if !has_class => {
                return Err(EntryError::Class {
                    place: token.place,
                    class: class.to_string(),
                });
            }
            _ => {
                let shown = String::from_utf8_lossy(token.text);
                return Err(EntryError::syntax(
                    token.place,
                    format!("{} is not a record type", shortened(&shown)),
                    "correct it, or write a type without name as TYPE and its number (RFC 3597)",
                ));
            }
        }
    }
    let at = tokens.last().map_or(place, |token| token.place);
    Err(EntryError::syntax(
        at,
        "a record without type",
        "write: owner TTL class type data",
    ))
}

/// Refuses the types that never stand in a zone: OPT, QTYPEs and meta types (RFC 6895 section 3.1).
fn check_type(token: &Token<'_>, rtype: Rtype) -> Result<(), EntryError> {
    if matches!(rtype.to_int(), 0 | 41 | 128..=255) {
        return Err(EntryError::syntax(
            token.place,
            format!("type {rtype} cannot stand in a zone"),
            "remove the record",
        ));
    }
    Ok(())
}

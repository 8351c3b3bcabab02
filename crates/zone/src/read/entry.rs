//! One record entry: owner, TTL, class, type, data (RFC 1035 section 5.1).

use super::lexer::{Entry, Place, Token};
use super::rdata::{RdataError, push_ascii};
use super::ttl::parse_ttl;
use super::{LocatedRecord, Reader};
use crate::error::{Warning, ZoneError};
use crate::{Name, Record};
use bytes::Bytes;
use domain::base::iana::{Class, Rtype};
use domain::base::name::{ToName, UncertainName};
use std::str::FromStr;

/// What stands between owner and data.
struct Header {
    ttl: Option<u32>,
    rtype: Rtype,
    /// Index of the first token of the data.
    data: usize,
}

impl Reader {
    /// Takes the record in `entry`.
    pub(super) fn record(
        &mut self,
        file: u32,
        entry: &Entry<'_>,
        origin: &Option<Name>,
    ) -> Result<(), ZoneError> {
        let place = entry.tokens[0].place;
        let tokens = match entry.blank_owner {
            true => &entry.tokens[..],
            false => {
                self.last_owner = Some(self.name(file, &entry.tokens[0], origin)?);
                &entry.tokens[1..]
            }
        };
        let Some(owner) = self.last_owner.clone() else {
            let what =
                "a record without owner, and no record before it to take the owner from".into();
            return Err(self.syntax(
                file,
                place,
                what,
                "begin the line with the owner's name, not with white space",
            ));
        };
        let header = self.header(file, place, tokens)?;
        let data = &tokens[header.data..];
        let rdata =
            self.scanner
                .scan(header.rtype, data)
                .map_err(|RdataError { token, what, hint }| {
                    let at = data
                        .get(token)
                        .or(tokens.last())
                        .map_or(place, |token| token.place);
                    self.syntax(file, at, what, hint)
                })?;
        let ttl = self.ttl(header.ttl, header.rtype, &rdata);
        self.out.records.push(LocatedRecord {
            record: Record {
                owner,
                rtype: header.rtype,
                class: Class::IN,
                ttl,
                rdata,
            },
            file,
            place,
        });
        Ok(())
    }

    /// Reads `[TTL] [class] type` or `[class] [TTL] type`.
    fn header(&self, file: u32, place: Place, tokens: &[Token<'_>]) -> Result<Header, ZoneError> {
        let mut ttl = None;
        let mut has_class = false;
        for (index, token) in tokens.iter().enumerate().take(3) {
            let text = std::str::from_utf8(token.text).unwrap_or_default();
            if let Ok(rtype) = Rtype::from_str(&text.replace("NSAP-PTR", "NSAPPTR")) {
                self.check_type(file, token, rtype)?;
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
                let what = format!("{text} is not a TTL");
                let hint = "give 0 to 2147483647 seconds, or units such as 1h or 1W2D";
                return Err(self.syntax(file, token.place, what, hint));
            }
            match Class::from_str(text) {
                Ok(Class::IN) if !has_class => has_class = true,
                Ok(class) if !has_class => {
                    return Err(ZoneError::Class {
                        at: self.out.position_of(file, token.place),
                        class: class.to_string(),
                    });
                }
                _ => {
                    let shown = String::from_utf8_lossy(token.text);
                    let what = format!("{} is not a record type", shortened(&shown));
                    let hint = "correct it, or write a type without name as TYPE and its number (RFC 3597)";
                    return Err(self.syntax(file, token.place, what, hint));
                }
            }
        }
        let at = tokens.last().map_or(place, |token| token.place);
        Err(self.syntax(
            file,
            at,
            "a record without type".into(),
            "write: owner TTL class type data",
        ))
    }

    /// Refuses the types that never stand in a zone: OPT, QTYPEs and meta types (RFC 6895 section 3.1).
    fn check_type(&self, file: u32, token: &Token<'_>, rtype: Rtype) -> Result<(), ZoneError> {
        if matches!(rtype.to_int(), 0 | 41 | 128..=255) {
            let what = format!("type {rtype} cannot stand in a zone");
            return Err(self.syntax(file, token.place, what, "remove the record"));
        }
        Ok(())
    }

    /// The TTL of a record: its own, else `$TTL`, else that of the record before, else the SOA's minimum.
    fn ttl(&mut self, given: Option<u32>, rtype: Rtype, rdata: &Bytes) -> u32 {
        if given.is_some() {
            self.last_ttl = given;
        }
        let known = given.or(self.default_ttl).or(self.last_ttl);
        match (known, rtype) {
            (Some(ttl), _) => ttl,
            (None, Rtype::SOA) => {
                self.last_ttl = soa_minimum(rdata);
                self.out.without_ttl.push(self.out.records.len());
                self.last_ttl.unwrap_or(0)
            }
            (None, _) => {
                self.out.without_ttl.push(self.out.records.len());
                0
            }
        }
    }

    /// Gives the records before any TTL the SOA's minimum, and says so once.
    pub(super) fn fill_missing_ttls(&mut self) {
        let Some(&first) = self.out.without_ttl.first() else {
            return;
        };
        let soa = self
            .out
            .records
            .iter()
            .find(|located| located.record.rtype == Rtype::SOA);
        let Some(minimum) = soa.and_then(|soa| soa_minimum(&soa.record.rdata)) else {
            return;
        };
        for &index in &self.out.without_ttl {
            self.out.records[index].record.ttl = minimum;
        }
        self.out.warnings.push(Warning {
            at: self.out.position(&self.out.records[first]),
            what: format!(
                "no TTL here and no $TTL before; the SOA's minimum of {minimum} s was taken"
            ),
        });
    }

    /// The absolute name that `token` gives.
    pub(super) fn name(
        &self,
        file: u32,
        token: &Token<'_>,
        origin: &Option<Name>,
    ) -> Result<Name, ZoneError> {
        let no_origin = || {
            let what = "a relative name, but no origin is known yet".into();
            let hint = "put $ORIGIN before it, end the name with a dot, or give the zone's name";
            self.syntax(file, token.place, what, hint)
        };
        if token.text == b"@" {
            return origin.clone().ok_or_else(no_origin);
        }
        // `domain` takes this for a name with an empty label.
        if token.text == b"." {
            return Ok(Name::root_bytes());
        }
        let bad_name = |reason: String| {
            let shown = String::from_utf8_lossy(token.text);
            let what = format!("{} is not a domain name: {reason}", shortened(&shown));
            self.syntax(
                file,
                token.place,
                what,
                "a label has 1 to 63 octets, a name at most 255 (RFC 1035 section 3.1)",
            )
        };
        let mut ascii = Vec::with_capacity(token.text.len());
        push_ascii(&mut ascii, token.text);
        let text = String::from_utf8_lossy(&ascii);
        let text = match token.is_quoted() {
            true => text.trim_matches('"'),
            false => &text,
        };
        match UncertainName::<Vec<u8>>::from_str(text) {
            Ok(UncertainName::Absolute(name)) => Ok(name.to_name()),
            Ok(UncertainName::Relative(name)) => {
                let origin = origin.as_ref().ok_or_else(no_origin)?;
                let chained = name
                    .chain(origin)
                    .map_err(|error| bad_name(error.to_string()))?;
                Ok(chained.to_name())
            }
            Err(error) => Err(bad_name(error.to_string())),
        }
    }
}

/// The minimum field of an SOA record's data.
fn soa_minimum(rdata: &[u8]) -> Option<u32> {
    rdata
        .last_chunk::<4>()
        .map(|octets| u32::from_be_bytes(*octets))
}

/// `text` cut to a length that suits a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

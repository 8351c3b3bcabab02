//! RDATA of the types that zones of millions of records consist of, without escapes: straight from text to wire format.
//!
//! Whatever is unusual is left to [`RdataScanner`](super::rdata::RdataScanner), which also says what is wrong.

use super::lexer::Token;
use super::name::push_plain_name;
use crate::Name;
use crate::dates::seconds_of_date;
use crate::types::{mnemonic_type, push_type_bitmap};
use data_encoding::{BASE32_DNSSEC, BASE64, Encoding, HEXUPPER_PERMISSIVE};
use domain::base::iana::Rtype;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Types in a bitmap that are read here.
const BITMAP_TYPES_MAX: usize = 32;

/// Appends the wire format of `tokens`; false, with nothing appended, where the general scanner has to look.
pub(super) fn push_plain_rdata(
    rtype: Rtype,
    tokens: &[Token<'_>],
    origin: Option<&Name>,
    target: &mut Vec<u8>,
) -> bool {
    let start = target.len();
    let mut fields = Fields {
        tokens,
        origin,
        target,
    };
    let is_done = match rtype {
        Rtype::NS | Rtype::CNAME | Rtype::PTR | Rtype::DNAME => fields.name(),
        Rtype::A => fields.ipv4(),
        Rtype::AAAA => fields.ipv6(),
        Rtype::MX => fields.u16() && fields.name(),
        Rtype::SRV => fields.u16() && fields.u16() && fields.u16() && fields.name(),
        Rtype::DS | Rtype::CDS => {
            fields.u16() && fields.u8() && fields.u8() && fields.rest(&HEXUPPER_PERMISSIVE)
        }
        Rtype::DNSKEY | Rtype::CDNSKEY => {
            fields.u16() && fields.u8() && fields.u8() && fields.rest(&BASE64)
        }
        Rtype::RRSIG => fields.rrsig(),
        Rtype::NSEC => fields.name() && fields.bitmap(),
        Rtype::NSEC3 => fields.nsec3(),
        Rtype::TXT => fields.strings(),
        _ => false,
    };
    let is_done =
        is_done && fields.tokens.is_empty() && target.len() - start <= usize::from(u16::MAX);
    if !is_done {
        target.truncate(start);
    }
    is_done
}

/// The fields still to be read, and the wire format of those that were.
struct Fields<'a, 't> {
    tokens: &'a [Token<'t>],
    origin: Option<&'a Name>,
    target: &'a mut Vec<u8>,
}

impl<'t> Fields<'_, 't> {
    fn next(&mut self) -> Option<&'t [u8]> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.text)
    }

    fn number(&mut self, most: u32) -> Option<u32> {
        let text = self.next()?;
        if text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let value = text
            .iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        (value <= most).then_some(value)
    }

    fn u8(&mut self) -> bool {
        self.number(255)
            .map(|value| self.target.push(value as u8))
            .is_some()
    }

    fn u16(&mut self) -> bool {
        self.number(65535)
            .map(|value| self.target.extend((value as u16).to_be_bytes()))
            .is_some()
    }

    fn u32(&mut self) -> bool {
        self.number(u32::MAX)
            .map(|value| self.target.extend(value.to_be_bytes()))
            .is_some()
    }

    fn name(&mut self) -> bool {
        self.next()
            .is_some_and(|text| push_plain_name(text, self.origin, self.target))
    }

    fn parsed<T: std::str::FromStr>(&mut self) -> Option<T> {
        std::str::from_utf8(self.next()?).ok()?.parse().ok()
    }

    fn ipv4(&mut self) -> bool {
        self.parsed::<Ipv4Addr>()
            .map(|address| self.target.extend(address.octets()))
            .is_some()
    }

    fn ipv6(&mut self) -> bool {
        self.parsed::<Ipv6Addr>()
            .map(|address| self.target.extend(address.octets()))
            .is_some()
    }

    /// The other tokens, joined and decoded.
    fn rest(&mut self, encoding: &Encoding) -> bool {
        let start = self.target.len();
        for token in self.tokens {
            self.target.extend_from_slice(token.text);
        }
        self.tokens = &[];
        let end = self.target.len();
        let Ok(octets) = encoding.decode_len(end - start) else {
            return false;
        };
        self.target.resize(end + octets, 0);
        let (text, decoded) = self.target[start..].split_at_mut(end - start);
        let Ok(octets) = encoding.decode_mut(text, decoded) else {
            return false;
        };
        self.target.copy_within(end..end + octets, start);
        self.target.truncate(start + octets);
        octets > 0
    }

    fn rrsig(&mut self) -> bool {
        self.rtype()
            && self.u8()
            && self.u8()
            && self.u32()
            && self.date()
            && self.date()
            && self.u16()
            && self.name()
            && self.rest(&BASE64)
    }

    fn rtype(&mut self) -> bool {
        self.next()
            .and_then(mnemonic_type)
            .map(|rtype| self.target.extend(rtype.to_int().to_be_bytes()))
            .is_some()
    }

    /// YYYYMMDDHHmmSS (RFC 4034 section 3.2); seconds since 1970 are left to the general scanner.
    fn date(&mut self) -> bool {
        self.next()
            .and_then(seconds_of_date)
            .map(|seconds| self.target.extend(seconds.to_be_bytes()))
            .is_some()
    }

    fn bitmap(&mut self) -> bool {
        let mut types = [Rtype::from_int(0); BITMAP_TYPES_MAX];
        let mut count = 0;
        while let Some(text) = self.next() {
            let (Some(place), Some(rtype)) = (types.get_mut(count), mnemonic_type(text)) else {
                return false;
            };
            *place = rtype;
            count += 1;
        }
        push_type_bitmap(&mut types[..count], self.target);
        true
    }

    fn nsec3(&mut self) -> bool {
        self.u8() && self.u8() && self.u16() && self.salt() && self.hash() && self.bitmap()
    }

    fn salt(&mut self) -> bool {
        match self.next() {
            Some(b"-") => {
                self.target.push(0);
                true
            }
            Some(text) => self.with_length(text, &HEXUPPER_PERMISSIVE),
            None => false,
        }
    }

    fn hash(&mut self) -> bool {
        self.next()
            .is_some_and(|text| self.with_length(text, &BASE32_DNSSEC))
    }

    /// Decodes `text` and puts its length before it, in one octet.
    fn with_length(&mut self, text: &[u8], encoding: &Encoding) -> bool {
        let mut decoded = [0; 256];
        let Some(place) = encoding
            .decode_len(text.len())
            .ok()
            .and_then(|length| decoded.get_mut(..length))
        else {
            return false;
        };
        match encoding.decode_mut(text, place) {
            Ok(octets @ 1..=255) => {
                self.target.push(octets as u8);
                self.target.extend_from_slice(&decoded[..octets]);
                true
            }
            _ => false,
        }
    }

    /// Character strings in quotes, without escapes.
    fn strings(&mut self) -> bool {
        if self.tokens.is_empty() || self.tokens.iter().skip(1).any(|token| token.joined) {
            return false;
        }
        while let Some(text) = self.next() {
            let [b'"', inner @ .., b'"'] = text else {
                return false;
            };
            if inner.len() > 255
                || inner
                    .iter()
                    .any(|octet| !matches!(octet, b' '..=b'[' | b']'..=b'~'))
            {
                return false;
            }
            self.target.push(inner.len() as u8);
            self.target.extend_from_slice(inner);
        }
        true
    }
}

//! Presentation formats that `domain` does not know: CERT, LOC, APL, CSYNC, URI, EUI48, EUI64, NID, L32, L64.
//!
//! Not known here either: WKS, PX, NSAP, A6, HIP, AMTRELAY, DOA and the like. They can be given as `\# LENGTH HEX`.

use super::lexer::Token;
use super::location;
use domain::base::iana::{Rtype, SecurityAlgorithm};
use domain::rdata::dnssec::RtypeBitmapBuilder;
use domain::utils::base64;
use std::net::IpAddr;
use std::str::FromStr;

/// The index of the offending token, and what is wrong with it.
pub(super) type FieldError = (usize, String);

/// The wire format of `tokens`; `None` if `rtype` is not a type of this module.
pub(super) fn compose(rtype: Rtype, tokens: &[Token<'_>]) -> Option<Result<Vec<u8>, FieldError>> {
    let compose_fields = match rtype {
        Rtype::CERT => cert,
        Rtype::LOC => location::compose,
        Rtype::APL => apl,
        Rtype::CSYNC => csync,
        Rtype::URI => uri,
        Rtype::EUI48 => eui::<6>,
        Rtype::EUI64 => eui::<8>,
        Rtype::NID | Rtype::L64 => locator_64,
        Rtype::L32 => locator_32,
        _ => return None,
    };
    let mut fields = Fields { tokens, next: 0 };
    Some(
        compose_fields(&mut fields).and_then(|wire| match fields.is_done() {
            true => Ok(wire),
            false => Err((fields.next, "it has more fields than the type".into())),
        }),
    )
}

/// The fields of one record, taken from left to right.
pub(super) struct Fields<'a> {
    tokens: &'a [Token<'a>],
    next: usize,
}

impl<'a> Fields<'a> {
    pub fn is_done(&self) -> bool {
        self.next >= self.tokens.len()
    }

    /// The next field without enclosing quotes.
    pub fn text(&mut self, expected: &str) -> Result<&'a str, FieldError> {
        let Some(token) = self.tokens.get(self.next) else {
            return Err((self.next, format!("{expected} is missing")));
        };
        self.next += 1;
        let text = match token.text {
            [b'"', inner @ .., b'"'] => inner,
            text => text,
        };
        std::str::from_utf8(text).map_err(|_| self.bad(expected))
    }

    /// An error about the field taken last.
    pub fn bad(&self, expected: &str) -> FieldError {
        (self.next.saturating_sub(1), format!("expected {expected}"))
    }

    pub fn parse<T: FromStr>(&mut self, expected: &str) -> Result<T, FieldError> {
        self.text(expected)?.parse().map_err(|_| self.bad(expected))
    }

    /// The next field if it is there, without taking it.
    pub fn peek(&self) -> Option<&'a str> {
        std::str::from_utf8(self.tokens.get(self.next)?.text).ok()
    }
}

/// RFC 4398 section 2.2.
fn cert(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    const TYPES: [(&str, u16); 10] = [
        ("PKIX", 1),
        ("SPKI", 2),
        ("PGP", 3),
        ("IPKIX", 4),
        ("ISPKI", 5),
        ("IPGP", 6),
        ("ACPKIX", 7),
        ("IACPKIX", 8),
        ("URI", 253),
        ("OID", 254),
    ];
    let text = fields.text("a certificate type")?;
    let by_name = TYPES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    let cert_type = match by_name {
        Some((_, value)) => *value,
        None => text.parse().map_err(|_| fields.bad("a certificate type"))?,
    };
    let key_tag: u16 = fields.parse("a key tag")?;
    let text = fields.text("an algorithm")?;
    let algorithm = algorithm_number(text).ok_or_else(|| fields.bad("an algorithm"))?;
    let mut encoded = String::new();
    while !fields.is_done() {
        encoded.push_str(fields.text("base64")?);
    }
    let certificate: Vec<u8> =
        base64::decode(&encoded).map_err(|_| fields.bad("a certificate in base64"))?;
    let mut wire = Vec::new();
    wire.extend(cert_type.to_be_bytes());
    wire.extend(key_tag.to_be_bytes());
    wire.push(algorithm);
    wire.extend(certificate);
    Ok(wire)
}

/// A DNSSEC algorithm by number or mnemonic.
fn algorithm_number(text: &str) -> Option<u8> {
    let by_name = SecurityAlgorithm::from_mnemonic(text.as_bytes()).map(SecurityAlgorithm::to_int);
    by_name.or_else(|| text.parse().ok())
}

/// RFC 3123 section 4: `!1:192.168.38.0/28` and so on.
fn apl(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    const EXPECTED: &str = "an address prefix such as 1:192.0.2.0/24 or !2:2001:db8::/32";
    let mut wire = Vec::new();
    while !fields.is_done() {
        let text = fields.text(EXPECTED)?;
        wire.extend(apl_item(text).ok_or_else(|| fields.bad(EXPECTED))?);
    }
    Ok(wire)
}

fn apl_item(text: &str) -> Option<Vec<u8>> {
    let negated = text.starts_with('!');
    let (family, prefix) = text.trim_start_matches('!').split_once(':')?;
    let (address, bits) = prefix.split_once('/')?;
    let family: u16 = family.parse().ok()?;
    let bits: u8 = bits.parse().ok()?;
    let mut octets = match (family, address.parse().ok()?) {
        (1, IpAddr::V4(address)) if bits <= 32 => address.octets().to_vec(),
        (2, IpAddr::V6(address)) if bits <= 128 => address.octets().to_vec(),
        _ => return None,
    };
    while octets.last() == Some(&0) {
        octets.pop();
    }
    let mut item = family.to_be_bytes().to_vec();
    item.push(bits);
    item.push(u8::from(negated) << 7 | u8::try_from(octets.len()).ok()?);
    item.extend(octets);
    Some(item)
}

/// RFC 7477 section 2.1.2.
fn csync(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    let serial: u32 = fields.parse("an SOA serial")?;
    let flags: u16 = fields.parse("flags")?;
    let mut types = RtypeBitmapBuilder::<Vec<u8>>::new();
    while !fields.is_done() {
        let rtype: Rtype = fields.parse("a record type")?;
        types.add(rtype).map_err(|_| fields.bad("a record type"))?;
    }
    let mut wire = serial.to_be_bytes().to_vec();
    wire.extend(flags.to_be_bytes());
    wire.extend_from_slice(types.finalize().as_slice());
    Ok(wire)
}

/// RFC 7553 section 4.5; the target has no length octet and no limit of 255.
fn uri(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    let priority: u16 = fields.parse("a priority")?;
    let weight: u16 = fields.parse("a weight")?;
    let text = fields.text("a target in quotes")?;
    let target = super::unescape(text.as_bytes());
    if target.is_empty() || target.len() > usize::from(u16::MAX) - 4 {
        return Err(fields.bad("a target of 1 to 65531 octets"));
    }
    let mut wire = priority.to_be_bytes().to_vec();
    wire.extend(weight.to_be_bytes());
    wire.extend(target);
    Ok(wire)
}

/// RFC 7043 sections 3.2 and 4.2: `00-00-5e-00-53-2a`.
fn eui<const OCTETS: usize>(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    let expected = format!("{OCTETS} pairs of hexadecimal digits joined by hyphens");
    let text = fields.text(&expected)?;
    let octets: Option<Vec<u8>> = text
        .split('-')
        .map(|pair| hex_group(pair, 2)?.try_into().ok())
        .collect();
    match octets {
        Some(octets) if octets.len() == OCTETS => Ok(octets),
        _ => Err(fields.bad(&expected)),
    }
}

/// RFC 6742 sections 2.1.2 and 2.3.2: a preference and `0014:4fff:ff20:ee64`.
fn locator_64(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    const EXPECTED: &str = "four groups of hexadecimal digits joined by colons";
    let preference: u16 = fields.parse("a preference")?;
    let text = fields.text(EXPECTED)?;
    let groups: Option<Vec<u16>> = text.split(':').map(|group| hex_group(group, 4)).collect();
    let mut wire = preference.to_be_bytes().to_vec();
    match groups {
        Some(groups) if groups.len() == 4 => {
            wire.extend(groups.into_iter().flat_map(u16::to_be_bytes))
        }
        _ => return Err(fields.bad(EXPECTED)),
    }
    Ok(wire)
}

/// RFC 6742 section 2.2.2: a preference and an IPv4 address.
fn locator_32(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    let preference: u16 = fields.parse("a preference")?;
    let address: std::net::Ipv4Addr = fields.parse("four decimal octets joined by dots")?;
    let mut wire = preference.to_be_bytes().to_vec();
    wire.extend(address.octets());
    Ok(wire)
}

/// One to `digits` hexadecimal digits and nothing else.
fn hex_group(text: &str, digits: usize) -> Option<u16> {
    let is_hex = text.bytes().all(|octet| octet.is_ascii_hexdigit());
    match is_hex && (1..=digits).contains(&text.len()) {
        true => u16::from_str_radix(text, 16).ok(),
        false => None,
    }
}

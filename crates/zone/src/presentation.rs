//! Records in presentation format (RFC 1035 section 5.1), so that every reader gets the same octets back.

use crate::rdata::{embedded_names, name_length};
use crate::read::rdata_from_text;
use crate::{Name, Record};
use domain::base::iana::Rtype;
use domain::base::name::ToName;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::base::{ParseRecordData, ParsedName};
use domain::dep::octseq::Parser;
use domain::rdata::{Rrsig, ZoneRecordData};
use domain::utils::base64;
use std::fmt::{self, Write};

/// Shows a name absolute and with everything escaped that means something in a master file.
///
/// `domain`'s own display leaves quotes, semicolons and parentheses as they are.
#[derive(Clone, Copy, Debug)]
pub struct PresentationName<'a>(pub &'a Name);

impl fmt::Display for PresentationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_root() {
            return f.write_char('.');
        }
        for label in self.0.iter().take_while(|label| !label.is_root()) {
            for &octet in label.as_slice() {
                match octet {
                    b'.' | b'\\' => write!(f, "\\{}", char::from(octet))?,
                    _ if needs_escape(octet) => write!(f, "\\{}", char::from(octet))?,
                    0x21..=0x7E => f.write_char(char::from(octet))?,
                    _ => write!(f, "\\{octet:03}")?,
                }
            }
            f.write_char('.')?;
        }
        Ok(())
    }
}

/// Octets in a label that a master file needs escaped and `domain`'s display does not escape.
fn needs_escape(octet: u8) -> bool {
    matches!(octet, b'"' | b'(' | b')' | b';' | b'@' | b'$')
}

/// Shows a record on one line: owner, TTL, class, type and data, separated by single spaces.
#[derive(Clone, Copy, Debug)]
pub struct PresentationRecord<'a>(pub &'a Record);

impl fmt::Display for PresentationRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record {
            owner,
            rtype,
            class,
            ttl,
            rdata,
        } = self.0;
        write!(f, "{} {ttl} {class} ", PresentationName(owner))?;
        if rdata.is_empty() || has_odd_name(*rtype, rdata) {
            return generic(f, *rtype, rdata);
        }
        let mut parser = Parser::from_ref(&rdata[..]);
        let data = ZoneRecordData::<&[u8], ParsedName<&[u8]>>::parse_rdata(*rtype, &mut parser);
        match data {
            Ok(Some(data))
                if parser.remaining() == 0 && !matches!(data, ZoneRecordData::Unknown(_)) =>
            {
                let shown = data.display_zonefile(DisplayKind::Simple);
                // What `domain` shows of service parameters cannot always be read back, such as a comma in a protocol's name.
                if matches!(*rtype, Rtype::SVCB | Rtype::HTTPS) {
                    return match rdata_from_text(*rtype, &shown.to_string()) {
                        Some(read) if read == *rdata => write!(f, "{rtype} {shown}"),
                        _ => generic(f, *rtype, rdata),
                    };
                }
                if let ZoneRecordData::Rrsig(signature) = &data {
                    return rrsig(f, signature);
                }
                write!(f, "{rtype} {shown}")
            }
            _ => generic(f, *rtype, rdata),
        }
    }
}

/// An RRSIG record with its times as dates (RFC 4034 section 3.2). `domain` shows them as seconds since 1970, which is as
/// right, but NSD takes the digits of some such numbers for a date of another century and refuses others.
fn rrsig(f: &mut fmt::Formatter<'_>, signature: &Rrsig<&[u8], ParsedName<&[u8]>>) -> fmt::Result {
    write!(
        f,
        "RRSIG {} {} {} {} {} {} {} {} ",
        signature.type_covered(),
        signature.algorithm().to_int(),
        signature.labels(),
        signature.original_ttl().as_secs(),
        Date(signature.expiration().into_int()),
        Date(signature.inception().into_int()),
        signature.key_tag(),
        PresentationName(&signature.signer_name().to_bytes()),
    )?;
    base64::display(signature.signature(), f)
}

/// Seconds since 1970 as YYYYMMDDHHmmSS in UTC.
struct Date(u32);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = jiff::Timestamp::from_second(i64::from(self.0)).map_err(|_| fmt::Error)?;
        let time = jiff::tz::Offset::UTC.to_datetime(timestamp);
        write!(
            f,
            "{:04}{:02}{:02}{:02}{:02}{:02}",
            time.year(),
            time.month(),
            time.day(),
            time.hour(),
            time.minute(),
            time.second()
        )
    }
}

/// The form that any reader takes for any type (RFC 3597 section 5).
fn generic(f: &mut fmt::Formatter<'_>, rtype: Rtype, rdata: &[u8]) -> fmt::Result {
    write!(f, "TYPE{} \\# {}", rtype.to_int(), rdata.len())?;
    if !rdata.is_empty() {
        f.write_char(' ')?;
    }
    rdata.iter().try_for_each(|octet| write!(f, "{octet:02X}"))
}

/// Whether RDATA has a name that `domain` would display unreadably, or does not fit its type.
fn has_odd_name(rtype: Rtype, rdata: &[u8]) -> bool {
    let is_odd = |name: &[u8]| name.iter().any(|&octet| needs_escape(octet));
    let names = match embedded_names(rtype, rdata) {
        None => return true,
        Some(names) => names,
    };
    // Types with a name that canonical form leaves as it is.
    let name_start = match rtype {
        Rtype::NSEC => Some(0),
        Rtype::SVCB | Rtype::HTTPS => Some(2),
        Rtype::IPSECKEY => Some(3),
        _ => None,
    };
    let other_name = name_start
        .and_then(|start| rdata.get(start..))
        .and_then(|rest| rest.get(..name_length(rest)?));
    names.into_iter().any(|range| is_odd(&rdata[range])) || other_name.is_some_and(is_odd)
}

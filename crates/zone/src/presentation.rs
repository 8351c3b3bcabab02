//! Records in presentation format (RFC 1035 section 5.1), so that every reader gets the same octets back.

use crate::packed::PackedRecord;
use crate::rdata::{embedded_names, name_length};
use crate::read::rdata_from_text;
use crate::text::{push_name, push_record};
use crate::{Name, Record};
use domain::base::iana::Rtype;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::base::{ParseRecordData, ParsedName};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;
use std::fmt::{self, Write};

/// Shows a name absolute and with everything escaped that means something in a master file.
///
/// `domain`'s own display leaves quotes, semicolons and parentheses as they are.
#[derive(Clone, Copy, Debug)]
pub struct PresentationName<'a>(pub &'a Name);

impl fmt::Display for PresentationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        push_name(self.0.as_slice(), &mut text);
        f.write_str(&String::from_utf8_lossy(&text))
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
        let mut line = Vec::new();
        push_record(&PackedRecord::from(self.0), &mut line);
        f.write_str(String::from_utf8_lossy(&line).trim_end_matches('\n'))
    }
}

/// Type and data of any record, by way of `domain`.
pub(crate) struct AnyData<'a>(pub Rtype, pub &'a [u8]);

impl fmt::Display for AnyData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(rtype, rdata) = *self;
        if rdata.is_empty() || has_odd_name(rtype, rdata) {
            return generic(f, rtype, rdata);
        }
        let mut parser = Parser::from_ref(rdata);
        let data = ZoneRecordData::<&[u8], ParsedName<&[u8]>>::parse_rdata(rtype, &mut parser);
        match data {
            Ok(Some(data))
                if parser.remaining() == 0 && !matches!(data, ZoneRecordData::Unknown(_)) =>
            {
                let shown = data.display_zonefile(DisplayKind::Simple);
                // What `domain` shows cannot always be read back: a comma in a protocol's name of service parameters, a gateway
                // that there is not, whose dot it leaves out, a property without a name.
                if !is_read_back(rtype) {
                    return match rdata_from_text(rtype, &shown.to_string()) {
                        Some(read) if read == *rdata => write!(f, "{rtype} {shown}"),
                        _ => generic(f, rtype, rdata),
                    };
                }
                write!(f, "{rtype} {shown}")
            }
            _ => generic(f, rtype, rdata),
        }
    }
}

/// Whether everything that `domain` shows of a type can be read: of the types that zones have many records of.
fn is_read_back(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::A
            | Rtype::AAAA
            | Rtype::NS
            | Rtype::CNAME
            | Rtype::SOA
            | Rtype::PTR
            | Rtype::MX
            | Rtype::TXT
            | Rtype::SRV
            | Rtype::DS
            | Rtype::DNSKEY
            | Rtype::RRSIG
            | Rtype::NSEC
            | Rtype::NSEC3
            | Rtype::NSEC3PARAM
            | Rtype::TLSA
    )
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

//! Where domain names stand inside RDATA, and the canonical form of RDATA (RFC 4034 section 6.2).

use bytes::Bytes;
use domain::base::iana::Rtype;
use std::cmp::Ordering;
use std::ops::Range;

/// One field of a type's RDATA, as far as finding names needs it.
#[derive(Clone, Copy)]
enum Field {
    Octets(usize),
    CharacterString,
    Name,
}

use Field::{CharacterString, Name, Octets};

/// The fields of `rtype` up to its last name; empty for a type without names.
///
/// These are the types whose names are lower case in canonical form (RFC 4034 section 6.2, of which RFC 6840
/// section 5.1 takes out NSEC), all other types keep their octets as they are.
fn fields(rtype: Rtype) -> &'static [Field] {
    match rtype {
        Rtype::NS
        | Rtype::MD
        | Rtype::MF
        | Rtype::CNAME
        | Rtype::MB
        | Rtype::MG
        | Rtype::MR
        | Rtype::PTR
        | Rtype::DNAME
        | Rtype::NXT => &[Name],
        Rtype::SOA | Rtype::MINFO | Rtype::RP => &[Name, Name],
        Rtype::MX | Rtype::AFSDB | Rtype::RT | Rtype::KX => &[Octets(2), Name],
        Rtype::PX => &[Octets(2), Name, Name],
        Rtype::SRV => &[Octets(6), Name],
        Rtype::NAPTR => &[
            Octets(4),
            CharacterString,
            CharacterString,
            CharacterString,
            Name,
        ],
        Rtype::SIG | Rtype::RRSIG => &[Octets(18), Name],
        _ => &[],
    }
}

/// The octets after the last name of `rtype`; `None` where any number may follow.
fn octets_after_names(rtype: Rtype) -> Option<usize> {
    match rtype {
        Rtype::SOA => Some(20),
        Rtype::SIG | Rtype::RRSIG | Rtype::NXT => None,
        _ => Some(0),
    }
}

/// The octet ranges of the names that are lower case in canonical form; `None` if `rdata` does not fit its type.
///
/// A compression pointer does not fit: RDATA in a [`Zone`](crate::Zone) is uncompressed.
pub fn embedded_names(rtype: Rtype, rdata: &[u8]) -> Option<Vec<Range<usize>>> {
    let fields = match rtype {
        Rtype::A6 => return a6_name(rdata),
        _ => fields(rtype),
    };
    let mut names = Vec::new();
    if fields.is_empty() {
        return Some(names);
    }
    let mut at = 0;
    for field in fields {
        let length = match *field {
            Octets(length) => length,
            CharacterString => 1 + usize::from(*rdata.get(at)?),
            Name => name_length(rdata.get(at..)?)?,
        };
        if at + length > rdata.len() {
            return None;
        }
        if matches!(field, Name) {
            names.push(at..at + length);
        }
        at += length;
    }
    match octets_after_names(rtype) {
        Some(rest) if at + rest != rdata.len() => None,
        _ => Some(names),
    }
}

/// The name of an A6 record, there unless the prefix length is 0 (RFC 2874 section 3.1).
fn a6_name(rdata: &[u8]) -> Option<Vec<Range<usize>>> {
    let prefix_bits = usize::from(*rdata.first()?);
    if prefix_bits > 128 {
        return None;
    }
    let start = 1 + (128 - prefix_bits).div_ceil(8);
    if prefix_bits == 0 {
        return (rdata.len() == start).then(Vec::new);
    }
    let length = name_length(rdata.get(start..)?)?;
    let name = start..start + length;
    (name.end == rdata.len()).then(|| Vec::from([name]))
}

/// The octets that the uncompressed name at the start of `wire` takes; `None` if there is none.
pub(crate) fn name_length(wire: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let label = usize::from(*wire.get(at)?);
        if label > 63 {
            return None;
        }
        at += 1 + label;
        if at > 255 || at > wire.len() {
            return None;
        }
        if label == 0 {
            return Some(at);
        }
    }
}

/// RDATA in canonical form: the names of the types above in lower case (RFC 4034 section 6.2).
///
/// Shares the octets where nothing changes. RDATA that does not fit its type is returned as it is.
pub fn canonical_rdata(rtype: Rtype, rdata: &Bytes) -> Bytes {
    let names = embedded_names(rtype, rdata).unwrap_or_default();
    let has_upper = |range: &Range<usize>| rdata[range.clone()].iter().any(u8::is_ascii_uppercase);
    if !names.iter().any(has_upper) {
        return rdata.clone();
    }
    let mut octets = rdata.to_vec();
    for range in names {
        // A label's length is at most 63 and thus below the letters.
        octets[range].make_ascii_lowercase();
    }
    Bytes::from(octets)
}

/// Compares two RDATA of one type in their canonical order (RFC 4034 section 6.3).
pub fn compare_rdata(rtype: Rtype, a: &[u8], b: &[u8]) -> Ordering {
    let has_upper = |rdata: &[u8]| rdata.iter().any(u8::is_ascii_uppercase);
    if rtype != Rtype::A6 && fields(rtype).is_empty() || !has_upper(a) && !has_upper(b) {
        return a.cmp(b);
    }
    let canonical = |rdata: &[u8]| canonical_rdata(rtype, &Bytes::copy_from_slice(rdata));
    canonical(a).cmp(&canonical(b))
}

/// Appends `rdata` in canonical form, as [`canonical_rdata`] gives it.
pub fn push_canonical_rdata(rtype: Rtype, rdata: &[u8], target: &mut Vec<u8>) {
    let start = target.len();
    target.extend_from_slice(rdata);
    match rtype {
        Rtype::NS | Rtype::CNAME | Rtype::PTR | Rtype::DNAME => {
            if name_length(rdata) == Some(rdata.len()) {
                target[start..].make_ascii_lowercase();
            }
        }
        _ if rtype != Rtype::A6 && fields(rtype).is_empty() => {}
        _ => {
            for range in embedded_names(rtype, rdata).unwrap_or_default() {
                target[start + range.start..start + range.end].make_ascii_lowercase();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowers_names_only() {
        let mx = Bytes::from_static(b"\x00\x41\x04MaIl\x02JP\x00");
        assert_eq!(
            &canonical_rdata(Rtype::MX, &mx)[..],
            b"\x00\x41\x04mail\x02jp\x00"
        );
        let naptr = Bytes::from_static(b"\x00\x01\x00\x02\x01S\x03SIP\x01!\x01A\x00");
        assert_eq!(
            &canonical_rdata(Rtype::NAPTR, &naptr)[..],
            b"\x00\x01\x00\x02\x01S\x03SIP\x01!\x01a\x00"
        );
        let nsec = Bytes::from_static(b"\x01A\x00\x00\x01\x40");
        assert_eq!(canonical_rdata(Rtype::NSEC, &nsec), nsec);
    }

    #[test]
    fn misfits() {
        assert_eq!(embedded_names(Rtype::MX, b"\x00"), None);
        assert_eq!(embedded_names(Rtype::NS, b"\xC0\x00"), None);
        assert_eq!(embedded_names(Rtype::NS, b"\x01a\x00extra"), None);
        assert_eq!(
            embedded_names(Rtype::A6, b"\x80\x01a\x00"),
            Some(Vec::from_iter(std::iter::once(1..4)))
        );
        assert_eq!(embedded_names(Rtype::A6, b"\x81\x00"), None);
    }
}

//! What record data are made of, and what becomes of each part.

/// What a part of record data holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A name.
    Name,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// So many octets that tell of nobody.
    Plain(usize),
    /// A bitmap of types to the end (RFC 4034 section 4.1.2); anything else is not as its type says.
    Types,
    /// A bitmap of types as NXT has it (RFC 2535 section 5.2).
    FirstTypes,
    /// So many octets that tell which zone it is to who has its data: zeros where names get pseudonyms.
    OfZone(usize),
    /// All further octets, which tell which zone it is: zeros where names get pseudonyms.
    OfZoneRest,
    /// Character strings to the end (RFC 1035 section 3.3), each of its length, of the letter `x`.
    Texts,
    /// One character string as the above.
    Text,
    /// Parameters of a service (RFC 9460 section 2.2).
    ServiceParameters,
    /// All further octets, which become zeros.
    Hidden,
}

use Part::{
    FirstTypes, Hidden, Ipv4, Ipv6, Name, OfZone, OfZoneRest, Plain, ServiceParameters, Text,
    Texts, Types,
};

/// The types of records that are left out: signatures that no longer hold, and the names of their keys (RFC 8945, 2930, 2931).
pub const LEFT_OUT: [u16; 2] = [TSIG, TKEY];
/// SIG, which is left out where it covers no type: then it signs the message.
pub const SIG: u16 = 24;
const TSIG: u16 = 250;
const TKEY: u16 = 249;
const CLASS_IN: u16 = 1;

/// The parts of data of type `rtype` in `class` (<https://www.iana.org/assignments/dns-parameters>); data of types that are not
/// known are hidden.
pub fn parts(rtype: u16, class: u16) -> &'static [Part] {
    match rtype {
        // A, AAAA; A6 and addresses of other classes are hidden.
        1 if class == CLASS_IN => &[Ipv4],
        28 => &[Ipv6],
        // NS, MD, MF, CNAME, MB, MG, MR, PTR, NSAP-PTR, DNAME.
        2..=5 | 7..=9 | 12 | 23 | 39 => &[Name],
        // SOA: its serial tells the zone.
        6 => &[Name, Name, OfZone(4), Plain(16)],
        // MINFO, RP, TALINK.
        14 | 17 | 58 => &[Name, Name],
        // MX, AFSDB, RT, KX, LP.
        15 | 18 | 21 | 36 | 107 => &[Plain(2), Name],
        // HINFO, TXT, X25, ISDN, GPOS, SPF: addresses of clients stand in TXT, too, as in answers about one's own address.
        13 | 16 | 19 | 20 | 27 | 99 => &[Texts],
        // PX.
        26 => &[Plain(2), Name, Name],
        // SRV.
        33 => &[Plain(6), Name],
        // NAPTR.
        35 => &[Plain(4), Text, Text, Text, Name],
        // SIG, RRSIG: type, algorithm, labels, TTL; then times and key tag.
        SIG | 46 => &[Plain(8), OfZone(10), Name, OfZoneRest],
        // NXT, NSEC.
        30 => &[Name, FirstTypes],
        47 => &[Name, Types],
        // KEY, DNSKEY, CDNSKEY: flags, protocol, algorithm.
        25 | 48 | 60 => &[Plain(4), OfZoneRest],
        // DS, CDS, DLV: key tag, algorithm, digest type.
        43 | 59 | 32769 => &[OfZone(2), Plain(2), OfZoneRest],
        // NSEC3: algorithm, flags, iterations.
        50 => &[Plain(4), OfZoneRest],
        // NSEC3PARAM.
        51 => &[Plain(4), OfZoneRest],
        // SSHFP, TLSA, ZONEMD, CAA: public data of a zone.
        44 | 52 | 63 | 257 => &[OfZoneRest],
        // CSYNC: serial; flags, types.
        62 => &[OfZone(4), Plain(2), Types],
        // SVCB, HTTPS.
        64 | 65 => &[Plain(2), Name, ServiceParameters],
        _ => &[Hidden],
    }
}

/// Whether `octets` are a bitmap of types in windows as RFC 4034 section 4.1.2 has it, and of none but types that there are:
/// anything might be written in those of others.
pub fn are_types(mut octets: &[u8]) -> bool {
    let mut next = 0;
    while !octets.is_empty() {
        let [window, len, rest @ ..] = octets else {
            return false;
        };
        let (window, len) = (u16::from(*window), usize::from(*len));
        let Some((bits, after)) = rest.split_at_checked(len) else {
            return false;
        };
        if window < next || !(1..=32).contains(&len) || !are_bits(window << 8, bits) {
            return false;
        }
        (next, octets) = (window + 1, after);
    }
    true
}

/// Whether `octets` are a bitmap of the types up to 127, as RFC 2535 section 5.2 has it.
pub fn are_first_types(octets: &[u8]) -> bool {
    octets.is_empty() || octets.len() <= 16 && are_bits(0, octets)
}

/// Whether bits stand for types that there are, from `first` on, and the last octet for one at least.
fn are_bits(first: u16, octets: &[u8]) -> bool {
    let are_known = |(place, octet): (u16, &u8)| {
        (0..8).all(|bit| octet & (0x80 >> bit) == 0 || is_type(first + 8 * place + bit))
    };
    octets.last() != Some(&0) && (0..).zip(octets).all(are_known)
}

/// Whether records, or answers that deny, have the type (<https://www.iana.org/assignments/dns-parameters>); 65534 is BIND's.
fn is_type(rtype: u16) -> bool {
    matches!(rtype, 1..=40 | 42..=53 | 55..=68 | 99..=109 | 128 | 256..=264 | 32768 | 32769 | 65534)
}

/// What becomes of a parameter of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// It stays.
    Plain,
    /// A list of protocols: those that are not known become the letter `x`.
    Protocols,
    /// IPv4 addresses.
    Ipv4,
    /// IPv6 addresses.
    Ipv6,
    /// It becomes zeros.
    Hidden,
}

/// What becomes of the parameter with the number `key` (RFC 9460 section 14.3.2). What is not as the number says is hidden.
pub fn parameter(key: u16, value: &[u8]) -> Parameter {
    match key {
        0 if are_mandatory(value) => Parameter::Plain,
        1 if protocols(value).all(|id| id.is_some()) => Parameter::Protocols,
        3 if value.len() == 2 => Parameter::Plain,
        4 => Parameter::Ipv4,
        6 => Parameter::Ipv6,
        // no-default-alpn, ohttp.
        2 | 8 if value.is_empty() => Parameter::Plain,
        _ => Parameter::Hidden,
    }
}

/// Whether `value` lists keys that there are, each once and in their order (RFC 9460 section 8).
fn are_mandatory(value: &[u8]) -> bool {
    let (keys, rest) = value.as_chunks::<2>();
    let is_known = |key: &[u8; 2]| matches!(key, [0, 1..=10]);
    rest.is_empty() && keys.iter().all(is_known) && keys.is_sorted_by(|a, b| a < b)
}

/// The protocols of a list (RFC 9460 section 7.1.1); `None` is the last for one that is empty or not whole.
pub fn protocols(value: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (len, after) = rest.split_first()?;
        let id = after.split_at_checked((*len).into()).filter(|_| *len > 0);
        rest = id.map_or(&[], |(_, after)| after);
        Some(id.map(|(id, _)| id))
    })
}

/// Whether a protocol is one that many services have (<https://www.iana.org/assignments/tls-extensiontype-values>), or a draft
/// of one that has been in use.
pub fn is_protocol(id: &[u8]) -> bool {
    const KNOWN: [&[u8]; 14] = [
        b"http/0.9",
        b"http/1.0",
        b"http/1.1",
        b"h2",
        b"h2c",
        b"h3",
        b"h3-27",
        b"h3-28",
        b"h3-29",
        b"dot",
        b"doq",
        b"imap",
        b"co",
        b"acme-tls/1",
    ];
    KNOWN.contains(&id)
}

#[cfg(test)]
mod tests;

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
    /// All further octets, which tell of nobody.
    PlainRest,
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
    Hidden, Ipv4, Ipv6, Name, OfZone, OfZoneRest, Plain, PlainRest, ServiceParameters, Text, Texts,
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
        30 | 47 => &[Name, PlainRest],
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
        62 => &[OfZone(4), PlainRest],
        // SVCB, HTTPS.
        64 | 65 => &[Plain(2), Name, ServiceParameters],
        _ => &[Hidden],
    }
}

/// What becomes of a parameter of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// It stays.
    Plain,
    /// IPv4 addresses.
    Ipv4,
    /// IPv6 addresses.
    Ipv6,
    /// It becomes zeros.
    Hidden,
}

/// What becomes of the parameter with the number `key` (RFC 9460 section 14.3.2).
pub fn parameter(key: u16) -> Parameter {
    match key {
        // mandatory, alpn, no-default-alpn, port, ohttp.
        0..=3 | 8 => Parameter::Plain,
        4 => Parameter::Ipv4,
        6 => Parameter::Ipv6,
        _ => Parameter::Hidden,
    }
}

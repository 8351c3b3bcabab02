//! RDATA from presentation to wire format: through `domain`, and around it where it does not know a type.

use super::lexer::Token;
use super::other_types;
use super::ttl::parse_ttl;
use crate::Name;
use crate::presentation::PresentationName;
use crate::rdata::embedded_names;
use bytes::Bytes;
use domain::base::iana::{Rtype, SecurityAlgorithm};
use domain::base::rdata::ComposeRecordData;
use domain::base::{ParseRecordData, ParsedName};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;
use domain::zonefile::inplace;

/// Octets of a ZONEMD record's data: serial number, scheme, hash algorithm, and the shortest digest (RFC 8976 section 2.2).
const ZONEMD_OCTETS_MIN: usize = 6 + 12;

/// What is wrong with RDATA.
#[derive(Debug)]
pub(super) struct RdataError {
    /// The offending token; one past the last if the data end too early.
    pub token: usize,
    pub what: String,
    pub hint: String,
}

impl RdataError {
    fn new(token: usize, rtype: Rtype, what: &str) -> Self {
        Self {
            token,
            what: format!("bad data for type {rtype}: {what}"),
            hint: "correct it, or give the data as \\# LENGTH HEX (RFC 3597 section 5)".into(),
        }
    }
}

/// A type whose presentation format is that of `rtype`, and which `domain` can scan.
fn scanned_as(rtype: Rtype) -> Rtype {
    match rtype {
        Rtype::DLV | Rtype::TA => Rtype::DS,
        Rtype::KEY | Rtype::RKEY => Rtype::DNSKEY,
        Rtype::SMIMEA => Rtype::TLSA,
        Rtype::SPF | Rtype::AVC | Rtype::NINFO | Rtype::X25 | Rtype::ISDN | Rtype::GPOS => {
            Rtype::TXT
        }
        Rtype::AFSDB | Rtype::RT | Rtype::KX | Rtype::LP => Rtype::MX,
        Rtype::TALINK => Rtype::RP,
        Rtype::NSAPPTR => Rtype::PTR,
        Rtype::DHCID => Rtype::OPENPGPKEY,
        other => other,
    }
}

/// The fields of `rtype`'s presentation format that are names, in which `@` stands for the origin.
fn name_fields(rtype: Rtype) -> &'static [usize] {
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
        | Rtype::NSEC => &[0],
        Rtype::SOA | Rtype::MINFO | Rtype::RP => &[0, 1],
        Rtype::MX | Rtype::SVCB | Rtype::HTTPS => &[1],
        Rtype::SRV | Rtype::IPSECKEY => &[3],
        Rtype::NAPTR => &[5],
        Rtype::RRSIG => &[7],
        _ => &[],
    }
}

/// Whether two dots meet in a name, or one begins it; `domain` lets that pass in RDATA and makes octets that are no name.
fn has_empty_label(text: &[u8]) -> bool {
    let mut is_at_start = true;
    let mut octets = text.iter();
    while let Some(&octet) = octets.next() {
        if octet == b'.' && is_at_start {
            return text != b".";
        }
        is_at_start = octet == b'.';
        if octet == b'\\' {
            octets.next();
        }
    }
    false
}

/// Whether `domain` would take service parameters (RFC 9460 section 2.1) for others than they are: it reads escapes and octets
/// beyond ASCII only as the value of a parameter without name, such as `key65333`.
fn has_unreadable_parameter(tokens: &[Token<'_>]) -> bool {
    let mut is_nameless = false;
    tokens.iter().skip(2).any(|token| {
        if !token.joined {
            is_nameless = token.text.to_ascii_lowercase().starts_with(b"key");
        }
        !is_nameless
            && token
                .text
                .iter()
                .any(|&octet| octet >= 0x7F || octet == b'\\')
    })
}

/// Turns RDATA in presentation format into wire format; keeps its buffers from record to record.
#[derive(Debug)]
pub(super) struct RdataScanner {
    zonefile: inplace::Zonefile,
    /// The origin in presentation format, once there is one.
    origin: Option<String>,
    line: Vec<u8>,
    /// Lines that `zonefile` has been given so far.
    lines: usize,
}

impl RdataScanner {
    pub fn new() -> Self {
        Self {
            zonefile: inplace::Zonefile::new(),
            origin: None,
            line: Vec::new(),
            lines: 0,
        }
    }

    /// Sets the origin that relative names in RDATA get.
    pub fn set_origin(&mut self, origin: Name) {
        self.origin = Some(PresentationName(&origin).to_string());
        self.zonefile.set_origin(origin);
    }

    /// The wire format of the RDATA given by `tokens`. After an error the scanner must not be used again.
    pub fn scan(&mut self, rtype: Rtype, tokens: &[Token<'_>]) -> Result<Bytes, RdataError> {
        let is_generic = tokens.first().is_some_and(|token| token.text == b"\\#");
        if !is_generic && let Some(result) = other_types::compose(rtype, tokens) {
            return result
                .map(Bytes::from)
                .map_err(|(token, what)| RdataError::new(token, rtype, &what));
        }
        if matches!(rtype, Rtype::SVCB | Rtype::HTTPS)
            && !is_generic
            && has_unreadable_parameter(tokens)
        {
            return Err(RdataError::new(
                2,
                rtype,
                "escapes are not supported in this parameter",
            ));
        }
        let rdata = self.scan_by_domain(scanned_as(rtype), rtype, tokens)?;
        if rtype == Rtype::ZONEMD && rdata.len() < ZONEMD_OCTETS_MIN {
            return Err(RdataError::new(
                3,
                rtype,
                "a digest shorter than 12 octets (RFC 8976 section 2.2.4)",
            ));
        }
        if is_generic && !fits(rtype, &rdata) {
            return Err(RdataError::new(
                1,
                rtype,
                "the octets do not fit the type's format",
            ));
        }
        Ok(rdata)
    }

    fn scan_by_domain(
        &mut self,
        scan_type: Rtype,
        rtype: Rtype,
        tokens: &[Token<'_>],
    ) -> Result<Bytes, RdataError> {
        self.line.clear();
        self.line
            .extend_from_slice(format!(". 0 IN {scan_type}").as_bytes());
        let mut starts = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate() {
            if index == 0 || !token.joined {
                self.line.push(b' ');
            }
            starts.push(self.line.len());
            if name_fields(scan_type).contains(&index) && has_empty_label(token.text) {
                return Err(RdataError::new(index, rtype, "a name with an empty label"));
            }
            match self.substitute(scan_type, index, token.text) {
                Some(text) => self.line.extend_from_slice(text.as_bytes()),
                None => push_ascii(&mut self.line, token.text),
            }
        }
        self.line.push(b'\n');
        self.lines += 1;
        self.zonefile.extend_from_slice(&self.line);
        let data = match self.zonefile.next_entry() {
            Ok(Some(inplace::Entry::Record(record))) => record.into_data(),
            Ok(_) => return Err(RdataError::new(0, rtype, "no data")),
            Err(error) => {
                return Err(self.explain(&error.to_string(), rtype, &starts));
            }
        };
        let mut wire = Vec::new();
        // Appending to a Vec cannot fail.
        data.compose_rdata(&mut wire)
            .map_err(|_| RdataError::new(0, rtype, "too long"))?;
        if wire.len() > usize::from(u16::MAX) {
            return Err(RdataError::new(0, rtype, "longer than 65535 octets"));
        }
        Ok(Bytes::from(wire))
    }

    /// What `domain` must see in place of `text`, which is field `index` of `scan_type`: it knows no TTL units, no `@` in
    /// RDATA and no algorithm mnemonics.
    fn substitute(&self, scan_type: Rtype, index: usize, text: &[u8]) -> Option<String> {
        if text == b"@" && name_fields(scan_type).contains(&index) {
            return self.origin.clone();
        }
        match (scan_type, index) {
            (Rtype::SOA, 3..7) => parse_ttl(text).map(|seconds| seconds.to_string()),
            (Rtype::DNSKEY | Rtype::CDNSKEY, 2) | (Rtype::DS | Rtype::CDS | Rtype::RRSIG, 1) => {
                SecurityAlgorithm::from_mnemonic(text)
                    .map(|algorithm| algorithm.to_int().to_string())
            }
            _ => None,
        }
    }

    /// Turns `domain`'s message `line:column: what` into one about a token of the entry.
    fn explain(&self, message: &str, rtype: Rtype, starts: &[usize]) -> RdataError {
        let mut parts = message.splitn(3, ':');
        let mut number = || parts.next().and_then(|text| text.parse::<usize>().ok());
        let (line, column) = (number(), number());
        let what = parts.next().unwrap_or(message).trim();
        let is_past_end = line != Some(self.lines);
        let token = match column {
            Some(column) if !is_past_end => starts
                .iter()
                .rposition(|&start| start < column)
                .unwrap_or(0),
            _ => starts.len(),
        };
        let what = match what {
            "missing origin" => {
                return RdataError {
                    token,
                    what: "a relative name, but no origin is known yet".into(),
                    hint: "put $ORIGIN before it, end the name with a dot, or give the zone's name"
                        .into(),
                };
            }
            "unknown record type with concrete data" => {
                return RdataError {
                    token: 0,
                    what: format!("the presentation format of type {rtype} is not supported"),
                    hint: "give the data as \\# LENGTH HEX (RFC 3597 section 5)".into(),
                };
            }
            "unexpected end of entry" => "it ends too early",
            "trailing tokens" => "it has more fields than the type",
            other => other,
        };
        RdataError::new(token, rtype, what)
    }
}

/// Appends `text`, octets above 0x7E as decimal escapes: `domain` takes only ASCII.
pub(super) fn push_ascii(target: &mut Vec<u8>, text: &[u8]) {
    for &octet in text {
        if octet < 0x7F {
            target.push(octet);
        } else {
            target.extend_from_slice(format!("\\{octet:03}").as_bytes());
        }
    }
}

/// Whether `rdata` has the wire format of `rtype`; any octets fit an unknown type.
fn fits(rtype: Rtype, rdata: &Bytes) -> bool {
    let mut parser = Parser::from_ref(rdata);
    let parsed = ZoneRecordData::<Bytes, ParsedName<Bytes>>::parse_rdata(rtype, &mut parser);
    parsed.is_ok() && parser.remaining() == 0 && embedded_names(rtype, rdata).is_some()
}

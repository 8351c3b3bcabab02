//! Packed records in presentation format: the types of large zones straight from the wire format, others by way of `domain`.

use crate::dates::push_date;
use crate::packed::PackedRecord;
use crate::presentation::AnyData;
use crate::rdata::name_length;
use crate::types::{bitmap_types, is_bitmap, push_mnemonic};
use data_encoding::{BASE32HEX_NOPAD, BASE64, Encoding, HEXUPPER};
use domain::base::iana::Rtype;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Appends `record` as one line: owner, TTL, class, type and data, separated by single spaces.
pub fn push_record(record: &PackedRecord<'_>, target: &mut Vec<u8>) {
    push_head(record.owner, record.ttl_s, target);
    target.extend_from_slice(b" IN ");
    let start = target.len();
    push_mnemonic(record.rtype, target);
    target.push(b' ');
    if push_plain_rdata(record.rtype, record.rdata, target).is_none() {
        target.truncate(start);
        // Writing to a Vec cannot fail.
        let _ = write!(target, "{}", AnyData(record.rtype, record.rdata));
    }
    target.push(b'\n');
}

fn push_head(owner: &[u8], ttl_s: u32, target: &mut Vec<u8>) {
    push_name(owner, target);
    target.push(b' ');
    push_number(ttl_s, target);
}

/// Appends an uncompressed name in presentation format, absolute, with everything escaped that means something in a
/// master file.
pub fn push_name(wire: &[u8], target: &mut Vec<u8>) {
    if wire == [0] {
        target.push(b'.');
        return;
    }
    let mut at = 0;
    while let Some(&length @ 1..) = wire.get(at) {
        let end = (at + 1 + usize::from(length)).min(wire.len());
        let label = &wire[at + 1..end];
        match label.iter().all(|&octet| is_plain(octet)) {
            true => target.extend_from_slice(label),
            false => push_escaped(label, target),
        }
        target.push(b'.');
        at = end;
    }
}

/// A name as [`push_name`] writes it.
pub fn shown_name(wire: &[u8]) -> String {
    let mut text = Vec::new();
    push_name(wire, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether an octet of a label stands for itself.
fn is_plain(octet: u8) -> bool {
    matches!(octet, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'*' | b'/' | b'+' | b'=')
}

fn push_escaped(label: &[u8], target: &mut Vec<u8>) {
    for &octet in label {
        match octet {
            b'.' | b'\\' | b'"' | b'(' | b')' | b';' | b'@' | b'$' => {
                target.extend([b'\\', octet]);
            }
            0x21..=0x7E => target.push(octet),
            _ => target.extend([
                b'\\',
                b'0' + octet / 100,
                b'0' + octet / 10 % 10,
                b'0' + octet % 10,
            ]),
        }
    }
}

fn push_number(number: u32, target: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    target.extend_from_slice(&digits[at..]);
}

/// Appends the data of the types that zones of millions of records consist of; `None`, with anything appended, for others.
fn push_plain_rdata(rtype: Rtype, rdata: &[u8], target: &mut Vec<u8>) -> Option<()> {
    let mut fields = Fields { rdata, target };
    match rtype {
        Rtype::NS | Rtype::CNAME | Rtype::PTR | Rtype::DNAME => fields.name()?,
        Rtype::A => {
            let octets: [u8; 4] = rdata.try_into().ok()?;
            write!(fields.target, "{}", Ipv4Addr::from(octets)).ok()?;
            fields.rdata = &[];
        }
        Rtype::AAAA => {
            let octets: [u8; 16] = rdata.try_into().ok()?;
            write!(fields.target, "{}", Ipv6Addr::from(octets)).ok()?;
            fields.rdata = &[];
        }
        Rtype::MX => {
            fields.number(2)?;
            fields.name()?;
        }
        Rtype::DS | Rtype::CDS => {
            fields.number(2)?;
            fields.number(1)?;
            fields.number(1)?;
            fields.rest(&HEXUPPER)?;
        }
        Rtype::RRSIG => fields.rrsig()?,
        Rtype::NSEC => {
            fields.name()?;
            fields.bitmap()?;
        }
        Rtype::NSEC3 => fields.nsec3()?,
        _ => return None,
    }
    fields.rdata.is_empty().then_some(())
}

/// RDATA still to be shown, and the text of what was.
struct Fields<'a, 't> {
    rdata: &'a [u8],
    target: &'t mut Vec<u8>,
}

impl<'a> Fields<'a, '_> {
    fn take(&mut self, octets: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rdata.split_at_checked(octets)?;
        self.rdata = rest;
        Some(taken)
    }

    fn integer(&mut self, octets: usize) -> Option<u32> {
        let taken = self.take(octets)?;
        Some(
            taken
                .iter()
                .fold(0, |value, &octet| value << 8 | u32::from(octet)),
        )
    }

    /// A number and, unless it is the last field, a space.
    fn number(&mut self, octets: usize) -> Option<()> {
        let number = self.integer(octets)?;
        push_number(number, self.target);
        self.space();
        Some(())
    }

    fn space(&mut self) {
        self.target.push(b' ');
    }

    fn name(&mut self) -> Option<()> {
        let length = name_length(self.rdata)?;
        let name = self.take(length)?;
        push_name(name, self.target);
        Some(())
    }

    /// All that is left, at least one octet.
    fn rest(&mut self, encoding: &Encoding) -> Option<()> {
        let octets = self.take(self.rdata.len())?;
        if octets.is_empty() {
            return None;
        }
        encoding.encode_append_to(octets, self.target);
        Some(())
    }

    /// The times are dates (RFC 4034 section 3.2): seconds since 1970 would be as right, but NSD takes the digits of some
    /// such numbers for a date of another century and refuses others.
    fn rrsig(&mut self) -> Option<()> {
        push_mnemonic(Rtype::from_int(self.integer(2)? as u16), self.target);
        self.space();
        self.number(1)?;
        self.number(1)?;
        self.number(4)?;
        for _ in 0..2 {
            let seconds = self.integer(4)?;
            push_date(seconds, self.target);
            self.space();
        }
        self.number(2)?;
        self.name()?;
        self.space();
        self.rest(&BASE64)
    }

    fn bitmap(&mut self) -> Option<()> {
        if !is_bitmap(self.rdata) {
            return None;
        }
        for rtype in bitmap_types(self.rdata) {
            self.space();
            push_mnemonic(rtype, self.target);
        }
        self.rdata = &[];
        Some(())
    }

    fn nsec3(&mut self) -> Option<()> {
        self.number(1)?;
        self.number(1)?;
        self.number(2)?;
        let length = self.integer(1)? as usize;
        match self.take(length)? {
            [] => self.target.push(b'-'),
            salt => HEXUPPER.encode_append_to(salt, self.target),
        }
        self.space();
        let length = self.integer(1)? as usize;
        let hash = self.take(length)?;
        if hash.is_empty() {
            return None;
        }
        BASE32HEX_NOPAD.encode_append_to(hash, self.target);
        self.bitmap()
    }
}

/// Lets `data_encoding` append to octets, which it offers only for text.
trait EncodeAppend {
    fn encode_append_to(&self, octets: &[u8], target: &mut Vec<u8>);
}

impl EncodeAppend for Encoding {
    fn encode_append_to(&self, octets: &[u8], target: &mut Vec<u8>) {
        let start = target.len();
        target.resize(start + self.encode_len(octets.len()), 0);
        self.encode_mut(octets, &mut target[start..]);
    }
}

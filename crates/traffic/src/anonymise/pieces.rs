//! Small parts of messages, read and written.

use super::rdata::{is_protocol, protocols};
use std::ops::Range;

/// Stands in the place of texts.
const FILLER: u8 = b'x';

/// Appends `len` zeros.
pub fn zeros(len: usize, output: &mut Vec<u8>) {
    output.resize(output.len() + len, 0);
}

/// Appends character strings (RFC 1035 section 3.3) of the same lengths; `None` if the last one is not whole.
pub fn write_texts(octets: &[u8], output: &mut Vec<u8>) -> Option<()> {
    let mut rest = octets;
    while let Some((&len, after)) = rest.split_first() {
        output.push(len);
        output.resize(output.len() + usize::from(len), FILLER);
        rest = after.get(len.into()..)?;
    }
    Some(())
}

/// Whether `octets` are nothing but what [`write_texts`] wrote.
pub fn are_filled_texts(octets: &[u8]) -> bool {
    let mut rest = octets;
    while let Some((&len, after)) = rest.split_first() {
        let Some((text, after)) = after.split_at_checked(len.into()) else {
            return false;
        };
        if !is_filler(text) {
            return false;
        }
        rest = after;
    }
    true
}

/// Appends a whole list of protocols, those that are not known as filler of their lengths.
pub fn write_protocols(value: &[u8], output: &mut Vec<u8>) {
    for id in protocols(value).flatten() {
        output.push(id.len() as u8);
        match is_protocol(id) {
            true => output.extend_from_slice(id),
            false => output.resize(output.len() + id.len(), FILLER),
        }
    }
}

/// Whether `value` is nothing but what [`write_protocols`] writes.
pub fn are_known_protocols(value: &[u8]) -> bool {
    let is_told = |id: &[u8]| is_protocol(id) || is_filler(id);
    protocols(value).all(|id| id.is_some_and(is_told))
}

fn is_filler(octets: &[u8]) -> bool {
    octets.iter().all(|octet| *octet == FILLER)
}

/// Values with a number and a length of 16 bits each before them, as EDNS options and parameters of services are; a value that
/// is not whole is the last one, without a range.
pub struct Tuples<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Tuples<'a> {
    pub fn of(octets: &'a [u8]) -> Self {
        Self { octets, at: 0 }
    }
}

impl Iterator for Tuples<'_> {
    type Item = (u16, Option<Range<usize>>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.octets.get(self.at..).filter(|rest| !rest.is_empty())?;
        let Some(&[a, b, c, d]) = rest.first_chunk() else {
            self.at = self.octets.len();
            return Some((0, None));
        };
        let start = self.at + 4;
        let end = start + usize::from(u16::from_be_bytes([c, d]));
        self.at = end;
        let range = (end <= self.octets.len()).then_some(start..end);
        Some((u16::from_be_bytes([a, b]), range))
    }
}

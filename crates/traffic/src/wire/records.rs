//! Records (RFC 1035 section 4.1.3).

use super::{Header, Malformed, skip_name};
use std::ops::Range;

/// The sections that have records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The answer section.
    Answer,
    /// The authority section.
    Authority,
    /// The additional section.
    Additional,
}

/// One record of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The message.
    pub message: &'a [u8],
    /// Its section.
    pub section: Section,
    /// Where in the message its owner name begins, perhaps compressed; [`super::read_name`] reads it.
    pub owner: usize,
    /// Where in the message its type stands, which the class, the TTL and the length of the data follow.
    pub fixed: usize,
    /// The type.
    pub rtype: u16,
    /// The class; of an OPT record, the size of UDP payload.
    pub class: u16,
    /// The TTL in seconds; of an OPT record, the extended RCODE, version and flags.
    pub ttl: u32,
    /// Where in the message the data stand.
    pub rdata: Range<usize>,
}

impl<'a> Record<'a> {
    /// The data as they are in the message.
    pub fn data(&self) -> &'a [u8] {
        &self.message[self.rdata.clone()]
    }
}

/// The records of a message in their order; ends after the first that is not whole.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    message: &'a [u8],
    at: usize,
    /// Records that are still to come, by section.
    left: [u16; 3],
}

impl<'a> Records<'a> {
    pub(super) fn new(message: &'a [u8], header: Header, start: usize) -> Self {
        Self {
            message,
            at: start,
            left: [header.answers, header.authorities, header.additionals],
        }
    }

    /// Where the next record begins, or the last one ended.
    pub fn offset(&self) -> usize {
        self.at
    }

    #[inline]
    fn read(&mut self, section: Section) -> Option<Record<'a>> {
        let record = record_at(self.message, self.at, section)?;
        self.at = record.rdata.end;
        Some(record)
    }
}

/// The record of `section` that begins at `owner`; `None` if it is not whole.
#[inline]
pub(super) fn record_at(message: &[u8], owner: usize, section: Section) -> Option<Record<'_>> {
    let fixed = skip_name(message, owner)?;
    let &[a, b, c, d, e, f, g, h, i, j] = message.get(fixed..)?.first_chunk::<10>()?;
    let start = fixed + 10;
    let end = start + usize::from(u16::from_be_bytes([i, j]));
    if end > message.len() {
        return None;
    }
    Some(Record {
        message,
        section,
        owner,
        fixed,
        rtype: u16::from_be_bytes([a, b]),
        class: u16::from_be_bytes([c, d]),
        ttl: u32::from_be_bytes([e, f, g, h]),
        rdata: start..end,
    })
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let sections = [Section::Answer, Section::Authority, Section::Additional];
        let place = self.left.iter().position(|&left| left > 0)?;
        self.left[place] -= 1;
        let record = self.read(sections[place]);
        if record.is_none() {
            self.left = [0; 3];
        }
        Some(record.ok_or(Malformed::Record))
    }
}

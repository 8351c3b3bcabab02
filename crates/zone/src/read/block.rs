//! Parses a block of a zone file: entries into packed records.

use super::EntryError;
use super::directive::Directive;
use super::entry::{Header, read_header, read_plain_header};
use super::lexer::{Entry, Lexer, Token};
use super::name::{push_plain_name, read_name};
use super::plain_rdata::push_plain_rdata;
use super::rdata::{RdataError, RdataScanner};
use super::source::TextBlock;
use super::ttl::TTL_MISSING;
use crate::Name;
use crate::error::{Position, ZoneError};
use crate::packed::{FilePlace, PackedRecords};
use domain::base::iana::Rtype;
use std::path::Path;
use std::sync::Arc;

/// What a block of text is parsed into.
#[derive(Debug, Default)]
pub(crate) struct ParsedBlock {
    pub records: PackedRecords,
    /// The owner of the last record, as wire octets; empty if there is no record.
    pub last_owner: Vec<u8>,
    /// The last TTL that a record gave.
    pub last_ttl: Option<u32>,
    /// The minimum field of the first SOA record.
    pub soa_minimum: Option<u32>,
    /// The records without a TTL, with nothing in the block to take one from but an SOA record, as indexes; their TTLs are
    /// [`TTL_MISSING`].
    pub without_ttl: Vec<u32>,
}

/// Parses blocks; keeps its buffers from one to the next.
pub(crate) struct BlockParser {
    scanner: RdataScanner,
    origin: Option<Name>,
    default_ttl: Option<u32>,
    owner: Vec<u8>,
    out: ParsedBlock,
}

/// Octets of text that a record takes in a zone of a registry, for reserving memory.
const RECORD_TEXT_OCTETS: usize = 40;

impl BlockParser {
    pub fn new() -> Self {
        Self {
            scanner: RdataScanner::new(),
            origin: None,
            default_ttl: None,
            owner: Vec::new(),
            out: ParsedBlock::default(),
        }
    }

    /// Parses `block`; `owner` is for a first record that takes the owner of the one before, else empty.
    ///
    /// After an error the parser must not be used again.
    pub fn parse(&mut self, block: &TextBlock, owner: &[u8]) -> Result<ParsedBlock, ZoneError> {
        self.default_ttl = block.default_ttl;
        self.set_origin(block.origin.clone());
        self.owner.clear();
        self.owner.extend_from_slice(owner);
        self.out = ParsedBlock {
            records: PackedRecords::with_capacity(
                block.text.len() / RECORD_TEXT_OCTETS,
                block.text.len(),
            ),
            ..ParsedBlock::default()
        };
        let mut lexer = Lexer::new(&block.text, block.first_line);
        let mut entry = Entry::default();
        // Owners are often written again and again.
        let mut owner_text: &[u8] = b"";
        loop {
            let read = lexer.next_entry(&mut entry).map_err(EntryError::from);
            let result = match read {
                Ok(false) => break,
                Ok(true) => self.entry(&entry, &mut owner_text, block.file_number),
                Err(error) => Err(error),
            };
            result.map_err(|error| error.at(&block.file))?;
        }
        if !self.out.records.is_empty() {
            self.out.last_owner.clone_from(&self.owner);
        }
        Ok(std::mem::take(&mut self.out))
    }

    fn set_origin(&mut self, origin: Option<Name>) {
        if let Some(origin) = &origin
            && self.origin.as_ref() != Some(origin)
        {
            self.scanner.set_origin(origin.clone());
        }
        // It has no way to forget an origin.
        if origin.is_none() && self.origin.is_some() {
            self.scanner = RdataScanner::new();
        }
        self.origin = origin;
    }

    fn entry<'a>(
        &mut self,
        entry: &Entry<'a>,
        owner_text: &mut &'a [u8],
        file: u16,
    ) -> Result<(), EntryError> {
        let first = &entry.tokens[0];
        if entry.blank_owner {
            if self.owner.is_empty() {
                return Err(EntryError::syntax(
                    first.place,
                    "a record without owner, and no record before it to take the owner from",
                    "begin the line with the owner's name, not with white space",
                ));
            }
            return self.record(first, &entry.tokens, file);
        }
        if first.text.first() == Some(&b'$') {
            *owner_text = b"";
            return self.directive(&entry.tokens);
        }
        if *owner_text != first.text {
            *owner_text = first.text;
            self.owner.clear();
            if !push_plain_name(first.text, self.origin.as_ref(), &mut self.owner) {
                let name = read_name(first, &self.origin)?;
                self.owner.extend_from_slice(name.as_slice());
            }
        }
        self.record(first, &entry.tokens[1..], file)
    }

    fn directive(&mut self, tokens: &[Token<'_>]) -> Result<(), EntryError> {
        match Directive::read(tokens, &self.origin)? {
            Directive::Origin(name) => self.set_origin(Some(name)),
            Directive::Ttl(ttl_s) => self.default_ttl = Some(ttl_s),
            // The source takes files that are included out of the text.
            Directive::Include { place, .. } => {
                return Err(EntryError::syntax(
                    place,
                    "$INCLUDE in text that has no folder",
                    "read the zone from a file",
                ));
            }
        }
        Ok(())
    }

    /// Takes the record of the present owner with the TTL, class, type and data of `tokens`.
    fn record(
        &mut self,
        first: &Token<'_>,
        tokens: &[Token<'_>],
        file: u16,
    ) -> Result<(), EntryError> {
        let Header { ttl, rtype, data } = match read_plain_header(tokens) {
            Some(header) => header,
            None => read_header(first.place, tokens)?,
        };
        let data = &tokens[data..];
        let start = self.out.records.begin(&self.owner);
        let rdata = self.out.records.tail().len();
        if !push_plain_rdata(rtype, data, self.origin.as_ref(), self.out.records.tail()) {
            let scanned = self.scanner.scan(rtype, data);
            let scanned = scanned.map_err(|RdataError { token, what, hint }| {
                let at = data.get(token).or(tokens.last());
                EntryError::syntax(at.map_or(first.place, |token| token.place), what, hint)
            })?;
            self.out.records.tail().extend_from_slice(&scanned);
        }
        let minimum = match rtype {
            Rtype::SOA => self.out.records.tail()[rdata..]
                .last_chunk::<4>()
                .map(|octets| u32::from_be_bytes(*octets)),
            _ => None,
        };
        let ttl_s = self.ttl(ttl, minimum);
        let place = FilePlace {
            file,
            ..FilePlace::from(first.place)
        };
        self.out.records.finish(start, rtype, ttl_s, place);
        Ok(())
    }

    /// The TTL of a record: its own, else `$TTL`, else that of the record before, else the SOA's minimum.
    fn ttl(&mut self, given: Option<u32>, minimum: Option<u32>) -> u32 {
        if given.is_some() {
            self.out.last_ttl = given;
        }
        self.out.soa_minimum = self.out.soa_minimum.or(minimum);
        if let Some(known) = given.or(self.default_ttl).or(self.out.last_ttl) {
            return known;
        }
        self.out.without_ttl.push(self.out.records.len() as u32);
        TTL_MISSING
    }
}

impl EntryError {
    /// The error with its file.
    fn at(self, file: &Arc<Path>) -> ZoneError {
        let (place, class, what, hint) = match self {
            Self::Syntax { place, what, hint } => (place, None, what, hint),
            Self::Class { place, class } => (place, Some(class), String::new(), String::new()),
        };
        let at = Position {
            file: file.clone(),
            line: place.line,
            column: place.column,
        };
        match class {
            Some(class) => ZoneError::Class { at, class },
            None => ZoneError::Syntax { at, what, hint },
        }
    }
}

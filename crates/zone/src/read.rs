//! Reading master files (RFC 1035 section 5, RFC 2308 section 4 for `$TTL`, RFC 3597 for unknown types).
//!
//! `domain` parses names and RDATA. Around it this module adds what zone files in use need: places for error
//! messages, `$INCLUDE`, TTL units, TTLs left out, CRLF line ends, a byte order mark, non-ASCII octets in strings,
//! and the presentation format of some further types. `$GENERATE` (a BIND extension) is refused.

mod block;
mod cut;
mod directive;
mod entry;
mod lexer;
mod location;
mod name;
mod other_types;
mod plain_rdata;
mod rdata;
mod source;
mod ttl;

use crate::check;
use crate::error::{Position, Warning, ZoneError};
use crate::packed::FilePlace;
use crate::readable::NEVER;
use crate::{Name, Record, Zone};
use bytes::Bytes;
use domain::base::iana::Rtype;
use lexer::{Entry, LexError, Lexer};
use rdata::RdataScanner;
use std::path::Path;
use std::sync::Arc;

pub(crate) use block::{BlockParser, ParsedBlock};
pub(crate) use lexer::Place;
pub(crate) use source::{TextBlock, TextSource};
pub(crate) use ttl::TTL_MISSING;

/// A zone as read, with what was odd about its text.
#[derive(Clone, Debug)]
pub struct ReadZone {
    /// The zone.
    pub zone: Zone,
    /// What was odd; empty for a clean file.
    pub warnings: Vec<Warning>,
}

impl ReadZone {
    /// Reads the master file `path` with the files it includes.
    ///
    /// `origin` is the zone's name and the first `$ORIGIN`. Without it the SOA record's owner is the zone's name, and
    /// relative names need a `$ORIGIN` before them.
    pub fn from_file(path: &Path, origin: Option<&Name>) -> Result<Self, ZoneError> {
        let mut source = TextSource::open(path, origin.cloned(), &NEVER)?;
        check::into_zone(Records::read(path, &mut source)?, origin)
    }

    /// Reads a master file's text. `$INCLUDE` is refused, since there is no folder to look in.
    pub fn from_text(text: &[u8], origin: Option<&Name>) -> Result<Self, ZoneError> {
        let path = Path::new("-");
        let mut source = TextSource::text(path, text.to_vec(), origin.cloned());
        check::into_zone(Records::read(path, &mut source)?, origin)
    }
}

/// Reads the records of a file in master file format that is no zone, such as a DNSKEY's `.key` file.
pub fn read_records(path: &Path) -> Result<Vec<Record>, ZoneError> {
    let mut source = TextSource::open(path, None, &NEVER)?;
    let records = Records::read(path, &mut source)?.records;
    Ok(records.into_iter().map(|located| located.record).collect())
}

impl Zone {
    /// Reads the master file `path` like [`ReadZone::from_file`], for callers that have no use for warnings.
    pub fn read(path: &Path, origin: Option<&Name>) -> Result<Self, ZoneError> {
        ReadZone::from_file(path, origin).map(|read| read.zone)
    }

    /// Reads a master file's text like [`ReadZone::from_text`], for callers that have no use for warnings.
    pub fn parse(text: &[u8], origin: Option<&Name>) -> Result<Self, ZoneError> {
        ReadZone::from_text(text, origin).map(|read| read.zone)
    }
}

/// The wire format of `text`, RDATA in presentation format, in which names without final dot are relative to `origin`.
///
/// The error says what is wrong with it, for a person.
pub fn read_rdata(rtype: Rtype, text: &str, origin: Option<&Name>) -> Result<Bytes, String> {
    let mut entry = Entry::default();
    Lexer::new(text.as_bytes(), 1)
        .next_entry(&mut entry)
        .map_err(|error| format!("bad data for type {rtype}: {}", error.what))?;
    let mut scanner = RdataScanner::new();
    if let Some(origin) = origin {
        scanner.set_origin(origin.clone());
    }
    scanner
        .scan(rtype, &entry.tokens)
        .map_err(|error| error.what)
}

/// The wire format of `text`, RDATA in presentation format; `None` if it is none.
pub(crate) fn rdata_from_text(rtype: Rtype, text: &str) -> Option<Bytes> {
    read_rdata(rtype, text, None).ok()
}

/// What is wrong with an entry.
#[derive(Debug)]
pub(crate) enum EntryError {
    Syntax {
        place: Place,
        what: String,
        hint: String,
    },
    /// A class other than IN.
    Class { place: Place, class: String },
}

impl EntryError {
    fn syntax(place: Place, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Syntax {
            place,
            what: what.into(),
            hint: hint.into(),
        }
    }
}

impl From<LexError> for EntryError {
    fn from(LexError { place, what, hint }: LexError) -> Self {
        Self::syntax(place, what, hint)
    }
}

/// A record and where it was read.
#[derive(Clone, Debug)]
pub(crate) struct LocatedRecord {
    pub record: Record,
    place: FilePlace,
}

/// All records of a master file in the order of the file.
#[derive(Debug)]
pub(crate) struct Records {
    pub files: Vec<Arc<Path>>,
    pub records: Vec<LocatedRecord>,
    pub warnings: Vec<Warning>,
}

impl Records {
    /// Reads all that `source` has; `path` is its first file.
    fn read(path: &Path, source: &mut TextSource<'_>) -> Result<Self, ZoneError> {
        let mut records = Self {
            files: vec![Arc::from(path)],
            records: Vec::new(),
            warnings: Vec::new(),
        };
        let mut parser = BlockParser::new();
        let mut carry = Carry::default();
        while let Some(block) = source.next_block()? {
            let mut parsed = parser.parse(&block, carry.owner(block.nesting))?;
            carry.take(block.nesting, &mut parsed);
            let number = usize::from(block.file_number);
            if number >= records.files.len() {
                records.files.resize(number + 1, block.file.clone());
            }
            let located = parsed
                .records
                .into_records()
                .map(|(record, place)| LocatedRecord { record, place });
            records.records.extend(located);
        }
        records.warnings.extend(carry.missing_ttl(&records.files));
        if let Some(ttl_s) = carry.late_ttl() {
            for located in &mut records.records {
                if located.record.ttl == TTL_MISSING {
                    located.record.ttl = ttl_s;
                }
            }
        }
        Ok(records)
    }

    /// Where `record` was read.
    pub fn position(&self, record: &LocatedRecord) -> Position {
        position(&self.files, record.place)
    }
}

/// Where `place` is.
pub(crate) fn position(files: &[Arc<Path>], place: FilePlace) -> Position {
    let file = files.get(usize::from(place.file)).or(files.last());
    Position {
        file: file.cloned().unwrap_or_else(|| Arc::from(Path::new("-"))),
        line: place.line,
        column: u32::from(place.column),
    }
}

/// How deep in included files a block stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nesting {
    /// Files that are being included here, the first one counted too.
    pub depth: usize,
    /// How many of them, from outside, the block before stood in already.
    pub kept: usize,
}

/// What goes from block to block: owners and TTLs that records leave out (RFC 1035 section 5.1).
#[derive(Debug, Default)]
pub(crate) struct Carry {
    /// The last owner of each open file, outermost first.
    owners: Vec<Vec<u8>>,
    last_ttl: Option<u32>,
    soa_minimum: Option<u32>,
    /// Whether records have to wait for an SOA record to have a TTL.
    is_late: bool,
    /// The first record that had no TTL and nothing before it to take one from but an SOA record.
    first_missing: Option<FilePlace>,
}

impl Carry {
    /// The owner of a record that begins a block with white space; empty if there is none. In a file that is included it is
    /// the one before the `$INCLUDE`.
    pub fn owner(&mut self, nesting: Nesting) -> &[u8] {
        self.owners.truncate(nesting.kept);
        while self.owners.len() < nesting.depth {
            let outer = self.owners.last().cloned().unwrap_or_default();
            self.owners.push(outer);
        }
        self.owners.last().map_or(&[], |owner| &owner[..])
    }

    /// Takes note of a block that was parsed, and gives its records the TTLs that come from blocks before; those that have to
    /// wait for an SOA record keep [`TTL_MISSING`].
    pub fn take(&mut self, nesting: Nesting, block: &mut ParsedBlock) {
        self.owner(nesting);
        if !block.last_owner.is_empty()
            && let Some(owner) = self.owners.last_mut()
        {
            std::mem::swap(owner, &mut block.last_owner);
        }
        self.soa_minimum = self.soa_minimum.or(block.soa_minimum);
        if let (None, None, Some(&first)) =
            (self.last_ttl, self.first_missing, block.without_ttl.first())
        {
            self.first_missing = Some(block.records.get(first as usize).place);
        }
        match self.last_ttl.or(self.soa_minimum) {
            Some(ttl_s) => {
                for &index in &block.without_ttl {
                    block.records.set_ttl(index as usize, ttl_s);
                }
            }
            None => self.is_late |= !block.without_ttl.is_empty(),
        }
        self.last_ttl = block.last_ttl.or(self.last_ttl);
    }

    /// The TTL that records with [`TTL_MISSING`] are to have, if there are such: the minimum field of the first SOA record (RFC
    /// 1035 section 3.3.13), in seconds; 0 without one.
    pub fn late_ttl(&self) -> Option<u32> {
        self.is_late.then(|| self.soa_minimum.unwrap_or(0))
    }

    /// What is to be told of records that have the SOA's minimum as their TTL, if there are such.
    pub fn missing_ttl(&self, files: &[Arc<Path>]) -> Option<Warning> {
        let (first, minimum_s) = self.first_missing.zip(self.soa_minimum)?;
        Some(Warning {
            at: position(files, first),
            what: format!(
                "no TTL here and no $TTL before; the SOA's minimum of {minimum_s} s was taken"
            ),
        })
    }
}

/// Resolves `\X` and `\DDD`; the lexer has checked that they are well formed.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return octets,
            [b'\\', a @ b'0'..=b'9', b, c, tail @ ..] => {
                let digit = |octet: u8| octet.wrapping_sub(b'0');
                octets.push(
                    digit(*a)
                        .wrapping_mul(100)
                        .wrapping_add(digit(*b).wrapping_mul(10))
                        .wrapping_add(digit(*c)),
                );
                tail
            }
            [b'\\', octet, tail @ ..] | [octet, tail @ ..] => {
                octets.push(*octet);
                tail
            }
        };
    }
}

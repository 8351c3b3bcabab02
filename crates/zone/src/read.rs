//! Reading master files (RFC 1035 section 5, RFC 2308 section 4 for `$TTL`, RFC 3597 for unknown types).
//!
//! `domain` parses names and RDATA. Around it this module adds what zone files in use need: places for error
//! messages, `$INCLUDE`, TTL units, TTLs left out, CRLF line ends, a byte order mark, non-ASCII octets in strings,
//! and the presentation format of some further types. `$GENERATE` (a BIND extension) is refused.

mod entry;
mod lexer;
mod location;
mod other_types;
mod rdata;
mod ttl;

use crate::check;
use crate::error::{Position, Warning, ZoneError};
use crate::whole_file::read_whole;
use crate::{Name, Record, Zone};
use bytes::Bytes;
use domain::base::iana::Rtype;
use lexer::{Entry, LexError, Lexer, Place, Token};
use rdata::RdataScanner;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How deep `$INCLUDE` may nest.
const INCLUDE_DEPTH_MAX: usize = 32;

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
        let text = read_whole(path).map_err(|source| ZoneError::Read {
            file: path.to_path_buf(),
            source,
        })?;
        let mut reader = Reader::new(path, true);
        reader.open.push(canonical_path(path));
        reader.read(0, &text, origin.cloned())?;
        reader.finish(origin)
    }

    /// Reads a master file's text. `$INCLUDE` is refused, since there is no folder to look in.
    pub fn from_text(text: &[u8], origin: Option<&Name>) -> Result<Self, ZoneError> {
        let mut reader = Reader::new(Path::new("-"), false);
        reader.read(0, text, origin.cloned())?;
        reader.finish(origin)
    }
}

/// Reads the records of a file in master file format that is no zone, such as a DNSKEY's `.key` file.
pub fn read_records(path: &Path) -> Result<Vec<Record>, ZoneError> {
    let text = read_whole(path).map_err(|source| ZoneError::Read {
        file: path.to_path_buf(),
        source,
    })?;
    let mut reader = Reader::new(path, false);
    reader.read(0, &text, None)?;
    Ok(reader
        .out
        .records
        .into_iter()
        .map(|located| located.record)
        .collect())
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

/// The wire format of `text`, RDATA in presentation format; `None` if it is none.
pub(crate) fn rdata_from_text(rtype: Rtype, text: &str) -> Option<Bytes> {
    let mut entry = Entry::default();
    Lexer::new(text.as_bytes()).next_entry(&mut entry).ok()?;
    RdataScanner::new().scan(rtype, &entry.tokens).ok()
}

/// A record and where it was read.
#[derive(Clone, Debug)]
pub(crate) struct LocatedRecord {
    pub record: Record,
    /// Index into [`Records::files`].
    file: u32,
    place: Place,
}

/// All records of a master file in the order of the file.
#[derive(Debug)]
pub(crate) struct Records {
    pub files: Vec<Arc<Path>>,
    pub records: Vec<LocatedRecord>,
    /// The records that had no TTL and nothing before them to take one from, as indexes into `records`.
    without_ttl: Vec<usize>,
    pub warnings: Vec<Warning>,
}

impl Records {
    /// Where `record` was read.
    pub fn position(&self, record: &LocatedRecord) -> Position {
        self.position_of(record.file, record.place)
    }

    fn position_of(&self, file: u32, place: Place) -> Position {
        Position {
            file: self.files[file as usize].clone(),
            line: place.line,
            column: place.column,
        }
    }
}

/// The state that goes from entry to entry, also across included files.
struct Reader {
    out: Records,
    /// The canonical paths of the files being read, outermost first.
    open: Vec<PathBuf>,
    may_include: bool,
    default_ttl: Option<u32>,
    last_ttl: Option<u32>,
    last_owner: Option<Name>,
    scanner: RdataScanner,
}

impl Reader {
    fn new(path: &Path, may_include: bool) -> Self {
        Self {
            out: Records {
                files: vec![Arc::from(path)],
                records: Vec::new(),
                without_ttl: Vec::new(),
                warnings: Vec::new(),
            },
            open: Vec::new(),
            may_include,
            default_ttl: None,
            last_ttl: None,
            last_owner: None,
            scanner: RdataScanner::new(),
        }
    }

    /// Reads the text of file number `file`, whose relative names begin at `origin`.
    fn read(&mut self, file: u32, text: &[u8], origin: Option<Name>) -> Result<(), ZoneError> {
        let mut origin = origin;
        self.use_origin(&origin);
        let mut lexer = Lexer::new(text);
        let mut entry = Entry::default();
        loop {
            match lexer.next_entry(&mut entry) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(LexError { place, what, hint }) => {
                    return Err(self.syntax(file, place, what, hint));
                }
            }
            let first = entry.tokens[0];
            if !entry.blank_owner && first.text.first() == Some(&b'$') {
                self.directive(file, &entry.tokens, &mut origin)?;
            } else {
                self.record(file, &entry, &origin)?;
            }
        }
    }

    fn use_origin(&mut self, origin: &Option<Name>) {
        if let Some(origin) = origin {
            self.scanner.set_origin(origin.clone());
        }
    }

    fn syntax(&self, file: u32, place: Place, what: String, hint: impl Into<String>) -> ZoneError {
        ZoneError::Syntax {
            at: self.out.position_of(file, place),
            what,
            hint: hint.into(),
        }
    }

    fn directive(
        &mut self,
        file: u32,
        tokens: &[Token<'_>],
        origin: &mut Option<Name>,
    ) -> Result<(), ZoneError> {
        let keyword = tokens[0].text.to_ascii_uppercase();
        let error = |reader: &Self, index: usize, what: &str, hint: &str| {
            let place = tokens.get(index).unwrap_or(&tokens[0]).place;
            Err(reader.syntax(file, place, what.into(), hint))
        };
        match (&keyword[..], tokens.len()) {
            (b"$ORIGIN", 2) => {
                *origin = Some(self.name(file, &tokens[1], origin)?);
                self.use_origin(origin);
                Ok(())
            }
            (b"$TTL", 2) => match ttl::parse_ttl(tokens[1].text) {
                Some(ttl) => {
                    self.default_ttl = Some(ttl);
                    Ok(())
                }
                None => error(
                    self,
                    1,
                    "not a TTL",
                    "give 0 to 2147483647 seconds, or units such as 1h or 1W2D",
                ),
            },
            (b"$INCLUDE", 2 | 3) => {
                let start = match tokens.get(2) {
                    Some(token) => Some(self.name(file, token, origin)?),
                    None => origin.clone(),
                };
                self.include(file, &tokens[1], start)?;
                self.use_origin(origin);
                Ok(())
            }
            (b"$ORIGIN" | b"$TTL", _) => error(
                self,
                0,
                "this directive takes one argument",
                "correct the line",
            ),
            (b"$INCLUDE", _) => error(
                self,
                0,
                "$INCLUDE takes a file and at most an origin",
                "correct the line",
            ),
            (b"$GENERATE", _) => error(
                self,
                0,
                "$GENERATE is an extension of BIND",
                "expand it first with: named-compilezone -o OUTPUT ZONE FILE",
            ),
            _ => error(
                self,
                0,
                "unknown directive",
                "known are $ORIGIN, $TTL and $INCLUDE",
            ),
        }
    }

    fn include(
        &mut self,
        file: u32,
        token: &Token<'_>,
        origin: Option<Name>,
    ) -> Result<(), ZoneError> {
        if !self.may_include {
            let what = "$INCLUDE in text that has no folder".into();
            return Err(self.syntax(file, token.place, what, "read the zone from a file"));
        }
        let including = &self.out.files[file as usize];
        let folder = including.parent().unwrap_or(Path::new(""));
        let path = folder.join(path_of(token));
        let at = self.out.position_of(file, token.place);
        let canonical = canonical_path(&path);
        if self.open.contains(&canonical) {
            return Err(ZoneError::IncludeLoop { at, file: path });
        }
        if self.open.len() > INCLUDE_DEPTH_MAX {
            let what = format!("$INCLUDE nested deeper than {INCLUDE_DEPTH_MAX}");
            return Err(self.syntax(file, token.place, what, "put the files together"));
        }
        let text = match read_whole(&path) {
            Ok(text) => text,
            Err(source) => {
                return Err(ZoneError::Include {
                    at,
                    file: path,
                    source,
                });
            }
        };
        let number = u32::try_from(self.out.files.len()).unwrap_or(u32::MAX);
        self.out.files.push(Arc::from(path));
        self.open.push(canonical);
        let owner = self.last_owner.clone();
        self.read(number, &text, origin)?;
        self.last_owner = owner;
        self.open.pop();
        Ok(())
    }

    fn finish(mut self, origin: Option<&Name>) -> Result<ReadZone, ZoneError> {
        self.fill_missing_ttls();
        check::into_zone(self.out, origin)
    }
}

/// The file system's own name of `path`, or `path` where there is none (the file will then not open either).
fn canonical_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The path that `token` gives, quotes and escapes resolved.
fn path_of(token: &Token<'_>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let text = match token.text {
        [b'"', inner @ .., b'"'] => inner,
        text => text,
    };
    PathBuf::from(std::ffi::OsString::from_vec(unescape(text)))
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

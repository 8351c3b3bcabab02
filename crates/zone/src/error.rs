//! What can be wrong with zone data, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place in a zone file, shown as `file:line:column`; both count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file as it was given or included; `-` for text that came from no file.
    pub file: Arc<Path>,
    /// The line.
    pub line: u32,
    /// The column, in octets.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Why zone data cannot be read or written; every message names the place and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneError {
    /// The zone file itself cannot be read.
    #[error("{}: cannot read the zone file: {source}; check the path and its permissions", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file named by `$INCLUDE` cannot be read.
    #[error("{at}: cannot read the included file {}: {source}; a relative path counts from the including file's folder", file.display())]
    Include {
        /// The `$INCLUDE` directive.
        at: Position,
        /// The included file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file includes itself, directly or through others.
    #[error("{at}: {} is being read already, so including it would never end; remove this $INCLUDE", file.display())]
    IncludeLoop {
        /// The `$INCLUDE` directive.
        at: Position,
        /// The included file.
        file: PathBuf,
    },
    /// The text is not a master file (RFC 1035 section 5, RFC 3597 section 5).
    #[error("{at}: {what}; {hint}")]
    Syntax {
        /// Where.
        at: Position,
        /// What was wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A record of a class other than IN.
    #[error("{at}: class {class}; only zones of class IN can be read, so remove this record")]
    Class {
        /// The record.
        at: Position,
        /// Its class, as written.
        class: String,
    },
    /// No SOA record, or none at the given origin.
    #[error("{}: no SOA record{}; {hint}", file.display(), origin.as_deref().map(|name| format!(" at {name}")).unwrap_or_default())]
    NoSoa {
        /// The file.
        file: PathBuf,
        /// The origin that was asked for.
        origin: Option<String>,
        /// What to do.
        hint: String,
    },
    /// More than one SOA record.
    #[error(
        "{at}: a second SOA record, the first is at {first}; a zone has exactly one (RFC 1035 section 5.2), so remove one"
    )]
    SeveralSoas {
        /// The second SOA record.
        at: Position,
        /// The first.
        first: Position,
    },
    /// An SOA record elsewhere than at the apex.
    #[error(
        "{at}: an SOA record at {owner}, below the apex {origin}; only the apex has one (RFC 1035 section 5.2), so remove it"
    )]
    SoaBelowApex {
        /// The record.
        at: Position,
        /// Its owner.
        owner: String,
        /// The zone's apex.
        origin: String,
    },
    /// A record whose owner is not at or below the zone's apex.
    #[error(
        "{at}: {owner} is not in the zone {origin}; remove the record, or check $ORIGIN and a missing or surplus final dot"
    )]
    OutOfZone {
        /// The record.
        at: Position,
        /// Its owner.
        owner: String,
        /// The zone's apex.
        origin: String,
    },
    /// Other data, or a second CNAME, beside a CNAME (RFC 1034 section 3.6.2, RFC 2181 section 10.1).
    #[error(
        "{at}: {owner} has a CNAME record, so {rtype} cannot stand beside it (RFC 2181 section 10.1); remove one of them"
    )]
    BesideCname {
        /// The offending record.
        at: Position,
        /// The owner of both.
        owner: String,
        /// The type of the offending record.
        rtype: String,
    },
    /// The zone cannot be written.
    #[error("{}: cannot write the zone file: {source}; nothing was left under this name that was not there before", file.display())]
    Write {
        /// The file that was to be made.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A change that does not fit the zone.
    #[error("{at}: {owner} {rtype} {what}; {hint}")]
    Change {
        /// The change.
        at: Position,
        /// The owner of the record.
        owner: String,
        /// Its type.
        rtype: String,
        /// What is wrong.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A temporary file for sorting cannot be used.
    #[error("{}: cannot sort by way of temporary files here: {source}; make room, choose another folder (TMPDIR) or allow more memory", folder.display())]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The machine does not let so many threads start.
    #[error("cannot start {wanted} threads: {source}; ask for fewer (--threads)")]
    Threads {
        /// How many were to work.
        wanted: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// A temporary file cannot be used for what then goes to standard output or another file that is no regular one.
    #[error("{}: cannot write the temporary file in which the output is completed: {source}; make room or choose another folder (TMPDIR)", folder.display())]
    TemporaryOutput {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file that was read as it came is not in canonical order; it is then read again and sorted.
    #[error("the zone is not in canonical order (RFC 4034 section 6.1); sort it first")]
    NotSorted,
    /// A file that is read twice was another the second time.
    #[error("{}: the file was changed while it was read; run the command again when nothing writes to it", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// Pieces of a zone cannot be made or put together.
    #[error("{}: {what}; {hint}", file.display())]
    Pieces {
        /// The zone, the piece or the manifest.
        file: PathBuf,
        /// What was wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Two files that are to be compared are different zones.
    #[error("{} is the zone {a}, but {} is {b}; compare two versions of one zone", file_a.display(), file_b.display())]
    OtherZone {
        /// The first file.
        file_a: PathBuf,
        /// Its zone.
        a: String,
        /// The second file.
        file_b: PathBuf,
        /// Its zone.
        b: String,
    },
    /// The work was ended early.
    #[error("interrupted")]
    Cancelled,
    /// A synthetic zone was asked for that cannot be made.
    #[error("a synthetic zone of {size} cannot be made for {origin}: {why}")]
    Generate {
        /// How many records or names were asked for.
        size: String,
        /// The zone's apex.
        origin: String,
        /// The limit, and what to do.
        why: String,
    },
}

/// Something odd in a zone file that did not keep it from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub at: Position,
    /// What is odd, and what was done about it.
    pub what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}

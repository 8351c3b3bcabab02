//! What can be wrong with traffic that is read, made or written.

use std::io;
use std::path::PathBuf;

/// Why statistics do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these statistics cannot be merged: {why}")]
pub struct NotMergeable {
    /// What does not go together, and what to do.
    pub why: &'static str,
}

/// Why traffic cannot be read, made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// A file cannot be read.
    #[error("{}: cannot read the file: {source}; check the path, its permissions and that it is whole", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file that is no capture, or of a kind that cannot be read.
    #[error("{}: {why}", file.display())]
    NotACapture {
        /// The file.
        file: PathBuf,
        /// What it is instead, and what to do.
        why: String,
    },
    /// More files than are told apart.
    #[error(
        "{files} files are too many: at most 65,535 are read at once; give their parts one after the other and merge the statistics"
    )]
    TooManyFiles {
        /// How many were given.
        files: usize,
    },
    /// Captures without a DNS message that can be used.
    #[error("{files}: no DNS message: {found}")]
    NoMessages {
        /// The files, by their names.
        files: String,
        /// What they hold instead, and what to do.
        found: String,
    },
    /// Captures without a query, where only queries are written.
    #[error(
        "{files}: no query to be written: {found}; only what is sent to servers is written, so give files with queries"
    )]
    NoQueries {
        /// The files, by their names.
        files: String,
        /// What they hold instead.
        found: String,
    },
    /// A file without statistics.
    #[error(
        "{}: holds no statistics as 'dnsrig traffic stats --json' prints them, which --merge adds up (of a capture these are to be made \
         first): {source}",
        file.display()
    )]
    NoStatistics {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Statistics of another version of their form.
    #[error(
        "{}: statistics of version {version} of their form, which {age} dnsrig stored; some of their counts mean something else than those \
         of version {} here: make them again from the captures, all files by the same dnsrig, with 'dnsrig traffic stats --json'",
        file.display(), crate::stats::Statistics::VERSION
    )]
    OtherVersion {
        /// The file that holds them.
        file: PathBuf,
        /// Their version.
        version: u32,
        /// Which dnsrig has that version: `an older` or `a newer`.
        age: &'static str,
    },
    /// Statistics that do not go together with those before them.
    #[error("{}: {source}", file.display())]
    NotMergeable {
        /// The file that holds them.
        file: PathBuf,
        /// What does not go together.
        source: NotMergeable,
    },
    /// The caller asked to stop.
    #[error("stopped before everything was read")]
    Interrupted,
    /// Memory does not suffice.
    #[error("not enough memory for {what}: {advice}")]
    NoMemory {
        /// What was to be in memory.
        what: String,
        /// How to make it less.
        advice: &'static str,
    },
    /// No thread can be started.
    #[error("cannot start a thread: {source}; let the process have more threads or memory")]
    Threads {
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{}: cannot write the file: {source}; nothing was left under this name that was not there before", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Standard output cannot be written.
    #[error("standard output: cannot write: {source}")]
    Output {
        /// The system's reason.
        source: io::Error,
    },
    /// A setting that cannot be used.
    #[error("{why}")]
    Setting {
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A query file, or binary messages, that cannot be used.
    #[error(transparent)]
    Stream(#[from] dnsrig_stream::StreamError),
    /// A manifest of a zone's pieces that cannot be used.
    #[error(transparent)]
    Zone(#[from] dnsrig_zone::ZoneError),
    /// A profile that cannot be used.
    #[error("profile {profile}: {why}")]
    Profile {
        /// Its name or path.
        profile: String,
        /// What is wrong with it.
        why: String,
    },
    /// Traffic that cannot be synthesised.
    #[error("profile {profile}: no such traffic can be made: {why}")]
    Plan {
        /// The profile's name.
        profile: String,
        /// What is wrong with what was asked for.
        why: String,
    },
    /// A key of anonymisation that cannot be used.
    #[error("{}: {why}", file.display())]
    Key {
        /// The key file.
        file: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Something of the original stood in what was to be anonymous.
    #[error("{packet} would still hold {what}; the output was removed: {advice}")]
    NotAnonymous {
        /// The packet in the input by its file and its number, counted from 1.
        packet: String,
        /// What stood for it holds, and where.
        what: String,
        /// What to do.
        advice: &'static str,
    },
}

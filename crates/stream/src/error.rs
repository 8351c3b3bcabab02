//! What can be wrong with a query file, or with what a stream is to be made from.

use crate::timed::ClockJump;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Bad lines that an error shows; the others are counted.
const SHOWN: usize = 10;

const DAY_NS: u64 = 86_400_000_000_000;

/// One line of a query file that is no question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// The bad lines of a query file: the first few, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadLines {
    first: Vec<BadLine>,
    count: u64,
    has_unread: bool,
}

impl BadLines {
    /// Adds a line.
    pub fn add(&mut self, line: u64, reason: String) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(BadLine { line, reason });
        }
    }

    /// Notes that the file has not been read any further.
    pub(crate) fn leave_rest(&mut self) {
        self.has_unread = true;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first of them.
    pub fn first(&self) -> &[BadLine] {
        &self.first
    }
}

impl fmt::Display for BadLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for bad in &self.first {
            write!(f, "\n  line {}: {}", bad.line, bad.reason)?;
        }
        let more = self.count - self.first.len() as u64;
        if more > 0 {
            write!(f, "\n  and {more} more")?;
        }
        if self.has_unread {
            f.write_str("; what comes after them was not read")?;
        }
        Ok(())
    }
}

/// Why a stream cannot be read, made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A file cannot be read.
    #[error("{}: cannot read the file: {source}; check the path, its permissions and that it is whole", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A compressed file that cannot be decompressed.
    #[error("{}: {why}", file.display())]
    Undecodable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The caller asked to stop while a stream was read or made.
    #[error("stopped before the stream was whole")]
    Interrupted,
    /// Memory does not suffice for a stream.
    #[error("not enough memory for {what}: {advice}")]
    NoMemory {
        /// What was to be in memory.
        what: String,
        /// How to make it less.
        advice: &'static str,
    },
    /// A file with more in it than a stream takes.
    #[error("{}: holds more than {limit}, the most that is read; split the file, or give a part of it", file.display())]
    TooLong {
        /// The file.
        file: PathBuf,
        /// How much is read, and of what.
        limit: String,
    },
    /// A line that is too long for any text file.
    #[error("{}: line {line} is longer than {limit} octets; this seems to be no text file: check the path, and -B for binary messages", file.display())]
    LongLine {
        /// The file.
        file: PathBuf,
        /// The line's number, counted from 1.
        line: u64,
        /// The longest line, in octets.
        limit: usize,
    },
    /// Lines that are not in the file's format.
    #[error(
        "{}: {} bad lines ({expected}); mend them, or leave them out (--skip-bad of dnsrig load, run, stream make and traffic):{lines}",
        file.display(), lines.count()
    )]
    BadLines {
        /// The file.
        file: PathBuf,
        /// What a line should be, with an example.
        expected: &'static str,
        /// The lines.
        lines: BadLines,
    },
    /// A file without a query.
    #[error("{}: holds no {what}; {expected}", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
        /// What is missing: question, update or message.
        what: &'static str,
        /// What should be in it, with an example.
        expected: &'static str,
    },
    /// A file of binary messages that does not end where a message ends.
    #[error("{}: message {message} (counted from 1, at octet {offset}) {why}; the format is a length in two octets, then the message, as on TCP (RFC 1035 section 4.2.2)", file.display())]
    BadMessage {
        /// The file.
        file: PathBuf,
        /// The message's number, counted from 1.
        message: u64,
        /// Where its length stands in the file.
        offset: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A file that is no capture, or of a kind that cannot be read.
    #[error("{}: {why}", file.display())]
    NotACapture {
        /// The file.
        file: PathBuf,
        /// What it is instead, and what to do.
        why: String,
    },
    /// A capture that is damaged.
    #[error("{}: damaged at packet {packet} (counted from 1, as in Wireshark): {why}; what is before it can be used after 'editcap {} whole.pcapng'", file.display(), file.display())]
    DamagedCapture {
        /// The file.
        file: PathBuf,
        /// The packet's number, counted from 1.
        packet: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Times with a gap over which nothing can be replayed.
    #[error(
        "{}: at {place} {} (counted from 1) times go {} over a gap of {} days without a query, and a year is the most that can be replayed; a clock seems to have been set: {advice}",
        file.display(), jump.place, if jump.is_backwards { "back" } else { "on" }, jump.gap_ns / DAY_NS
    )]
    ClockJump {
        /// The file.
        file: PathBuf,
        /// What is counted in it: packet or line.
        place: &'static str,
        /// The gap.
        jump: ClockJump,
        /// What to do.
        advice: &'static str,
    },
    /// A capture without a query that can be used.
    #[error(
        "{}: holds no query that can be used: {found}; check the port (queries to port {} are read; name another with --capture-port), the server's address and the snapshot length (tcpdump -s 0)",
        file.display(), ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
    )]
    NoQueries {
        /// The file.
        file: PathBuf,
        /// What it holds instead.
        found: String,
        /// The ports whose queries were wanted.
        ports: Vec<u16>,
    },
    /// Names cannot be generated.
    #[error("names cannot be generated from '{input}': {why}")]
    BadPlan {
        /// The pattern, the types, or another part of the plan.
        input: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A message that cannot be written as a line of a query file.
    #[error("query {query} (counted from 0) has no place in a query file: {why}")]
    NotAQuestion {
        /// Its place in the stream, counted from 0.
        query: usize,
        /// What it is instead.
        why: &'static str,
    },
    /// A query log that has nothing to do with the zone.
    #[error(
        "none of the {questions} questions of the query log is for {zone}; it begins with {examples}. Give a log of this zone's server, or the zone that was asked"
    )]
    NotOfZone {
        /// Questions in the log.
        questions: usize,
        /// The zone's apex.
        zone: String,
        /// The first few names.
        examples: String,
    },
    /// No question of the log, or no name of the zone, has an answer with data.
    #[error("no stream of existing names can be made: {why}")]
    NothingExists {
        /// What is missing.
        why: String,
    },
    /// Every name made up exists: a wildcard covers it.
    #[error(
        "no stream of denial can be made for {zone}: of {tries} random names none was found not to exist; a wildcard or delegation seems to cover all names"
    )]
    NothingDenied {
        /// The zone's apex.
        zone: String,
        /// Names tried.
        tries: u32,
    },
    /// A query that does not continue a timed stream.
    #[error("query {query} (counted from 0) cannot be appended to the stream: {why}")]
    Timing {
        /// The query's place in the stream, counted from 0.
        query: usize,
        /// What is wrong with its time or client.
        why: &'static str,
    },
    /// The stream cannot be written.
    #[error("{}: cannot write the query file: {source}; nothing was left under this name that was not there before", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The stream cannot be written to standard output.
    #[error("standard output: cannot write the query file: {source}")]
    Output {
        /// The system's reason.
        source: io::Error,
    },
}

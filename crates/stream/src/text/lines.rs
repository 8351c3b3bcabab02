//! Lines of text files and the fields in them.

use crate::error::{BadLines, StreamError};
use crate::halt::{Halt, MAX_LINE_READ, MAX_LINES};
use crate::input::{Watch, open};
use dnsrig_zone::Name;
use domain::base::iana::Rtype;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

/// The longest line: room for a name of 1,004 characters (every octet escaped), and for RDATA and options of some size.
const MAX_LINE: usize = 65_536;
/// Bad lines after which a file that must have none is read no further.
const MAX_BAD: u64 = 100_000;

/// Why a line is not taken.
pub enum LineFault {
    /// The line is wrong.
    Bad(String),
    /// No line will be taken any more.
    Halt(Halt),
}

impl From<String> for LineFault {
    fn from(reason: String) -> Self {
        Self::Bad(reason)
    }
}

impl From<&str> for LineFault {
    fn from(reason: &str) -> Self {
        Self::Bad(reason.to_owned())
    }
}

impl From<Halt> for LineFault {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

/// The line whose message is the longest so far.
#[derive(Default)]
pub struct LongestLine {
    octets: usize,
    line: Option<u64>,
}

impl LongestLine {
    /// Notes the length of the message of line `line`.
    pub fn note(&mut self, octets: usize, line: u64) {
        if octets > self.octets {
            self.octets = octets;
            self.line = Some(line);
        }
    }

    /// Its number, counted from 1; `None` if there is no message.
    pub fn line(&self) -> Option<u64> {
        self.line
    }
}

/// Opens the file at `path`, plain or compressed, for reading lines.
pub fn open_text<'c>(path: &Path, cancel: &'c AtomicBool) -> io::Result<impl BufRead + use<'c>> {
    Ok(BufReader::with_capacity(
        1 << 18,
        open(path, Watch::uncounted(cancel))?,
    ))
}

/// How many bad lines a file may have before the rest of it is left unread.
pub fn most_bad(skip_bad: bool) -> u64 {
    if skip_bad { u64::MAX } else { MAX_BAD }
}

/// Gives `line` the number and the text of one line after the other; it says what is wrong with them, if anything is.
/// After `most_bad` bad lines the rest is left unread.
///
/// # Errors
/// Those of reading, with a [`Halt`] inside where the file has lines of no end, or `line` wants no more.
pub fn each_line(
    mut text: impl BufRead,
    most_bad: u64,
    mut line: impl FnMut(u64, &str) -> Result<(), LineFault>,
) -> io::Result<BadLines> {
    let mut bad = BadLines::default();
    let mut octets = Vec::new();
    for number in 1.. {
        octets.clear();
        if !read_line(&mut text, number, &mut octets)? {
            break;
        }
        if number > MAX_LINES {
            return Err(Halt::TooManyLines.into());
        }
        let text = ascii(&octets).map_err(LineFault::Bad);
        match text.and_then(|text| line(number, text)) {
            Ok(()) => {}
            Err(LineFault::Halt(halt)) => return Err(halt.into()),
            Err(LineFault::Bad(reason)) => {
                bad.add(number, reason);
                if bad.count() >= most_bad {
                    bad.leave_rest();
                    break;
                }
            }
        }
    }
    Ok(bad)
}

/// Refuses a file with bad lines, unless they are to be left out; gives their number.
pub fn accept(
    path: &Path,
    bad: BadLines,
    skip_bad: bool,
    expected: &'static str,
) -> Result<u64, StreamError> {
    if bad.count() > 0 && !skip_bad {
        return Err(StreamError::BadLines {
            file: path.to_owned(),
            expected,
            lines: bad,
        });
    }
    Ok(bad.count())
}

/// Reads up to and with the next line feed, the end of line `number`; keeps at most `MAX_LINE` + 1 octets, so that no input
/// takes all memory.
fn read_line(text: &mut impl BufRead, number: u64, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut read = 0;
    loop {
        let available = text.fill_buf()?;
        if available.is_empty() {
            return Ok(read > 0);
        }
        let end = available.iter().position(|&octet| octet == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        let room = (MAX_LINE + 1).saturating_sub(line.len());
        line.extend_from_slice(&available[..taken.min(room)]);
        text.consume(taken);
        read += taken;
        if read > MAX_LINE_READ {
            return Err(Halt::LongLine(number).into());
        }
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// The text of a line.
fn ascii(line: &[u8]) -> Result<&str, String> {
    if line.len() > MAX_LINE {
        return Err(format!("longer than {MAX_LINE} octets"));
    }
    std::str::from_utf8(line)
        .ok()
        .filter(|text| text.is_ascii())
        .ok_or_else(|| "not ASCII; write other octets of a name as \\DDD".to_owned())
}

/// Whether a field begins a comment: `;` as in dnsperf, or `#`.
pub fn is_comment(field: &str) -> bool {
    field.starts_with([';', '#'])
}

/// Reads an absolute name, with or without the final dot.
pub fn name(text: &str) -> Result<Name, String> {
    Name::from_str(text).map_err(|error| format!("'{text}' is not a domain name: {error}"))
}

/// Reads a record type.
pub fn rtype(text: &str) -> Result<Rtype, String> {
    Rtype::from_str(text).map_err(|_| format!("'{text}' is not a record type"))
}

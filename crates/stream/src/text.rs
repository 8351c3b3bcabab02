//! Query files as dnsperf reads them: a name and a type on each line.
//!
//! Empty lines and lines that begin with `;` (as in dnsperf) or `#` are passed over. Names are absolute with or without
//! the final dot, with escapes as in master files (RFC 1035 section 5.1); types are mnemonics or `TYPEnnn` (RFC 3597). The
//! class `IN` may follow.

use crate::error::{BadLines, StreamError};
use crate::questions::{Question, Questions};
use bytes::Bytes;
use dnsrig_zone::{Name, PresentationName, write_whole};
use domain::base::iana::Rtype;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::str::FromStr;

/// A longer line is no question: a name takes at most 1,004 characters with every octet escaped.
const MAX_LINE: usize = 4096;

/// The questions of a query file, and how many of its lines were left out.
#[derive(Clone, Debug, Default)]
pub struct QueryLog {
    /// The questions in the file's order.
    pub questions: Questions,
    /// Bad lines that were left out.
    pub skipped: u64,
}

impl QueryLog {
    /// Reads the query file at `path`; with `skip_bad`, lines that are no questions are left out and counted.
    ///
    /// # Errors
    /// [`StreamError::Read`], [`StreamError::BadLines`] with line numbers, or [`StreamError::Empty`].
    pub fn read(path: &Path, skip_bad: bool) -> Result<Self, StreamError> {
        let failed = |source| StreamError::Read {
            file: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let (questions, bad) = parse(BufReader::with_capacity(1 << 16, file)).map_err(failed)?;
        if bad.count() > 0 && !skip_bad {
            return Err(StreamError::BadLines {
                file: path.to_owned(),
                lines: bad,
            });
        }
        if questions.is_empty() {
            return Err(StreamError::Empty {
                file: path.to_owned(),
            });
        }
        Ok(Self {
            questions,
            skipped: bad.count(),
        })
    }
}

/// Reads questions from text.
///
/// # Errors
/// Only those of reading; what is wrong with the text comes back as bad lines.
pub fn parse(mut text: impl BufRead) -> io::Result<(Questions, BadLines)> {
    let mut questions = Questions::default();
    let mut bad = BadLines::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if !read_line(&mut text, &mut line)? {
            break;
        }
        match parse_line(&line) {
            Ok(None) => {}
            Ok(Some((name, rtype))) => questions.push(Question {
                name: name.for_slice(),
                rtype,
            }),
            Err(reason) => bad.add(number, reason),
        }
    }
    Ok((questions, bad))
}

/// Reads up to and with the next line feed; keeps at most `MAX_LINE` + 1 octets, so that no input takes all memory.
fn read_line(text: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut any = false;
    loop {
        let available = text.fill_buf()?;
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = available.iter().position(|&octet| octet == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        let room = (MAX_LINE + 1).saturating_sub(line.len());
        line.extend_from_slice(&available[..taken.min(room)]);
        text.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn parse_line(line: &[u8]) -> Result<Option<(Name, Rtype)>, String> {
    if line.len() > MAX_LINE {
        return Err(format!("longer than {MAX_LINE} octets"));
    }
    let text = std::str::from_utf8(line)
        .ok()
        .filter(|text| text.is_ascii())
        .ok_or("not ASCII; write other octets of a name as \\DDD")?;
    let mut fields = text.split_ascii_whitespace();
    let Some(name) = fields.next().filter(|name| !name.starts_with([';', '#'])) else {
        return Ok(None);
    };
    let rtype = fields
        .next()
        .ok_or_else(|| format!("'{name}' without a type after it"))?;
    // dnsperf lets the class stand there, which some logs have.
    let mut surplus = fields.filter(|field| !field.eq_ignore_ascii_case("IN"));
    if let Some(surplus) = surplus.next() {
        return Err(format!("'{surplus}' after the type"));
    }
    let name =
        Name::from_str(name).map_err(|error| format!("'{name}' is not a domain name: {error}"))?;
    let rtype = Rtype::from_str(rtype).map_err(|_| format!("'{rtype}' is not a record type"))?;
    Ok(Some((name, rtype)))
}

/// Writes questions as a query file: beside, then renamed.
///
/// # Errors
/// [`StreamError::Write`]; then nothing new is under `path`.
pub fn write(questions: &Questions, path: &Path) -> Result<(), StreamError> {
    write_whole(path, |target| write_to(questions, target)).map_err(|source| StreamError::Write {
        file: path.to_owned(),
        source,
    })
}

/// Writes questions as text, one a line.
///
/// # Errors
/// Those of `target`.
pub fn write_to(questions: &Questions, mut target: impl Write) -> io::Result<()> {
    for question in questions.iter() {
        let name = Name::from_octets(Bytes::copy_from_slice(question.name.as_slice()))
            .expect("a whole name");
        let name = PresentationName(&name).to_string();
        // Unescaped, it would begin a comment.
        let escape = if name.starts_with('#') { "\\" } else { "" };
        writeln!(target, "{escape}{name} {}", question.rtype)?;
    }
    Ok(())
}

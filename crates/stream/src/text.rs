//! Query files as dnsperf reads them: a name and a type on each line.
//!
//! Empty lines and lines that begin with `;` (as in dnsperf) or `#` are passed over. Names are absolute with or without
//! the final dot, with escapes as in master files (RFC 1035 section 5.1); types are mnemonics or `TYPEnnn` (RFC 3597). The
//! class `IN` may follow.
//!
//! [`queries`] reads the same lines with a class and options into messages, [`updates`] dnsperf's format of dynamic
//! updates.

mod lines;
pub mod queries;
mod query_line;
mod update_line;
pub mod updates;

use self::lines::{accept, each_line, most_bad, open_text};
use crate::error::{BadLines, StreamError};
use crate::input::failure;
use crate::questions::{Question, Questions};
use bytes::Bytes;
use dnsrig_zone::{Name, PresentationName, write_whole};
use domain::base::iana::Rtype;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Octets written to standard output by one system call.
const OUTPUT_BUFFER_LEN: usize = 1 << 16;

/// What a line should be, for errors.
const A_LINE: &str = "a line is a name and a type, such as 'www.example.test A'";

/// The questions of a query file, and how many of its lines were left out.
#[derive(Clone, Debug, Default)]
pub struct QueryLog {
    /// The questions in the file's order.
    pub questions: Questions,
    /// Bad lines that were left out.
    pub skipped: u64,
}

impl QueryLog {
    /// Reads the query file at `path` (`-` is standard input; gzip, zstd and xz are decompressed); with `skip_bad`, lines that
    /// are no questions are left out and counted.
    ///
    /// # Errors
    /// [`StreamError::Read`], [`StreamError::BadLines`] with line numbers, [`StreamError::Empty`], or
    /// [`StreamError::Interrupted`] once `cancel` is set.
    pub fn read(path: &Path, skip_bad: bool, cancel: &AtomicBool) -> Result<Self, StreamError> {
        let failed = |source| failure(path, source);
        let text = open_text(path, cancel).map_err(failed)?;
        let (questions, bad) = parse_until(text, most_bad(skip_bad)).map_err(failed)?;
        let skipped = accept(path, bad, skip_bad, A_LINE)?;
        if questions.is_empty() {
            return Err(StreamError::Empty {
                file: path.to_owned(),
                what: "question",
                expected: A_LINE,
            });
        }
        Ok(Self { questions, skipped })
    }
}

/// Reads questions from text.
///
/// # Errors
/// Only those of reading; what is wrong with the text comes back as bad lines.
pub fn parse(text: impl BufRead) -> io::Result<(Questions, BadLines)> {
    parse_until(text, u64::MAX)
}

fn parse_until(text: impl BufRead, most_bad: u64) -> io::Result<(Questions, BadLines)> {
    let mut questions = Questions::default();
    let bad = each_line(text, most_bad, |_, line| {
        if let Some((name, rtype)) = parse_line(line)? {
            questions.try_push(Question {
                name: name.for_slice(),
                rtype,
            })?;
        }
        Ok(())
    })?;
    Ok((questions, bad))
}

fn parse_line(line: &str) -> Result<Option<(Name, Rtype)>, String> {
    let mut fields = line.split_ascii_whitespace();
    let Some(name) = fields.next().filter(|name| !lines::is_comment(name)) else {
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
    Ok(Some((lines::name(name)?, lines::rtype(rtype)?)))
}

/// Writes questions as a query file: beside, then renamed; to standard output if `path` is `-`.
///
/// # Errors
/// [`StreamError::Write`]; then nothing new is under `path`. [`StreamError::Output`], if it is `-`.
pub fn write(questions: &Questions, path: &Path) -> Result<(), StreamError> {
    if path == Path::new("-") {
        return write_to_output(questions).map_err(|source| StreamError::Output { source });
    }
    write_whole(path, |target| write_to(questions, target)).map_err(|source| StreamError::Write {
        file: path.to_owned(),
        source,
    })
}

fn write_to_output(questions: &Questions) -> io::Result<()> {
    // Not by way of `io::stdout`, which makes a system call for each line.
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut target = BufWriter::with_capacity(OUTPUT_BUFFER_LEN, output);
    write_to(questions, &mut target)?;
    target.flush()
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

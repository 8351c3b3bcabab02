//! Dynamic updates in dnsperf's format (its `-u`), as UPDATE messages (RFC 2136).
//!
//! The first line of a block is the zone. Lines with `require` and `prohibit` are prerequisites, those with `add` and
//! `delete` updates; `send` ends the message. Names without a final dot are relative to the zone, also in data.

use super::lines::{self, LineFault, LongestLine, accept, each_line, most_bad, open_text};
use super::queries::TextSummary;
use super::update_line::{self, Section, take_field};
use crate::error::{BadLines, StreamError};
use crate::input::failure;
use crate::message::{HEADER_LEN, MessageOptions, append_opt};
use crate::stream::QueryStream;
use dnsrig_zone::Name;
use domain::base::iana::{Class, Rtype};
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What a block should be, for errors.
const A_BLOCK: &str =
    "an update is the zone's name, lines such as 'add www 3600 A 192.0.2.1', and 'send'";
/// The header's second line: opcode UPDATE (RFC 2136 section 2.2).
const UPDATE_FLAGS: u16 = 5 << 11;
const MAX_MESSAGE: usize = u16::MAX as usize;

/// Reads the updates of the file at `path` (`-` is standard input; gzip, zstd and xz are decompressed). Of `options` those of
/// the OPT record count; an UPDATE message has no RD, CD or AD bit. With `skip_bad`, updates with a bad line are left out
/// and their bad lines counted.
///
/// # Errors
/// [`StreamError::Read`], [`StreamError::BadLines`] with line numbers, [`StreamError::Empty`], or
/// [`StreamError::Interrupted`] once `cancel` is set.
pub fn read(
    path: &Path,
    options: &MessageOptions,
    skip_bad: bool,
    cancel: &AtomicBool,
) -> Result<(QueryStream, TextSummary), StreamError> {
    let failed = |source| failure(path, source);
    let text = open_text(path, cancel).map_err(failed)?;
    let (stream, bad) = parse_until(text, options, most_bad(skip_bad)).map_err(failed)?;
    let skipped = accept(path, bad, skip_bad, A_BLOCK)?;
    if stream.is_empty() {
        return Err(StreamError::Empty {
            file: path.to_owned(),
            what: "update",
            expected: A_BLOCK,
        });
    }
    let summary = TextSummary {
        queries: stream.len(),
        skipped,
        ..TextSummary::default()
    };
    Ok((stream, summary))
}

/// Reads updates from text.
///
/// # Errors
/// Only those of reading; what is wrong with the text comes back as bad lines.
pub fn parse(text: impl BufRead, options: &MessageOptions) -> io::Result<(QueryStream, BadLines)> {
    parse_until(text, options, u64::MAX)
}

fn parse_until(
    text: impl BufRead,
    options: &MessageOptions,
    most_bad: u64,
) -> io::Result<(QueryStream, BadLines)> {
    let mut updates = Updates::default();
    let mut last_line = 0;
    let mut bad = each_line(text, most_bad, |number, line| {
        last_line = number;
        updates.line(number, line, options)
    })?;
    if let Some(block) = updates.block {
        let reason = format!(
            "the update that began at line {} has no 'send'",
            block.first_line
        );
        bad.add(last_line, reason);
    }
    let mut stream = updates.stream;
    stream.set_longest_line(updates.longest.line());
    Ok((stream, bad))
}

#[derive(Default)]
struct Updates {
    stream: QueryStream,
    block: Option<Block>,
    longest: LongestLine,
    message: Vec<u8>,
}

/// An update that is not sent yet.
struct Block {
    first_line: u64,
    /// `None` once a line was bad: then the rest is passed over.
    update: Option<Update>,
}

struct Update {
    zone: Name,
    prerequisites: Records,
    updates: Records,
}

#[derive(Default)]
struct Records {
    octets: Vec<u8>,
    count: u16,
}

impl Updates {
    fn line(&mut self, number: u64, line: &str, options: &MessageOptions) -> Result<(), LineFault> {
        let mut rest = line;
        let Some(first) = take_field(&mut rest).filter(|first| !lines::is_comment(first)) else {
            return Ok(());
        };
        let Some(block) = &mut self.block else {
            if first == "send" {
                return Err("'send' without an update before it".into());
            }
            let begun = begin(first, rest);
            let (update, result) = match begun {
                Ok(update) => (Some(update), Ok(())),
                Err(reason) => (None, Err(reason)),
            };
            self.block = Some(Block {
                first_line: number,
                update,
            });
            return Ok(result?);
        };
        if first != "send" {
            let Some(update) = &mut block.update else {
                return Ok(());
            };
            let result = update.add(first, rest);
            if result.is_err() {
                block.update = None;
            }
            return Ok(result?);
        }
        let update = self.block.take().and_then(|block| block.update);
        match update {
            Some(update) => self.send(number, &update, options),
            None => Ok(()),
        }
    }

    fn send(
        &mut self,
        number: u64,
        update: &Update,
        options: &MessageOptions,
    ) -> Result<(), LineFault> {
        self.message.clear();
        update.compose(&mut self.message);
        append_opt(options, &mut self.message, 0);
        if self.message.len() > MAX_MESSAGE {
            return Err(too_long(self.message.len()).into());
        }
        self.longest.note(self.message.len(), number);
        Ok(self.stream.try_push(&self.message)?)
    }
}

fn begin(zone: &str, rest: &str) -> Result<Update, String> {
    if !rest.is_empty() {
        return Err(format!(
            "'{rest}' after the zone's name '{zone}', with which an update begins"
        ));
    }
    if ["require", "prohibit", "add", "delete"].contains(&zone) {
        return Err(format!(
            "'{zone}' where an update begins with the zone's name"
        ));
    }
    Ok(Update {
        zone: lines::name(zone)?,
        prerequisites: Records::default(),
        updates: Records::default(),
    })
}

fn too_long(len: usize) -> String {
    format!("the message has {len} octets, more than {MAX_MESSAGE}; split the update")
}

impl Update {
    fn add(&mut self, command: &str, rest: &str) -> Result<(), String> {
        let mut record = Vec::new();
        let section = update_line::compose(command, rest, &self.zone, &mut record)?;
        let len =
            HEADER_LEN + self.prerequisites.octets.len() + self.updates.octets.len() + record.len();
        if len > MAX_MESSAGE {
            return Err(too_long(len));
        }
        let records = match section {
            Section::Prerequisite => &mut self.prerequisites,
            Section::Update => &mut self.updates,
        };
        records.octets.extend_from_slice(&record);
        // A record takes 11 octets or more, so that the count fits where the length does.
        records.count += 1;
        Ok(())
    }

    /// Appends the message with ID zero: the zone in the question's place, then both sections.
    fn compose(&self, message: &mut Vec<u8>) {
        let counts = [1, self.prerequisites.count, self.updates.count, 0];
        for field in [0, UPDATE_FLAGS].into_iter().chain(counts) {
            message.extend_from_slice(&field.to_be_bytes());
        }
        message.extend_from_slice(self.zone.as_slice());
        message.extend_from_slice(&Rtype::SOA.to_int().to_be_bytes());
        message.extend_from_slice(&Class::IN.to_int().to_be_bytes());
        message.extend_from_slice(&self.prerequisites.octets);
        message.extend_from_slice(&self.updates.octets);
    }
}

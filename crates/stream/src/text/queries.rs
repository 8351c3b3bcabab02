//! Query files read into messages: dnsperf's lines, with a class and options for each line.
//!
//! A line is `name type [class] [key=value ...]`. The keys change what all messages have: `rd`, `cd`, `ad`, `do`, `nsid` and
//! `cookie` are 0 or 1, `edns` is the payload size, `padding` the block length, `ecs` a prefix such as `192.0.2.0/24`,
//! `option` is `CODE:HEX` and may be repeated. `time=SECONDS` (at most nine decimals) on every line makes a timed stream;
//! `client=` with a number or an address says whose query it is.

use super::lines::{LineFault, LongestLine, accept, each_line, most_bad, open_text};
pub use super::query_line::Client;
use super::query_line::{self, QueryLine};
use crate::error::{BadLines, StreamError};
use crate::halt::Halt;
use crate::input::failure;
use crate::message::MessageOptions;
use crate::stream::QueryStream;
use crate::timed::{ClientNumbers, ClockJump, TimedQueries, Times};
use serde::Serialize;
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What a line should be, for errors.
const A_LINE: &str =
    "a line is a name, a type, perhaps a class and options, such as 'www.example.test A do=1'";

/// What a query file held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextSummary {
    /// Queries in the stream.
    pub queries: usize,
    /// Bad lines that were left out.
    pub skipped: u64,
    /// Clients of a timed stream; else 0.
    pub clients: u32,
    /// Time from the first query to the last in ns; 0 unless the stream is timed.
    pub span_ns: u64,
    /// Queries that stood after one with a later time, and were sorted.
    pub out_of_order: u64,
    /// Where the times jump by more than can be replayed.
    #[serde(skip)]
    pub clock_jump: Option<ClockJump>,
}

/// Reads the query file at `path` (`-` is standard input; gzip, zstd and xz are decompressed) into messages that have
/// `options`. With `skip_bad`, bad lines are left out and counted.
///
/// # Errors
/// [`StreamError::Read`], [`StreamError::BadLines`] with line numbers, [`StreamError::Empty`],
/// [`StreamError::ClockJump`], or [`StreamError::Interrupted`] once `cancel` is set.
pub fn read(
    path: &Path,
    options: &MessageOptions,
    skip_bad: bool,
    cancel: &AtomicBool,
) -> Result<(QueryStream, TextSummary), StreamError> {
    let failed = |source| failure(path, source);
    let text = open_text(path, cancel).map_err(failed)?;
    let (stream, mut summary, bad) =
        parse_until(text, options, most_bad(skip_bad)).map_err(failed)?;
    summary.skipped = accept(path, bad, skip_bad, A_LINE)?;
    if stream.is_empty() {
        return Err(StreamError::Empty {
            file: path.to_owned(),
            what: "question",
            expected: A_LINE,
        });
    }
    if let Some(jump) = summary.clock_jump {
        return Err(StreamError::ClockJump {
            file: path.to_owned(),
            place: "line",
            jump,
            advice: "mend time= there, or split the file",
        });
    }
    Ok((stream, summary))
}

/// One query of a query file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextQuery<'a> {
    /// Its message, the ID zero.
    pub message: &'a [u8],
    /// Its time in ns, if the file has times.
    pub time_ns: Option<i64>,
    /// Its client, if the line names one.
    pub client: Option<Client>,
    /// Its line, counted from 1.
    pub line: u64,
}

/// Reads the query file at `path` as [`read`] does, but gives each query to `sink`, in the file's order, and keeps none;
/// `sink` ends the reading by breaking. Gives the number of bad lines that were left out.
///
/// # Errors
/// [`StreamError::Read`], [`StreamError::BadLines`] with line numbers after all other lines were given to `sink`, or
/// [`StreamError::Interrupted`] once `cancel` is set.
pub fn each(
    path: &Path,
    options: &MessageOptions,
    skip_bad: bool,
    cancel: &AtomicBool,
    mut sink: impl FnMut(TextQuery<'_>) -> ControlFlow<()>,
) -> Result<u64, StreamError> {
    let failed = |source| failure(path, source);
    let text = open_text(path, cancel).map_err(failed)?;
    let (mut message, mut is_timed, mut is_over) = (Vec::new(), None, false);
    let read = each_line(text, most_bad(skip_bad), |number, line| {
        let Some(query) = query_line::parse(line, options)? else {
            return Ok(());
        };
        check_time(&query, *is_timed.get_or_insert(query.time_ns.is_some()))?;
        message.clear();
        query.compose(options, &mut message);
        let given = sink(TextQuery {
            message: &message,
            time_ns: query.time_ns,
            client: query.client,
            line: number,
        });
        is_over = given.is_break();
        match is_over {
            // Nothing is wrong; the caller has enough.
            true => Err(Halt::Cancelled.into()),
            false => Ok(()),
        }
    });
    match read {
        Err(_) if is_over => Ok(0),
        Err(error) => Err(failed(error)),
        Ok(bad) => accept(path, bad, skip_bad, A_LINE),
    }
}

/// Refuses a query that has a time where the first one has none, or none where that has one.
fn check_time(query: &QueryLine, is_timed: bool) -> Result<(), String> {
    let why = match (is_timed, query.time_ns) {
        (false, Some(_)) => "has a time, and lines before it have none",
        (true, None) => "has no time=SECONDS, and lines before it have one",
        (false, None) if query.client.is_some() => {
            "has a client but no time; client= goes with time=SECONDS"
        }
        _ => return Ok(()),
    };
    Err(why.into())
}

/// Reads messages from text.
///
/// # Errors
/// Only those of reading; what is wrong with the text comes back as bad lines.
pub fn parse(
    text: impl BufRead,
    options: &MessageOptions,
) -> io::Result<(QueryStream, TextSummary, BadLines)> {
    parse_until(text, options, u64::MAX)
}

fn parse_until(
    text: impl BufRead,
    options: &MessageOptions,
    most_bad: u64,
) -> io::Result<(QueryStream, TextSummary, BadLines)> {
    let mut queries = Queries::default();
    let bad = each_line(text, most_bad, |number, line| {
        match query_line::parse(line, options)? {
            Some(query) => queries.push(number, query, options),
            None => Ok(()),
        }
    })?;
    let (stream, times) = queries.finish()?;
    let summary = TextSummary {
        queries: stream.len(),
        skipped: bad.count(),
        clients: stream.client_count(),
        span_ns: stream.span_ns(),
        out_of_order: times.out_of_order,
        clock_jump: times.clock_jump,
    };
    Ok((stream, summary, bad))
}

/// The queries so far: all of them have times, or none has.
#[derive(Default)]
struct Queries {
    plain: QueryStream,
    timed: TimedQueries,
    clients: ClientNumbers<Option<Client>>,
    longest: LongestLine,
    message: Vec<u8>,
}

impl Queries {
    fn push(
        &mut self,
        number: u64,
        query: QueryLine,
        base: &MessageOptions,
    ) -> Result<(), LineFault> {
        let is_first = self.plain.is_empty() && self.timed.len() == 0;
        let is_timed = match is_first {
            true => query.time_ns.is_some(),
            false => self.timed.len() > 0,
        };
        check_time(&query, is_timed)?;
        let longest = &mut self.longest;
        let mut compose = |message: &mut Vec<u8>| {
            let start = message.len();
            query.compose(base, message);
            longest.note(message.len() - start, number);
        };
        match query.time_ns {
            Some(time_ns) => {
                let client = self.clients.number(query.client)?;
                Ok(self.timed.push(time_ns, client, number, compose)?)
            }
            None => {
                self.message.clear();
                compose(&mut self.message);
                Ok(self.plain.try_push(&self.message)?)
            }
        }
    }

    fn finish(self) -> Result<(QueryStream, Times), Halt> {
        let (mut stream, times) = if self.timed.len() > 0 {
            self.timed.finish()?
        } else {
            (self.plain, Times::default())
        };
        stream.set_longest_line(self.longest.line());
        Ok((stream, times))
    }
}

//! Profiles of captures: what [`crate::synthesise`] needs to make traffic like that of a capture, and nothing that tells whose
//! traffic it was.
//!
//! A fitted profile holds counts and distributions only: no name, no label, no address, no option's content, and no time of the
//! capture but hours of the day. Types, EDNS sizes and RCODEs that are rarer than [`RARE`] are left out, too.

mod clients;
mod counts;
mod habits;
mod histogram;
mod names;
mod pending;
mod population;
mod seconds;
mod seen;
mod tally;
#[cfg(test)]
mod tests;
mod written;

pub use written::FitSummary;

use crate::error::TrafficError;
use crate::message::Message;
use crate::read::{ReadSummary, Reading, found, messages};
use crate::write::OutputFile;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use tally::Tally;

/// How often something must be in a capture to be told of by itself.
pub const RARE: u64 = 10;

/// Messages between two looks at the cancel flag.
const CANCEL_CHECK: u64 = 1 << 12;

/// A profile that was made of captures.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The profile as TOML, with where each figure is from.
    pub text: String,
    /// What it was made of.
    pub summary: FitSummary,
    /// What was read.
    pub read: ReadSummary,
}

impl Fitted {
    /// Writes the profile to `path`; `-` is standard output. The file has its name only when it is complete.
    ///
    /// # Errors
    /// [`TrafficError::Write`] or [`TrafficError::Output`].
    pub fn write(&self, path: &Path) -> Result<(), TrafficError> {
        let mut file = OutputFile::create(path)?;
        let written = file.write_all(self.text.as_bytes());
        written.map_err(|source| file.error(source))?;
        file.finish()
    }
}

/// A profile in the making, message by message.
#[derive(Debug, Default)]
pub struct Fitting {
    tally: Tally,
}

impl Fitting {
    /// Counts a message.
    pub fn message(&mut self, message: &Message<'_>) {
        self.tally.message(message);
    }

    /// The profile `name` as TOML; `None` if there was no query, and no answer to one.
    pub fn finish(self, name: &str) -> Option<(String, FitSummary)> {
        let tally = &self.tally;
        (tally.queries.count > 0).then(|| written::write(tally, name))
    }
}

/// Makes the profile `name` of the traffic in captures. Memory is at most some 500 MB, however large they are.
///
/// # Errors
/// Those of [`messages`]; [`TrafficError::NoMessages`] if there is no query, and no answer either.
pub fn fit(reading: &Reading<'_>, name: &str) -> Result<Fitted, TrafficError> {
    let mut fitting = Fitting::default();
    let mut count = 0_u64;
    let read = messages(reading, |message| {
        fitting.message(&message);
        count += 1;
        match count.is_multiple_of(CANCEL_CHECK) && reading.cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    if reading.cancel.load(Ordering::Relaxed) {
        return Err(TrafficError::Interrupted);
    }
    let no_queries = || TrafficError::NoMessages {
        files: reading.names(),
        found: match count {
            0 => found(&read.files, read.left_out.reasons()),
            _ => format!(
                "{count} messages, none of which is a query or an answer to one; give captures of a server or of its clients"
            ),
        },
    };
    let (text, summary) = fitting.finish(name).ok_or_else(no_queries)?;
    Ok(Fitted {
        text,
        summary,
        read,
    })
}

//! `traffic convert`: captures, query files and binary messages into one another.

use super::expression::Travel;
use super::input::{Form, Incoming, InputSummary, StandIns, each_message};
use super::pass::{Passed, Select, pass};
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::{Reading, of_which};
use crate::wire::{Header, View};
use crate::write::text::{NoLine, push_line};
use crate::write::{NoPacket, OutputFile, PcapWriter, binary, write_error};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Lines or messages that are written at once, in octets.
const BUFFER_LEN: usize = 1 << 18;

/// What is converted into what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Converting {
    /// What the files are.
    pub from: Form,
    /// What is written.
    pub to: Form,
    /// What stands for that which the files do not tell.
    #[serde(default)]
    pub stand_ins: StandIns,
}

/// What was converted.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Converted {
    /// Packets as they were.
    Packets(Passed),
    /// Messages one by one.
    Messages {
        /// What was read.
        #[serde(flatten)]
        input: InputSummary,
        /// What was written.
        #[serde(flatten)]
        written: Written,
    },
}

/// What was written, and what the form that was asked for has no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Messages written.
    pub messages_written: u64,
    /// Messages left out, by reason.
    pub messages_left_out: MessagesLeftOut,
}

/// Messages that were not written, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessagesLeftOut {
    /// Answers: query files and binary messages are what is sent to servers.
    pub answers: u64,
    /// Of which the capture holds fewer octets than were sent, or that are no whole message.
    pub malformed: u64,
    /// With an opcode other than QUERY.
    pub other_opcode: u64,
    /// With flags beside RD, AD and CD.
    pub flags: u64,
    /// With other than one question, or with records beside an OPT record.
    pub records: u64,
    /// With EDNS of another version, unknown flags, or broken options.
    pub edns: u64,
    /// From before 1970, or for a capture from after 2106.
    pub time: u64,
    /// Longer than a datagram.
    pub too_long: u64,
}

impl MessagesLeftOut {
    /// All of them.
    pub fn sum(&self) -> u64 {
        self.reasons().iter().map(|(count, _)| count).sum()
    }

    /// Each of them, with what it is.
    fn reasons(&self) -> [(u64, &'static str); 8] {
        [
            (self.answers, "answers"),
            (self.malformed, "malformed or not whole"),
            (self.other_opcode, "of another opcode"),
            (self.flags, "with other flags"),
            (self.records, "with other records or questions"),
            (self.edns, "with EDNS of another kind"),
            (self.time, "from before 1970 or after 2106"),
            (self.too_long, "too long"),
        ]
    }

    fn count(&mut self, why: NoLine) {
        *match why {
            NoLine::Answer => &mut self.answers,
            NoLine::Opcode => &mut self.other_opcode,
            NoLine::Flags => &mut self.flags,
            NoLine::Records => &mut self.records,
            NoLine::Malformed => &mut self.malformed,
            NoLine::Edns => &mut self.edns,
            NoLine::Time => &mut self.time,
        } += 1;
    }
}

/// Writes messages into a file of any form. What that has no room for is left out and counted, never changed.
#[derive(Debug)]
pub struct StreamWriter {
    target: Target,
    path: PathBuf,
    written: Written,
}

#[derive(Debug)]
enum Target {
    Capture(PcapWriter<OutputFile>),
    Octets {
        file: OutputFile,
        form: Form,
        buffer: Vec<u8>,
    },
}

impl StreamWriter {
    /// Begins to write `path`.
    ///
    /// # Errors
    /// [`TrafficError::Write`] or [`TrafficError::Output`].
    pub fn create(path: &Path, form: Form) -> Result<Self, TrafficError> {
        let file = OutputFile::create(path)?;
        let target = match form {
            Form::Capture => Target::Capture(PcapWriter::new(file)),
            Form::Text | Form::Binary => Target::Octets {
                file,
                form,
                buffer: Vec::with_capacity(BUFFER_LEN + (1 << 17)),
            },
        };
        Ok(Self {
            target,
            path: path.to_owned(),
            written: Written::default(),
        })
    }

    /// Writes a message; `is_timed` says whether its time is to be written into a query file.
    ///
    /// # Errors
    /// [`TrafficError::Write`] or [`TrafficError::Output`].
    pub fn message(&mut self, message: &Message<'_>, is_timed: bool) -> Result<(), TrafficError> {
        let left_out = &mut self.written.messages_left_out;
        let before = left_out.sum();
        match &mut self.target {
            Target::Capture(writer) => {
                let packet = writer.message(message);
                let packet = packet.map_err(|source| write_error(&self.path, source))?;
                match packet {
                    None => {}
                    Some(NoPacket::Time) => left_out.time += 1,
                    Some(_) => left_out.too_long += 1,
                }
            }
            Target::Octets { file, form, buffer } => {
                push_query(*form, message, is_timed, buffer, left_out);
                if buffer.len() >= BUFFER_LEN {
                    let written = file.write_all(buffer);
                    written.map_err(|source| write_error(&self.path, source))?;
                    buffer.clear();
                }
            }
        }
        self.written.messages_written += u64::from(left_out.sum() == before);
        Ok(())
    }

    /// What has been written.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// [`TrafficError::Write`] or [`TrafficError::Output`].
    pub fn finish(self) -> Result<Written, TrafficError> {
        let ended = match self.target {
            Target::Capture(writer) => writer.finish(),
            Target::Octets {
                mut file, buffer, ..
            } => file.write_all(&buffer).map(|()| file),
        };
        let file = ended.map_err(|source| write_error(&self.path, source))?;
        file.finish()?;
        Ok(self.written)
    }
}

/// Appends a query to what becomes a query file or binary messages.
fn push_query(
    form: Form,
    message: &Message<'_>,
    is_timed: bool,
    buffer: &mut Vec<u8>,
    left_out: &mut MessagesLeftOut,
) {
    let is_answer = Header::parse(message.octets).is_some_and(Header::is_answer);
    if is_answer {
        left_out.answers += 1;
        return;
    }
    if message.is_cut {
        left_out.malformed += 1;
        return;
    }
    if form == Form::Binary {
        left_out.too_long += u64::from(!binary::push_message(message.octets, buffer));
        return;
    }
    let time_ns = is_timed.then_some(message.time_ns);
    let client = Some(message.source.address);
    if let Err(why) = push_line(message.octets, time_ns, client, buffer) {
        left_out.count(why);
    }
}

/// Converts the files into `output`. From capture to capture packets stay as they were, those that hold nothing of DNS left
/// out.
///
/// # Errors
/// Those of [`crate::read::run`], [`TrafficError::NoMessages`], [`TrafficError::NoQueries`], [`TrafficError::Stream`],
/// [`TrafficError::Write`] and [`TrafficError::Output`].
pub fn convert(
    reading: &Reading<'_>,
    converting: &Converting,
    output: &Path,
) -> Result<Converted, TrafficError> {
    if (converting.from, converting.to) == (Form::Capture, Form::Capture) {
        let (passed, ()) = pass(reading, &Everything, &[output.to_owned()], None)?;
        return Ok(Converted::Packets(passed));
    }
    let mut writer = StreamWriter::create(output, converting.to)?;
    let input = write_all(
        reading,
        converting.from,
        &converting.stand_ins,
        |incoming| writer.message(&incoming.message, incoming.is_timed),
    )?;
    let written = writer.written();
    if written.messages_written == 0 {
        return Err(no_queries(reading, &input, &written.messages_left_out));
    }
    let written = writer.finish()?;
    Ok(Converted::Messages { input, written })
}

/// The error where nothing is written, as all was left out.
pub(super) fn no_queries(
    reading: &Reading<'_>,
    input: &InputSummary,
    left_out: &MessagesLeftOut,
) -> TrafficError {
    TrafficError::NoQueries {
        files: reading.names(),
        found: of_which(format!("{} messages", input.messages), left_out.reasons()),
    }
}

/// Gives every message to `sink` until that fails.
pub(super) fn write_all(
    reading: &Reading<'_>,
    form: Form,
    stand_ins: &StandIns,
    mut sink: impl FnMut(Incoming<'_>) -> Result<(), TrafficError>,
) -> Result<InputSummary, TrafficError> {
    let mut failed = None;
    let summary = each_message(reading, form, stand_ins, |incoming| match sink(incoming) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(summary),
    }
}

/// Everything of DNS, as it is.
pub(super) struct Everything;

impl Select for Everything {
    type Tally = ();

    fn keeps_segments(&self) -> bool {
        true
    }

    fn segment(&self, _travel: &Travel) -> Option<usize> {
        Some(0)
    }

    fn message(
        &self,
        _tally: &mut (),
        _travel: &Travel,
        _message: &Message<'_>,
        _view: Option<&View<'_>>,
    ) -> Option<usize> {
        Some(0)
    }

    fn add(_tally: &mut (), _other: ()) {}
}

//! Files of binary messages in dnsperf's format (its `-B`): each has its length before it, as on TCP (RFC 1035 section
//! 4.2.2).

use crate::error::StreamError;
use crate::halt::Halt;
use crate::input::{Watch, failure, open_plain};
use crate::stream::QueryStream;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What a file should hold, for errors.
const EXPECTED: &str = "a message is a length in two octets, then so many octets";

/// Reads the messages of the file at `path` (`-` is standard input). They are taken as they are, sound or not, except for
/// the ID, which becomes zero.
///
/// # Errors
/// [`StreamError::Read`], [`StreamError::BadMessage`] if the file ends inside a message, [`StreamError::Empty`], or
/// [`StreamError::Interrupted`] once `cancel` is set.
pub fn read(path: &Path, cancel: &AtomicBool) -> Result<QueryStream, StreamError> {
    let failed = |source| failure(path, source);
    let input = open_plain(path, Watch::uncounted(cancel)).map_err(failed)?;
    let (stream, cut) = parse(BufReader::with_capacity(1 << 18, input)).map_err(failed)?;
    if let Some(cut) = cut {
        return Err(cut.in_file(path, stream.len() as u64));
    }
    if stream.is_empty() {
        return Err(StreamError::Empty {
            file: path.to_owned(),
            what: "message",
            expected: EXPECTED,
        });
    }
    Ok(stream)
}

/// Gives each message of the file at `path` to `sink` as it is, and keeps none; `sink` ends the reading by breaking.
///
/// # Errors
/// As [`read`], but an empty file is none.
pub fn each(
    path: &Path,
    cancel: &AtomicBool,
    mut sink: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), StreamError> {
    let failed = |source| failure(path, source);
    let input = open_plain(path, Watch::uncounted(cancel)).map_err(failed)?;
    let (mut count, mut is_over) = (0, false);
    let read = each_of(BufReader::with_capacity(1 << 18, input), |message| {
        count += 1;
        is_over = sink(message).is_break();
        match is_over {
            // Nothing is wrong; the caller has enough.
            true => Err(Halt::Cancelled),
            false => Ok(()),
        }
    });
    match read {
        Err(_) if is_over => Ok(()),
        Err(error) => Err(failed(error)),
        Ok(Some(cut)) => Err(cut.in_file(path, count)),
        Ok(None) => Ok(()),
    }
}

/// A message in which the file ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutMessage {
    /// Where its length stands.
    pub offset: u64,
    /// What is missing.
    pub why: String,
}

impl CutMessage {
    /// The error for the file at `path`, in which `before` messages are whole.
    fn in_file(self, path: &Path, before: u64) -> StreamError {
        StreamError::BadMessage {
            file: path.to_owned(),
            message: before + 1,
            offset: self.offset,
            why: self.why,
        }
    }
}

/// Reads messages; also says if the last one is not whole, which then is left out.
///
/// # Errors
/// Only those of reading.
pub fn parse(input: impl Read) -> io::Result<(QueryStream, Option<CutMessage>)> {
    let mut stream = QueryStream::default();
    let cut = each_of(input, |message| {
        if let [first, second, ..] = message {
            (*first, *second) = (0, 0);
        }
        stream.try_push(message)
    })?;
    Ok((stream, cut))
}

/// Gives each message to `sink`; says if the last one is not whole, which then is left out.
fn each_of(
    mut input: impl Read,
    mut sink: impl FnMut(&mut [u8]) -> Result<(), Halt>,
) -> io::Result<Option<CutMessage>> {
    let mut offset = 0;
    let mut octets = Vec::new();
    loop {
        let cut = |why| Some(CutMessage { offset, why });
        octets.clear();
        input.by_ref().take(2).read_to_end(&mut octets)?;
        let len = match octets[..] {
            [] => return Ok(None),
            [high, low] => u16::from_be_bytes([high, low]),
            _ => return Ok(cut("ends inside its length".to_owned())),
        };
        octets.clear();
        let read = input.by_ref().take(len.into()).read_to_end(&mut octets)?;
        if read < usize::from(len) {
            let why = format!("has {read} of the {len} octets that its length says");
            return Ok(cut(why));
        }
        sink(&mut octets)?;
        offset += 2 + u64::from(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cut_message_is_named_with_its_place() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, b"\x00\x03abc\x00\x00\x00\x05xy").unwrap();
        let error = read(file.path(), &AtomicBool::new(false))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("message 3 (counted from 1, at octet 7) has 2 of the 5 octets"),
            "{error}"
        );
        let (stream, cut) = parse(&b"\x00\x03abc\x00"[..]).unwrap();
        assert_eq!(stream.message(0), b"\0\0c");
        assert_eq!(cut.unwrap().offset, 5);
    }

    #[test]
    fn a_file_without_a_message_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(
            read(file.path(), &AtomicBool::new(false)),
            Err(StreamError::Empty { .. })
        ));
    }

    proptest! {
        #[test]
        fn framed_messages_are_read_back(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20)) {
            let mut file = Vec::new();
            for message in &messages {
                file.extend_from_slice(&(message.len() as u16).to_be_bytes());
                file.extend_from_slice(message);
            }
            let (stream, cut) = parse(&file[..]).unwrap();
            prop_assert_eq!(cut, None);
            prop_assert_eq!(stream.len(), messages.len());
            for (read, message) in stream.iter().zip(&messages) {
                prop_assert_eq!(read.len(), message.len());
                prop_assert_eq!(read.get(2..), message.get(2..));
            }
        }
    }
}

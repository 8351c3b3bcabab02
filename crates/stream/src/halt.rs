//! What ends the reading or making of a stream although nothing is wrong with the reading itself.

use crate::error::StreamError;
use crate::stream::MAX_QUERIES;
use std::collections::TryReserveError;
use std::fmt;
use std::io;
use std::path::Path;

/// The longest line that is taken for one of a text file, in octets.
pub(crate) const MAX_LINE_READ: usize = 1_000_000;
/// The most lines of a text file, those without a query included.
pub(crate) const MAX_LINES: u64 = 1_000_000_000;

/// Why a stream does not go on. Inside an [`io::Error`] it passes through readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The caller asked to stop.
    Cancelled,
    /// Memory does not suffice.
    NoMemory,
    /// [`MAX_QUERIES`] are there, and more would come.
    TooManyQueries,
    /// [`MAX_LINES`] have been read, and more would come.
    TooManyLines,
    /// This line, counted from 1, is longer than [`MAX_LINE_READ`].
    LongLine(u64),
}

impl Halt {
    /// The reason in `error`, if that is what it holds.
    pub fn of(error: &io::Error) -> Option<Self> {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        let no_memory = error.kind() == io::ErrorKind::OutOfMemory;
        inner.copied().or(no_memory.then_some(Self::NoMemory))
    }

    /// The crate's error for the file at `path`.
    pub fn in_file(self, path: &Path) -> StreamError {
        let file = path.to_owned();
        match self {
            Self::Cancelled => StreamError::Interrupted,
            Self::NoMemory => StreamError::NoMemory {
                what: format!("the queries of {}", path.display()),
                advice: "give a smaller file, or more memory",
            },
            Self::TooManyQueries => StreamError::TooLong {
                file,
                limit: format!("{MAX_QUERIES} queries"),
            },
            Self::TooManyLines => StreamError::TooLong {
                file,
                limit: format!("{MAX_LINES} lines"),
            },
            Self::LongLine(line) => StreamError::LongLine {
                file,
                line,
                limit: MAX_LINE_READ,
            },
        }
    }

    /// The crate's error for `queries` queries that were to be made; `advice` says how to make fewer.
    pub fn in_making(self, queries: u64, advice: &'static str) -> StreamError {
        match self {
            Self::Cancelled => StreamError::Interrupted,
            _ => StreamError::NoMemory {
                what: format!("{queries} queries"),
                advice,
            },
        }
    }
}

impl From<TryReserveError> for Halt {
    fn from(_: TryReserveError) -> Self {
        Self::NoMemory
    }
}

impl From<Halt> for io::Error {
    fn from(halt: Halt) -> Self {
        Self::other(halt)
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "stopped by the caller",
            Self::NoMemory => "not enough memory",
            Self::TooManyQueries => "more queries than a stream has",
            Self::TooManyLines => "more lines than a file has",
            Self::LongLine(_) => "a line that is too long",
        })
    }
}

impl std::error::Error for Halt {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureOptions, ReadFault, read_from};
    use crate::text::{self, queries, updates};
    use crate::{MessageOptions, binary};
    use std::io::{BufReader, Read};

    /// Octets that come again and again.
    struct Endless {
        octets: Vec<u8>,
        place: usize,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let rest = &self.octets[self.place..];
            let len = rest.len().min(buffer.len());
            buffer[..len].copy_from_slice(&rest[..len]);
            self.place = (self.place + len) % self.octets.len();
            Ok(len)
        }
    }

    fn endless(octets: &[u8]) -> BufReader<Endless> {
        BufReader::new(Endless {
            octets: octets.repeat(1000),
            place: 0,
        })
    }

    fn queries_of(line: &[u8]) -> Option<Halt> {
        let read = queries::parse(endless(line), &MessageOptions::default());
        Halt::of(&read.unwrap_err())
    }

    #[test]
    fn endless_queries_end_with_an_error() {
        let too_many = Some(Halt::TooManyQueries);
        assert_eq!(queries_of(b"a.test A\n"), too_many);
        assert_eq!(queries_of(b"a.test A time=1\n"), too_many);
        let questions = text::parse(endless(b"a.test A\n"));
        assert_eq!(Halt::of(&questions.unwrap_err()), too_many);
        let sent = updates::parse(endless(b"a.test\nsend\n"), &MessageOptions::default());
        assert_eq!(Halt::of(&sent.unwrap_err()), too_many);
        let messages = binary::parse(endless(&[0]));
        assert_eq!(Halt::of(&messages.unwrap_err()), too_many);
        let error = Halt::TooManyQueries.in_file(Path::new("endless.txt"));
        assert!(
            error
                .to_string()
                .starts_with("endless.txt: holds more than"),
            "{error}"
        );
    }

    #[test]
    fn endless_captures_end_with_an_error() {
        // Raw IPv4 and UDP from 192.0.2.1 port 4000 to 198.51.100.53 port 53.
        let mut packet = vec![0x45, 0, 0, 45, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1];
        packet.extend_from_slice(&[198, 51, 100, 53, 15, 160, 0, 53, 0, 25, 0, 0]);
        packet.extend_from_slice(b"\0\0\x01\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01");
        let mut record = vec![0; 8];
        for _ in 0..2 {
            record.extend_from_slice(&(packet.len() as u32).to_le_bytes());
        }
        record.extend_from_slice(&packet);
        let header = [
            &[0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0][..],
            &[0; 8],
            &[0, 0, 4, 0, 101, 0, 0, 0],
        ];
        let file = io::Cursor::new(header.concat()).chain(endless(&record));
        let read = read_from(file, &CaptureOptions::default(), &mut 0);
        let Err(ReadFault::Io(error)) = read else {
            panic!("it ended");
        };
        assert_eq!(Halt::of(&error), Some(Halt::TooManyQueries));
    }

    #[test]
    fn a_line_without_end_ends_with_an_error_that_names_it() {
        let text = io::Cursor::new("a.test A\n").chain(endless(&[0]));
        let read = queries::parse(text, &MessageOptions::default());
        let halt = Halt::of(&read.unwrap_err()).unwrap();
        assert_eq!(halt, Halt::LongLine(2));
        let error = halt.in_file(Path::new("zero")).to_string();
        assert!(
            error.starts_with("zero: line 2 is longer than 1000000 octets"),
            "{error}"
        );
    }

    #[test]
    fn want_of_memory_passes_through_readers() {
        let error = io::Error::from(io::ErrorKind::OutOfMemory);
        let error = Halt::of(&error).unwrap().in_file(Path::new("q.txt"));
        assert!(
            error
                .to_string()
                .contains("memory for the queries of q.txt: give"),
            "{error}"
        );
    }
}

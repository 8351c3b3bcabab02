//! The form of messages (RFC 1035 section 4): whether octets that nothing announces can be one, and where it ends.

use crate::message::HEADER_LEN;

/// The fewest octets of a question: root, type and class.
const MIN_QUESTION: usize = 5;
/// The fewest octets of a record: root, type, class, TTL and length of the data.
pub const MIN_RECORD: usize = 11;
/// The most octets of a name.
pub const MAX_NAME: usize = 255;
/// DNS Stateful Operations (RFC 8490), whose messages have neither questions nor records.
const OPCODE_DSO: u8 = 6;
const TYPE_OPT: u16 = 41;

/// What octets can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// A message, or several; the last need not be whole.
    Messages,
    /// The beginning of a message, too short to tell.
    TooShort,
    /// Something else.
    Other,
}

/// What a message of `len` octets can be, of which `there` are there.
pub fn beginning_of_message(there: &[u8], len: usize) -> Beginning {
    let mut reader = Reader {
        there,
        at: 0,
        len,
        is_sure: false,
    };
    match reader.message() {
        Ok(()) => Beginning::Messages,
        Err(Stop::Wrong) => Beginning::Other,
        Err(Stop::End) if reader.is_sure => Beginning::Messages,
        Err(Stop::End) => Beginning::TooShort,
    }
}

/// Where the message at the start of `octets` ends, whatever comes after it; `None` if they do not begin with a whole message.
pub fn end_of_message(octets: &[u8]) -> Option<usize> {
    let mut reader = Reader {
        there: octets,
        at: 0,
        len: octets.len(),
        is_sure: false,
    };
    reader.message().is_ok().then_some(reader.at)
}

/// Why reading stops.
enum Stop {
    /// What comes now is not there yet.
    End,
    /// No message is so.
    Wrong,
}

/// Reads a message of which the end may not be there.
struct Reader<'a> {
    there: &'a [u8],
    at: usize,
    /// Octets of the whole message.
    len: usize,
    /// Whether enough was read to take it for a message.
    is_sure: bool,
}

impl<'a> Reader<'a> {
    /// Reads as far as it goes. Octets after the last record are no fault: where messages begin is all that matters.
    fn message(&mut self) -> Result<(), Stop> {
        let header = self.take(HEADER_LEN)?;
        let count =
            |place: usize| usize::from(u16::from_be_bytes([header[place], header[place + 1]]));
        let (questions, records) = (count(4), count(6) + count(8) + count(10));
        if questions + records == 0 {
            let opcode = header[2] >> 3 & 0x0F;
            self.is_sure = self.len == HEADER_LEN || opcode == OPCODE_DSO;
            return if self.is_sure {
                Ok(())
            } else {
                Err(Stop::Wrong)
            };
        }
        if questions > 1 || HEADER_LEN + questions * MIN_QUESTION + records * MIN_RECORD > self.len
        {
            return Err(Stop::Wrong);
        }
        for _ in 0..questions {
            self.name(false)?;
            let fixed = self.take(4)?;
            is_class([fixed[2], fixed[3]]).ok_or(Stop::Wrong)?;
            self.is_sure = true;
        }
        (0..records).try_for_each(|_| self.record())
    }

    fn record(&mut self) -> Result<(), Stop> {
        let owner = self.at;
        self.name(true)?;
        let is_root = self.at - owner == 1;
        let fixed = self.take(10)?;
        let is_opt = u16::from_be_bytes([fixed[0], fixed[1]]) == TYPE_OPT;
        if !(is_opt && is_root) {
            is_class([fixed[2], fixed[3]]).ok_or(Stop::Wrong)?;
        }
        let data = usize::from(u16::from_be_bytes([fixed[8], fixed[9]]));
        if self.at + data > self.len {
            return Err(Stop::Wrong);
        }
        // The messages of a zone transfer after the first need no question (RFC 5936 section 2.2).
        self.is_sure = true;
        self.take(data).map(drop)
    }

    fn name(&mut self, may_point: bool) -> Result<(), Stop> {
        let start = self.at;
        while self.at - start < MAX_NAME {
            match usize::from(self.take(1)?[0]) {
                0 => return Ok(()),
                label @ 1..64 => self.take(label).map(drop)?,
                0xC0.. if may_point => return self.take(1).map(drop),
                _ => break,
            }
        }
        Err(Stop::Wrong)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Stop> {
        let end = self.at + len;
        if end > self.len {
            return Err(Stop::Wrong);
        }
        let taken = self.there.get(self.at..end).ok_or(Stop::End)?;
        self.at = end;
        Ok(taken)
    }
}

/// Something if it is a class that messages have: IN, CH, HS, NONE or ANY.
fn is_class(octets: [u8; 2]) -> Option<()> {
    matches!(u16::from_be_bytes(octets), 1 | 3 | 4 | 254 | 255).then_some(())
}

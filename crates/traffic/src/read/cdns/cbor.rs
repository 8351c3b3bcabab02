//! CBOR (RFC 8949), as far as C-DNS needs it, read item by item.

use super::damaged;
use crate::read::source::Fault;
use std::io::{self, Read};

/// The longest string that is taken, in octets: longer than any message.
const MAX_STRING_LEN: u64 = 1 << 20;
/// How deep items are inside others that are passed over.
const MAX_DEPTH: u32 = 32;

/// The beginning of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// 0 and above.
    Unsigned(u64),
    /// -1 minus so many.
    Negative(u64),
    /// A string of so many octets; `None` for one in pieces.
    Octets(Option<u64>),
    /// Text likewise.
    Text(Option<u64>),
    /// So many items; `None` if a break ends them.
    Array(Option<u64>),
    /// So many pairs of items likewise.
    Map(Option<u64>),
    /// The number of a tag, whose item follows.
    Tag,
    /// A simple value, or a floating-point number.
    Simple,
    /// The end of an item whose length was not told.
    Break,
}

/// Items of `R`, one after the other.
pub struct Cbor<R> {
    input: R,
    /// An item that was looked at, but not taken.
    ahead: Option<Item>,
    string: Vec<u8>,
}

impl<R: Read> Cbor<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            ahead: None,
            string: Vec::new(),
        }
    }

    /// The next item; tags are passed over.
    pub fn item(&mut self) -> Result<Item, Fault> {
        if let Some(item) = self.ahead.take() {
            return Ok(item);
        }
        loop {
            match self.head()? {
                Item::Tag => {}
                item => return Ok(item),
            }
        }
    }

    fn head(&mut self) -> Result<Item, Fault> {
        let [first] = self.octets::<1>()?;
        let (kind, low) = (first >> 5, first & 0x1F);
        let number = match low {
            0..=23 => Some(low.into()),
            24 => Some(self.octets::<1>()?[0].into()),
            25 => Some(u16::from_be_bytes(self.octets()?).into()),
            26 => Some(u32::from_be_bytes(self.octets()?).into()),
            27 => Some(u64::from_be_bytes(self.octets()?)),
            31 if matches!(kind, 2..=5 | 7) => None,
            _ => return Err(damaged("an item of a form that CBOR has not")),
        };
        Ok(match (kind, number) {
            (0, Some(number)) => Item::Unsigned(number),
            (1, Some(number)) => Item::Negative(number),
            (2, len) => Item::Octets(len),
            (3, len) => Item::Text(len),
            (4, len) => Item::Array(len),
            (5, len) => Item::Map(len),
            (6, _) => Item::Tag,
            (_, Some(_)) => Item::Simple,
            (_, None) => Item::Break,
        })
    }

    fn octets<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut octets = [0; N];
        match self.input.read_exact(&mut octets) {
            Ok(()) => Ok(octets),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Fault::CutOff),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a break, if it is next.
    pub fn is_break(&mut self) -> Result<bool, Fault> {
        match self.item()? {
            Item::Break => Ok(true),
            other => {
                self.ahead = Some(other);
                Ok(false)
            }
        }
    }

    /// An unsigned number.
    pub fn unsigned(&mut self) -> Result<u64, Fault> {
        match self.item()? {
            Item::Unsigned(number) => Ok(number),
            _ => Err(damaged("something else where an unsigned number should be")),
        }
    }

    /// A number.
    pub fn integer(&mut self) -> Result<i64, Fault> {
        let number = match self.item()? {
            Item::Unsigned(number) => i64::try_from(number).ok(),
            Item::Negative(number) => i64::try_from(number).ok().map(|number| -1 - number),
            _ => None,
        };
        number.ok_or_else(|| damaged("something else where a number should be"))
    }

    /// A string of octets.
    pub fn string(&mut self) -> Result<&[u8], Fault> {
        match self.item()? {
            Item::Octets(len) => self.pieces(len),
            _ => Err(damaged("something else where octets should be")),
        }
    }

    /// A text, as octets.
    pub fn text(&mut self) -> Result<&[u8], Fault> {
        match self.item()? {
            Item::Text(len) => self.pieces(len),
            _ => Err(damaged("something else where a text should be")),
        }
    }

    /// A string of so many octets, or of pieces of its own kind up to a break.
    fn pieces(&mut self, len: Option<u64>) -> Result<&[u8], Fault> {
        self.string.clear();
        match len {
            Some(len) => self.append(len)?,
            None => loop {
                match self.item()? {
                    Item::Break => break,
                    Item::Octets(Some(len)) | Item::Text(Some(len)) => self.append(len)?,
                    _ => return Err(damaged("something else inside a string")),
                }
            },
        }
        Ok(&self.string)
    }

    fn append(&mut self, len: u64) -> Result<(), Fault> {
        let whole = self.string.len() as u64;
        if len > MAX_STRING_LEN - whole.min(MAX_STRING_LEN) {
            return Err(damaged("a string longer than any message"));
        }
        let read = self
            .input
            .by_ref()
            .take(len)
            .read_to_end(&mut self.string)?;
        match read as u64 == len {
            true => Ok(()),
            false => Err(Fault::CutOff),
        }
    }

    /// Calls `each` for every item of an array, which it must take.
    pub fn array(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        match self.item()? {
            Item::Array(Some(len)) => (0..len).try_for_each(|_| each(self)),
            Item::Array(None) => {
                while !self.is_break()? {
                    each(self)?;
                }
                Ok(())
            }
            _ => Err(damaged("something else where an array should be")),
        }
    }

    /// Calls `each` with every key of a map, all of which are numbers in C-DNS; it must take the value.
    pub fn map(
        &mut self,
        mut each: impl FnMut(&mut Self, i64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut pair = |cbor: &mut Self| {
            let key = cbor.integer()?;
            each(cbor, key)
        };
        match self.item()? {
            Item::Map(Some(len)) => (0..len).try_for_each(|_| pair(self)),
            Item::Map(None) => {
                while !self.is_break()? {
                    pair(self)?;
                }
                Ok(())
            }
            _ => Err(damaged("something else where a map should be")),
        }
    }

    /// Passes over an item.
    pub fn skip(&mut self) -> Result<(), Fault> {
        self.skip_at(0)
    }

    fn skip_at(&mut self, depth: u32) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(damaged("items too deep inside others"));
        }
        let (items, is_open) = match self.item()? {
            Item::Octets(len) | Item::Text(len) => return self.pieces(len).map(drop),
            Item::Array(len) => (len.unwrap_or(0), len.is_none()),
            Item::Map(len) => (len.unwrap_or(0).saturating_mul(2), len.is_none()),
            Item::Break => return Err(damaged("a break where nothing is open")),
            _ => return Ok(()),
        };
        (0..items).try_for_each(|_| self.skip_at(depth + 1))?;
        while is_open && !self.is_break()? {
            self.skip_at(depth + 1)?;
        }
        Ok(())
    }
}

//! C-DNS files (RFC 8618): CBOR (RFC 8949) with transactions in blocks, from which messages are made again.
//!
//! A file need not have all of a message. What it does not have is left out of the message (sections of answers, as mostly), and
//! names are compressed only where they are the question's; so how long a message was when it was sent is known only if the file
//! tells it, which [`crate::Message::sent_octets`] gives.

mod block;
mod cbor;
mod rebuild;

use super::ChunkBuffer;
use super::source::{Fault, Source};
use block::Block;
use cbor::{Cbor, Item};
use rebuild::{Rebuilt, rebuild};
use std::io::Read;
use std::vec::IntoIter;

const FILE_TYPE: &[u8] = b"C-DNS";
/// The version of the format that RFC 8618 describes.
const MAJOR_VERSION: u64 = 1;

/// Whether a file that begins with `octets` (seven or more of them) is C-DNS: an array of three, or of any number, that begins
/// with the text `C-DNS`.
pub fn is_cdns(octets: &[u8]) -> bool {
    matches!(octets.first(), Some(0x83 | 0x9F))
        && octets.get(1) == Some(&0x65)
        && octets.get(2..7) == Some(FILE_TYPE)
}

/// Reads a C-DNS file.
pub struct Cdns<R> {
    cbor: Cbor<R>,
    /// Ticks in a second by which times are told, for each set of parameters.
    ticks_per_second: Vec<u64>,
    /// Blocks that are still to come; `None` if their number is not told.
    blocks: Option<u64>,
    /// What is left of the block that is being given.
    messages: IntoIter<Rebuilt>,
    /// Messages that were given.
    number: u64,
    is_at_end: bool,
}

impl<R: Read> Cdns<R> {
    /// Reads the beginning of `input`, which should be buffered.
    ///
    /// # Errors
    /// [`Fault::NotACapture`] for other files, and for other versions of the format; or another [`Fault`].
    pub fn new(input: R) -> Result<Self, Fault> {
        let mut cbor = Cbor::new(input);
        let is_array = matches!(cbor.item()?, Item::Array(Some(3) | None));
        if !is_array || cbor.text()? != FILE_TYPE {
            return Err(Fault::NotACapture("is no C-DNS file".to_owned()));
        }
        let ticks_per_second = preamble(&mut cbor)?;
        let Item::Array(blocks) = cbor.item()? else {
            return Err(damaged("no array of blocks"));
        };
        Ok(Self {
            cbor,
            ticks_per_second,
            blocks,
            messages: Vec::new().into_iter(),
            number: 0,
            is_at_end: false,
        })
    }

    /// Makes the messages of the next block; `false` if there is none.
    fn next_block(&mut self) -> Result<bool, Fault> {
        if self.blocks == Some(0) || self.blocks.is_none() && self.cbor.is_break()? {
            return Ok(false);
        }
        self.blocks = self.blocks.map(|blocks| blocks - 1);
        let block = Block::read(&mut self.cbor)?;
        let ticks = usize::try_from(block.parameters)
            .ok()
            .and_then(|index| self.ticks_per_second.get(index));
        let ticks = *ticks.ok_or_else(|| damaged("a block whose parameters are not there"))?;
        self.messages = rebuild(&block, ticks).into_iter();
        Ok(true)
    }
}

impl<R: Read + Send> Source for Cdns<R> {
    fn format(&self) -> &'static str {
        "c-dns"
    }

    fn fill(&mut self, chunk: &mut ChunkBuffer) -> Result<(), Fault> {
        while !self.is_at_end && !chunk.is_full() {
            match self.messages.next() {
                Some(message) => {
                    self.number += 1;
                    chunk.push_message(&message.view(self.number));
                }
                None => self.is_at_end = !self.next_block()?,
            }
        }
        Ok(())
    }
}

/// Reads the file's preamble; gives the ticks per second of each set of parameters.
fn preamble<R: Read>(cbor: &mut Cbor<R>) -> Result<Vec<u64>, Fault> {
    let (mut version, mut ticks) = (None, Vec::new());
    cbor.map(|cbor, key| {
        match key {
            0 => version = Some(cbor.unsigned()?),
            3 => cbor.array(|cbor| {
                ticks.push(block_parameters(cbor)?);
                Ok(())
            })?,
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    match version {
        Some(MAJOR_VERSION) => Ok(ticks),
        Some(other) => Err(Fault::NotACapture(format!(
            "is a C-DNS file of version {other}; only version 1 (RFC 8618) can be read"
        ))),
        None => Err(damaged("a preamble without a version")),
    }
}

/// Reads a set of parameters; gives its ticks per second.
fn block_parameters<R: Read>(cbor: &mut Cbor<R>) -> Result<u64, Fault> {
    let mut ticks = None;
    cbor.map(|cbor, key| match key {
        0 => cbor.map(|cbor, key| {
            match key {
                0 => ticks = Some(cbor.unsigned()?),
                _ => cbor.skip()?,
            }
            Ok(())
        }),
        _ => cbor.skip(),
    })?;
    match ticks {
        Some(ticks @ 1..=1_000_000_000) => Ok(ticks),
        _ => Err(damaged("parameters without ticks per second")),
    }
}

fn damaged(why: &str) -> Fault {
    Fault::Damaged(why.to_owned())
}

#[cfg(test)]
mod tests;

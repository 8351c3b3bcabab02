//! Filling a chunk from a file whose packets stand one after the other.

use super::super::ChunkBuffer;
use super::super::buffer::PacketAt;
use super::Fault;
use std::io::Read;

/// What stands at a place of a file.
pub enum Item {
    /// Something of so many octets, all of which were there; a packet in it has been added.
    Whole(usize),
    /// Something of which at least so many octets must be there before it can be told.
    Needs(usize),
    /// Something of so many octets that is of no use.
    Skip(u64),
}

/// A file that is read through chunks.
pub struct Filling<R> {
    input: R,
    /// What was read after the last whole packet.
    rest: Vec<u8>,
    /// Octets after that which are of no use.
    skip: u64,
}

impl<R: Read> Filling<R> {
    /// Fills from `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            rest: Vec::new(),
            skip: 0,
        }
    }

    /// Reads exactly `len` octets, before anything else is read.
    pub fn header(&mut self, octets: &mut [u8]) -> Result<(), Fault> {
        Ok(self.input.read_exact(octets)?)
    }

    /// Fills `chunk`. `item` looks at the octets from a place on (the second argument), and adds the packet there, if it is one.
    pub fn fill(
        &mut self,
        chunk: &mut ChunkBuffer,
        mut item: impl FnMut(&[u8], usize, &mut Vec<PacketAt>) -> Result<Item, Fault>,
    ) -> Result<(), Fault> {
        let mut at = 0;
        chunk.push_octets(&self.rest);
        self.rest.clear();
        let result = loop {
            let needed = match self.take_items(chunk, &mut at, &mut item) {
                Ok(needed) => needed,
                Err(fault) => break Err(fault),
            };
            if chunk.is_full() && !chunk.packets.is_empty() {
                break Ok(());
            }
            if chunk.packets.is_empty() {
                chunk.drop_front(std::mem::take(&mut at));
            }
            match chunk.read_from(&mut self.input, needed) {
                Ok(0) if at == chunk.octets().len() && self.skip == 0 => break Ok(()),
                Ok(0) => break Err(Fault::CutOff),
                Ok(_) => {}
                Err(error) => break Err(error.into()),
            }
        };
        chunk.split_off(at, &mut self.rest);
        result
    }

    /// Takes what is whole from `at` on; gives how many octets more must be read to go on.
    fn take_items(
        &mut self,
        chunk: &mut ChunkBuffer,
        at: &mut usize,
        item: &mut impl FnMut(&[u8], usize, &mut Vec<PacketAt>) -> Result<Item, Fault>,
    ) -> Result<usize, Fault> {
        let mut packets = std::mem::take(&mut chunk.packets);
        let octets = chunk.octets();
        let needed = loop {
            if self.skip > 0 {
                let step = self.skip.min((octets.len() - *at) as u64);
                *at += step as usize;
                self.skip -= step;
            }
            if *at == octets.len() {
                break Ok(1);
            }
            match item(octets, *at, &mut packets) {
                Ok(Item::Whole(len)) => *at += len,
                Ok(Item::Skip(len)) => self.skip = len,
                Ok(Item::Needs(len)) => break Ok(*at + len - octets.len()),
                Err(fault) => break Err(fault),
            }
        };
        chunk.packets = packets;
        needed
    }
}

/// Turns the octets of a number in a file into the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least octet first.
    Little,
    /// The greatest octet first.
    Big,
}

impl ByteOrder {
    /// The number in two octets.
    #[inline]
    pub fn u16(self, octets: &[u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(*octets),
            Self::Big => u16::from_be_bytes(*octets),
        }
    }

    /// The number in four octets.
    #[inline]
    pub fn u32(self, octets: &[u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(*octets),
            Self::Big => u32::from_be_bytes(*octets),
        }
    }
}

//! Query files and files of messages.

use super::{AbandonedSession, FileSink, Sink, Transaction, Written};
use crate::error::TrafficError;
use crate::write::{OutputFile, binary, text};
use std::io::Write;

/// Octets that are written at a time.
const BLOCK_LEN: usize = 1 << 18;

/// Writes queries one after the other.
pub(in super::super) struct Lines {
    file: OutputFile,
    is_binary: bool,
    block: Vec<u8>,
    written: Written,
}

impl Lines {
    /// Writes to `file`: messages after their lengths if `is_binary`, else lines.
    pub fn new(file: OutputFile, is_binary: bool) -> Self {
        Self {
            file,
            is_binary,
            block: Vec::with_capacity(BLOCK_LEN + (1 << 16)),
            written: Written::default(),
        }
    }

    fn write_block(&mut self) -> Result<(), TrafficError> {
        let written = self.file.write_all(&self.block);
        written.map_err(|source| self.file.error(source))?;
        self.written.octets += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}

impl Sink for Lines {
    fn wants_answers(&self) -> bool {
        false
    }

    fn transaction(&mut self, transaction: &Transaction<'_>) -> Result<(), TrafficError> {
        let is_written = match self.is_binary {
            true => binary::push_message(transaction.query, &mut self.block),
            false => {
                let (time_ns, client) = (transaction.time_ns, transaction.client.address);
                text::push_line(
                    transaction.query,
                    Some(time_ns),
                    Some(client),
                    &mut self.block,
                )
                .is_ok()
            }
        };
        match is_written {
            true => self.written.items += 1,
            false => self.written.left_out += 1,
        }
        match self.block.len() >= BLOCK_LEN {
            true => self.write_block(),
            false => Ok(()),
        }
    }

    fn abandoned_session(&mut self, _: &AbandonedSession) -> Result<(), TrafficError> {
        Ok(())
    }
}

impl FileSink for Lines {
    fn finish(mut self: Box<Self>) -> Result<Written, TrafficError> {
        self.write_block()?;
        self.file.finish()?;
        Ok(self.written)
    }
}

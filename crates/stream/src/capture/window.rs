//! A file read through one buffer, from which whole pieces are lent without copying.

use std::io::{self, Read};

/// Octets that are read at once.
const READ_LEN: usize = 1 << 20;

/// The part of a file that is in memory.
#[derive(Debug)]
pub(super) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Window<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; READ_LEN],
            start: 0,
            end: 0,
        }
    }

    /// The next `len` octets; `None`, and nothing taken, if the file ends before.
    pub fn take(&mut self, len: usize) -> io::Result<Option<&[u8]>> {
        if self.end - self.start < len && !self.fill(len)? {
            return Ok(None);
        }
        let start = self.start;
        self.start += len;
        Ok(Some(&self.buffer[start..start + len]))
    }

    /// Whether the file ends here.
    pub fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.start == self.end && !self.fill(1)?)
    }

    /// Passes over `len` octets; says whether the file has them.
    pub fn skip(&mut self, mut len: u64) -> io::Result<bool> {
        while len > 0 {
            if self.is_at_end()? {
                return Ok(false);
            }
            let step = len.min((self.end - self.start) as u64);
            self.start += step as usize;
            len -= step;
        }
        Ok(true)
    }

    /// Reads until `len` octets are there; says whether they are.
    fn fill(&mut self, len: usize) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < len {
            let more = len - self.buffer.len();
            self.buffer.try_reserve_exact(more)?;
            self.buffer.resize(len, 0);
        }
        while self.end < len {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

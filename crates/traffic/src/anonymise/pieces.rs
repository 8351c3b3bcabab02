//! Small parts of messages, read and written.

use std::ops::Range;

/// Appends `len` zeros.
pub fn zeros(len: usize, output: &mut Vec<u8>) {
    output.resize(output.len() + len, 0);
}

/// Appends character strings (RFC 1035 section 3.3) of the same lengths; `None` if the last one is not whole.
pub fn write_texts(octets: &[u8], output: &mut Vec<u8>) -> Option<()> {
    let mut rest = octets;
    while let Some((&len, after)) = rest.split_first() {
        output.push(len);
        output.resize(output.len() + usize::from(len), b'x');
        rest = after.get(len.into()..)?;
    }
    Some(())
}

/// Values with a number and a length of 16 bits each before them, as EDNS options and parameters of services are; a value that
/// is not whole is the last one, without a range.
pub struct Tuples<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Tuples<'a> {
    pub fn of(octets: &'a [u8]) -> Self {
        Self { octets, at: 0 }
    }
}

impl Iterator for Tuples<'_> {
    type Item = (u16, Option<Range<usize>>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.octets.get(self.at..).filter(|rest| !rest.is_empty())?;
        let Some(&[a, b, c, d]) = rest.first_chunk() else {
            self.at = self.octets.len();
            return Some((0, None));
        };
        let start = self.at + 4;
        let end = start + usize::from(u16::from_be_bytes([c, d]));
        self.at = end;
        let range = (end <= self.octets.len()).then_some(start..end);
        Some((u16::from_be_bytes([a, b]), range))
    }
}

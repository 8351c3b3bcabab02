//! Header compression (RFC 7541): reading the header blocks of answers, and what writing those of queries takes.
//!
//! A DoH client looks at three fields of an answer. Others are decoded and checked, since the dynamic table depends on
//! their lengths, but of none of them the octets are kept: the table holds what a field means and how long it is.

use super::huffman;
use super::static_table::STATIC;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Largest size of the dynamic table, the default of SETTINGS_HEADER_TABLE_SIZE (RFC 9113 section 6.5.2).
pub const TABLE_SIZE: usize = 4_096;

/// What an entry counts beside its name and value (RFC 7541 section 4.1).
pub const ENTRY_OVERHEAD: usize = 32;

/// Integers have at most this many octets of seven bits after the first: far more than an index or length can take, and
/// far from overflow.
const MAX_INTEGER_TAIL: u32 = 4;

/// What the header block of an answer said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `:status`.
    pub status: Option<u16>,
    /// The content is announced as `application/dns-message`.
    pub is_dns_message: bool,
    /// `content-length` in octets, capped at `u32::MAX`.
    pub content_length: Option<u32>,
    /// A field has a value that it cannot have, or contradicts one before.
    pub is_malformed: bool,
}

impl Head {
    fn take(&mut self, field: Field) {
        match field {
            Field::Status(status) => {
                self.is_malformed |= self.status.replace(status).is_some();
            }
            Field::DnsMessage(is_dns_message) => self.is_dns_message = is_dns_message,
            Field::ContentLength(len) => {
                let before = self.content_length.replace(len);
                self.is_malformed |= before.is_some_and(|before| before != len);
            }
            Field::Malformed => self.is_malformed = true,
            Field::Other => {}
        }
    }
}

/// Names that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Status,
    ContentType,
    ContentLength,
    Other,
}

impl Name {
    fn new(name: &[u8]) -> Self {
        match name {
            b":status" => Self::Status,
            b"content-type" => Self::ContentType,
            b"content-length" => Self::ContentLength,
            _ => Self::Other,
        }
    }
}

/// What a name and its value mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Status(u16),
    DnsMessage(bool),
    ContentLength(u32),
    Malformed,
    Other,
}

impl Field {
    fn new(name: Name, value: &[u8]) -> Self {
        match name {
            Name::Status => match value {
                [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => Self::Status(number(value) as u16),
                _ => Self::Malformed,
            },
            Name::ContentType => Self::DnsMessage(is_dns_message(value)),
            Name::ContentLength if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                Self::ContentLength(number(value))
            }
            Name::ContentLength => Self::Malformed,
            Name::Other => Self::Other,
        }
    }
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number: u32, digit| {
        let digit = u32::from(digit - b'0');
        number.saturating_mul(10).saturating_add(digit)
    })
}

/// Whether a media type, apart from parameters, is that of RFC 8484 section 6.
fn is_dns_message(media_type: &[u8]) -> bool {
    let end = media_type.iter().position(|&octet| octet == b';');
    media_type[..end.unwrap_or(media_type.len())]
        .trim_ascii()
        .eq_ignore_ascii_case(b"application/dns-message")
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    name: Name,
    field: Field,
    name_len: usize,
    size: usize,
}

impl Entry {
    fn new(name: Name, name_len: usize, value: &[u8]) -> Self {
        Self {
            name,
            field: Field::new(name, value),
            name_len,
            size: name_len + value.len() + ENTRY_OVERHEAD,
        }
    }
}

/// The header block cannot be decoded, nor can any after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadBlock;

/// Reads the header blocks of one connection, in order.
#[derive(Debug)]
pub struct Decoder {
    /// The dynamic table, newest entry first.
    table: VecDeque<Entry>,
    size: usize,
    max_size: usize,
    /// A Huffman-coded name or value, decoded.
    scratch: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            table: VecDeque::new(),
            size: 0,
            max_size: TABLE_SIZE,
            scratch: Vec::new(),
        }
    }
}

impl Decoder {
    /// Reads a whole header block.
    ///
    /// # Errors
    /// [`BadBlock`], a connection error (RFC 9113 section 4.3).
    pub fn decode(&mut self, mut block: &[u8]) -> Result<Head, BadBlock> {
        let mut head = Head::default();
        let mut may_resize = true;
        while let Some(&first) = block.first() {
            let field = match first {
                0x80.. => self.entry(integer(&mut block, 7)?)?.field,
                0x40.. => {
                    let index = integer(&mut block, 6)?;
                    let entry = self.literal(&mut block, index)?;
                    self.insert(entry);
                    entry.field
                }
                0x20.. => {
                    let max_size = integer(&mut block, 5)?;
                    if !may_resize || max_size > TABLE_SIZE {
                        return Err(BadBlock);
                    }
                    self.max_size = max_size;
                    self.shrink_to(max_size);
                    continue;
                }
                _ => {
                    let index = integer(&mut block, 4)?;
                    self.literal(&mut block, index)?.field
                }
            };
            may_resize = false;
            head.take(field);
        }
        Ok(head)
    }

    /// The entry with an index of both tables (RFC 7541 section 2.3.3).
    fn entry(&self, index: usize) -> Result<Entry, BadBlock> {
        match index.checked_sub(1) {
            Some(at) if at < STATIC.len() => Ok(STATIC_ENTRIES[at]),
            Some(at) => self.table.get(at - STATIC.len()).copied().ok_or(BadBlock),
            None => Err(BadBlock),
        }
    }

    /// Reads what follows the index of a literal field, 0 for a literal name.
    fn literal(&mut self, block: &mut &[u8], index: usize) -> Result<Entry, BadBlock> {
        let (name, name_len) = if index == 0 {
            let name = string(block, &mut self.scratch)?;
            (Name::new(name), name.len())
        } else {
            let entry = self.entry(index)?;
            (entry.name, entry.name_len)
        };
        let value = string(block, &mut self.scratch)?;
        Ok(Entry::new(name, name_len, value))
    }

    /// An entry larger than the table empties it (RFC 7541 section 4.4).
    fn insert(&mut self, entry: Entry) {
        self.shrink_to(self.max_size.saturating_sub(entry.size));
        if entry.size <= self.max_size {
            self.size += entry.size;
            self.table.push_front(entry);
        }
    }

    fn shrink_to(&mut self, size: usize) {
        while self.size > size
            && let Some(entry) = self.table.pop_back()
        {
            self.size -= entry.size;
        }
    }
}

static STATIC_ENTRIES: LazyLock<[Entry; STATIC.len()]> = LazyLock::new(|| {
    STATIC.map(|(name, value)| Entry::new(Name::new(name.as_bytes()), name.len(), value.as_bytes()))
});

/// Reads an integer whose first part is the lowest `prefix` bits of the next octet (RFC 7541 section 5.1).
///
/// # Errors
/// [`BadBlock`]
pub fn integer(block: &mut &[u8], prefix: u32) -> Result<usize, BadBlock> {
    let (&first, mut rest) = block.split_first().ok_or(BadBlock)?;
    let mask = (1u32 << prefix) - 1;
    let mut value = u32::from(first) & mask;
    if value == mask {
        let mut shift = 0;
        loop {
            let (&octet, after) = rest.split_first().ok_or(BadBlock)?;
            rest = after;
            value += u32::from(octet & 0x7f) << shift;
            if octet & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift == 7 * MAX_INTEGER_TAIL {
                return Err(BadBlock);
            }
        }
    }
    *block = rest;
    Ok(value as usize)
}

/// Reads a string (RFC 7541 section 5.2), into `scratch` if it is Huffman-coded.
fn string<'s, 'o: 's>(
    block: &mut &'o [u8],
    scratch: &'s mut Vec<u8>,
) -> Result<&'s [u8], BadBlock> {
    let is_coded = block.first().is_some_and(|first| first & 0x80 != 0);
    let len = integer(block, 7)?;
    let (octets, rest) = block.split_at_checked(len).ok_or(BadBlock)?;
    *block = rest;
    if !is_coded {
        return Ok(octets);
    }
    scratch.clear();
    huffman::decode(octets, scratch).ok_or(BadBlock)?;
    Ok(scratch)
}

/// Appends an integer whose first octet is `first` with the value's lowest part in `prefix` bits.
pub fn append_integer(block: &mut Vec<u8>, first: u8, prefix: u32, value: usize) {
    let mask = (1usize << prefix) - 1;
    if value < mask {
        return block.push(first | value as u8);
    }
    block.push(first | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        block.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
}

/// Appends a string, not Huffman-coded.
pub fn append_string(block: &mut Vec<u8>, string: &[u8]) {
    append_integer(block, 0, 7, string.len());
    block.extend_from_slice(string);
}

#[cfg(test)]
mod tests;

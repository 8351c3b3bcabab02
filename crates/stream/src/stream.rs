//! A query stream in memory: wire messages, one after the other in one buffer.

/// An ordered set of DNS queries in wire format.
///
/// Messages are stored back to back without a length prefix; their ID is zero, for the sender to fill in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryStream {
    octets: Vec<u8>,
    /// Where each message ends in `octets`.
    ends: Vec<usize>,
}

impl QueryStream {
    /// Appends one message.
    pub fn push(&mut self, message: &[u8]) {
        self.octets.extend_from_slice(message);
        self.ends.push(self.octets.len());
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the stream holds no message.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The message at `index`, counted from zero.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    pub fn message(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.octets[start..self.ends[index]]
    }

    /// All messages in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.message(index))
    }
}

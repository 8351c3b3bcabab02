//! A name prepared for look-ups: lower-cased wire form and sort key.

/// Longest wire name (RFC 1035 section 3.1).
const MAX_WIRE: usize = 255;
/// Longest sort key: every octet of a label may take two, and a label's length octet becomes its terminator.
const MAX_KEY: usize = 2 * MAX_WIRE;

/// A domain name prepared for look-ups, to be reused from one query to the next.
///
/// Beside the lower-cased wire form it holds the *sort key*: labels from right to left, lower-cased, each ended by
/// a zero octet, octets 0 and 1 inside a label escaped as `1 1` and `1 2`. Comparing sort keys octet by octet is
/// comparing names in canonical order (RFC 4034 section 6.1), and an ancestor's key is a prefix of its descendants'.
#[derive(Clone)]
pub struct LookupName {
    wire: [u8; MAX_WIRE],
    wire_len: usize,
    label_starts: [u8; MAX_WIRE / 2],
    labels: usize,
    key: [u8; MAX_KEY],
    key_len: usize,
}

impl Default for LookupName {
    fn default() -> Self {
        Self {
            wire: [0; MAX_WIRE],
            wire_len: 1,
            label_starts: [0; MAX_WIRE / 2],
            labels: 0,
            key: [0; MAX_KEY],
            key_len: 0,
        }
    }
}

impl LookupName {
    /// Prepares `wire`, an uncompressed absolute name. Tests and set-up code use this; servers reuse one with [`Self::set`].
    pub fn from_wire(wire: &[u8]) -> Option<Self> {
        let mut name = Self::default();
        (name.set(wire)? == wire.len()).then_some(name)
    }

    /// Prepares the uncompressed absolute name at the start of `octets`; returns how many octets it takes.
    ///
    /// `None` when there is no such name there: it runs past the end, is longer than 255 octets, or is compressed.
    pub fn set(&mut self, octets: &[u8]) -> Option<usize> {
        let mut at = 0;
        self.labels = 0;
        loop {
            let len = usize::from(*octets.get(at)?);
            if len == 0 {
                break;
            }
            if len > 63 || at + len + 1 >= MAX_WIRE {
                return None;
            }
            let label = octets.get(at + 1..at + 1 + len)?;
            self.label_starts[self.labels] = at as u8;
            self.labels += 1;
            self.wire[at] = len as u8;
            for (to, from) in self.wire[at + 1..].iter_mut().zip(label) {
                *to = from.to_ascii_lowercase();
            }
            at += len + 1;
        }
        self.wire[at] = 0;
        self.wire_len = at + 1;
        self.make_key();
        Some(self.wire_len)
    }

    fn make_key(&mut self) {
        let mut end = 0;
        for &start in self.label_starts[..self.labels].iter().rev() {
            let start = usize::from(start);
            let len = usize::from(self.wire[start]);
            for &octet in &self.wire[start + 1..start + 1 + len] {
                if octet <= 1 {
                    self.key[end] = 1;
                    end += 1;
                    self.key[end] = octet + 1;
                } else {
                    self.key[end] = octet;
                }
                end += 1;
            }
            self.key[end] = 0;
            end += 1;
        }
        self.key_len = end;
    }

    /// The lower-cased wire form.
    pub fn wire(&self) -> &[u8] {
        &self.wire[..self.wire_len]
    }

    /// The number of labels, the root's not counted.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// The lower-cased wire form of the ancestor (or self) that has `labels` labels.
    pub fn suffix(&self, labels: usize) -> &[u8] {
        &self.wire[self.suffix_start(labels)..self.wire_len]
    }

    /// Where in [`Self::wire`] the ancestor (or self) that has `labels` labels begins.
    pub fn suffix_start(&self, labels: usize) -> usize {
        match self.labels.checked_sub(labels) {
            Some(skipped) if labels > 0 => usize::from(self.label_starts[skipped]),
            _ => self.wire_len - 1,
        }
    }

    /// The sort key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key[..self.key_len]
    }
}

impl<Octs: AsRef<[u8]>> From<&domain::base::Name<Octs>> for LookupName {
    fn from(name: &domain::base::Name<Octs>) -> Self {
        let mut this = Self::default();
        let taken = this.set(name.as_slice());
        debug_assert!(taken.is_some(), "a Name is a valid wire name");
        this
    }
}

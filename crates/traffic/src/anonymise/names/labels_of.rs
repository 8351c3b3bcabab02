//! Where the labels of a name are.

use crate::wire::MAX_NAME_LEN;

/// An uncompressed name in small letters, and where its labels begin.
pub struct Labels<'n> {
    name: &'n [u8],
    /// Places of the labels' length octets, the root label's not among them.
    starts: [u8; MAX_NAME_LEN / 2 + 1],
    len: usize,
}

impl<'n> Labels<'n> {
    /// Looks at `name`, which must be whole and end with its root label.
    pub fn of(name: &'n [u8]) -> Self {
        let mut labels = Self {
            name,
            starts: [0; MAX_NAME_LEN / 2 + 1],
            len: 0,
        };
        let mut at = 0;
        while let Some(&len) = name.get(at).filter(|&&len| len > 0) {
            labels.starts[labels.len] = at as u8;
            labels.len += 1;
            at += 1 + usize::from(len);
        }
        labels
    }

    /// How many labels it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The label at `place`, from the first.
    pub fn get(&self, place: usize) -> &'n [u8] {
        let start = usize::from(self.starts[place]);
        let len = usize::from(self.name[start]);
        &self.name[start + 1..start + 1 + len]
    }

    /// The label at `place`, counted from the last, which is at 0.
    pub fn nth_back(&self, place: usize) -> Option<&'n [u8]> {
        (place < self.len).then(|| self.get(self.len - 1 - place))
    }

    /// The name that begins with the label at `place`; behind the last label, the root.
    pub fn tail(&self, place: usize) -> &'n [u8] {
        match place < self.len {
            true => &self.name[usize::from(self.starts[place])..],
            false => b"\0",
        }
    }
}

/// Appends a label, which must have 1 to 63 octets, to a name that is being written.
pub fn push_label(output: &mut Vec<u8>, label: &[u8]) {
    output.push(label.len() as u8);
    output.extend_from_slice(label);
}

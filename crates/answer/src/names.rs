//! The names of a zone, as responses write them: each label once, pointing to its parent.

use foldhash::fast::RandomState;
use std::collections::HashMap;

/// A name in a [`NameTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(u32);

impl NameId {
    pub const ROOT: Self = Self(0);
}

/// Names that share their ancestors, so that two names' common part can be told by number.
#[derive(Debug)]
pub(crate) struct NameTable {
    entries: Vec<Entry>,
    labels: Vec<u8>,
}

#[derive(Debug)]
struct Entry {
    parent: NameId,
    label_start: u32,
    label_len: u8,
}

/// Adds names to a table; what it needs to find duplicates is dropped with it.
pub(crate) struct NameTableBuilder {
    table: NameTable,
    ids: HashMap<(NameId, Box<[u8]>), NameId, RandomState>,
}

impl NameTableBuilder {
    pub fn new() -> Self {
        let root = Entry {
            parent: NameId::ROOT,
            label_start: 0,
            label_len: 0,
        };
        Self {
            table: NameTable {
                entries: vec![root],
                labels: Vec::new(),
            },
            ids: HashMap::default(),
        }
    }

    /// Adds an uncompressed wire name and its ancestors. Names that differ in letter case alone are one, as first seen.
    pub fn add(&mut self, wire: &[u8]) -> NameId {
        let mut labels = Vec::new();
        let mut at = 0;
        while let Some(&len) = wire.get(at).filter(|&&len| len > 0) {
            labels.push(&wire[at + 1..at + 1 + usize::from(len)]);
            at += 1 + usize::from(len);
        }
        let mut name = NameId::ROOT;
        for label in labels.into_iter().rev() {
            let table = &mut self.table;
            name = *self
                .ids
                .entry((name, label.to_ascii_lowercase().into()))
                .or_insert_with(|| table.push(name, label));
        }
        name
    }

    pub fn finish(mut self) -> NameTable {
        self.table.entries.shrink_to_fit();
        self.table.labels.shrink_to_fit();
        self.table
    }
}

impl NameTable {
    fn push(&mut self, parent: NameId, label: &[u8]) -> NameId {
        self.entries.push(Entry {
            parent,
            label_start: self.labels.len() as u32,
            label_len: label.len() as u8,
        });
        self.labels.extend_from_slice(label);
        NameId(self.entries.len() as u32 - 1)
    }

    /// The name without its first label; the root's parent is the root.
    pub fn parent(&self, name: NameId) -> NameId {
        self.entries[name.0 as usize].parent
    }

    /// The first label, without its length.
    pub fn label(&self, name: NameId) -> &[u8] {
        let entry = &self.entries[name.0 as usize];
        let start = entry.label_start as usize;
        &self.labels[start..start + usize::from(entry.label_len)]
    }
}

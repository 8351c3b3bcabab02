//! Pseudonyms of labels, each under the name above it.
//!
//! What becomes of a label follows from the label and the whole name above it. So the tree of names keeps its shape (names
//! below one name stay below one name), and a label such as `www` has another pseudonym in every zone.

use super::labels_of::{Labels, push_label};
use super::suffixes::{KeptSuffixes, is_service};
use crate::anonymise::key::KeySet;
use crate::anonymise::labels::MAX_LABEL_LEN;
use crate::anonymise::prf::BLOCK_LEN;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Names with what became of them that are at hand; when there are more, all are forgotten.
const MAX_KNOWN: usize = 1 << 16;

/// What became of a name.
#[derive(Clone)]
struct Node {
    /// What stands for it.
    mapped: Box<[u8]>,
    /// What the pseudonyms of labels below it follow from.
    tweak: [u8; BLOCK_LEN],
    /// Whether it stays as it is.
    is_kept: bool,
}

/// Gives labels their pseudonyms.
pub struct Pseudonyms<'k> {
    keys: &'k KeySet,
    suffixes: &'k KeptSuffixes,
    known: HashMap<Box<[u8]>, Node, RandomState>,
    root: Node,
}

impl<'k> Pseudonyms<'k> {
    pub fn new(keys: &'k KeySet, suffixes: &'k KeptSuffixes) -> Self {
        Self {
            keys,
            suffixes,
            known: HashMap::default(),
            root: Node {
                mapped: Box::new([0]),
                tweak: keys.parents.mac([0; BLOCK_LEN], &[]),
                is_kept: true,
            },
        }
    }

    /// The pseudonym of a name.
    pub fn name(&mut self, labels: &Labels<'_>) -> &[u8] {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let known = (0..labels.len())
            .find(|&place| self.known.contains_key(labels.tail(place)))
            .unwrap_or(labels.len());
        for place in (0..known).rev() {
            let above = self.node(labels.tail(place + 1));
            let node = self.below(above, labels.get(place), labels.tail(place));
            self.known.insert(labels.tail(place).into(), node);
        }
        &self.node(labels.tail(0)).mapped
    }

    /// What is known of a name.
    fn node(&self, name: &[u8]) -> &Node {
        self.known.get(name).unwrap_or(&self.root)
    }

    /// What becomes of `name`, which is `label` and then the name that `above` is of.
    fn below(&self, above: &Node, label: &[u8], name: &[u8]) -> Node {
        let is_kept = above.is_kept && self.suffixes.keeps(name);
        let mut mapped = Vec::with_capacity(1 + label.len() + above.mapped.len());
        push_label(&mut mapped, label);
        mapped.extend_from_slice(&above.mapped);
        if !is_kept && !is_service(label) {
            let tail = &above.mapped;
            let is_taken = |label: &[u8]| {
                is_service(label) || above.is_kept && self.suffixes.keeps(&joined(label, tail))
            };
            let label = &mut mapped[1..=label.len()];
            self.keys.labels.encipher(above.tweak, label, is_taken);
        }
        Node {
            mapped: mapped.into(),
            tweak: self.tweak_below(above.tweak, label),
            is_kept,
        }
    }

    /// The pseudonym of `label` below the labels from `place` on, which is none that `is_kept` names; for labels of names of
    /// which other parts are mapped in another way.
    pub fn label(
        &self,
        labels: &Labels<'_>,
        place: usize,
        is_kept: impl Fn(&[u8]) -> bool,
    ) -> Pseudonym {
        let tweak = (place + 1..labels.len())
            .rev()
            .fold(self.root.tweak, |tweak, above| {
                self.tweak_below(tweak, labels.get(above))
            });
        let label = labels.get(place);
        let mut made = Pseudonym {
            octets: [0; MAX_LABEL_LEN],
            len: label.len(),
        };
        made.octets[..label.len()].copy_from_slice(label);
        let octets = &mut made.octets[..label.len()];
        self.keys.labels.encipher(tweak, octets, is_kept);
        made
    }

    fn tweak_below(&self, mut tweak: [u8; BLOCK_LEN], label: &[u8]) -> [u8; BLOCK_LEN] {
        tweak[0] ^= label.len() as u8;
        self.keys.parents.mac(tweak, label)
    }
}

/// What stands for a label.
pub struct Pseudonym {
    octets: [u8; MAX_LABEL_LEN],
    len: usize,
}

impl Pseudonym {
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

fn joined(label: &[u8], tail: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(1 + label.len() + tail.len());
    push_label(&mut name, label);
    name.extend_from_slice(tail);
    name
}

//! Distinct labels in canonical order.

use super::{Group, LabelModel};
use crate::generate::random::Random;

/// Distinct labels in order.
pub(in crate::generate) struct Labels {
    octets: Vec<u8>,
    spans: Vec<Span>,
}

/// Where a label is, and its octets from the third on, as those sort.
#[derive(Clone, Copy)]
struct Span {
    key: u64,
    start: u32,
    length: u8,
}

impl Labels {
    /// Draws `count` different labels of a group, none of them in `taken`, which is sorted; about 16 octets of memory
    /// and its own length each.
    pub fn draw(
        model: &LabelModel,
        group: &Group,
        count: usize,
        taken: &[&[u8]],
        random: &mut Random,
    ) -> Self {
        let mut labels = Self {
            octets: Vec::with_capacity(count * 13),
            spans: Vec::with_capacity(count),
        };
        let mut attempt = 0;
        while labels.spans.len() < count {
            for _ in labels.spans.len()..count {
                let start = labels.octets.len();
                model.draw(group, attempt, random, &mut labels.octets);
                labels.push_span(start);
            }
            labels.sort();
            let octets = &labels.octets;
            labels
                .spans
                .dedup_by(|a, b| a.key == b.key && a.label(octets) == b.label(octets));
            if !taken.is_empty() {
                let is_free = |span: &Span| taken.binary_search(&span.label(octets)).is_err();
                labels.spans.retain(is_free);
            }
            attempt += 1;
        }
        labels
    }

    fn push_span(&mut self, start: usize) {
        let label = &self.octets[start..];
        let mut key = [0; 8];
        let end = label.len().min(10);
        key[..end - 2].copy_from_slice(&label[2..end]);
        self.spans.push(Span {
            key: u64::from_be_bytes(key),
            start: start as u32,
            length: label.len() as u8,
        });
    }

    /// Sorts as RFC 4034 section 6.1 says: octet by octet, what is absent first.
    fn sort(&mut self) {
        let octets = &self.octets;
        self.spans.sort_by(|a, b| {
            a.key
                .cmp(&b.key)
                .then_with(|| a.label(octets).cmp(b.label(octets)))
        });
    }

    /// The labels in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| span.label(&self.octets))
    }
}

impl Span {
    fn label<'a>(&self, octets: &'a [u8]) -> &'a [u8] {
        &octets[self.start as usize..][..usize::from(self.length)]
    }
}

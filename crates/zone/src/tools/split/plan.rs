//! Where a zone is cut: only before a name that is not below a zone cut, so that no RRset, no name, and no delegation
//! with its glue is in two pieces.

use super::label_ranges::LabelRanges;
use crate::NameKind;
use crate::flow::{Batch, OwnerGroup};

/// How a zone is to be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cutting {
    /// Into so many pieces with as many RRsets each, as nearly as cutting between delegations allows.
    Pieces(usize),
    /// One piece for each range of labels directly below the apex.
    Labels(LabelRanges),
}

impl Cutting {
    /// The number of pieces.
    pub fn pieces(&self) -> usize {
        match self {
            Self::Pieces(pieces) => *pieces,
            Self::Labels(ranges) => ranges.len(),
        }
    }
}

/// What the first reading tells of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BatchCounts {
    pub records: usize,
    /// RRsets below the apex.
    pub rrsets: u64,
    /// Those of them at the beginning that belong to a delegation of a batch before.
    pub leading_rrsets: u64,
    /// Names before which the zone can be cut.
    pub units: u64,
    /// Units of each range of labels.
    pub in_range: Vec<u64>,
    /// The first name that is in no range of labels.
    pub outside: Option<Box<[u8]>>,
}

/// Counts what cutting needs to know of `batch`.
pub(super) fn count(batch: &Batch, cutting: &Cutting) -> BatchCounts {
    let mut counts = BatchCounts {
        records: batch.records().len(),
        ..BatchCounts::default()
    };
    if let Cutting::Labels(ranges) = cutting {
        counts.in_range = vec![0; ranges.len()];
    }
    for name in batch.names() {
        if is_apex(&name, &batch.apex) {
            continue;
        }
        let rrsets = name.rrsets().count() as u64;
        counts.rrsets += rrsets;
        if name.kind == NameKind::BelowCut {
            if counts.units == 0 {
                counts.leading_rrsets += rrsets;
            }
            continue;
        }
        counts.units += 1;
        if let Cutting::Labels(ranges) = cutting {
            match ranges.find(label_below(name.owner(), &batch.apex)) {
                Some(range) => counts.in_range[range] += 1,
                None if counts.outside.is_none() => counts.outside = Some(name.owner().into()),
                None => {}
            }
        }
    }
    counts
}

fn is_apex(name: &OwnerGroup<'_>, apex: &[u8]) -> bool {
    name.owner().len() == apex.len()
}

/// The label of `owner` directly below `apex`, of which it is a subdomain and which it is not itself.
pub fn label_below<'a>(owner: &'a [u8], apex: &[u8]) -> &'a [u8] {
    let below = owner.len().saturating_sub(apex.len());
    let mut at = 0;
    while let Some(&length @ 1..) = owner.get(at) {
        let end = at + 1 + usize::from(length);
        if end >= below {
            return owner.get(at + 1..end).unwrap_or_default();
        }
        at = end;
    }
    &[]
}

/// Decides, going over the names, before which of them a new piece begins.
#[derive(Debug)]
pub(super) struct Cutter<'a> {
    cutting: &'a Cutting,
    batches: &'a [BatchCounts],
    rrsets: u64,
    units: u64,
    /// RRsets and units before the next name.
    rrsets_before: u64,
    units_before: u64,
    /// The piece at hand, from 0, and its units so far.
    piece: usize,
    piece_units: u64,
}

impl<'a> Cutter<'a> {
    /// `batches` is what the first reading told of each batch.
    pub fn new(cutting: &'a Cutting, batches: &'a [BatchCounts]) -> Self {
        Self {
            cutting,
            batches,
            rrsets: batches.iter().map(|batch| batch.rrsets).sum(),
            units: batches.iter().map(|batch| batch.units).sum(),
            rrsets_before: 0,
            units_before: 0,
            piece: 0,
            piece_units: 0,
        }
    }

    /// The names of `batch`, which is batch `number`, before which new pieces begin, as indexes.
    pub fn cuts(&mut self, number: usize, batch: &Batch) -> Vec<usize> {
        let counts = &self.batches[number];
        if !self.may_cut(counts, number) {
            self.rrsets_before += counts.rrsets;
            self.units_before += counts.units;
            self.piece_units += counts.units;
            return Vec::new();
        }
        let mut cuts = Vec::new();
        let mut unit: Option<(usize, u64)> = None;
        for (index, name) in batch.names().enumerate() {
            if is_apex(&name, &batch.apex) {
                continue;
            }
            let rrsets = name.rrsets().count() as u64;
            match &mut unit {
                Some((_, size)) if name.kind == NameKind::BelowCut => *size += rrsets,
                None if name.kind == NameKind::BelowCut => self.rrsets_before += rrsets,
                _ => {
                    if let Some((index, size)) = unit.replace((index, rrsets)) {
                        self.unit(index, size, batch, &mut cuts);
                    }
                }
            }
        }
        if let Some((index, size)) = unit {
            let after = self.leading_after(number);
            self.unit(index, size + after, batch, &mut cuts);
            self.rrsets_before -= after;
        }
        cuts
    }

    /// Whether a piece may begin in batch `number`.
    fn may_cut(&self, counts: &BatchCounts, number: usize) -> bool {
        if self.piece + 1 == self.cutting.pieces() || counts.units == 0 {
            return false;
        }
        match self.cutting {
            Cutting::Labels(_) => counts.in_range[self.piece] < counts.units,
            Cutting::Pieces(_) => {
                let end = self.rrsets_before + counts.rrsets + self.leading_after(number);
                let units_after = self.units - self.units_before - counts.units;
                end >= self.target() || units_after < self.pieces_to_begin()
            }
        }
    }

    /// RRsets of a delegation at the end of batch `number` that are in the batches after it.
    fn leading_after(&self, number: usize) -> u64 {
        let mut sum = 0;
        for counts in &self.batches[number + 1..] {
            sum += counts.leading_rrsets;
            if counts.units > 0 {
                break;
            }
        }
        sum
    }

    /// RRsets before the next piece, ideally.
    fn target(&self) -> u64 {
        let next = self.piece as u128 + 1;
        (u128::from(self.rrsets) * next / self.cutting.pieces() as u128) as u64
    }

    fn pieces_to_begin(&self) -> u64 {
        (self.cutting.pieces() - self.piece - 1) as u64
    }

    /// Takes a name and what is below it, `size` RRsets.
    fn unit(&mut self, index: usize, size: u64, batch: &Batch, cuts: &mut Vec<usize>) {
        if self.begins_piece(index, size, batch) {
            cuts.push(index);
            self.piece += 1;
            self.piece_units = 0;
        }
        self.rrsets_before += size;
        self.units_before += 1;
        self.piece_units += 1;
    }

    fn begins_piece(&self, index: usize, size: u64, batch: &Batch) -> bool {
        if self.piece + 1 == self.cutting.pieces() || self.piece_units == 0 {
            return false;
        }
        match self.cutting {
            Cutting::Labels(ranges) => {
                let name = batch.names().nth(index);
                let label = name.map(|name| label_below(name.owner(), &batch.apex));
                label.and_then(|label| ranges.find(label)) != Some(self.piece)
            }
            Cutting::Pieces(_) => {
                // The boundary nearest to the target, before this unit or after it.
                let is_nearer = 2 * self.target() <= 2 * self.rrsets_before + size;
                is_nearer || self.units - self.units_before == self.pieces_to_begin()
            }
        }
    }
}

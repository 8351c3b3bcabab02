//! The difference of two versions of a zone, record by record.

mod chunk;
mod difference;

use crate::canonical::{compare_names, same_name};
use crate::error::{Warning, ZoneError};
use crate::flow::{FlowOfSeveral, Opening, RecordSorter, SortedRecords, over_several};
use crate::pool::{InOrder, Pool};
use crate::text::shown_name;
use chunk::{Chunk, Part};
use difference::Found;
use domain::base::iana::Rtype;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What counts as a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparing {
    /// Leaves inception, expiration and value of signatures out.
    pub ignores_rrsig_times: bool,
    /// Leaves the serial of the SOA record out.
    pub ignores_serial: bool,
    /// Leaves TTLs out, those in signatures too.
    pub ignores_ttl: bool,
    /// Differences to keep; all are counted.
    pub most: usize,
}

/// A record that only one of two zones has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Whether the second zone has it.
    pub is_added: bool,
    /// The line that it begins on in its file, from 1.
    pub line: u32,
    /// The record in presentation format, without line end.
    pub record: String,
}

/// How two versions of a zone differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// Records that both have.
    pub same: u64,
    /// Records that only the first has, and only the second, by type.
    pub types: BTreeMap<Rtype, (u64, u64)>,
    /// The first differences in canonical order, those of NSEC3 chains last.
    pub differences: Vec<Difference>,
    /// The first warnings of both files.
    pub warnings: Vec<Warning>,
    /// All warnings.
    pub warning_count: u64,
}

impl Comparison {
    /// Records that only the first zone has.
    pub fn removed(&self) -> u64 {
        self.types.values().map(|(removed, _)| removed).sum()
    }

    /// Records that only the second zone has.
    pub fn added(&self) -> u64 {
        self.types.values().map(|(_, added)| added).sum()
    }

    fn add(&mut self, found: Found, most: usize) {
        self.same += found.same;
        for (rtype, (removed, added)) in found.types {
            let counts = self.types.entry(rtype).or_default();
            counts.0 += removed;
            counts.1 += added;
        }
        let room = most.saturating_sub(self.differences.len());
        self.differences
            .extend(found.differences.into_iter().take(room));
    }
}

/// Compares the zones of `a` and `b`, whatever the order of their records; letter case of names means nothing, and each
/// RRset has one TTL, the lowest.
pub fn compare(
    a: Opening<'_>,
    b: Opening<'_>,
    pool: &Pool,
    comparing: &Comparing,
) -> Result<Comparison, ZoneError> {
    let paths = [a.path.to_path_buf(), b.path.to_path_buf()];
    let halved = [a, b].map(|opening| Opening {
        memory: opening.memory / 2,
        ..opening
    });
    let cancel = halved[0].cancel;
    let sorters = || [RecordSorter::new(&halved[0]), RecordSorter::new(&halved[1])];
    over_several(halved.to_vec(), pool, |several| {
        let mut flows = [several.open(0)?, several.open(1)?];
        let apex = flows[0].apex();
        if !same_name(&apex, &flows[1].apex()) {
            let [file_a, file_b] = paths.clone();
            return Err(ZoneError::OtherZone {
                file_a,
                a: shown_name(&apex),
                file_b,
                b: shown_name(&flows[1].apex()),
            });
        }
        let mut comparison = Comparison {
            apex: apex[..].into(),
            ..Comparison::default()
        };
        let mut nsec3 = sorters();
        Streams::new(pool, *comparing, cancel).compare(&mut comparison, |side| {
            names(&mut flows[side], &mut nsec3[side], pool)
        })?;
        let [a, b] = nsec3.map(|sorter| sorter.finish(pool));
        let mut sorted = [a?, b?];
        Streams::new(pool, *comparing, cancel)
            .compare(&mut comparison, |side| records(&mut sorted[side], pool))?;
        for flow in &flows {
            let (warnings, count) = flow.warnings();
            comparison.warnings.extend_from_slice(warnings);
            comparison.warning_count += count;
        }
        Ok(comparison)
    })
}

fn names(
    flow: &mut FlowOfSeveral<'_, '_>,
    nsec3: &mut RecordSorter<'_>,
    pool: &Pool,
) -> Result<Option<Chunk>, ZoneError> {
    while let Some(mut batch) = flow.next_batch()? {
        nsec3.push(std::mem::take(&mut batch.nsec3), pool)?;
        if batch.names().len() > 0 {
            return Ok(Some(Chunk::Names(Arc::new(batch))));
        }
    }
    Ok(None)
}

fn records(sorted: &mut SortedRecords<'_>, pool: &Pool) -> Result<Option<Chunk>, ZoneError> {
    let next = sorted.next_batch(pool)?;
    Ok(next.map(|records| Chunk::Nsec3(Arc::new(records))))
}

/// Two streams of chunks, cut at the same owners into parts that threads compare.
struct Streams<'p> {
    pool: &'p Pool,
    comparing: Comparing,
    cancel: &'p AtomicBool,
    at_hand: [Option<Part>; 2],
    found: InOrder<Found>,
}

impl<'p> Streams<'p> {
    fn new(pool: &'p Pool, comparing: Comparing, cancel: &'p AtomicBool) -> Self {
        Self {
            pool,
            comparing,
            cancel,
            at_hand: [None, None],
            found: InOrder::default(),
        }
    }

    /// Compares what `next` gives for the first stream, 0, and the second, 1.
    fn compare(
        mut self,
        comparison: &mut Comparison,
        mut next: impl FnMut(usize) -> Result<Option<Chunk>, ZoneError>,
    ) -> Result<(), ZoneError> {
        loop {
            for (side, at_hand) in self.at_hand.iter_mut().enumerate() {
                if at_hand.as_ref().is_none_or(|part| part.range.is_empty()) {
                    *at_hand = next(side)?.map(|chunk| Part {
                        range: 0..chunk.len(),
                        chunk,
                    });
                }
            }
            if self.at_hand.iter().all(Option::is_none) {
                break;
            }
            let parts = self.take_parts();
            let comparing = self.comparing;
            self.found.push(self.pool.submit(move || {
                let [a, b] = parts;
                difference::compare(a.as_ref(), b.as_ref(), &comparing)
            }));
            if self.found.len() > self.pool.depth()
                && let Some(found) = self.found.take_unless(self.cancel)?
            {
                comparison.add(found, self.comparing.most);
            }
        }
        while let Some(found) = self.found.take_unless(self.cancel)? {
            comparison.add(found, self.comparing.most);
        }
        Ok(())
    }

    /// Cuts off what both streams have up to the lesser of the last owners at hand.
    fn take_parts(&mut self) -> [Option<Part>; 2] {
        let last = |part: &Part| part.chunk.last_owner().to_vec();
        let lasts = self.at_hand.iter().flatten().map(last);
        let bound = lasts.min_by(|a, b| compare_names(a, b)).unwrap_or_default();
        self.at_hand.each_mut().map(|at_hand| {
            let part = at_hand.as_mut()?;
            let end = part.chunk.end(part.range.start, &bound);
            let taken = Part {
                chunk: part.chunk.clone(),
                range: part.range.start..end,
            };
            part.range.start = end;
            Some(taken)
        })
    }
}

//! Records one after another in one buffer: what a zone of millions of records is read into.

use crate::canonical::compare_names;
use crate::rdata::compare_rdata;
use crate::read::Place;
use crate::{Name, Record};
use bytes::Bytes;
use domain::base::iana::{Class, Rtype};
use std::cmp::Ordering;
use std::ops::Range;

/// Octets before the owner: line, TTL, type, RDATA length, owner length, column, file.
const HEAD: usize = 16;

/// A record of [`PackedRecords`]; class IN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedRecord<'a> {
    /// The owner name, uncompressed, letter case as read.
    pub owner: &'a [u8],
    /// The record type.
    pub rtype: Rtype,
    /// Time to live, in seconds.
    pub ttl_s: u32,
    /// RDATA, uncompressed, letter case as read.
    pub rdata: &'a [u8],
    /// Where it was read.
    pub place: FilePlace,
}

/// A place in one of the files of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilePlace {
    /// Number of the file, in the order of opening.
    pub file: u16,
    /// Line, from 1; 0 for a record that came from no file.
    pub line: u32,
    /// Column in octets, from 1; no more than 255.
    pub column: u8,
}

impl PackedRecord<'_> {
    /// The type that an RRSIG record covers.
    pub fn covered(&self) -> Option<Rtype> {
        match (self.rtype, self.rdata) {
            (Rtype::RRSIG, [high, low, ..]) => {
                Some(Rtype::from_int(u16::from_be_bytes([*high, *low])))
            }
            _ => None,
        }
    }

    /// Whether the record belongs to an NSEC3 chain, whose owners are hashes: NSEC3 and its signatures.
    pub fn is_nsec3(&self) -> bool {
        self.rtype == Rtype::NSEC3 || self.covered() == Some(Rtype::NSEC3)
    }

    /// The record with octets of its own.
    pub fn to_record(&self) -> Record {
        Record {
            owner: name_of(Bytes::copy_from_slice(self.owner)),
            rtype: self.rtype,
            class: Class::IN,
            ttl: self.ttl_s,
            rdata: Bytes::copy_from_slice(self.rdata),
        }
    }
}

impl<'a> From<&'a Record> for PackedRecord<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            owner: record.owner.as_slice(),
            rtype: record.rtype,
            ttl_s: record.ttl,
            rdata: &record.rdata,
            place: FilePlace::default(),
        }
    }
}

/// A name of wire octets that were checked when they were packed.
pub(crate) fn name_of(wire: Bytes) -> Name {
    Name::from_octets(wire).unwrap_or_else(|_| Name::root_bytes())
}

/// Records in one buffer of at most 4 GiB; moving them about moves 4 octets each.
#[derive(Clone, Debug, Default)]
pub struct PackedRecords {
    octets: Vec<u8>,
    /// Where each record begins.
    starts: Vec<u32>,
}

impl PackedRecords {
    /// Room for `records` records of `octets` octets of names and data.
    pub fn with_capacity(records: usize, octets: usize) -> Self {
        Self {
            octets: Vec::with_capacity(octets + records * HEAD),
            starts: Vec::with_capacity(records),
        }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Octets of memory that the records take.
    pub fn memory(&self) -> usize {
        self.octets.capacity() + self.starts.capacity() * size_of::<u32>()
    }

    /// The record at `index`.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, index: usize) -> PackedRecord<'_> {
        self.at(self.starts[index])
    }

    /// All records in order.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = PackedRecord<'_>> + ExactSizeIterator + Clone {
        self.starts.iter().map(|&start| self.at(start))
    }

    /// Where the records begin, to be put into another order; each is passed to [`Self::at`].
    pub(crate) fn starts_mut(&mut self) -> (&[u8], &mut Vec<u32>) {
        (&self.octets, &mut self.starts)
    }

    /// Where the records begin.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The record that begins at `start`.
    pub(crate) fn at(&self, start: u32) -> PackedRecord<'_> {
        record_at(&self.octets, start)
    }

    /// Appends a record.
    ///
    /// # Panics
    /// If there were more than 4 GiB then; so do all that append, but [`Self::try_append`].
    pub fn push(&mut self, record: &PackedRecord<'_>) {
        let start = self.begin(record.owner);
        self.octets.extend_from_slice(record.rdata);
        self.finish(start, record.rtype, record.ttl_s, record.place);
    }

    /// Begins a record of `owner`; its RDATA are to be appended to [`Self::tail`], then [`Self::finish`] called.
    pub(crate) fn begin(&mut self, owner: &[u8]) -> usize {
        let start = self.octets.len();
        self.octets.extend_from_slice(&[0; HEAD]);
        self.octets[start + 12] = owner.len() as u8;
        self.octets.extend_from_slice(owner);
        start
    }

    /// Where the RDATA of a record that was begun go.
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.octets
    }

    /// Ends the record that begins at `start`; its RDATA have at most 65,535 octets.
    pub(crate) fn finish(&mut self, start: usize, rtype: Rtype, ttl_s: u32, place: FilePlace) {
        let owner = usize::from(self.octets[start + 12]);
        let rdata = self.octets.len() - start - HEAD - owner;
        let head = &mut self.octets[start..start + HEAD];
        head[0..4].copy_from_slice(&place.line.to_le_bytes());
        head[4..8].copy_from_slice(&ttl_s.to_le_bytes());
        head[8..10].copy_from_slice(&rtype.to_int().to_le_bytes());
        head[10..12].copy_from_slice(&(rdata as u16).to_le_bytes());
        head[13] = place.column;
        head[14..16].copy_from_slice(&place.file.to_le_bytes());
        self.starts.push(offset(start));
    }

    /// Gives the record at `index` another TTL.
    pub(crate) fn set_ttl(&mut self, index: usize, ttl_s: u32) {
        let start = self.starts[index] as usize;
        self.octets[start + 4..start + 8].copy_from_slice(&ttl_s.to_le_bytes());
    }

    /// The octets that the record which begins at `start` takes.
    pub(crate) fn span(&self, start: u32) -> &[u8] {
        let record = self.at(start);
        let start = start as usize;
        &self.octets[start..start + HEAD + record.owner.len() + record.rdata.len()]
    }

    /// Appends a record as [`Self::span`] gave it.
    pub(crate) fn push_span(&mut self, span: &[u8]) {
        self.starts.push(offset(self.octets.len()));
        self.octets.extend_from_slice(span);
    }

    /// Appends all records of `other`.
    pub fn append(&mut self, other: &Self) {
        for &start in &other.starts {
            self.push_span(other.span(start));
        }
    }

    /// Appends all records of `other`, or none if there were more than 4 GiB then.
    pub(crate) fn try_append(&mut self, other: &Self) -> Result<(), TooLarge> {
        if u32::try_from(self.octets.len() + other.octets.len()).is_err() {
            return Err(TooLarge);
        }
        self.append(other);
        Ok(())
    }

    /// Puts the records of `range` at `to`, which is not behind it, over what was there.
    pub(crate) fn move_down(&mut self, range: Range<usize>, to: usize) {
        if range.start != to {
            self.starts.copy_within(range, to);
        }
    }

    /// Sorts the records of `range`; those that are equal stay in their order.
    pub(crate) fn sort_range(
        &mut self,
        range: Range<usize>,
        compare: impl Fn(&PackedRecord<'_>, &PackedRecord<'_>) -> Ordering,
    ) {
        let octets = &self.octets;
        self.starts[range].sort_by(|&a, &b| compare(&record_at(octets, a), &record_at(octets, b)));
    }

    /// Puts the records of `range`, which are sorted, together without those that are equal to the one before; how many are left.
    pub(crate) fn dedup_range(
        &mut self,
        range: Range<usize>,
        compare: impl Fn(&PackedRecord<'_>, &PackedRecord<'_>) -> Ordering,
    ) -> usize {
        let first = range.start;
        let mut kept = first;
        for index in range {
            if kept > first && compare(&self.get(kept - 1), &self.get(index)).is_eq() {
                continue;
            }
            self.starts[kept] = self.starts[index];
            kept += 1;
        }
        kept - first
    }

    /// Moves the last `count` records before the others.
    pub(crate) fn move_to_front(&mut self, count: usize) {
        self.starts.rotate_right(count);
    }

    /// Forgets the records of `range`.
    pub(crate) fn remove(&mut self, range: Range<usize>) {
        self.starts.drain(range);
    }

    /// Gives back memory that is not used.
    pub(crate) fn shrink(&mut self) {
        self.octets.shrink_to_fit();
        self.starts.shrink_to_fit();
    }

    /// Sorts the records by owner, type and data in canonical order, and drops duplicates; of these the lowest TTL stays.
    pub fn sort(&mut self) {
        let octets = &self.octets;
        let compare = |a: &u32, b: &u32| {
            let (a, b) = (record_at(octets, *a), record_at(octets, *b));
            compare_names(a.owner, b.owner)
                .then(a.rtype.to_int().cmp(&b.rtype.to_int()))
                .then_with(|| compare_rdata(a.rtype, a.rdata, b.rdata))
        };
        let ttl_s = |start: &u32| record_at(octets, *start).ttl_s;
        self.starts
            .sort_by(|a, b| compare(a, b).then_with(|| ttl_s(a).cmp(&ttl_s(b))));
        self.starts.dedup_by(|a, b| compare(a, b).is_eq());
    }

    /// Keeps the records before `count`, in order, and forgets the others.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.starts.truncate(count);
    }

    /// The records as they are shared by reference: owners and data are slices of one buffer.
    pub(crate) fn into_records(self) -> impl Iterator<Item = (Record, FilePlace)> {
        let octets = Bytes::from(self.octets);
        self.starts.into_iter().map(move |start| {
            let record = record_at(&octets, start);
            let shared = Record {
                owner: name_of(octets.slice_ref(record.owner)),
                rtype: record.rtype,
                class: Class::IN,
                ttl: record.ttl_s,
                rdata: octets.slice_ref(record.rdata),
            };
            (shared, record.place)
        })
    }
}

/// Records of more than 4 GiB were to be put into one buffer.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// Where a record begins.
fn offset(start: usize) -> u32 {
    u32::try_from(start).expect("records of at most 4 GiB in one buffer")
}

/// The record that begins at `start` of the octets of [`PackedRecords`].
pub(crate) fn record_at(octets: &[u8], start: u32) -> PackedRecord<'_> {
    let (head, rest) = octets[start as usize..].split_at(HEAD);
    let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let u32_at =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (owner, rest) = rest.split_at(usize::from(head[12]));
    PackedRecord {
        owner,
        rtype: Rtype::from_int(u16_at(8)),
        ttl_s: u32_at(4),
        rdata: &rest[..usize::from(u16_at(10))],
        place: FilePlace {
            file: u16_at(14),
            line: u32_at(0),
            column: head[13],
        },
    }
}

/// The octets of the head of a packed record, and where its lengths stand, for reading records from a temporary file.
pub(crate) fn span_length(head: &[u8; HEAD]) -> usize {
    HEAD + usize::from(head[12]) + usize::from(u16::from_le_bytes([head[10], head[11]]))
}

/// Octets that [`span_length`] needs.
pub(crate) const SPAN_HEAD: usize = HEAD;

impl From<Place> for FilePlace {
    fn from(place: Place) -> Self {
        Self {
            file: 0,
            line: place.line,
            column: u8::try_from(place.column).unwrap_or(u8::MAX),
        }
    }
}

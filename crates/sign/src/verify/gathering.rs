//! The records of an NSEC3 chain, whose owners are hashes, those of each owner put together.

use crate::SignError;
use dnsrig_zone::flow::{Opening, RecordSorter};
use dnsrig_zone::pool::Pool;
use dnsrig_zone::{PackedRecord, PackedRecords, ZoneError, compare_names, same_name};
use domain::base::iana::Rtype;
use std::cmp::Ordering;

/// How NSEC3 records and their signatures are put together.
#[derive(Debug)]
pub(super) enum Gathering<'a> {
    /// They come in the order of their owners, as signers write them. Kept are those of the last owner, which may have more.
    InOrder(PackedRecords),
    /// They come in any order, and are sorted when all are there.
    Sorting(RecordSorter<'a>),
}

impl<'a> Gathering<'a> {
    pub fn in_order() -> Self {
        Self::InOrder(PackedRecords::default())
    }

    pub fn sorting(opening: &Opening<'a>) -> Self {
        Self::Sorting(RecordSorter::new(opening))
    }

    /// Takes the next records of the file, and gives the records of those owners that have no more.
    ///
    /// # Errors
    /// [`ZoneError::NotSorted`] if they were to come in order and do not.
    pub fn add(&mut self, records: PackedRecords, pool: &Pool) -> Result<PackedRecords, SignError> {
        match self {
            _ if records.is_empty() => Ok(records),
            Self::Sorting(sorter) => {
                sorter.push(records, pool)?;
                Ok(PackedRecords::default())
            }
            Self::InOrder(kept) => {
                let mut all = std::mem::take(kept);
                all.append(&records);
                let last = first_of_last_owner(&all).ok_or(ZoneError::NotSorted)?;
                let mut whole = PackedRecords::default();
                for index in 0..all.len() {
                    let records = if index < last { &mut whole } else { &mut *kept };
                    records.push(&all.get(index));
                }
                Ok(whole)
            }
        }
    }

    /// Passes the records that were not given yet to `check`, those of each owner together.
    pub fn finish(
        self,
        pool: &Pool,
        mut check: impl FnMut(PackedRecords),
    ) -> Result<(), SignError> {
        match self {
            Self::InOrder(kept) if kept.is_empty() => {}
            Self::InOrder(kept) => check(kept),
            Self::Sorting(sorter) => {
                let mut sorted = sorter.finish(pool)?;
                while let Some(records) = sorted.next_batch(pool)? {
                    check(records);
                }
            }
        }
        Ok(())
    }
}

/// Index of the first record of the last owner; `None` if the owners do not ascend.
fn first_of_last_owner(records: &PackedRecords) -> Option<usize> {
    let mut first = 0;
    for index in 1..records.len() {
        let (before, owner) = (records.get(index - 1).owner, records.get(index).owner);
        if before == owner {
            continue;
        }
        match compare_names(before, owner) {
            Ordering::Less => first = index,
            Ordering::Equal => {}
            Ordering::Greater => return None,
        }
    }
    Some(first)
}

/// Sees to it that of each owner, whose records lie together, the NSEC3 records lie together and the signatures do, without
/// duplicates.
pub(super) fn arrange(records: &mut PackedRecords) {
    // Sorting takes time that files as signers write them need not take.
    if !is_arranged(records) {
        records.sort();
    }
}

/// Whether each owner has one NSEC3 record, before or after the signatures.
fn is_arranged(records: &PackedRecords) -> bool {
    let is_nsec3 = |record: &PackedRecord<'_>| record.rtype == Rtype::NSEC3;
    let (mut first, mut nsec3) = (0, None);
    for index in 0..records.len() {
        let record = records.get(index);
        if index > first {
            let before = records.get(index - 1);
            if !same_name(before.owner, record.owner) {
                (first, nsec3) = (index, None);
            } else if before.rtype == record.rtype && before.rdata == record.rdata {
                return false;
            }
        }
        match (is_nsec3(&record), nsec3) {
            (true, Some(_)) => return false,
            (true, None) => nsec3 = Some(index),
            // Signatures on both sides of the record.
            (false, Some(at)) if at > first => return false,
            (false, _) => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_zone::FilePlace;

    fn records(of: &[(&'static [u8], Rtype, &'static [u8])]) -> PackedRecords {
        let mut records = PackedRecords::default();
        for &(owner, rtype, rdata) in of {
            records.push(&PackedRecord {
                owner,
                rtype,
                ttl_s: 60,
                rdata,
                place: FilePlace::default(),
            });
        }
        records
    }

    #[test]
    fn only_what_lies_apart_is_sorted() {
        const A: &[u8] = b"\x01a\0";
        const B: &[u8] = b"\x01b\0";
        let (nsec3, rrsig) = (Rtype::NSEC3, Rtype::RRSIG);
        let arranged = [
            records(&[]),
            records(&[(A, nsec3, b"1"), (A, rrsig, b"1"), (A, rrsig, b"2")]),
            records(&[(A, rrsig, b"1"), (A, rrsig, b"2"), (A, nsec3, b"1")]),
            records(&[
                (A, rrsig, b"1"),
                (A, nsec3, b"1"),
                (B, nsec3, b"1"),
                (B, rrsig, b"1"),
            ]),
            records(&[(A, rrsig, b"1"), (b"\x01A\0", nsec3, b"1")]),
        ];
        for records in arranged {
            assert!(is_arranged(&records), "{records:?}");
        }
        let apart = [
            (records(&[(A, nsec3, b"1"), (A, nsec3, b"1")]), 1),
            (records(&[(A, nsec3, b"1"), (A, nsec3, b"2")]), 2),
            (records(&[(A, rrsig, b"1"), (A, rrsig, b"1")]), 1),
            (
                records(&[
                    (B, nsec3, b"1"),
                    (A, rrsig, b"1"),
                    (A, nsec3, b"1"),
                    (A, rrsig, b"2"),
                ]),
                4,
            ),
        ];
        for (mut records, count) in apart {
            assert!(!is_arranged(&records), "{records:?}");
            arrange(&mut records);
            assert!(is_arranged(&records) || count == 2, "{records:?}");
            assert_eq!(records.len(), count);
        }
    }

    #[test]
    fn owners_have_to_ascend() {
        let of = |owners: &[&'static [u8]]| {
            let all: Vec<_> = owners
                .iter()
                .map(|&owner| (owner, Rtype::NSEC3, &b"1"[..]))
                .collect();
            first_of_last_owner(&records(&all))
        };
        assert_eq!(of(&[b"\x01a\0"]), Some(0));
        assert_eq!(of(&[b"\x01a\0", b"\x01A\0"]), Some(0));
        assert_eq!(of(&[b"\x01a\0", b"\x01b\0", b"\x01b\0"]), Some(1));
        assert_eq!(of(&[b"\x01b\0", b"\x01a\0"]), None);
    }
}

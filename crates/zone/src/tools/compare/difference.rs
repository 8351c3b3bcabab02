//! The difference of two stretches of a zone.

use super::chunk::Part;
use super::{Comparing, Difference};
use crate::canonical::compare_names;
use crate::flow::RecordRange;
use crate::packed::PackedRecord;
use crate::rdata::push_canonical_rdata;
use crate::text::push_record;
use domain::base::iana::Rtype;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Differences of one stretch.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Records that both have.
    pub same: u64,
    /// Records that only the first has, and only the second, by type.
    pub types: BTreeMap<Rtype, (u64, u64)>,
    /// The first of them.
    pub differences: Vec<Difference>,
}

/// What is compared of a record.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rtype: u16,
    rdata: Vec<u8>,
    ttl_s: u32,
}

/// Compares two stretches with the same bounds.
pub(super) fn compare(a: Option<&Part>, b: Option<&Part>, comparing: &Comparing) -> Found {
    let mut found = Found::default();
    let mut left = a.map(|part| part.owners().peekable());
    let mut right = b.map(|part| part.owners().peekable());
    loop {
        let (first, second) = (
            left.as_mut().and_then(|owners| owners.peek().cloned()),
            right.as_mut().and_then(|owners| owners.peek().cloned()),
        );
        let order = match (&first, &second) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => compare_names(a.get(0).owner, b.get(0).owner),
        };
        if order.is_le() {
            left.as_mut().and_then(Iterator::next);
        }
        if order.is_ge() {
            right.as_mut().and_then(Iterator::next);
        }
        match (order, first, second) {
            (Ordering::Equal, Some(a), Some(b)) => found.owner(&a, &b, comparing),
            (Ordering::Less, Some(a), _) => {
                a.iter()
                    .for_each(|record| found.take(&record, false, comparing));
            }
            (_, _, Some(b)) => b
                .iter()
                .for_each(|record| found.take(&record, true, comparing)),
            _ => {}
        }
    }
}

impl Found {
    /// Compares the records of one owner.
    fn owner(&mut self, a: &RecordRange<'_>, b: &RecordRange<'_>, comparing: &Comparing) {
        let is_identical = |(a, b): (PackedRecord<'_>, PackedRecord<'_>)| {
            a.rtype == b.rtype && a.ttl_s == b.ttl_s && a.rdata == b.rdata
        };
        if a.len() == b.len() && a.iter().zip(b.iter()).all(is_identical) {
            self.same += a.len() as u64;
            return;
        }
        let keys = |records: &RecordRange<'_>| {
            let keyed = records.iter().enumerate();
            let mut keys: Vec<(Key, usize)> = keyed
                .map(|(index, record)| (comparing.key(&record), index))
                .collect();
            keys.sort();
            keys
        };
        let (left, right) = (keys(a), keys(b));
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let order = match (left.get(i), right.get(j)) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            match order {
                Ordering::Equal => self.same += 1,
                Ordering::Less => self.take(&a.get(left[i].1), false, comparing),
                Ordering::Greater => self.take(&b.get(right[j].1), true, comparing),
            }
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
        }
    }

    /// Takes a record that only one has.
    fn take(&mut self, record: &PackedRecord<'_>, is_added: bool, comparing: &Comparing) {
        let counts = self.types.entry(record.rtype).or_default();
        match is_added {
            false => counts.0 += 1,
            true => counts.1 += 1,
        }
        if self.differences.len() < comparing.most {
            let mut text = Vec::new();
            push_record(record, &mut text);
            text.pop();
            self.differences.push(Difference {
                is_added,
                line: record.place.line,
                record: String::from_utf8_lossy(&text).into_owned(),
            });
        }
    }
}

impl Comparing {
    fn key(&self, record: &PackedRecord<'_>) -> Key {
        let mut rdata = Vec::with_capacity(record.rdata.len());
        push_canonical_rdata(record.rtype, record.rdata, &mut rdata);
        if record.rtype == Rtype::RRSIG {
            if self.ignores_ttl
                && let Some(original_ttl) = rdata.get_mut(4..8)
            {
                original_ttl.fill(0);
            }
            // Expiration and inception, and behind the signer's name the signature (RFC 4034 section 3.1).
            if self.ignores_rrsig_times && rdata.len() > 18 {
                rdata[8..16].fill(0);
                let signer = crate::rdata::name_length(&rdata[18..]).unwrap_or(0);
                rdata.truncate(18 + signer);
            }
        }
        // The last five fields of an SOA record have four octets each, the first is the serial.
        if self.ignores_serial
            && record.rtype == Rtype::SOA
            && let Some(serial) = rdata.len().checked_sub(20)
        {
            rdata[serial..serial + 4].fill(0);
        }
        Key {
            rtype: record.rtype.to_int(),
            rdata,
            ttl_s: if self.ignores_ttl { 0 } else { record.ttl_s },
        }
    }
}

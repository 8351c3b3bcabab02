//! What can be done with zone files of any size, a batch of names at a time.

pub mod check;
mod compare;
mod join;
mod manifest;
pub(crate) mod marks;
mod sort;
mod split;
mod statistics;
mod survey;

pub use check::check;
pub use compare::{Comparing, Comparison, Difference, compare};
pub use join::{Joined, join, sort_out};
pub use manifest::{MANIFEST_SCHEMA, MANIFEST_SUFFIX, Manifest, Piece};
pub use sort::{Sorted, sort};
pub use split::{Cutting, LabelRanges, PIECES_MAX, Split, label_below, split};
pub use statistics::statistics;
pub use survey::{Nsec3Use, Survey, Tally, survey};

use crate::flow::OwnerGroup;
use crate::packed::PackedRecord;
use domain::base::iana::Rtype;

/// Records of a name below the apex that signing neither adds nor takes away.
fn data_records(name: &OwnerGroup<'_>) -> u64 {
    let is_data = |record: &PackedRecord<'_>| !matches!(record.rtype, Rtype::RRSIG | Rtype::NSEC);
    name.records.iter().filter(is_data).count() as u64
}

/// The serial number of the SOA record among `records`; `None` if there is none, or its data is too short.
pub fn serial_of<'a>(mut records: impl Iterator<Item = PackedRecord<'a>>) -> Option<u32> {
    let soa = records.find(|record| record.rtype == Rtype::SOA)?;
    // The last five fields of an SOA record have four octets each.
    let serial = soa.rdata.len().checked_sub(20)?;
    let octets = soa.rdata.get(serial..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*octets))
}

//! One record, and the domain name type that the whole workspace uses.

use bytes::Bytes;
use domain::base::iana::{Class, Rtype};

/// An absolute domain name in uncompressed wire format, letter case as read.
///
/// Cloning shares the octets. Comparison ignores ASCII case; [`domain::base::name::ToName::name_cmp`]
/// is the canonical order of RFC 4034 section 6.1.
pub type Name = domain::base::Name<Bytes>;

/// One resource record with its data in uncompressed wire format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The owner name.
    pub owner: Name,
    /// The record type.
    pub rtype: Rtype,
    /// The class; zones served by the rig are class IN.
    pub class: Class,
    /// Time to live, in seconds.
    pub ttl: u32,
    /// RDATA, uncompressed, letter case as read; at most 65,535 octets.
    pub rdata: Bytes,
}

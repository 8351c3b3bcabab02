//! The fields of RRSIG records, and what signatures are over (RFC 4034 section 3.1).

use super::plan::FileSigning;
use dnsrig_zone::push_canonical_rdata;
use domain::base::iana::Rtype;

/// Octets of an RRSIG's data before the signer's name (RFC 4034 section 3.1).
pub(super) const HEAD: usize = 18;
const CLASS_IN: [u8; 2] = [0, 1];

/// Appends a record in canonical form (RFC 4034 section 6.2).
pub(super) fn push_canonical_record(
    owner: &[u8],
    rtype: Rtype,
    ttl_s: u32,
    rdata: &[u8],
    data: &mut Vec<u8>,
) {
    let start = data.len();
    data.extend_from_slice(owner);
    // Length octets are below the letters.
    data[start..].make_ascii_lowercase();
    data.extend(rtype.to_int().to_be_bytes());
    data.extend(CLASS_IN);
    data.extend(ttl_s.to_be_bytes());
    data.extend((rdata.len() as u16).to_be_bytes());
    push_canonical_rdata(rtype, rdata, data);
}

/// Whether a signature is valid now and for longer than the refresh interval; times wrap around (RFC 4034 section 3.1.5).
pub(super) fn lasts(fields: &[u8], signing: &FileSigning) -> bool {
    let inception = u32::from_be_bytes([fields[12], fields[13], fields[14], fields[15]]);
    let left = expiration_of(fields).wrapping_sub(signing.now) as i32;
    let age = signing.now.wrapping_sub(inception) as i32;
    age >= 0 && i64::from(left) > i64::from(signing.refresh_s)
}

/// When a signature ends, by the data of its RRSIG record.
pub(super) fn expiration_of(fields: &[u8]) -> u32 {
    u32::from_be_bytes([fields[8], fields[9], fields[10], fields[11]])
}

/// A number that is the same for the same RRset in any version and on any machine, and evenly spread (FNV-1a).
pub(super) fn spread(owner: &[u8], rtype: Rtype) -> u64 {
    let octets = owner.iter().map(u8::to_ascii_lowercase);
    let hash = octets
        .chain(rtype.to_int().to_be_bytes())
        .fold(0xCBF2_9CE4_8422_2325u64, |hash, octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3)
        });
    // The low bits of FNV-1a alone are not even enough.
    hash ^ hash >> 32
}

//! What signing changes at the apex: keys, parameters of the chain, serial number.

use super::chain::nsec3_head;
use super::given::check_nsec;
use super::keys::check_dnskeys;
use super::offline::{self, carried};
use super::plan::{Chain, Digests, FileSigning};
use super::previous::is_after;
use super::warnings::asks_for_deletion;
use crate::{DigestType, Dnskey, KeyPair, SignError};
use dnsrig_zone::flow::{Batch, RecordRange};
use dnsrig_zone::text::shown_name;
use dnsrig_zone::tools::serial_of;
use dnsrig_zone::zonemd::{SCHEME_SIMPLE, ZonemdHash};
use dnsrig_zone::{FilePlace, PackedRecord, PackedRecords, same_name};
use domain::base::iana::Rtype;

/// TTL of the NSEC3PARAM record, which nobody but the zone's servers reads; dnssec-signzone gives the same.
const NSEC3PARAM_TTL_S: u32 = 0;
/// Octets of an SOA record's data after its two names; the serial number comes first.
const SOA_NUMBERS: usize = 20;

/// What becomes of the SOA record's serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerialPolicy {
    /// It stays.
    Keep,
    /// One more (RFC 1982).
    Increment,
    /// Seconds since 1970, or one more if that is not greater.
    UnixTime,
    /// YYYYMMDDnn, or one more if that is not greater.
    Date,
}

/// The records of the apex as they are to be signed, without the chain.
#[derive(Debug)]
pub(super) struct Apex {
    pub records: PackedRecords,
    pub serial: u32,
    pub dnskey_ttl_s: u32,
    /// Whether there is an NSEC record, in the input.
    pub has_nsec: bool,
    /// TTL of NSEC and NSEC3 records: the lesser of the SOA's minimum and TTL (RFC 9077 section 3).
    pub chain_ttl_s: u32,
    /// The serial number of the earlier version of the zone, if that is known.
    pub previous_serial: Option<u32>,
    /// The digests that the zone gets, in the order of their records; in `records` they are zero.
    pub digests: Vec<ZonemdHash>,
}

impl Apex {
    pub fn new(
        apex: &[u8],
        first: Option<&Batch>,
        previous: Option<&Batch>,
        keys: &[KeyPair],
        signing: &FileSigning,
    ) -> Result<Self, SignError> {
        let previous = previous.and_then(Batch::at_apex);
        let previous = previous.as_ref().map(|apex| &apex.records);
        let name = first.and_then(|batch| batch.names().next());
        let is_soa = |record: &PackedRecord<'_>| record.rtype == Rtype::SOA;
        let soa = name
            .as_ref()
            .filter(|name| same_name(name.owner(), apex))
            .and_then(|name| name.records.iter().find(is_soa));
        let (Some(name), Some(soa)) = (name, soa) else {
            return Err(no_soa(apex));
        };
        let (Some(minimum), Some(serial_at)) = (
            soa.rdata.last_chunk::<4>(),
            soa.rdata.len().checked_sub(SOA_NUMBERS),
        ) else {
            return Err(no_soa(apex));
        };
        let minimum = u32::from_be_bytes(*minimum);
        let mut soa_rdata = soa.rdata.to_vec();
        let serial = &mut soa_rdata[serial_at..serial_at + 4];
        let old = u32::from_be_bytes([serial[0], serial[1], serial[2], serial[3]]);
        let previous_serial = previous.and_then(|records| serial_of(records.iter()));
        let latest = previous_serial.filter(|&earlier| is_after(earlier, old));
        let new = match signing.serial {
            SerialPolicy::Keep => old,
            policy => next_serial(latest.unwrap_or(old), policy, signing.now),
        };
        serial.copy_from_slice(&new.to_be_bytes());

        let mut records = PackedRecords::default();
        let is_given = signing.chain == Chain::Given;
        let publication = &signing.publication;
        let digests = digests(
            name.records
                .iter()
                .chain(previous.into_iter().flat_map(RecordRange::iter)),
            signing,
        );
        for record in name.records.iter() {
            let is_kept = match record.rtype {
                Rtype::SOA => false,
                Rtype::RRSIG => true,
                Rtype::NSEC => true,
                Rtype::NSEC3PARAM => is_given,
                Rtype::DNSKEY => publication.keeps_dnskey(record.rdata),
                Rtype::CDS | Rtype::CDNSKEY if asks_for_deletion(&record) => true,
                Rtype::CDS | Rtype::CDNSKEY if signing.publishes_cds => false,
                // A digest of what the zone was.
                Rtype::ZONEMD => is_given,
                rtype => publication.keeps(rtype),
            };
            if is_kept {
                records.push(&record);
            }
        }
        records.push(&PackedRecord {
            rdata: &soa_rdata,
            ..soa
        });
        let dnskey_ttl_s = signing
            .dnskey_ttl_s
            .or_else(|| dnskey_ttl_s(&name.records))
            .or_else(|| dnskey_ttl_s(previous?))
            .or_else(|| publication.published(keys).find_map(Dnskey::ttl_s))
            .unwrap_or(soa.ttl_s);
        for rdata in previous
            .into_iter()
            .flat_map(|records| carried(records, keys, publication))
        {
            records.push(&PackedRecord {
                rtype: Rtype::DNSKEY,
                ttl_s: dnskey_ttl_s,
                rdata,
                ..soa
            });
        }
        push_keys(&mut records, apex, keys, dnskey_ttl_s, signing)?;
        for hash in &digests {
            records.push(&PackedRecord {
                rtype: Rtype::ZONEMD,
                rdata: &zonemd_rdata(new, *hash, &vec![0; hash.octets()]),
                ..soa
            });
        }
        check_dnskeys(apex, &records, keys, signing)?;
        if let Chain::Nsec3(parameters) = &signing.chain {
            records.push(&PackedRecord {
                owner: apex,
                rtype: Rtype::NSEC3PARAM,
                ttl_s: NSEC3PARAM_TTL_S,
                rdata: &nsec3_head(parameters, 0),
                place: FilePlace::default(),
            });
        }
        records.sort();
        if is_given {
            check_nsec(apex, &records)?;
        }
        Ok(Self {
            has_nsec: name.has(Rtype::NSEC),
            records: level_dnskey_ttls(records, dnskey_ttl_s),
            dnskey_ttl_s,
            serial: new,
            chain_ttl_s: minimum.min(soa.ttl_s),
            previous_serial,
            digests,
        })
    }
}

/// The digests that the zone gets whose apex has `records`.
fn digests<'r>(
    records: impl Iterator<Item = PackedRecord<'r>>,
    signing: &FileSigning,
) -> Vec<ZonemdHash> {
    if !signing.makes_digests() {
        return Vec::new();
    }
    let mut hashes: Vec<ZonemdHash> = match &signing.digests {
        Digests::Of(hashes) => hashes.clone(),
        Digests::AsInZone if signing.publication.keeps(Rtype::ZONEMD) => records
            .filter(|record| record.rtype == Rtype::ZONEMD)
            .filter(|record| record.rdata.get(4) == Some(&SCHEME_SIMPLE))
            .filter_map(|record| ZonemdHash::from_number(*record.rdata.get(5)?))
            .collect(),
        Digests::AsInZone => Vec::new(),
    };
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The TTL of the DNSKEY RRset among `records`.
fn dnskey_ttl_s(records: &RecordRange<'_>) -> Option<u32> {
    let mut records = records.iter();
    let dnskey = records.find(|record| record.rtype == Rtype::DNSKEY);
    dnskey.map(|record| record.ttl_s)
}

/// The data of a ZONEMD record (RFC 8976 section 2.2).
pub(super) fn zonemd_rdata(serial: u32, hash: ZonemdHash, digest: &[u8]) -> Vec<u8> {
    let mut rdata = serial.to_be_bytes().to_vec();
    rdata.extend([SCHEME_SIMPLE, hash.number()]);
    rdata.extend_from_slice(digest);
    rdata
}

fn no_soa(apex: &[u8]) -> SignError {
    SignError::NoSoa {
        zone: shown_name(apex),
    }
}

/// The keys that get CDS and CDNSKEY records, beside those that the apex has already; `records` have its DNSKEY records.
fn synchronised(records: &PackedRecords, keys: &[KeyPair], signing: &FileSigning) -> Vec<Dnskey> {
    match &signing.publication.synchronised {
        Some(synchronised) => synchronised.clone(),
        None if signing.publishes_cds => offline::synchronised(records, keys, &signing.publication),
        None => Vec::new(),
    }
}

fn push_keys(
    records: &mut PackedRecords,
    apex: &[u8],
    keys: &[KeyPair],
    ttl_s: u32,
    signing: &FileSigning,
) -> Result<(), SignError> {
    let push = |records: &mut PackedRecords, rtype: Rtype, rdata: &[u8]| {
        records.push(&PackedRecord {
            owner: apex,
            rtype,
            ttl_s,
            rdata,
            place: FilePlace::default(),
        });
    };
    for key in signing.publication.published(keys) {
        push(records, Rtype::DNSKEY, key.rdata());
    }
    let synchronised = synchronised(records, keys, signing);
    if !synchronised.is_empty() && records.iter().any(|record| asks_for_deletion(&record)) {
        return Err(SignError::DeletionConflict {
            zone: shown_name(apex),
        });
    }
    for key in &synchronised {
        push(records, Rtype::CDNSKEY, key.rdata());
        let cds = key.cds(DigestType::Sha256, ttl_s);
        push(records, Rtype::CDS, &cds.rdata);
    }
    Ok(())
}

/// The records with one TTL for all DNSKEY records, those that the zone had and those of the keys.
fn level_dnskey_ttls(records: PackedRecords, ttl_s: u32) -> PackedRecords {
    let mut levelled = PackedRecords::default();
    for record in records.iter() {
        let ttl_s = match record.rtype {
            Rtype::DNSKEY => ttl_s,
            _ => record.ttl_s,
        };
        levelled.push(&PackedRecord { ttl_s, ..record });
    }
    levelled
}

/// The serial number after `old`.
fn next_serial(old: u32, policy: SerialPolicy, now: u32) -> u32 {
    let wanted = match policy {
        SerialPolicy::Keep => return old,
        SerialPolicy::Increment => return old.wrapping_add(1),
        SerialPolicy::UnixTime => now,
        SerialPolicy::Date => {
            let date = dnsrig_zone::dates::date_digits(now);
            date.saturating_mul(100)
        }
    };
    match is_after(wanted, old) {
        true => wanted,
        false => old.wrapping_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_only_grow() {
        let now = 1_700_000_000; // 2023-11-14
        assert_eq!(next_serial(7, SerialPolicy::Keep, now), 7);
        assert_eq!(next_serial(u32::MAX, SerialPolicy::Increment, now), 0);
        assert_eq!(next_serial(7, SerialPolicy::UnixTime, now), now);
        assert_eq!(next_serial(now, SerialPolicy::UnixTime, now), now + 1);
        assert_eq!(next_serial(7, SerialPolicy::Date, now), 2_023_111_400);
        assert_eq!(
            next_serial(2_023_111_400, SerialPolicy::Date, now),
            2_023_111_401
        );
        assert_eq!(
            next_serial(2_023_111_499, SerialPolicy::Date, now),
            2_023_111_500
        );
    }
}

//! The keys of the zone that is verified.

use super::{Placed, algorithm_name};
use crate::key::{FLAG_REVOKE, FLAG_SEP, FLAG_ZONE};
use crate::{PublicKey, key_tag};
use aws_lc_rs::digest;
use dnsrig_zone::flow::Batch;
use domain::base::iana::Rtype;

/// A key of the zone.
#[derive(Debug)]
pub(super) struct ZoneKey {
    pub algorithm: u8,
    pub tag: u16,
    flags: u16,
    /// `None` if signatures of it cannot be verified here.
    pub public: Option<PublicKey>,
}

impl ZoneKey {
    /// Whether signatures of the key count for its revocation alone (RFC 5011 section 2.1).
    pub fn is_revoked(&self) -> bool {
        self.flags & FLAG_REVOKE != 0
    }

    /// Whether the key is marked as one that signs keys (RFC 4034 section 2.1.1).
    pub fn is_sep(&self) -> bool {
        self.flags & FLAG_SEP != 0
    }
}

/// The keys of the zone.
#[derive(Debug)]
pub(super) struct ZoneKeys {
    pub keys: Vec<ZoneKey>,
    /// The algorithms by which every RRset has to be signed (RFC 4035 section 2.2), those that can be verified.
    pub algorithms: Vec<u8>,
    rdatas: Vec<Vec<u8>>,
}

impl ZoneKeys {
    /// Reads the DNSKEY RRset at the apex, which `first` begins with; also what is wrong with it.
    pub fn new(first: Option<&Batch>) -> (Self, Vec<Placed>) {
        let mut keys = Self {
            keys: Vec::new(),
            algorithms: Vec::new(),
            rdatas: Vec::new(),
        };
        let mut faults = Vec::new();
        let Some(name) = first.and_then(Batch::at_apex) else {
            return (keys, faults);
        };
        for record in name
            .records
            .iter()
            .filter(|record| record.rtype == Rtype::DNSKEY)
        {
            let &[high, low, _, algorithm, ..] = record.rdata else {
                faults.push(("the record has fewer than 4 octets".into(), record.place));
                continue;
            };
            let flags = u16::from_be_bytes([high, low]);
            if flags & FLAG_ZONE == 0 {
                continue;
            }
            let tag = key_tag(record.rdata);
            let public = match PublicKey::from_dnskey(record.rdata) {
                Ok(public) => Some(public),
                Err(error) => {
                    faults.push((
                        format!("signatures of the key with tag {tag} cannot be verified: {error}"),
                        record.place,
                    ));
                    None
                }
            };
            if public.is_some() && flags & FLAG_REVOKE == 0 && !keys.algorithms.contains(&algorithm)
            {
                keys.algorithms.push(algorithm);
            }
            keys.rdatas.push(record.rdata.to_vec());
            keys.keys.push(ZoneKey {
                algorithm,
                tag,
                flags,
                public,
            });
        }
        let why = match (keys.keys.is_empty(), name.has(Rtype::DNSKEY)) {
            (true, false) => Some("the apex has no DNSKEY record"),
            (true, true) => Some("no DNSKEY record has the zone key flag"),
            _ => keys
                .keys
                .iter()
                .all(ZoneKey::is_revoked)
                .then_some("every key of the zone is revoked"),
        };
        if let Some(why) = why {
            faults.push((
                format!("{why}, so nothing can be verified; sign the zone first"),
                name.records.get(0).place,
            ));
        }
        (keys, faults)
    }

    /// What is wrong with the DNSKEY RRset as the DS records of the parent zone see it (RFC 4035 section 5.2).
    pub fn check_ds(&self, ds: &[Vec<u8>], first: &Batch) -> Vec<String> {
        if ds.is_empty() {
            return Vec::new();
        }
        let Some(name) = first.at_apex() else {
            return Vec::new();
        };
        let signs = |tag: u16, algorithm: u8| {
            name.signatures(Rtype::DNSKEY).iter().any(|signature| {
                signature.rdata.get(2) == Some(&algorithm)
                    && signature.rdata.get(16..18) == Some(&tag.to_be_bytes())
            })
        };
        let is_matched = ds.iter().any(|ds| {
            self.rdatas.iter().zip(&self.keys).any(|(rdata, key)| {
                !key.is_revoked()
                    && is_ds_of(ds, &first.apex, rdata, key)
                    && signs(key.tag, key.algorithm)
            })
        });
        match is_matched {
            true => Vec::new(),
            false => Vec::from([
                "none of the given DS records is of a key that signs the DNSKEY RRset, so resolvers take the zone for bogus"
                    .into(),
            ]),
        }
    }

    /// Forgets what only [`Self::check_ds`] needs.
    pub fn finish(&mut self) {
        self.rdatas = Vec::new();
    }

    pub fn algorithm_names(&self) -> Vec<String> {
        self.algorithms
            .iter()
            .map(|&number| algorithm_name(number))
            .collect()
    }

    /// The keys that a signature of RRsets of type `covered` can be of; revoked ones sign keys alone (RFC 5011 section 2.1).
    pub fn matching(
        &self,
        algorithm: u8,
        tag: u16,
        covered: Rtype,
    ) -> impl Iterator<Item = usize> + '_ {
        let is_match = move |key: &ZoneKey| {
            key.algorithm == algorithm
                && key.tag == tag
                && (covered == Rtype::DNSKEY || !key.is_revoked())
        };
        (0..self.keys.len()).filter(move |&index| is_match(&self.keys[index]))
    }
}

/// Whether the data `ds` of a DS record is of a key (RFC 4034 section 5.1.4).
fn is_ds_of(ds: &[u8], apex: &[u8], dnskey: &[u8], key: &ZoneKey) -> bool {
    let Some((&[high, low, algorithm, digest_type], expected)) = ds.split_first_chunk() else {
        return false;
    };
    let hash = match digest_type {
        1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        2 => &digest::SHA256,
        4 => &digest::SHA384,
        _ => return false,
    };
    let digested = [&apex.to_ascii_lowercase(), dnskey].concat();
    u16::from_be_bytes([high, low]) == key.tag
        && algorithm == key.algorithm
        && digest::digest(hash, &digested).as_ref() == expected
}

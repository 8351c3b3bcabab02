//! Key-signing keys of the zone whose private part is elsewhere: what they signed is kept, since nothing can make it anew here.

use super::keys::{OtherKeys, Publication, key_signing_keys};
use super::plan::FileSigning;
use super::rrsig::{HEAD, expiration_of, lasts, push_canonical_record};
use crate::key::{FLAG_REVOKE, FLAG_SEP, FLAG_ZONE};
use crate::{Dnskey, KeyPair, PublicKey, Role, SignError};
use dnsrig_zone::flow::RecordRange;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{Name, PackedRecord, PackedRecords, label_count, same_name};
use domain::base::iana::Rtype;

/// What key-signing keys sign (RFC 7344 section 4.1).
const SIGNED: [Rtype; 3] = [Rtype::DNSKEY, Rtype::CDS, Rtype::CDNSKEY];

/// A key-signing key that signed elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfflineKey {
    /// The key.
    pub key: Dnskey,
    /// When its signature of the DNSKEY RRset ends, in seconds since 1970 modulo 2^32.
    pub until: u32,
}

/// What is kept of the signatures of such keys.
#[derive(Debug, Default)]
pub(super) struct OfflineSignatures {
    /// The types that they are of, their algorithms, and the data of the RRSIG records.
    kept: Vec<(Rtype, u8, Vec<u8>)>,
    /// The keys whose signature of the DNSKEY RRset is kept.
    pub keys: Vec<OfflineKey>,
    /// What is to be said of those that are not.
    pub remarks: Vec<String>,
}

impl OfflineSignatures {
    /// Looks for them among `existing`, the signed records that the apex has, or had; `records` are what it is to have.
    ///
    /// # Errors
    /// [`SignError::OfflineKey`] where such a key would have to sign the DNSKEY RRset: no other key-signing key of its algorithm
    /// signs, and DS records in the parent zone are of such keys.
    pub fn find(
        records: &PackedRecords,
        existing: &RecordRange<'_>,
        keys: &[KeyPair],
        signing: &FileSigning,
    ) -> Result<Self, SignError> {
        let mut found = Self::default();
        if !signing.signs {
            return Ok(found);
        }
        let dnskeys = records
            .iter()
            .filter(|record| record.rtype == Rtype::DNSKEY)
            .filter(|record| is_offline(record.rdata, keys, &signing.publication));
        let mut missing: Vec<(u8, SignError)> = Vec::new();
        for dnskey in dnskeys {
            let public = PublicKey::from_dnskey(dnskey.rdata)?;
            let algorithm = public.algorithm().number();
            let is_needed = !has_key_signing(keys, algorithm);
            for rtype in SIGNED {
                let rrset: Vec<_> = records.iter().filter(|one| one.rtype == rtype).collect();
                if rrset.is_empty() {
                    continue;
                }
                match valid_signature(&rrset, existing, &public, signing) {
                    Ok(rdata) if rtype == Rtype::DNSKEY => found.keep_key(&dnskey, rdata),
                    Ok(rdata) => found.kept.push((rtype, algorithm, rdata.to_vec())),
                    Err(why) if rtype == Rtype::DNSKEY && is_needed => {
                        missing.push((algorithm, why.into_error(&dnskey)));
                    }
                    Err(why) => found.remarks.extend(why.remark(rtype, &public, is_needed)),
                }
            }
        }
        // One for each algorithm is enough.
        let is_missing = |(algorithm, _): &(u8, _)| !found.signs(Rtype::DNSKEY, *algorithm);
        match missing.into_iter().find(is_missing) {
            Some((_, error)) => Err(error),
            None => Ok(found),
        }
    }

    fn keep_key(&mut self, dnskey: &PackedRecord<'_>, rrsig: &[u8]) {
        self.kept
            .push((Rtype::DNSKEY, dnskey.rdata[3], rrsig.to_vec()));
        self.keys.extend(dnskey_of(dnskey).map(|key| OfflineKey {
            key,
            until: expiration_of(rrsig),
        }));
    }

    /// Whether a signature of the RRset of `rtype` by `algorithm` is kept, so that no zone-signing key has to stand in.
    pub fn signs(&self, rtype: Rtype, algorithm: u8) -> bool {
        let mut kept = self.kept.iter();
        kept.any(|(of, by, _)| *of == rtype && *by == algorithm)
    }

    /// The data of the RRSIG records that are kept for the RRset of `rtype`.
    pub fn signatures(&self, rtype: Rtype) -> impl Iterator<Item = &[u8]> {
        let of_type = self.kept.iter().filter(move |(of, _, _)| *of == rtype);
        of_type.map(|(_, _, rdata)| rdata.as_slice())
    }
}

/// The data of DNSKEY records of an earlier version of the zone that it keeps though it has them not: those of offline key-signing
/// keys by whose signatures the zone is known.
pub(super) fn carried<'a>(
    earlier: &RecordRange<'a>,
    keys: &[KeyPair],
    publication: &Publication,
) -> impl Iterator<Item = &'a [u8]> {
    let is_carried = move |rdata: &[u8]| {
        let is_used = |key: &KeyPair| key.algorithm().number() == rdata[3];
        publication.others == OtherKeys::Stay
            && is_offline(rdata, keys, publication)
            && publication.keeps_dnskey(rdata)
            && keys.iter().any(is_used)
            && !has_key_signing(keys, rdata[3])
    };
    let dnskeys = earlier
        .iter()
        .filter(|record| record.rtype == Rtype::DNSKEY);
    dnskeys
        .map(|record| record.rdata)
        .filter(move |rdata| is_carried(rdata))
}

/// The keys of which CDS and CDNSKEY records are made where these are to be of all key-signing keys: those of `keys`, and offline
/// ones in `records`, for which zone-signing keys stand in.
pub(super) fn synchronised(
    records: &PackedRecords,
    keys: &[KeyPair],
    publication: &Publication,
) -> Vec<Dnskey> {
    let offline: Vec<Dnskey> = records
        .iter()
        .filter(|record| record.rtype == Rtype::DNSKEY)
        .filter(|record| is_offline(record.rdata, keys, publication))
        .filter(|record| !has_key_signing(keys, record.rdata[3]))
        .filter_map(|record| dnskey_of(&record))
        .collect();
    let stands_in = |key: &&KeyPair| {
        let is_same = |one: &Dnskey| one.algorithm_number() == key.algorithm().number();
        key.role() == Role::Zsk && offline.iter().any(is_same)
    };
    let own = key_signing_keys(keys).filter(|key| !stands_in(key));
    let own = own.map(KeyPair::public);
    let lasting = own.filter(|key| !publication.leaving.contains(key));
    lasting.chain(&offline).cloned().collect()
}

/// The key of a DNSKEY record.
fn dnskey_of(record: &PackedRecord<'_>) -> Option<Dnskey> {
    let (&[high, low, _, algorithm], public_key) = record.rdata.split_first_chunk()?;
    // The bytes of a zone file's names are a name.
    let owner = Name::from_octets(bytes::Bytes::copy_from_slice(record.owner)).ok()?;
    let flags = u16::from_be_bytes([high, low]);
    Some(Dnskey::new(owner, flags, algorithm, public_key))
}

/// Whether a DNSKEY record is of a key-signing key whose private part is not at hand.
fn is_offline(rdata: &[u8], keys: &[KeyPair], publication: &Publication) -> bool {
    let &[high, low, _, _, _, ..] = rdata else {
        return false;
    };
    let marks = u16::from_be_bytes([high, low]) & (FLAG_ZONE | FLAG_SEP | FLAG_REVOKE);
    let is_at_hand = |key: &Dnskey| key.rdata() == rdata;
    marks == FLAG_ZONE | FLAG_SEP
        && !keys.iter().any(|key| is_at_hand(key.public()))
        && !publication.published(keys).any(is_at_hand)
}

/// Whether one of `keys` is a key-signing key of `algorithm`.
fn has_key_signing(keys: &[KeyPair], algorithm: u8) -> bool {
    keys.iter().any(|key| {
        key.algorithm().number() == algorithm
            && key.role() == Role::Ksk
            && !key.public().is_revoked()
    })
}

/// Why no signature of a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unkept {
    /// There is none.
    Missing,
    /// It is not valid yet, or ends within the refresh interval.
    Times,
    /// It is over other records or TTLs, or damaged.
    Invalid,
}

impl Unkept {
    fn text(self) -> &'static str {
        match self {
            Self::Missing => "there is none",
            Self::Times => {
                "the one that there is has expired, ends within the refresh interval (-i), or is not valid yet"
            }
            Self::Invalid => "the one that there is does not fit the records or their TTL",
        }
    }

    fn into_error(self, dnskey: &PackedRecord<'_>) -> SignError {
        SignError::OfflineKey {
            zone: shown_name(dnskey.owner),
            tag: crate::key_tag(dnskey.rdata),
            why: self.text(),
        }
    }

    /// What is to be said where the zone is signed nevertheless.
    fn remark(self, rtype: Rtype, key: &PublicKey, is_needed: bool) -> Option<String> {
        let (tag, why) = (key.tag(), self.text());
        match (self, rtype) {
            (_, Rtype::CDS | Rtype::CDNSKEY) if is_needed => Some(format!(
                "the {rtype} RRset needs a signature by the key-signing key with tag {tag}, whose private key is not at hand, for the parent to accept it (RFC 7344 section 4.1): {why}"
            )),
            (Self::Missing, _) => None,
            _ => Some(format!(
                "the {rtype} RRset loses its signature by the key-signing key with tag {tag}, whose private key is not at hand: {why}"
            )),
        }
    }
}

/// The data of an RRSIG record among `existing` by which `key` signs `rrset`, and goes on doing so.
fn valid_signature<'a>(
    rrset: &[PackedRecord<'_>],
    existing: &RecordRange<'a>,
    key: &PublicKey,
    signing: &FileSigning,
) -> Result<&'a [u8], Unkept> {
    let first = &rrset[0];
    let signer = first.owner.len();
    let is_by_key = |record: &PackedRecord<'_>| {
        let fields = record.rdata;
        record.covered() == Some(first.rtype)
            && fields.len() > HEAD + signer
            && fields[2] == key.algorithm().number()
            && fields[16..HEAD] == key.tag().to_be_bytes()
            && same_name(&fields[HEAD..HEAD + signer], first.owner)
    };
    let mut why = Unkept::Missing;
    for signature in existing.iter().filter(is_by_key) {
        let fields = signature.rdata;
        if !lasts(fields, signing) {
            why = Unkept::Times;
        } else if is_over(fields, rrset, key) {
            return Ok(fields);
        } else {
            why = Unkept::Invalid;
        }
    }
    Err(why)
}

/// Whether the RRSIG record with these fields has a valid signature by `key` over `rrset`, of the apex.
fn is_over(fields: &[u8], rrset: &[PackedRecord<'_>], key: &PublicKey) -> bool {
    let (owner, ttl_s) = (rrset[0].owner, rrset[0].ttl_s);
    let (head, signature) = fields.split_at(HEAD + owner.len());
    let mut data = head.to_ascii_lowercase();
    data[..HEAD].copy_from_slice(&head[..HEAD]);
    for record in rrset {
        push_canonical_record(owner, record.rtype, ttl_s, record.rdata, &mut data);
    }
    usize::from(fields[3]) == label_count(owner)
        && fields[4..8] == ttl_s.to_be_bytes()
        && key.verify(&data, signature)
}

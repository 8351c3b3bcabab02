//! Which keys sign what, and which keys the zone shows.

use super::plan::FileSigning;
use crate::{Dnskey, KeyPair, Role, SignError};
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{Name, PackedRecords};
use domain::base::iana::Rtype;
use std::path::{Path, PathBuf};

/// Octets of DNSKEY data before the public key.
const DNSKEY_FIXED: usize = 4;

/// What the DNSKEY, CDS and CDNSKEY RRsets of the zone are to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publication {
    /// Keys that get a DNSKEY record; `None` for those that sign.
    pub published: Option<Vec<Dnskey>>,
    /// Keys whose DNSKEY records go if the zone has them.
    pub withdrawn: Vec<Dnskey>,
    /// What becomes of other keys that the zone has.
    pub others: OtherKeys,
    /// Keys that get CDS and CDNSKEY records (RFC 7344), in place of all that the zone has; `None` leaves those.
    pub synchronised: Option<Vec<Dnskey>>,
    /// Signing keys that are about to go: CDS and CDNSKEY records are made of the others.
    pub leaving: Vec<Dnskey>,
    /// Where the files of the signing keys are written before the zone gets its name: for keys that were made for it.
    pub saves_keys_in: Option<PathBuf>,
}

/// What becomes of keys that the zone has and that neither sign nor are to be published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtherKeys {
    /// Their DNSKEY records stay.
    #[default]
    Stay,
    /// They go, with what else was made of them: CDS and CDNSKEY records, and a ZONEMD record, which is of the signed zone.
    Go,
    /// The zone is not signed, since resolvers may know it by them.
    Refused,
}

impl Publication {
    /// Whether the apex keeps a DNSKEY record that it has.
    pub(super) fn keeps_dnskey(&self, rdata: &[u8]) -> bool {
        self.others != OtherKeys::Go && !self.withdrawn.iter().any(|key| key.rdata() == rdata)
    }

    /// Whether the apex keeps records of `rtype`.
    pub(super) fn keeps(&self, rtype: Rtype) -> bool {
        match rtype {
            Rtype::CDS | Rtype::CDNSKEY => {
                self.synchronised.is_none() && self.others != OtherKeys::Go
            }
            Rtype::ZONEMD => self.others != OtherKeys::Go,
            _ => true,
        }
    }

    /// The keys that get a DNSKEY record.
    pub(super) fn published<'a>(
        &'a self,
        keys: &'a [KeyPair],
    ) -> Box<dyn Iterator<Item = &'a Dnskey> + 'a> {
        match &self.published {
            Some(published) => Box::new(published.iter()),
            None => Box::new(keys.iter().map(KeyPair::public)),
        }
    }
}

/// The keys that sign the DNSKEY, CDNSKEY and CDS RRsets: key-signing keys; of an algorithm without these, all. DS records in the
/// parent zone are made of them.
pub fn key_signing_keys(keys: &[KeyPair]) -> impl Iterator<Item = &KeyPair> {
    signers(keys, Role::Ksk)
        .into_iter()
        .map(|index| &keys[index])
        .filter(|key| !key.public().is_revoked())
}

/// The keys that sign everything but the DNSKEY RRset: zone-signing keys; of an algorithm without these, all.
pub fn zone_signing_keys(keys: &[KeyPair]) -> impl Iterator<Item = &KeyPair> {
    signers(keys, Role::Zsk)
        .into_iter()
        .map(|index| &keys[index])
}

/// The keys of `role`; of an algorithm without such keys, all of them (RFC 4035 section 2.2: every algorithm in the DNSKEY
/// RRset must sign everything). As indexes. Revoked keys sign the keys and nothing else (RFC 5011 section 2.1).
pub(super) fn signers(keys: &[KeyPair], role: Role) -> Vec<usize> {
    let is_usable = |key: &KeyPair| !key.public().is_revoked();
    let has_role = |wanted: &KeyPair| {
        keys.iter().any(|key| {
            is_usable(key) && key.algorithm() == wanted.algorithm() && key.role() == role
        })
    };
    let is_chosen = |key: &KeyPair| match is_usable(key) {
        true => key.role() == role || !has_role(key),
        false => role == Role::Ksk,
    };
    (0..keys.len())
        .filter(|&index| is_chosen(&keys[index]))
        .collect()
}

/// Refuses keys that cannot sign the zone `apex`.
pub(super) fn check_keys(
    apex: &[u8],
    keys: &[KeyPair],
    signing: &FileSigning,
) -> Result<(), SignError> {
    if keys.is_empty() && signing.signs {
        return Err(SignError::NoKeys {
            zone: shown_name(apex),
        });
    }
    if signing.signs && keys.iter().all(|key| key.public().is_revoked()) {
        return Err(SignError::OnlyRevokedKeys {
            zone: shown_name(apex),
        });
    }
    for key in keys {
        key.algorithm().check_sha1(signing.allows_sha1)?;
        if !dnsrig_zone::same_name(key.owner().as_slice(), apex) {
            // The bytes of a zone file's names are a name.
            let zone = Name::from_octets(bytes::Bytes::copy_from_slice(apex));
            zone.map_or(Ok(()), |zone| key.check_owner(&zone))?;
        }
    }
    Ok(())
}

/// Refuses DNSKEY records at the apex that make what `keys` sign bogus, or that are not to be there.
pub(super) fn check_dnskeys(
    apex: &[u8],
    records: &PackedRecords,
    keys: &[KeyPair],
    signing: &FileSigning,
) -> Result<(), SignError> {
    let dnskeys = records
        .iter()
        .filter(|record| record.rtype == Rtype::DNSKEY && record.rdata.len() >= DNSKEY_FIXED);
    for record in dnskeys {
        let is_ours = |key: &KeyPair| key.public().rdata() == record.rdata;
        let is_published = |key: &Dnskey| key.rdata() == record.rdata;
        let mut published = signing.publication.published(keys);
        let is_other = !keys.iter().any(is_ours) && !published.any(is_published);
        if is_other && signing.publication.others == OtherKeys::Refused {
            return Err(SignError::OtherKeys {
                zone: shown_name(apex),
                tag: crate::key_tag(record.rdata),
            });
        }
        let flags = u16::from_be_bytes([record.rdata[0], record.rdata[1]]);
        let is_zone_key =
            flags & crate::key::FLAG_ZONE != 0 && flags & crate::key::FLAG_REVOKE == 0;
        let algorithm = record.rdata[3];
        let is_signed = keys
            .iter()
            .any(|key| key.algorithm().number() == algorithm && !key.public().is_revoked());
        if signing.signs && is_zone_key && !is_signed {
            return Err(SignError::AlgorithmUnsigned {
                zone: shown_name(apex),
                tag: crate::key_tag(record.rdata),
                algorithm,
            });
        }
        // Validators would try it, and some refuse the zone for it.
        if signing.signs && is_zone_key && is_other {
            crate::PublicKey::from_dnskey(record.rdata)?;
        }
    }
    Ok(())
}

/// Key files that were written; dropping them unkept removes them, since no zone signed with them has got its name.
#[derive(Debug, Default)]
pub(super) struct SavedKeys {
    stems: Vec<PathBuf>,
}

impl SavedKeys {
    /// Writes the files of `keys` into `folder`, if there is one.
    pub fn write(keys: &[KeyPair], folder: Option<&Path>) -> Result<Self, SignError> {
        let mut saved = Self::default();
        if let Some(folder) = folder {
            for key in keys {
                saved.stems.push(key.write(folder)?);
            }
        }
        Ok(saved)
    }

    /// Lets the files stay.
    pub fn keep(mut self) {
        self.stems.clear();
    }
}

impl Drop for SavedKeys {
    fn drop(&mut self) {
        for stem in &self.stems {
            for suffix in ["private", "key"] {
                let mut file = stem.as_os_str().to_owned();
                file.push(".");
                file.push(suffix);
                // The error that matters is the one before.
                let _ = std::fs::remove_file(PathBuf::from(file));
            }
        }
    }
}

//! What all batches of a zone that is being signed have in common.

use super::apex::{Apex, SerialPolicy};
use super::changes::{check_apex, check_types};
use super::given::check_settings;
use super::keys::{Publication, check_keys, signers};
use super::offline::OfflineSignatures;
use super::state::State;
use crate::{KeyPair, Nsec3Parameters, Role, SignError};
use dnsrig_zone::flow::{Batch, Changes, RecordRange};
use dnsrig_zone::lookup::Nsec3Params;
use dnsrig_zone::zonemd::ZonemdHash;
use dnsrig_zone::{ZoneError, label_count};
use domain::base::iana::Rtype;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The refresh interval that keeps no signature of the input.
pub const KEEPS_NONE: u32 = u32::MAX;

/// How the zone denies that names or types exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Chain {
    /// A chain of NSEC records (RFC 4034 section 4).
    #[default]
    Nsec,
    /// A chain of NSEC3 records (RFC 5155).
    Nsec3(Nsec3Parameters),
    /// The chain that the zone has, signed as it is; for pieces of a zone.
    Given,
    /// One like the one that the zone has, made anew where names came or went; NSEC where it has none.
    Kept,
}

/// Which digests the zone gets (RFC 8976).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digests {
    /// Those of the ZONEMD records that it has are made anew; none in a zone without.
    AsInZone,
    /// These, and no others.
    Of(Vec<ZonemdHash>),
}

/// How a zone file is to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSigning {
    /// The chain of denial.
    pub chain: Chain,
    /// Makes signatures; without them a zone is only given its keys and its chain, to be split and signed by pieces.
    pub signs: bool,
    /// Start of the signatures' validity, in seconds since 1970 modulo 2^32 (RFC 4034 section 3.1.5).
    pub inception: u32,
    /// End of the signatures' validity, likewise.
    pub expiration: u32,
    /// End of the validity of the signatures of the apex' DNSKEY, CDS and CDNSKEY records; `None` for that of all others.
    pub keys_expiration: Option<u32>,
    /// Signatures end up to so many seconds earlier, by owner and type, so that they are not all renewed at once.
    pub jitter_s: u32,
    /// The time at which signatures of the input have to be valid still, likewise.
    pub now: u32,
    /// Signatures of the input that end within so many seconds are made anew; [`KEEPS_NONE`] makes all anew.
    pub refresh_s: u32,
    /// Verifies all signatures that are kept, also those of which the state file says that they are valid.
    pub verifies_kept: bool,
    /// Uses and writes the state file.
    pub has_state: bool,
    /// What becomes of the SOA record's serial number.
    pub serial: SerialPolicy,
    /// TTL of the DNSKEY records; else that of those in the zone, or in its earlier version, else that of the files of its
    /// keys, else that of the SOA record.
    pub dnskey_ttl_s: Option<u32>,
    /// Signs with keys of algorithms with SHA-1.
    pub allows_sha1: bool,
    /// Publishes CDS and CDNSKEY records of the key-signing keys (RFC 7344).
    pub publishes_cds: bool,
    /// Which digests the zone gets. A zone whose chain is given, as that of a piece, keeps its ZONEMD records as they are;
    /// one that is not signed yet gets none.
    pub digests: Digests,
    /// Which keys the zone shows besides.
    pub publication: Publication,
    /// Keys that do not sign any more, and whose signatures of data are kept.
    pub retired: Vec<RetiredKey>,
    /// A signed zone file with an earlier version of the zone, whose signatures and NSEC or NSEC3 records are taken for those of
    /// the zone; the zone's own are not looked at. Its chain is kept, and its digests are made anew.
    pub previous: Option<PathBuf>,
}

/// A key that is published and does not sign: until it goes, its signatures are as good as those of the key after it.
#[derive(Clone, Debug)]
pub struct RetiredKey {
    /// The key.
    pub key: KeyPair,
    /// When its DNSKEY record goes, in seconds since 1970 modulo 2^32. Signatures that end later are not kept: resolvers that
    /// have them would miss the key.
    pub until: u32,
}

impl PartialEq for RetiredKey {
    fn eq(&self, other: &Self) -> bool {
        self.key.public() == other.key.public() && self.until == other.until
    }
}

impl Eq for RetiredKey {}

impl FileSigning {
    /// An NSEC chain and fresh signatures of everything, without state file.
    pub fn new(inception: u32, expiration: u32) -> Self {
        Self {
            chain: Chain::Nsec,
            signs: true,
            inception,
            expiration,
            keys_expiration: None,
            jitter_s: 0,
            now: inception,
            refresh_s: 0,
            verifies_kept: false,
            has_state: false,
            serial: SerialPolicy::Keep,
            dnskey_ttl_s: None,
            allows_sha1: false,
            publishes_cds: false,
            digests: Digests::AsInZone,
            publication: Publication::default(),
            retired: Vec::new(),
            previous: None,
        }
    }

    /// Whether the zone is whole and signed, as a digest is of.
    pub(super) fn makes_digests(&self) -> bool {
        self.signs && self.chain != Chain::Given
    }

    /// The ends of validity that there are.
    fn expirations(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.expiration).chain(self.keys_expiration)
    }

    /// Refuses a jitter by which some signatures would be expired or about to at the next signing, unless all are to have
    /// expired already, or are to begin later. An interval that is longer than the validity is a way to renew everything.
    fn check_left(&self) -> Result<(), SignError> {
        let has_begun = self.now.wrapping_sub(self.inception) as i32 >= 0;
        for expiration in self.expirations() {
            let left_s = i64::from(expiration.wrapping_sub(self.now) as i32);
            let refresh_s = match self.refresh_s {
                KEEPS_NONE => 0,
                refresh_s => i64::from(refresh_s),
            };
            if self.jitter_s > 0
                && has_begun
                && left_s > 0
                && left_s - i64::from(self.jitter_s) <= refresh_s
            {
                return Err(SignError::RenewedAtOnce {
                    left_s,
                    jitter_s: self.jitter_s,
                    refresh_s,
                });
            }
        }
        Ok(())
    }

    /// Refuses times and parameters that make no sense.
    pub(super) fn check(&self, changes: Option<&Changes>) -> Result<(), SignError> {
        check_settings(self, changes.is_some())?;
        if self.previous.is_some() && changes.is_some() {
            return Err(SignError::PreviousAndChanges);
        }
        changes.map_or(Ok(()), check_types)?;
        for expiration in self.expirations() {
            // Serial number arithmetic (RFC 1982).
            let length = expiration.wrapping_sub(self.inception);
            if length == 0 || length >= 1 << 31 || length <= self.jitter_s {
                return Err(SignError::Validity {
                    inception: self.inception,
                    expiration: expiration.wrapping_sub(self.jitter_s),
                });
            }
        }
        self.check_left()?;
        if matches!(&self.digests, Digests::Of(hashes) if !hashes.is_empty())
            && !self.makes_digests()
        {
            return Err(SignError::DigestOfPiece);
        }
        match &self.chain {
            Chain::Nsec3(parameters) if parameters.salt.len() > 255 => {
                Err(SignError::SaltTooLong {
                    octets: parameters.salt.len(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// A key that signs, with what every signature of it begins with.
#[derive(Debug)]
pub(super) struct SigningKey {
    pub algorithm: u8,
    pub tag: u16,
    /// Of each signature by the key.
    pub signature_octets: usize,
    pub secret: Option<aws_lc_rs::hmac::Key>,
    pub public: crate::PublicKey,
    /// Set if the key is retired: its signatures are kept that do not end later.
    pub until: Option<u32>,
}

/// What all batches have in common.
#[derive(Debug)]
pub(super) struct Plan {
    pub signing: FileSigning,
    /// The keys that sign.
    pub keys: Arc<[KeyPair]>,
    /// The same, followed by retired ones.
    pub signing_keys: Vec<SigningKey>,
    /// The keys that sign data, and those that sign the zone's keys, as indexes into `signing_keys`.
    pub data_keys: Vec<usize>,
    key_keys: Vec<usize>,
    /// What other key-signing keys signed elsewhere.
    pub offline: OfflineSignatures,
    pub apex: Apex,
    pub apex_labels: usize,
    /// The apex in lower case, as signatures name the signer.
    pub signer: Box<[u8]>,
    pub hashing: Option<Nsec3Params>,
    pub opt_out: bool,
    pub state: Arc<State>,
    /// What was changed of the zone, if signatures of other names are not to be looked at.
    pub changes: Option<Arc<Changes>>,
    /// Set when nobody waits for the work any more.
    pub has_ended: AtomicBool,
}

/// Ends the work that waits or is going on when it is dropped, so that the pool is free at once after an error.
pub(super) struct EndOfWork(pub Arc<Plan>);

impl Drop for EndOfWork {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }
}

impl Plan {
    /// The retired keys that stand in for the signing key number `key`, which signs data.
    pub fn predecessors(&self, key: usize) -> impl Iterator<Item = usize> + '_ {
        let algorithm = self.signing_keys[key].algorithm;
        let is_first = self.successor(algorithm) == Some(key);
        let retired = self.keys.len()..self.signing_keys.len();
        retired
            .filter(move |&retired| is_first && self.signing_keys[retired].algorithm == algorithm)
    }

    /// The key that signs data by `algorithm` instead of retired ones: one of several, so that no signature is taken twice.
    pub fn successor(&self, algorithm: u8) -> Option<usize> {
        let mut keys = self.data_keys.iter().copied();
        keys.find(|&key| self.signing_keys[key].algorithm == algorithm)
    }

    /// The keys that sign the RRset of the zone's keys that is of `rtype`. Zone-signing keys do where there are no others.
    pub fn key_keys(&self, rtype: Rtype) -> Vec<usize> {
        let is_wanted = |&key: &usize| {
            let stands_in = self.keys[key].role() == Role::Zsk;
            !(stands_in && self.offline.signs(rtype, self.signing_keys[key].algorithm))
        };
        self.key_keys.iter().copied().filter(is_wanted).collect()
    }

    /// Fails when nobody waits for the work any more.
    pub fn check_end(&self) -> Result<(), SignError> {
        match self.has_ended.load(Ordering::Relaxed) {
            true => Err(SignError::Zone(ZoneError::Cancelled)),
            false => Ok(()),
        }
    }

    /// Looks at the keys and at the apex, which `first` begins with.
    pub fn new(
        apex: &[u8],
        first: Option<&Batch>,
        keys: Arc<[KeyPair]>,
        signing: &FileSigning,
        state: Arc<State>,
        changes: Option<Arc<Changes>>,
        previous: Option<&Batch>,
    ) -> Result<Self, SignError> {
        check_keys(apex, &keys, signing)?;
        let retired = signing.retired.iter();
        let of_all = keys.iter().map(|key| (key, None));
        let of_all = of_all.chain(retired.map(|retired| (&retired.key, Some(retired.until))));
        let mut signing_keys = Vec::with_capacity(keys.len() + signing.retired.len());
        for (index, (key, until)) in of_all.enumerate() {
            signing_keys.push(SigningKey {
                until,
                algorithm: key.algorithm().number(),
                tag: key.tag(),
                signature_octets: key.public().signature_octets().unwrap_or(0),
                secret: state.secret(index),
                public: crate::PublicKey::from_dnskey(key.public().rdata())?,
            });
        }
        let hashing = match &signing.chain {
            Chain::Nsec3(parameters) => Some(Nsec3Params {
                iterations: parameters.iterations,
                salt: parameters.salt.clone().into(),
            }),
            _ => None,
        };
        let apex_records = Apex::new(apex, first, previous, &keys, signing)?;
        if let Some(changes) = &changes {
            check_apex(changes, apex, &apex_records.records)?;
        }
        let earlier = previous.and_then(Batch::at_apex);
        let own = RecordRange::new(&apex_records.records, 0..apex_records.records.len());
        let existing = earlier.map_or(own, |earlier| earlier.records);
        let offline = OfflineSignatures::find(&apex_records.records, &existing, &keys, signing)?;
        let (data_keys, key_keys) = (signers(&keys, Role::Zsk), signers(&keys, Role::Ksk));
        Ok(Self {
            apex: apex_records,
            apex_labels: label_count(apex),
            signer: apex.to_ascii_lowercase().into(),
            opt_out: matches!(&signing.chain, Chain::Nsec3(parameters) if parameters.opt_out),
            signing: signing.clone(),
            signing_keys,
            data_keys,
            key_keys,
            offline,
            keys,
            hashing,
            changes: changes.filter(|_| !state.is_mostly_stale()),
            state,
            has_ended: AtomicBool::new(false),
        })
    }
}

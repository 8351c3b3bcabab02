//! Key pairs and the records made of them.

pub(crate) mod date;
mod dnskey;
mod tags;
mod timing;

pub use dnskey::{DigestType, Dnskey, key_tag};
pub(crate) use dnskey::{FLAG_REVOKE, FLAG_SEP, FLAG_ZONE, PROTOCOL, file_prefix};
pub use tags::KeyTags;
pub use timing::{KeyTiming, TimingEvent};

use crate::crypto::{self, PrivateFields, Signer};
use crate::{Algorithm, SignError};
use date::digits_of;
use dnsrig_zone::{Name, PresentationName, Record};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The DNSKEY RRset; everything where the zone has no zone-signing key of its algorithm. Has the SEP flag
    /// (RFC 4034 section 2.1.1).
    Ksk,
    /// Everything but the DNSKEY RRset.
    Zsk,
}

impl Role {
    /// The flags field of a new key.
    pub(crate) fn flags(self) -> u16 {
        match self {
            Self::Ksk => FLAG_ZONE | FLAG_SEP,
            Self::Zsk => FLAG_ZONE,
        }
    }
}

/// Keys made before giving up on a free tag; with 65,536 tags one is found at once unless nearly all are taken.
pub(crate) const TAG_ATTEMPTS_MAX: usize = 100;

/// Where a key was read, for error messages.
#[derive(Clone, Debug)]
pub(crate) struct KeyFiles {
    pub public: PathBuf,
    /// The line of the DNSKEY record in it.
    pub record_line: usize,
    pub private: PathBuf,
    /// The events whose times the private file has, and the line of each.
    pub timing_lines: Vec<(TimingEvent, usize)>,
}

impl KeyFiles {
    /// Where the time of `event` stands; the comments of the public file have those that the private file has not.
    fn place_of(&self, event: Option<TimingEvent>) -> (PathBuf, usize) {
        let in_private = self
            .timing_lines
            .iter()
            .find(|(known, _)| Some(*known) == event);
        match in_private {
            Some((_, line)) => (self.private.clone(), *line),
            None => (self.public.clone(), 1),
        }
    }
}

/// A zone's key: public and private part. Clones share the private part.
#[derive(Clone)]
pub struct KeyPair {
    public: Dnskey,
    role: Role,
    algorithm: Algorithm,
    tag: u16,
    timing: KeyTiming,
    files: Option<KeyFiles>,
    signer: Arc<dyn Signer>,
}

impl fmt::Debug for KeyPair {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair")
            .field("owner", self.owner())
            .field("algorithm", &self.algorithm)
            .field("flags", &self.flags())
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl KeyPair {
    /// Makes a key for `zone` from the system's random numbers, with a tag that none of the zone's `others` has.
    ///
    /// `bits` is for RSA: 1024 to 4096, by default 2048. A key that is to sign alone (CSK) is a [`Role::Ksk`]. It is
    /// published and active from now on.
    pub fn generate(
        zone: &Name,
        algorithm: Algorithm,
        bits: Option<u32>,
        role: Role,
        others: &[KeyPair],
    ) -> Result<Self, SignError> {
        algorithm.check_sha1(false)?;
        Self::generate_apart(zone, algorithm, bits, role, &KeyTags::of(others))
    }

    /// Makes a key like [`KeyPair::generate`], whose tag, now and once it is revoked, is none of `taken`. Whether SHA-1 is
    /// permitted is for the caller to check.
    pub fn generate_apart(
        zone: &Name,
        algorithm: Algorithm,
        bits: Option<u32>,
        role: Role,
        taken: &KeyTags,
    ) -> Result<Self, SignError> {
        let bits = algorithm.key_bits(bits)?;
        let timing = KeyTiming::from_creation(now_s());
        for _ in 0..TAG_ATTEMPTS_MAX {
            let signer = crypto::generate(algorithm, bits)?;
            let key = Self::new(zone.clone(), algorithm, role.flags(), signer);
            if !taken.collide_with(&key.public) {
                return Ok(key.with_timing(timing));
            }
        }
        Err(SignError::KeyTagsTaken { keys: taken.keys() })
    }

    /// Makes the key for `zone` whose private part is `secret`: big-endian, 32 octets for ECDSA P-256 and Ed25519, 48 for
    /// P-384. Signatures are deterministic, so that the same secret signs the same data alike. It has no times.
    ///
    /// Fails with [`SignError::Crypto`] for RSA, see [`KeyPair::rsa_from_random`], and if `secret` is no key of the curve.
    pub fn from_secret(
        zone: &Name,
        algorithm: Algorithm,
        role: Role,
        secret: &[u8],
    ) -> Result<Self, SignError> {
        let unusable = SignError::Crypto {
            what: "making a key of given octets",
        };
        if algorithm.is_rsa() {
            return Err(unusable);
        }
        let fields = crypto::secret_field(secret);
        let signer = crypto::from_private_fields(algorithm, &fields).map_err(|_| unusable)?;
        let mut key = Self::new(zone.clone(), algorithm, role.flags(), signer);
        key.make_deterministic()?;
        Ok(key)
    }

    /// Makes an RSA key for `zone` from the numbers that `random` fills memory with: the same numbers give the same key. It
    /// has no times.
    ///
    /// This is for keys that have to be repeatable and protect nothing.
    pub fn rsa_from_random(
        zone: &Name,
        algorithm: Algorithm,
        bits: u32,
        role: Role,
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, SignError> {
        let bits = algorithm.key_bits(Some(bits))?;
        let signer = crypto::rsa_from_random(algorithm, bits, random)?;
        Ok(Self::new(zone.clone(), algorithm, role.flags(), signer))
    }

    /// The same private key for another zone or role.
    pub fn for_zone(&self, zone: &Name, role: Role) -> Self {
        let public = Dnskey::new(
            zone.clone(),
            role.flags(),
            self.algorithm.number(),
            self.public_key(),
        );
        Self {
            tag: public.tag(),
            role: public.role(),
            public,
            algorithm: self.algorithm,
            timing: KeyTiming::default(),
            files: None,
            signer: Arc::clone(&self.signer),
        }
    }

    pub(crate) fn new(
        owner: Name,
        algorithm: Algorithm,
        flags: u16,
        signer: Box<dyn Signer>,
    ) -> Self {
        let public = Dnskey::new(owner, flags, algorithm.number(), &signer.public_key());
        Self::from_dnskey(public, algorithm, signer)
    }

    /// The pair of `public` and the private key that belongs to it.
    pub(crate) fn from_dnskey(
        public: Dnskey,
        algorithm: Algorithm,
        signer: Box<dyn Signer>,
    ) -> Self {
        Self {
            tag: public.tag(),
            role: public.role(),
            public,
            algorithm,
            timing: KeyTiming::default(),
            files: None,
            signer: signer.into(),
        }
    }

    /// The key with these times.
    pub fn with_timing(mut self, timing: KeyTiming) -> Self {
        self.timing = timing;
        if let Some(files) = &mut self.files {
            files.timing_lines.clear();
        }
        self
    }

    /// The key with this TTL for its DNSKEY record in its `.key` file; `None` leaves the TTL to the zone.
    pub fn with_ttl(self, ttl_s: Option<u32>) -> Self {
        Self {
            public: self.public.with_ttl(ttl_s),
            ..self
        }
    }

    pub(crate) fn with_files(self, files: KeyFiles) -> Self {
        Self {
            files: Some(files),
            ..self
        }
    }

    /// The key with the REVOKE flag (RFC 5011 section 2.1), and so with another tag.
    pub fn into_revoked(self) -> Self {
        let public = self.public.to_revoked();
        Self {
            tag: public.tag(),
            public,
            ..self
        }
    }

    /// The public side.
    pub fn public(&self) -> &Dnskey {
        &self.public
    }

    /// The zone that the key is for.
    pub fn owner(&self) -> &Name {
        self.public.owner()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The flags field of the DNSKEY record.
    pub fn flags(&self) -> u16 {
        self.public.flags()
    }

    /// What the key signs: by its SEP flag, unless [`KeyPair::with_role`] says otherwise.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The key signing what `role` signs, whatever its SEP flag says.
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The public key as the DNSKEY record has it.
    pub fn public_key(&self) -> &[u8] {
        self.public.public_key()
    }

    /// The key tag (RFC 4034 appendix B).
    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// The TTL that the `.key` file gives the DNSKEY record; `None` if it leaves that to the zone.
    pub fn ttl_s(&self) -> Option<u32> {
        self.public.ttl_s()
    }

    /// When the key was made, in seconds since 1970; 0 if its files do not say.
    pub fn created_s(&self) -> u64 {
        self.timing.get(TimingEvent::Created).unwrap_or(0)
    }

    /// The times of the key's life.
    pub fn timing(&self) -> &KeyTiming {
        &self.timing
    }

    /// Whether the zone's DNSKEY RRset is to have the key at `now_s`, in seconds since 1970; see [`KeyTiming`].
    pub fn is_published(&self, now_s: u64) -> bool {
        self.timing.is_published(now_s)
    }

    /// Whether the key is to sign at `now_s`.
    pub fn is_active(&self, now_s: u64) -> bool {
        self.timing.is_active(now_s)
    }

    /// Whether the key is to be published with the REVOKE flag at `now_s`; [`KeyPair::into_revoked`] sets it.
    pub fn is_revoked(&self, now_s: u64) -> bool {
        self.timing.is_revoked(now_s)
    }

    /// Fails unless the key signs at `now_s`, with the file, the line and the time because of which it does not.
    pub fn check_active(&self, now_s: u64) -> Result<(), SignError> {
        if self.is_active(now_s) {
            return Ok(());
        }
        let reason = self.timing.reason_not_active(now_s);
        let why = reason.map_or(
            "it has no time of activation".to_owned(),
            |(event, time_s)| format!("its time {} is {}", event.name(), digits_of(time_s)),
        );
        let what = format!("the key does not sign at {}: {why}", digits_of(now_s));
        let hint = "use another key, or change its times with dnsrig settime";
        Err(match &self.files {
            Some(files) => {
                let (file, line) = files.place_of(reason.map(|(event, _)| event));
                SignError::KeyFile {
                    file,
                    line,
                    what,
                    hint,
                }
            }
            None => SignError::UnusableKey {
                key: self.file_stem(),
                what,
                hint,
            },
        })
    }

    /// Fails unless the key is for `zone`, with the file and line that say otherwise.
    pub fn check_owner(&self, zone: &Name) -> Result<(), SignError> {
        if self.owner() == zone {
            return Ok(());
        }
        let owner = PresentationName(self.owner()).to_string();
        let zone = PresentationName(zone).to_string();
        Err(match &self.files {
            Some(files) => SignError::KeyFile {
                file: files.public.clone(),
                line: files.record_line,
                what: format!("the key is for {owner}, not for the zone {zone}"),
                hint: "leave it out, or check the zone's name",
            },
            None => SignError::ForeignKey {
                tag: self.tag,
                owner,
                zone,
            },
        })
    }

    /// The DNSKEY record (RFC 4034 section 2).
    pub fn dnskey(&self, ttl_s: u32) -> Record {
        self.public.record(ttl_s)
    }

    /// The DS record for the parent zone (RFC 4034 section 5).
    pub fn ds(&self, digest_type: DigestType, ttl_s: u32) -> Record {
        self.public.ds(digest_type, ttl_s)
    }

    /// Appends the signature of `data`, as RRSIG records have it, to `signature`.
    pub fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError> {
        self.signer.sign_into(data, signature)
    }

    /// Appends the signatures of all `data`, one after the other, each of the same length; faster than one by one where keys are ECDSA.
    pub fn sign_batch(&self, data: &[&[u8]], signatures: &mut Vec<u8>) -> Result<(), SignError> {
        self.signer.sign_batch(data, signatures)
    }

    /// Makes the same data have the same signature from now on (RFC 6979 for ECDSA; the other algorithms do that anyhow), so that signing
    /// a zone twice gives the same zone. Fails if the key cannot, as in a hardware module, and if it has clones.
    pub fn make_deterministic(&mut self) -> Result<(), SignError> {
        match Arc::get_mut(&mut self.signer) {
            Some(signer) => signer.make_deterministic(),
            None => Err(SignError::Crypto {
                what: "changing a key that is in use",
            }),
        }
    }

    pub(crate) fn private_fields(&self) -> Result<PrivateFields, SignError> {
        self.signer.private_fields()
    }

    /// The base of the names of the key's files: `K<zone>+<algorithm>+<tag>`.
    pub fn file_stem(&self) -> String {
        self.public.file_stem()
    }
}

/// Seconds since 1970.
pub(crate) fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

//! Key pairs and the records made of them.

use crate::crypto::{self, PrivateFields, Signer};
use crate::{Algorithm, SignError};
use aws_lc_rs::digest;
use bytes::Bytes;
use dnsrig_zone::{Name, PresentationName, Record};
use domain::base::iana::{Class, Rtype};
use domain::base::name::ToName;
use std::fmt;
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

/// Zone Key flag of DNSKEY (RFC 4034 section 2.1.1).
const FLAG_ZONE: u16 = 0x0100;
/// Secure Entry Point flag of DNSKEY.
const FLAG_SEP: u16 = 0x0001;
/// The only value that DNSKEY's protocol field can have.
const PROTOCOL: u8 = 3;

/// Keys made before giving up on a free tag; with 65,536 tags one is found at once unless nearly all are taken.
const TAG_ATTEMPTS_MAX: usize = 100;

/// The digest of a DS record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigestType {
    /// SHA-256, number 2 (RFC 4509).
    Sha256,
    /// SHA-384, number 4 (RFC 6605).
    Sha384,
}

/// A zone's key: public and private part. Clones share the private part.
#[derive(Clone)]
pub struct KeyPair {
    owner: Name,
    algorithm: Algorithm,
    flags: u16,
    public_key: Vec<u8>,
    tag: u16,
    created_s: u64,
    signer: Arc<dyn Signer>,
}

impl fmt::Debug for KeyPair {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair")
            .field("owner", &self.owner)
            .field("algorithm", &self.algorithm)
            .field("flags", &self.flags)
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl KeyPair {
    /// Makes a key for `zone` from the system's random numbers, with a tag that none of the zone's `others` has.
    ///
    /// `bits` is for RSA: 1024 to 4096, by default 2048. A key that is to sign alone (CSK) is a [`Role::Ksk`].
    pub fn generate(
        zone: &Name,
        algorithm: Algorithm,
        bits: Option<u32>,
        role: Role,
        others: &[KeyPair],
    ) -> Result<Self, SignError> {
        algorithm.check_sha1(false)?;
        let bits = algorithm.key_bits(bits)?;
        let flags = match role {
            Role::Ksk => FLAG_ZONE | FLAG_SEP,
            Role::Zsk => FLAG_ZONE,
        };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        for _ in 0..TAG_ATTEMPTS_MAX {
            let signer = crypto::generate(algorithm, bits)?;
            let key = Self::new(zone.clone(), algorithm, flags, now.as_secs(), signer);
            if others.iter().all(|other| other.tag != key.tag) {
                return Ok(key);
            }
        }
        Err(SignError::KeyTagsTaken { keys: others.len() })
    }

    pub(crate) fn new(
        owner: Name,
        algorithm: Algorithm,
        flags: u16,
        created_s: u64,
        signer: Box<dyn Signer>,
    ) -> Self {
        let public_key = signer.public_key();
        let mut key = Self {
            owner,
            algorithm,
            flags,
            public_key,
            tag: 0,
            created_s,
            signer: signer.into(),
        };
        key.tag = key_tag(&key.dnskey_rdata());
        key
    }

    /// The zone that the key is for.
    pub fn owner(&self) -> &Name {
        &self.owner
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The flags field of the DNSKEY record.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// What the key signs, by its SEP flag.
    pub fn role(&self) -> Role {
        match self.flags & FLAG_SEP {
            0 => Role::Zsk,
            _ => Role::Ksk,
        }
    }

    /// The public key as the DNSKEY record has it.
    pub fn public_key(&self) -> &[u8] {
        &self.public_key
    }

    /// The key tag (RFC 4034 appendix B).
    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// When the key was made, in seconds since 1970.
    pub fn created_s(&self) -> u64 {
        self.created_s
    }

    /// The DNSKEY record (RFC 4034 section 2).
    pub fn dnskey(&self, ttl_s: u32) -> Record {
        self.record(Rtype::DNSKEY, ttl_s, self.dnskey_rdata())
    }

    /// The DS record for the parent zone (RFC 4034 section 5).
    pub fn ds(&self, digest_type: DigestType, ttl_s: u32) -> Record {
        let (number, hash) = match digest_type {
            DigestType::Sha256 => (2, &digest::SHA256),
            DigestType::Sha384 => (4, &digest::SHA384),
        };
        let owner: Name = self.owner.to_canonical_name();
        let digested = [owner.as_slice(), &self.dnskey_rdata()].concat();
        let mut rdata = self.tag.to_be_bytes().to_vec();
        rdata.extend([self.algorithm.number(), number]);
        rdata.extend_from_slice(digest::digest(hash, &digested).as_ref());
        self.record(Rtype::DS, ttl_s, rdata)
    }

    fn record(&self, rtype: Rtype, ttl: u32, rdata: Vec<u8>) -> Record {
        Record {
            owner: self.owner.clone(),
            rtype,
            class: Class::IN,
            ttl,
            rdata: Bytes::from(rdata),
        }
    }

    pub(crate) fn dnskey_rdata(&self) -> Vec<u8> {
        let mut rdata = self.flags.to_be_bytes().to_vec();
        rdata.extend([PROTOCOL, self.algorithm.number()]);
        rdata.extend(&self.public_key);
        rdata
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
    /// a zone twice gives the same zone. Fails if the key cannot, as in a hardware module.
    pub fn make_deterministic(&mut self) -> Result<(), SignError> {
        self.signer.make_deterministic()
    }

    pub(crate) fn private_fields(&self) -> Result<PrivateFields, SignError> {
        self.signer.private_fields()
    }

    /// The base of the names of the key's files: `K<zone>+<algorithm>+<tag>`.
    pub fn file_stem(&self) -> String {
        // Slashes cannot stand in a file name, so BIND escapes them, and lower case is what it looks for.
        let zone = PresentationName(&self.owner.to_canonical_name())
            .to_string()
            .replace('/', "\\047");
        format!("K{zone}+{:03}+{:05}", self.algorithm.number(), self.tag)
    }
}

/// The tag of a DNSKEY's RDATA (RFC 4034 appendix B); algorithm 1 has another.
pub fn key_tag(dnskey_rdata: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for (index, &octet) in dnskey_rdata.iter().enumerate() {
        sum += match index % 2 {
            0 => u32::from(octet) << 8,
            _ => u32::from(octet),
        };
    }
    (sum + (sum >> 16)) as u16
}

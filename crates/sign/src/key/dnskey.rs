//! The public side of keys: DNSKEY records, and the DS records made of them.

use super::Role;
use crate::{Algorithm, SignError};
use aws_lc_rs::digest;
use bytes::Bytes;
use dnsrig_zone::{Name, PresentationName, Record};
use domain::base::iana::{Class, Rtype};
use domain::base::name::ToName;
use std::str::FromStr;

/// Zone Key flag of DNSKEY (RFC 4034 section 2.1.1).
pub(crate) const FLAG_ZONE: u16 = 0x0100;
/// Revoke flag of DNSKEY (RFC 5011 section 7).
pub(crate) const FLAG_REVOKE: u16 = 0x0080;
/// Secure Entry Point flag of DNSKEY (RFC 4034 section 2.1.1).
pub(crate) const FLAG_SEP: u16 = 0x0001;
/// The only value that DNSKEY's protocol field can have.
pub(crate) const PROTOCOL: u8 = 3;

/// Octets of DNSKEY RDATA before the public key.
const FIXED_OCTETS: usize = 4;

/// The digest of a DS record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestType {
    /// SHA-1, number 1: validators need not know it any more, and nobody should publish it (RFC 9905).
    Sha1,
    /// SHA-256, number 2 (RFC 4509).
    Sha256,
    /// SHA-384, number 4 (RFC 6605).
    Sha384,
}

impl DigestType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha1, Self::Sha256, Self::Sha384];

    /// The number in DS records (IANA registry "Digest Algorithms").
    pub fn number(self) -> u8 {
        match self {
            Self::Sha1 => 1,
            Self::Sha256 => 2,
            Self::Sha384 => 4,
        }
    }

    /// The registered name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
        }
    }

    fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
        }
    }
}

impl FromStr for DigestType {
    type Err = SignError;

    /// Takes a number, or a name in any case with or without its hyphen.
    fn from_str(text: &str) -> Result<Self, SignError> {
        let found = Self::ALL.into_iter().find(|digest| {
            let name = digest.name();
            digest.number().to_string() == text
                || name.eq_ignore_ascii_case(text)
                || name.replace('-', "").eq_ignore_ascii_case(text)
        });
        found.ok_or_else(|| SignError::UnsupportedDigest {
            name: text.to_owned(),
        })
    }
}

/// A zone's DNSKEY, of any algorithm, without its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dnskey {
    owner: Name,
    ttl_s: Option<u32>,
    /// Flags, protocol, algorithm: at least [`FIXED_OCTETS`].
    rdata: Bytes,
}

impl Dnskey {
    /// The key of a DNSKEY record; `None` for a record of another type, or RDATA too short to be one.
    pub fn from_record(record: &Record) -> Option<Self> {
        let is_dnskey = record.rtype == Rtype::DNSKEY && record.rdata.len() >= FIXED_OCTETS;
        is_dnskey.then(|| Self {
            owner: record.owner.clone(),
            ttl_s: Some(record.ttl),
            rdata: record.rdata.clone(),
        })
    }

    pub(crate) fn new(owner: Name, flags: u16, algorithm: u8, public_key: &[u8]) -> Self {
        let mut rdata = flags.to_be_bytes().to_vec();
        rdata.extend([PROTOCOL, algorithm]);
        rdata.extend(public_key);
        Self {
            owner,
            ttl_s: None,
            rdata: Bytes::from(rdata),
        }
    }

    pub(crate) fn with_ttl(self, ttl_s: Option<u32>) -> Self {
        Self { ttl_s, ..self }
    }

    /// The same key with other flags, and with that another tag.
    pub(crate) fn with_flags(&self, flags: u16) -> Self {
        let rdata = [&flags.to_be_bytes(), &self.rdata[2..]].concat();
        Self {
            owner: self.owner.clone(),
            ttl_s: self.ttl_s,
            rdata: Bytes::from(rdata),
        }
    }

    /// The same key with the REVOKE flag (RFC 5011 section 2.1), and with that another tag.
    pub fn to_revoked(&self) -> Self {
        self.with_flags(self.flags() | FLAG_REVOKE)
    }

    /// The zone that the key is for.
    pub fn owner(&self) -> &Name {
        &self.owner
    }

    /// The TTL of the record; `None` if its `.key` file leaves it to the zone.
    pub fn ttl_s(&self) -> Option<u32> {
        self.ttl_s
    }

    /// The flags field.
    pub fn flags(&self) -> u16 {
        u16::from_be_bytes([self.rdata[0], self.rdata[1]])
    }

    /// The protocol field; anything but 3 makes the key invalid (RFC 4034 section 2.1.2).
    pub fn protocol(&self) -> u8 {
        self.rdata[2]
    }

    /// The number of the algorithm, whether this crate can sign with it or not.
    pub fn algorithm_number(&self) -> u8 {
        self.rdata[3]
    }

    /// The public key field.
    pub fn public_key(&self) -> &[u8] {
        &self.rdata[FIXED_OCTETS..]
    }

    /// Octets of each signature by the key: as many as its modulus has (RFC 3110 section 3), or as its algorithm says
    /// (RFC 6605 section 4, RFC 8080 section 4). `None` for another algorithm, or an RSA key that is none.
    pub fn signature_octets(&self) -> Option<usize> {
        let algorithm = Algorithm::from_number(self.algorithm_number()).ok()?;
        Some(match algorithm {
            Algorithm::EcdsaP256Sha256 | Algorithm::Ed25519 => 64,
            Algorithm::EcdsaP384Sha384 => 96,
            _ => {
                let (before, exponent) = match *self.public_key() {
                    [0, high, low, ..] => (3, u16::from_be_bytes([high, low])),
                    [length, ..] => (1, u16::from(length)),
                    [] => return None,
                };
                let before = before + usize::from(exponent);
                self.public_key().len().checked_sub(before)?
            }
        })
    }

    /// The RDATA.
    pub fn rdata(&self) -> &Bytes {
        &self.rdata
    }

    /// Whether the zone key flag is set, without which a key signs no zone (RFC 4034 section 2.1.1).
    pub fn is_zone_key(&self) -> bool {
        self.flags() & FLAG_ZONE != 0
    }

    /// Whether the REVOKE flag is set (RFC 5011 section 7).
    pub fn is_revoked(&self) -> bool {
        self.flags() & FLAG_REVOKE != 0
    }

    /// What the key signs, by its SEP flag.
    pub fn role(&self) -> Role {
        match self.flags() & FLAG_SEP {
            0 => Role::Zsk,
            _ => Role::Ksk,
        }
    }

    /// The key tag (RFC 4034 appendix B).
    pub fn tag(&self) -> u16 {
        key_tag(&self.rdata)
    }

    /// The tag that the key has, or will have, with the REVOKE flag.
    pub fn revoked_tag(&self) -> u16 {
        self.to_revoked().tag()
    }

    /// The DNSKEY record (RFC 4034 section 2).
    pub fn record(&self, ttl_s: u32) -> Record {
        self.record_of(Rtype::DNSKEY, ttl_s, self.rdata.clone())
    }

    /// The DS record for the parent zone (RFC 4034 section 5).
    pub fn ds(&self, digest_type: DigestType, ttl_s: u32) -> Record {
        self.record_of(Rtype::DS, ttl_s, self.ds_rdata(digest_type))
    }

    /// The CDS record, by which the zone asks its parent for that DS record (RFC 7344 section 3.1).
    pub fn cds(&self, digest_type: DigestType, ttl_s: u32) -> Record {
        self.record_of(Rtype::CDS, ttl_s, self.ds_rdata(digest_type))
    }

    /// The CDNSKEY record (RFC 7344 section 3.2).
    pub fn cdnskey(&self, ttl_s: u32) -> Record {
        self.record_of(Rtype::CDNSKEY, ttl_s, self.rdata.clone())
    }

    fn ds_rdata(&self, digest_type: DigestType) -> Bytes {
        let owner: Name = self.owner.to_canonical_name();
        let mut context = digest::Context::new(digest_type.algorithm());
        context.update(owner.as_slice());
        context.update(&self.rdata);
        let mut rdata = self.tag().to_be_bytes().to_vec();
        rdata.extend([self.algorithm_number(), digest_type.number()]);
        rdata.extend_from_slice(context.finish().as_ref());
        Bytes::from(rdata)
    }

    fn record_of(&self, rtype: Rtype, ttl: u32, rdata: Bytes) -> Record {
        Record {
            owner: self.owner.clone(),
            rtype,
            class: Class::IN,
            ttl,
            rdata,
        }
    }

    /// The base of the names of the key's files: `K<zone>+<algorithm>+<tag>`.
    pub fn file_stem(&self) -> String {
        let prefix = file_prefix(&self.owner);
        format!("{prefix}+{:03}+{:05}", self.algorithm_number(), self.tag())
    }
}

/// What the names of the files of all keys for `zone` begin with, before the first plus sign.
pub(crate) fn file_prefix(zone: &Name) -> String {
    // Slashes cannot stand in a file name, so BIND escapes them, and lower case is what it looks for.
    let zone = PresentationName(&zone.to_canonical_name::<Bytes>())
        .to_string()
        .replace('/', "\\047");
    format!("K{zone}")
}

/// The tag of a DNSKEY's RDATA (RFC 4034 appendix B).
pub fn key_tag(dnskey_rdata: &[u8]) -> u16 {
    // Algorithm 1 takes it from the modulus (appendix B.1).
    if let [_, _, _, 1, .., high, low, _] = dnskey_rdata {
        return u16::from_be_bytes([*high, *low]);
    }
    let mut sum: u32 = 0;
    for (index, &octet) in dnskey_rdata.iter().enumerate() {
        sum += match index % 2 {
            0 => u32::from(octet) << 8,
            _ => u32::from(octet),
        };
    }
    (sum + (sum >> 16)) as u16
}

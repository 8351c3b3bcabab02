//! The DNSSEC algorithms that keys can have.

use crate::SignError;
use std::fmt;
use std::str::FromStr;

/// A DNSSEC algorithm (IANA registry "DNS Security Algorithm Numbers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// RSA with SHA-1, number 5 (RFC 3110).
    RsaSha1,
    /// The same under another number, 7, for zones with NSEC3 (RFC 5155 section 2).
    RsaSha1Nsec3Sha1,
    /// RSA with SHA-256, number 8 (RFC 5702).
    RsaSha256,
    /// RSA with SHA-512, number 10 (RFC 5702).
    RsaSha512,
    /// ECDSA P-256 with SHA-256, number 13 (RFC 6605).
    EcdsaP256Sha256,
    /// ECDSA P-384 with SHA-384, number 14 (RFC 6605).
    EcdsaP384Sha384,
    /// Ed25519, number 15 (RFC 8080).
    Ed25519,
}

/// RSA key sizes in bits: smaller ones are broken, larger ones longer than RFC 3110 section 2 allows.
const RSA_BITS: std::ops::RangeInclusive<u32> = 1024..=4096;

impl Algorithm {
    /// Those that new keys may have without more ado: all but the ones with SHA-1.
    pub const ALL: [Self; 5] = [
        Self::RsaSha256,
        Self::RsaSha512,
        Self::EcdsaP256Sha256,
        Self::EcdsaP384Sha384,
        Self::Ed25519,
    ];

    /// Those with SHA-1, which must not be used for signing and may be for verifying (RFC 9905).
    pub const WITH_SHA1: [Self; 2] = [Self::RsaSha1, Self::RsaSha1Nsec3Sha1];

    /// Every supported one.
    fn every() -> impl Iterator<Item = Self> {
        Self::WITH_SHA1.into_iter().chain(Self::ALL)
    }

    /// The number in DNSKEY, RRSIG and DS records.
    pub fn number(self) -> u8 {
        match self {
            Self::RsaSha1 => 5,
            Self::RsaSha1Nsec3Sha1 => 7,
            Self::RsaSha256 => 8,
            Self::RsaSha512 => 10,
            Self::EcdsaP256Sha256 => 13,
            Self::EcdsaP384Sha384 => 14,
            Self::Ed25519 => 15,
        }
    }

    /// The algorithm with this number.
    pub fn from_number(number: u8) -> Result<Self, SignError> {
        let mut every = Self::every();
        let found = every.find(|algorithm| algorithm.number() == number);
        found.ok_or_else(|| unsupported(&number.to_string()))
    }

    /// The mnemonic.
    pub fn name(self) -> &'static str {
        match self {
            Self::RsaSha1 => "RSASHA1",
            // The registry has RSASHA1-NSEC3-SHA1; BIND's files and tools have this.
            Self::RsaSha1Nsec3Sha1 => "NSEC3RSASHA1",
            Self::RsaSha256 => "RSASHA256",
            Self::RsaSha512 => "RSASHA512",
            Self::EcdsaP256Sha256 => "ECDSAP256SHA256",
            Self::EcdsaP384Sha384 => "ECDSAP384SHA384",
            Self::Ed25519 => "ED25519",
        }
    }

    /// Whether keys of this algorithm come in several sizes.
    pub fn is_rsa(self) -> bool {
        self.is_sha1() || matches!(self, Self::RsaSha256 | Self::RsaSha512)
    }

    /// Whether it uses SHA-1: then nothing is to be signed with it unless the user permits that expressly (RFC 9905).
    pub fn is_sha1(self) -> bool {
        Self::WITH_SHA1.contains(&self)
    }

    /// Fails for algorithms with SHA-1 unless they are permitted.
    pub fn check_sha1(self, allow_sha1: bool) -> Result<(), SignError> {
        match self.is_sha1() && !allow_sha1 {
            true => Err(SignError::Sha1 { algorithm: self }),
            false => Ok(()),
        }
    }

    /// The size in bits of a new key for which `bits` were asked: RSA takes 1024 to 4096 and has 2048 by default.
    pub fn key_bits(self, bits: Option<u32>) -> Result<u32, SignError> {
        let fixed = match self {
            Self::RsaSha1 | Self::RsaSha1Nsec3Sha1 | Self::RsaSha256 | Self::RsaSha512 => {
                let bits = bits.unwrap_or(2048);
                return match RSA_BITS.contains(&bits) {
                    true => Ok(bits),
                    false => Err(SignError::KeySize {
                        algorithm: self,
                        bits,
                    }),
                };
            }
            Self::EcdsaP256Sha256 | Self::Ed25519 => 256,
            Self::EcdsaP384Sha384 => 384,
        };
        match bits {
            Some(bits) if bits != fixed => Err(SignError::FixedKeySize {
                algorithm: self,
                fixed,
                bits,
            }),
            _ => Ok(fixed),
        }
    }
}

fn unsupported(name: &str) -> SignError {
    match name == "16" || name.eq_ignore_ascii_case("ED448") {
        true => SignError::Ed448,
        false => SignError::UnsupportedAlgorithm { name: name.into() },
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = SignError;

    /// Takes a mnemonic in any case, or a number.
    fn from_str(text: &str) -> Result<Self, SignError> {
        let is_registry_name = text.eq_ignore_ascii_case("RSASHA1-NSEC3-SHA1");
        let found = Self::every().find(|algorithm| {
            algorithm.name().eq_ignore_ascii_case(text)
                || algorithm.number().to_string() == text
                || *algorithm == Self::RsaSha1Nsec3Sha1 && is_registry_name
        });
        found.ok_or_else(|| unsupported(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for algorithm in Algorithm::every() {
            assert_eq!(
                Algorithm::from_number(algorithm.number()).unwrap(),
                algorithm
            );
            for text in [
                algorithm.to_string(),
                algorithm.to_string().to_lowercase(),
                algorithm.number().to_string(),
            ] {
                assert_eq!(text.parse::<Algorithm>().unwrap(), algorithm);
            }
        }
        let of_the_registry = "RSASHA1-NSEC3-SHA1".parse::<Algorithm>().unwrap();
        assert_eq!(of_the_registry, Algorithm::RsaSha1Nsec3Sha1);
        for text in ["", "1", "RSAMD5", "255"] {
            let error = text.parse::<Algorithm>().unwrap_err();
            assert!(matches!(error, SignError::UnsupportedAlgorithm { .. }));
        }
        for text in ["16", "ED448", "ed448"] {
            assert!(matches!(text.parse::<Algorithm>(), Err(SignError::Ed448)));
        }
    }

    #[test]
    fn sha1_only_with_permission() {
        for algorithm in Algorithm::every() {
            let is_sha1 = matches!(algorithm.number(), 5 | 7);
            assert_eq!(algorithm.check_sha1(false).is_err(), is_sha1);
            assert!(algorithm.check_sha1(true).is_ok());
        }
    }

    #[test]
    fn sizes() {
        for bits in [1024, 1280, 1584, 2048, 4096] {
            assert_eq!(Algorithm::RsaSha1.key_bits(Some(bits)).unwrap(), bits);
        }
        for bits in [0, 512, 1023, 4097] {
            assert!(Algorithm::RsaSha256.key_bits(Some(bits)).is_err());
        }
        assert!(Algorithm::Ed25519.key_bits(Some(384)).is_err());
        assert_eq!(Algorithm::EcdsaP384Sha384.key_bits(None).unwrap(), 384);
    }
}

//! Public keys, and verifying signatures by them.

use crate::crypto::{self, Verifier};
use crate::key_tag;
use crate::{Algorithm, SignError};
use std::fmt;

/// Zone Key flag of DNSKEY (RFC 4034 section 2.1.1).
const FLAG_ZONE: u16 = 0x0100;
/// The only value that DNSKEY's protocol field can have (RFC 4034 section 2.1.2).
const PROTOCOL: u8 = 3;

/// A zone's public key, of a DNSKEY record. Threads may share it.
pub struct PublicKey {
    algorithm: Algorithm,
    flags: u16,
    tag: u16,
    verifier: Box<dyn Verifier>,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("algorithm", &self.algorithm)
            .field("flags", &self.flags)
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl PublicKey {
    /// Parses the RDATA of a DNSKEY record (RFC 4034 section 2.1).
    ///
    /// Fails if it is no key that may sign zone data (zone key flag not set, protocol not 3), if its algorithm is not supported, and if the
    /// key is malformed. RSA keys (RFC 3110) may have 512 to 4096 bits, and exponents up to 33 bits.
    pub fn from_dnskey(rdata: &[u8]) -> Result<Self, SignError> {
        let bad = |what: &str| SignError::PublicKey { what: what.into() };
        let Some((&[high, low, protocol, number], key)) = rdata.split_first_chunk() else {
            return Err(bad("it has fewer than 4 octets"));
        };
        let flags = u16::from_be_bytes([high, low]);
        if flags & FLAG_ZONE == 0 {
            return Err(bad("it has not the zone key flag (RFC 4034 section 2.1.1)"));
        }
        if protocol != PROTOCOL {
            return Err(bad("its protocol is not 3 (RFC 4034 section 2.1.2)"));
        }
        let algorithm = Algorithm::from_number(number)?;
        let verifier =
            crypto::verifier(algorithm, key).map_err(|what| SignError::PublicKey { what })?;
        Ok(Self {
            algorithm,
            flags,
            tag: key_tag(rdata),
            verifier,
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The flags field of the DNSKEY record.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// The key tag (RFC 4034 appendix B).
    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// Whether `signature`, as RRSIG records have it, is this key's of `data`.
    pub fn verify(&self, data: &[u8], signature: &[u8]) -> bool {
        self.verifier.verify(data, signature)
    }

    /// Verifies many signatures: `signed` has data and signatures, and `valid` becomes as long, true where [`PublicKey::verify`] would be.
    ///
    /// With ECDSA P-256 and Ed25519 this is several times as fast as one by one, for batches of 64 and more: a key that has
    /// verified 1,000 signatures gets tables of its multiples (2.9 MB and 2.1 MB, as much again once for all keys), and
    /// inversions are shared. What that way finds invalid is verified once more in the other.
    pub fn verify_batch(&self, signed: &[(&[u8], &[u8])], valid: &mut Vec<bool>) {
        valid.clear();
        valid.resize(signed.len(), false);
        self.verifier.verify_batch(signed, valid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyPair, Role};
    use dnsrig_zone::Name;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    /// More than it takes for tables to be made, in one batch.
    const SIGNATURES: usize = 1100;

    struct Case {
        key: PublicKey,
        data: Vec<Vec<u8>>,
        signatures: Vec<Vec<u8>>,
    }

    impl Case {
        fn new(algorithm: Algorithm, signatures: usize) -> Self {
            let zone: Name = "example.".parse().unwrap();
            let pair = KeyPair::generate(
                &zone,
                algorithm,
                Some(1024).filter(|_| algorithm.is_rsa()),
                Role::Zsk,
                &[],
            )
            .unwrap();
            let data: Vec<Vec<u8>> = (0..signatures)
                .map(|index| format!("data {index}").into())
                .collect();
            let sign = |data: &Vec<u8>| {
                let mut signature = Vec::new();
                pair.sign_into(data, &mut signature).unwrap();
                signature
            };
            Self {
                key: PublicKey::from_dnskey(&pair.dnskey(0).rdata).unwrap(),
                signatures: data.iter().map(sign).collect(),
                data,
            }
        }

        fn signed(&self) -> Vec<(&[u8], &[u8])> {
            let signatures = self.signatures.iter().map(|signature| &signature[..]);
            self.data
                .iter()
                .map(|data| &data[..])
                .zip(signatures)
                .collect()
        }
    }

    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        Algorithm::ALL
            .into_iter()
            .map(|algorithm| {
                let case = match algorithm {
                    Algorithm::EcdsaP256Sha256 | Algorithm::Ed25519 => {
                        Case::new(algorithm, SIGNATURES)
                    }
                    _ => Case::new(algorithm, 20),
                };
                let mut valid = Vec::new();
                case.key.verify_batch(&case.signed(), &mut valid);
                assert_eq!(valid, vec![true; case.data.len()]);
                case
            })
            .collect()
    });

    #[test]
    fn one_by_one_and_in_batches() {
        for case in CASES.iter() {
            let mut signed = case.signed();
            let count = signed.len();
            for (index, signed) in signed.iter_mut().enumerate().skip(1).step_by(7) {
                signed.1 = &case.signatures[(index + 1) % count];
            }
            signed.push((b"", b""));
            signed.push((b"data 0", &case.signatures[0][1..]));
            let alone: Vec<bool> = signed
                .iter()
                .map(|(data, signature)| case.key.verify(data, signature))
                .collect();
            let mut valid = vec![true; 3];
            case.key.verify_batch(&signed, &mut valid);
            assert_eq!(valid, alone);
            let expected: Vec<bool> = (0..signed.len())
                .map(|index| index < count && index % 7 != 1)
                .collect();
            assert_eq!(alone, expected);
        }
    }

    proptest! {
        #[test]
        fn tampered_signatures_and_data(which in 0..Algorithm::ALL.len(), index in 0..20usize, octet: proptest::sample::Index, bit in 0..8u8, of_data: bool) {
            let case = &CASES[which];
            let (mut data, mut signature) = (case.data[index].clone(), case.signatures[index].clone());
            let tampered = if of_data { &mut data } else { &mut signature };
            let octet = octet.index(tampered.len());
            tampered[octet] ^= 1u8 << bit;
            let mut valid = Vec::new();
            case.key.verify_batch(&[(&data, &signature)], &mut valid);
            prop_assert_eq!(valid, vec![case.key.verify(&data, &signature)]);
            prop_assert!(!case.key.verify(&data, &signature));
        }

        #[test]
        fn any_octets(rdata in proptest::collection::vec(any::<u8>(), 0..80), algorithm in 0..17u8) {
            let _ = PublicKey::from_dnskey(&rdata);
            let with_header = [&[1, 0, 3, algorithm][..], &rdata].concat();
            if let Ok(key) = PublicKey::from_dnskey(&with_header) {
                prop_assert!(!key.verify(b"data", &rdata));
            }
        }
    }

    #[test]
    fn sha1_and_odd_sizes() {
        for (algorithm, bits) in [
            (Algorithm::RsaSha1, 1024),
            (Algorithm::RsaSha1Nsec3Sha1, 1024),
            (Algorithm::RsaSha256, 1280),
            (Algorithm::RsaSha512, 1584),
        ] {
            let signer = crypto::generate(algorithm, bits).unwrap();
            let mut signature = Vec::new();
            signer.sign_into(b"data", &mut signature).unwrap();
            assert_eq!(signature.len(), bits as usize / 8);
            let rdata = [&[1, 0, 3, algorithm.number()][..], &signer.public_key()].concat();
            let key = PublicKey::from_dnskey(&rdata).unwrap();
            assert_eq!((key.algorithm(), key.flags()), (algorithm, FLAG_ZONE));
            assert!(key.verify(b"data", &signature));
            assert!(!key.verify(b"Data", &signature));
            // The hash is part of the signature, not of the key.
            let mut other = rdata.clone();
            other[3] = if algorithm == Algorithm::RsaSha512 {
                8
            } else {
                10
            };
            let other = PublicKey::from_dnskey(&other).unwrap();
            assert!(!other.verify(b"data", &signature));
        }
    }

    /// The DNSKEY RDATA of an RSA key.
    fn rsa(exponent: &[u8], modulus: &[u8]) -> Vec<u8> {
        [&[1, 0, 3, 8, exponent.len() as u8], exponent, modulus].concat()
    }

    #[test]
    fn refuses_keys_with_a_reason() {
        let modulus = [0xC1; 128];
        let sound = rsa(&[1, 0, 1], &modulus);
        assert!(PublicKey::from_dnskey(&sound).is_ok());
        let with = |index: usize, octet: u8| {
            let mut rdata = sound.clone();
            rdata[index] = octet;
            rdata
        };
        for (rdata, reason) in [
            (vec![1, 0, 3], "4 octets"),
            (with(0, 0), "zone key flag"),
            (with(2, 4), "protocol"),
            (with(3, 1), "algorithm 1 is not supported"),
            (with(3, 16), "ED448"),
            (with(3, 13), "ECDSAP256SHA256"),
            (with(3, 14), "ECDSAP384SHA384"),
            (with(3, 15), "ED25519"),
            (sound[..5].to_vec(), "ends before"),
            (sound[..8].to_vec(), "0 bits"),
            (sound[..8 + 63].to_vec(), "504 bits"),
            (rsa(&[3], &[0xFF; 513]), "4104 bits"),
            (rsa(&[0, 3], &modulus), "zeros"),
            (rsa(&[3], &[0; 128]), "zeros"),
            (rsa(&[1], &modulus), "not an RSA key"),
            (rsa(&[4], &modulus), "not an RSA key"),
            (rsa(&[3], &[0xC0; 128]), "not an RSA key"),
            (rsa(&[4, 0, 0, 0, 1], &modulus), "35 bits"),
        ] {
            let error = PublicKey::from_dnskey(&rdata).unwrap_err().to_string();
            assert!(error.contains(reason), "{error} has not {reason}");
        }
        assert!(PublicKey::from_dnskey(&rsa(&[1, 0, 0, 0, 1], &modulus)).is_ok());
        assert!(PublicKey::from_dnskey(&rsa(&[3], &[0xFF; 64])).is_ok());
        assert!(PublicKey::from_dnskey(&rsa(&[3], &[0xFF; 512])).is_ok());
        // The long form of the exponent's length.
        let long = [&[1, 0, 3, 10, 0, 0, 3, 1, 0, 1][..], &modulus].concat();
        assert!(PublicKey::from_dnskey(&long).is_ok());
    }
}

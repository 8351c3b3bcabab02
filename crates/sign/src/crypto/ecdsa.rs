//! ECDSA keys on the curves P-256 and P-384 (RFC 6605).

use super::ecdsa_nonce::Nonces;
use super::ecdsa_sign::{PrivateScalar, Signing};
use super::{PRIVATE_KEY, PrivateFields, Signer, field};
use crate::{Algorithm, SignError};
use aws_lc_rs::agreement;
use aws_lc_rs::encoding::AsBigEndian;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, KeyPair,
};
use zeroize::Zeroizing;

pub(super) struct EcdsaKey {
    key: EcdsaKeyPair,
    random: SystemRandom,
    scalar: Box<dyn Signing>,
    nonces: Nonces,
}

const UNREADABLE: SignError = SignError::Crypto {
    what: "reading an ECDSA key",
};

const UNSIGNED: SignError = SignError::Crypto {
    what: "signing with an ECDSA key",
};

/// The private key, big-endian and as long as the curve's order.
fn private_octets(key: &EcdsaKeyPair) -> Result<Zeroizing<Vec<u8>>, SignError> {
    let scalar = key.private_key().as_be_bytes().map_err(|_| UNREADABLE)?;
    Ok(Zeroizing::new(scalar.as_ref().to_vec()))
}

fn signing(algorithm: Algorithm) -> &'static EcdsaSigningAlgorithm {
    match algorithm {
        Algorithm::EcdsaP384Sha384 => &ECDSA_P384_SHA384_FIXED_SIGNING,
        _ => &ECDSA_P256_SHA256_FIXED_SIGNING,
    }
}

impl EcdsaKey {
    pub fn generate(algorithm: Algorithm) -> Result<Self, SignError> {
        let key = EcdsaKeyPair::generate(signing(algorithm)).map_err(|_| SignError::Crypto {
            what: "making an ECDSA key",
        })?;
        Self::new(algorithm, key)
    }

    pub fn from_fields(algorithm: Algorithm, fields: &PrivateFields) -> Result<Self, String> {
        let bad = || format!("{PRIVATE_KEY} is not a key of {algorithm}");
        let (curve, octets) = match algorithm {
            Algorithm::EcdsaP384Sha384 => (&agreement::ECDH_P384, 48),
            _ => (&agreement::ECDH_P256, 32),
        };
        let scalar = field(fields, PRIVATE_KEY)?;
        if scalar.len() > octets {
            return Err(bad());
        }
        // Some tools leave out leading zeros.
        let mut padded = Zeroizing::new(vec![0; octets - scalar.len()]);
        padded.extend_from_slice(scalar);
        let private = agreement::PrivateKey::from_private_key(curve, &padded).map_err(|_| bad())?;
        let public = private.compute_public_key().map_err(|_| bad())?;
        EcdsaKeyPair::from_private_key_and_public_key(signing(algorithm), &padded, public.as_ref())
            .ok()
            .and_then(|key| Self::new(algorithm, key).ok())
            .ok_or_else(bad)
    }

    fn new(algorithm: Algorithm, key: EcdsaKeyPair) -> Result<Self, SignError> {
        let octets = private_octets(&key)?;
        let scalar: Option<Box<dyn Signing>> = match algorithm {
            Algorithm::EcdsaP384Sha384 => PrivateScalar::<p384::NistP384>::new(&octets)
                .map(|scalar| Box::new(scalar) as Box<dyn Signing>),
            _ => PrivateScalar::<p256::NistP256>::new(&octets)
                .map(|scalar| Box::new(scalar) as Box<dyn Signing>),
        };
        Ok(Self {
            key,
            random: SystemRandom::new(),
            scalar: scalar.ok_or(UNREADABLE)?,
            nonces: Nonces::Random,
        })
    }
}

impl Signer for EcdsaKey {
    fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError> {
        if self.nonces == Nonces::Deterministic {
            return self.sign_batch(&[data], signature);
        }
        let made = self.key.sign(&self.random, data).map_err(|_| UNSIGNED)?;
        signature.extend_from_slice(made.as_ref());
        Ok(())
    }

    fn sign_batch(&self, data: &[&[u8]], signatures: &mut Vec<u8>) -> Result<(), SignError> {
        self.scalar
            .sign(self.nonces, data, signatures)
            .ok_or(UNSIGNED)
    }

    fn make_deterministic(&mut self) -> Result<(), SignError> {
        self.nonces = Nonces::Deterministic;
        Ok(())
    }

    fn public_key(&self) -> Vec<u8> {
        // Without the octet that says "uncompressed point" (RFC 6605 section 4).
        self.key.public_key().as_ref()[1..].to_vec()
    }

    fn private_fields(&self) -> Result<PrivateFields, SignError> {
        Ok(vec![(PRIVATE_KEY, private_octets(&self.key)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_may_be_left_out() {
        let fields = |octets: Vec<u8>| vec![(PRIVATE_KEY, Zeroizing::new(octets))];
        for (algorithm, octets, generator) in [
            (Algorithm::EcdsaP256Sha256, 32, [0x6B, 0x17, 0xD1, 0xF2]),
            (Algorithm::EcdsaP384Sha384, 48, [0xAA, 0x87, 0xCA, 0x22]),
        ] {
            let one = EcdsaKey::from_fields(algorithm, &fields(vec![1])).unwrap();
            assert_eq!(one.public_key()[..4], generator);
            assert_eq!(one.public_key().len(), 2 * octets);
            assert_eq!(one.private_fields().unwrap()[0].1.len(), octets);
            for wrong in [
                vec![],
                vec![0; octets],
                vec![0xFF; octets],
                vec![1; octets + 1],
            ] {
                assert!(EcdsaKey::from_fields(algorithm, &fields(wrong)).is_err());
            }
        }
    }
}

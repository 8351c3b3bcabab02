//! Private keys behind one trait, public keys behind another.

mod bignum;
mod der;
mod ecdsa;
mod ecdsa_nonce;
mod ecdsa_public;
mod ecdsa_sign;
mod ed25519;
mod ed25519_public;
mod generator;
mod p256_points;
mod p256_verify;
mod rsa;
mod rsa_public;
mod secret;
mod tables;
mod windows;

use crate::{Algorithm, SignError};
use zeroize::Zeroizing;

pub(crate) use secret::move_secret;

/// Secret octets by their name in a BIND key file, wiped from memory when dropped.
pub(crate) type PrivateFields = Vec<(&'static str, Zeroizing<Vec<u8>>)>;

/// A private key.
pub(crate) trait Signer: Send + Sync {
    /// Appends the signature of `data`, as RRSIG records have it, to `signature`.
    fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError>;

    /// Appends the signatures of all `data`, one after the other, each of the same length; faster than one by one where keys are ECDSA.
    fn sign_batch(&self, data: &[&[u8]], signatures: &mut Vec<u8>) -> Result<(), SignError> {
        data.iter()
            .try_for_each(|data| self.sign_into(data, signatures))
    }

    /// Makes the same data have the same signature from now on (RFC 6979); RSA and EdDSA do that anyhow. Fails where the key cannot.
    fn make_deterministic(&mut self) -> Result<(), SignError>;

    /// The public key, as DNSKEY records have it.
    fn public_key(&self) -> Vec<u8>;

    /// The private key, as BIND's key files have it.
    fn private_fields(&self) -> Result<PrivateFields, SignError>;
}

/// A public key.
pub(crate) trait Verifier: Send + Sync {
    /// Whether `signature`, as RRSIG records have it, is of `data`.
    fn verify(&self, data: &[u8], signature: &[u8]) -> bool;

    /// Sets `valid`, which is false everywhere and as long as `signed` (data and signatures), where a signature is valid.
    fn verify_batch(&self, signed: &[(&[u8], &[u8])], valid: &mut [bool]) {
        for ((data, signature), valid) in signed.iter().zip(valid) {
            *valid = self.verify(data, signature);
        }
    }
}

/// Makes a public key of the octets that DNSKEY records have; `Err` says what is wrong with them.
pub(crate) fn verifier(algorithm: Algorithm, key: &[u8]) -> Result<Box<dyn Verifier>, String> {
    let bad = || format!("its public key is not one of {algorithm}");
    Ok(match algorithm {
        Algorithm::EcdsaP256Sha256 => {
            Box::new(ecdsa_public::P256PublicKey::new(key).ok_or_else(bad)?)
        }
        Algorithm::EcdsaP384Sha384 => {
            Box::new(ecdsa_public::P384PublicKey::new(key).ok_or_else(bad)?)
        }
        Algorithm::Ed25519 => Box::new(ed25519_public::Ed25519PublicKey::new(key).ok_or_else(bad)?),
        _ => Box::new(rsa_public::RsaPublicKey::new(algorithm, key)?),
    })
}

/// Makes a key from the system's random numbers; `bits` is a size that the algorithm can have.
pub(crate) fn generate(algorithm: Algorithm, bits: u32) -> Result<Box<dyn Signer>, SignError> {
    Ok(match algorithm {
        Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384 => {
            Box::new(ecdsa::EcdsaKey::generate(algorithm)?)
        }
        Algorithm::Ed25519 => Box::new(ed25519::Ed25519Key::generate()?),
        _ => Box::new(rsa::RsaKey::generate(algorithm, bits)?),
    })
}

/// Makes a key of the fields of a BIND key file; `Err` names the field that is missing or wrong.
pub(crate) fn from_private_fields(
    algorithm: Algorithm,
    fields: &PrivateFields,
) -> Result<Box<dyn Signer>, String> {
    Ok(match algorithm {
        Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384 => {
            Box::new(ecdsa::EcdsaKey::from_fields(algorithm, fields)?)
        }
        Algorithm::Ed25519 => Box::new(ed25519::Ed25519Key::from_fields(fields)?),
        _ => Box::new(rsa::RsaKey::from_fields(algorithm, fields)?),
    })
}

/// The field of a key other than RSA.
pub(crate) fn secret_field(secret: &[u8]) -> PrivateFields {
    vec![(PRIVATE_KEY, Zeroizing::new(secret.to_vec()))]
}

/// Makes an RSA key from the numbers that `random` fills memory with.
pub(crate) fn rsa_from_random(
    algorithm: Algorithm,
    bits: u32,
    random: &mut dyn FnMut(&mut [u8]),
) -> Result<Box<dyn Signer>, SignError> {
    Ok(Box::new(rsa::RsaKey::from_random(algorithm, bits, random)?))
}

/// The names of the fields that a BIND key file of `algorithm` has.
pub(crate) fn field_names(algorithm: Algorithm) -> &'static [&'static str] {
    match algorithm.is_rsa() {
        true => &rsa::FIELDS,
        false => &[PRIVATE_KEY],
    }
}

/// The one field of keys other than RSA.
const PRIVATE_KEY: &str = "PrivateKey";

/// The field `name` of a key file.
fn field<'a>(fields: &'a PrivateFields, name: &str) -> Result<&'a [u8], String> {
    fields
        .iter()
        .find(|(field, _)| *field == name)
        .map(|(_, value)| &value[..])
        .ok_or_else(|| format!("the field {name} is missing"))
}

//! Private keys, behind one trait.

mod bignum;
mod der;
mod ecdsa;
mod ed25519;
mod rsa;

use crate::{Algorithm, SignError};
use zeroize::Zeroizing;

/// Secret octets by their name in a BIND key file, wiped from memory when dropped.
pub(crate) type PrivateFields = Vec<(&'static str, Zeroizing<Vec<u8>>)>;

/// A private key.
pub(crate) trait Signer: Send + Sync {
    /// Appends the signature of `data`, as RRSIG records have it, to `signature`.
    fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError>;

    /// The public key, as DNSKEY records have it.
    fn public_key(&self) -> Vec<u8>;

    /// The private key, as BIND's key files have it.
    fn private_fields(&self) -> Result<PrivateFields, SignError>;
}

/// Makes a key from the system's random numbers; `bits` is a size that the algorithm can have.
pub(crate) fn generate(algorithm: Algorithm, bits: u32) -> Result<Box<dyn Signer>, SignError> {
    Ok(match algorithm {
        Algorithm::RsaSha256 | Algorithm::RsaSha512 => {
            Box::new(rsa::RsaKey::generate(algorithm, bits)?)
        }
        Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384 => {
            Box::new(ecdsa::EcdsaKey::generate(algorithm)?)
        }
        Algorithm::Ed25519 => Box::new(ed25519::Ed25519Key::generate()?),
    })
}

/// Makes a key of the fields of a BIND key file; `Err` names the field that is missing or wrong.
pub(crate) fn from_private_fields(
    algorithm: Algorithm,
    fields: &PrivateFields,
) -> Result<Box<dyn Signer>, String> {
    Ok(match algorithm {
        Algorithm::RsaSha256 | Algorithm::RsaSha512 => {
            Box::new(rsa::RsaKey::from_fields(algorithm, fields)?)
        }
        Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384 => {
            Box::new(ecdsa::EcdsaKey::from_fields(algorithm, fields)?)
        }
        Algorithm::Ed25519 => Box::new(ed25519::Ed25519Key::from_fields(fields)?),
    })
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

//! RSA public keys (RFC 3110), by AWS-LC's own interface: `aws-lc-rs` refuses those below 1024 bits.

use super::Verifier;
use super::bignum::Bignum;
use crate::Algorithm;
use aws_lc_rs::digest;
use aws_lc_sys as ffi;
use std::ptr::NonNull;

/// Sizes in bits that RFC 5702 section 2 and RFC 3110 section 2 have in common.
const MODULUS_BITS: std::ops::RangeInclusive<u32> = 512..=4096;

/// AWS-LC's limit: verifying takes time that grows with the exponent, so validators have such limits (BIND's is 35).
const EXPONENT_BITS_MAX: u32 = 33;

/// The hash of an RSA algorithm, and AWS-LC's number for it.
pub(super) fn hash_of(algorithm: Algorithm) -> (&'static digest::Algorithm, i32) {
    match algorithm {
        Algorithm::RsaSha1 | Algorithm::RsaSha1Nsec3Sha1 => {
            (&digest::SHA1_FOR_LEGACY_USE_ONLY, ffi::NID_sha1)
        }
        Algorithm::RsaSha512 => (&digest::SHA512, ffi::NID_sha512),
        _ => (&digest::SHA256, ffi::NID_sha256),
    }
}

pub(super) struct RsaPublicKey {
    key: NonNull<ffi::RSA>,
    hash: &'static digest::Algorithm,
    hash_id: i32,
}

// SAFETY: AWS-LC documents that an RSA object may be used by several threads at once as long as none of them changes it; after
// construction nothing here does, and RSA_verify guards what it computes once with a lock of its own.
unsafe impl Send for RsaPublicKey {}
// SAFETY: as for Send.
unsafe impl Sync for RsaPublicKey {}

impl Drop for RsaPublicKey {
    fn drop(&mut self) {
        // SAFETY: the pointer came from RSA_new_public_key and is freed only here.
        unsafe { ffi::RSA_free(self.key.as_ptr()) }
    }
}

impl RsaPublicKey {
    /// Parses exponent length, exponent and modulus; `Err` says what is wrong with them.
    pub fn new(algorithm: Algorithm, wire: &[u8]) -> Result<Self, String> {
        let short = || "the public key ends before its modulus".to_owned();
        let (length, rest) = match wire {
            [0, high, low, rest @ ..] => (usize::from(u16::from_be_bytes([*high, *low])), rest),
            [0, ..] | [] => return Err(short()),
            [length, rest @ ..] => (usize::from(*length), rest),
        };
        let (exponent, modulus) = rest.split_at_checked(length).ok_or_else(short)?;
        if [exponent, modulus]
            .iter()
            .any(|part| part.first() == Some(&0))
        {
            return Err(
                "exponent and modulus must not start with zeros (RFC 3110 section 2)".into(),
            );
        }
        let (exponent_bits, modulus_bits) = (bits(exponent), bits(modulus));
        if !MODULUS_BITS.contains(&modulus_bits) {
            return Err(format!(
                "a modulus of {modulus_bits} bits is not between 512 and 4096"
            ));
        }
        if exponent_bits > EXPONENT_BITS_MAX {
            return Err(format!(
                "an exponent of {exponent_bits} bits is longer than {EXPONENT_BITS_MAX}"
            ));
        }
        let refused = || "exponent and modulus are not an RSA key".to_owned();
        let key = Self::import(modulus, exponent).ok_or_else(refused)?;
        let (hash, hash_id) = hash_of(algorithm);
        Ok(Self { key, hash, hash_id })
    }

    fn import(modulus: &[u8], exponent: &[u8]) -> Option<NonNull<ffi::RSA>> {
        let (modulus, exponent) = (
            Bignum::from_octets(modulus)?,
            Bignum::from_octets(exponent)?,
        );
        // SAFETY: both are live and are copied; null means that they were refused.
        NonNull::new(unsafe { ffi::RSA_new_public_key(modulus.as_ptr(), exponent.as_ptr()) })
    }
}

/// The length in bits of a number without leading zero octets.
fn bits(octets: &[u8]) -> u32 {
    octets
        .first()
        .map_or(0, |octet| 8 * octets.len() as u32 - octet.leading_zeros())
}

impl Verifier for RsaPublicKey {
    fn verify(&self, data: &[u8], signature: &[u8]) -> bool {
        let digest = digest::digest(self.hash, data);
        let digest = digest.as_ref();
        // SAFETY: digest and signature are read within their lengths, and the RSA object is live.
        let done = unsafe {
            ffi::RSA_verify(
                self.hash_id,
                digest.as_ptr(),
                digest.len(),
                signature.as_ptr(),
                signature.len(),
                self.key.as_ptr(),
            )
        };
        done == 1
    }
}

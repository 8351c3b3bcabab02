//! RSA keys (RFC 3110, RFC 5702), by AWS-LC's own interface: `aws-lc-rs` refuses to sign with fewer than 2048 bits.

use super::bignum::Bignum;
use super::der::{decode_integers, encode_integers};
use super::rsa_public::hash_of;
use super::{PrivateFields, Signer, field};
use crate::{Algorithm, SignError};
use aws_lc_rs::digest;
use aws_lc_sys as ffi;
use std::ptr::{self, NonNull};
use zeroize::Zeroizing;

/// The fields of a BIND key file, in the order of RSAPrivateKey's integers after the version.
pub(super) const FIELDS: [&str; 8] = [
    "Modulus",
    "PublicExponent",
    "PrivateExponent",
    "Prime1",
    "Prime2",
    "Exponent1",
    "Exponent2",
    "Coefficient",
];

const PUBLIC_EXPONENT: u64 = 65537;

/// Sizes that AWS-LC makes itself are multiples of this; it rounds others down.
const LIBRARY_BITS_STEP: u32 = 128;

pub(super) struct RsaKey {
    key: NonNull<ffi::RSA>,
    hash: &'static digest::Algorithm,
    hash_id: i32,
    /// Modulus and public exponent.
    public: [Vec<u8>; 2],
}

// SAFETY: AWS-LC documents that an RSA object may be used by several threads at once as long as none of them changes
// it; after construction nothing here does, and RSA_sign guards its blinding cache with a lock of its own.
unsafe impl Send for RsaKey {}
// SAFETY: as for Send.
unsafe impl Sync for RsaKey {}

impl Drop for RsaKey {
    fn drop(&mut self) {
        // SAFETY: the pointer came from RSA_private_key_from_bytes and is freed only here. AWS-LC wipes what it frees.
        unsafe { ffi::RSA_free(self.key.as_ptr()) }
    }
}

impl RsaKey {
    pub fn generate(algorithm: Algorithm, bits: u32) -> Result<Self, SignError> {
        let der = match bits % LIBRARY_BITS_STEP {
            0 => generate_by_library(bits),
            _ => generate_any_size(bits),
        };
        der.and_then(|der| Self::from_der(algorithm, &der))
            .ok_or(SignError::Crypto {
                what: "making an RSA key",
            })
    }

    /// Makes a key from the numbers that `random` fills memory with.
    pub fn from_random(
        algorithm: Algorithm,
        bits: u32,
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, SignError> {
        generate_of_primes(bits, |bits| Bignum::prime_from(bits, random))
            .and_then(|der| Self::from_der(algorithm, &der))
            .ok_or(SignError::Crypto {
                what: "making an RSA key",
            })
    }

    pub fn from_fields(algorithm: Algorithm, fields: &PrivateFields) -> Result<Self, String> {
        let mut integers: Vec<&[u8]> = vec![b""];
        for name in FIELDS {
            integers.push(field(fields, name)?);
        }
        let modulus = integers[1];
        let start = modulus
            .iter()
            .position(|&octet| octet != 0)
            .unwrap_or(modulus.len());
        let bits = 8 * (modulus.len() - start) as u32
            - modulus.get(start).map_or(0, |octet| octet.leading_zeros());
        algorithm
            .key_bits(Some(bits))
            .map_err(|error| error.to_string())?;
        Self::from_der(algorithm, &encode_integers(&integers))
            .ok_or_else(|| "the fields do not make up an RSA key".to_owned())
    }

    /// `None` unless `der` is an RSAPrivateKey whose parts fit together.
    fn from_der(algorithm: Algorithm, der: &[u8]) -> Option<Self> {
        let integers = decode_integers(der)?;
        let public = [integers.get(1)?.to_vec(), integers.get(2)?.to_vec()];
        // SAFETY: pointer and length describe `der`, which is only read; null means that it was refused.
        let key =
            NonNull::new(unsafe { ffi::RSA_private_key_from_bytes(der.as_ptr(), der.len()) })?;
        let (hash, hash_id) = hash_of(algorithm);
        let key = Self {
            key,
            hash,
            hash_id,
            public,
        };
        // SAFETY: the RSA object is live and only read.
        let is_sound = unsafe { ffi::RSA_check_key(key.key.as_ptr()) } == 1;
        is_sound.then_some(key)
    }

    fn to_der(&self) -> Option<Zeroizing<Vec<u8>>> {
        der_of(self.key)
    }
}

/// RSAPrivateKey of a live RSA object.
fn der_of(key: NonNull<ffi::RSA>) -> Option<Zeroizing<Vec<u8>>> {
    let mut octets = ptr::null_mut();
    let mut length = 0;
    // SAFETY: the RSA object is live; the other two are places to write to.
    let done = unsafe { ffi::RSA_private_key_to_bytes(&mut octets, &mut length, key.as_ptr()) };
    if done != 1 {
        return None;
    }
    // SAFETY: on success `octets` are `length` octets allocated by AWS-LC; they are copied before they are freed, once.
    let der = unsafe {
        let der = std::slice::from_raw_parts(octets, length).to_vec();
        ffi::OPENSSL_free(octets.cast());
        der
    };
    Some(Zeroizing::new(der))
}

fn generate_by_library(bits: u32) -> Option<Zeroizing<Vec<u8>>> {
    let bits = i32::try_from(bits).ok()?;
    // SAFETY: no arguments; null means out of memory.
    let key = NonNull::new(unsafe { ffi::RSA_new() })?;
    // SAFETY: no arguments; null means out of memory.
    let exponent = unsafe { ffi::BN_new() };
    // SAFETY: BN_set_u64 refuses null; `key` and `exponent` are live and used by nothing else.
    let done = unsafe {
        !exponent.is_null()
            && ffi::BN_set_u64(exponent, PUBLIC_EXPONENT) == 1
            && ffi::RSA_generate_key_ex(key.as_ptr(), bits, exponent, ptr::null_mut()) == 1
    };
    let der = done.then(|| der_of(key)).flatten();
    // SAFETY: both were made above and are freed once; freeing null does nothing.
    unsafe {
        ffi::BN_free(exponent);
        ffi::RSA_free(key.as_ptr());
    }
    der
}

fn generate_any_size(bits: u32) -> Option<Zeroizing<Vec<u8>>> {
    generate_of_primes(bits, Bignum::prime)
}

/// Two primes and what follows from them (RFC 8017 section 3), for sizes that AWS-LC does not make.
fn generate_of_primes(
    bits: u32,
    mut prime: impl FnMut(u32) -> Option<Bignum>,
) -> Option<Zeroizing<Vec<u8>>> {
    let exponent = Bignum::from_word(PUBLIC_EXPONENT)?;
    loop {
        let (mut p, mut q) = (prime(bits.div_ceil(2))?, prime(bits / 2)?);
        if p.is_less(&q) {
            (p, q) = (q, p);
        }
        let (p_less, q_less) = (p.minus_one()?, q.minus_one()?);
        let Some(private) = exponent.inverse(&p_less.times(&q_less)?) else {
            continue;
        };
        // Equal or close primes are as unlikely as guessing the key, but equal ones have no inverse either way.
        let Some(coefficient) = q.inverse(&p) else {
            continue;
        };
        let (exponent_1, exponent_2) = (private.modulo(&p_less)?, private.modulo(&q_less)?);
        let integers = [
            p.times(&q)?,
            exponent,
            private,
            p,
            q,
            exponent_1,
            exponent_2,
            coefficient,
        ];
        let octets: Vec<Zeroizing<Vec<u8>>> = integers.iter().map(Bignum::to_octets).collect();
        let mut parts: Vec<&[u8]> = vec![b""];
        parts.extend(octets.iter().map(|octets| &octets[..]));
        return Some(encode_integers(&parts));
    }
}

impl Signer for RsaKey {
    fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError> {
        let digest = digest::digest(self.hash, data);
        let digest = digest.as_ref();
        let start = signature.len();
        signature.resize(start + self.public[0].len(), 0);
        let place = &mut signature[start..];
        let mut length = 0;
        // SAFETY: the digest is read within its length, and `place` has the modulus' size, which RSA_sign writes.
        let done = unsafe {
            ffi::RSA_sign(
                self.hash_id,
                digest.as_ptr(),
                digest.len(),
                place.as_mut_ptr(),
                &mut length,
                self.key.as_ptr(),
            )
        };
        if done != 1 || length as usize != place.len() {
            signature.truncate(start);
            return Err(SignError::Crypto {
                what: "signing with an RSA key",
            });
        }
        Ok(())
    }

    fn make_deterministic(&mut self) -> Result<(), SignError> {
        Ok(())
    }

    /// Exponent length, exponent, modulus (RFC 3110 section 2).
    fn public_key(&self) -> Vec<u8> {
        let [modulus, exponent] = &self.public;
        let mut wire = match u8::try_from(exponent.len()) {
            Ok(length) if length > 0 => vec![length],
            _ => {
                let [high, low] = (exponent.len() as u16).to_be_bytes();
                vec![0, high, low]
            }
        };
        wire.extend(exponent);
        wire.extend(modulus);
        wire
    }

    fn private_fields(&self) -> Result<PrivateFields, SignError> {
        let failed = || SignError::Crypto {
            what: "writing an RSA key",
        };
        let der = self.to_der().ok_or_else(failed)?;
        let integers = decode_integers(&der).ok_or_else(failed)?;
        let values = integers.into_iter().skip(1);
        let fields: PrivateFields = FIELDS
            .into_iter()
            .zip(values.map(|value| Zeroizing::new(value.to_vec())))
            .collect();
        match fields.len() == FIELDS.len() {
            true => Ok(fields),
            false => Err(failed()),
        }
    }
}

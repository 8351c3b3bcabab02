//! Public keys as tokens and as DNSKEY records have them.

use crate::Algorithm;
use cryptoki::error::Error;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectHandle};
use cryptoki::session::Session;

/// DER of the object identifiers of curves (RFC 5480 section 2.1.1.1, RFC 8410 section 3).
const P256: &[u8] = &[6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7];
const P384: &[u8] = &[6, 5, 0x2B, 0x81, 4, 0, 0x22];
const ED25519: &[u8] = &[6, 3, 0x2B, 0x65, 0x70];
/// DER of the name that PKCS#11 gives the curve of Ed25519 instead (version 3.0, section 6.3.5).
const ED25519_NAME: &[u8] = b"\x13\x0Cedwards25519";

/// The curves that keys of `algorithm` are on, as tokens may want to have them; none for RSA.
pub(super) fn curves(algorithm: Algorithm) -> &'static [&'static [u8]] {
    match algorithm {
        Algorithm::EcdsaP256Sha256 => &[P256],
        Algorithm::EcdsaP384Sha384 => &[P384],
        Algorithm::Ed25519 => &[ED25519_NAME, ED25519],
        _ => &[],
    }
}

/// The values of an object that has them; others are left out.
fn values(
    session: &Session,
    object: ObjectHandle,
    types: &[AttributeType],
) -> Result<Vec<Attribute>, Error> {
    session.get_attributes(object, types)
}

/// Whether `object` is a key that `algorithm` can sign with.
pub(super) fn suits(
    session: &Session,
    object: ObjectHandle,
    algorithm: Algorithm,
) -> Result<bool, Error> {
    let types = [AttributeType::KeyType, AttributeType::EcParams];
    let found = values(session, object, &types)?;
    let has_type = |wanted: KeyType| found.contains(&Attribute::KeyType(wanted));
    if algorithm.is_rsa() {
        return Ok(has_type(KeyType::RSA));
    }
    let is_on_curve = found.iter().any(|attribute| match attribute {
        Attribute::EcParams(curve) => curves(algorithm).contains(&&curve[..]),
        _ => false,
    });
    Ok(is_on_curve && (has_type(KeyType::EC) || has_type(KeyType::EC_EDWARDS)))
}

/// The public key field of DNSKEY for `object`; `None` where the object does not have what that takes.
pub(super) fn public_key(
    session: &Session,
    object: ObjectHandle,
    algorithm: Algorithm,
) -> Result<Option<Vec<u8>>, Error> {
    let types = [
        AttributeType::Modulus,
        AttributeType::PublicExponent,
        AttributeType::EcPoint,
    ];
    let types = if algorithm.is_rsa() {
        &types[..2]
    } else {
        &types[2..]
    };
    let (mut modulus, mut exponent, mut point) = (None, None, None);
    for attribute in values(session, object, types)? {
        match attribute {
            Attribute::Modulus(octets) => modulus = Some(octets),
            Attribute::PublicExponent(octets) => exponent = Some(octets),
            Attribute::EcPoint(octets) => point = Some(octets),
            _ => {}
        }
    }
    Ok(match algorithm.is_rsa() {
        true => modulus
            .zip(exponent)
            .map(|(modulus, exponent)| rsa_public_key(&modulus, &exponent)),
        false => point.and_then(|point| curve_point(algorithm, &point)),
    })
}

/// Exponent length, exponent, modulus (RFC 3110 section 2).
fn rsa_public_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let trimmed = |octets: &[u8]| {
        let start = octets.iter().position(|&octet| octet != 0);
        octets[start.unwrap_or(octets.len())..].to_vec()
    };
    let (modulus, exponent) = (trimmed(modulus), trimmed(exponent));
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

/// Modulus and exponent of the public key field of an RSA key; `None` if it is too short to have both.
pub(super) fn rsa_parts(public_key: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match public_key {
        [0, high, low, rest @ ..] => (usize::from(u16::from_be_bytes([*high, *low])), rest),
        [length, rest @ ..] => (usize::from(*length), rest),
        [] => return None,
    };
    let (exponent, modulus) = rest.split_at_checked(length)?;
    Some((modulus, exponent))
}

/// The point without what says how it is encoded (RFC 6605 section 4, RFC 8080 section 3).
///
/// CKA_EC_POINT is DER of an octet string, some modules give its content alone, and PKCS#11 3.0 had a bit string for
/// Edwards curves.
fn curve_point(algorithm: Algorithm, value: &[u8]) -> Option<Vec<u8>> {
    let (octets, prefixes): (usize, &[&[u8]]) = match algorithm {
        Algorithm::EcdsaP256Sha256 => (64, &[&[4, 0x41, 4], &[4]]),
        Algorithm::EcdsaP384Sha384 => (96, &[&[4, 0x61, 4], &[4]]),
        Algorithm::Ed25519 => (32, &[&[4, 0x20], &[], &[3, 0x21, 0]]),
        _ => return None,
    };
    let (prefix, point) = value.split_at_checked(value.len().checked_sub(octets)?)?;
    prefixes.contains(&prefix).then(|| point.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points() {
        let point = [7; 64];
        for prefix in [&[4][..], &[4, 0x41, 4]] {
            let value = [prefix, &point].concat();
            let found = curve_point(Algorithm::EcdsaP256Sha256, &value);
            assert_eq!(found.as_deref(), Some(&point[..]));
        }
        for value in [&point[..], &point[..63], &[&[2][..], &point].concat()] {
            assert_eq!(curve_point(Algorithm::EcdsaP256Sha256, value), None);
        }
        assert_eq!(curve_point(Algorithm::Ed25519, &[9; 32]), Some(vec![9; 32]));
    }

    #[test]
    fn rsa_public_keys() {
        for (exponent, field) in [
            (&[1, 0, 1][..], vec![3, 1, 0, 1, 0xAB, 0xCD]),
            (
                &[1; 300],
                [&[0, 1, 0x2C][..], &[1; 300], &[0xAB, 0xCD]].concat(),
            ),
        ] {
            let padded = [&[0][..], exponent].concat();
            assert_eq!(rsa_public_key(&[0, 0xAB, 0xCD], &padded), field);
            assert_eq!(rsa_parts(&field), Some((&[0xAB, 0xCD][..], exponent)));
        }
        assert_eq!(rsa_parts(&[]), None);
        assert_eq!(rsa_parts(&[9, 1]), None);
    }
}

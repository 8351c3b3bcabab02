//! Verifying many ECDSA P-256 signatures by one key (FIPS 186-5 section 6.4.2).
//!
//! A zone has hundreds of thousands of signatures by one key, so tables of the key's multiples pay, like those that every library
//! has for the generator. With them, a verification is 43 additions of points and no doubling; whole batches of signatures
//! share the inversions.

use super::p256_points::{Sums, Table};
use aws_lc_rs::digest;
use p256::elliptic_curve::ff::PrimeField;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::point::AffineCoordinates;
use p256::{AffinePoint, FieldBytes, Scalar};
use std::cell::RefCell;
use std::sync::OnceLock;

/// Signatures that share inversions. More would gain little and leave the processor's caches.
const BATCH: usize = 64;

/// Multiples of the generator.
static GENERATOR: OnceLock<Table> = OnceLock::new();

/// Multiples of a public key.
pub(super) struct P256Verifier {
    generator: &'static Table,
    key: Table,
}

/// A signature, taken apart; the digest is still to be divided by `s`.
struct Parsed {
    /// Where it stands in the batch.
    index: usize,
    r: Scalar,
    s: Scalar,
    digest: Scalar,
    /// The product of the `s` of those before.
    product: Scalar,
}

#[derive(Default)]
struct Scratch {
    parsed: Vec<Parsed>,
    sums: Sums,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl P256Verifier {
    /// `public_key` is x and y, 32 octets each; `None` if they are no point of the curve.
    pub fn new(public_key: &[u8]) -> Option<Self> {
        let (x, y) = public_key.split_at_checked(32)?;
        let coordinate = |octets| FieldBytes::try_from(octets).ok();
        let point = AffinePoint::from_coordinates(&coordinate(x)?, &coordinate(y)?);
        let key = Table::new(&point.into_option()?)?;
        let generator = match GENERATOR.get() {
            Some(table) => table,
            None => {
                let table = Table::new(&AffinePoint::GENERATOR)?;
                GENERATOR.get_or_init(|| table)
            }
        };
        Some(Self { generator, key })
    }

    /// Sets `valid` where a signature (of `signed`, data and signature) is valid. What stays unset may be valid nevertheless, in
    /// cases so rare that a slower implementation can look at them: so need none of the formulas' exceptions be handled here.
    pub fn verify(&self, signed: &[(&[u8], &[u8])], valid: &mut [bool]) {
        SCRATCH.with_borrow_mut(|scratch| {
            for (signed, valid) in signed.chunks(BATCH).zip(valid.chunks_mut(BATCH)) {
                let digests = signed.iter().filter_map(|(data, signature)| {
                    let digest = digest::digest(&digest::SHA256, data);
                    Some((digest.as_ref().try_into().ok()?, *signature))
                });
                // Without a result, nothing of the batch has been called valid.
                let _ = self.verify_batch(digests, valid, scratch);
            }
        });
    }

    /// `None` if the sums run into an exception; `signed` has digests and signatures.
    fn verify_batch<'a>(
        &self,
        signed: impl Iterator<Item = ([u8; 32], &'a [u8])>,
        valid: &mut [bool],
        scratch: &mut Scratch,
    ) -> Option<()> {
        let Scratch { parsed, sums } = scratch;
        parsed.clear();
        sums.clear();
        let mut product = Scalar::ONE;
        for (index, (digest, signature)) in signed.enumerate() {
            let Some((r, s)) = parse(signature) else {
                continue;
            };
            parsed.push(Parsed {
                index,
                r,
                s,
                digest: Scalar::reduce(&FieldBytes::from(digest)),
                product,
            });
            product = product.multiply(&s);
        }
        let mut inverse = product.invert_vartime().into_option()?;
        for signature in parsed.iter().rev() {
            let s_inverse = inverse.multiply(&signature.product);
            inverse = inverse.multiply(&signature.s);
            let u1 = little_endian(signature.digest.multiply(&s_inverse));
            let u2 = little_endian(signature.r.multiply(&s_inverse));
            sums.push(|points| {
                self.generator.push_multiple(&u1, points);
                self.key.push_multiple(&u2, points);
            });
        }
        // An x of n and more would have to be reduced, but only one in 2^128 points has such.
        for (signature, sum) in parsed.iter().rev().zip(sums.add()?) {
            valid[signature.index] = sum.x.to_bytes() == signature.r.to_bytes();
        }
        Some(())
    }
}

fn little_endian(scalar: Scalar) -> [u8; 32] {
    let mut octets: [u8; 32] = scalar.to_bytes().into();
    octets.reverse();
    octets
}

/// r and s, both from 1 to n - 1 (RFC 6605 section 4).
fn parse(signature: &[u8]) -> Option<(Scalar, Scalar)> {
    let (r, s) = signature.split_at_checked(32)?;
    let scalar = |octets| {
        let octets = FieldBytes::try_from(octets).ok()?;
        let scalar = Scalar::from_repr(octets).into_option()?;
        (scalar != Scalar::ZERO).then_some(scalar)
    };
    Some((scalar(r)?, scalar(s)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use p256::ProjectivePoint;

    fn verifier(key: &ProjectivePoint) -> P256Verifier {
        let affine = key.to_affine();
        P256Verifier::new(&[affine.x(), affine.y()].concat()).unwrap()
    }

    /// FIPS 186-5 section 6.4.2 to the letter, with formulas that know no exceptions.
    fn is_valid(key: &ProjectivePoint, digest: &[u8; 32], signature: &[u8]) -> bool {
        let Some((r, s)) = parse(signature) else {
            return false;
        };
        let s_inverse = s.invert().unwrap();
        let u1 = Scalar::reduce(&FieldBytes::from(*digest)) * s_inverse;
        let sum = ProjectivePoint::GENERATOR * u1 + *key * (r * s_inverse);
        let affine = sum.to_affine();
        !bool::from(affine.is_identity()) && Scalar::reduce(&affine.x()) == r
    }

    /// The digest and signature for which the two multiples are these; their sum may be the point at infinity.
    fn made_of(key: &ProjectivePoint, u1: Scalar, u2: Scalar) -> ([u8; 32], Vec<u8>) {
        let sum = (ProjectivePoint::GENERATOR * u1 + *key * u2).to_affine();
        let r = match bool::from(sum.is_identity()) {
            true => Scalar::ONE,
            false => Scalar::reduce(&sum.x()),
        };
        let s = r * u2.invert().unwrap();
        let digest = (u1 * s).to_bytes().into();
        (digest, [r.to_bytes(), s.to_bytes()].concat())
    }

    /// What the verifier says of each, alone in its batch and among the others.
    fn verdicts(
        verifier: &P256Verifier,
        signed: &[([u8; 32], Vec<u8>)],
    ) -> (Vec<bool>, Vec<bool>, bool) {
        let mut scratch = Scratch::default();
        let mut run = |signed: &[([u8; 32], Vec<u8>)]| {
            let mut valid = vec![false; signed.len()];
            let items = signed
                .iter()
                .map(|(digest, signature)| (*digest, &signature[..]));
            let done = verifier.verify_batch(items, &mut valid, &mut scratch);
            (valid, done.is_some())
        };
        let alone = signed
            .iter()
            .map(|one| run(std::slice::from_ref(one)).0[0])
            .collect();
        let (together, done) = run(signed);
        (alone, together, done)
    }

    fn scalar(seed: u64) -> Scalar {
        let digest = digest::digest(&digest::SHA256, &seed.to_be_bytes());
        Scalar::reduce(&FieldBytes::try_from(digest.as_ref()).unwrap())
    }

    #[test]
    fn agrees_on_any_multiples_and_tampering() {
        let key = ProjectivePoint::GENERATOR * scalar(1);
        let verifier = verifier(&key);
        let small = [0u64, 1, 2, 3, 2047, 2048, 2049, 4095, 4096, 1 << 24].map(Scalar::from);
        let scalars = small.into_iter().chain((2..40).map(scalar));
        let scalars: Vec<Scalar> = scalars.flat_map(|scalar| [scalar, -scalar]).collect();
        let mut signed = Vec::new();
        for (index, u1) in scalars.iter().enumerate() {
            let u2 = scalars[(index * 7 + 5) % scalars.len()];
            if u2 == Scalar::ZERO {
                continue;
            }
            let (digest, signature) = made_of(&key, *u1, u2);
            for octet in [0, 31, 32, 63] {
                let mut tampered = signature.clone();
                tampered[octet] ^= 1;
                signed.push((digest, tampered));
            }
            let mut other = digest;
            other[index % 32] ^= 0x10;
            signed.push((other, signature.clone()));
            signed.push((digest, signature));
        }
        let expected: Vec<bool> = signed
            .iter()
            .map(|(digest, signature)| is_valid(&key, digest, signature))
            .collect();
        let (alone, together, done) = verdicts(&verifier, &signed);
        assert_eq!(alone, expected);
        assert_eq!(together, expected);
        assert!(done);
        assert!(expected.iter().filter(|valid| **valid).count() > 90);
    }

    #[test]
    fn agrees_at_the_edges_of_r_and_s() {
        let private = scalar(3);
        let key = ProjectivePoint::GENERATOR * private;
        let verifier = verifier(&key);
        let largest: [u8; 32] = (-Scalar::ONE).to_bytes().into();
        let beyond = |more: u8| {
            let mut octets = largest;
            octets[31] += more;
            octets
        };
        let one = Scalar::ONE.to_bytes().into();
        let edges = [[0; 32], one, largest, beyond(1), beyond(2), [0xFF; 32]];
        let mut signed = Vec::new();
        for r in edges {
            signed.extend(edges.map(|s| ([7; 32], [r, s].concat())));
        }
        // With the private key, a digest can be had for which an s at the edge is right.
        for s in [Scalar::ONE, -Scalar::ONE] {
            let nonce = scalar(4);
            let r = Scalar::reduce(&(ProjectivePoint::GENERATOR * nonce).to_affine().x());
            let digest = (s * nonce - r * private).to_bytes().into();
            signed.push((digest, [r.to_bytes(), s.to_bytes()].concat()));
        }
        signed.extend([0, 63, 65, 128].map(|length| ([7; 32], vec![1; length])));
        let expected: Vec<bool> = signed
            .iter()
            .map(|(digest, signature)| is_valid(&key, digest, signature))
            .collect();
        let (alone, together, done) = verdicts(&verifier, &signed);
        assert_eq!(alone, expected);
        assert_eq!(together, expected);
        assert!(done);
        assert_eq!(expected.iter().filter(|valid| **valid).count(), 2);
    }

    #[test]
    fn calls_nothing_valid_where_sums_meet_exceptions() {
        for key in [
            ProjectivePoint::GENERATOR,
            -ProjectivePoint::GENERATOR,
            ProjectivePoint::GENERATOR * Scalar::from(2u64),
        ] {
            let verifier = verifier(&key);
            let mut signed = Vec::new();
            for seed in 1..20 {
                for u1 in [scalar(seed), Scalar::from(seed)] {
                    for u2 in [u1, -u1, u1.double(), Scalar::ONE, u1.invert().unwrap()] {
                        signed.push(made_of(&key, u1, u2));
                    }
                }
            }
            let (alone, _, _) = verdicts(&verifier, &signed);
            for ((digest, signature), valid) in signed.iter().zip(alone) {
                assert!(!valid || is_valid(&key, digest, signature));
            }
        }
    }
}

//! ECDSA signatures put together from their parts (FIPS 186-5 section 6.4.1), where AWS-LC's own function does not serve: with
//! deterministic nonces, and for many signatures at once, which share the inversion of their nonces; AWS-LC spends a third of
//! a P-256 signature's time on it.
//!
//! AWS-LC multiplies the generator, and the arithmetic modulo the group's order is RustCrypto's; both take constant time.

use super::ecdsa_nonce::Nonces;
use super::generator::Generator;
use crate::Algorithm;
use aws_lc_rs::{digest, hmac};
use p256::elliptic_curve::ff::{Field, PrimeField};
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::{CurveArithmetic, FieldBytes};
use zeroize::Zeroizing;

/// Signatures that share an inversion.
pub(super) const BATCH: usize = 64;

/// A curve, and the hash that DNSSEC uses it with, which is as long as its order.
pub(super) trait Curve: CurveArithmetic {
    const ALGORITHM: Algorithm;
    const HMAC: hmac::Algorithm;
    fn hash() -> &'static digest::Algorithm;

    /// 2 to the power of the order's length in bits, modulo the order.
    fn weight() -> Self::Scalar {
        let mut ones = FieldBytes::<Self>::default();
        ones.fill(0xFF);
        <Self::Scalar as Reduce<FieldBytes<Self>>>::reduce(&ones) + Self::Scalar::ONE
    }
}

impl Curve for p256::NistP256 {
    const ALGORITHM: Algorithm = Algorithm::EcdsaP256Sha256;
    const HMAC: hmac::Algorithm = hmac::HMAC_SHA256;

    fn hash() -> &'static digest::Algorithm {
        &digest::SHA256
    }
}

impl Curve for p384::NistP384 {
    const ALGORITHM: Algorithm = Algorithm::EcdsaP384Sha384;
    const HMAC: hmac::Algorithm = hmac::HMAC_SHA384;

    fn hash() -> &'static digest::Algorithm {
        &digest::SHA384
    }
}

/// A private key of a curve.
pub(super) trait Signing: Send + Sync {
    /// Appends the signatures of all `data`, one after the other; `None` if anything fails, and nothing is appended then.
    fn sign(&self, nonces: Nonces, data: &[&[u8]], signatures: &mut Vec<u8>) -> Option<()>;
}

pub(super) struct PrivateScalar<C: Curve>(Zeroizing<C::Scalar>);

impl<C: Curve> PrivateScalar<C> {
    /// `octets` is big-endian, as long as the order; `None` unless it is from 1 to the order less 1.
    pub fn new(octets: &[u8]) -> Option<Self> {
        let mut repr = Zeroizing::new(FieldBytes::<C>::default());
        if octets.len() != repr.len() {
            return None;
        }
        repr.copy_from_slice(octets);
        let scalar: Option<C::Scalar> = C::Scalar::from_repr(*repr).into();
        let scalar = Zeroizing::new(scalar?);
        (*scalar != C::Scalar::ZERO).then_some(Self(scalar))
    }

    fn sign_batch(&self, nonces: Nonces, data: &[&[u8]], signatures: &mut Vec<u8>) -> Option<()> {
        let zeros = [C::Scalar::ZERO; BATCH];
        let (mut made, mut products) = (Zeroizing::new(zeros), Zeroizing::new(zeros));
        let (mut rs, mut digests) = (zeros, zeros);
        let mut generator = Generator::new(C::ALGORITHM)?;
        let mut product = Zeroizing::new(C::Scalar::ONE);
        for (index, data) in data.iter().enumerate() {
            let digest = digest::digest(C::hash(), data);
            let nonce = Zeroizing::new(nonces.make::<C>(&self.0, digest.as_ref())?);
            let mut octets = FieldBytes::<C>::default();
            generator.multiply(&Zeroizing::new(nonce.to_repr()), &mut octets)?;
            rs[index] = <C::Scalar as Reduce<FieldBytes<C>>>::reduce(&octets);
            octets.copy_from_slice(digest.as_ref());
            digests[index] = <C::Scalar as Reduce<FieldBytes<C>>>::reduce(&octets);
            made[index] = *nonce;
            products[index] = *product;
            *product *= *nonce;
        }
        let inverse: Option<C::Scalar> = Field::invert(&*product).into();
        let mut inverse = Zeroizing::new(inverse?);
        let start = signatures.len();
        let length = 2 * FieldBytes::<C>::default().len();
        signatures.resize(start + data.len() * length, 0);
        let places = signatures[start..].chunks_exact_mut(length);
        for (index, place) in places.enumerate().rev() {
            let nonce_inverse = Zeroizing::new(*inverse * products[index]);
            *inverse *= made[index];
            let r = rs[index];
            let s = *nonce_inverse * (digests[index] + r * *self.0);
            // Both happen once in 2^256 signatures.
            if r == C::Scalar::ZERO || s == C::Scalar::ZERO {
                signatures.truncate(start);
                return None;
            }
            let (r_octets, s_octets) = place.split_at_mut(length / 2);
            r_octets.copy_from_slice(&r.to_repr());
            s_octets.copy_from_slice(&s.to_repr());
        }
        Some(())
    }
}

impl<C: Curve> Signing for PrivateScalar<C> {
    fn sign(&self, nonces: Nonces, data: &[&[u8]], signatures: &mut Vec<u8>) -> Option<()> {
        let start = signatures.len();
        for data in data.chunks(BATCH) {
            if self.sign_batch(nonces, data, signatures).is_none() {
                signatures.truncate(start);
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::{Signer, from_private_fields, generate, verifier};
    use domain::utils::base16;

    fn octets(hex: &str) -> Vec<u8> {
        base16::decode_vec(hex).unwrap()
    }

    fn sign(signer: &dyn Signer, data: &[u8]) -> Vec<u8> {
        let mut signature = Vec::new();
        signer.sign_into(data, &mut signature).unwrap();
        signature
    }

    /// RFC 6979 appendices A.2.5 and A.2.6, with the hashes that DNSSEC uses.
    #[test]
    fn deterministic_signatures_of_rfc_6979() {
        let p256 = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
        let p384 = "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D8\
                    96D5724E4C70A825F872C9EA60D2EDF5";
        for (algorithm, key, data, r, s) in [
            (
                Algorithm::EcdsaP256Sha256,
                p256,
                "sample",
                "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
                "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
            ),
            (
                Algorithm::EcdsaP256Sha256,
                p256,
                "test",
                "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
                "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
            ),
            (
                Algorithm::EcdsaP384Sha384,
                p384,
                "sample",
                "94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C\
                 81A648152E44ACF96E36DD1E80FABE46",
                "99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94F\
                 A329C145786E679E7B82C71A38628AC8",
            ),
            (
                Algorithm::EcdsaP384Sha384,
                p384,
                "test",
                "8203B63D3C853E8D77227FB377BCF7B7B772E97892A80F36AB775D509D7A5FEB\
                 0542A7F0812998DA8F1DD3CA3CF023DB",
                "DDD0760448D42D8A43AF45AF836FCE4DE8BE06B485E9B61B827C2F13173923E0\
                 6A739F040649A667BF3B828246BAA5A5",
            ),
        ] {
            let fields = vec![("PrivateKey", Zeroizing::new(octets(key)))];
            let mut signer = from_private_fields(algorithm, &fields).unwrap();
            let expected = [octets(r), octets(s)].concat();
            assert_ne!(sign(&*signer, data.as_bytes()), expected);
            signer.make_deterministic().unwrap();
            assert_eq!(sign(&*signer, data.as_bytes()), expected);
        }
    }

    #[test]
    fn batches_of_all_sizes_verify() {
        for (algorithm, bits) in [
            (Algorithm::EcdsaP256Sha256, 256),
            (Algorithm::EcdsaP384Sha384, 384),
        ] {
            let mut signer = generate(algorithm, bits).unwrap();
            let verifier = verifier(algorithm, &signer.public_key()).unwrap();
            let data: Vec<Vec<u8>> = (0..2 * BATCH + 1).map(|index| vec![7; index]).collect();
            let data: Vec<&[u8]> = data.iter().map(|data| &data[..]).collect();
            for is_deterministic in [false, true] {
                if is_deterministic {
                    signer.make_deterministic().unwrap();
                }
                for count in [0, 1, 2, BATCH - 1, BATCH, BATCH + 1, data.len()] {
                    let mut signatures = b"before".to_vec();
                    signer.sign_batch(&data[..count], &mut signatures).unwrap();
                    let signatures = signatures.strip_prefix(b"before").unwrap();
                    let length = bits as usize / 4;
                    assert_eq!(signatures.len(), count * length);
                    for (data, signature) in data.iter().zip(signatures.chunks(length)) {
                        assert!(verifier.verify(data, signature));
                        assert_eq!(sign(&*signer, data) == signature, is_deterministic);
                    }
                }
            }
        }
    }

    #[test]
    fn nonces_differ_unless_they_are_to_be_equal() {
        let signer = generate(Algorithm::EcdsaP256Sha256, 256).unwrap();
        let mut signatures = Vec::new();
        signer
            .sign_batch(&[&b"the same"[..]; 3], &mut signatures)
            .unwrap();
        let rs: Vec<&[u8]> = signatures
            .chunks(64)
            .map(|signature| &signature[..32])
            .collect();
        assert!(rs[0] != rs[1] && rs[1] != rs[2] && rs[0] != rs[2]);
    }

    #[test]
    fn private_keys_out_of_range() {
        let order = octets("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
        for wrong in [&[0; 32][..], &order, &[0xFF; 32], &[1; 31], &[1; 33]] {
            assert!(PrivateScalar::<p256::NistP256>::new(wrong).is_none());
        }
        assert!(PrivateScalar::<p256::NistP256>::new(&[1; 32]).is_some());
    }
}

//! Nonces of ECDSA signatures: deterministic ones (RFC 6979), and random ones.

use super::ecdsa_sign::Curve;
use super::secret::move_secret;
use aws_lc_rs::{digest, hmac, rand};
use p256::elliptic_curve::FieldBytes;
use p256::elliptic_curve::ff::{Field, PrimeField};
use p256::elliptic_curve::ops::Reduce;
use zeroize::Zeroizing;

/// Octets of the largest hash and curve used here.
const OCTETS_MAX: usize = 48;

/// How nonces are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nonces {
    /// Random.
    Random,
    /// From key and data alone, so that the same data has the same signature (RFC 6979).
    Deterministic,
}

impl Nonces {
    /// A nonce for `digest`; `None` only if the system has no random numbers.
    pub fn make<C: Curve>(self, private: &C::Scalar, digest: &[u8]) -> Option<C::Scalar> {
        match self {
            Self::Random => random::<C>(private, digest),
            Self::Deterministic => Some(deterministic::<C>(private, digest)),
        }
    }
}

/// The hash of private key, digest and random octets, so that nonces differ for different digests even if the random octets were
/// bad; that it is longer than the curve's order makes the nonce as good as evenly distributed.
fn random<C: Curve>(private: &C::Scalar, digest: &[u8]) -> Option<C::Scalar> {
    let mut random = Zeroizing::new([0; 32]);
    rand::fill(&mut random[..]).ok()?;
    let private = Zeroizing::new(private.to_repr());
    let mut context = digest::Context::new(&digest::SHA512);
    context.update(&private);
    context.update(digest);
    context.update(&random[..]);
    let mut wide = Zeroizing::new([0; 64]);
    move_secret(context.finish(), &mut wide[..]);
    let (high, low) = wide.split_at(wide.len() - private.len());
    let mut padded = Zeroizing::new(FieldBytes::<C>::default());
    let start = padded.len() - high.len();
    padded[start..].copy_from_slice(high);
    let high = Zeroizing::new(<C::Scalar as Reduce<FieldBytes<C>>>::reduce(&padded));
    padded.copy_from_slice(low);
    let low = Zeroizing::new(<C::Scalar as Reduce<FieldBytes<C>>>::reduce(&padded));
    Some(*high * C::weight() + *low)
}

/// RFC 6979 section 3.2, for a hash as long as the curve's order.
fn deterministic<C: Curve>(private: &C::Scalar, digest: &[u8]) -> C::Scalar {
    let private = Zeroizing::new(private.to_repr());
    let mut reduced = FieldBytes::<C>::default();
    reduced.copy_from_slice(digest);
    let reduced = <C::Scalar as Reduce<FieldBytes<C>>>::reduce(&reduced).to_repr();
    let mut state = State {
        algorithm: C::HMAC,
        octets: reduced.len(),
        key: Zeroizing::new([0; OCTETS_MAX]),
        value: Zeroizing::new([1; OCTETS_MAX]),
    };
    state.update(&[&[0], &private, &reduced]);
    state.update(&[&[1], &private, &reduced]);
    loop {
        state.next_value();
        let mut candidate = Zeroizing::new(FieldBytes::<C>::default());
        candidate.copy_from_slice(&state.value[..state.octets]);
        let nonce: Option<C::Scalar> = C::Scalar::from_repr(*candidate).into();
        match nonce {
            Some(nonce) if nonce != C::Scalar::ZERO => return nonce,
            _ => state.update(&[&[0]]),
        }
    }
}

/// K and V of RFC 6979 section 3.2.
struct State {
    algorithm: hmac::Algorithm,
    octets: usize,
    key: Zeroizing<[u8; OCTETS_MAX]>,
    value: Zeroizing<[u8; OCTETS_MAX]>,
}

impl State {
    fn hmac(&self, parts: &[&[u8]]) -> hmac::Tag {
        let key = hmac::Key::new(self.algorithm, &self.key[..self.octets]);
        let mut context = hmac::Context::with_key(&key);
        context.update(&self.value[..self.octets]);
        for part in parts {
            context.update(part);
        }
        context.sign()
    }

    fn next_value(&mut self) {
        let value = self.hmac(&[]);
        move_secret(value, &mut self.value[..self.octets]);
    }

    fn update(&mut self, parts: &[&[u8]]) {
        let key = self.hmac(parts);
        move_secret(key, &mut self.key[..self.octets]);
        self.next_value();
    }
}

//! Ed25519 public keys (RFC 8080), with tables for many signatures by one key.
//!
//! AWS-LC computes [s]B - [k]A with 250 doublings for every signature. With tables of the multiples of A and B, additions alone do.

use super::Verifier;
use super::tables::Tables;
use super::windows::signed_digits;
use aws_lc_rs::digest;
use aws_lc_rs::signature::{ED25519, ParsedPublicKey};
use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use std::sync::OnceLock;

/// Bits of a scalar that one look-up covers: more make tables larger and additions fewer.
const WINDOW_BITS: usize = 10;
/// Look-ups for a scalar and the carry of signed digits.
const WINDOWS: usize = 256 / WINDOW_BITS + 1;
const WINDOW_ENTRIES: usize = 1 << (WINDOW_BITS - 1);

/// Signatures that share an inversion.
const BATCH: usize = 64;

/// Multiples of one point: for every window, 1 to [`WINDOW_ENTRIES`] times the point times the window's weight; 2.1 MB.
struct Table(Box<[EdwardsPoint]>);

impl Table {
    fn new(point: EdwardsPoint) -> Self {
        let mut points = Vec::with_capacity(WINDOWS * WINDOW_ENTRIES);
        let mut base = point;
        for _ in 0..WINDOWS {
            let mut multiple = base;
            for _ in 0..WINDOW_ENTRIES {
                points.push(multiple);
                multiple += base;
            }
            // The last entry is half the next window's weight.
            base = points[points.len() - 1] + points[points.len() - 1];
        }
        Self(points.into_boxed_slice())
    }

    /// Adds the table's point times `scalar` to `sum`.
    fn add_multiple(&self, scalar: &Scalar, sum: &mut EdwardsPoint) {
        let digits = signed_digits::<WINDOW_BITS>(scalar.as_bytes());
        for (digit, row) in digits.zip(self.0.chunks_exact(WINDOW_ENTRIES)) {
            let entry = digit.unsigned_abs() as usize;
            match digit.signum() {
                0 => {}
                1 => *sum += row[entry - 1],
                _ => *sum -= row[entry - 1],
            }
        }
    }
}

/// Multiples of the base point.
static BASE: OnceLock<Table> = OnceLock::new();

pub(super) struct Ed25519PublicKey {
    key: ParsedPublicKey,
    octets: [u8; 32],
    /// Multiples of the point, mirrored.
    tables: Tables<Table>,
}

impl Ed25519PublicKey {
    pub fn new(key: &[u8]) -> Option<Self> {
        Some(Self {
            key: ParsedPublicKey::new(&ED25519, key).ok()?,
            octets: key.try_into().ok()?,
            tables: Tables::new(),
        })
    }

    fn make_table(&self) -> Option<Table> {
        let point = CompressedEdwardsY(self.octets).decompress()?;
        // Libraries differ in whether a point may be written in another way than its own (RFC 8032 section 5.1.3): AWS-LC is to say.
        (point.compress().0 == self.octets).then(|| Table::new(-point))
    }

    /// [s]B - [k]A, which is R in a valid signature (RFC 8032 section 5.1.7); `None` if s is out of range.
    fn expected(&self, table: &Table, data: &[u8], signature: &[u8; 64]) -> Option<EdwardsPoint> {
        let (r, s) = signature.split_first_chunk::<32>()?;
        let s = Scalar::from_canonical_bytes(s.try_into().ok()?).into_option()?;
        let mut context = digest::Context::new(&digest::SHA512);
        context.update(r);
        context.update(&self.octets);
        context.update(data);
        let k = context.finish().as_ref().try_into().ok()?;
        let mut sum = EdwardsPoint::identity();
        let base = BASE.get_or_init(|| Table::new(ED25519_BASEPOINT_POINT));
        base.add_multiple(&s, &mut sum);
        table.add_multiple(&Scalar::from_bytes_mod_order_wide(&k), &mut sum);
        Some(sum)
    }
}

impl Verifier for Ed25519PublicKey {
    fn verify(&self, data: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(data, signature).is_ok()
    }

    fn verify_batch(&self, signed: &[(&[u8], &[u8])], valid: &mut [bool]) {
        if let Some(table) = self.tables.get(signed.len(), || self.make_table()) {
            for (signed, valid) in signed.chunks(BATCH).zip(valid.chunks_mut(BATCH)) {
                let expected = std::array::from_fn::<_, BATCH, _>(|index| {
                    let (data, signature) = signed.get(index)?;
                    self.expected(table, data, signature.first_chunk()?)
                });
                // The identity stands where there is no signature, or none whose s is in range.
                let points = expected.map(|point| point.unwrap_or(EdwardsPoint::identity()));
                let expected_r = EdwardsPoint::compress_batch(&points);
                for (index, ((_, signature), valid)) in signed.iter().zip(valid).enumerate() {
                    *valid = expected[index].is_some()
                        && signature.len() == 64
                        && signature[..32] == expected_r[index].0;
                }
            }
        }
        for ((data, signature), valid) in signed.iter().zip(valid) {
            *valid = *valid || self.verify(data, signature);
        }
    }
}

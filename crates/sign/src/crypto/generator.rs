//! Multiples of a curve's generator, by AWS-LC.

use super::bignum::{Bignum, Context};
use crate::Algorithm;
use aws_lc_sys as ffi;
use std::ptr::{self, NonNull};

/// A curve's generator, with memory for multiplying it.
pub(super) struct Generator {
    group: *const ffi::EC_GROUP,
    point: NonNull<ffi::EC_POINT>,
    scalar: Bignum,
    x: Bignum,
    context: Context,
}

impl Drop for Generator {
    fn drop(&mut self) {
        // SAFETY: the pointer came from EC_POINT_new and is freed only here.
        unsafe { ffi::EC_POINT_clear_free(self.point.as_ptr()) }
    }
}

impl Generator {
    /// The generator of P-384 or, for every other algorithm, P-256.
    pub fn new(algorithm: Algorithm) -> Option<Self> {
        // SAFETY: both take nothing and give a constant that lives for ever.
        let group = unsafe {
            match algorithm {
                Algorithm::EcdsaP384Sha384 => ffi::EC_group_p384(),
                _ => ffi::EC_group_p256(),
            }
        };
        // SAFETY: the group is live; null back means out of memory.
        let point = NonNull::new(unsafe { ffi::EC_POINT_new(group) })?;
        Some(Self {
            group,
            point,
            scalar: Bignum::from_word(0)?,
            x: Bignum::from_word(0)?,
            context: Context::new()?,
        })
    }

    /// Writes the x of the generator times `scalar`, both big-endian and as long as the curve's field; in constant time for
    /// scalars below the order. `None` for the point at infinity.
    pub fn multiply(&mut self, scalar: &[u8], x: &mut [u8]) -> Option<()> {
        self.scalar.set_octets(scalar)?;
        // SAFETY: all pointers are live; the missing second point and scalar may be null, as may the y that is not wanted.
        let done = unsafe {
            ffi::EC_POINT_mul(
                self.group,
                self.point.as_ptr(),
                self.scalar.as_ptr(),
                ptr::null(),
                ptr::null(),
                self.context.as_mut_ptr(),
            ) == 1
                && ffi::EC_POINT_get_affine_coordinates_GFp(
                    self.group,
                    self.point.as_ptr(),
                    self.x.as_mut_ptr(),
                    ptr::null_mut(),
                    self.context.as_mut_ptr(),
                ) == 1
        };
        done.then(|| self.x.to_padded(x)).flatten()
    }
}

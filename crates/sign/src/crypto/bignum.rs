//! Large integers of AWS-LC, as far as keys need them.

use aws_lc_sys as ffi;
use std::ptr::{self, NonNull};
use zeroize::Zeroizing;

/// A non-negative integer, wiped from memory when dropped.
pub(super) struct Bignum(NonNull<ffi::BIGNUM>);

impl Drop for Bignum {
    fn drop(&mut self) {
        // SAFETY: the pointer came from BN_new and is freed only here.
        unsafe { ffi::BN_clear_free(self.0.as_ptr()) }
    }
}

/// Scratch space of AWS-LC's arithmetic.
pub(super) struct Context(NonNull<ffi::BN_CTX>);

impl Context {
    pub fn new() -> Option<Self> {
        // SAFETY: no arguments; null means out of memory.
        NonNull::new(unsafe { ffi::BN_CTX_new() }).map(Self)
    }

    /// For functions of AWS-LC, while `self` lives.
    pub fn as_mut_ptr(&mut self) -> *mut ffi::BN_CTX {
        self.0.as_ptr()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the pointer came from BN_CTX_new and is freed only here.
        unsafe { ffi::BN_CTX_free(self.0.as_ptr()) }
    }
}

impl Bignum {
    fn zero() -> Option<Self> {
        // SAFETY: no arguments; null means out of memory.
        NonNull::new(unsafe { ffi::BN_new() }).map(Self)
    }

    /// A small number.
    pub fn from_word(word: u64) -> Option<Self> {
        let number = Self::zero()?;
        // SAFETY: `number` is a live BIGNUM that nothing else uses.
        let done = unsafe { ffi::BN_set_u64(number.0.as_ptr(), word) };
        (done == 1).then_some(number)
    }

    /// A big-endian number.
    pub fn from_octets(octets: &[u8]) -> Option<Self> {
        // SAFETY: the octets are read within their length; null for the target asks for a new one, null back means out of memory.
        let number = unsafe { ffi::BN_bin2bn(octets.as_ptr(), octets.len(), ptr::null_mut()) };
        NonNull::new(number).map(Self)
    }

    /// For functions of AWS-LC that only read the number, while `self` lives.
    pub fn as_ptr(&self) -> *const ffi::BIGNUM {
        self.0.as_ptr()
    }

    /// For functions of AWS-LC that change the number, while `self` lives.
    pub fn as_mut_ptr(&mut self) -> *mut ffi::BIGNUM {
        self.0.as_ptr()
    }

    /// Becomes the big-endian number `octets`.
    pub fn set_octets(&mut self, octets: &[u8]) -> Option<()> {
        // SAFETY: the octets are read within their length, and `self` is a live BIGNUM that nothing else uses.
        let number = unsafe { ffi::BN_bin2bn(octets.as_ptr(), octets.len(), self.0.as_ptr()) };
        (!number.is_null()).then_some(())
    }

    /// Writes the number big-endian, with leading zeros; `None` if it is longer than `octets`.
    pub fn to_padded(&self, octets: &mut [u8]) -> Option<()> {
        // SAFETY: the BIGNUM is live and only read, and all of `octets` may be written.
        let done =
            unsafe { ffi::BN_bn2bin_padded(octets.as_mut_ptr(), octets.len(), self.0.as_ptr()) };
        (done == 1).then_some(())
    }

    /// A random prime of `bits` bits, the two highest of them 1.
    pub fn prime(bits: u32) -> Option<Self> {
        let number = Self::zero()?;
        let bits = i32::try_from(bits).ok()?;
        // SAFETY: `number` is a live BIGNUM; the other pointers may be null for "any prime" and "no callback".
        let done = unsafe {
            ffi::BN_generate_prime_ex(
                number.0.as_ptr(),
                bits,
                0,
                ptr::null(),
                ptr::null(),
                ptr::null_mut(),
            )
        };
        (done == 1).then_some(number)
    }

    /// The first prime found among numbers of `bits` bits, the two highest of them 1, that `random` fills memory with.
    pub fn prime_from(bits: u32, random: &mut dyn FnMut(&mut [u8])) -> Option<Self> {
        let mut octets = Zeroizing::new(vec![0; bits.div_ceil(8) as usize]);
        let mut context = Context::new()?;
        loop {
            random(&mut octets);
            // The highest octet has 1 to 8 bits of the number.
            let in_first = (bits - 1) % 8 + 1;
            octets[0] &= 0xff >> (8 - in_first);
            octets[0] |= 1 << (in_first - 1);
            match in_first {
                1 => octets[1] |= 0x80,
                _ => octets[0] |= 1 << (in_first - 2),
            }
            *octets.last_mut()? |= 1;
            let candidate = Self::from_octets(&octets)?;
            let mut is_prime = 0;
            // SAFETY: the number and the context are live and used by nothing else; there is no callback.
            let done = unsafe {
                ffi::BN_primality_test(
                    &mut is_prime,
                    candidate.as_ptr(),
                    ffi::BN_prime_checks_for_generation,
                    context.as_mut_ptr(),
                    1,
                    ptr::null_mut(),
                )
            };
            if done != 1 {
                return None;
            }
            if is_prime == 1 {
                return Some(candidate);
            }
        }
    }

    /// `self * other`.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let product = Self::zero()?;
        let context = Context::new()?;
        // SAFETY: all four are live and only `product` and `context` are written.
        let done = unsafe {
            ffi::BN_mul(
                product.0.as_ptr(),
                self.0.as_ptr(),
                other.0.as_ptr(),
                context.0.as_ptr(),
            )
        };
        (done == 1).then_some(product)
    }

    /// `self - 1`; `self` is not 0.
    pub fn minus_one(&self) -> Option<Self> {
        let difference = Self::zero()?;
        let one = Self::from_word(1)?;
        // SAFETY: all three are live and only `difference` is written.
        let done = unsafe { ffi::BN_sub(difference.0.as_ptr(), self.0.as_ptr(), one.0.as_ptr()) };
        (done == 1).then_some(difference)
    }

    /// `self` modulo `modulus`.
    pub fn modulo(&self, modulus: &Self) -> Option<Self> {
        let remainder = Self::zero()?;
        let context = Context::new()?;
        // SAFETY: all four are live, only `remainder` and `context` are written, and BN_mod's macro form BN_div takes a null quotient.
        let done = unsafe {
            ffi::BN_div(
                ptr::null_mut(),
                remainder.0.as_ptr(),
                self.0.as_ptr(),
                modulus.0.as_ptr(),
                context.0.as_ptr(),
            )
        };
        (done == 1).then_some(remainder)
    }

    /// The inverse of `self` modulo `modulus`; `None` also if there is none.
    pub fn inverse(&self, modulus: &Self) -> Option<Self> {
        let inverse = Self::zero()?;
        let context = Context::new()?;
        // SAFETY: all four are live and only `inverse` and `context` are written; null means that there is no inverse.
        let done = unsafe {
            ffi::BN_mod_inverse(
                inverse.0.as_ptr(),
                self.0.as_ptr(),
                modulus.0.as_ptr(),
                context.0.as_ptr(),
            )
        };
        (!done.is_null()).then_some(inverse)
    }

    /// Whether `self` is less than `other`.
    pub fn is_less(&self, other: &Self) -> bool {
        // SAFETY: both are live and only read.
        unsafe { ffi::BN_cmp(self.0.as_ptr(), other.0.as_ptr()) < 0 }
    }

    /// Big-endian without leading zeros.
    pub fn to_octets(&self) -> Zeroizing<Vec<u8>> {
        // SAFETY: the BIGNUM is live and only read.
        let length = unsafe { ffi::BN_num_bytes(self.0.as_ptr()) } as usize;
        let mut octets = Zeroizing::new(vec![0; length]);
        // SAFETY: `octets` has the BN_num_bytes octets that BN_bn2bin writes.
        unsafe { ffi::BN_bn2bin(self.0.as_ptr(), octets.as_mut_ptr()) };
        octets
    }
}

//! Secrets that the cryptographic library returns by value.

use std::mem::MaybeUninit;
use zeroize::Zeroize;

/// Moves the octets of `source`, a digest or an HMAC of the library that is a secret here, into `target`, as many as that
/// has room for; the library's own types are not wiped when they are dropped. Copies that the compiler makes on the way
/// are beyond reach.
///
/// # Panics
/// If `source` has fewer octets.
pub(crate) fn move_secret<T: AsRef<[u8]> + Copy>(source: T, target: &mut [u8]) {
    let mut source = MaybeUninit::new(source);
    // SAFETY: it was initialised just above, and is wiped only below.
    let octets = unsafe { source.assume_init_ref() }.as_ref();
    target.copy_from_slice(&octets[..target.len()]);
    // It is not used as a `T` any more, and a type that is `Copy` has nothing to drop.
    source.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_octets_as_there_is_room_for() {
        let mut target = [0; 2];
        move_secret([1, 2, 3], &mut target);
        assert_eq!(target, [1, 2]);
    }
}

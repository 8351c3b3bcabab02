//! Questions by their hashes.

use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hasher};

/// The hash of a question, letter case aside.
#[inline]
pub fn question_hash(name: &[u8], qtype: u16, qclass: u16) -> u64 {
    let mut lower = [0; 255];
    let lower = &mut lower[..name.len().min(255)];
    lower.copy_from_slice(&name[..lower.len()]);
    lower.make_ascii_lowercase();
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(lower);
    hasher.write_u32(u32::from(qtype) << 16 | u32::from(qclass));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::question_hash;

    #[test]
    fn questions_differ_by_more_than_case() {
        let hash = question_hash(b"\x03WwW\0", 1, 1);
        assert_eq!(hash, question_hash(b"\x03www\0", 1, 1));
        assert_ne!(hash, question_hash(b"\x03www\0", 28, 1));
        assert_ne!(hash, question_hash(b"\x03wwx\0", 1, 1));
    }
}

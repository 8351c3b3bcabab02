//! Hashes of names and addresses: one multiplication for eight octets.

use crate::message::Endpoint;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

/// Odd, with as many ones as zeros, without a pattern: the fractional part of the golden ratio and of the root of three.
const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xBB67_AE85_84CA_A73B;
/// Octets of the longest name (RFC 1035 section 3.1).
const MAX_NAME_LEN: usize = 255;
/// Octets of names that are hashed without a branch.
const MAX_SHORT: usize = 32;

/// Hashes with a seed.
#[derive(Clone, Copy, Debug)]
pub struct Hashing {
    seed: u64,
}

impl Hashing {
    /// With a seed of its own, which nobody who sends queries knows.
    pub fn seeded() -> Self {
        Self {
            seed: RandomState::new().hash_one(FIRST),
        }
    }

    /// With the same seed everywhere, for what is merged with what other processes counted.
    pub const fn fixed() -> Self {
        Self { seed: SECOND }
    }

    /// The hash of the name in wire format that stands at `start..start + len` of `octets`; upper and lower case have the same.
    ///
    /// At least eight octets must be before the end of the name: a message's header is before its first name.
    #[inline]
    pub fn name(self, octets: &[u8], start: usize, len: usize) -> u64 {
        if len <= MAX_SHORT {
            return self.short_name(octets, start, len);
        }
        let name = &octets[start..start + len];
        let (words, rest) = name.as_chunks::<8>();
        let mut hash = self.seed ^ len as u64;
        for word in words {
            hash = mix(hash ^ lower(u64::from_le_bytes(*word)), FIRST);
        }
        if !rest.is_empty() {
            let last = octets[..start + len].last_chunk::<8>().unwrap_or(&[0; 8]);
            let unused = 8 * (8 - rest.len() as u32);
            hash = mix(hash ^ lower(u64::from_le_bytes(*last) >> unused), FIRST);
        }
        mix(hash, SECOND)
    }

    /// The same of a name of at most four words, without a branch: how long names are is not to be foreseen.
    #[inline]
    fn short_name(self, octets: &[u8], start: usize, len: usize) -> u64 {
        let octets = &octets[..start + len];
        let last = octets.len().saturating_sub(8);
        // Of a name of fewer octets, those before it in its only word.
        let before = 8 * 8_usize.saturating_sub(len);
        let [a, b, c, d] = [0, 8, 16, 24].map(|offset| {
            let at = (start + offset).min(last);
            let word = octets[at..].first_chunk::<8>().unwrap_or(&[0; 8]);
            lower(u64::from_le_bytes(*word) >> before)
        });
        let other = self.seed.rotate_left(32);
        let first = mix(a ^ self.seed ^ len as u64, b ^ other ^ FIRST);
        let second = mix(c ^ self.seed ^ SECOND, d ^ other);
        mix(first ^ second.rotate_left(1), SECOND)
    }

    /// The hash of a question, its name in wire format; upper and lower case have the same.
    #[inline]
    pub fn question(self, name: &[u8], qtype: u16, qclass: u16) -> u64 {
        let mut lower = [0; MAX_NAME_LEN];
        let lower = &mut lower[..name.len().min(MAX_NAME_LEN)];
        lower.copy_from_slice(&name[..lower.len()]);
        lower.make_ascii_lowercase();
        let kind = u64::from(qtype) << 16 | u64::from(qclass);
        mix(self.octets(lower) ^ kind, FIRST)
    }

    /// The hash of octets that are no name, such as an address.
    #[inline]
    pub fn octets(self, octets: &[u8]) -> u64 {
        let (words, rest) = octets.as_chunks::<8>();
        let mut hash = self.seed ^ octets.len() as u64;
        for word in words {
            hash = mix(hash ^ u64::from_le_bytes(*word), FIRST);
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        mix(mix(hash ^ u64::from_le_bytes(last), FIRST), SECOND)
    }

    /// The hash of what a query and its answer have in common: the ends, the ID and the transport.
    #[inline]
    pub fn transaction(self, client: &Endpoint, server: &Endpoint, id: u16, transport: u8) -> u64 {
        let small = u64::from(client.port) << 48
            | u64::from(server.port) << 32
            | u64::from(id) << 16
            | u64::from(transport);
        let hash = match (client.address, server.address) {
            (IpAddr::V4(client), IpAddr::V4(server)) => {
                u64::from(client.to_bits()) << 32 | u64::from(server.to_bits())
            }
            (client, server) => mix(self.address(client), FIRST) ^ self.address(server),
        };
        mix(mix(hash ^ self.seed, FIRST) ^ small, SECOND)
    }

    #[inline]
    fn address(self, address: IpAddr) -> u64 {
        let bits = match address {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => address.to_bits(),
        };
        mix(bits as u64 ^ self.seed, (bits >> 64) as u64 ^ SECOND)
    }
}

/// Both halves of the product, so that every bit of either number has its part in every bit.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Turns the upper-case ASCII letters among eight octets into lower case; all eight at a time, as every name passes here.
#[inline]
pub fn lower(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let seven_bits = word & (0x7F * ONES);
    // The upper bit of an octet is set here if it is beyond Z, and here if it is A or beyond.
    let beyond = seven_bits + (0x7F - b'Z' as u64) * ONES;
    let within = seven_bits + (0x80 - b'A' as u64) * ONES;
    let is_upper = !word & (within ^ beyond) & (0x80 * ONES);
    word | is_upper >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_are_changed() {
        for octet in 0..=255_u8 {
            let word = u64::from_le_bytes([octet; 8]);
            let expected = u64::from_le_bytes([octet.to_ascii_lowercase(); 8]);
            assert_eq!(lower(word), expected, "{octet}");
        }
    }

    #[test]
    fn names_have_one_hash_in_any_case_and_at_any_place_and_others_another() {
        let hashing = Hashing::seeded();
        let mut seen = std::collections::HashSet::new();
        for len in 1..=40 {
            let name: Vec<u8> = (0..len).map(|place| b'a' + place % 26).collect();
            let upper = name.to_ascii_uppercase();
            let hash = |before: &[u8], name: &[u8]| {
                let octets = [before, name, b"after"].concat();
                hashing.name(&octets, before.len(), name.len())
            };
            let first = hash(&[0; 12], &name);
            assert_eq!(first, hash(&[0xFF; 15], &upper));
            assert!(seen.insert(first));
            for place in 0..name.len() {
                let mut other = name.clone();
                other[place] = b'-';
                assert!(seen.insert(hash(&[0; 12], &other)), "{len} {place}");
            }
        }
    }

    #[test]
    fn questions_differ_by_more_than_case() {
        let hashing = Hashing::fixed();
        let hash = hashing.question(b"\x03WwW\0", 1, 1);
        assert_eq!(hash, hashing.question(b"\x03www\0", 1, 1));
        assert_ne!(hash, hashing.question(b"\x03www\0", 28, 1));
        assert_ne!(hash, hashing.question(b"\x03www\0", 1, 3));
        assert_ne!(hash, hashing.question(b"\x03wwx\0", 1, 1));
    }

    #[test]
    fn a_query_and_its_answer_have_one_hash_and_others_another() {
        let hashing = Hashing::seeded();
        let (client, server) = (
            Endpoint::new([192, 0, 2, 1], 4000),
            Endpoint::new([192, 0, 2, 2], 53),
        );
        let hash = hashing.transaction(&client, &server, 7, 0);
        assert_eq!(hash, hashing.transaction(&client, &server, 7, 0));
        assert_ne!(hash, hashing.transaction(&server, &client, 7, 0));
        assert_ne!(hash, hashing.transaction(&client, &server, 8, 0));
        assert_ne!(hash, hashing.transaction(&client, &server, 7, 1));
    }
}

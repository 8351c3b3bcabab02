//! Hashed owner names of NSEC3 (RFC 5155).

use crate::{Name, Record, Zone};
use domain::base::iana::Rtype;
use domain::utils::base32;
use sha1::block_api::compress;

/// A hashed owner name: SHA-1 is the only algorithm defined (RFC 5155 section 11).
pub type Hash = [u8; 20];

const SHA1_INITIAL: [u32; 5] = [
    0x6745_2301,
    0xEFCD_AB89,
    0x98BA_DCFE,
    0x1032_5476,
    0xC3D2_E1F0,
];
const SHA1_ALGORITHM: u8 = 1;
const BLOCK: usize = 64;

/// Parameters of an NSEC3 chain, ready to hash names with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nsec3Params {
    /// Additional iterations.
    pub iterations: u16,
    /// The salt, at most 255 octets.
    pub salt: Box<[u8]>,
}

impl Nsec3Params {
    /// Reads the fields that NSEC3PARAM and NSEC3 RDATA begin with; `None` if cut short or of an unknown algorithm.
    pub fn from_rdata(rdata: &[u8]) -> Option<Self> {
        let [algorithm, _flags, high, low, salt_len, rest @ ..] = rdata else {
            return None;
        };
        if *algorithm != SHA1_ALGORITHM {
            return None;
        }
        Some(Self {
            iterations: u16::from_be_bytes([*high, *low]),
            salt: rest.get(..usize::from(*salt_len))?.into(),
        })
    }

    /// Reads the RDATA of an NSEC3PARAM record; `None` also if its flags are not 0, since servers then must ignore it
    /// (RFC 5155 section 4.1.2).
    pub fn from_nsec3param(rdata: &[u8]) -> Option<Self> {
        match rdata {
            [_, 0, ..] => Self::from_rdata(rdata),
            _ => None,
        }
    }

    /// The parameters that the zone's apex announces (RFC 5155 section 4); the first known ones if there are several.
    pub fn of_zone(zone: &Zone) -> Option<Self> {
        zone.records()
            .iter()
            .filter(|record| record.rtype == Rtype::NSEC3PARAM && record.owner == *zone.origin())
            .find_map(|record| Self::from_nsec3param(&record.rdata))
    }

    /// Hashes a lower-cased wire name (RFC 5155 section 5).
    pub fn hash(&self, lower_wire: &[u8]) -> Hash {
        let mut digest = sha1_of(lower_wire, &self.salt);
        if self.iterations == 0 {
            return digest;
        }
        let len = digest.len() + self.salt.len();
        if len + 9 > BLOCK {
            for _ in 0..self.iterations {
                digest = sha1_of(&digest, &self.salt);
            }
            return digest;
        }
        // All rounds hash one block of which only the first 20 octets change: salt and padding are laid out once.
        let mut block = [0; BLOCK];
        block[digest.len()..len].copy_from_slice(&self.salt);
        block[len] = 0x80;
        block[BLOCK - 8..].copy_from_slice(&(8 * len as u64).to_be_bytes());
        for _ in 0..self.iterations {
            block[..digest.len()].copy_from_slice(&digest);
            let mut state = SHA1_INITIAL;
            compress(&mut state, &[block]);
            digest = to_octets(&state);
        }
        digest
    }
}

/// SHA-1 of `head` followed by `tail`, together at most 510 octets, without allocating.
fn sha1_of(head: &[u8], tail: &[u8]) -> Hash {
    let mut message = [0u8; 9 * BLOCK];
    let len = head.len() + tail.len();
    message[..head.len()].copy_from_slice(head);
    message[head.len()..len].copy_from_slice(tail);
    message[len] = 0x80;
    let blocks = (len + 9).div_ceil(BLOCK);
    message[blocks * BLOCK - 8..blocks * BLOCK].copy_from_slice(&(8 * len as u64).to_be_bytes());
    let mut state = SHA1_INITIAL;
    compress(&mut state, message[..blocks * BLOCK].as_chunks().0);
    to_octets(&state)
}

fn to_octets(state: &[u32; 5]) -> Hash {
    let mut octets = [0; 20];
    for (to, word) in octets.chunks_exact_mut(4).zip(state) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    octets
}

/// The hash in an NSEC3 record's owner name (RFC 5155 section 3), if that is directly below `origin`.
pub(super) fn owner_hash(record: &Record, origin: &Name) -> Option<Hash> {
    let (label, rest) =
        record.owner.as_slice()[1..].split_at_checked(usize::from(record.owner.as_slice()[0]))?;
    if !rest.eq_ignore_ascii_case(origin.as_slice()) {
        return None;
    }
    let label = std::str::from_utf8(label).ok()?;
    let octets: Vec<u8> = base32::decode_hex(label).ok()?;
    octets.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::base::name::FlattenInto;
    use std::str::FromStr;

    fn hash(name: &str, iterations: u16, salt: &[u8]) -> String {
        let name: Name = Name::from_str(name).unwrap().flatten_into();
        let params = Nsec3Params {
            iterations,
            salt: salt.into(),
        };
        base32::encode_string_hex(&params.hash(name.as_slice())).to_ascii_lowercase()
    }

    #[test]
    fn hashes_as_in_rfc_5155_appendix_a() {
        let salt = [0xaa, 0xbb, 0xcc, 0xdd];
        assert_eq!(
            hash("example", 12, &salt),
            "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"
        );
        assert_eq!(
            hash("a.example", 12, &salt),
            "35mthgpgcu1qg68fab165klnsnk3dpvl"
        );
        assert_eq!(
            hash("*.w.example", 12, &salt),
            "r53bq7cc2uvmubfu5ocmm6pers9tk9en"
        );
    }

    #[test]
    fn parameters_with_flags_are_none() {
        let expected = Nsec3Params {
            iterations: 5,
            salt: [7].into(),
        };
        let rdata = |flags| [1, flags, 0, 5, 1, 7];
        for (flags, parameters) in [(0, Some(expected.clone())), (1, None), (2, None)] {
            assert_eq!(Nsec3Params::from_nsec3param(&rdata(flags)), parameters);
            // NSEC3 records have flags.
            assert_eq!(
                Nsec3Params::from_rdata(&rdata(flags)).as_ref(),
                Some(&expected)
            );
        }
        assert_eq!(Nsec3Params::from_nsec3param(&[1]), None);
    }

    #[test]
    fn one_and_several_blocks_agree() {
        // A salt of 35 octets is the longest that leaves a round in one block; 36 takes the general way.
        for salt_len in [0, 1, 35, 36, 100, 255] {
            let salt = vec![7; salt_len];
            let params = Nsec3Params {
                iterations: 3,
                salt: salt.clone().into(),
            };
            let mut expected = sha1_of(b"\x01a\x00", &salt);
            for _ in 0..3 {
                expected = sha1_of(&expected, &salt);
            }
            assert_eq!(
                params.hash(b"\x01a\x00"),
                expected,
                "salt of {salt_len} octets"
            );
        }
    }
}

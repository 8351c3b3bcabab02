//! Crypto-PAn: a keyed permutation of addresses that keeps prefixes.
//!
//! Source: J. Xu, J. Fan, M. Ammar and S. Moon, "Prefix-Preserving IP Address Anonymization: Measurement-based Security
//! Evaluation and a New Cryptography-based Scheme", ICNP 2002. Two addresses that share exactly their first n bits have
//! pseudonyms that share exactly their first n bits. IPv6 addresses go through the same construction over 128 bits, as
//! most implementations do.

use super::prf::{self, CipherUse};
use super::seen::Seen;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};

/// Octets of a key: 16 for AES-128, and 16 from which the padding is made.
pub const KEY_LEN: usize = 32;
/// Bits of an address whose part of the pseudonym is in a table.
const TABLE_BITS: u32 = 16;
const V4_SLOT_BITS: u32 = 15;
const V6_SLOT_BITS: u32 = 13;
const V6_PREFIX_SLOT_BITS: u32 = 12;
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Crypto-PAn under one key.
pub struct CryptoPan {
    cipher: Aes128Enc,
    padding: u128,
    /// The bits to flip in the first 16 bits of an address, by those bits. The construction aligns addresses of both
    /// families to the left, so the table serves both.
    table: Vec<u16>,
}

impl CryptoPan {
    /// Takes the key as the original implementation does: 16 octets for AES-128, 16 to be enciphered into the padding.
    pub fn new(key: &[u8; KEY_LEN]) -> Self {
        let (cipher_key, padding) = key.split_at(16);
        let cipher_key: [u8; 16] = cipher_key.try_into().expect("half of 32 octets");
        let padding: [u8; 16] = padding.try_into().expect("half of 32 octets");
        let cipher = Aes128Enc::new(&cipher_key.into());
        let mut block = Block::from(padding);
        cipher.encrypt_block(&mut block);
        let mut made = Self {
            cipher,
            padding: u128::from_be_bytes(block.into()),
            table: vec![0],
        };
        for depth in 0..TABLE_BITS {
            made.table = made.deepen(depth);
        }
        made
    }

    /// The pseudonym of an IPv4 address.
    pub fn v4(&self, address: u32) -> u32 {
        let aligned = u128::from(address) << 96;
        let first = u32::from(self.table[(address >> 16) as usize]) << 16;
        address ^ (first | self.flips::<16>(aligned, 16) as u32)
    }

    /// The pseudonym of an IPv6 address.
    pub fn v6(&self, address: u128) -> u128 {
        let prefix = (address >> 64) as u64;
        address ^ (u128::from(self.prefix_flips(prefix)) << 64 | self.flips::<64>(address, 64))
    }

    /// The bits to flip in the first 64 bits of an IPv6 address.
    fn prefix_flips(&self, prefix: u64) -> u64 {
        let first = u64::from(self.table[(prefix >> 48) as usize]) << 48;
        first | self.flips::<48>(u128::from(prefix) << 64, 16) as u64
    }

    /// The bits to flip in the `N` bits from bit `from` on, counted from the left, of an address aligned to the left.
    fn flips<const N: usize>(&self, address: u128, from: u32) -> u128 {
        let mut blocks = [Block::default(); N];
        for (position, block) in (from..).zip(&mut blocks) {
            *block = self.block(address, position);
        }
        prf::with(&self.cipher, Blocks(&mut blocks));
        blocks
            .iter()
            .fold(0, |bits, block| bits << 1 | u128::from(block[0] >> 7))
    }

    /// What is enciphered for the bit at `position`: the bits of `address` before it, then padding.
    fn block(&self, address: u128, position: u32) -> Block {
        let padding = u128::MAX.checked_shr(position).unwrap_or(0);
        (address & !padding | self.padding & padding)
            .to_be_bytes()
            .into()
    }

    /// The table for one bit more than the `depth` bits that it is for.
    fn deepen(&self, depth: u32) -> Vec<u16> {
        let mut blocks: Vec<Block> = (0..1_u128 << depth)
            .map(|prefix| self.block(prefix.checked_shl(128 - depth).unwrap_or(0), depth))
            .collect();
        self.cipher.encrypt_blocks(&mut blocks);
        let longer = |(flips, block): (&u16, &Block)| flips << 1 | u16::from(block[0] >> 7);
        self.table
            .iter()
            .zip(&blocks)
            .map(longer)
            .flat_map(|flips| [flips, flips])
            .collect()
    }
}

/// Blocks that are to be enciphered. One by one, as many as are under way at once keep the core busy; by its own way for
/// many, the cipher takes fewer than 64 no faster, and prepares for them first.
struct Blocks<'a>(&'a mut [Block]);

impl CipherUse for Blocks<'_> {
    #[inline(always)]
    fn run(self, backend: &impl BlockCipherEncBackend<BlockSize = U16>) {
        for block in self.0 {
            backend.encrypt_block_inplace(block);
        }
    }
}

/// Crypto-PAn with the addresses at hand that were asked for lately; one for each thread.
pub struct CachedPan<'k> {
    pan: &'k CryptoPan,
    /// Is told of every address.
    seen: &'k Seen,
    /// Addresses with their pseudonyms. Slots begin with address 0, whose pseudonym is right in any slot.
    v4: Vec<(u32, u32)>,
    v6: Vec<(u128, u128)>,
    /// First halves of IPv6 addresses with the bits to flip.
    v6_prefixes: Vec<(u64, u64)>,
}

impl<'k> CachedPan<'k> {
    /// Has nothing at hand yet.
    pub fn new(pan: &'k CryptoPan, seen: &'k Seen) -> Self {
        let (v4, v6) = (pan.v4(0), pan.v6(0));
        seen.v4(0, v4);
        seen.v6(0, v6);
        Self {
            pan,
            seen,
            v4: vec![(0, v4); 1 << V4_SLOT_BITS],
            v6: vec![(0, v6); 1 << V6_SLOT_BITS],
            v6_prefixes: vec![(0, pan.prefix_flips(0)); 1 << V6_PREFIX_SLOT_BITS],
        }
    }

    /// The pseudonym of an IPv4 address.
    pub fn v4(&mut self, address: u32) -> u32 {
        let slot = &mut self.v4[slot_of(address.into(), V4_SLOT_BITS)];
        if slot.0 != address {
            *slot = (address, self.pan.v4(address));
            self.seen.v4(address, slot.1);
        }
        slot.1
    }

    /// The pseudonym of an IPv6 address.
    pub fn v6(&mut self, address: u128) -> u128 {
        let (prefix, rest) = ((address >> 64) as u64, address as u64);
        let mixed = prefix.wrapping_mul(SPREAD) ^ rest;
        let slot = &mut self.v6[slot_of(mixed, V6_SLOT_BITS)];
        if slot.0 != address {
            let known = &mut self.v6_prefixes[slot_of(prefix, V6_PREFIX_SLOT_BITS)];
            if known.0 != prefix {
                *known = (prefix, self.pan.prefix_flips(prefix));
            }
            let flips = u128::from(known.1) << 64 | self.pan.flips::<64>(address, 64);
            *slot = (address, address ^ flips);
            self.seen.v6(address, slot.1);
        }
        slot.1
    }

    /// The pseudonym of the first `len` bits of an IPv4 address; all further bits are 0.
    pub fn v4_prefix(&mut self, address: u32, len: u32) -> u32 {
        let rest = u32::MAX.checked_shr(len).unwrap_or(0);
        let mapped = self.v4(address & !rest) & !rest;
        self.seen.image_v4(mapped);
        mapped
    }

    /// The pseudonym of the first `len` bits of an IPv6 address; all further bits are 0.
    pub fn v6_prefix(&mut self, address: u128, len: u32) -> u128 {
        let rest = u128::MAX.checked_shr(len).unwrap_or(0);
        let mapped = self.v6(address & !rest) & !rest;
        self.seen.image_v6(mapped);
        mapped
    }
}

fn slot_of(value: u64, bits: u32) -> usize {
    (value.wrapping_mul(SPREAD) >> (64 - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// The key of the sample that comes with the original implementation.
    const SAMPLE_KEY: [u8; KEY_LEN] = [
        21, 34, 23, 141, 51, 164, 207, 128, 19, 10, 91, 22, 73, 144, 125, 16, 216, 152, 143, 131,
        121, 121, 101, 39, 98, 87, 76, 45, 42, 132, 34, 2,
    ];
    /// Addresses of that sample's sample_trace_raw.dat, with what stands for them in sample_trace_sanitized.dat.
    const SAMPLE: &str = include_str!("cryptopan_sample.txt");

    #[test]
    fn the_sample_of_the_original_implementation_is_reproduced() {
        let pan = CryptoPan::new(&SAMPLE_KEY);
        let seen = Seen::default();
        let mut cached = CachedPan::new(&pan, &seen);
        let mut pairs = 0;
        for line in SAMPLE.lines() {
            let (raw, sanitised) = line.split_once(' ').unwrap();
            let raw = raw.parse::<Ipv4Addr>().unwrap().to_bits();
            let sanitised = sanitised.parse::<Ipv4Addr>().unwrap().to_bits();
            assert_eq!(
                (pan.v4(raw), cached.v4(raw)),
                (sanitised, sanitised),
                "{line}"
            );
            pairs += 1;
        }
        assert_eq!(pairs, 71);
    }

    /// Published with yacryptopan (2001:db8::1 under the octets 0 to 31) and Yawning/cryptopan (the others).
    #[test]
    fn addresses_of_ipv6_are_mapped_as_by_other_implementations() {
        let counting: [u8; KEY_LEN] = std::array::from_fn(|octet| octet as u8);
        for (key, address, pseudonym) in [
            (
                counting,
                "2001:db8::1",
                "dd92:2c44:3fc0:ff1e:7ff9:c7f0:8180:7e00",
            ),
            (SAMPLE_KEY, "::1", "78ff:f001:9fc0:20df:8380:b1f1:704:ed"),
            (
                SAMPLE_KEY,
                "::ffff",
                "78ff:f001:9fc0:20df:8380:b1f1:704:f838",
            ),
            (
                SAMPLE_KEY,
                "2001:db8::1",
                "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e",
            ),
            (
                SAMPLE_KEY,
                "2001:db8::2",
                "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c",
            ),
        ] {
            let address = address.parse::<Ipv6Addr>().unwrap().to_bits();
            let pan = CryptoPan::new(&key);
            assert_eq!(Ipv6Addr::from_bits(pan.v6(address)).to_string(), pseudonym);
            let seen = Seen::default();
            assert_eq!(CachedPan::new(&pan, &seen).v6(address), pan.v6(address));
        }
    }

    proptest! {
        #[test]
        fn shared_prefixes_stay_exactly_as_long(key: [u8; KEY_LEN], address: u128, flipped in 0_u32..128, tail: u128) {
            let pan = CryptoPan::new(&key);
            let bit = 1_u128 << (127 - flipped);
            let other = (address ^ bit) & !(bit - 1) | tail & (bit - 1);
            prop_assert_eq!((pan.v6(address) ^ pan.v6(other)).leading_zeros(), flipped);
            let (address, other) = ((address >> 96) as u32, (other >> 96) as u32);
            prop_assert_eq!((pan.v4(address) ^ pan.v4(other)).leading_zeros(), flipped.min(32));
        }

        #[test]
        fn prefixes_are_those_of_whole_addresses(key: [u8; KEY_LEN], address: u128, len in 0_u32..=128) {
            let pan = CryptoPan::new(&key);
        let seen = Seen::default();
        let mut cached = CachedPan::new(&pan, &seen);
            let rest = u128::MAX.checked_shr(len).unwrap_or(0);
            prop_assert_eq!(cached.v6_prefix(address, len), pan.v6(address) & !rest);
            let (address, len) = ((address >> 96) as u32, len.min(32));
            let rest = u32::MAX.checked_shr(len).unwrap_or(0);
            prop_assert_eq!(cached.v4_prefix(address, len), pan.v4(address) & !rest);
        }
    }

    #[test]
    fn no_two_addresses_become_one_and_slots_are_not_mistaken() {
        let pan = CryptoPan::new(&SAMPLE_KEY);
        let seen = Seen::default();
        let mut cached = CachedPan::new(&pan, &seen);
        let mut seen: Vec<u32> = (0..1 << 16)
            .map(|host| cached.v4(0x0A00_0000 | host))
            .collect();
        let again: Vec<u32> = (0..1 << 16)
            .map(|host| pan.v4(0x0A00_0000 | host))
            .collect();
        assert_eq!(seen, again);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1 << 16);
        for address in (0..1 << 15).map(|number: u128| number << 60 | number) {
            assert_eq!(cached.v6(address), pan.v6(address));
        }
    }
}

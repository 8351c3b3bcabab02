//! A keyed pseudo-random function of octets, made of AES-128 as in CBC-MAC.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};

/// Octets of a block, and of a tweak.
pub const BLOCK_LEN: usize = 16;

/// Blocks that are enciphered at once.
const BATCH: usize = 4;

/// AES-128 under one key.
pub struct Prf {
    cipher: Aes128Enc,
}

impl Prf {
    pub fn new(key: [u8; BLOCK_LEN]) -> Self {
        Self {
            cipher: Aes128Enc::new(&key.into()),
        }
    }

    /// The CBC-MAC of `first` and then `octets`. All octets under one `first` must have one length: CBC-MAC is a
    /// pseudo-random function where no input begins with another.
    pub fn mac(&self, first: [u8; BLOCK_LEN], octets: &[u8]) -> [u8; BLOCK_LEN] {
        let mut block = Block::from(first);
        self.cipher.encrypt_block(&mut block);
        for chunk in octets.chunks(BLOCK_LEN) {
            for (into, octet) in block.iter_mut().zip(chunk) {
                *into ^= octet;
            }
            self.cipher.encrypt_block(&mut block);
        }
        block.into()
    }

    /// Fills `output` with what follows from `seed`, which must be the outcome of [`Prf::mac`].
    pub fn expand(&self, seed: [u8; BLOCK_LEN], output: &mut [u8]) {
        let seed = u128::from_be_bytes(seed);
        for (round, part) in (0..).zip(output.chunks_mut(BATCH * BLOCK_LEN)) {
            let len = part.len().div_ceil(BLOCK_LEN);
            let mut blocks = [Block::default(); BATCH];
            for (number, block) in (1..).zip(&mut blocks[..len]) {
                *block = (seed ^ (round * BATCH as u128 + number))
                    .to_be_bytes()
                    .into();
            }
            self.cipher.encrypt_blocks(&mut blocks[..len]);
            for (chunk, block) in part.chunks_mut(BLOCK_LEN).zip(&blocks) {
                chunk.copy_from_slice(&block[..chunk.len()]);
            }
        }
    }

    /// Puts a pseudonym of the same length in the place of `octets`, which belong to the group `domain`.
    pub fn replace(&self, domain: u8, octets: &mut [u8]) {
        let mut first = [0; BLOCK_LEN];
        first[0] = domain;
        first[8..].copy_from_slice(&(octets.len() as u64).to_be_bytes());
        let seed = self.mac(first, octets);
        self.expand(seed, octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_follow_from_key_group_length_and_octets() {
        let replaced = |key: u8, domain, octets: &[u8]| {
            let mut octets = octets.to_vec();
            Prf::new([key; BLOCK_LEN]).replace(domain, &mut octets);
            octets
        };
        let one = replaced(1, 1, &[7; 40]);
        assert_eq!((one.len(), &one), (40, &replaced(1, 1, &[7; 40])));
        let others = [
            replaced(2, 1, &[7; 40]),
            replaced(1, 2, &[7; 40]),
            replaced(1, 1, &[8; 40]),
            replaced(1, 1, &[7; 39]),
        ];
        for other in others {
            assert_ne!(one[..8], other[..8]);
        }
        assert!(replaced(1, 1, &[]).is_empty());
    }
}

//! A keyed pseudo-random function of octets, made of AES-128 as in CBC-MAC.

use aes::cipher::consts::U16;
use aes::cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit,
};
use aes::{Aes128Enc, Block};

/// Octets of a block, and of a tweak.
pub const BLOCK_LEN: usize = 16;

/// What is done with a cipher whose round keys are at hand: preparing them takes as long as a block.
pub trait CipherUse {
    /// Does it.
    fn run(self, backend: &impl BlockCipherEncBackend<BlockSize = U16>);
}

struct Using<T>(T);

impl<T> BlockSizeUser for Using<T> {
    type BlockSize = U16;
}

impl<T: CipherUse> BlockCipherEncClosure for Using<T> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        self.0.run(backend);
    }
}

/// Does `work` with `cipher`.
#[inline(always)]
pub fn with(cipher: &Aes128Enc, work: impl CipherUse) {
    cipher.encrypt_with_backend(Using(work));
}

/// The CBC-MAC of `first` and then `octets`. All octets under one `first` must have one length: CBC-MAC is a pseudo-random
/// function where no input begins with another.
#[inline(always)]
pub fn mac(
    backend: &impl BlockCipherEncBackend<BlockSize = U16>,
    first: [u8; BLOCK_LEN],
    octets: &[u8],
) -> [u8; BLOCK_LEN] {
    let mut block = Block::from(first);
    backend.encrypt_block_inplace(&mut block);
    for chunk in octets.chunks(BLOCK_LEN) {
        for (into, octet) in block.iter_mut().zip(chunk) {
            *into ^= octet;
        }
        backend.encrypt_block_inplace(&mut block);
    }
    block.into()
}

/// Fills `output` with what follows from `seed`, which must be the outcome of [`mac`].
#[inline(always)]
pub fn expand(
    backend: &impl BlockCipherEncBackend<BlockSize = U16>,
    seed: [u8; BLOCK_LEN],
    output: &mut [u8],
) {
    let seed = u128::from_be_bytes(seed);
    for (number, chunk) in (1..).zip(output.chunks_mut(BLOCK_LEN)) {
        let mut block = Block::from((seed ^ number).to_be_bytes());
        backend.encrypt_block_inplace(&mut block);
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
}

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

    /// Does `work` with the cipher.
    #[inline(always)]
    pub fn with(&self, work: impl CipherUse) {
        with(&self.cipher, work);
    }

    /// The [`mac`] of `first` and then `octets`.
    pub fn mac(&self, first: [u8; BLOCK_LEN], octets: &[u8]) -> [u8; BLOCK_LEN] {
        let mut output = [0; BLOCK_LEN];
        self.with(Mac {
            first,
            octets,
            output: &mut output,
        });
        output
    }

    /// Puts a pseudonym of the same length in the place of `octets`, which belong to the group `domain`.
    pub fn replace(&self, domain: u8, octets: &mut [u8]) {
        let mut first = [0; BLOCK_LEN];
        first[0] = domain;
        first[8..].copy_from_slice(&(octets.len() as u64).to_be_bytes());
        self.with(Replace { first, octets });
    }
}

struct Mac<'a> {
    first: [u8; BLOCK_LEN],
    octets: &'a [u8],
    output: &'a mut [u8; BLOCK_LEN],
}

impl CipherUse for Mac<'_> {
    #[inline(always)]
    fn run(self, backend: &impl BlockCipherEncBackend<BlockSize = U16>) {
        *self.output = mac(backend, self.first, self.octets);
    }
}

struct Replace<'a> {
    first: [u8; BLOCK_LEN],
    octets: &'a mut [u8],
}

impl CipherUse for Replace<'_> {
    #[inline(always)]
    fn run(self, backend: &impl BlockCipherEncBackend<BlockSize = U16>) {
        let seed = mac(backend, self.first, self.octets);
        expand(backend, seed, self.octets);
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

//! Signatures that were made, by what they are of, so that none is made twice while there is room.

use crate::InternetError;
use crate::cache::Cache;
use dnsrig_sign::KeyPair;
use foldhash::quality::FixedState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Octets that an entry takes beside its signature.
const ENTRY: usize = 96;

/// Makes and keeps signatures.
#[derive(Debug)]
pub(crate) struct Signatures {
    known: Cache<[u64; 2], Arc<[u8]>>,
    made: AtomicU64,
}

/// 128 bits that tell data apart; these are of our own making, so nobody seeks collisions.
fn digest(data: &[u8]) -> [u64; 2] {
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344].map(|seed| {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        hasher.write(data);
        hasher.finish()
    })
}

impl Signatures {
    /// Keeps signatures of at most `octets`.
    pub fn new(octets: usize) -> Self {
        Self {
            known: Cache::new(octets),
            made: AtomicU64::new(0),
        }
    }

    /// The signature of `data`, which names the zone and the key's tag, as that of an RRset does.
    pub fn signature(&self, key: &KeyPair, data: &[u8]) -> Result<Arc<[u8]>, InternetError> {
        let digest = digest(data);
        if let Some(signature) = self.known.get(&digest) {
            return Ok(signature);
        }
        let mut signature = Vec::with_capacity(256);
        key.sign_into(data, &mut signature)?;
        self.made.fetch_add(1, Ordering::Relaxed);
        let signature: Arc<[u8]> = signature.into();
        self.known
            .put(digest, Arc::clone(&signature), ENTRY + signature.len());
        Ok(signature)
    }

    /// How many were made so far.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Octets that they take, about.
    pub fn octets(&self) -> usize {
        self.known.octets()
    }
}

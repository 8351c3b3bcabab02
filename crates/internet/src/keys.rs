//! Keys that follow from the seed.

use crate::InternetError;
use crate::random::{self, Purpose};
use dnsrig_sign::{Algorithm, DigestType, KeyPair, Role};
use dnsrig_zone::{Name, Record};
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// RSA keys of one size and algorithm that all zones share: one takes a second of seeking primes.
const RSA_POOL: usize = 4;
/// Bits of RSA keys that sign DNSKEY RRsets.
const RSA_KSK_BITS: u32 = 2048;
/// Bits of RSA keys that sign all else, unless a profile says other: as com's and net's in 2022, by the recollection of the rig's
/// authors. JPRS-2010 had 1024, which large registries had left by then.
pub(crate) const RSA_ZSK_BITS: u32 = 1280;
/// Keys made before giving up on one whose tag is free.
const ATTEMPTS_MAX: u64 = 100;

/// The keys of a zone.
#[derive(Clone, Debug)]
pub(crate) struct ZoneKeys {
    /// Signs the DNSKEY RRset, and everything if it is alone.
    pub ksk: KeyPair,
    pub zsk: Option<KeyPair>,
}

impl ZoneKeys {
    /// The key that signs everything but the DNSKEY RRset.
    pub fn for_data(&self) -> &KeyPair {
        self.zsk.as_ref().unwrap_or(&self.ksk)
    }

    /// The DNSKEY records.
    pub fn dnskeys(&self, ttl_s: u32) -> impl Iterator<Item = Record> + '_ {
        let keys = [Some(&self.ksk), self.zsk.as_ref()].into_iter().flatten();
        keys.map(move |key| key.dnskey(ttl_s))
    }

    /// Octets that the keys take, about.
    pub fn octets(&self) -> usize {
        match self.zsk {
            Some(_) => 2048,
            None => 1024,
        }
    }
}

/// The DS record of a key, with SHA-256.
pub(crate) fn ds_of(ksk: &KeyPair, ttl_s: u32) -> Record {
    ksk.ds(DigestType::Sha256, ttl_s)
}

/// Which zone a key is for: numbers that no other zone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ZoneNumber {
    pub part: u64,
    pub index: u64,
}

/// How a zone's keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyKind {
    pub algorithm: Algorithm,
    /// One key signs everything.
    pub is_single: bool,
}

/// Makes keys.
#[derive(Debug)]
pub(crate) struct KeyMaker {
    seed: u64,
    rsa_zsk_bits: u32,
    /// RSA/SHA-256 then RSA/SHA-512, of each size.
    rsa: [[[OnceLock<KeyPair>; RSA_POOL]; 2]; 2],
}

impl KeyMaker {
    pub fn new(seed: u64, rsa_zsk_bits: u32) -> Self {
        Self {
            seed,
            rsa_zsk_bits,
            rsa: Default::default(),
        }
    }

    /// All keys of a zone.
    pub fn keys(
        &self,
        zone: &Name,
        number: ZoneNumber,
        kind: KeyKind,
    ) -> Result<ZoneKeys, InternetError> {
        let ksk = self.ksk(zone, number, kind.algorithm)?;
        if kind.is_single {
            return Ok(ZoneKeys { ksk, zsk: None });
        }
        for attempt in 0..ATTEMPTS_MAX {
            let zsk = self.make(zone, number, kind.algorithm, Role::Zsk, attempt)?;
            if zsk.tag() != ksk.tag() {
                return Ok(ZoneKeys {
                    ksk,
                    zsk: Some(zsk),
                });
            }
        }
        // With four keys of the pool all of one tag, one key signs everything.
        Ok(ZoneKeys { ksk, zsk: None })
    }

    /// The key that DS records are of.
    pub fn ksk(
        &self,
        zone: &Name,
        number: ZoneNumber,
        algorithm: Algorithm,
    ) -> Result<KeyPair, InternetError> {
        self.make(zone, number, algorithm, Role::Ksk, 0)
    }

    /// Makes all keys of those of `algorithms` that share them, on several threads: the first answer that needed one would
    /// wait for it up to a second.
    pub fn make_shared(&self, algorithms: &[Algorithm]) -> Result<(), InternetError> {
        let rsa = algorithms.iter().filter(|algorithm| algorithm.is_rsa());
        let of_role = |algorithm: Algorithm| [Role::Ksk, Role::Zsk].map(|role| (algorithm, role));
        let all: Vec<(Algorithm, Role)> = rsa.copied().flat_map(of_role).collect();
        let next = AtomicUsize::new(0);
        let run = || -> Result<(), InternetError> {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(algorithm, role)) = all.get(place / RSA_POOL) else {
                    return Ok(());
                };
                self.rsa_key(algorithm, role, place % RSA_POOL)?;
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..threads.min(all.len() * RSA_POOL))
                .map(|_| scope.spawn(run))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })
    }

    fn make(
        &self,
        zone: &Name,
        number: ZoneNumber,
        algorithm: Algorithm,
        role: Role,
        attempt: u64,
    ) -> Result<KeyPair, InternetError> {
        let which = attempt * 2 + u64::from(role == Role::Zsk);
        let place = random::at(self.seed, Purpose::Key, number.part, number.index);
        if algorithm.is_rsa() {
            let in_pool = place.wrapping_add(which) as usize % RSA_POOL;
            return Ok(self.rsa_key(algorithm, role, in_pool)?.for_zone(zone, role));
        }
        let octets = match algorithm {
            Algorithm::EcdsaP384Sha384 => 48,
            _ => 32,
        };
        let mut secret = [0; 48];
        let mut draw = 0;
        loop {
            let part = which << 32 | draw;
            random::fill(self.seed, Purpose::Key, place, part, &mut secret[..octets]);
            match KeyPair::from_secret(zone, algorithm, role, &secret[..octets]) {
                Ok(key) => return Ok(key),
                // Beyond the curve's order, once in 2^32.
                Err(_) if draw < ATTEMPTS_MAX => draw += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn rsa_key(
        &self,
        algorithm: Algorithm,
        role: Role,
        in_pool: usize,
    ) -> Result<&KeyPair, InternetError> {
        let size = usize::from(role == Role::Zsk);
        let bits = [RSA_KSK_BITS, self.rsa_zsk_bits][size];
        let hash = usize::from(algorithm == Algorithm::RsaSha512);
        let place = &self.rsa[hash][size][in_pool];
        if let Some(key) = place.get() {
            return Ok(key);
        }
        let which = (hash * 2 + size) * RSA_POOL + in_pool;
        let mut draw = 0;
        let mut random = |octets: &mut [u8]| {
            draw += 1;
            random::fill(
                self.seed,
                Purpose::Key,
                1 << 63 | which as u64,
                draw,
                octets,
            );
        };
        let root = Name::root_bytes();
        let made = KeyPair::rsa_from_random(&root, algorithm, bits, role, &mut random)?;
        // Another thread may have been faster, with the same key.
        Ok(place.get_or_init(|| made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_sign::PublicKey;

    fn maker(seed: u64) -> KeyMaker {
        KeyMaker::new(seed, RSA_ZSK_BITS)
    }

    #[test]
    fn rsa_keys_have_the_bits_that_are_asked_for() {
        let zone: Name = "example.test.".parse().unwrap();
        let number = ZoneNumber { part: 3, index: 5 };
        let kind = KeyKind {
            algorithm: Algorithm::RsaSha256,
            is_single: false,
        };
        for bits in [1024, 1280, 2048] {
            let keys = KeyMaker::new(1, bits).keys(&zone, number, kind).unwrap();
            let mut signature = Vec::new();
            keys.for_data().sign_into(b"data", &mut signature).unwrap();
            assert_eq!(signature.len() * 8, bits as usize);
            signature.clear();
            keys.ksk.sign_into(b"data", &mut signature).unwrap();
            assert_eq!(signature.len() * 8, 2048);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_keys_and_signatures() {
        let zone: Name = "example.test.".parse().unwrap();
        let number = ZoneNumber { part: 3, index: 5 };
        for algorithm in Algorithm::ALL {
            let kind = KeyKind {
                algorithm,
                is_single: false,
            };
            let [first, second, other] =
                [1, 1, 2].map(|seed| maker(seed).keys(&zone, number, kind).unwrap());
            let signature = |keys: &ZoneKeys| {
                let mut signature = Vec::new();
                keys.for_data().sign_into(b"data", &mut signature).unwrap();
                signature
            };
            assert_eq!(first.ksk.public_key(), second.ksk.public_key());
            assert_eq!(signature(&first), signature(&second));
            assert_ne!(first.ksk.public_key(), other.ksk.public_key());
            assert_ne!(first.ksk.tag(), first.for_data().tag());
            let public = PublicKey::from_dnskey(&first.for_data().dnskey(0).rdata).unwrap();
            assert!(public.verify(b"data", &signature(&first)));
        }
    }
}

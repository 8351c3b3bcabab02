//! How fast this machine signs and verifies: the bound that no signer or verifier of zones can pass.

use crate::{Algorithm, KeyPair, PublicKey, Role, SignError};
use dnsrig_zone::Name;
use std::num::NonZeroUsize;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Octets signed at once: about those of an RRSIG and the NS RRset or NSEC record that it covers.
const DATA_OCTETS: usize = 120;

/// Signatures made or verified at once: enough for what sharing work among them gains.
const BATCH: usize = 64;

/// What the threads did together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Signatures made or verified, by all threads.
    pub count: u64,
    /// From the common start to the end of the last thread.
    pub elapsed: Duration,
}

impl Rate {
    /// Signatures per second, of all threads together.
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.elapsed.as_secs_f64()
    }
}

/// Signs with a new key on `threads` threads for `duration`: the key is shared, the data differ. Making the key does not count.
///
/// `bits` is the size of an RSA key, as in [`KeyPair::generate`]. Fails if the algorithm has not that size.
pub fn signing_rate(
    algorithm: Algorithm,
    bits: Option<u32>,
    threads: NonZeroUsize,
    duration: Duration,
) -> Result<Rate, SignError> {
    let key = new_key(algorithm, bits)?;
    run(threads, duration, |thread| {
        let mut data = Data::new(thread);
        let mut signatures = Vec::new();
        let key = &key;
        move || {
            signatures.clear();
            key.sign_batch(&data.next(), &mut signatures)?;
            Ok(BATCH as u64)
        }
    })
}

/// Verifies signatures by a new key on `threads` threads for `duration`: the key is shared, the data differ. Making key and
/// signatures does not count, nor does what only the first 1,000 verifications by a key cost.
///
/// `bits` and failure are as with [`signing_rate`].
pub fn verifying_rate(
    algorithm: Algorithm,
    bits: Option<u32>,
    threads: NonZeroUsize,
    duration: Duration,
) -> Result<Rate, SignError> {
    let pair = new_key(algorithm, bits)?;
    let key = PublicKey::from_dnskey(&pair.dnskey(0).rdata)?;
    let batches: Vec<Signed> = (0..threads.get())
        .map(|thread| Signed::new(&pair, thread))
        .collect::<Result<_, _>>()?;
    let verify = |signed: &Signed, valid: &mut Vec<bool>| {
        key.verify_batch(&signed.items(), valid);
        match valid.iter().all(|valid| *valid) {
            true => Ok(BATCH as u64),
            false => Err(SignError::Crypto {
                what: "verifying signatures just made",
            }),
        }
    };
    let mut valid = Vec::new();
    for _ in 0..1024 / BATCH {
        verify(&batches[0], &mut valid)?;
    }
    run(threads, duration, |thread| {
        let signed = &batches[thread];
        let mut valid = Vec::new();
        move || verify(signed, &mut valid)
    })
}

fn new_key(algorithm: Algorithm, bits: Option<u32>) -> Result<KeyPair, SignError> {
    KeyPair::generate(&Name::root(), algorithm, bits, Role::Zsk, &[])
}

/// Runs what `work` gives each thread, by number, until the time is over; it returns how many signatures it has done.
fn run<W: FnMut() -> Result<u64, SignError>>(
    threads: NonZeroUsize,
    duration: Duration,
    work: impl Fn(usize) -> W + Sync,
) -> Result<Rate, SignError> {
    let is_over = AtomicBool::new(false);
    let start = Barrier::new(threads.get() + 1);
    let one = |thread| {
        let mut work = work(thread);
        start.wait();
        let mut count = 0;
        while !is_over.load(Ordering::Relaxed) {
            count += work()?;
        }
        Ok(count)
    };
    thread::scope(|scope| {
        let one = &one;
        let workers: Vec<_> = (0..threads.get())
            .map(|thread| scope.spawn(move || one(thread)))
            .collect();
        start.wait();
        let begun = Instant::now();
        thread::sleep(duration);
        is_over.store(true, Ordering::Relaxed);
        let mut count = 0;
        let mut failure = None;
        for worker in workers {
            match worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            {
                Ok(done) => count += done,
                Err(error) => failure = Some(error),
            }
        }
        let elapsed = begun.elapsed();
        failure.map_or(Ok(Rate { count, elapsed }), Err)
    })
}

/// Data that never repeat.
struct Data(Vec<[u8; DATA_OCTETS]>);

impl Data {
    fn new(thread: usize) -> Self {
        let mut octets = [0; DATA_OCTETS];
        octets[..8].copy_from_slice(&(thread as u64).to_be_bytes());
        let mut data = Self(vec![octets; BATCH]);
        for (index, data) in data.0.iter_mut().enumerate() {
            data[8..16].copy_from_slice(&(index as u64).to_be_bytes());
        }
        data
    }

    fn next(&mut self) -> [&[u8]; BATCH] {
        for data in &mut self.0 {
            if let Some(counter) = data.last_chunk_mut() {
                *counter = (u64::from_be_bytes(*counter) + 1).to_be_bytes();
            }
        }
        std::array::from_fn(|index| &self.0[index][..])
    }
}

/// Data and signatures.
struct Signed {
    data: Data,
    signatures: Vec<u8>,
}

impl Signed {
    fn new(key: &KeyPair, thread: usize) -> Result<Self, SignError> {
        let mut data = Data::new(thread);
        let mut signatures = Vec::new();
        key.sign_batch(&data.next(), &mut signatures)?;
        Ok(Self { data, signatures })
    }

    fn items(&self) -> [(&[u8], &[u8]); BATCH] {
        let length = self.signatures.len() / BATCH;
        std::array::from_fn(|index| {
            (
                &self.data.0[index][..],
                &self.signatures[index * length..][..length],
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_for_the_time() {
        let (threads, duration) = (NonZeroUsize::new(2).unwrap(), Duration::from_millis(20));
        for algorithm in Algorithm::ALL {
            let bits = Some(1024).filter(|_| algorithm.is_rsa());
            for measure in [signing_rate, verifying_rate] {
                let rate = measure(algorithm, bits, threads, duration).unwrap();
                assert!(rate.elapsed >= duration);
                assert_eq!(rate.count % BATCH as u64, 0);
                assert!(rate.per_second() >= 0.0);
            }
        }
        assert!(signing_rate(Algorithm::Ed25519, Some(1024), threads, duration).is_err());
    }
}

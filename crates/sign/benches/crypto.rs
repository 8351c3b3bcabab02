//! What a signature costs to make and to verify, by algorithm: alone, and as one of a batch.
//!
//! `cargo bench -p dnsrig-sign --bench crypto`

use dnsrig_sign::{Algorithm, KeyPair, PublicKey, Role};
use dnsrig_zone::Name;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one repetition takes, at least, and how many there are.
const REPETITION: Duration = Duration::from_millis(100);
const REPETITIONS: usize = 11;

/// Signatures in a batch.
const BATCH: usize = 64;

/// Octets signed at once: about those of an RRSIG and the NS RRset or NSEC record that it covers.
const DATA_OCTETS: usize = 120;

const CASES: [(Algorithm, Option<u32>); 8] = [
    (Algorithm::RsaSha256, Some(1024)),
    (Algorithm::RsaSha256, Some(1280)),
    (Algorithm::RsaSha256, Some(2048)),
    (Algorithm::RsaSha256, Some(4096)),
    (Algorithm::RsaSha512, Some(2048)),
    (Algorithm::EcdsaP256Sha256, None),
    (Algorithm::EcdsaP384Sha384, None),
    (Algorithm::Ed25519, None),
];

fn name(algorithm: Algorithm, bits: Option<u32>) -> String {
    bits.map_or(algorithm.to_string(), |bits| format!("{algorithm}-{bits}"))
}

fn new_key(algorithm: Algorithm, bits: Option<u32>) -> KeyPair {
    KeyPair::generate(&Name::root(), algorithm, bits, Role::Zsk, &[])
        .unwrap_or_else(|error| panic!("{error}"))
}

fn data() -> Vec<Vec<u8>> {
    (0..BATCH as u8)
        .map(|index| vec![index; DATA_OCTETS])
        .collect()
}

fn sign_all(key: &KeyPair, data: &[&[u8]], signatures: &mut Vec<u8>) {
    signatures.clear();
    key.sign_batch(data, signatures)
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Prints the median of what `work` takes for each of `count` signatures, with the fastest and slowest repetition.
fn measure<T>(name: &str, count: usize, mut work: impl FnMut() -> T) {
    let mut each_us: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let (start, mut runs) = (Instant::now(), 0);
            while start.elapsed() < REPETITION {
                black_box(work());
                runs += 1;
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(runs) / count as f64
        })
        .collect();
    each_us.sort_by(f64::total_cmp);
    println!(
        "{name:<48} {:9.2} us each, from {:.2} to {:.2}",
        each_us[REPETITIONS / 2],
        each_us[0],
        each_us[REPETITIONS - 1]
    );
}

fn sign() {
    let data = data();
    let data: Vec<&[u8]> = data.iter().map(|data| &data[..]).collect();
    let mut signatures = Vec::new();
    let mut of_key = |name: &str, key: &KeyPair| {
        measure(&format!("sign {name}"), 1, || {
            signatures.clear();
            key.sign_into(data[0], &mut signatures)
        });
        measure(&format!("sign {name}, {BATCH} at once"), BATCH, || {
            sign_all(key, &data, &mut signatures);
        });
    };
    for (algorithm, bits) in CASES {
        let mut key = new_key(algorithm, bits);
        of_key(&name(algorithm, bits), &key);
        if matches!(
            algorithm,
            Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384
        ) && key.make_deterministic().is_ok()
        {
            of_key(&format!("{algorithm}-deterministic"), &key);
        }
    }
}

fn verify() {
    let data = data();
    let data: Vec<&[u8]> = data.iter().map(|data| &data[..]).collect();
    for (algorithm, bits) in CASES {
        let pair = new_key(algorithm, bits);
        let key =
            PublicKey::from_dnskey(&pair.dnskey(0).rdata).unwrap_or_else(|error| panic!("{error}"));
        let mut signatures = Vec::new();
        sign_all(&pair, &data, &mut signatures);
        let signatures = signatures.chunks_exact(signatures.len() / BATCH);
        let signed: Vec<(&[u8], &[u8])> = data.iter().copied().zip(signatures).collect();
        let mut valid = Vec::new();
        // Makes the tables that keys get in the end.
        for _ in 0..16 {
            key.verify_batch(&signed, &mut valid);
        }
        let name = name(algorithm, bits);
        measure(&format!("verify {name}"), 1, || {
            key.verify(signed[0].0, signed[0].1)
        });
        measure(&format!("verify {name}, {BATCH} at once"), BATCH, || {
            key.verify_batch(&signed, &mut valid);
            valid.iter().all(|valid| *valid)
        });
    }
}

fn main() {
    sign();
    verify();
}

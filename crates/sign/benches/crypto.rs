//! What a signature costs to make and to verify, by algorithm: alone, and as one of a batch.
//!
//! `cargo bench -p dnsrig-sign --bench crypto`

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dnsrig_sign::{Algorithm, KeyPair, PublicKey, Role};
use dnsrig_zone::Name;

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

fn sign(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sign");
    let data = data();
    let data: Vec<&[u8]> = data.iter().map(|data| &data[..]).collect();
    let mut signatures = Vec::new();
    let mut measure = |name: &str, key: &KeyPair| {
        for count in [1, BATCH] {
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(name, count), |bencher| match count {
                1 => bencher.iter(|| {
                    signatures.clear();
                    key.sign_into(data[0], &mut signatures)
                }),
                _ => bencher.iter(|| sign_all(key, &data, &mut signatures)),
            });
        }
    };
    for (algorithm, bits) in CASES {
        let mut key = new_key(algorithm, bits);
        measure(&name(algorithm, bits), &key);
        if matches!(
            algorithm,
            Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384
        ) && key.make_deterministic().is_ok()
        {
            measure(&format!("{algorithm}-deterministic"), &key);
        }
    }
}

fn verify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("verify");
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
        for count in [1, BATCH] {
            group.throughput(Throughput::Elements(count as u64));
            let id = BenchmarkId::new(name(algorithm, bits), count);
            group.bench_function(id, |bencher| match count {
                1 => bencher.iter(|| key.verify(signed[0].0, signed[0].1)),
                _ => bencher.iter(|| {
                    key.verify_batch(&signed, &mut valid);
                    valid.iter().all(|valid| *valid)
                }),
            });
        }
    }
}

criterion_group!(benches, sign, verify);
criterion_main!(benches);

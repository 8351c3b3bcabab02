//! Keys that are published and do not sign any more, whose signatures stay until they end.

use crate::common::name;
use crate::folder::{Bench, DAY, NOW, chains, signing};
use dnsrig_sign::zonefile::{Chain, FileSigning, Publication, RetiredKey, SignedFile, sign_file};
use dnsrig_sign::{Algorithm, KeyPair, Role};
use dnsrig_zone::flow::{Changes, Opening};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A zone signed by `bench.keys`, and the key that comes after their second.
fn rolled(algorithm: Algorithm, chain: &Chain, jitter_s: u32) -> (Bench, KeyPair, FileSigning) {
    let bench = Bench::new(algorithm);
    let zone = bench.zone("zone", 300, 41);
    let signing = FileSigning {
        jitter_s,
        ..signing(chain.clone())
    };
    bench.sign(&zone, "signed", &signing).unwrap();
    let bits = algorithm.is_rsa().then_some(1280);
    let origin = name("example.test.");
    let next = KeyPair::generate(&origin, algorithm, bits, Role::Zsk, &bench.keys).unwrap();
    (bench, next, signing)
}

/// Signs `signed` again with the first key and `next`, `old` being retired and going at `until`.
fn again(
    bench: &Bench,
    next: &KeyPair,
    until: u32,
    signing: &FileSigning,
    changes: Option<&str>,
) -> SignedFile {
    let old = bench.keys[1].clone();
    let signing = FileSigning {
        publication: Publication {
            published: Some(
                [&bench.keys[0], &old, next]
                    .map(|key| key.public().clone())
                    .into(),
            ),
            ..Publication::default()
        },
        retired: vec![RetiredKey { key: old, until }],
        ..signing.clone()
    };
    let path = bench.path("signed");
    let mut opening = Opening::new(&path, None);
    if let Some(changes) = changes {
        fs::write(bench.path("changes"), changes).unwrap();
        opening.changes = Some(Arc::new(
            Changes::read(&bench.path("changes"), None).unwrap(),
        ));
    }
    let keys = [bench.keys[0].clone(), next.clone()].into();
    sign_file(&opening, &bench.pool, keys, &signing, &bench.path("again")).unwrap()
}

/// Signatures by the key with this tag.
fn signatures(path: &Path, key: &KeyPair) -> usize {
    let text = fs::read_to_string(path).unwrap();
    let by_key = |line: &&str| {
        let fields: Vec<&str> = line.split(' ').collect();
        fields[3] == "RRSIG" && fields[10] == key.tag().to_string()
    };
    text.lines().filter(by_key).count()
}

#[test]
fn they_stay_until_they_end() {
    for algorithm in [Algorithm::EcdsaP256Sha256, Algorithm::RsaSha256] {
        for chain in chains() {
            let (bench, next, signing) = rolled(algorithm, &chain, 20 * DAY);
            let (path, old) = (bench.path("again"), &bench.keys[1]);
            let before = signatures(&bench.path("signed"), old);
            // The DNSKEY RRset is another, and the chain names no other types.
            let done = again(&bench, &next, NOW + 60 * DAY, &signing, None).signatures;
            assert_eq!((done.made, done.verified), (1, 0));
            assert_eq!(
                (signatures(&path, old), signatures(&path, &next)),
                (before, 0)
            );
            assert_eq!(bench.verify(&path).faults, []);
            // Later some are about to end.
            let later = FileSigning {
                now: NOW + 10 * DAY,
                inception: NOW + 10 * DAY - 3600,
                expiration: NOW + 40 * DAY,
                ..signing
            };
            again(&bench, &next, NOW + 60 * DAY, &later, None);
            let (by_old, by_next) = (signatures(&path, old), signatures(&path, &next));
            assert_eq!(by_old + by_next, before);
            assert!(by_old > 9 && by_next > 9, "{by_old} and {by_next}");
            assert_eq!(bench.verify_at(later.now, &path).faults, []);
        }
    }
}

#[test]
fn none_outlives_its_key() {
    let (bench, next, signing) = rolled(Algorithm::Ed25519, &Chain::Nsec, 20 * DAY);
    let (path, old) = (bench.path("again"), &bench.keys[1]);
    let before = signatures(&bench.path("signed"), old);
    again(&bench, &next, NOW + 20 * DAY, &signing, None);
    let left = signatures(&path, old);
    assert!(0 < left && left < before, "{left} of {before}");
    assert_eq!(left + signatures(&path, &next), before);
    again(&bench, &next, NOW + 7 * DAY, &signing, None);
    assert_eq!(signatures(&path, old), 0);
    assert_eq!(bench.verify(&path).faults, []);
}

#[test]
fn what_changed_or_is_not_valid_is_signed_by_the_next_key() {
    for has_state in [true, false] {
        let (bench, next, mut signing) = rolled(Algorithm::Ed25519, &Chain::Nsec, 0);
        signing.has_state = has_state;
        let signed = bench.path("signed");
        let text = fs::read_to_string(&signed).unwrap();
        // A signature by the old key that is none.
        let at = text.rfind(" IN RRSIG NSEC ").unwrap();
        let end = at + text[at..].find('\n').unwrap() - 12;
        fs::write(&signed, format!("{}AAAA{}", &text[..end], &text[end + 4..])).unwrap();
        again(&bench, &next, NOW + 60 * DAY, &signing, None);
        assert_eq!(signatures(&bench.path("again"), &next), 1);
        assert_eq!(bench.verify(&bench.path("again")).faults, []);
        fs::write(&signed, text).unwrap();
        let changes = "+ new.example.test. 60 IN A 192.0.2.1\n";
        again(&bench, &next, NOW + 60 * DAY, &signing, Some(changes));
        // The new name, its NSEC record, and that of the one before.
        assert_eq!(signatures(&bench.path("again"), &next), 3);
        assert_eq!(bench.verify(&bench.path("again")).faults, []);
    }
}

#[test]
fn two_keys_do_not_share_a_signature() {
    let (bench, next, signing) = rolled(Algorithm::Ed25519, &Chain::Nsec, 0);
    let origin = name("example.test.");
    let others = [bench.keys[0].clone(), bench.keys[1].clone(), next.clone()];
    let further = KeyPair::generate(&origin, Algorithm::Ed25519, None, Role::Zsk, &others).unwrap();
    let keys: Arc<[KeyPair]> = [bench.keys[0].clone(), next.clone(), further.clone()].into();
    let signing = FileSigning {
        retired: vec![RetiredKey {
            key: bench.keys[1].clone(),
            until: NOW + 60 * DAY,
        }],
        ..signing
    };
    let (signed, path) = (bench.path("signed"), bench.path("again"));
    sign_file(
        &Opening::new(&signed, None),
        &bench.pool,
        keys,
        &signing,
        &path,
    )
    .unwrap();
    let by = |key: &KeyPair| signatures(&path, key);
    assert_eq!(by(&bench.keys[1]), by(&further));
    assert_eq!(by(&next), 0);
    assert_eq!(bench.verify(&path).faults, []);
}

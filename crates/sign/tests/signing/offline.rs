//! Key-signing keys whose private part is elsewhere: what they signed stays, or the zone is not signed.

use crate::common::name;
use crate::folder::{Bench, DAY, NOW, signing};
use dnsrig_sign::zonefile::{Chain, FileSigning, Publication, SerialPolicy, SignedFile, sign_file};
use dnsrig_sign::{Algorithm, KeyPair, Role, SignError};
use dnsrig_zone::flow::Opening;
use std::fs;
use std::path::Path;

const DAYS_OF_KEYS: u32 = 60;

/// A zone that both keys of `bench` signed, the file `signed`; how that was.
fn signed_by_both(algorithm: Algorithm) -> (Bench, FileSigning) {
    let bench = Bench::new(algorithm);
    let zone = bench.zone("zone", 60, 51);
    let signing = FileSigning {
        keys_expiration: Some(NOW + DAYS_OF_KEYS * DAY),
        serial: SerialPolicy::Increment,
        publishes_cds: true,
        ..signing(Chain::Kept)
    };
    bench.sign(&zone, "signed", &signing).unwrap();
    let signing = FileSigning {
        publishes_cds: false,
        ..signing
    };
    (bench, signing)
}

/// Signs `from` as the file `again` with `keys` alone.
fn sign_with(
    bench: &Bench,
    keys: &[KeyPair],
    from: &str,
    signing: &FileSigning,
) -> Result<SignedFile, SignError> {
    let path = bench.path(from);
    let (opening, target) = (Opening::new(&path, None), bench.path("again"));
    sign_file(&opening, &bench.pool, keys.into(), signing, &target)
}

/// The tags in the signatures of `rtype`.
fn signers(path: &Path, rtype: &str) -> Vec<u16> {
    let text = fs::read_to_string(path).unwrap();
    let fields = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of_type = fields.filter(|fields| fields[3] == "RRSIG" && fields[4] == rtype);
    of_type.map(|fields| fields[10].parse().unwrap()).collect()
}

#[test]
fn their_signatures_stay() {
    for algorithm in [
        Algorithm::EcdsaP256Sha256,
        Algorithm::Ed25519,
        Algorithm::RsaSha256,
    ] {
        let (bench, signing) = signed_by_both(algorithm);
        let [ksk, zsk] = &bench.keys[..] else {
            panic!("two keys")
        };
        let later = FileSigning {
            now: NOW + 25 * DAY,
            inception: NOW + 25 * DAY - 3600,
            expiration: NOW + 55 * DAY,
            ..signing
        };
        let done = sign_with(&bench, std::slice::from_ref(zsk), "signed", &later).unwrap();
        let again = bench.path("again");
        for rtype in ["DNSKEY", "CDS", "CDNSKEY"] {
            assert_eq!(signers(&again, rtype), [ksk.tag()], "{rtype}");
        }
        assert_eq!(signers(&again, "SOA"), [zsk.tag()]);
        assert_eq!((done.signatures.kept, done.signatures.verified), (3, 3));
        assert_eq!(done.offline_keys.len(), 1);
        assert_eq!(done.offline_keys[0].key.rdata(), ksk.public().rdata());
        assert_eq!(done.offline_keys[0].until, NOW + DAYS_OF_KEYS * DAY);
        assert_eq!(done.remarks, Vec::<String>::new());
        assert_eq!(bench.verify_at(later.now, &again).faults, []);
        // Of the key that is not at hand.
        let synchronised = FileSigning {
            publishes_cds: true,
            ..later
        };
        let alone = std::slice::from_ref(zsk);
        sign_with(&bench, alone, "signed", &synchronised).unwrap();
        assert_eq!(signers(&again, "CDS"), [ksk.tag()]);
        let after = FileSigning {
            previous: Some(bench.path("signed")),
            ..synchronised
        };
        let done = sign_with(&bench, alone, "zone", &after).unwrap();
        assert_eq!((done.signatures.verified, done.remarks.len()), (3, 0));
        assert_eq!(bench.verify_at(after.now, &again).faults, []);
    }
}

#[test]
fn a_new_version_of_the_zone_keeps_them() {
    let (bench, signing) = signed_by_both(Algorithm::Ed25519);
    let [ksk, zsk] = &bench.keys[..] else {
        panic!("two keys")
    };
    let zone = fs::read_to_string(bench.path("zone")).unwrap();
    fs::write(
        bench.path("new"),
        zone + "new.example.test. 60 IN A 192.0.2.1\n",
    )
    .unwrap();
    let after = FileSigning {
        previous: Some(bench.path("signed")),
        ..signing
    };
    let done = sign_with(&bench, std::slice::from_ref(zsk), "new", &after).unwrap();
    let again = bench.path("again");
    assert_eq!(signers(&again, "DNSKEY"), [ksk.tag()]);
    assert_eq!((done.offline_keys.len(), done.remarks.len()), (1, 0));
    assert_eq!(bench.verify(&again).faults, []);
    // One that is to go goes.
    let without = FileSigning {
        publication: Publication {
            withdrawn: vec![ksk.public().clone()],
            ..Publication::default()
        },
        ..after
    };
    sign_with(&bench, std::slice::from_ref(zsk), "new", &without).unwrap();
    assert_eq!(signers(&again, "DNSKEY"), [zsk.tag()]);
    assert_eq!(bench.verify(&again).faults, []);
}

#[test]
fn without_them_the_zone_is_not_signed() {
    let (bench, signing) = signed_by_both(Algorithm::Ed25519);
    let [ksk, zsk] = &bench.keys[..] else {
        panic!("two keys")
    };
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let at = text.find(" IN RRSIG DNSKEY ").unwrap();
    let end = at + text[at..].find('\n').unwrap();
    let line = 1 + text[..at].rfind('\n').unwrap();
    fs::write(
        bench.path("damaged"),
        format!("{}AAAA{}", &text[..end - 12], &text[end - 8..]),
    )
    .unwrap();
    fs::write(
        bench.path("without"),
        format!("{}{}", &text[..line], &text[end + 1..]),
    )
    .unwrap();
    let other_ttl = FileSigning {
        dnskey_ttl_s: Some(77),
        ..signing.clone()
    };
    let late = NOW + (DAYS_OF_KEYS - 6) * DAY;
    let about_to_end = FileSigning {
        now: late,
        inception: late - 3600,
        expiration: late + 30 * DAY,
        keys_expiration: None,
        ..signing.clone()
    };
    let origin = name("example.test.");
    let next =
        KeyPair::generate(&origin, Algorithm::Ed25519, None, Role::Zsk, &bench.keys).unwrap();
    let alone = vec![zsk.clone()];
    let rolled = vec![zsk.clone(), next];
    for (keys, from, signing, why) in [
        (&alone, "damaged", &signing, "does not fit"),
        (&alone, "without", &signing, "there is none"),
        (&alone, "signed", &other_ttl, "does not fit"),
        (&alone, "signed", &about_to_end, "refresh interval"),
        (&rolled, "signed", &signing, "does not fit"),
    ] {
        let error = sign_with(&bench, keys, from, signing)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains(&format!("tag {}", ksk.tag())), "{error}");
        assert!(!bench.path("again").exists());
    }
    // A key that users want to sign the keys does.
    let as_ksk = [zsk.clone().with_role(Role::Ksk)];
    let done = sign_with(&bench, &as_ksk, "damaged", &signing).unwrap();
    let said = done.remarks.concat();
    assert!(said.contains("DNSKEY RRset loses its signature"), "{said}");
}

#[test]
fn beside_a_key_at_hand_they_stay_too() {
    let (bench, signing) = signed_by_both(Algorithm::Ed25519);
    let [ksk, zsk] = &bench.keys[..] else {
        panic!("two keys")
    };
    let origin = name("example.test.");
    let next =
        KeyPair::generate(&origin, Algorithm::Ed25519, None, Role::Ksk, &bench.keys).unwrap();
    let all = [ksk.clone(), zsk.clone(), next.clone()];
    sign_with(&bench, &all, "signed", &signing).unwrap();
    fs::rename(bench.path("again"), bench.path("signed")).unwrap();
    let done = sign_with(&bench, &[zsk.clone(), next.clone()], "signed", &signing).unwrap();
    let mut both = [ksk.tag(), next.tag()];
    let mut found = signers(&bench.path("again"), "DNSKEY");
    both.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, both);
    assert_eq!(done.remarks, Vec::<String>::new());
    assert_eq!(bench.verify(&bench.path("again")).faults, []);
}

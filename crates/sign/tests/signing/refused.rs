//! Zones and settings of which no valid signed zone comes.

use crate::folder::{Bench, DAY, NOW, chains, signing};
use dnsrig_sign::zonefile::{Chain, FileSigning, Publication};
use dnsrig_sign::{Algorithm, Dnskey};
use proptest::prelude::*;
use std::fs;

const SOA: &str = "example.test. 60 IN SOA . . 1 2 3 4 5\nexample.test. 60 IN NS ns.example.\n";
const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn zone(bench: &Bench, lines: &str) -> std::path::PathBuf {
    let path = bench.path("zone");
    fs::write(&path, format!("{SOA}{lines}")).unwrap();
    path
}

#[test]
fn ds_records_without_delegation() {
    let bench = Bench::new(Algorithm::Ed25519);
    for owner in ["example.test.", "x.example.test."] {
        for signing in chains().map(signing) {
            for signs in [true, false] {
                let zone = zone(&bench, &format!("{owner} 60 IN DS 1 8 2 {DIGEST}\n"));
                let signing = FileSigning {
                    signs,
                    ..signing.clone()
                };
                let error = bench.sign(&zone, "signed", &signing).unwrap_err();
                let error = error.to_string();
                assert!(
                    error.contains(&format!("zone:3:1: a DS record at {owner}")),
                    "{error}"
                );
                assert!(!bench.path("signed").exists());
            }
        }
    }
    // Below a zone cut it is not the zone's.
    let cut = format!(
        "x.example.test. 60 IN NS y.x.example.test.\ny.x.example.test. 60 IN DS 1 8 2 {DIGEST}\n"
    );
    bench
        .sign(&zone(&bench, &cut), "signed", &signing(Chain::Nsec))
        .unwrap();
}

fn made_with(bench: &Bench, jitter_s: u32, refresh_s: u32, left_s: u32) -> Result<(), String> {
    let signing = FileSigning {
        jitter_s,
        refresh_s,
        expiration: NOW.wrapping_add(left_s),
        ..signing(Chain::Nsec)
    };
    let done = bench.sign(&zone(bench, ""), "signed", &signing);
    done.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn signatures_that_would_have_to_be_renewed_at_once() {
    let bench = Bench::new(Algorithm::Ed25519);
    for (jitter_s, refresh_s, left_s) in [
        // Up to half an hour before now.
        (30 * 60, 0, 0x10),
        (29 * DAY, 2 * DAY, 30 * DAY),
    ] {
        let error = made_with(&bench, jitter_s, refresh_s, left_s).unwrap_err();
        assert!(error.contains("-j") && error.contains("-i"), "{error}");
    }
    for (jitter_s, refresh_s, left_s) in [
        (27 * DAY, 2 * DAY, 30 * DAY),
        (0, 29 * DAY, 30 * DAY),
        (0, 31 * DAY, 30 * DAY),
        (0, 7 * DAY, 0u32.wrapping_sub(60)),
        (0, 7 * DAY, 0),
    ] {
        made_with(&bench, jitter_s, refresh_s, left_s).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_was_signed_now_is_kept_now(jitter_s in 0..40 * DAY, refresh_s in 0..40 * DAY, left_s in 1..60 * DAY) {
        let bench = Bench::new(Algorithm::Ed25519);
        let signing = FileSigning {
            jitter_s,
            refresh_s,
            expiration: NOW + left_s,
            ..signing(Chain::Nsec)
        };
        let zone = bench.zone("zone", 60, 1);
        if bench.sign(&zone, "signed", &signing).is_ok() {
            prop_assert_eq!(bench.verify(&bench.path("signed")).faults, []);
            let again = bench.sign(&bench.path("signed"), "again", &signing).unwrap();
            // An interval longer than the validity renews everything.
            prop_assert_eq!(again.signatures.made == 0, jitter_s > 0 || refresh_s < left_s);
        }
    }
}

const DELETION: &str = "example.test. 60 IN CDS 0 0 0 00\nexample.test. 60 IN CDNSKEY 0 3 0 AA==\n";

#[test]
fn the_wish_to_be_insecure_stays() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = zone(&bench, DELETION);
    for synchronised in [None, Some(Vec::new())] {
        let signing = FileSigning {
            publication: Publication {
                synchronised,
                ..Publication::default()
            },
            ..signing(Chain::Nsec)
        };
        bench.sign(&zone, "signed", &signing).unwrap();
        let text = fs::read_to_string(bench.path("signed")).unwrap();
        assert!(text.contains(" IN CDS 0 0 0 00\n"), "{text}");
        assert!(text.contains(" IN CDNSKEY 0 3 0 AA==\n"), "{text}");
        assert_eq!(bench.verify(&bench.path("signed")).faults, []);
    }
    // Those of keys go all the same.
    let with_others = format!("{DELETION}example.test. 60 IN CDS 1 8 2 {DIGEST}\n");
    let path = bench.path("zone");
    fs::write(&path, format!("{SOA}{with_others}")).unwrap();
    let signing = FileSigning {
        publication: Publication {
            synchronised: Some(Vec::new()),
            ..Publication::default()
        },
        ..signing(Chain::Nsec)
    };
    bench.sign(&path, "signed", &signing).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    assert_eq!(text.matches(" IN CDS ").count(), 1);
}

#[test]
fn the_wish_to_be_insecure_and_to_be_secure() {
    let bench = Bench::new(Algorithm::Ed25519);
    let key: Dnskey = bench.keys[0].public().clone();
    let by_option = FileSigning {
        publishes_cds: true,
        ..signing(Chain::Nsec)
    };
    let by_times = FileSigning {
        publication: Publication {
            synchronised: Some(vec![key]),
            ..Publication::default()
        },
        ..signing(Chain::Nsec)
    };
    for lines in DELETION.lines() {
        let zone = zone(&bench, &format!("{lines}\n"));
        for signing in [&by_option, &by_times] {
            let error = bench.sign(&zone, "signed", signing).unwrap_err();
            assert!(error.to_string().contains("RFC 8078"), "{error}");
        }
    }
}

#[test]
fn keys_of_the_zone_that_are_of_no_use() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    for key in ["AAAA", ""] {
        let records = format!("example.test. 60 IN DNSKEY 257 3 13 {key}\n");
        let done = bench.sign(&zone(&bench, &records), "signed", &signing(Chain::Nsec));
        assert!(
            matches!(done, Err(dnsrig_sign::SignError::PublicKey { .. })),
            "{done:?}"
        );
    }
}

//! Zones that are signed with their digest (RFC 8976).

use crate::common::{key_pair, nasty_zone, run, said};
use crate::folder::{Bench, DAY, NOW, chains, lines, signing};
use dnsrig_sign::zonefile::{Chain, Digests, FileSigning, SerialPolicy};
use dnsrig_sign::{Algorithm, Denial, Nsec3Parameters, SignError, SigningParameters, sign};
use dnsrig_zone::Zone;
use dnsrig_zone::flow::Opening;
use dnsrig_zone::tools::check::{Rule, check};
use dnsrig_zone::zonemd::ZonemdHash::{self, Sha384, Sha512};
use domain::base::iana::Rtype;
use std::fs;
use std::path::Path;

fn digested(chain: Chain, hashes: &[ZonemdHash]) -> FileSigning {
    FileSigning {
        digests: Digests::Of(hashes.to_vec()),
        ..signing(chain)
    }
}

/// Whether the zone has digests, all of them right.
fn has_right_digests(bench: &Bench, path: &Path) -> bool {
    let checked = check(&Opening::new(path, None), &bench.pool, 10).unwrap();
    let wrong = [Rule::ZonemdDigest, Rule::ZonemdSerial, Rule::ZonemdUnknown];
    checked.has_verified_digest && !wrong.iter().any(|rule| checked.counts.contains_key(rule))
}

fn zonemd_lines(path: &Path) -> Vec<String> {
    let mut found: Vec<String> = lines(path)
        .into_iter()
        .filter(|line| line.contains(" IN ZONEMD "))
        .collect();
    found.sort();
    found
}

#[test]
fn digests_are_of_what_was_written() {
    for algorithm in [
        Algorithm::RsaSha256,
        Algorithm::EcdsaP256Sha256,
        Algorithm::EcdsaP384Sha384,
        Algorithm::Ed25519,
    ] {
        let bench = Bench::new(algorithm);
        let zone = bench.zone("zone", 900, 21);
        for chain in chains() {
            for hashes in [&[Sha384][..], &[Sha512], &[Sha512, Sha384]] {
                let signed = bench.sign(&zone, "signed", &digested(chain.clone(), hashes));
                let path = bench.path("signed");
                assert_eq!(signed.unwrap().digests.len(), hashes.len());
                assert_eq!(zonemd_lines(&path).len(), hashes.len());
                assert_eq!(bench.verify(&path).faults, []);
                assert!(has_right_digests(&bench, &path));
            }
        }
    }
}

#[test]
fn nsec3_records_of_many_blocks_are_digested_in_order() {
    let bench = Bench::new(Algorithm::Ed25519);
    let path = bench.path("zone");
    let mut text = String::from("$ORIGIN example.test.\n$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\n");
    (0..30_000).for_each(|number| text += &format!("n{number:05} NS ns{number}.elsewhere.\n"));
    fs::write(&path, text).unwrap();
    let chain = chains()[1].clone();
    bench
        .sign(&path, "signed", &digested(chain, &[Sha384]))
        .unwrap();
    assert!(fs::metadata(bench.path("signed")).unwrap().len() > 8 << 20);
    assert!(has_right_digests(&bench, &bench.path("signed")));
}

#[test]
fn a_changed_zone_has_another_digest() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 300, 22);
    for chain in chains() {
        bench
            .sign(&zone, "signed", &digested(chain, &[Sha384]))
            .unwrap();
        let path = bench.path("signed");
        let text = fs::read_to_string(&path).unwrap();
        let at = text.rfind(" RRSIG ").unwrap();
        let cut = text[..at].rfind('\n').unwrap() + 1;
        fs::write(&path, &text[..cut]).unwrap();
        assert!(!has_right_digests(&bench, &path));
    }
}

#[test]
fn verifying_looks_at_the_digests() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 300, 27);
    for chain in chains() {
        let signing = digested(chain, &[Sha384, Sha512]);
        bench.sign(&zone, "signed", &signing).unwrap();
        let path = bench.path("signed");
        assert_eq!(bench.verify(&path).digests, [Sha384, Sha512]);
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // NSEC3 records lie where they hash to in the digest, wherever they stand.
        let mut mixed = lines.clone();
        mixed[1..].reverse();
        fs::write(&path, mixed.join("\n") + "\n").unwrap();
        assert_eq!(bench.verify(&path).digests, [Sha384, Sha512]);
        assert_eq!(bench.verify(&path).faults, []);
        // What is wrong with one says its own line; the signature of both is wrong too.
        let at = lines
            .iter()
            .position(|line| line.contains(" ZONEMD 2025010101 1 1 "))
            .unwrap();
        let changed = |old: &str, new: &str| {
            let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            lines[at] = lines[at].replacen(old, new, 1);
            assert_ne!(lines[at], text.lines().nth(at).unwrap());
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            let found = bench.verify(&path);
            let of_digest = found
                .faults
                .iter()
                .filter(|fault| fault.rtype == Rtype::ZONEMD && !fault.what.contains("ED25519"));
            let said: Vec<String> = of_digest.map(ToString::to_string).collect();
            (said, found.digests, found.warnings)
        };
        let digit = lines[at].chars().next_back().unwrap();
        let other = if digit == '0' { "1" } else { "0" };
        let last = &lines[at][lines[at].len() - 8..];
        let flipped = format!("{}{other}", &last[..7]);
        for (old, new, expected) in [
            (last, &*flipped, "is not that of the zone"),
            (" ZONEMD 2025010101 ", " ZONEMD 7 ", "has the serial 7"),
            (last, "", "has 44 octets"),
        ] {
            let (said, digests, warnings) = changed(old, new);
            assert_eq!((said.len(), warnings.len()), (1, 0), "{said:?}");
            assert!(
                said[0].contains(&format!("signed:{}:1: example.test. ZONEMD: ", at + 1)),
                "{said:?}"
            );
            assert!(said[0].contains(expected), "{said:?}");
            assert_eq!(digests, [Sha512]);
        }
        for unknown in [" ZONEMD 2025010101 9 1 ", " ZONEMD 2025010101 1 9 "] {
            let (said, digests, warnings) = changed(" ZONEMD 2025010101 1 1 ", unknown);
            assert_eq!((said, digests), (vec![], vec![Sha512]));
            assert!(warnings[0].what.contains("is unknown"), "{}", warnings[0]);
        }
        // Of two digests by one hash neither counts.
        let double = lines[at].replacen(last, &flipped, 1);
        fs::write(&path, format!("{text}{double}\n")).unwrap();
        let found = bench.verify(&path);
        let several = found
            .faults
            .iter()
            .filter(|fault| fault.what.contains("several ZONEMD"));
        assert_eq!((several.count(), found.digests), (2, vec![Sha512]));
    }
}

#[test]
fn ldns_verifies_the_digests() {
    let zone = nasty_zone();
    let soa = zone.soa().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (bare, file) = (folder.path().join("bare"), folder.path().join("signed"));
    zone.write(&bare).unwrap();
    let placeholder = format!(
        "{}. {} ZONEMD 1 1 1 {}\n",
        zone.origin(),
        soa.ttl,
        "00".repeat(48)
    );
    let text = fs::read_to_string(&bare).unwrap() + &placeholder;
    let zone = Zone::parse(text.as_bytes(), Some(zone.origin())).unwrap();
    for algorithm in [Algorithm::EcdsaP256Sha256, Algorithm::RsaSha512] {
        for denial in [Denial::Nsec, Denial::Nsec3(Nsec3Parameters::default())] {
            let keys = key_pair(&zone, algorithm);
            let signed = sign(&zone, &keys, &SigningParameters::new(denial)).unwrap();
            let is_digest = |record: &&dnsrig_zone::Record| record.rtype == Rtype::ZONEMD;
            assert_eq!(signed.records().iter().filter(is_digest).count(), 1);
            signed.write(&file).unwrap();
            // Twice: the signatures too.
            let arguments = [Path::new("-ZZ"), Path::new("-V"), Path::new("3"), &file];
            if let Some(output) = run("ldns-verify-zone", "ldnsutils", &arguments, folder.path()) {
                assert!(output.status.success(), "{}", said(&output));
            }
            // It does look at the digest.
            let text = fs::read_to_string(&file).unwrap();
            let wrong = text.replacen("192.0.2.", "192.0.3.", 1);
            assert_ne!(text, wrong);
            fs::write(&file, wrong).unwrap();
            let arguments = [Path::new("-Z"), &file];
            if let Some(output) = run("ldns-verify-zone", "ldnsutils", &arguments, folder.path()) {
                assert!(!output.status.success(), "{}", said(&output));
            }
        }
    }
}

#[test]
fn signing_again_renews_the_digest_and_little_else() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    let zone = bench.zone("zone", 500, 23);
    for chain in chains() {
        bench
            .sign(&zone, "signed", &digested(chain.clone(), &[Sha384]))
            .unwrap();
        let before = zonemd_lines(&bench.path("signed"));
        let again = FileSigning {
            serial: SerialPolicy::Increment,
            ..signing(chain)
        };
        let signed = bench.sign(&bench.path("signed"), "again", &again).unwrap();
        assert_eq!(signed.digests, [Sha384]);
        // The SOA record's signature and that of the digest.
        assert_eq!(signed.signatures.made, 2);
        assert_eq!(signed.signatures.dropped, 2);
        assert_ne!(zonemd_lines(&bench.path("again")), before);
        assert_eq!(bench.verify(&bench.path("again")).faults, []);
        assert!(has_right_digests(&bench, &bench.path("again")));
    }
}

#[test]
fn digests_go_where_they_are_not_wanted_or_would_be_wrong() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 200, 24);
    bench
        .sign(&zone, "signed", &digested(Chain::Nsec, &[Sha384]))
        .unwrap();
    let none = digested(Chain::Nsec, &[]);
    bench.sign(&bench.path("signed"), "none", &none).unwrap();
    assert_eq!(zonemd_lines(&bench.path("none")).len(), 0);
    assert_eq!(bench.verify(&bench.path("none")).faults, []);
    let chained = FileSigning {
        signs: false,
        ..signing(Chain::Nsec)
    };
    bench
        .sign(&bench.path("signed"), "chained", &chained)
        .unwrap();
    assert_eq!(zonemd_lines(&bench.path("chained")).len(), 0);
    let given = signing(Chain::Given);
    bench.sign(&bench.path("signed"), "given", &given).unwrap();
    assert_eq!(
        zonemd_lines(&bench.path("given")),
        zonemd_lines(&bench.path("signed"))
    );
    let refused = bench.sign(&zone, "piece", &digested(Chain::Given, &[Sha384]));
    assert!(matches!(refused, Err(SignError::DigestOfPiece)));
    assert!(!bench.path("piece").exists());
}

#[test]
fn what_has_no_name_gets_a_digest_too() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    let zone = bench.zone("zone", 200, 25);
    let pipe = bench.path("pipe");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(status.unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    let signing = FileSigning {
        now: NOW + DAY,
        ..digested(Chain::Nsec, &[Sha384])
    };
    bench.sign(&zone, "pipe", &signing).unwrap();
    fs::write(bench.path("signed"), reader.join().unwrap()).unwrap();
    assert!(has_right_digests(&bench, &bench.path("signed")));
}

//! Zone files signed, signed again, signed by pieces and verified.

use crate::folder::{Bench, DAY, NOW, chains, keys, lines, signing};
use dnsrig_sign::verify::{Verification, verify_file};
use dnsrig_sign::zonefile::{Chain, FileSigning, SerialPolicy, sign_file, state_path};
use dnsrig_sign::{Algorithm, KeyPair, Nsec3Parameters};
use dnsrig_zone::flow::{Changes, Opening};
use proptest::prelude::*;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[test]
fn what_is_signed_verifies_and_is_in_order() {
    for algorithm in [
        Algorithm::RsaSha256,
        Algorithm::EcdsaP256Sha256,
        Algorithm::Ed25519,
    ] {
        let bench = Bench::new(algorithm);
        let zone = bench.zone("zone", 900, 1);
        for chain in chains() {
            let signed = bench.sign(&zone, "signed", &signing(chain)).unwrap();
            let found = bench.verify(&bench.path("signed"));
            assert_eq!(found.faults, []);
            assert_eq!(found.signatures, signed.signatures.made);
            assert_eq!(found.chain_names, signed.chain_names);
            assert_eq!(found.records, signed.records);
            let opening_path = bench.path("signed");
            let opening = Opening::new(&opening_path, None);
            dnsrig_zone::tools::sort(&opening, &bench.pool, &bench.path("sorted")).unwrap();
            let read = |file: &str| fs::read(bench.path(file)).unwrap();
            assert!(read("sorted") == read("signed"), "not in canonical order");
        }
    }
}

/// Compares two zone files line by line.
fn assert_same(a: &[u8], b: &[u8]) {
    let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
    for (number, (a, b)) in a.lines().zip(b.lines()).enumerate() {
        assert_eq!(a, b, "line {}", number + 1);
    }
    assert_eq!(a.lines().count(), b.lines().count());
}

#[test]
fn signing_again_keeps_everything() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    let zone = bench.zone("zone", 700, 2);
    for chain in chains() {
        let signing = signing(chain);
        let first = bench.sign(&zone, "signed", &signing).unwrap();
        let before = fs::read(bench.path("signed")).unwrap();
        assert_eq!(bench.verify(&bench.path("signed")).faults, []);
        let again = |signing: &FileSigning| {
            let done = bench.sign(&bench.path("signed"), "again", signing).unwrap();
            assert_same(&before, &fs::read(bench.path("again")).unwrap());
            assert_eq!(done.signatures.made, 0);
            assert_eq!(done.signatures.kept, first.signatures.made);
            done.signatures.verified
        };
        assert_eq!(again(&signing), 0);
        let verifying = FileSigning {
            verifies_kept: true,
            ..signing.clone()
        };
        assert_eq!(again(&verifying), first.signatures.made);
        // A state file that was tampered with, or of other keys, vouches for nothing.
        let state = state_path(&bench.path("signed"));
        let octets = fs::read(&state).unwrap();
        let mut tampered = octets.clone();
        // The lowest octet of the greatest digest.
        let last = tampered.len() - 16;
        tampered[last] ^= 1;
        fs::write(&state, &tampered).unwrap();
        assert_eq!(again(&signing), 1);
        fs::write(&state, &octets[..octets.len() / 2]).unwrap();
        assert_eq!(again(&signing), first.signatures.made);
        fs::remove_file(&state).unwrap();
        assert_eq!(again(&signing), first.signatures.made);
    }
}

#[test]
fn names_may_lie_across_the_blocks_in_which_files_are_read() {
    const BLOCK: usize = 256 << 10;
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 100, 12);
    let signing = signing(Chain::Nsec);
    bench.sign(&zone, "signed", &signing).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    // A comment before the zone lets a block end so many octets before the zone's end.
    for octets in (1..700).step_by(50) {
        let padding = BLOCK + octets - text.len() - 2;
        let padded = format!(";{}\n{text}", "x".repeat(padding));
        fs::write(bench.path("padded"), padded).unwrap();
        bench
            .sign(&bench.path("padded"), "again", &signing)
            .unwrap();
        assert_same(text.as_bytes(), &fs::read(bench.path("again")).unwrap());
    }
}

#[test]
fn the_state_file_vouches_for_nothing_else() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    let zone = bench.zone("zone", 300, 3);
    let signing = signing(Chain::Nsec);
    bench.sign(&zone, "signed", &signing).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    // Each RRSIG in turn gets the signature of another.
    let signatures: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" IN RRSIG "))
        .collect();
    let value = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
    let (first, second) = (value(signatures[4]), value(signatures[9]));
    let swapped = text
        .replace(&first, "\u{1}")
        .replace(&second, &first)
        .replace('\u{1}', &second);
    fs::write(bench.path("signed"), swapped).unwrap();
    assert_eq!(bench.verify(&bench.path("signed")).fault_count, 4);
    let done = bench
        .sign(&bench.path("signed"), "again", &signing)
        .unwrap();
    assert_eq!((done.signatures.made, done.signatures.dropped), (2, 2));
    assert_eq!(bench.verify(&bench.path("again")).faults, []);
}

#[test]
fn what_ends_soon_is_renewed() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 600, 4);
    let spread = FileSigning {
        jitter_s: 20 * DAY,
        ..signing(Chain::Nsec)
    };
    let first = bench.sign(&zone, "signed", &spread).unwrap();
    let later = FileSigning {
        now: NOW + 13 * DAY,
        inception: NOW + 13 * DAY - 3600,
        expiration: NOW + 43 * DAY,
        ..spread
    };
    let renewed = bench
        .sign(&bench.path("signed"), "again", &later)
        .unwrap()
        .signatures;
    assert_eq!(renewed.made + renewed.kept, first.signatures.made);
    // A signature ends after 10 to 30 days; half of them within 20.
    let share = renewed.made as f64 / first.signatures.made as f64;
    assert!((0.4..0.6).contains(&share), "{share}");
    assert_eq!(bench.verify_at(later.now, &bench.path("again")).faults, []);
}

/// Signs `text` afresh and by way of the signed zone with its data replaced; both must be the same but for signatures.
fn incremental_is_full(bench: &Bench, before: &Path, after: &Path, chain: &Chain) {
    let signing = signing(chain.clone());
    bench.sign(before, "signed", &signing).unwrap();
    // The new data with the old signatures and the old chain.
    let old = fs::read_to_string(bench.path("signed")).unwrap();
    let added = [" IN RRSIG ", " IN NSEC ", " IN NSEC3 "];
    let kept = old
        .lines()
        .filter(|line| added.iter().any(|added| line.contains(added)));
    let mut text = fs::read_to_string(after).unwrap();
    text.extend(kept.flat_map(|line| [line, "\n"]));
    fs::write(bench.path("changed"), text).unwrap();
    fs::copy(
        state_path(&bench.path("signed")),
        state_path(&bench.path("changed")),
    )
    .unwrap();
    let incremental = bench.sign(&bench.path("changed"), "incremental", &signing);
    let full = bench.sign(after, "full", &signing);
    // A delegation that lost its NS records may have kept its DS records.
    if let Err(error) = full {
        assert!(error.to_string().contains("a DS record at"), "{error}");
        assert!(incremental.is_err());
        return;
    }
    let (done, full) = (incremental.unwrap(), full.unwrap());
    assert_eq!(bench.verify(&bench.path("incremental")).faults, []);
    assert_eq!(done.records, full.records);
    assert!(done.signatures.made <= full.signatures.made);
    // Ed25519 signatures are the same for the same data.
    assert_eq!(
        lines(&bench.path("incremental")),
        lines(&bench.path("full"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn incremental_signing_gives_what_full_signing_gives(
        seed: u64, records in 60usize..300, dropped in proptest::collection::vec(any::<u32>(), 0..20), which in 0usize..3,
    ) {
        let bench = Bench::new(Algorithm::Ed25519);
        let before = bench.zone("before", records, seed);
        let text = fs::read_to_string(&before).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for number in dropped {
            let index = 1 + number as usize % (lines.len() - 1);
            // The zone keeps its SOA record; a name gets another, new one.
            let line = lines.remove(index);
            if number % 3 == 0 {
                lines.push(format!("new{number}.example.test. 60 IN A 192.0.2.1"));
            } else if number % 3 == 1 && line.contains(" A ") {
                lines.push(line.replace(" 198.", " 192."));
            }
        }
        let after = bench.path("after");
        fs::write(&after, lines.join("\n") + "\n").unwrap();
        incremental_is_full(&bench, &before, &after, &chains()[which]);
    }
}

#[test]
fn changes_alone_are_signed() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 500, 11);
    for chain in chains() {
        let signing = signing(chain);
        bench.sign(&zone, "signed", &signing).unwrap();
        let text = fs::read_to_string(&zone).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let host = lines
            .iter()
            .position(|line| line.contains(" A 198."))
            .unwrap();
        let cut = lines
            .iter()
            .position(|line| line.contains(" NS ns") && !line.starts_with("example.test."))
            .unwrap();
        let added = [
            "a.b.new.example.test. 60 IN A 192.0.2.1",
            "zzz.example.test. 60 IN NS ns.zzz.example.test.",
            "ns.zzz.example.test. 60 IN A 192.0.2.1",
        ];
        let gone = [lines[0], lines[host], lines[cut]];
        let soa = lines[0].replace(" 2", " 3");
        let mut changes = String::from("; a difference\n\n");
        gone.iter()
            .for_each(|line| changes.push_str(&format!("- {line}\n")));
        added
            .iter()
            .chain([&&*soa])
            .for_each(|line| changes.push_str(&format!("+{line}\n")));
        fs::write(bench.path("changes"), changes).unwrap();
        let after: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| !gone.contains(line))
            .chain(added)
            .chain([&*soa])
            .collect();
        fs::write(bench.path("after"), after.join("\n") + "\n").unwrap();

        let (from, to) = (bench.path("signed"), bench.path("changed"));
        let changes = Changes::read(&bench.path("changes"), None).unwrap();
        let mut opening = Opening::new(&from, None);
        opening.changes = Some(Arc::new(changes));
        let done = sign_file(&opening, &bench.pool, bench.keys.clone(), &signing, &to).unwrap();
        let full = bench.sign(&bench.path("after"), "full", &signing).unwrap();
        assert!(done.signatures.made * 5 < full.signatures.made, "{done:?}");
        assert_eq!(bench.verify(&to).faults, []);
        assert!(fs::read(&to).unwrap() == fs::read(bench.path("full")).unwrap());
        // What was kept unseen is still vouched for.
        let again = bench.sign(&to, "again", &signing).unwrap().signatures;
        assert_eq!((again.made, again.verified), (0, 0));
        // The same changes fit only once.
        opening.path = &to;
        let error =
            sign_file(&opening, &bench.pool, bench.keys.clone(), &signing, &from).unwrap_err();
        assert!(error.to_string().contains("changes:"), "{error}");
    }
}

#[test]
fn another_chain_replaces_the_old() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 300, 5);
    for first in chains() {
        for second in chains() {
            bench.sign(&zone, "first", &signing(first.clone())).unwrap();
            bench
                .sign(&bench.path("first"), "second", &signing(second.clone()))
                .unwrap();
            bench.sign(&zone, "fresh", &signing(second)).unwrap();
            assert!(
                fs::read(bench.path("second")).unwrap() == fs::read(bench.path("fresh")).unwrap()
            );
        }
    }
}

#[test]
fn pieces_signed_one_by_one_are_the_whole() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 500, 6);
    for chain in chains() {
        let whole = signing(chain);
        bench.sign(&zone, "whole", &whole).unwrap();
        let chained = FileSigning {
            signs: false,
            ..whole.clone()
        };
        bench.sign(&zone, "chained", &chained).unwrap();
        let text = fs::read_to_string(bench.path("chained")).unwrap();
        let owner = |line: &str| line.split(' ').next().unwrap().to_ascii_lowercase();
        let (apex, rest): (Vec<&str>, Vec<&str>) = text
            .lines()
            .partition(|line| owner(line) == "example.test.");
        // Each piece needs some of the NSEC3 records.
        let (nsec3, rest): (Vec<&str>, Vec<&str>) =
            rest.iter().partition(|line| line.contains(" IN NSEC3 "));
        let mut signed = HashSet::new();
        let middle = rest.len() / 2;
        let cut = middle
            + rest[middle..]
                .iter()
                .position(|line| owner(line) != owner(rest[middle]))
                .unwrap();
        let (names, chain) = (rest.split_at(cut), nsec3.split_at(nsec3.len() / 2));
        let pieces = [(names.0, chain.0), (names.1, chain.1)];
        for (number, (names, chain)) in pieces.into_iter().enumerate() {
            // Glue goes with its cut; a piece that begins below one has the cut's NS records only in the other.
            let path = bench.path(&format!("piece{number}"));
            fs::write(&path, [&apex[..], names, chain].concat().join("\n") + "\n").unwrap();
            let given = FileSigning {
                chain: Chain::Given,
                ..whole.clone()
            };
            bench.sign(&path, "piece.signed", &given).unwrap();
            signed.extend(lines(&bench.path("piece.signed")));
        }
        let whole = lines(&bench.path("whole"));
        let surplus: Vec<&String> = signed.difference(&whole).collect();
        let missing: Vec<&String> = whole.difference(&signed).collect();
        assert!(
            surplus.iter().all(|line| !line.contains(" NSEC")),
            "{surplus:?}"
        );
        assert_eq!(missing, Vec::<&String>::new());
    }
}

#[test]
fn faults_are_named() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    let zone = bench.zone("zone", 300, 7);
    bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let find = |what: &str| lines.iter().rposition(|line| line.contains(what)).unwrap();
    let faults_without = |index: usize| {
        let mut lines = lines.clone();
        lines.remove(index);
        faults_of(&bench, &lines)
    };
    let faults_with = |index: usize, from: &str, to: &str| {
        let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        assert!(lines[index].contains(from));
        lines[index] = lines[index].replacen(from, to, 1);
        faults_of(
            &bench,
            &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    };
    let cases = [
        (
            faults_without(find(" RRSIG A 13 ")),
            "no valid signature of ECDSAP256SHA256",
        ),
        (
            faults_without(find(" IN NSEC ")),
            "the name has no NSEC record",
        ),
        (
            faults_with(find(" IN NSEC "), " RRSIG NSEC", " TXT RRSIG NSEC"),
            "the types are not",
        ),
        (
            faults_with(find(" RRSIG A 13 "), " 2023", " 2001"),
            "ends before it begins",
        ),
        (
            faults_with(find(" RRSIG A 13 "), " RRSIG A 13 ", " RRSIG A 15 "),
            "a key that the zone has not: ED25519",
        ),
        (
            faults_with(find(" RRSIG A 13 "), " RRSIG A 13 ", " RRSIG LOC 13 "),
            "a signature of LOC, which the name has not",
        ),
        (
            faults_with(find(" RRSIG A 13 "), " example.test. ", " other.test. "),
            "names another signer",
        ),
        (
            faults_with(find(" A 198."), " A 198.", " A 192."),
            "is wrong",
        ),
        (
            faults_with(find(" IN DS "), " 2 ", " 4 "),
            "the digest has 32 octets instead of 48",
        ),
    ];
    for (faults, expected) in cases {
        assert!(
            faults.iter().any(|fault| fault.contains(expected)),
            "{expected}: {faults:?}"
        );
    }
}

#[test]
fn faults_of_nsec3_chains_are_named() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 300, 8);
    let nsec3 = Chain::Nsec3(Nsec3Parameters::default());
    bench.sign(&zone, "signed", &signing(nsec3)).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines
        .iter()
        .rposition(|line| line.contains(" NSEC3 1 "))
        .unwrap();
    let faults = faults_of(&bench, &lines[..last - 1]);
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("the name has no NSEC3 record (hash ")),
        "{faults:?}"
    );
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("the next hash is not ")),
        "{faults:?}"
    );
    let host = lines
        .iter()
        .position(|line| line.contains(" A 198."))
        .unwrap();
    let mut surplus = lines.clone();
    surplus.remove(host);
    let faults = faults_of(&bench, &surplus);
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("the types are not ")
                || fault.contains("no name of the zone")),
        "{faults:?}"
    );
}

fn faults_of(bench: &Bench, lines: &[&str]) -> Vec<String> {
    let path = bench.path("faulty");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let found = bench.verify(&path);
    assert!(found.fault_count > 0);
    found.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn ds_records_of_the_parent_must_fit() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 100, 9);
    bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
    let verify = |key: &KeyPair| {
        let ds = key.ds(dnsrig_sign::DigestType::Sha256, 0).rdata.to_vec();
        let verification = Verification {
            now: NOW,
            ds: vec![ds],
            faults_max: 5,
            ..Verification::default()
        };
        let path = bench.path("signed");
        verify_file(&Opening::new(&path, None), &bench.pool, &verification)
            .unwrap()
            .fault_count
    };
    assert_eq!(verify(&bench.keys[0]), 0);
    assert_eq!(verify(&keys(Algorithm::Ed25519)[0]), 1);
}

#[test]
fn options_of_the_apex() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 100, 10);
    let signing = FileSigning {
        serial: SerialPolicy::UnixTime,
        dnskey_ttl_s: Some(77),
        publishes_cds: true,
        ..signing(Chain::Nsec)
    };
    let done = bench.sign(&zone, "signed", &signing).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    assert!(
        text.lines()
            .next()
            .unwrap()
            .contains(&format!(" {} ", done.serial))
    );
    for rtype in ["DNSKEY 257", "CDNSKEY 257", "CDS"] {
        assert!(
            text.contains(&format!("example.test. 77 IN {rtype} ")),
            "{rtype}"
        );
    }
    assert_eq!(bench.verify(&bench.path("signed")).faults, []);
    let kept = FileSigning {
        serial: SerialPolicy::Increment,
        ..signing
    };
    let again = bench.sign(&bench.path("signed"), "again", &kept).unwrap();
    // The SOA record alone changed.
    assert_eq!((again.serial, again.signatures.made), (done.serial + 1, 1));
}

#[test]
fn what_cannot_be_signed_leaves_nothing() {
    let bench = Bench::new(Algorithm::Ed25519);
    let path = bench.path("zone");
    let soa = "example.test. 60 IN SOA . . 1 2 3 4 5\n";
    for (text, expected) in [
        (
            "x.example.test. 60 IN A 192.0.2.1\n".to_owned(),
            "no SOA record",
        ),
        (
            format!("{soa}x.example.test. 60 IN A 192.0.2\n"),
            ":2:25: bad data for type A",
        ),
        (
            format!("{soa}x.example.org. 60 IN A 192.0.2.1\n"),
            "is not in the zone",
        ),
        (
            "other.test. 60 IN SOA . . 1 2 3 4 5\n".to_owned(),
            "not for the zone other.test.",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = bench
            .sign(&path, "signed", &signing(Chain::Nsec))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1);
    }
}

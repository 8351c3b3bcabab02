//! Zones and settings that can be signed, of which not all will do; changes that would have no effect.

use crate::folder::{Bench, signing};
use dnsrig_sign::zonefile::{Chain, FileSigning, Publication, SignedFile, sign_file};
use dnsrig_sign::{Algorithm, Nsec3Parameters, SignError};
use dnsrig_zone::flow::{Changes, Opening};
use std::fs;
use std::sync::Arc;

const SOA: &str = "example.test. 60 IN SOA . . 1 2 3 4 5\nexample.test. 60 IN NS ns.example.\n";

fn signed(bench: &Bench, lines: &str, signing: &FileSigning) -> SignedFile {
    fs::write(bench.path("zone"), format!("{SOA}{lines}")).unwrap();
    bench.sign(&bench.path("zone"), "signed", signing).unwrap()
}

/// Expects these warnings and no others about the names of a zone with `lines`.
fn warned(lines: &str, expected: &[&str]) {
    let bench = Bench::new(Algorithm::Ed25519);
    let done = signed(&bench, lines, &signing(Chain::Nsec));
    let found: Vec<String> = done.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert_eq!(done.warning_count, expected.len() as u64);
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn delegations_of_wildcards() {
    warned(
        "*.example.test. 60 IN NS ns.other.\n*.a.example.test. 60 IN A 192.0.2.1\n",
        &["zone:3:1: NS records at a wildcard"],
    );
    warned(
        "x.example.test. 60 IN NS ns.other.\n*.x.example.test. 60 IN NS ns.other.\n",
        &[],
    );
}

#[test]
fn data_that_no_message_can_have() {
    let octets = |count: usize| {
        format!(
            "big.example.test. 60 IN TYPE65280 \\# {count} {}\n",
            "00".repeat(count)
        )
    };
    // Header 12, question 22, OPT 11, record 12; signature 12, 18, signer 14, 64.
    let fits = 65_535 - (12 + 22 + 11 + 12) - (12 + 18 + 14 + 64);
    warned(&octets(fits), &[]);
    warned(
        &octets(fits + 1),
        &["zone:3:1: big.example.test. TYPE65280 and its signatures take 65536 octets"],
    );
    let many: String = (0..4_100)
        .map(|number| {
            format!(
                "many.example.test. 60 IN A 10.0.{}.{}\n",
                number / 256,
                number % 256
            )
        })
        .collect();
    warned(&many, &["many.example.test. A and its signatures"]);
}

#[test]
fn requests_to_delete_ds_records() {
    let (cds, cdnskey) = (
        "example.test. 60 IN CDS 0 0 0 00\n",
        "example.test. 60 IN CDNSKEY 0 3 0 AA==\n",
    );
    warned(&format!("{cds}{cdnskey}"), &[]);
    warned(cds, &["zone:3:1: a CDS record asks the parent"]);
    warned(cdnskey, &["zone:3:1: a CDNSKEY record asks the parent"]);
    let of_key = format!(
        "{cds}{cdnskey}example.test. 60 IN CDS 1 8 2 {}\n",
        "ab".repeat(32)
    );
    warned(&of_key, &["zone:5:1: a CDS record of a key beside"]);
}

#[test]
fn many_iterations() {
    let bench = Bench::new(Algorithm::Ed25519);
    let remarks = |iterations: u64| {
        let chain = Chain::Nsec3(Nsec3Parameters::new(iterations, "-", false).unwrap());
        signed(&bench, "", &signing(chain)).remarks.concat()
    };
    assert_eq!(remarks(0), "");
    for (iterations, expected) in [
        (1, "section 3.1"),
        (100, "section 3.1"),
        (101, "insecure"),
        (500, "insecure"),
        (501, "refuse all"),
    ] {
        let said = remarks(iterations);
        assert!(
            said.contains(expected) && said.contains(&iterations.to_string()),
            "{said}"
        );
    }
    // A chain that is kept too.
    remarks(7);
    let kept = bench
        .sign(&bench.path("signed"), "again", &signing(Chain::Kept))
        .unwrap();
    assert_eq!(kept.remarks.len(), 1);
}

/// What is said to `changes` of a signed zone.
fn changed(bench: &Bench, changes: &str, signing: &FileSigning) -> Result<SignedFile, SignError> {
    fs::write(bench.path("changes"), changes).unwrap();
    let path = bench.path("signed");
    let mut opening = Opening::new(&path, None);
    opening.changes = Some(Arc::new(
        Changes::read(&bench.path("changes"), None).unwrap(),
    ));
    let keys = bench.keys.clone();
    sign_file(&opening, &bench.pool, keys, signing, &bench.path("again"))
}

#[test]
fn changes_without_effect() {
    let bench = Bench::new(Algorithm::Ed25519);
    let signing = signing(Chain::Nsec);
    signed(&bench, "a.example.test. 60 IN A 192.0.2.1\n", &signing);
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let line = |what: &str| text.lines().find(|line| line.contains(what)).unwrap();
    let dnskey = line(" DNSKEY 257 ");
    let cases = [
        (
            format!("\n- {}\n", line(" RRSIG A ")),
            "changes:2:1: a.example.test. RRSIG is a record that signing makes",
        ),
        (format!("+ {}\n", line(" IN NSEC ")), "changes:1:1:"),
        (
            "; none\n+ example.test. 0 IN NSEC3PARAM 1 0 0 -\n".into(),
            "changes:2:1: example.test. NSEC3PARAM",
        ),
        (
            format!("- {dnskey}\n"),
            "changes:1:1: example.test. DNSKEY comes back",
        ),
        (
            "- example.test. 60 IN NS ns.example.\n".into(),
            "changes:1:1: example.test. NS is the last",
        ),
    ];
    for (changes, expected) in cases {
        let error = changed(&bench, &changes, &signing).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!bench.path("again").exists());
    }
    for changes in [
        "- example.test. 60 IN NS ns.example.\n+ example.test. 60 IN NS ns2.example.\n".to_owned(),
        format!("- {dnskey}\n+ {}\n", dnskey.replace(" 60 IN ", " 90 IN ")),
    ] {
        changed(&bench, &changes, &signing).unwrap();
        assert_eq!(bench.verify(&bench.path("again")).faults, []);
    }
}

#[test]
fn changes_to_records_of_keys_that_their_times_undo() {
    let bench = Bench::new(Algorithm::Ed25519);
    let synchronised = |keys: &[dnsrig_sign::KeyPair]| FileSigning {
        publication: Publication {
            synchronised: Some(keys.iter().map(|key| key.public().clone()).collect()),
            ..Publication::default()
        },
        ..signing(Chain::Nsec)
    };
    let first = synchronised(&bench.keys[..1]);
    signed(&bench, "", &first);
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let cds = text.lines().find(|line| line.contains(" IN CDS ")).unwrap();
    let error = changed(&bench, &format!("- {cds}\n"), &first).unwrap_err();
    assert!(error.to_string().contains("CDS comes back"), "{error}");
    let added = format!("+ example.test. 60 IN CDS 1 8 2 {}\n", "ab".repeat(32));
    let error = changed(&bench, &added, &first).unwrap_err();
    assert!(
        error.to_string().contains("CDS does not come into"),
        "{error}"
    );
    // A key that is withdrawn does not come either.
    let withdrawn = FileSigning {
        publication: Publication {
            withdrawn: vec![bench.keys[1].public().clone()],
            published: Some(vec![bench.keys[0].public().clone()]),
            ..Publication::default()
        },
        ..signing(Chain::Nsec)
    };
    let dnskey = text
        .lines()
        .find(|line| line.contains(" DNSKEY 256 "))
        .unwrap();
    let mut opening_keys = bench.keys.to_vec();
    opening_keys.truncate(1);
    fs::write(bench.path("changes"), format!("- {dnskey}\n")).unwrap();
    let path = bench.path("signed");
    let mut opening = Opening::new(&path, None);
    opening.changes = Some(Arc::new(
        Changes::read(&bench.path("changes"), None).unwrap(),
    ));
    sign_file(
        &opening,
        &bench.pool,
        opening_keys.into(),
        &withdrawn,
        &bench.path("again"),
    )
    .unwrap();
    assert_eq!(bench.verify(&bench.path("again")).faults, []);
}

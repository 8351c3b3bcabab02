//! Signing again: what may be kept of the input, and what the state file vouches for.

use crate::folder::{Bench, DAY, NOW, chains, signing};
use data_encoding::BASE64;
use dnsrig_sign::zonefile::{
    Chain, Counts, FileSigning, Publication, SerialPolicy, SignedFile, sign_file, state_path,
};
use dnsrig_sign::{Algorithm, KeyPair, Role};
use dnsrig_zone::flow::{Changes, Opening};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Octets of a state file before its digests.
const STATE_HEAD: u64 = 32;
const DIGEST: u64 = 16;

/// Signs `from` with the changes `changes`, those of a file.
fn sign_changes(
    bench: &Bench,
    keys: &Arc<[KeyPair]>,
    (from, to): (&Path, &Path),
    changes: &str,
    signing: &FileSigning,
) -> SignedFile {
    fs::write(bench.path("changes"), changes).unwrap();
    let mut opening = Opening::new(from, None);
    opening.changes = Some(Arc::new(
        Changes::read(&bench.path("changes"), None).unwrap(),
    ));
    sign_file(&opening, &bench.pool, keys.clone(), signing, to).unwrap()
}

#[test]
fn changes_do_not_keep_signatures_of_what_signing_changes_at_the_apex() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 300, 21);
    let (signed, again) = (bench.path("signed"), bench.path("again"));
    for chain in chains() {
        let first = signing(chain.clone());
        bench.sign(&zone, "signed", &first).unwrap();
        let serial = FileSigning {
            serial: SerialPolicy::Increment,
            ..first.clone()
        };
        let synchronised = FileSigning {
            publishes_cds: true,
            ..first.clone()
        };
        let further = KeyPair::generate(
            bench.keys[0].owner(),
            Algorithm::Ed25519,
            None,
            Role::Zsk,
            &[],
        );
        let published = FileSigning {
            publication: Publication {
                published: Some(
                    [&bench.keys[..], &[further.unwrap()]]
                        .concat()
                        .iter()
                        .map(|key| key.public().clone())
                        .collect(),
                ),
                ..Publication::default()
            },
            ..first.clone()
        };
        for (what, signing, made_max) in [
            ("the serial number", &serial, 1),
            ("CDS records", &synchronised, 3),
            ("a further key", &published, 1),
        ] {
            let done = sign_changes(&bench, &bench.keys, (&signed, &again), "", signing);
            assert_eq!(bench.verify(&again).faults, [], "{what}");
            assert!((1..=made_max).contains(&done.signatures.made), "{what}");
        }
    }
    // Another salt changes the NSEC3PARAM record.
    let [_, first, _] = chains();
    let Chain::Nsec3(mut other) = first.clone() else {
        unreachable!("the second chain is NSEC3")
    };
    other.salt = vec![7];
    bench.sign(&zone, "signed", &signing(first)).unwrap();
    let other = signing(Chain::Nsec3(other));
    sign_changes(&bench, &bench.keys, (&signed, &again), "", &other);
    assert_eq!(bench.verify(&again).faults, []);
}

#[test]
fn a_record_cannot_hide_in_the_signature() {
    let bench = Bench::new(Algorithm::Ed25519);
    let text = "example.test. 60 IN SOA . . 1 2 3 4 5\nexample.test. 60 IN NS ns.example.\n\
        x.example.test. 60 IN A 192.0.2.1\nx.example.test. 60 IN A 192.0.2.2\n";
    fs::write(bench.path("zone"), text).unwrap();
    let signing = signing(Chain::Nsec);
    bench.sign(&bench.path("zone"), "signed", &signing).unwrap();
    // The last record, as it is signed, goes before the signature.
    let mut moved =
        b"\x01x\x07example\x04test\x00\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04".to_vec();
    moved.extend([192, 0, 2, 2]);
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let lines = text.lines().filter_map(|line| {
        if line.ends_with(" 192.0.2.2") {
            return None;
        }
        let Some((head, signature)) = line.rsplit_once(' ') else {
            return Some(line.to_owned());
        };
        match line.starts_with("x.example.test. 60 IN RRSIG A ") {
            true => {
                let signature = BASE64.decode(signature.as_bytes()).unwrap();
                let longer = BASE64.encode(&[&moved[..], &signature].concat());
                Some(format!("{head} {longer}"))
            }
            false => Some(line.to_owned()),
        }
    });
    let forged: Vec<String> = lines.collect();
    assert_eq!(forged.len() + 1, text.lines().count());
    fs::write(bench.path("signed"), forged.join("\n") + "\n").unwrap();
    let done = bench
        .sign(&bench.path("signed"), "again", &signing)
        .unwrap();
    assert_eq!((done.signatures.made, done.signatures.dropped), (1, 1));
    assert_eq!(bench.verify(&bench.path("again")).faults, []);
}

#[test]
fn signatures_of_another_length_are_not_kept_unseen() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 100, 22);
    let signing = signing(Chain::Nsec);
    bench.sign(&zone, "signed", &signing).unwrap();
    let signed = bench.path("signed");
    let text = fs::read_to_string(&signed).unwrap();
    let longer: Vec<String> = text
        .lines()
        .map(|line| match line.contains(" RRSIG A ") {
            true => {
                let (head, signature) = line.rsplit_once(' ').unwrap();
                let octets = BASE64.decode(signature.as_bytes()).unwrap();
                format!("{head} {}", BASE64.encode(&[&octets[..], &[0]].concat()))
            }
            false => line.to_owned(),
        })
        .collect();
    fs::write(&signed, longer.join("\n") + "\n").unwrap();
    let again = bench.path("again");
    sign_changes(&bench, &bench.keys, (&signed, &again), "", &signing);
    assert_eq!(bench.verify(&again).faults, []);
}

#[test]
fn the_state_file_does_not_grow_without_end() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 120, 23);
    let mut at = signing(Chain::Nsec);
    at.serial = SerialPolicy::Increment;
    let signed = bench.path("signed");
    let Counts { made, .. } = bench.sign(&zone, "signed", &at).unwrap().signatures;
    let mut pruned = 0;
    for round in 1..8 {
        // All signatures are renewed.
        at.now = NOW + round * 25 * DAY;
        (at.inception, at.expiration) = (at.now - 3600, at.now + 30 * DAY);
        sign_changes(&bench, &bench.keys, (&signed, &signed), "", &at);
        let octets = fs::metadata(state_path(&signed)).unwrap().len();
        let digests = (octets - STATE_HEAD) / DIGEST;
        pruned += u32::from(digests == made);
        assert!(
            digests <= 3 * made,
            "{digests} digests of {made} signatures"
        );
        assert_eq!(bench.verify_at(at.now, &signed).faults, []);
    }
    assert!(pruned > 0);
    // What it has is of the signatures that are there.
    at.serial = SerialPolicy::Keep;
    let again = bench.sign(&signed, "again", &at).unwrap().signatures;
    assert_eq!((again.made, again.verified), (0, 0));
}

#[test]
fn a_file_that_is_no_state_file_is_left_as_it_is() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 60, 29);
    let state = state_path(&bench.path("signed"));
    fs::write(&state, "hello\n").unwrap();
    let done = bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
    let trouble = done.trouble.unwrap();
    assert!(trouble.contains("no state file"), "{trouble}");
    assert_eq!(fs::read(&state).unwrap(), b"hello\n");
    assert_eq!(bench.verify(&bench.path("signed")).faults, []);
    for old in [&b""[..], b"dnsrig signed 1\nand more"] {
        fs::write(&state, old).unwrap();
        let done = bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
        assert_eq!(done.trouble, None);
        assert!(fs::read(&state).unwrap().starts_with(b"dnsrig signed 2\n"));
    }
}

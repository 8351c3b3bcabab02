//! Signing a new version of a zone with the signatures of its signed earlier version.

use crate::common::name;
use crate::folder::{Bench, DAY, NOW, chains, keys, signing};
use dnsrig_sign::zonefile::{
    Chain, Digests, FileSigning, OtherKeys, Publication, SerialPolicy, SignedFile, sign_file,
    state_path,
};
use dnsrig_sign::{Algorithm, KeyPair, Role};
use dnsrig_zone::flow::{Changes, Opening};
use dnsrig_zone::zonemd::ZonemdHash;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::sync::Arc;

const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn after(bench: &Bench, earlier: &str, signing: FileSigning) -> FileSigning {
    FileSigning {
        previous: Some(bench.path(earlier)),
        ..signing
    }
}

fn write(bench: &Bench, file: &str, serial: u32, records: &[String]) {
    let head =
        format!("example.test. 60 IN SOA . . {serial} 2 3 4 5\nexample.test. 60 IN NS ns.other.\n");
    fs::write(bench.path(file), head + &records.join("\n") + "\n").unwrap();
}

/// Signs `old` and, with its signatures, `new`; expects what signing `new` alone gives, and gives what was done.
fn signed_after(bench: &Bench, old: &[String], new: &[String], chain: Chain) -> SignedFile {
    let signing = signing(chain);
    write(bench, "old", 1, old);
    write(bench, "new", 2, new);
    bench.sign(&bench.path("old"), "signed", &signing).unwrap();
    let after = after(bench, "signed", signing.clone());
    let done = bench.sign(&bench.path("new"), "again", &after).unwrap();
    let full = bench.sign(&bench.path("new"), "full", &signing).unwrap();
    let text = |file: &str| fs::read_to_string(bench.path(file)).unwrap();
    assert_eq!(text("again"), text("full"));
    let counts = done.signatures;
    assert_eq!(counts.made + counts.kept, full.signatures.made);
    assert_eq!(counts.verified, 0, "the state file vouches for all");
    let said = |remark: &&String| !remark.contains("iterations");
    assert_eq!(done.remarks.iter().find(said), None);
    assert_eq!(done.warning_count, 0);
    assert_eq!(done.chain_names, full.chain_names);
    // What it vouches for is what the new zone has.
    let again = bench
        .sign(&bench.path("again"), "third", &signing)
        .unwrap()
        .signatures;
    assert_eq!((again.made, again.verified), (0, 0));
    done
}

/// Records at and below a few names, some of them delegations.
fn version() -> impl Strategy<Value = Vec<String>> {
    let record = (0..9u8, 0..5u8, 0..3u8).prop_map(|(label, kind, data)| {
        let owner = format!("n{label}.example.test. 60 IN");
        match kind {
            0 => format!("{owner} A 192.0.2.{data}"),
            1 => format!("a.{owner} TXT \"{data}\""),
            2 => format!("deep.b.{owner} MX {data} mail.other."),
            3 => format!("cut-{owner} NS ns{data}.cut-n{label}.example.test."),
            _ => format!("ns{data}.cut-{owner} A 192.0.2.1"),
        }
    });
    (
        proptest::collection::btree_set(record, 0..40),
        proptest::collection::btree_set(0..9u8, 0..3),
    )
        .prop_map(|(mut records, secure): (BTreeSet<String>, _)| {
            for label in secure {
                let cut = format!("cut-n{label}.example.test. 60 IN");
                records.insert(format!("{cut} NS ns.other."));
                records.insert(format!("{cut} DS 1 8 2 {DIGEST}"));
            }
            records.into_iter().collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn it_is_the_zone_signed_afresh(
        old in version(), new in version(), chain in 0..3usize, (reversed, unsorted) in any::<(bool, bool)>()
    ) {
        let bench = Bench::new(Algorithm::Ed25519);
        let mut new = new;
        if reversed {
            new.reverse();
        }
        signed_after(&bench, &old, &new, chains()[chain].clone());
        if unsorted {
            // Another signer's zone, whose chain still comes after its names.
            let text = fs::read_to_string(bench.path("signed")).unwrap();
            let (chain, mut names): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains(" NSEC3 "));
            names[1..].reverse();
            fs::write(bench.path("signed"), [names, chain].concat().join("\n") + "\n").unwrap();
            let after = after(&bench, "signed", signing(chains()[1].clone()));
            bench.sign(&bench.path("new"), "again", &after).unwrap();
            bench.sign(&bench.path("new"), "full", &FileSigning { previous: None, ..after }).unwrap();
            prop_assert!(fs::read(bench.path("again")).unwrap() == fs::read(bench.path("full")).unwrap());
        }
    }
}

#[test]
fn little_is_made_where_little_changed_in_many_blocks() {
    let bench = Bench::new(Algorithm::Ed25519);
    let record = |number: u32| {
        let filling = "x".repeat(230);
        format!("n{number:05}.example.test. 60 IN TXT \"{filling}\"")
    };
    let old: Vec<String> = (0..6_000).map(record).collect();
    for chain in [chains()[0].clone(), chains()[1].clone()] {
        let mut new = old.clone();
        new.drain(1_000..2_500);
        new.push("n03333a.example.test. 60 IN A 192.0.2.1".into());
        new.push("zz.example.test. 60 IN A 192.0.2.1".into());
        // The SOA record, the new names, and the chain where names went: each NSEC3 record that named one of them.
        let counts = signed_after(&bench, &old, &new, chain.clone()).signatures;
        let made_max = if chain == Chain::Nsec { 8 } else { 1_510 };
        assert!(counts.made <= made_max, "{counts:?}");
        // All names but one are another block's now.
        let counts = signed_after(&bench, &old[3_000..3_001], &old, chain).signatures;
        assert!(counts.kept >= 2, "{counts:?}");
    }
}

#[test]
fn signatures_about_to_end_are_made_anew_and_those_of_nothing_are_dropped() {
    let bench = Bench::new(Algorithm::EcdsaP256Sha256);
    let zone = bench.zone("zone", 200, 31);
    let signing = signing(Chain::Nsec);
    let first = bench.sign(&zone, "signed", &signing).unwrap();
    let later = FileSigning {
        now: NOW + 25 * DAY,
        inception: NOW + 25 * DAY - 3600,
        expiration: NOW + 55 * DAY,
        serial: SerialPolicy::Increment,
        ..after(&bench, "signed", signing.clone())
    };
    let done = bench.sign(&zone, "again", &later).unwrap();
    assert_eq!((done.signatures.kept, done.serial), (0, first.serial + 1));
    assert_eq!(bench.verify_at(later.now, &bench.path("again")).faults, []);
    // Without state file they are verified; one that is damaged is made anew.
    fs::remove_file(state_path(&bench.path("signed"))).unwrap();
    let text = fs::read_to_string(bench.path("signed")).unwrap();
    let at = text.rfind(" IN RRSIG NSEC ").unwrap();
    let end = at + text[at..].find('\n').unwrap() - 8;
    let damaged = format!("{}AAAA{}", &text[..end], &text[end + 4..]);
    fs::write(bench.path("signed"), damaged).unwrap();
    let after = after(&bench, "signed", signing);
    let counts = bench.sign(&zone, "again", &after).unwrap().signatures;
    assert_eq!((counts.made, counts.dropped), (1, 1));
    assert_eq!(counts.verified, counts.kept);
    assert_eq!(bench.verify(&bench.path("again")).faults, []);
}

#[test]
fn chain_digest_and_serial_number_go_on() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 150, 32);
    for chain in chains() {
        let first = FileSigning {
            digests: Digests::Of(vec![ZonemdHash::Sha384]),
            serial: SerialPolicy::Increment,
            ..signing(chain.clone())
        };
        let before = bench.sign(&zone, "signed", &first).unwrap();
        let kept = FileSigning {
            serial: SerialPolicy::Increment,
            ..after(&bench, "signed", signing(Chain::Kept))
        };
        let done = bench.sign(&zone, "again", &kept).unwrap();
        assert_eq!(done.chain, chain);
        assert_eq!(done.digests, [ZonemdHash::Sha384]);
        // The zone has the serial number before both.
        assert_eq!(done.serial, before.serial + 1);
        assert_eq!(bench.verify(&bench.path("again")).faults, []);
        let stays = FileSigning {
            serial: SerialPolicy::Keep,
            ..kept
        };
        let done = bench.sign(&zone, "again", &stays).unwrap();
        let said = done.remarks.concat();
        assert!(said.contains("secondaries do not take"), "{said}");
    }
}

#[test]
fn what_is_not_signed_changes_the_zone_too() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 150, 36);
    let opt_out = chains()[2].clone();
    bench.sign(&zone, "signed", &signing(opt_out)).unwrap();
    let after = after(&bench, "signed", signing(Chain::Kept));
    let same = bench.sign(&zone, "again", &after).unwrap();
    assert_eq!((same.signatures.made, same.remarks), (0, vec![]));
    let text = fs::read_to_string(&zone).unwrap();
    fs::write(&zone, text + "insecure.example.test. 60 IN NS ns.other.\n").unwrap();
    let other = bench.sign(&zone, "again", &after).unwrap();
    assert_eq!((other.signatures.made, other.remarks.len()), (0, 1));
}

#[test]
fn the_output_may_be_the_earlier_version_itself() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 200, 33);
    let signing = signing(chains()[2].clone());
    bench.sign(&zone, "signed", &signing).unwrap();
    let mut text = fs::read_to_string(&zone).unwrap();
    let after = after(&bench, "signed", signing.clone());
    for number in 0..3 {
        writeln!(text, "new{number}.example.test. 60 IN A 192.0.2.1").unwrap();
        fs::write(&zone, &text).unwrap();
        let counts = bench.sign(&zone, "signed", &after).unwrap().signatures;
        assert!(counts.made < 6 && counts.verified == 0, "{counts:?}");
        assert_eq!(bench.verify(&bench.path("signed")).faults, []);
    }
    bench.sign(&zone, "full", &signing).unwrap();
    assert!(fs::read(bench.path("signed")).unwrap() == fs::read(bench.path("full")).unwrap());
}

#[test]
fn keys_that_the_zone_would_lose() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 60, 34);
    bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
    let others = keys(Algorithm::Ed25519);
    let again = |publication: Publication| {
        let after = FileSigning {
            publication,
            serial: SerialPolicy::Increment,
            ..after(&bench, "signed", signing(Chain::Nsec))
        };
        let opening = Opening::new(&zone, None);
        sign_file(
            &opening,
            &bench.pool,
            others.clone(),
            &after,
            &bench.path("again"),
        )
    };
    let done = again(Publication::default()).unwrap();
    assert_eq!(done.remarks.len(), 2, "{:?}", done.remarks);
    assert!(
        done.remarks[0].contains(&format!("tag {}", bench.keys[0].tag()))
            || done.remarks[1].contains(&format!("tag {}", bench.keys[0].tag()))
    );
    assert_eq!(bench.verify(&bench.path("again")).faults, []);
    let refused = Publication {
        others: OtherKeys::Refused,
        ..Publication::default()
    };
    let error = again(refused).unwrap_err().to_string();
    assert!(
        error.contains("whose private key is not at hand"),
        "{error}"
    );
    let withdrawn = Publication {
        withdrawn: bench.keys.iter().map(|key| key.public().clone()).collect(),
        ..Publication::default()
    };
    assert_eq!(again(withdrawn).unwrap().remarks, Vec::<String>::new());
}

#[test]
fn its_chain_is_kept_whatever_the_zone_has() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 60, 37);
    let [nsec, nsec3, _] = chains();
    bench.sign(&zone, "signed", &signing(nsec)).unwrap();
    bench.sign(&zone, "other", &signing(nsec3)).unwrap();
    let text = fs::read_to_string(&zone).unwrap();
    let stray = "example.test. 0 IN NSEC3PARAM 1 0 0 -\n";
    fs::write(bench.path("stray"), text + stray).unwrap();
    let kept = after(&bench, "signed", signing(Chain::Kept));
    for new in ["other", "stray"] {
        let done = bench.sign(&bench.path(new), "again", &kept).unwrap();
        assert_eq!(done.chain, Chain::Nsec, "{new}");
        assert_eq!(bench.verify(&bench.path("again")).faults, []);
    }
}

#[test]
fn the_ttl_of_its_keys_is_kept() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 60, 38);
    let first = FileSigning {
        dnskey_ttl_s: Some(4321),
        ..signing(Chain::Nsec)
    };
    bench.sign(&zone, "signed", &first).unwrap();
    let kept = after(&bench, "signed", signing(Chain::Nsec));
    let done = bench.sign(&zone, "again", &kept).unwrap();
    assert_eq!((done.dnskey_ttl_s, done.signatures.made), (4321, 0));
    // Of a zone that has no keys yet, that of the key files.
    let keys: Vec<KeyPair> = bench.keys.iter().cloned().collect();
    let keys: Arc<[KeyPair]> = keys
        .into_iter()
        .map(|key| key.with_ttl(Some(7777)))
        .collect();
    let ttl_s = |file: &str| {
        let (path, target) = (bench.path(file), bench.path("ttl"));
        let opening = Opening::new(&path, None);
        let signing = signing(Chain::Nsec);
        let done = sign_file(&opening, &bench.pool, keys.clone(), &signing, &target);
        done.unwrap().dnskey_ttl_s
    };
    assert_eq!((ttl_s("zone"), ttl_s("signed")), (7777, 4321));
}

#[test]
fn what_does_not_go_with_it() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 60, 35);
    bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
    let other = fs::read_to_string(&zone).unwrap();
    fs::write(
        bench.path("other"),
        other.replace("example.test.", "other.test."),
    )
    .unwrap();
    for (earlier, chain, what) in [
        ("other", Chain::Nsec, "is the zone other.test."),
        ("signed", Chain::Given, "--previous"),
        ("none", Chain::Nsec, "none: cannot read"),
    ] {
        let after = after(&bench, earlier, signing(chain));
        let error = bench.sign(&zone, "again", &after).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    fs::write(bench.path("changes"), "").unwrap();
    let mut opening = Opening::new(&zone, None);
    opening.changes = Some(Arc::new(
        Changes::read(&bench.path("changes"), None).unwrap(),
    ));
    let after = after(&bench, "signed", signing(Chain::Nsec));
    let done = sign_file(
        &opening,
        &bench.pool,
        bench.keys.clone(),
        &after,
        &bench.path("again"),
    );
    assert!(done.unwrap_err().to_string().contains("--changes"));
    assert!(!bench.path("again").exists());
    // A key of another zone is none of this one.
    let foreign = KeyPair::generate(
        &name("other.test."),
        Algorithm::Ed25519,
        None,
        Role::Ksk,
        &[],
    );
    let opening = Opening::new(&zone, None);
    let keys: Arc<[KeyPair]> = [foreign.unwrap()].into();
    sign_file(&opening, &bench.pool, keys, &after, &bench.path("again")).unwrap_err();
}

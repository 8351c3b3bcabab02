//! Signing with the chain that the zone has: whether there is one, and whether it fits.

use crate::folder::{Bench, chains, signing};
use dnsrig_sign::zonefile::{Chain, FileSigning, Publication, sign_file};
use dnsrig_sign::{Algorithm, Nsec3Parameters};
use dnsrig_zone::flow::{Changes, Opening};
use std::fs;
use std::sync::Arc;

fn given() -> FileSigning {
    signing(Chain::Given)
}

/// Makes the file `chained`, a zone with a chain and without signatures; gives its text.
fn chained(bench: &Bench, chain: Chain) -> String {
    let zone = bench.zone("zone", 200, 31);
    let signing = FileSigning {
        signs: false,
        ..signing(chain)
    };
    bench.sign(&zone, "chained", &signing).unwrap();
    fs::read_to_string(bench.path("chained")).unwrap()
}

fn refused(bench: &Bench, text: &str, signing: &FileSigning) -> String {
    fs::write(bench.path("chained"), text).unwrap();
    let error = bench
        .sign(&bench.path("chained"), "signed", signing)
        .unwrap_err();
    assert!(!bench.path("signed").exists());
    error.to_string()
}

#[test]
fn a_chain_that_fits_is_signed() {
    let bench = Bench::new(Algorithm::Ed25519);
    for chain in chains() {
        chained(&bench, chain);
        bench
            .sign(&bench.path("chained"), "signed", &given())
            .unwrap();
        assert_eq!(bench.verify(&bench.path("signed")).faults, []);
    }
}

#[test]
fn a_file_without_chain_is_refused() {
    let bench = Bench::new(Algorithm::Ed25519);
    let zone = bench.zone("zone", 200, 31);
    let text = fs::read_to_string(&zone).unwrap();
    assert!(refused(&bench, &text, &given()).contains("no chain"));
    // An NSEC3PARAM record alone is no chain, and neither are NSEC3 records alone.
    let text = chained(&bench, Chain::Nsec3(Nsec3Parameters::default()));
    for without in [" IN NSEC3 ", " IN NSEC3PARAM "] {
        let lines = text.lines().filter(|line| !line.contains(without));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        assert!(refused(&bench, &text, &given()).contains("no chain"));
    }
}

#[test]
fn a_part_of_an_nsec3_chain_is_no_fault() {
    let bench = Bench::new(Algorithm::Ed25519);
    let text = chained(&bench, Chain::Nsec3(Nsec3Parameters::default()));
    let is_nsec3 = |line: &&str| line.contains(" IN NSEC3 ");
    let (chain, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(is_nsec3);
    for part in chain.chunks(chain.len().div_ceil(3)) {
        fs::write(
            bench.path("chained"),
            [&rest[..], part].concat().join("\n") + "\n",
        )
        .unwrap();
        bench
            .sign(&bench.path("chained"), "signed", &given())
            .unwrap();
    }
}

#[test]
fn a_name_without_its_nsec_record_is_refused() {
    let bench = Bench::new(Algorithm::Ed25519);
    let text = chained(&bench, Chain::Nsec);
    let added = format!("{text}zzz.example.test. 60 IN A 192.0.2.1\n");
    let error = refused(&bench, &added, &given());
    let line = added.lines().count();
    assert!(
        error.contains(&format!(
            "chained:{line}:1: no NSEC record at zzz.example.test."
        )),
        "{error}"
    );
    // Names below a zone cut have none.
    let cut = text
        .lines()
        .rfind(|line| line.contains(" NS ") && !line.starts_with("example.test. "))
        .unwrap();
    let cut = cut.split(' ').next().unwrap();
    let glue = format!("{text}glue.{cut} 60 IN A 192.0.2.1\n");
    fs::write(bench.path("chained"), glue).unwrap();
    bench
        .sign(&bench.path("chained"), "signed", &given())
        .unwrap();
}

#[test]
fn types_that_the_apex_gets_must_be_in_the_chain() {
    let bench = Bench::new(Algorithm::Ed25519);
    let synchronised = FileSigning {
        publication: Publication {
            synchronised: Some(vec![bench.keys[0].public().clone()]),
            ..Publication::default()
        },
        ..given()
    };
    for chain in chains() {
        let text = chained(&bench, chain);
        let error = refused(&bench, &text, &synchronised);
        assert!(error.contains("CDS"), "{error}");
        let added = format!("{text}example.test. 60 IN HINFO a b\n");
        let error = refused(&bench, &added, &given());
        assert!(error.contains("HINFO"), "{error}");
    }
}

#[test]
fn what_would_change_the_chain_is_refused() {
    let bench = Bench::new(Algorithm::Ed25519);
    let text = chained(&bench, Chain::Nsec);
    let cds = FileSigning {
        publishes_cds: true,
        ..given()
    };
    assert!(refused(&bench, &text, &cds).contains("CDS"));
    fs::write(bench.path("changes"), "").unwrap();
    let (from, to) = (bench.path("chained"), bench.path("signed"));
    let mut opening = Opening::new(&from, None);
    opening.changes = Some(Arc::new(
        Changes::read(&bench.path("changes"), None).unwrap(),
    ));
    let error = sign_file(&opening, &bench.pool, bench.keys.clone(), &given(), &to).unwrap_err();
    assert!(error.to_string().contains("changes"), "{error}");
}

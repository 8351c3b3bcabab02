//! What verifying a zone file finds in chains of denial and keys that validators cannot use.

use crate::common::name;
use crate::folder::{Bench, NOW, chains, signing};
use dnsrig_sign::verify::{Fault, Verification, verify_file};
use dnsrig_sign::zonefile::Chain;
use dnsrig_sign::{Algorithm, DigestType, KeyPair, Nsec3Parameters, Role};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::{PresentationRecord, Record, Zone, canonical_rdata};
use domain::base::iana::Rtype;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

fn nsec3() -> Chain {
    Chain::Nsec3(Nsec3Parameters::default())
}

/// The lines of a zone of so many records, signed.
fn signed(bench: &Bench, records: usize, chain: Chain) -> Vec<String> {
    let zone = bench.zone("zone", records, 21);
    bench.sign(&zone, "signed", &signing(chain)).unwrap();
    read(&bench.path("signed"))
}

fn read(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// What is found in a zone of these lines.
fn faults(bench: &Bench, lines: &[String]) -> Vec<Fault> {
    let path = bench.path("changed");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    bench.verify(&path).faults
}

fn shown(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

/// Expects a fault of this type that says `what`.
fn expect(faults: &[Fault], rtype: Rtype, what: &str) {
    let is_it = |fault: &&Fault| fault.rtype == rtype && fault.what.contains(what);
    assert!(
        faults.iter().any(|fault| is_it(&fault)),
        "{rtype} {what}: {:?}",
        shown(faults)
    );
}

#[test]
fn a_zone_without_chain_denies_nothing() {
    let bench = Bench::new(Algorithm::Ed25519);
    for chain in chains() {
        let mut lines = signed(&bench, 60, chain);
        lines.retain(|line| !line.contains(" NSEC"));
        let found = faults(&bench, &lines);
        assert_eq!(found.len(), 1, "{:?}", shown(&found));
        expect(&found, Rtype::NSEC, "no chain of denial");
        assert_eq!(found[0].at.line, 1);
    }
    // The records of a chain are no use to servers without its parameters.
    let mut lines = signed(&bench, 60, nsec3());
    lines.retain(|line| !line.contains(" NSEC3PARAM "));
    let found = faults(&bench, &lines);
    expect(&found, Rtype::NSEC, "no chain of denial");
    expect(&found, Rtype::NSEC3, "the apex has no NSEC3PARAM record");
}

/// The lines of the NSEC3 records and of their signatures, by owner.
fn nsec3_lines(lines: &[String]) -> HashMap<&str, Vec<&String>> {
    let mut found: HashMap<&str, Vec<&String>> = HashMap::new();
    for line in lines {
        if line.contains(" NSEC3 ") {
            let owner = line.split(' ').next().unwrap();
            found.entry(owner).or_default().push(line);
        }
    }
    found
}

#[test]
fn an_older_nsec3_record_of_a_hash_is_found_wherever_it_stands() {
    let bench = Bench::new(Algorithm::Ed25519);
    let old = signed(&bench, 120, nsec3());
    let zone = bench.path("zone");
    let text = fs::read_to_string(&zone).unwrap() + "example.test. 60 IN LOC 1 N 1 E 0m\n";
    fs::write(&zone, text).unwrap();
    bench.sign(&zone, "signed", &signing(nsec3())).unwrap();
    let new = read(&bench.path("signed"));
    let current = nsec3_lines(&new);
    let stale = nsec3_lines(&old);
    let (owner, stale) = stale
        .iter()
        .find(|(owner, lines)| current.contains_key(*owner) && current[*owner] != **lines)
        .unwrap();
    assert_eq!(stale.len(), 2);
    let stale: Vec<String> = stale.iter().map(|line| line.to_string()).collect();
    for at in [0, new.len() / 2, new.len()] {
        let mut lines = new.clone();
        // The SOA record stays first.
        lines.splice(at.max(1)..at.max(1), stale.clone());
        let found = faults(&bench, &lines);
        expect(&found, Rtype::NSEC3, "a second NSEC3 record of this hash");
        expect(&found, Rtype::NSEC3, "no valid signature of ED25519");
        // What is wrong with the chain is said of the name.
        let hash = owner.split('.').next().unwrap();
        let is_of_hash = |fault: &Fault| fault.to_string().contains(hash);
        assert!(found.iter().all(is_of_hash), "{:?}", shown(&found));
    }
}

#[test]
fn nsec3_records_may_come_in_any_order() {
    let bench = Bench::new(Algorithm::Ed25519);
    let lines = signed(&bench, 900, nsec3());
    let whole = bench.verify(&bench.path("signed"));
    assert_eq!(whole.faults, []);
    let of = |what: &str| -> Vec<String> {
        let found = lines.iter().filter(|line| line.contains(what));
        found.cloned().collect()
    };
    let mut rest = lines.clone();
    rest.retain(|line| !line.contains(" NSEC3 "));
    let (records, signatures) = (of(" IN NSEC3 "), of(" RRSIG NSEC3 "));
    let reversed: Vec<String> = lines[rest.len()..].iter().rev().cloned().collect();
    let orders = [
        [rest.clone(), records.clone(), signatures.clone()].concat(),
        [rest.clone(), signatures, records].concat(),
        [rest.clone(), reversed].concat(),
        // The same record twice is one record (RFC 2181 section 5).
        [&lines[..], &lines[rest.len()..]].concat(),
    ];
    for order in orders {
        let path = bench.path("ordered");
        fs::write(&path, order.join("\n") + "\n").unwrap();
        let found = bench.verify(&path);
        assert_eq!(shown(&found.faults), Vec::<String>::new());
        assert_eq!(found.chain_names, whole.chain_names);
        assert_eq!(found.signatures, whole.signatures);
        assert_eq!(found.rrsets, whole.rrsets);
        assert_eq!(found.records, whole.records);
    }
}

#[test]
fn flags_that_make_records_void_are_found() {
    let bench = Bench::new(Algorithm::Ed25519);
    for chain in [chains()[1].clone(), chains()[2].clone()] {
        let lines = signed(&bench, 60, chain);
        let with = |pattern: &str, flags: &str| {
            let mut lines = lines.clone();
            let line = lines
                .iter_mut()
                .find(|line| line.contains(pattern))
                .unwrap();
            let at = line.find(pattern).unwrap() + pattern.len();
            line.replace_range(at..at + 1, flags);
            faults(&bench, &lines)
        };
        let of_record = with(" IN NSEC3 1 ", "2");
        expect(&of_record, Rtype::NSEC3, "the flags are 2");
        let of_parameters = with(" IN NSEC3PARAM 1 ", "1");
        expect(&of_parameters, Rtype::NSEC3PARAM, "the flags are 1");
        for found in [of_record, of_parameters] {
            // With its signature, which is not of the record as it is now.
            assert_eq!(found.len(), 3, "{:?}", shown(&found));
        }
    }
}

/// What is found in a zone of these lines, the parent zone having DS records of the keys `ds`.
fn faults_with_ds(bench: &Bench, lines: &[String], ds: &[&KeyPair]) -> Vec<Fault> {
    let path = bench.path("changed");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let data = |key: &&KeyPair| key.ds(DigestType::Sha256, 0).rdata.to_vec();
    let verification = Verification {
        now: NOW,
        ds: ds.iter().map(data).collect(),
        faults_max: 50,
        ..Verification::default()
    };
    verify_file(&Opening::new(&path, None), &bench.pool, &verification)
        .unwrap()
        .faults
}

fn new_key(role: Role) -> KeyPair {
    let zone = name("example.test.");
    KeyPair::generate(&zone, Algorithm::Ed25519, None, role, &[]).unwrap()
}

/// The lines without signatures of the DNSKEY RRset by `key`.
fn without_dnskey_signature(lines: &[String], key: &KeyPair) -> Vec<String> {
    let by_key = format!(" {} example.test. ", key.tag());
    let is_it = |line: &String| line.contains(" RRSIG DNSKEY 15 ") && line.contains(&by_key);
    assert_eq!(lines.iter().filter(|line| is_it(line)).count(), 1);
    lines.iter().filter(|line| !is_it(line)).cloned().collect()
}

#[test]
fn a_revoked_key_vouches_for_nothing_but_its_revocation() {
    let mut bench = Bench::new(Algorithm::Ed25519);
    bench.keys = [
        new_key(Role::Ksk).into_revoked(),
        new_key(Role::Ksk),
        new_key(Role::Zsk),
    ]
    .into();
    let lines = signed(&bench, 40, Chain::Nsec);
    let [revoked, ksk, _] = &*bench.keys else {
        panic!("three keys");
    };
    assert_eq!(faults_with_ds(&bench, &lines, &[ksk]), []);
    assert_eq!(faults_with_ds(&bench, &lines, &[]), []);
    let found = faults_with_ds(&bench, &lines, &[revoked]);
    assert_eq!(found.len(), 1, "{:?}", shown(&found));
    expect(&found, Rtype::DNSKEY, "none of the given DS records");
    // It has to sign the DNSKEY RRset, but does not make that valid.
    let found = faults(&bench, &without_dnskey_signature(&lines, revoked));
    assert_eq!(found.len(), 1, "{:?}", shown(&found));
    expect(&found, Rtype::DNSKEY, "does not sign the DNSKEY RRset");
    let found = faults(&bench, &without_dnskey_signature(&lines, ksk));
    expect(&found, Rtype::DNSKEY, "no valid signature of ED25519");
}

#[test]
fn revoked_keys_alone_sign_no_zone() {
    let mut bench = Bench::new(Algorithm::Ed25519);
    bench.keys = [Role::Ksk, Role::Zsk]
        .map(|role| new_key(role).into_revoked())
        .into();
    let zone = bench.zone("zone", 40, 1);
    let refused = bench.sign(&zone, "signed", &signing(Chain::Nsec));
    assert!(matches!(
        refused,
        Err(dnsrig_sign::SignError::OnlyRevokedKeys { .. })
    ));
    assert!(!bench.path("signed").exists());
}

#[test]
fn data_that_a_revoked_key_signs_are_not_signed() {
    let mut bench = Bench::new(Algorithm::Ed25519);
    bench.keys = [new_key(Role::Ksk), new_key(Role::Zsk).into_revoked()].into();
    signed(&bench, 40, Chain::Nsec);
    let zone = Zone::read(&bench.path("signed"), None).unwrap();
    let mut records = zone.records().to_vec();
    let is_soa = |record: &&Record| record.rtype == Rtype::SOA;
    let soa = records.iter().find(is_soa).unwrap().clone();
    let covers_soa = |record: &&mut Record| {
        record.rtype == Rtype::RRSIG && record.rdata[..2] == Rtype::SOA.to_int().to_be_bytes()
    };
    let rrsig = records.iter_mut().find(covers_soa).unwrap();
    // The fields before the signature, with the tag of the revoked key.
    let mut rdata = rrsig.rdata[..18 + soa.owner.len()].to_vec();
    rdata[16..18].copy_from_slice(&bench.keys[1].tag().to_be_bytes());
    let mut data = rdata.clone();
    data.extend(soa.owner.as_slice());
    data.extend(Rtype::SOA.to_int().to_be_bytes());
    data.extend([0, 1]);
    data.extend(soa.ttl.to_be_bytes());
    data.extend((soa.rdata.len() as u16).to_be_bytes());
    data.extend(canonical_rdata(Rtype::SOA, &soa.rdata).iter());
    let mut signature = Vec::new();
    bench.keys[1].sign_into(&data, &mut signature).unwrap();
    rdata.extend(signature);
    rrsig.rdata = rdata.into();
    let path = bench.path("changed");
    Zone::new(zone.origin().clone(), records)
        .write(&path)
        .unwrap();
    let found = bench.verify(&path).faults;
    assert_eq!(found.len(), 2, "{:?}", shown(&found));
    expect(&found, Rtype::RRSIG, "by a revoked key");
    expect(&found, Rtype::SOA, "no valid signature of ED25519");
}

#[test]
fn a_key_with_the_sep_flag_signs_the_keys() {
    let mut bench = Bench::new(Algorithm::Ed25519);
    bench.keys = [new_key(Role::Zsk)].into();
    let lines = signed(&bench, 40, Chain::Nsec);
    // Where no key has the flag it may be another.
    assert_eq!(faults(&bench, &lines), []);
    let standby = new_key(Role::Ksk).dnskey(3600);
    let zone = bench.path("zone");
    let text = fs::read_to_string(&zone).unwrap() + &PresentationRecord(&standby).to_string();
    fs::write(&zone, text + "\n").unwrap();
    let key = bench.keys[0].clone().with_role(Role::Ksk);
    bench.keys = [key].into();
    bench.sign(&zone, "signed", &signing(Chain::Nsec)).unwrap();
    let lines = read(&bench.path("signed"));
    let found = faults(&bench, &lines);
    assert_eq!(found.len(), 1, "{:?}", shown(&found));
    expect(&found, Rtype::DNSKEY, "no key with the SEP flag signs");
    // What the parent zone has says more than a flag.
    assert_eq!(faults_with_ds(&bench, &lines, &[&bench.keys[0]]), []);
}

#[test]
fn a_zone_of_revoked_keys_is_not_signed() {
    let bench = Bench::new(Algorithm::Ed25519);
    let mut lines = signed(&bench, 40, Chain::Nsec);
    for line in &mut lines {
        for (flags, revoked) in [("256", "384"), ("257", "385")] {
            *line = line.replace(&format!(" DNSKEY {flags} "), &format!(" DNSKEY {revoked} "));
        }
    }
    let found = faults(&bench, &lines);
    expect(&found, Rtype::DNSKEY, "every key of the zone is revoked");
}

//! Three validators accept what is signed, for each algorithm, kind of denial and zone.

use crate::common::{key_pair, name, nasty_zone, run, said, small_zone};
use bytes::Bytes;
use dnsrig_sign::{Algorithm, Denial, KeyPair, Nsec3Parameters, Role, SigningParameters, sign};
use dnsrig_zone::Zone;
use domain::base::iana::Rtype;
use std::path::Path;
use std::process::Output;

fn denials() -> [Denial; 4] {
    let nsec3 = |iterations, salt, opt_out| {
        Denial::Nsec3(Nsec3Parameters::new(iterations, salt, opt_out).unwrap())
    };
    [
        Denial::Nsec,
        nsec3(0, "-", false),
        nsec3(5, "AABBCCDD", false),
        nsec3(1, "-", true),
    ]
}

/// What each validator says of `zone`, by its name; those that are not installed say nothing.
fn verdicts(zone: &Zone, has_one_key: bool) -> Vec<(&'static str, Output)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zone.signed");
    zone.write(&file).unwrap();
    let origin = zone.origin().to_string();
    // Without -z, dnssec-verify wants a key of each role.
    let keys = if has_one_key { "-z" } else { "-q" };
    let validators: [(&str, &str, &[&str]); 3] = [
        ("dnssec-verify", "bind9-dnsutils", &[keys, "-o", &origin]),
        ("ldns-verify-zone", "ldnsutils", &[]),
        (
            "kzonecheck",
            "knot-dnssecutils",
            &["-o", &origin, "-d", "on"],
        ),
    ];
    let asked = validators
        .into_iter()
        .filter_map(|(program, package, arguments)| {
            let mut arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
            arguments.push(&file);
            Some((program, run(program, package, &arguments, folder.path())?))
        });
    asked.collect()
}

/// Asserts that the validators accept `zone`, which `keys` signed.
fn validate(zone: &Zone, keys: &[KeyPair], what: &str) {
    for (program, output) in verdicts(zone, keys.len() == 1) {
        assert!(
            output.status.success(),
            "{program} refuses {what}: {}",
            said(&output)
        );
    }
}

fn all_denials(zone: &Zone, keys: &[KeyPair], what: &str) {
    for denial in denials() {
        let parameters = SigningParameters::new(denial);
        let signed = sign(zone, keys, &parameters).unwrap();
        validate(
            &signed,
            keys,
            &format!("{what} with {:?}", parameters.denial),
        );
    }
}

#[test]
fn the_validators_do_look() {
    let zone = nasty_zone();
    let keys = key_pair(&zone, Algorithm::EcdsaP256Sha256);
    for denial in denials() {
        let signed = sign(&zone, &keys, &SigningParameters::new(denial)).unwrap();
        let mut records = signed.records().to_vec();
        let changed = records
            .iter_mut()
            .find(|record| record.rtype == Rtype::AAAA)
            .unwrap();
        changed.rdata = Bytes::from_static(&[0; 16]);
        for (program, output) in verdicts(&Zone::new(zone.origin().clone(), records), false) {
            assert!(
                !output.status.success(),
                "{program} accepts a changed record"
            );
        }
    }
}

fn both_zones(algorithm: Algorithm) {
    for zone in [small_zone(), nasty_zone()] {
        let keys = key_pair(&zone, algorithm);
        all_denials(&zone, &keys, &format!("{} {algorithm}", zone.origin()));
    }
}

#[test]
fn rsasha256() {
    both_zones(Algorithm::RsaSha256);
}

#[test]
fn rsasha512() {
    both_zones(Algorithm::RsaSha512);
}

#[test]
fn ecdsap256sha256() {
    both_zones(Algorithm::EcdsaP256Sha256);
}

#[test]
fn ecdsap384sha384() {
    both_zones(Algorithm::EcdsaP384Sha384);
}

#[test]
fn ed25519() {
    both_zones(Algorithm::Ed25519);
}

#[test]
fn one_key_alone_two_algorithms_and_signing_again() {
    let zone = nasty_zone();
    let csk = [KeyPair::generate(zone.origin(), Algorithm::Ed25519, None, Role::Ksk, &[]).unwrap()];
    all_denials(&zone, &csk, "one key");
    let mut keys = key_pair(&zone, Algorithm::EcdsaP256Sha256);
    keys.extend(key_pair(&zone, Algorithm::Ed25519));
    all_denials(&zone, &keys, "two algorithms");
    let parameters = SigningParameters::new(denials()[2].clone());
    let signed = sign(&zone, &csk, &parameters).unwrap();
    let again = sign(&signed, &csk, &SigningParameters::new(Denial::Nsec)).unwrap();
    validate(&again, &csk, "a zone that was signed before");
    assert!(again.records().len() < signed.records().len() + zone.records().len());
}

#[test]
fn zones_near_the_root_and_of_one_name() {
    let text = "$TTL 60\n. SOA a. b. 1 2 3 4 5\n. NS a.\na. A 192.0.2.1\njp. NS ns.jp.\njp. DS 1 8 2 \
        0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\nns.jp. A 192.0.2.2\nx.y.z. TXT t\n";
    for (origin, text) in [
        (".", text.to_owned()),
        (
            "jp",
            "jp. 60 SOA . . 1 2 3 4 5\njp. 60 NS ns.example.\n".to_owned(),
        ),
    ] {
        let zone = Zone::parse(text.as_bytes(), Some(&name(origin))).unwrap();
        all_denials(&zone, &key_pair(&zone, Algorithm::EcdsaP256Sha256), origin);
    }
}

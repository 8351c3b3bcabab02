//! BIND's tools and this crate understand each other's keys and make the same signatures.

use crate::common::{key_pair, name, nasty_zone, run, said, small_zone};
use dnsrig_sign::{
    Algorithm, Denial, DigestType, KeyPair, Nsec3Parameters, Role, SignError, SigningParameters,
    sign,
};
use dnsrig_zone::{PresentationRecord, Record, Zone, read_records};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// 2026-01-01 and 2036-01-01, 00:00 UTC: dnssec-signzone refuses signatures that have expired.
const INCEPTION: u32 = 1_767_225_600;
const EXPIRATION: u32 = 2_082_758_400;

/// Signs `zone` by dnssec-signzone with `keys`, whose files are in `folder`; `None` where it is not installed.
fn signed_by_bind(zone: &Zone, keys: &[KeyPair], options: &[&str], folder: &Path) -> Option<Zone> {
    let (input, output) = (folder.join("unsigned"), folder.join("signed"));
    let ttl_s = zone.soa().unwrap().ttl;
    let dnskeys: Vec<Record> = keys.iter().map(|key| key.dnskey(ttl_s)).collect();
    let with_keys = [zone.records(), &dnskeys].concat();
    Zone::new(zone.origin().clone(), with_keys)
        .write(&input)
        .unwrap();
    let stems = keys.iter().map(|key| folder.join(key.file_stem()));
    let origin = zone.origin().to_string();
    let fixed = [
        "-x",
        "-o",
        &origin,
        "-s",
        "20260101000000",
        "-e",
        "20360101000000",
    ];
    let mut arguments: Vec<&Path> = fixed.iter().chain(options).map(Path::new).collect();
    arguments.extend([Path::new("-f"), &output, &input]);
    let stems: Vec<PathBuf> = stems.collect();
    arguments.extend(stems.iter().map(PathBuf::as_path));
    let result = run("dnssec-signzone", "bind9-dnsutils", &arguments, folder)?;
    assert!(result.status.success(), "{}", said(&result));
    Some(Zone::read(&output, None).unwrap())
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// The records as a set of lines: the order of RRSIG records of one name follows random key tags.
fn lines(zone: &Zone) -> BTreeSet<String> {
    zone.records()
        .iter()
        .map(|record| PresentationRecord(record).to_string())
        .collect()
}

#[test]
fn the_same_records_as_dnssec_signzone() {
    let nsec3 = |iterations, salt, opt_out| {
        Denial::Nsec3(Nsec3Parameters::new(iterations, salt, opt_out).unwrap())
    };
    let cases: [(Denial, &[&str]); 4] = [
        (Denial::Nsec, &[]),
        (nsec3(0, "-", false), &["-3", "-"]),
        (nsec3(5, "AABB", false), &["-3", "AABB", "-H", "5"]),
        (nsec3(0, "-", true), &["-3", "-", "-A"]),
    ];
    for zone in [small_zone(), nasty_zone()] {
        let keys = key_pair(&zone, Algorithm::RsaSha256);
        let folder = tempfile::tempdir().unwrap();
        for key in &keys {
            key.write(folder.path()).unwrap();
        }
        for (denial, options) in &cases {
            let parameters = SigningParameters {
                inception: INCEPTION,
                expiration: EXPIRATION,
                ..SigningParameters::new(denial.clone())
            };
            let signed = sign(&zone, &keys, &parameters).unwrap();
            let Some(expected) = signed_by_bind(&zone, &keys, options, folder.path()) else {
                return;
            };
            let (ours, theirs) = (lines(&signed), lines(&expected));
            let missing: Vec<&String> = theirs.difference(&ours).collect();
            let surplus: Vec<&String> = ours.difference(&theirs).collect();
            assert!(
                missing.is_empty() && surplus.is_empty(),
                "{options:?} missing {missing:#?} surplus {surplus:#?}"
            );
        }
    }
}

#[test]
fn dnssec_signzone_signs_with_our_keys() {
    for algorithm in Algorithm::ALL {
        let zone = small_zone();
        let keys = key_pair(&zone, algorithm);
        let folder = tempfile::tempdir().unwrap();
        for key in &keys {
            key.write(folder.path()).unwrap();
        }
        // It verifies what it has signed.
        if signed_by_bind(&zone, &keys, &[], folder.path()).is_none() {
            return;
        }
    }
}

#[test]
fn keys_of_dnssec_keygen() {
    let sizes: [(Algorithm, &str); 8] = [
        (Algorithm::RsaSha256, "1024"),
        (Algorithm::RsaSha256, "1280"),
        (Algorithm::RsaSha256, "1584"),
        (Algorithm::RsaSha512, "2048"),
        (Algorithm::RsaSha256, "4096"),
        (Algorithm::EcdsaP256Sha256, "256"),
        (Algorithm::EcdsaP384Sha384, "384"),
        (Algorithm::Ed25519, "256"),
    ];
    for (algorithm, bits) in sizes {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [
            "-q",
            "-a",
            algorithm.name(),
            "-b",
            bits,
            "-f",
            "KSK",
            "Example.JP",
        ];
        let arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
        let Some(output) = run("dnssec-keygen", "bind9-utils", &arguments, folder.path()) else {
            return;
        };
        assert!(output.status.success(), "{}", said(&output));
        let stem = folder
            .path()
            .join(String::from_utf8(output.stdout).unwrap().trim());
        let key = KeyPair::read(&stem).unwrap();
        assert_eq!((key.algorithm(), key.role()), (algorithm, Role::Ksk));
        assert_eq!(key.file_stem(), file_name(&stem));
        assert!(key.created_s() > 1_700_000_000);
        compare_ds(&key, &stem, folder.path());
        let copy = tempfile::tempdir().unwrap();
        let copied = key.write(copy.path()).unwrap();
        let fields = |stem: &Path| -> Vec<String> {
            let text =
                fs::read_to_string(stem.with_file_name(format!("{}.private", file_name(stem))))
                    .unwrap();
            let is_time = |line: &&str| {
                ["Created", "Publish", "Activate"]
                    .iter()
                    .any(|name| line.starts_with(name))
            };
            text.lines()
                .filter(|line| !is_time(line))
                .map(str::to_owned)
                .collect()
        };
        // BIND leaves out leading zeros of elliptic-curve keys.
        if algorithm.is_rsa() {
            assert_eq!(fields(&copied), fields(&stem));
        }
        assert_eq!(KeyPair::read(&copied).unwrap().dnskey(0), key.dnskey(0));
    }
}

/// dnssec-dsfromkey makes the same DS records.
fn compare_ds(key: &KeyPair, stem: &Path, folder: &Path) {
    let public = stem.with_file_name(format!("{}.key", file_name(stem)));
    for (digest_type, option) in [
        (DigestType::Sha256, "SHA-256"),
        (DigestType::Sha384, "SHA-384"),
    ] {
        let arguments = [Path::new("-a"), Path::new(option), &public];
        let Some(output) = run("dnssec-dsfromkey", "bind9-utils", &arguments, folder) else {
            return;
        };
        let file = folder.join("ds");
        // It writes no TTL, so any will do.
        let text = String::from_utf8(output.stdout).unwrap();
        fs::write(&file, format!("$TTL 60\n{text}")).unwrap();
        assert_eq!(read_records(&file).unwrap(), [key.ds(digest_type, 60)]);
    }
}

#[test]
fn key_files_are_private_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let key = KeyPair::generate(
        &name("a/b.Example."),
        Algorithm::Ed25519,
        None,
        Role::Zsk,
        &[],
    )
    .unwrap();
    let stem = key.write(folder.path()).unwrap();
    assert!(file_name(&stem).starts_with("Ka\\047b.example.+015+"));
    let private = folder.path().join(format!("{}.private", file_name(&stem)));
    assert_eq!(
        fs::metadata(&private).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let before = fs::read(&private).unwrap();
    assert!(matches!(
        key.write(folder.path()),
        Err(SignError::WriteKey { .. })
    ));
    assert_eq!(fs::read(&private).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let read = KeyPair::read(&private).unwrap();
    assert_eq!((read.tag(), read.flags()), (key.tag(), 256));
}

#[test]
fn what_is_wrong_with_key_files_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let make =
        || KeyPair::generate(&name("example."), Algorithm::Ed25519, None, Role::Zsk, &[]).unwrap();
    let stem = make().write(folder.path()).unwrap();
    let private = folder.path().join(format!("{}.private", file_name(&stem)));
    let public = folder.path().join(format!("{}.key", file_name(&stem)));
    let text = fs::read_to_string(&private).unwrap();
    let message = |changed: &str| {
        fs::write(&private, changed).unwrap();
        KeyPair::read(&stem).unwrap_err().to_string()
    };
    let cases = [
        (text.replace("v1.3", "v9"), ":1: this key format is unknown"),
        (
            text.replace("15 (ED25519)", "16 (ED448)"),
            ":2: algorithm 16 is not supported",
        ),
        (
            text.replace("PrivateKey", "Private"),
            ":2: the field PrivateKey is missing",
        ),
        (
            text.replace("PrivateKey: ", "PrivateKey: !"),
            ":3: PrivateKey is not base64",
        ),
        (
            text.replace("PrivateKey: ", "PrivateKey: AAAA"),
            ":2: PrivateKey is not an Ed25519 key",
        ),
        (String::new(), ":1: the line Private-key-format is missing"),
    ];
    for (changed, expected) in cases {
        let message = message(&changed);
        assert!(
            message.contains(expected) && message.contains(';'),
            "{message}"
        );
    }
    let other = tempfile::tempdir().unwrap();
    let other_stem = make().write(other.path()).unwrap();
    let other_text = fs::read_to_string(
        other
            .path()
            .join(format!("{}.private", file_name(&other_stem))),
    )
    .unwrap();
    assert!(message(&other_text).contains("does not belong to the DNSKEY record"));
    fs::write(&public, "example. 60 IN A 192.0.2.1\n").unwrap();
    assert!(message(&text).contains("the record is not a DNSKEY"));
    fs::write(&public, "example. 60 IN DNSKEY 1 3 15 AAAA\n").unwrap();
    assert!(message(&text).contains("has not the zone key flag"));
    fs::write(&public, "").unwrap();
    assert!(message(&text).contains("exactly one record"));
    fs::write(&public, "example. 60 IN DNSKEY 256 3\n").unwrap();
    assert!(
        message(&text).contains(".key:1:27: bad data for type DNSKEY"),
        "{}",
        message(&text)
    );
    fs::remove_file(&public).unwrap();
    assert!(message(&text).contains(".key: this file is missing, while"));
    fs::remove_file(&private).unwrap();
    let error = KeyPair::read(&stem).unwrap_err().to_string();
    assert!(error.contains(".key: cannot read"), "{error}");
}

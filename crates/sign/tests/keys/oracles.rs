//! Other tools read our key files and make the same of them.

use crate::common::{file, name, new_key, printed, run};
use dnsrig_sign::{Algorithm, DigestType, KeyPair, KeyTiming, Role, TimingEvent};
use dnsrig_zone::{PresentationRecord, Record};
use std::fs;
use std::path::Path;

/// 2026-01-01.
const START_S: u64 = 1_767_225_600;
const DAY_S: u64 = 86_400;

fn key_with_times(algorithm: Algorithm) -> KeyPair {
    let mut timing = KeyTiming::from_creation(START_S);
    for (index, event) in [
        TimingEvent::Activate,
        TimingEvent::Revoke,
        TimingEvent::Inactive,
        TimingEvent::Delete,
        TimingEvent::SyncPublish,
        TimingEvent::SyncDelete,
    ]
    .into_iter()
    .enumerate()
    {
        timing.set(event, Some(START_S + index as u64 * DAY_S));
    }
    new_key("example.jp.", algorithm, Role::Ksk)
        .with_timing(timing)
        .with_ttl(Some(300))
}

/// A record as tools print it, for comparison: words in upper case, the digest in one.
fn shown(record: &Record) -> String {
    words(&PresentationRecord(record).to_string())
}

fn words(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words
        .iter()
        .position(|word| matches!(*word, "DS" | "CDS"))
        .unwrap();
    let (before, data) = words.split_at(at + 1);
    let digest: String = data[3..].concat();
    let mut kept: Vec<&str> = vec![before[0], before[at]];
    kept.extend(&data[..3]);
    format!("{} {digest}", kept.join(" ")).to_uppercase()
}

#[test]
fn dnssec_settime_reads_our_times() {
    for algorithm in Algorithm::ALL {
        let folder = tempfile::tempdir().unwrap();
        let stem = key_with_times(algorithm).write(folder.path()).unwrap();
        let stem = stem.to_str().unwrap().to_owned();
        let arguments = ["-u", "-p", "all", &stem];
        let Some(output) = run("dnssec-settime", "bind9-utils", &arguments, folder.path()) else {
            return;
        };
        let expected: String = [
            ("Created", 0),
            ("Publish", 0),
            ("Activate", 0),
            ("Revoke", 1),
            ("Inactive", 2),
            ("Delete", 3),
            ("SYNC Publish", 4),
            ("SYNC Delete", 5),
        ]
        .map(|(event, days)| format!("{event}: {}\n", START_S + days * DAY_S))
        .concat();
        let said = printed(&output);
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn dnssec_settime_changes_what_we_read() {
    let folder = tempfile::tempdir().unwrap();
    let stem = key_with_times(Algorithm::EcdsaP256Sha256)
        .write(folder.path())
        .unwrap();
    let before = KeyPair::read(&stem).unwrap();
    let arguments = [
        "-I",
        "20270102030405",
        "-D",
        "none",
        "-L",
        "77",
        stem.to_str().unwrap(),
    ];
    let Some(output) = run("dnssec-settime", "bind9-utils", &arguments, folder.path()) else {
        return;
    };
    printed(&output);
    let after = KeyPair::read(&stem).unwrap();
    let mut expected = before.timing().clone();
    expected.set(TimingEvent::Inactive, Some(1_798_859_045));
    expected.set(TimingEvent::Delete, None);
    assert_eq!(after.timing(), &expected);
    assert_eq!(after.ttl_s(), Some(77));
    assert_eq!(after.dnskey(0), before.dnskey(0));
}

#[test]
fn dnssec_revoke_makes_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = key_with_times(Algorithm::EcdsaP256Sha256);
    let stem = key.write(folder.path()).unwrap();
    let Some(output) = run("dnssec-revoke", "bind9-utils", &[&stem], folder.path()) else {
        return;
    };
    let revoked = KeyPair::read(Path::new(printed(&output).trim())).unwrap();
    assert_eq!(revoked.public(), key.into_revoked().public());
}

#[test]
fn ds_records_like_other_tools() {
    for algorithm in Algorithm::ALL {
        let folder = tempfile::tempdir().unwrap();
        let key = key_with_times(algorithm);
        let stem = key.write(folder.path()).unwrap();
        let public = file(&stem, "key").to_str().unwrap().to_owned();
        for digest in DigestType::ALL {
            let (ds, cds) = (key.ds(digest, 300), key.public().cds(digest, 300));
            for (record, options) in [
                (ds, &["-a", digest.name()][..]),
                (cds, &["-C", "-a", digest.name()]),
            ] {
                let arguments = [options, &[public.as_str()]].concat();
                let Some(output) =
                    run("dnssec-dsfromkey", "bind9-utils", &arguments, folder.path())
                else {
                    return;
                };
                assert_eq!(words(&printed(&output)), shown(&record));
            }
        }
        for (option, digest) in [("-2", DigestType::Sha256), ("-4", DigestType::Sha384)] {
            let Some(output) = run(
                "ldns-key2ds",
                "ldnsutils",
                &["-n", option, &public],
                folder.path(),
            ) else {
                return;
            };
            assert_eq!(words(&printed(&output)), shown(&key.ds(digest, 300)));
        }
    }
}

#[test]
fn knot_imports_our_keys() {
    // Knot takes no RSA keys of SHA-1 unless its policy says so.
    for algorithm in Algorithm::ALL
        .into_iter()
        .filter(|algorithm| algorithm.number() >= 8)
    {
        let folder = tempfile::tempdir().unwrap();
        let key = key_with_times(algorithm);
        let stem = key.write(folder.path()).unwrap();
        let public = file(&stem, "key").to_str().unwrap().to_owned();
        let store = folder.path().join("kasp");
        fs::create_dir(&store).unwrap();
        let keymgr = |command: &[&str]| {
            let arguments = [&["-D", store.to_str().unwrap(), "example.jp."], command].concat();
            run("keymgr", "knot", &arguments, folder.path()).map(|output| printed(&output))
        };
        if keymgr(&["import-bind", &public]).is_none() {
            return;
        }
        let said = keymgr(&["ds", &key.tag().to_string()]).unwrap();
        let found = said
            .lines()
            .map(words)
            .any(|line| line == shown(&key.ds(DigestType::Sha256, 0)));
        assert!(found, "{said}");
    }
}

#[test]
fn smart_signing_uses_the_same_keys() {
    let now_s = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let folder = tempfile::tempdir().unwrap();
    let zone = folder.path().join("zone");
    fs::write(&zone, "$TTL 60\nexample. SOA ns.example. h.example. 1 60 60 60 60\n NS ns.example.\nns.example. A 192.0.2.1\n").unwrap();
    // Past and future, for each of the times; one key always signs.
    let (past, future) = (now_s - DAY_S, now_s + DAY_S);
    let mut timings: Vec<Vec<(TimingEvent, u64)>> = vec![vec![(TimingEvent::Activate, past)]];
    for event in [
        TimingEvent::Publish,
        TimingEvent::Activate,
        TimingEvent::Inactive,
        TimingEvent::Delete,
    ] {
        for time_s in [past, future] {
            timings.push(vec![
                (TimingEvent::Publish, past),
                (TimingEvent::Activate, past),
                (event, time_s),
            ]);
        }
    }
    timings.push(vec![(TimingEvent::Activate, future)]);
    timings.push(vec![(TimingEvent::Publish, past)]);
    let mut keys = vec![new_key("example.", Algorithm::Ed25519, Role::Ksk)];
    for times_s in &timings {
        let mut timing = KeyTiming::default();
        for &(event, time_s) in times_s {
            timing.set(event, Some(time_s));
        }
        let key = KeyPair::generate(
            &name("example."),
            Algorithm::Ed25519,
            None,
            Role::Zsk,
            &keys,
        )
        .unwrap();
        keys.push(key.with_timing(timing));
    }
    for key in &keys {
        key.write(folder.path()).unwrap();
    }
    let arguments = [
        "-S", "-P", "-K", ".", "-o", "example.", "-f", "signed", "zone",
    ];
    let Some(output) = run(
        "dnssec-signzone",
        "bind9-dnsutils",
        &arguments,
        folder.path(),
    ) else {
        return;
    };
    printed(&output);
    let signed = dnsrig_zone::Zone::read(&folder.path().join("signed"), None).unwrap();
    for key in &keys {
        let is_published = signed
            .records()
            .iter()
            .any(|record| record.rdata == key.public().rdata());
        assert_eq!(is_published, key.is_published(now_s), "{:?}", key.timing());
        let signs = signed.records().iter().any(|record| {
            let covers_soa = record.rtype.to_int() == 46 && record.rdata[..2] == [0, 6];
            covers_soa && record.rdata[16..18] == key.tag().to_be_bytes()
        });
        let expected = key.is_active(now_s) && key.role() == Role::Zsk;
        assert_eq!(signs, expected, "{:?}", key.timing());
    }
}

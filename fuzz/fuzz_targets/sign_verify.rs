//! A zone of any text that can be signed has no fault; signed again it stays as it is; and of a zone that changed, signing what
//! changed gives what signing the whole gives.

#![no_main]

use dnsrig_sign::verify::{Fault, Verification, verify_file};
use dnsrig_sign::zonefile::{Chain, FileSigning, SignedFile, sign_file, state_path};
use dnsrig_sign::{Algorithm, KeyPair, Nsec3Parameters, Role, SignError};
use dnsrig_zone::flow::{Opening, find_apex};
use dnsrig_zone::pool::Pool;
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NOW: u32 = 1_700_000_000;
const DAY: u32 = 86_400;

thread_local! {
    static POOL: OnceCell<Pool> = const { OnceCell::new() };
}

struct Bench<'p> {
    folder: tempfile::TempDir,
    pool: &'p Pool,
    keys: Arc<[KeyPair]>,
    signing: FileSigning,
}

impl Bench<'_> {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sign(&self, from: &str, to: &str) -> Result<SignedFile, SignError> {
        let from = self.at(from);
        let opening = Opening::new(&from, None);
        let keys = self.keys.clone();
        sign_file(&opening, self.pool, keys, &self.signing, &self.at(to))
    }

    fn read(&self, name: &str) -> String {
        let octets = fs::read(self.at(name)).expect("written");
        String::from_utf8(octets).expect("what is written is ASCII")
    }

    fn expect_no_faults(&self, name: &str) {
        let verification = Verification {
            now: NOW,
            faults_max: 100,
            ..Verification::default()
        };
        let path = self.at(name);
        let found = verify_file(&Opening::new(&path, None), self.pool, &verification);
        let faults = found.expect("a zone").faults;
        // DS records are the zone's, wrong or not.
        let is_of_ds = |fault: &Fault| {
            fault.what.contains("where no zone is delegated")
                || fault.what.contains("the digest has")
        };
        let faults: Vec<Fault> = faults
            .into_iter()
            .filter(|fault| !is_of_ds(fault))
            .collect();
        assert!(faults.is_empty(), "{faults:?}\n{}", self.read(name));
    }
}

fn signing(chain: u8) -> FileSigning {
    let nsec3 = |salt, opt_out| {
        let parameters = Nsec3Parameters::new(1, salt, opt_out);
        Chain::Nsec3(parameters.expect("parameters"))
    };
    FileSigning {
        chain: match chain % 3 {
            0 => Chain::Nsec,
            1 => nsec3("AABB", false),
            _ => nsec3("-", true),
        },
        now: NOW,
        refresh_s: 7 * DAY,
        has_state: true,
        ..FileSigning::new(NOW - 3600, NOW + 30 * DAY)
    }
}

fn try_all(text: &[u8], chain: u8, dropped: u8, pool: &Pool) {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let zone = folder.path().join("zone");
    fs::write(&zone, text).expect("room");
    let Some(keys) = keys_for(&zone) else { return };
    let bench = Bench {
        folder,
        pool,
        keys,
        signing: signing(chain),
    };
    let Ok(signed) = bench.sign("zone", "signed") else {
        return;
    };
    bench.expect_no_faults("signed");
    let again = bench.sign("signed", "again").expect("signed before");
    assert_eq!(bench.read("again"), bench.read("signed"));
    assert_eq!(
        (again.signatures.made, again.signatures.kept),
        (0, signed.signatures.made + signed.signatures.kept)
    );

    // The zone without one of its lines, and with what signing had added to it.
    let mut lines: Vec<&[u8]> = text.split(|&octet| octet == b'\n').collect();
    lines.remove(usize::from(dropped) % lines.len());
    let mut changed = lines.join(&b'\n');
    changed.push(b'\n');
    fs::write(bench.at("changed"), &changed).expect("room");
    if find_apex(&Opening::new(&bench.at("changed"), None))
        .ok()
        .as_ref()
        != Some(bench.keys[0].owner())
        || bench.sign("changed", "full").is_err()
    {
        return;
    }
    let added = bench.read("signed");
    let is_added = |line: &&str| {
        [" IN RRSIG ", " IN NSEC ", " IN NSEC3 "]
            .iter()
            .any(|rtype| line.contains(rtype))
    };
    for line in added.lines().filter(is_added) {
        changed.extend_from_slice(line.as_bytes());
        changed.push(b'\n');
    }
    fs::write(bench.at("mixed"), &changed).expect("room");
    fs::copy(
        state_path(&bench.at("signed")),
        state_path(&bench.at("mixed")),
    )
    .expect("room");
    bench.sign("mixed", "incremental").expect("a zone");
    assert_eq!(bench.read("incremental"), bench.read("full"));
}

fn keys_for(zone: &Path) -> Option<Arc<[KeyPair]>> {
    let apex = find_apex(&Opening::new(zone, None)).ok()?;
    let key = |role, others: &[KeyPair]| {
        KeyPair::generate(&apex, Algorithm::Ed25519, None, role, others).ok()
    };
    let ksk = key(Role::Ksk, &[])?;
    let zsk = key(Role::Zsk, std::slice::from_ref(&ksk))?;
    Some([ksk, zsk].into())
}

fuzz_target!(|input: &[u8]| {
    let Some((&[chain, dropped], text)) = input.split_first_chunk() else {
        return;
    };
    // Other files and other keys are not the target's matter.
    let is_at = |at: usize, word: &[u8]| {
        let part = text.get(at..at + word.len());
        part.is_some_and(|part| part.eq_ignore_ascii_case(word))
    };
    let is_other = |at: usize| {
        let is_dnskey = is_at(at, b"DNSKEY") && !(at > 0 && is_at(at - 1, b"C"));
        is_dnskey || is_at(at, b"TYPE48") || is_at(at, b"$include")
    };
    if (0..text.len()).any(is_other) {
        return;
    }
    POOL.with(|pool| {
        let pool = pool.get_or_init(|| Pool::new(NonZeroUsize::new(2).expect("two")).expect("threads"));
        try_all(text, chain, dropped, pool);
    });
});

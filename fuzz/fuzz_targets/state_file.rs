//! No state file, whatever it has, lets a signature pass that is not valid, or stops a zone from being signed.

#![no_main]

use dnsrig_sign::zonefile::{FileSigning, sign_file, state_path};
use dnsrig_sign::{Algorithm, KeyPair, Role};
use dnsrig_zone::Name;
use dnsrig_zone::flow::Opening;
use dnsrig_zone::pool::Pool;
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

const ZONE: &str = "e. 60 IN SOA . . 1 2 3 4 5\ne. 60 IN NS ns.e.\nns.e. 60 IN A 192.0.2.1\n";
const MAGIC_OCTETS: usize = 16;
const DIGEST_OCTETS: usize = 16;
const NOW: u32 = 1_700_000_000;

struct Bench {
    folder: tempfile::TempDir,
    pool: Pool,
    keys: Arc<[KeyPair]>,
    /// The zone as it is signed, and its state file, of which the last so many digests are of its signatures.
    signed: Vec<u8>,
    state: Vec<u8>,
    digests: usize,
}

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

impl Bench {
    fn new() -> Self {
        let zone: Name = "e.".parse().expect("a name");
        let key = KeyPair::generate(&zone, Algorithm::Ed25519, None, Role::Ksk, &[]);
        let mut bench = Self {
            folder: tempfile::tempdir_in("/dev/shm").expect("a folder in memory"),
            pool: Pool::new(NonZeroUsize::MIN).expect("a thread"),
            keys: [key.expect("a key")].into(),
            signed: Vec::new(),
            state: Vec::new(),
            digests: 0,
        };
        fs::write(bench.at("zone"), ZONE).expect("room");
        bench.digests = bench.sign("zone", "signed") as usize;
        bench.signed = fs::read(bench.at("signed")).expect("signed");
        bench.state = fs::read(state_path(&bench.at("signed"))).expect("a state file");
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Signs a zone; returns the number of signatures made.
    fn sign(&self, from: &str, to: &str) -> u64 {
        let signing = FileSigning {
            has_state: true,
            ..FileSigning::new(NOW, NOW + 86_400)
        };
        let from = self.at(from);
        let opening = Opening::new(&from, None);
        let keys = self.keys.clone();
        let signed = sign_file(&opening, &self.pool, keys, &signing, &self.at(to));
        signed.expect("a zone").signatures.made
    }

    /// Signs the zone again, with two signatures exchanged and this state file.
    fn sign_with(&self, state: &[u8]) {
        let text = String::from_utf8_lossy(&self.signed);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_signature = |&index: &usize| lines[index].contains(" IN RRSIG ");
        let at: Vec<usize> = (0..lines.len()).filter(is_signature).take(2).collect();
        let signature = |line: &str| line.rsplit(' ').next().unwrap_or_default().to_owned();
        let (first, second) = (signature(&lines[at[0]]), signature(&lines[at[1]]));
        lines[at[0]] = lines[at[0]].replace(&first, &second);
        lines[at[1]] = lines[at[1]].replace(&second, &first);
        fs::write(self.at("again"), lines.join("\n") + "\n").expect("room");
        fs::write(state_path(&self.at("again")), state).expect("room");
        self.sign("again", "done");
        // Ed25519 signatures are the same for the same data.
        assert_eq!(fs::read(self.at("done")).expect("signed"), self.signed);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&form, octets)) = input.split_first() else {
        return;
    };
    BENCH.with(|bench| {
        let bench = bench.get_or_init(Bench::new);
        let state = match form % 4 {
            0 => octets.to_vec(),
            1 => [&bench.state[..MAGIC_OCTETS], octets].concat(),
            // A whole file, with digests of the input.
            2 => {
                let mut digests = octets.as_chunks::<DIGEST_OCTETS>().0.to_vec();
                digests.resize(bench.digests, [0; DIGEST_OCTETS]);
                digests.sort_by_key(|digest| u128::from_le_bytes(*digest));
                let head = bench.state.len() - bench.digests * DIGEST_OCTETS;
                [&bench.state[..head], &digests.concat()].concat()
            }
            // The one that signing wrote, changed here and there.
            _ => {
                let mut state = bench.state.clone();
                for place in octets.as_chunks::<2>().0 {
                    let at = usize::from(place[0]) % state.len();
                    state[at] ^= place[1];
                }
                state
            }
        };
        bench.sign_with(&state);
    });
});

//! Any octets are read as changes to a zone or refused; those that fit a zone change as many records as they say, at most.

#![no_main]

use dnsrig_zone::ZoneError;
use dnsrig_zone::flow::{Changes, Opening};
use dnsrig_zone::pool::Pool;
use dnsrig_zone::tools::{self, Comparing};
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

const ZONE: &str = "e. 60 IN SOA . . 1 2 3 4 5\n\
    e. 60 IN NS ns.e.\n\
    a.e. 60 IN A 192.0.2.1\n\
    a.e. 60 IN A 192.0.2.2\n\
    b.e. 60 IN NS ns.b.e.\n\
    ns.b.e. 60 IN A 192.0.2.3\n\
    c.e. 60 IN TXT \"x\"\n";

struct Bench {
    folder: tempfile::TempDir,
    pool: Pool,
    zone: PathBuf,
}

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
        let zone = folder.path().join("zone");
        fs::write(&zone, ZONE).expect("room");
        Self {
            pool: Pool::new(NonZeroUsize::MIN).expect("a thread"),
            folder,
            zone,
        }
    }

    fn apply(&self, text: &[u8]) {
        let at = |name: &str| self.folder.path().join(name);
        fs::write(at("changes"), text).expect("room");
        let Ok(changes) = Changes::read(&at("changes"), None) else {
            return;
        };
        let count = changes.len() as u64;
        let opening = Opening::new(&self.zone, None);
        let changing = Opening {
            changes: Some(Arc::new(changes)),
            ..opening.clone()
        };
        if tools::sort(&changing, &self.pool, &at("changed")).is_err() {
            return;
        }
        let changed = at("changed");
        let changed = Opening::new(&changed, None);
        // An RRset has one TTL, so that a new record can change that of others.
        let comparing = Comparing {
            ignores_ttl: true,
            ..Comparing::default()
        };
        let found = match tools::compare(opening, changed, &self.pool, &comparing) {
            // What is without its SOA record is refused by those who need a zone.
            Err(ZoneError::NoSoa { .. }) => return,
            found => found.expect("two zones"),
        };
        assert!(found.removed() + found.added() <= count);
    }
}

fuzz_target!(|text: &[u8]| {
    // Other files are not the target's matter.
    if !text
        .windows(8)
        .any(|part| part.eq_ignore_ascii_case(b"$include"))
    {
        BENCH.with(|bench| bench.get_or_init(Bench::new).apply(text));
    }
});

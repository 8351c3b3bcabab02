//! A folder in which the tests sign zone files.

use crate::common::name;
use dnsrig_sign::verify::{Verification, Verified, verify_file};
use dnsrig_sign::zonefile::{Chain, FileSigning, SignedFile, sign_file};
use dnsrig_sign::{Algorithm, KeyPair, Nsec3Parameters, Role, SignError};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::generate::small_domain;
use dnsrig_zone::pool::Pool;
use std::collections::HashSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const NOW: u32 = 1_700_000_000;
pub const DAY: u32 = 86_400;

pub fn keys(algorithm: Algorithm) -> Arc<[KeyPair]> {
    let bits = algorithm.is_rsa().then_some(1024);
    let zone = name("example.test.");
    let ksk = KeyPair::generate(&zone, algorithm, bits, Role::Ksk, &[]).unwrap();
    let zsk = KeyPair::generate(
        &zone,
        algorithm,
        bits,
        Role::Zsk,
        std::slice::from_ref(&ksk),
    );
    [ksk, zsk.unwrap()].into()
}

pub fn signing(chain: Chain) -> FileSigning {
    FileSigning {
        chain,
        now: NOW,
        refresh_s: 7 * DAY,
        has_state: true,
        ..FileSigning::new(NOW - 3600, NOW + 30 * DAY)
    }
}

pub fn chains() -> [Chain; 3] {
    let opt_out = Nsec3Parameters {
        opt_out: true,
        ..Nsec3Parameters::default()
    };
    [
        Chain::Nsec,
        Chain::Nsec3(Nsec3Parameters::new(2, "AABB", false).unwrap()),
        Chain::Nsec3(opt_out),
    ]
}

/// A folder with a zone and what is made of it.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub pool: Pool,
    pub keys: Arc<[KeyPair]>,
}

impl Bench {
    pub fn new(algorithm: Algorithm) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            pool: Pool::new(NonZeroUsize::new(2).unwrap()).unwrap(),
            keys: keys(algorithm),
        }
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub fn zone(&self, file: &str, records: usize, seed: u64) -> PathBuf {
        let path = self.path(file);
        small_domain(&name("example.test."), records, seed)
            .unwrap()
            .write(&path)
            .unwrap();
        path
    }

    pub fn sign(
        &self,
        from: &Path,
        to: &str,
        signing: &FileSigning,
    ) -> Result<SignedFile, SignError> {
        let opening = Opening::new(from, None);
        sign_file(
            &opening,
            &self.pool,
            self.keys.clone(),
            signing,
            &self.path(to),
        )
    }

    pub fn verify(&self, path: &Path) -> Verified {
        self.verify_at(NOW, path)
    }

    pub fn verify_at(&self, now: u32, path: &Path) -> Verified {
        let verification = Verification {
            now,
            faults_max: 50,
            ..Verification::default()
        };
        verify_file(&Opening::new(path, None), &self.pool, &verification).unwrap()
    }
}

pub fn lines(path: &Path) -> HashSet<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

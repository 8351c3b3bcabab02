//! BIND's key files: `K<zone>+<algorithm>+<tag>.key` with the DNSKEY record and `.private` with the private key, or
//! with the name of a key in a PKCS#11 token.

mod directory;
mod files;
mod private;
mod public;

pub use directory::KeyDirectory;
pub(crate) use files::read_wiped;
pub(crate) use private::{ENGINE, LABEL};
pub use public::read_dnskeys;

use crate::key::{KeyFiles, KeyTiming};
use crate::{Algorithm, KeyPair, SignError, crypto, pkcs11};
use files::{PairPaths, read_key_file, write_new};
use private::{PrivateText, Secret, private_text};
use public::{PublicFile, public_text};
use std::fs;
use std::path::{Path, PathBuf};

const WRONG_FORMAT: &str = "give a private key in BIND's format v1.2 or v1.3";

impl KeyPair {
    /// Writes the key's two files into `folder` and returns their common path, without suffix.
    ///
    /// The private file is readable for its owner only. Both appear complete or not at all, and existing files are not
    /// overwritten.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, SignError> {
        let stem = folder.join(self.file_stem());
        let paths = PairPaths::of(&stem);
        write_new(&paths.private, private_text(self)?.as_bytes(), 0o600)?;
        if let Err(error) = write_new(&paths.public, public_text(self).as_bytes(), 0o644) {
            // Half a pair is of no use; the error that matters is the first one.
            let _ = fs::remove_file(&paths.private);
            return Err(error);
        }
        Ok(stem)
    }

    /// Reads a key from its pair of files; `path` is that of either, or their common path without suffix.
    ///
    /// The times are those of the private file, as BIND has it; where it has none, those in the comments of the public
    /// one. A private file that names a key in a PKCS#11 token opens that token.
    pub fn read(path: &Path) -> Result<Self, SignError> {
        let paths = PairPaths::of(path);
        paths.check_complete()?;
        let public = PublicFile::read(&paths.public)?;
        let text = read_key_file(&paths.private)?;
        let fault = |(line, what)| SignError::KeyFile {
            file: paths.private.clone(),
            line,
            what,
            hint: WRONG_FORMAT,
        };
        let private = PrivateText::parse(&text).map_err(fault)?;
        let mismatch = || SignError::KeyFile {
            file: paths.private.clone(),
            line: private.algorithm_line,
            what: "this private key does not belong to the DNSKEY record of the .key file".into(),
            hint: "restore the pair, or make a new one",
        };
        if private.algorithm.number() != public.dnskey.algorithm_number() {
            return Err(mismatch());
        }
        let signer = match &private.secret {
            Secret::Fields(fields) => crypto::from_private_fields(private.algorithm, fields)
                .map_err(|what| fault((private.algorithm_line, what)))?,
            Secret::Token(uri) => {
                pkcs11::check_trust(uri, &paths.private)?;
                pkcs11::open(uri, private.algorithm, Some(public.dnskey.public_key()))?
            }
        };
        if signer.public_key() != public.dnskey.public_key() {
            return Err(mismatch());
        }
        let timing = match private.timing == KeyTiming::default() {
            true => public.timing,
            false => private.timing,
        };
        Ok(Self::from_dnskey(public.dnskey, private.algorithm, signer)
            .with_timing(timing)
            .with_files(KeyFiles {
                public: paths.public,
                record_line: public.line,
                private: paths.private,
                timing_lines: private.timing_lines,
            }))
    }
}

/// Reads the text of a `.private` file and drops the key again: for tests of the parser with any octets. A PKCS#11 URI
/// is parsed, but no token is opened.
///
/// Fails with the line, from 1, and what is wrong with it.
pub fn check_private_text(text: &[u8]) -> Result<Algorithm, (usize, String)> {
    let private = PrivateText::parse(text)?;
    if let Secret::Fields(fields) = &private.secret {
        crypto::from_private_fields(private.algorithm, fields)
            .map_err(|what| (private.algorithm_line, what))?;
    }
    Ok(private.algorithm)
}

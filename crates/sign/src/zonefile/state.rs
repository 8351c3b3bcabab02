//! The state file: which signatures an earlier signing knew to be valid.
//!
//! For every signature it has a digest of what was signed and of the signature, keyed by a secret that only who has the
//! private key can derive. So a digest that is in the file vouches for the signature as verifying it would, at a hundredth
//! of the cost; no other use of the file can make a signature pass, and without it signatures are verified.
//!
//! Where only changes are signed, the digests of signatures that are kept unseen are not computed, so all that the file
//! had stay in it. When most of them are of signatures that are gone, every signature is looked at once, and only the
//! digests of these are written.

use super::plan::FileSigning;
use crate::crypto::move_secret;
use crate::{KeyPair, SignError};
use aws_lc_rs::hmac;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// What a state file begins with; the number of signatures of the zone, the number of digests and the digests in
/// ascending order follow.
const MAGIC: &[u8; 16] = b"dnsrig signed 2\n";
/// What state files of all versions begin with.
const MAGIC_OF_ALL: &[u8] = b"dnsrig signed ";
/// Separates this use of a private key from any other.
const PURPOSE: &[u8] = b"dnsrig: digests of signatures known to be valid, version 2";
const DIGEST_OCTETS: usize = 16;
/// Octets of an HMAC with SHA-256.
const SECRET_OCTETS: usize = 32;
/// Digests for each signature of the zone beyond which they are mostly stale.
const DIGESTS_PER_SIGNATURE: u64 = 2;

/// The state file of the zone file `path`, beside it.
pub fn state_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".state");
    PathBuf::from(name)
}

/// What is known of the input's signatures.
pub(super) struct State {
    /// One for each key, the retired ones last, if its private part can be read.
    secrets: Vec<Option<hmac::Key>>,
    known: Known,
}

/// What a state file says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    /// Signatures of the zone that it was written for.
    signatures: u64,
    /// In ascending order.
    digests: Vec<u128>,
}

impl std::fmt::Debug for State {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("digests", &self.known.digests.len())
            .finish_non_exhaustive()
    }
}

impl State {
    /// Reads the state file beside `path`. A file that is missing or no state file says nothing.
    pub fn load(
        path: &Path,
        keys: &[KeyPair],
        signing: &FileSigning,
    ) -> Result<Arc<Self>, SignError> {
        if !signing.has_state {
            return Ok(Arc::new(Self::none(keys.len())));
        }
        let retired = signing.retired.iter().map(|retired| &retired.key);
        let secrets = keys.iter().chain(retired).map(secret_of).collect();
        let known = match signing.verifies_kept {
            true => Known::default(),
            false => read_state(&state_path(path)).unwrap_or_default(),
        };
        Ok(Arc::new(Self { secrets, known }))
    }

    /// Nothing is known, and nothing will be, of the signatures of so many keys.
    pub fn none(keys: usize) -> Self {
        Self {
            secrets: vec![None; keys],
            known: Known::default(),
        }
    }

    /// The secret of key number `key`.
    pub fn secret(&self, key: usize) -> Option<hmac::Key> {
        self.secrets.get(key).cloned().flatten()
    }

    /// Whether the file vouches for what `digest` is of.
    pub fn knows(&self, digest: u128) -> bool {
        self.known.digests.binary_search(&digest).is_ok()
    }

    /// Whether most digests are of signatures that the zone has not any more.
    pub fn is_mostly_stale(&self) -> bool {
        self.known.digests.len() as u64 > DIGESTS_PER_SIGNATURE * self.known.signatures
    }
}

/// `None` where the private key stays in a token.
fn secret_of(key: &KeyPair) -> Option<hmac::Key> {
    let fields = key.private_fields().ok()?;
    // Field by field, so that the private key is not copied.
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, PURPOSE));
    for (_, value) in &fields {
        context.update(&(value.len() as u64).to_be_bytes());
        context.update(value);
    }
    let mut secret = Zeroizing::new([0; SECRET_OCTETS]);
    move_secret(context.sign(), &mut secret[..]);
    Some(hmac::Key::new(hmac::HMAC_SHA256, &secret[..]))
}

/// The digest of a signature and of what it signs.
pub(super) fn digest_of(secret: &hmac::Key, data: &[u8], signature: &[u8]) -> u128 {
    let mut context = hmac::Context::with_key(secret);
    // Without it, octets could go from one to the other.
    context.update(&(data.len() as u64).to_be_bytes());
    context.update(data);
    context.update(signature);
    let tag = context.sign();
    let octets: [u8; DIGEST_OCTETS] = std::array::from_fn(|index| tag.as_ref()[index]);
    u128::from_le_bytes(octets)
}

fn known_of(octets: &[u8]) -> Option<Known> {
    let (signatures, rest) = octets.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let (count, digests) = rest.split_first_chunk::<8>()?;
    let (digests, rest) = digests.as_chunks::<DIGEST_OCTETS>();
    let digests: Vec<u128> = digests
        .iter()
        .map(|digest| u128::from_le_bytes(*digest))
        .collect();
    let is_whole = rest.is_empty() && digests.len() as u64 == u64::from_le_bytes(*count);
    (is_whole && digests.is_sorted()).then_some(Known {
        signatures: u64::from_le_bytes(*signatures),
        digests,
    })
}

/// Collects the digests of the signatures that are written.
pub(super) struct StateWriter {
    path: Option<PathBuf>,
    digests: Vec<u128>,
}

impl StateWriter {
    /// For the zone file `target`; it begins with what is known already if only changes are signed.
    pub fn new(signing: &FileSigning, target: &Path, state: &State, has_changes: bool) -> Self {
        // Standard output and devices have no file beside them.
        let is_file = target != Path::new("-")
            && std::fs::metadata(target).map_or(true, |found| found.is_file());
        Self {
            path: (signing.has_state && is_file).then(|| state_path(target)),
            digests: match has_changes && !state.is_mostly_stale() {
                true => state.known.digests.clone(),
                false => Vec::new(),
            },
        }
    }

    /// Writes nothing.
    pub fn none() -> Self {
        Self {
            path: None,
            digests: Vec::new(),
        }
    }

    pub fn add(&mut self, digests: Vec<u128>) {
        if self.path.is_some() {
            self.digests.extend(digests);
        }
    }

    /// Writes the file of a zone with so many signatures; why it could not be, if so.
    pub fn finish(mut self, signatures: u64) -> Option<String> {
        let path = self.path?;
        self.digests.sort_unstable();
        self.digests.dedup();
        let known = Known {
            signatures,
            digests: self.digests,
        };
        if !is_replaceable(&path) {
            return Some(format!(
                "{}: this is no state file, so it is left as it is, and the next signing verifies the signatures that it keeps; move it away, or name the output otherwise",
                path.display()
            ));
        }
        let error = write_state(&path, &known).err()?;
        Some(format!(
            "{}: the state file cannot be written: {error}; the next signing verifies the signatures that it keeps",
            path.display()
        ))
    }
}

/// Reads a state file, if there is one: anything else than a file could keep the signing waiting.
fn read_state(path: &Path) -> Option<Known> {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    let octets = is_file.then(|| fs::read(path).ok())??;
    known_of(&octets)
}

/// Whether there is nothing under the name of a state file that may be somebody's: no file, an empty one, or a state file.
fn is_replaceable(path: &Path) -> bool {
    let mut head = Vec::new();
    match fs::metadata(path) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(found) if !found.is_file() => false,
        Ok(found) if found.len() == 0 => true,
        Ok(_) => {
            let read = File::open(path)
                .and_then(|file| file.take(MAGIC_OF_ALL.len() as u64).read_to_end(&mut head));
            read.is_ok() && head == MAGIC_OF_ALL
        }
    }
}

fn write_state(path: &Path, known: &Known) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let partial = tempfile::Builder::new()
        .prefix(".dnsrig-")
        .tempfile_in(folder)?;
    let mut target = BufWriter::with_capacity(1 << 16, partial);
    target.write_all(MAGIC)?;
    target.write_all(&known.signatures.to_le_bytes())?;
    target.write_all(&(known.digests.len() as u64).to_le_bytes())?;
    for digest in &known.digests {
        target.write_all(&digest.to_le_bytes())?;
    }
    let partial = target
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    partial.as_file().sync_all()?;
    partial.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zone.state");
        let known = Known {
            signatures: 70,
            digests: (1..100).map(|number| number << 100).collect(),
        };
        write_state(&path, &known).unwrap();
        let octets = fs::read(&path).unwrap();
        assert_eq!(known_of(&octets), Some(known));
        assert_eq!(known_of(&octets[..octets.len() - 1]), None);
        assert_eq!(known_of(&octets[..octets.len() - DIGEST_OCTETS]), None);
        assert_eq!(known_of(&octets[1..]), None);
        let mut swapped = octets;
        swapped[32..64].rotate_left(DIGEST_OCTETS);
        assert_eq!(known_of(&swapped), None);
    }

    #[test]
    fn no_octet_goes_from_data_to_signature() {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
        assert_ne!(
            digest_of(&secret, b"da", b"ta"),
            digest_of(&secret, b"dat", b"a")
        );
    }
}

//! The files themselves: their names, reading them without leaving copies, writing them whole.

use crate::SignError;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Larger than any key with all that tools write around it; what is larger is another kind of file.
const OCTETS_MAX: u64 = 64 * 1024;

/// The paths of a key's two files.
pub(super) struct PairPaths {
    pub public: PathBuf,
    pub private: PathBuf,
}

impl PairPaths {
    /// The pair that `path` names: either file, or their common path without suffix.
    pub fn of(path: &Path) -> Self {
        let text = path.as_os_str().as_bytes();
        let stem = text
            .strip_suffix(b".key")
            .or(text.strip_suffix(b".private"))
            .unwrap_or(text);
        let stem = Path::new(OsStr::from_bytes(stem));
        Self {
            public: with_suffix(stem, ".key"),
            private: with_suffix(stem, ".private"),
        }
    }

    /// Fails if just one of the two is there.
    pub fn check_complete(&self) -> Result<(), SignError> {
        let (missing, present) = match (self.public.exists(), self.private.exists()) {
            (false, true) => (&self.public, &self.private),
            (true, false) => (&self.private, &self.public),
            _ => return Ok(()),
        };
        Err(SignError::MissingHalf {
            missing: missing.clone(),
            present: present.clone(),
        })
    }
}

fn with_suffix(stem: &Path, suffix: &str) -> PathBuf {
    // Not with_extension: the stem is full of dots.
    let mut path = OsString::from(stem);
    path.push(suffix);
    PathBuf::from(path)
}

/// Reads a key file into memory of its exact size, wiped when dropped: growing would leave copies behind.
pub(super) fn read_key_file(file: &Path) -> Result<Zeroizing<Vec<u8>>, SignError> {
    read_wiped(file, OCTETS_MAX).map_err(|source| SignError::ReadKey {
        file: file.to_path_buf(),
        source,
    })
}

/// Reads a regular file of at most `octets_max` octets.
pub(crate) fn read_wiped(file: &Path, octets_max: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    // Before it is opened: opening a FIFO waits for somebody who writes to it.
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut open = File::open(file)?;
    let metadata = open.metadata()?;
    if metadata.len() > octets_max {
        let what = format!(
            "it has {} octets, at most {octets_max} are read",
            metadata.len()
        );
        return Err(io::Error::other(what));
    }
    // No larger than octets_max.
    let mut content = Zeroizing::new(vec![0; metadata.len() as usize]);
    let mut filled = 0;
    while filled < content.len() {
        match open.read(&mut content[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    content.truncate(filled);
    Ok(content)
}

/// Writes a file that must not exist yet, complete or not at all.
pub(super) fn write_new(file: &Path, content: &[u8], mode: u32) -> Result<(), SignError> {
    let write = || -> io::Result<()> {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let mut temporary = tempfile::Builder::new()
            .prefix(".dnsrig-")
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        temporary.write_all(content)?;
        temporary.as_file().sync_all()?;
        temporary.persist_noclobber(file)?;
        Ok(())
    };
    write().map_err(|source| SignError::WriteKey {
        file: file.to_path_buf(),
        source,
    })
}

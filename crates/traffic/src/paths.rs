//! Paths in results. JSON is UTF-8, and names of files need not be.

use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// Serialises a path; octets that are not UTF-8 become U+FFFD, so that a result is never lost for a name.
pub fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}

/// Serialises paths as [`lossy`] does.
pub fn all_lossy<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

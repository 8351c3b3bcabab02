//! Whether pieces would take the place of the zone that they are cut from.

use super::{beside, piece_path, refuse};
use crate::error::ZoneError;
use crate::tools::manifest::MANIFEST_SUFFIX;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Refuses names of which one is that of a file in `read`, by whatever path: the zone would be lost.
pub(super) fn check_replaced(
    read: &[Arc<Path>],
    prefix: &Path,
    pieces: usize,
) -> Result<(), ZoneError> {
    let read: Vec<(&Path, Identity)> = read
        .iter()
        .filter_map(|file| Some((file.as_ref(), identity(file)?)))
        .collect();
    let pieces = (1..=pieces).map(|number| (piece_path(prefix, number, pieces), "the piece"));
    let manifest = (beside(prefix, MANIFEST_SUFFIX), "the manifest");
    for (path, what) in pieces.chain([manifest]) {
        let written = identity(&path);
        let is_written = |(_, identity): &&(&Path, Identity)| written == Some(*identity);
        if let Some((file, _)) = read.iter().find(is_written) {
            let what = format!("{what} {} would replace the zone itself", path.display());
            let hint = "give another beginning of the pieces' names (-f)";
            return Err(refuse(file, what, hint));
        }
    }
    Ok(())
}

/// Device and inode of a file.
type Identity = (u64, u64);

/// What file `path` is, at the end of symbolic links; `-` is standard input.
fn identity(path: &Path) -> Option<Identity> {
    let path = match path == Path::new("-") {
        true => PathBuf::from("/dev/stdin"),
        false => path.to_path_buf(),
    };
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

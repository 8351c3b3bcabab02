//! Pieces to disk and under their names, all together.

use crate::error::ZoneError;
use crate::tools::manifest::Manifest;
use crate::whole_file::{CompleteFile, NamedFile};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Files that are brought to disk at once. A file system does most of the work once for all of them.
const AT_ONCE: usize = 32;

/// Brings `files` to disk, then gives them their names, and writes the manifest when these are on disk, too.
pub(super) fn publish(
    files: Vec<(PathBuf, CompleteFile)>,
    manifest: &Manifest,
    manifest_path: &Path,
    cancel: &AtomicBool,
) -> Result<(), ZoneError> {
    bring_to_disk(&files, cancel)?;
    let mut named: Vec<(PathBuf, NamedFile)> = Vec::new();
    for (path, file) in files {
        let renamed = file.rename();
        let renamed = renamed.map_err(|source| write_error(&path, source))?;
        // Mostly all are in one folder.
        if named.last().is_none_or(|(_, last)| *last != renamed) {
            named.push((path, renamed));
        }
    }
    for (path, file) in named {
        let synced = file.sync();
        synced.map_err(|source| write_error(&path, source))?;
    }
    manifest.write(manifest_path)
}

/// Brings all of `files` to disk, several at once.
fn bring_to_disk(files: &[(PathBuf, CompleteFile)], cancel: &AtomicBool) -> Result<(), ZoneError> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((path, file)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = match cancel.load(Ordering::Relaxed) {
                true => Err(ZoneError::Cancelled),
                false => file
                    .bring_to_disk()
                    .map_err(|source| write_error(path, source)),
            };
            if done.is_err() {
                next.store(files.len(), Ordering::Relaxed);
                return done;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        // Without more threads this one does it all.
        let others: Vec<_> = (1..AT_ONCE.min(files.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        let ends = others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ends.fold(own, Result::and)
    })
}

fn write_error(path: &Path, source: std::io::Error) -> ZoneError {
    ZoneError::Write {
        file: path.to_path_buf(),
        source,
    }
}

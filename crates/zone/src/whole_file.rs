//! Files read and written as a whole.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Opens a file to read, and gives the file system's own name of it; devices are refused, since some never end. `-` is
/// standard input.
///
/// # Errors
/// Those of the system.
pub(crate) fn open_readable(path: &Path) -> io::Result<(Box<dyn Read + Send>, PathBuf)> {
    use std::os::unix::fs::FileTypeExt;
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), PathBuf::from("-")));
    }
    let file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a device, not a file",
        ));
    }
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let canonical = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    Ok((Box::new(file), canonical))
}

/// A file that is written beside its name, and gets the name only when it is complete and on disk.
///
/// Dropping it unfinished leaves under the name what was there before. The permissions of a file that is replaced are
/// kept, a symbolic link is followed. What is no regular file, such as a pipe or a device, is written to directly; `-` is
/// standard output.
pub struct WholeFile(Target);

enum Target {
    Direct(Box<dyn Write + Send>),
    Beside {
        partial: BufWriter<tempfile::NamedTempFile>,
        path: PathBuf,
        folder: PathBuf,
    },
    /// Written directly when it is complete.
    Spooled {
        partial: BufWriter<tempfile::NamedTempFile>,
        target: Box<dyn Write + Send>,
    },
}

impl Target {
    /// The file that has all that was written so far.
    fn partial(&mut self) -> io::Result<&tempfile::NamedTempFile> {
        match self {
            Self::Direct(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "what was written is gone",
            )),
            Self::Beside { partial, .. } | Self::Spooled { partial, .. } => {
                partial.flush()?;
                Ok(partial.get_ref())
            }
        }
    }
}

impl std::fmt::Debug for WholeFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WholeFile")
    }
}

impl WholeFile {
    /// Begins to write `path`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self(Target::Direct(Box::new(io::stdout()))));
        }
        let existing = std::fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self(Target::Direct(Box::new(BufWriter::new(file)))));
        }
        let path = match &existing {
            Some(_) => path.canonicalize()?,
            None => path.to_path_buf(),
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_path_buf();
        // Else readable for all as the umask allows: servers run as other users.
        let permissions =
            existing.map_or(Permissions::from_mode(0o666), |found| found.permissions());
        let partial = tempfile::Builder::new()
            .permissions(permissions)
            .prefix(".dnsrig-")
            .tempfile_in(&folder)?;
        Ok(Self(Target::Beside {
            partial: BufWriter::with_capacity(1 << 16, partial),
            path,
            folder,
        }))
    }

    /// Begins to write `path` so that [`WholeFile::partial_path`] and [`WholeFile::patch`] work: what would be written
    /// directly goes to a temporary file in `folder` until it is complete.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create_patchable(path: &Path, folder: &Path) -> io::Result<Self> {
        match Self::create(path)?.0 {
            Target::Direct(target) => {
                let partial = tempfile::Builder::new()
                    .prefix(".dnsrig-")
                    .tempfile_in(folder)?;
                Ok(Self(Target::Spooled {
                    partial: BufWriter::with_capacity(1 << 16, partial),
                    target,
                }))
            }
            beside => Ok(Self(beside)),
        }
    }

    /// The file that has all that was written so far.
    ///
    /// # Errors
    /// Those of the system; also if it was written directly.
    pub fn partial_path(&mut self) -> io::Result<PathBuf> {
        Ok(self.0.partial()?.path().to_path_buf())
    }

    /// Replaces octets that were written, from the one numbered `at` on.
    ///
    /// # Errors
    /// Those of the system; also if they were written directly.
    pub fn patch(&mut self, at: u64, octets: &[u8]) -> io::Result<()> {
        self.0.partial()?.as_file().write_all_at(octets, at)
    }

    /// Brings the file to disk and gives it its name.
    ///
    /// # Errors
    /// Those of the system; the name then has what it had before.
    pub fn finish(self) -> io::Result<()> {
        self.complete()?.publish()
    }

    /// Brings the file to disk and closes it, still without its name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn complete(self) -> io::Result<CompleteFile> {
        match self.0 {
            Target::Direct(mut target) => {
                target.flush()?;
                Ok(CompleteFile(None))
            }
            Target::Spooled {
                partial,
                mut target,
            } => {
                let mut spooled = partial
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?;
                spooled.rewind()?;
                io::copy(&mut spooled, &mut target)?;
                target.flush()?;
                Ok(CompleteFile(None))
            }
            Target::Beside {
                partial,
                path,
                folder,
            } => {
                let partial = partial
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?;
                partial.as_file().sync_all()?;
                Ok(CompleteFile(Some((partial.into_temp_path(), path, folder))))
            }
        }
    }
}

/// A file that is complete and on disk, but has not its name yet; dropping it removes it.
#[derive(Debug)]
pub struct CompleteFile(Option<(tempfile::TempPath, PathBuf, PathBuf)>);

impl CompleteFile {
    /// Gives the file its name, and brings that to disk.
    ///
    /// # Errors
    /// Those of the system; the name then has what it had before, unless only bringing it to disk failed.
    pub fn publish(self) -> io::Result<()> {
        self.rename()?.sync()
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Those of the system; the name then has what it had before.
    pub fn rename(self) -> io::Result<NamedFile> {
        let Some((partial, path, folder)) = self.0 else {
            return Ok(NamedFile(None));
        };
        partial.persist(path)?;
        Ok(NamedFile(Some(folder)))
    }
}

/// A file that has its name, in a folder that is perhaps not on disk yet.
#[derive(Debug)]
#[must_use]
pub struct NamedFile(Option<PathBuf>);

impl NamedFile {
    /// Brings the name to disk.
    ///
    /// # Errors
    /// Those of the system; the file has its name all the same, until the system stops unexpectedly.
    pub fn sync(self) -> io::Result<()> {
        match self.0 {
            // The rename itself is on disk only with the folder.
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Target::Direct(target) => target.write(octets),
            Target::Beside { partial, .. } | Target::Spooled { partial, .. } => {
                partial.write(octets)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Direct(target) => target.flush(),
            Target::Beside { partial, .. } | Target::Spooled { partial, .. } => partial.flush(),
        }
    }
}

/// Lets `fill` write a [`WholeFile`] to `path`.
///
/// # Errors
/// Those of the system, and of `fill`.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    fill(&mut file)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::write_whole;
    use std::fs;
    use std::io;
    use std::path::Path;

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, |target| target.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn a_device_stays_a_device() {
        write_whole(Path::new("/dev/null"), |target| target.write_all(b"text")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        let fail = |target: &mut dyn io::Write| {
            target.write_all(b"half")?;
            Err(io::Error::other("no more"))
        };
        assert!(write_whole(&file, fail).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

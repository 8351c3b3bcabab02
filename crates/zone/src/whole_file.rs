//! Files written as a whole.

use crate::error::ZoneError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

/// A file that is written beside its name, and gets the name only when it is complete and on disk.
///
/// Dropping it unfinished leaves under the name what was there before. A file that is replaced keeps its permissions
/// whatever the umask, and its owner and group as far as the process may give files away. A symbolic link is followed,
/// also to a file that is not there yet. What is no regular file, such as a pipe or a device, is written to directly; `-`
/// is standard output.
pub struct WholeFile(Target);

enum Target {
    Direct(Box<dyn Write + Send>),
    Beside {
        partial: BufWriter<tempfile::NamedTempFile>,
        path: PathBuf,
        folder: PathBuf,
    },
    /// Opened and written when it is complete: a FIFO that is opened and closed before would end its reader.
    Spooled {
        partial: BufWriter<tempfile::NamedTempFile>,
        folder: PathBuf,
        path: PathBuf,
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
        match Self::create_beside(path)? {
            Some(beside) => Ok(beside),
            None => Ok(Self(Target::Direct(direct(path)?))),
        }
    }

    /// Begins to write a regular file; `None` if `path` is or will be none.
    fn create_beside(path: &Path) -> io::Result<Option<Self>> {
        if path == Path::new("-") {
            return Ok(None);
        }
        let existing = match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => return Ok(None),
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let path = followed(path);
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_path_buf();
        let partial = match existing {
            Some(replaced) => {
                let partial = temporary(&folder, 0o600)?;
                resemble(partial.as_file(), &replaced)?;
                partial
            }
            // Readable for all as the umask allows: servers run as other users.
            None => temporary(&folder, 0o666)?,
        };
        Ok(Some(Self(Target::Beside {
            partial: BufWriter::with_capacity(1 << 16, partial),
            path,
            folder,
        })))
    }

    /// Begins to write `path`, of which nothing is to be seen before it is complete: what would be written directly goes to
    /// a temporary file in `folder` first. [`WholeFile::partial_path`] and [`WholeFile::patch`] always work.
    ///
    /// # Errors
    /// [`ZoneError::Write`], or [`ZoneError::TemporaryOutput`] where it is `folder` that fails.
    pub fn create_spooled(path: &Path, folder: &Path) -> Result<Self, ZoneError> {
        let beside = Self::create_beside(path).map_err(|source| ZoneError::Write {
            file: path.to_path_buf(),
            source,
        })?;
        if let Some(beside) = beside {
            return Ok(beside);
        }
        let partial = temporary(folder, 0o600).map_err(|source| ZoneError::TemporaryOutput {
            folder: folder.to_path_buf(),
            source,
        })?;
        Ok(Self(Target::Spooled {
            partial: BufWriter::with_capacity(1 << 16, partial),
            folder: folder.to_path_buf(),
            path: path.to_path_buf(),
        }))
    }

    /// The folder of the temporary file that has all that is written until the file is complete; none where it is beside
    /// its name, or written directly.
    pub fn spool_folder(&self) -> Option<&Path> {
        match &self.0 {
            Target::Spooled { folder, .. } => Some(folder),
            Target::Beside { .. } | Target::Direct(_) => None,
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
        self.end(File::sync_all)
    }

    /// Closes the file, which is complete, but neither on disk nor under its name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn close(self) -> io::Result<CompleteFile> {
        self.end(|_| Ok(()))
    }

    fn end(self, at_end: impl FnOnce(&File) -> io::Result<()>) -> io::Result<CompleteFile> {
        match self.0 {
            Target::Direct(mut target) => {
                target.flush()?;
                Ok(CompleteFile(Completed::Direct))
            }
            Target::Spooled { partial, path, .. } => {
                let partial = partial
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?;
                Ok(CompleteFile(Completed::Spooled { partial, path }))
            }
            Target::Beside {
                partial,
                path,
                folder,
            } => {
                let partial = partial
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?;
                at_end(partial.as_file())?;
                Ok(CompleteFile(Completed::Beside {
                    partial: partial.into_temp_path(),
                    path,
                    folder,
                }))
            }
        }
    }
}

/// Makes a temporary file in `folder`, with such permissions as the umask leaves of `mode`.
fn temporary(folder: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(mode);
    // Not by `tempfile_in`, whose errors tell users the temporary file's name.
    tempfile::Builder::new()
        .prefix(".dnsrig-")
        .make_in(folder, |path| options.open(path))
}

/// Opens what is no regular file to write.
fn direct(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdout()));
    }
    let file = OpenOptions::new().write(true).open(path)?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Where a file named `path` is written: at the end of the symbolic links, whether there is a file or not.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // Links that go round in circles were refused by the system before.
    while let Ok(target) = path.read_link() {
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Gives `file` the owner, the group and the permissions of one that it replaces.
fn resemble(file: &File, replaced: &Metadata) -> io::Result<()> {
    let (owner, group) = (replaced.uid(), replaced.gid());
    let current = file.metadata()?;
    if (current.uid(), current.gid()) != (owner, group) {
        let changed = fchown(file, Some(owner), Some(group));
        // Who may not give files away may still be in the group.
        match changed.or_else(|_| fchown(file, None, Some(group))) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            _ => {}
        }
    }
    // After the owner, for a change of that takes set-ID bits away.
    file.set_permissions(replaced.permissions())
}

/// A file that is complete, but has not its name yet; dropping it removes it.
pub struct CompleteFile(Completed);

enum Completed {
    /// Already where it belongs.
    Direct,
    Beside {
        partial: tempfile::TempPath,
        path: PathBuf,
        folder: PathBuf,
    },
    Spooled {
        partial: tempfile::NamedTempFile,
        path: PathBuf,
    },
}

impl std::fmt::Debug for CompleteFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CompleteFile")
    }
}

impl CompleteFile {
    /// Brings to disk what was written, if that was only closed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn bring_to_disk(&self) -> io::Result<()> {
        match &self.0 {
            Completed::Beside { partial, .. } => {
                // It may have the permissions of a file that its owner must not read, or not write.
                let file = File::open(partial)
                    .or_else(|_| OpenOptions::new().write(true).open(partial))?;
                file.sync_all()
            }
            Completed::Direct | Completed::Spooled { .. } => Ok(()),
        }
    }

    /// Gives the file its name, and brings that to disk.
    ///
    /// # Errors
    /// Those of the system; the name then has what it had before, unless only bringing it to disk failed.
    pub fn publish(self) -> io::Result<()> {
        self.rename()?.sync()
    }

    /// Gives the file its name, or writes it to what is no regular file.
    ///
    /// # Errors
    /// Those of the system; the name then has what it had before.
    pub fn rename(self) -> io::Result<NamedFile> {
        match self.0 {
            Completed::Direct => Ok(NamedFile(None)),
            Completed::Beside {
                partial,
                path,
                folder,
            } => {
                partial.persist(path)?;
                Ok(NamedFile(Some(folder)))
            }
            Completed::Spooled { mut partial, path } => {
                let mut target = direct(&path)?;
                partial.rewind()?;
                io::copy(&mut partial, &mut target)?;
                target.flush()?;
                Ok(NamedFile(None))
            }
        }
    }
}

/// A file that has its name, in a folder that is perhaps not on disk yet.
#[derive(Debug, PartialEq, Eq)]
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
    use super::{WholeFile, write_whole};
    use std::fs;
    use std::io::{self, Write};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
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
    fn a_link_to_no_file_yet_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_whole(&link, |target| target.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        assert!(write_whole(&circle, |_| Ok(())).is_err());
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_owner() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        // More than any umask in use leaves.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        // Only root may give files away.
        let is_given = std::os::unix::fs::chown(&file, Some(12), Some(34)).is_ok();
        write_whole(&file, |target| target.write_all(b"new")).unwrap();
        let found = fs::metadata(&file).unwrap();
        assert_eq!(found.mode() & 0o7777, 0o666);
        if is_given {
            assert_eq!((found.uid(), found.gid()), (12, 34));
        }
    }

    #[test]
    fn what_is_spooled_is_not_seen_before_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let (mut end, target) = std::io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&target));
        let mut file = WholeFile::create_spooled(path.as_ref(), folder.path()).unwrap();
        drop(target);
        file.write_all(b"half").unwrap();
        file.flush().unwrap();
        drop(file);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut end, &mut text).unwrap();
        assert_eq!(text, "");
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

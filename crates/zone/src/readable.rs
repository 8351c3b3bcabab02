//! Opening what zones are read from; waiting for what is slow to come can be cancelled.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often somebody who waits for input looks whether it is still wanted.
const CANCEL_CHECK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// The flag of those whom nobody cancels.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// Opens a file to read, and gives the file system's own name of it; devices are refused, since some never end. `-` is
/// standard input.
///
/// Neither opening nor reading goes on waiting when `cancel` is set.
///
/// # Errors
/// Those of the system; reading fails with [`io::ErrorKind::Other`] when it is cancelled.
pub(crate) fn open_readable<'a>(
    path: &Path,
    cancel: &'a AtomicBool,
) -> io::Result<(Box<dyn Read + Send + 'a>, PathBuf)> {
    if path == Path::new("-") {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        return Ok((Box::new(Slow { file, cancel }), path.to_path_buf()));
    }
    let kind = std::fs::metadata(path)?.file_type();
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
    if kind.is_file() {
        return Ok((Box::new(File::open(path)?), canonical));
    }
    // Otherwise a FIFO would be open only when somebody writes.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    Ok((Box::new(Slow { file, cancel }), canonical))
}

/// What may keep its reader waiting: a FIFO, a pipe, a terminal.
struct Slow<'a> {
    file: File,
    cancel: &'a AtomicBool,
}

impl Read for Slow<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(io::Error::other("interrupted"));
            }
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waiting, Some(&CANCEL_CHECK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            match self.file.read(octets) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_waits_for_a_writer_can_be_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let cancel = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let (mut reader, _) = open_readable(&path, &cancel)?;
                reader.read(&mut [0; 10])
            });
            std::thread::sleep(Duration::from_millis(1));
            cancel.store(true, Ordering::Relaxed);
            assert!(reading.join().unwrap().is_err());
        });
    }

    #[test]
    fn all_that_comes_through_a_fifo_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let text = "x".repeat(1_000_000);
        std::thread::scope(|scope| {
            scope.spawn(|| std::fs::write(&path, &text).unwrap());
            let (mut reader, _) = open_readable(&path, &NEVER).unwrap();
            let mut read = String::new();
            reader.read_to_string(&mut read).unwrap();
            assert!(read == text);
        });
    }
}

//! Files, pipes and standard input, plain or compressed, read so that a caller can stop it.

mod compressed;

pub use compressed::{Undecodable, Undecoded, decompressed, is_compressed};

use crate::error::StreamError;
use crate::halt::Halt;
use std::fs::{File, OpenOptions};
use std::io::{self, Cursor, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How long a pipe without data is waited for before the cancel flag is looked at again.
const POLL_MS: libc::c_int = 100;

/// What passes through every layer of a file that is being read.
#[derive(Clone, Copy)]
pub struct Watch<'c> {
    /// Once it is set, reading fails.
    pub cancel: &'c AtomicBool,
    /// Octets read of all files, as they are stored.
    pub octets: &'c AtomicU64,
}

impl<'c> Watch<'c> {
    /// Ends reading once `cancel` is set; what is read is nobody's to count.
    pub fn uncounted(cancel: &'c AtomicBool) -> Self {
        static UNCOUNTED: AtomicU64 = AtomicU64::new(0);
        Self {
            cancel,
            octets: &UNCOUNTED,
        }
    }
}

/// Opens `path`, or standard input for `-`; what gzip, zstd or xz compressed is decompressed.
///
/// # Errors
/// Those of the system; reading fails with an error that [`failure`] explains.
pub fn open<'c>(path: &Path, watch: Watch<'c>) -> io::Result<Box<dyn Read + Send + 'c>> {
    decompressed(open_plain(path, watch)?, watch.cancel)
}

/// Opens `path`, or standard input for `-`, and reads it as it is. A named pipe without a writer is opened at once; reading
/// waits for the writer.
///
/// # Errors
/// Those of the system. Once the flag is set, reading fails with an error of which [`is_cancellation`] holds.
pub fn open_plain<'c>(path: &Path, watch: Watch<'c>) -> io::Result<Watched<'c>> {
    let is_stdin = path == Path::new("-");
    let file = if is_stdin {
        File::from(io::stdin().as_fd().try_clone_to_owned()?)
    } else {
        OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)?
    };
    let is_file = file.metadata()?.is_file();
    Ok(Watched {
        file,
        may_block: !is_file,
        is_regular: is_file && !is_stdin,
        watch,
    })
}

/// The first `len` octets of `input`, or as many as it has, and all of it.
///
/// # Errors
/// Those of `input`.
pub fn with_head<R: Read>(mut input: R, len: usize) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let mut head = Vec::with_capacity(len);
    input.by_ref().take(len as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// The error of reading `path` as the crate's own.
pub fn failure(path: &Path, source: io::Error) -> StreamError {
    if let Some(halt) = Halt::of(&source) {
        return halt.in_file(path);
    }
    let file = path.to_owned();
    match Undecodable::of(&source) {
        Some(undecodable) => StreamError::Undecodable {
            why: undecodable.to_string(),
            file,
        },
        None => StreamError::Read { file, source },
    }
}

/// Whether reading failed because the caller asked to stop.
pub fn is_cancellation(error: &io::Error) -> bool {
    Halt::of(error) == Some(Halt::Cancelled)
}

/// A file whose reading ends once a flag is set, also while a pipe is silent.
pub struct Watched<'c> {
    file: File,
    may_block: bool,
    is_regular: bool,
    watch: Watch<'c>,
}

impl Read for Watched<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        loop {
            check(self.watch.cancel)?;
            if self.may_block && !self.is_ready()? {
                continue;
            }
            match self.file.read(octets) {
                // Another reader of the pipe was quicker.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(read) => {
                    self.watch.octets.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn check(cancel: &AtomicBool) -> io::Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(Halt::Cancelled.into()),
        false => Ok(()),
    }
}

impl Watched<'_> {
    /// Whether it can be opened a second time and then begins anew.
    pub fn is_regular(&self) -> bool {
        self.is_regular
    }

    fn is_ready(&self) -> io::Result<bool> {
        let mut watched = libc::pollfd {
            fd: self.file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `watched` is one valid pollfd for the time of the call, and the count says one.
        match unsafe { libc::poll(&mut watched, 1, POLL_MS) } {
            0 => Ok(false),
            1.. => Ok(true),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
                error => Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_pipe_is_left_without_a_writer_and_read_with_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: `name` is a string with its end, which outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let cancel = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                open(&path, Watch::uncounted(&cancel))
                    .and_then(|mut input| input.read_to_end(&mut Vec::new()))
            });
            cancel.store(true, Ordering::Relaxed);
            let error = reading.join().unwrap().unwrap_err();
            assert!(matches!(failure(&path, error), StreamError::Interrupted));
        });
        cancel.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut octets = Vec::new();
                open(&path, Watch::uncounted(&cancel))?.read_to_end(&mut octets)?;
                io::Result::Ok(octets)
            });
            // Opening it waits for the reader.
            std::fs::write(&path, "www.example.test A\n").unwrap();
            assert_eq!(reading.join().unwrap().unwrap(), b"www.example.test A\n");
        });
    }

    #[test]
    fn a_silent_pipe_is_left_once_the_flag_is_set() {
        let (receiver, _sender) = io::pipe().unwrap();
        let cancel = AtomicBool::new(false);
        let mut input = Watched {
            file: File::from(std::os::fd::OwnedFd::from(receiver)),
            may_block: true,
            is_regular: false,
            watch: Watch::uncounted(&cancel),
        };
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| input.read(&mut [0; 10]));
            cancel.store(true, Ordering::Relaxed);
            let error = reading.join().unwrap().unwrap_err();
            assert!(matches!(
                failure(Path::new("-"), error),
                StreamError::Interrupted
            ));
        });
    }
}

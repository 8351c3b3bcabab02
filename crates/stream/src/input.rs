//! Files, pipes and standard input, plain or compressed, read so that a caller can stop it.

use crate::error::StreamError;
use crate::halt::Halt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a pipe without data is waited for before the cancel flag is looked at again.
const POLL_MS: libc::c_int = 100;
const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const XZ_MAGIC: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];

/// Opens `path`, or standard input for `-`; what gzip, zstd or xz compressed is decompressed.
///
/// Once `cancel` is set, reading fails with an error that [`failure`] turns into [`StreamError::Interrupted`].
pub(crate) fn open<'c>(
    path: &Path,
    cancel: &'c AtomicBool,
) -> io::Result<Box<dyn Read + Send + 'c>> {
    let mut file = open_plain(path, cancel)?;
    let mut head = Vec::with_capacity(XZ_MAGIC.len());
    file.by_ref()
        .take(XZ_MAGIC.len() as u64)
        .read_to_end(&mut head)?;
    let format = [GZIP_MAGIC, ZSTD_MAGIC, XZ_MAGIC]
        .into_iter()
        .find(|magic| head.starts_with(magic));
    let whole = io::Cursor::new(head).chain(file);
    let input: Box<dyn Read + Send + 'c> = match format {
        Some(GZIP_MAGIC) => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Some(ZSTD_MAGIC) => Box::new(zstd::Decoder::new(whole)?),
        Some(XZ_MAGIC) => Box::new(liblzma::read::XzDecoder::new_multi_decoder(whole)),
        _ => return Ok(Box::new(whole)),
    };
    // A few octets may decompress to very many, so the flag is looked at on this side, too.
    Ok(Box::new(Heeding { input, cancel }))
}

/// Opens `path`, or standard input for `-`, and reads it as it is. A named pipe without a writer is opened at once; reading
/// waits for the writer.
pub(crate) fn open_plain<'c>(path: &Path, cancel: &'c AtomicBool) -> io::Result<Cancellable<'c>> {
    let file = if path == Path::new("-") {
        File::from(io::stdin().as_fd().try_clone_to_owned()?)
    } else {
        OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)?
    };
    let may_block = !file.metadata()?.is_file();
    Ok(Cancellable {
        file,
        may_block,
        cancel,
    })
}

/// The error of reading `path` as the crate's own.
pub(crate) fn failure(path: &Path, source: io::Error) -> StreamError {
    match Halt::of(&source) {
        Some(halt) => halt.in_file(path),
        None => StreamError::Read {
            file: path.to_owned(),
            source,
        },
    }
}

/// A file whose reading ends once a flag is set, also while a pipe is silent.
pub(crate) struct Cancellable<'c> {
    file: File,
    may_block: bool,
    cancel: &'c AtomicBool,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        loop {
            check(self.cancel)?;
            if self.may_block && !self.is_ready()? {
                continue;
            }
            match self.file.read(octets) {
                // Another reader of the pipe was quicker.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }
}

/// A reader whose reading ends once a flag is set.
struct Heeding<'c, R> {
    input: R,
    cancel: &'c AtomicBool,
}

impl<R: Read> Read for Heeding<'_, R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        check(self.cancel)?;
        self.input.read(octets)
    }
}

fn check(cancel: &AtomicBool) -> io::Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(Halt::Cancelled.into()),
        false => Ok(()),
    }
}

impl Cancellable<'_> {
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
    use std::io::Write;

    fn read(octets: &[u8]) -> io::Result<Vec<u8>> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(octets)?;
        let mut read = Vec::new();
        open(file.path(), &AtomicBool::new(false))?.read_to_end(&mut read)?;
        Ok(read)
    }

    fn xz(octets: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(octets).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_files_are_decompressed_and_others_read_as_they_are() {
        let text = b"www.example.test A\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).unwrap();
        assert_eq!(read(&gzip.finish().unwrap()).unwrap(), text);
        assert_eq!(
            read(&zstd::encode_all(&text[..], 1).unwrap()).unwrap(),
            text
        );
        // Several streams in one file, as `cat` of compressed files leaves them.
        let half = text.len() / 2;
        let [first, second] = [&text[..half], &text[half..]].map(xz);
        assert_eq!(read(&[first, second].concat()).unwrap(), text);
        assert_eq!(read(&text).unwrap(), text);
        for short in [&b""[..], b"a", b"\x1f", b"abcd", b"\xfd7zXZ"] {
            assert_eq!(read(short).unwrap(), short);
        }
    }

    #[test]
    fn a_compressed_file_that_is_cut_off_is_an_error() {
        let whole = zstd::encode_all(&[7; 100_000][..], 1).unwrap();
        assert!(read(&whole[..whole.len() - 3]).is_err());
        let whole = xz(&[7; 100_000]);
        assert!(read(&whole[..whole.len() - 3]).is_err());
    }

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
                open(&path, &cancel).and_then(|mut input| input.read_to_end(&mut Vec::new()))
            });
            cancel.store(true, Ordering::Relaxed);
            let error = reading.join().unwrap().unwrap_err();
            assert!(matches!(failure(&path, error), StreamError::Interrupted));
        });
        cancel.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut octets = Vec::new();
                open(&path, &cancel)?.read_to_end(&mut octets)?;
                io::Result::Ok(octets)
            });
            // Opening it waits for the reader.
            std::fs::write(&path, "www.example.test A\n").unwrap();
            assert_eq!(reading.join().unwrap().unwrap(), b"www.example.test A\n");
        });
    }

    #[test]
    fn a_few_octets_that_decompress_to_many_are_left_once_the_flag_is_set() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let packed = zstd::encode_all(&vec![0; 1 << 20][..], 1).unwrap();
        file.write_all(&packed).unwrap();
        let cancel = AtomicBool::new(false);
        let mut input = open(file.path(), &cancel).unwrap();
        input.read_exact(&mut [0; 10]).unwrap();
        cancel.store(true, Ordering::Relaxed);
        assert!(input.read(&mut [0; 10]).is_err());
    }

    #[test]
    fn a_silent_pipe_is_left_once_the_flag_is_set() {
        let (receiver, _sender) = io::pipe().unwrap();
        let cancel = AtomicBool::new(false);
        let mut input = Cancellable {
            file: File::from(std::os::fd::OwnedFd::from(receiver)),
            may_block: true,
            cancel: &cancel,
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

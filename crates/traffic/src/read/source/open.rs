//! Opening captures: files, pipes and standard input, plain or compressed, of any format.

use super::compressed::decompressed;
use super::pcap::{Pcap, is_pcap};
use super::pcapng::{Pcapng, is_pcapng};
use super::{Fault, Source};
use crate::error::TrafficError;
use crate::read::cdns::{Cdns, is_cdns};
use crate::read::dnstap::{Dnstap, is_dnstap};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Cursor, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How long a pipe without data is waited for before the cancel flag is looked at again.
const POLL_MS: libc::c_int = 100;
/// Octets by which compression and format are told.
const MAGIC_LEN: usize = 12;
/// Octets that sources of messages read at once, which take few at a time.
const BUFFER_LEN: usize = 1 << 18;

/// What passes through every layer of a file that is being read.
#[derive(Clone, Copy)]
pub struct Watch<'c> {
    /// Once it is set, reading fails.
    pub cancel: &'c AtomicBool,
    /// Octets read of all files, as they are stored.
    pub octets: &'c AtomicU64,
}

/// A capture whose format is known.
pub struct Opened<'c> {
    /// Its packets.
    pub source: Box<dyn Source + 'c>,
    /// Whether it can be opened a second time and then begins anew.
    pub is_regular: bool,
}

/// Opens `path`, or standard input for `-`: what gzip, zstd or xz compressed is decompressed, and the format is told by its first
/// octets.
///
/// # Errors
/// A [`Fault`]; [`fault_in`] makes it the crate's error.
pub fn open<'c>(path: &Path, watch: Watch<'c>) -> Result<Opened<'c>, Fault> {
    let (file, is_regular) = open_plain(path, watch)?;
    Ok(Opened {
        source: source_of(decompressed(file, watch.cancel)?)?,
        is_regular,
    })
}

/// Reads captures of any format, not compressed, from `input`.
///
/// # Errors
/// A [`Fault`].
pub fn source_of<'c>(input: impl Read + Send + 'c) -> Result<Box<dyn Source + 'c>, Fault> {
    let (head, input) = with_head(input)?;
    let Some(magic) = head.first_chunk::<4>() else {
        let why = "is no capture: it has fewer than four octets".to_owned();
        return Err(Fault::NotACapture(why));
    };
    if is_pcap(*magic) {
        return Ok(Box::new(Pcap::new(input)?));
    }
    if is_pcapng(*magic) {
        return Ok(Box::new(Pcapng::new(input)));
    }
    if is_dnstap(&head) {
        let input = BufReader::with_capacity(BUFFER_LEN, input);
        return Ok(Box::new(Dnstap::new(input)?));
    }
    if is_cdns(&head) {
        let input = BufReader::with_capacity(BUFFER_LEN, input);
        return Ok(Box::new(Cdns::new(input)?));
    }
    if head
        .iter()
        .all(|octet| octet.is_ascii_graphic() || octet.is_ascii_whitespace())
    {
        let why = "is text, and no capture; if it is a query file, 'dnsrig traffic convert' makes a capture of it";
        return Err(Fault::NotACapture(why.to_owned()));
    }
    let [a, b, c, d] = magic;
    Err(Fault::NotACapture(format!(
        "is no capture of a known format: it begins with {a:02x} {b:02x} {c:02x} {d:02x}; if Wireshark reads it, 'editcap -F pcapng' converts it"
    )))
}

/// The first octets of `input`, and all of it.
pub(super) fn with_head<R: Read>(mut input: R) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let mut head = Vec::with_capacity(MAGIC_LEN);
    input
        .by_ref()
        .take(MAGIC_LEN as u64)
        .read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// Opens `path`, or standard input for `-`, and reads it as it is; also says whether it is a regular file. A named pipe without
/// a writer is opened at once; reading waits for the writer.
fn open_plain<'c>(path: &Path, watch: Watch<'c>) -> io::Result<(Watched<'c>, bool)> {
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
    let watched = Watched {
        file,
        may_block: !is_file,
        watch,
    };
    Ok((watched, is_file && !is_stdin))
}

/// The fault of reading `path` as the crate's error.
pub fn fault_in(path: &Path, fault: Fault) -> TrafficError {
    let file = path.to_owned();
    match fault {
        Fault::Io(source) if is_cancellation(&source) => TrafficError::Interrupted,
        Fault::Io(source) if source.kind() == io::ErrorKind::OutOfMemory => {
            TrafficError::NoMemory {
                what: format!("a packet of {}", path.display()),
                advice: "give it more memory",
            }
        }
        Fault::Io(source) => TrafficError::Read { file, source },
        Fault::NotACapture(why) => TrafficError::NotACapture { file, why },
        Fault::Damaged(why) => TrafficError::NotACapture {
            file,
            why: format!("is damaged at its first packet: {why}"),
        },
        Fault::CutOff => TrafficError::NotACapture {
            file,
            why: "ends before its first packet does; give the whole file".to_owned(),
        },
    }
}

/// The caller asked to stop; inside an [`io::Error`] it passes through decompression.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("stopped by the caller")]
struct Cancelled;

fn is_cancellation(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Cancelled>())
}

pub(super) fn check(cancel: &AtomicBool) -> io::Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(io::Error::other(Cancelled)),
        false => Ok(()),
    }
}

/// A file whose reading ends once a flag is set, also while a pipe is silent.
struct Watched<'c> {
    file: File,
    may_block: bool,
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

impl Watched<'_> {
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

//! What gzip, zstd or xz compressed.

use super::{check, with_head};
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const XZ_MAGIC: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];

/// The largest dictionary or window of a file, in octets: what a decoder holds in memory of what it has decompressed. A file says
/// how large its own is, up to 4 GiB, and the decoder takes so much whether or not there is so much in the file. `xz -9` has
/// 64 MiB, `zstd --ultra -22` and `zstd --long` 128 MiB.
const MAX_DICTIONARY_LEN: u64 = 1 << 28;
/// What xz takes beside its dictionary, in octets.
const XZ_OWN_LEN: u64 = 1 << 20;

/// Whether data that begin with `head` are compressed by gzip, zstd or xz.
pub fn is_compressed(head: &[u8]) -> bool {
    [GZIP_MAGIC, ZSTD_MAGIC, XZ_MAGIC]
        .iter()
        .any(|magic| head.starts_with(magic))
}

/// What stands in `input`: decompressed if its first octets say that it is compressed, else as it is. Reading ends once `cancel`
/// is set.
///
/// # Errors
/// Those of `input`. When the result is read, what cannot be decompressed is an error that holds an [`Undecodable`].
pub fn decompressed<'c>(
    input: impl Read + Send + 'c,
    cancel: &'c AtomicBool,
) -> io::Result<Box<dyn Read + Send + 'c>> {
    let (head, input) = with_head(input, XZ_MAGIC.len())?;
    let read = Arc::new(AtomicU64::new(0));
    let plain = Counted {
        input,
        read: Arc::clone(&read),
    };
    let (format, decoder): (_, Box<dyn Read + Send + 'c>) = if head.starts_with(GZIP_MAGIC) {
        let decoder = flate2::read::MultiGzDecoder::new(plain);
        (Format::Gzip, Box::new(decoder))
    } else if head.starts_with(ZSTD_MAGIC) {
        let mut decoder = zstd::Decoder::new(plain)?;
        decoder.window_log_max(MAX_DICTIONARY_LEN.ilog2())?;
        (Format::Zstd, Box::new(decoder))
    } else if head.starts_with(XZ_MAGIC) {
        let most = MAX_DICTIONARY_LEN + XZ_OWN_LEN;
        // Several streams may stand in one file.
        let stream =
            liblzma::stream::Stream::new_stream_decoder(most, liblzma::stream::CONCATENATED)?;
        let decoder = Xz {
            decoder: liblzma::read::XzDecoder::new_stream(plain, stream),
            failed: None,
        };
        (Format::Xz, Box::new(decoder))
    } else {
        return Ok(Box::new(plain.input));
    };
    Ok(Box::new(Decompressed {
        decoder,
        format,
        read,
        cancel,
    }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Gzip,
    Zstd,
    Xz,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }

    /// The command that decompresses whatever takes the decoder here too much memory.
    fn command(self) -> &'static str {
        match self {
            Self::Gzip => "gzip -dc",
            Self::Zstd => "zstd -dc --long=31",
            Self::Xz => "xz -dc",
        }
    }

    /// Whether the decoder's error is that of [`MAX_DICTIONARY_LEN`].
    fn is_too_large(self, error: &io::Error) -> bool {
        let inner = error.get_ref();
        match self {
            // Its window is of 32 KiB, always.
            Self::Gzip => false,
            // ZSTD_error_frameParameter_windowTooLarge, of which the crate hands on the library's words alone.
            Self::Zstd => inner.is_some_and(|inner| inner.to_string().contains("too much memory")),
            Self::Xz => inner
                .and_then(|inner| inner.downcast_ref())
                .is_some_and(|inner| matches!(inner, liblzma::stream::Error::MemLimit)),
        }
    }
}

/// Decompresses xz. Its decoder forgets what it has decompressed in the call in which it fails, which may be all of a small file
/// with other octets at its end; here that is given first, and the error at the next call.
struct Xz<R: Read> {
    decoder: liblzma::read::XzDecoder<R>,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let before = self.decoder.total_out();
        self.decoder.read(octets).or_else(|error| {
            match (self.decoder.total_out() - before) as usize {
                0 => Err(error),
                read => {
                    self.failed = Some(error);
                    Ok(read)
                }
            }
        })
    }
}

/// Counts what is read of a compressed file.
struct Counted<R> {
    input: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(octets).map_err(|source| {
            // It passes through the decoder as what it is, and not as damage.
            io::Error::new(source.kind(), OfTheFile(source))
        })?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The file below could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct OfTheFile(io::Error);

/// Reads through a decoder. A few octets may decompress to very many, so the flag is looked at on this side, too.
struct Decompressed<'c> {
    decoder: Box<dyn Read + Send + 'c>,
    format: Format,
    /// Octets that the decoder has taken.
    read: Arc<AtomicU64>,
    cancel: &'c AtomicBool,
}

impl Decompressed<'_> {
    /// The decoder's error as the caller sees it.
    fn error(&self, error: io::Error) -> io::Error {
        let kind = error.kind();
        if matches!(
            kind,
            io::ErrorKind::Interrupted | io::ErrorKind::OutOfMemory
        ) {
            return error;
        }
        let how = match kind {
            io::ErrorKind::UnexpectedEof => Undecoded::CutOff,
            _ if self.format.is_too_large(&error) => Undecoded::TooLarge,
            _ => Undecoded::Damaged,
        };
        match error.downcast::<OfTheFile>() {
            Ok(OfTheFile(source)) => source,
            Err(source) => io::Error::new(
                kind,
                Undecodable {
                    how,
                    format: self.format,
                    before: self.read.load(Ordering::Relaxed),
                    why: source.to_string(),
                },
            ),
        }
    }
}

impl Read for Decompressed<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        check(self.cancel)?;
        let read = self.decoder.read(octets);
        read.map_err(|error| self.error(error))
    }
}

/// In which way data cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// They contradict themselves.
    Damaged,
    /// They end too early.
    CutOff,
    /// They need a dictionary or window in memory that is larger than a decoder is given.
    TooLarge,
}

/// Why compressed data cannot be decompressed; says it as what is true of a file.
#[derive(Debug)]
pub struct Undecodable {
    how: Undecoded,
    format: Format,
    /// Octets of the file that the decoder had taken; what is wrong is before them.
    before: u64,
    why: String,
}

impl Undecodable {
    /// The reason in `error`, if that is what it holds.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// In which way they cannot be decompressed.
    pub fn how(&self) -> Undecoded {
        self.how
    }
}

impl fmt::Display for Undecodable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            how,
            format,
            before,
            why,
        } = self;
        let (name, command) = (format.name(), format.command());
        match how {
            Undecoded::Damaged => write!(
                formatter,
                "its {name} data are damaged before octet {before} of the file ({why})"
            ),
            Undecoded::CutOff => write!(
                formatter,
                "its {name} data are cut off after octet {before} of the file; give the whole file"
            ),
            Undecoded::TooLarge => write!(
                formatter,
                "its {name} data need a dictionary of more than {} MiB in memory, the most that a file is given; decompress it first, as with '{command} FILE'",
                MAX_DICTIONARY_LEN >> 20
            ),
        }
    }
}

impl std::error::Error for Undecodable {}

#[cfg(test)]
mod tests;

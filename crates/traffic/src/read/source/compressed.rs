//! What gzip, zstd or xz compressed.

use super::Fault;
use super::open::{check, with_head};
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const XZ_MAGIC: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];

/// What stands in `input`: decompressed if its first octets say that it is compressed, else as it is. Reading ends once `cancel`
/// is set.
///
/// Data that cannot be decompressed are an error that becomes [`Fault::Damaged`] or [`Fault::CutOff`].
pub fn decompressed<'c>(
    input: impl Read + Send + 'c,
    cancel: &'c AtomicBool,
) -> io::Result<Box<dyn Read + Send + 'c>> {
    let (head, input) = with_head(input)?;
    let read = Arc::new(AtomicU64::new(0));
    let plain = Counted {
        input,
        read: Arc::clone(&read),
    };
    let (format, decoder): (_, Box<dyn Read + Send + 'c>) = if head.starts_with(GZIP_MAGIC) {
        ("gzip", Box::new(flate2::read::MultiGzDecoder::new(plain)))
    } else if head.starts_with(ZSTD_MAGIC) {
        ("zstd", Box::new(zstd::Decoder::new(plain)?))
    } else if head.starts_with(XZ_MAGIC) {
        let decoder = liblzma::read::XzDecoder::new_multi_decoder(plain);
        ("xz", Box::new(decoder))
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
    format: &'static str,
    /// Octets that the decoder has taken.
    read: Arc<AtomicU64>,
    cancel: &'c AtomicBool,
}

impl Read for Decompressed<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        check(self.cancel)?;
        self.decoder.read(octets).map_err(|source| {
            if source.kind() == io::ErrorKind::Interrupted
                || source.kind() == io::ErrorKind::OutOfMemory
            {
                return source;
            }
            let kind = source.kind();
            match source.downcast::<OfTheFile>() {
                Ok(OfTheFile(source)) => source,
                Err(source) => io::Error::new(
                    kind,
                    Undecodable {
                        format: self.format,
                        before: self.read.load(Ordering::Relaxed),
                        why: source.to_string(),
                    },
                ),
            }
        })
    }
}

/// Compressed data that are not what they should be.
#[derive(Debug)]
struct Undecodable {
    format: &'static str,
    /// Octets of the file that the decoder had taken; the damage is before them.
    before: u64,
    why: String,
}

impl fmt::Display for Undecodable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            format,
            before,
            why,
        } = self;
        write!(
            formatter,
            "its {format} data are damaged before octet {before} of the file ({why})"
        )
    }
}

impl std::error::Error for Undecodable {}

/// What decompression says of `error`, if it comes from there.
pub fn fault_of(error: &io::Error) -> Option<Fault> {
    let said = error.get_ref()?.downcast_ref::<Undecodable>()?;
    Some(match error.kind() {
        io::ErrorKind::UnexpectedEof => Fault::CutOff,
        _ => Fault::Damaged(said.to_string()),
    })
}

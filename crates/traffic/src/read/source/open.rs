//! Opening captures: files, pipes and standard input, plain or compressed, of any format.

use super::pcap::{Pcap, is_pcap};
use super::pcapng::{Pcapng, is_pcapng};
use super::{Fault, Source};
use crate::error::TrafficError;
use crate::read::cdns::{Cdns, is_cdns};
use crate::read::dnstap::{Dnstap, is_dnstap};
use dnsrig_stream::input::{decompressed, is_cancellation, is_compressed, open_plain, with_head};
use std::io::{self, BufReader, Read};
use std::path::Path;

pub use dnsrig_stream::input::Watch;

/// Octets by which the format is told.
const MAGIC_LEN: usize = 12;
/// What a Parquet file begins with (<https://parquet.apache.org/docs/file-format/>).
const PARQUET: &[u8] = b"PAR1";
/// Octets that sources of messages read at once, which take few at a time.
const BUFFER_LEN: usize = 1 << 18;

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
    let file = open_plain(path, watch)?;
    Ok(Opened {
        is_regular: file.is_regular(),
        source: source_of(decompressed(file, watch.cancel)?)?,
    })
}

/// Reads captures of any format, not compressed, from `input`.
///
/// # Errors
/// A [`Fault`].
pub fn source_of<'c>(input: impl Read + Send + 'c) -> Result<Box<dyn Source + 'c>, Fault> {
    let (head, input) = with_head(input, MAGIC_LEN)?;
    let Some(magic) = head.first_chunk::<4>() else {
        let why = match head.is_empty() {
            true => {
                "is no capture: there is nothing in it; if it comes from another program, that may have failed"
            }
            false => "is no capture: it has fewer than four octets",
        };
        return Err(Fault::NotACapture(why.to_owned()));
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
        if head.first() == Some(&b'{') {
            let why = "is JSON, and no capture; statistics of 'dnsrig traffic stats --json' are for --merge, and for --compare where they are not compressed";
            return Err(Fault::NotACapture(why.to_owned()));
        }
        let why = "is text, and no capture; if it is a query file, 'dnsrig traffic convert --from text' makes a capture of it";
        return Err(Fault::NotACapture(why.to_owned()));
    }
    if head.starts_with(PARQUET) {
        let why = "is Parquet, and no capture; 'dnsrig traffic convert --from parquet' makes a capture of it";
        return Err(Fault::NotACapture(why.to_owned()));
    }
    if is_compressed(&head) {
        let why =
            "is compressed twice; decompress it once, as with 'zstd -dc', 'gzip -dc' or 'xz -dc'";
        return Err(Fault::NotACapture(why.to_owned()));
    }
    let [a, b, c, d] = magic;
    Err(Fault::NotACapture(format!(
        "is no capture of a known format: it begins with {a:02x} {b:02x} {c:02x} {d:02x}; if Wireshark reads it, 'editcap -F pcapng' converts it"
    )))
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
            why: format!(
                "is damaged at its first packet: {why}; give another copy, or capture anew"
            ),
        },
        Fault::CutOff => TrafficError::NotACapture {
            file,
            why: "ends before its first packet does; give the whole file".to_owned(),
        },
    }
}

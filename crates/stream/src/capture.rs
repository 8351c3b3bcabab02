//! Captures: the queries of a pcap or pcapng file as a timed stream.
//!
//! A file goes through [`packet`] (pcap and pcapng), [`link`], [`ip`] and [`tcp`]; each can be used alone. [`read`] takes
//! queries out of all of it: UDP datagrams and TCP data to a DNS port that hold a message with QR=0 and opcode QUERY.

mod clients;
mod dns;
mod form;
pub mod ip;
pub mod link;
pub mod merged;
mod options;
pub mod packet;
mod pcap;
mod pcapng;
mod queries;
mod summary;
pub mod tcp;
mod window;

pub use options::CaptureOptions;
pub use packet::{CapturedPacket, PacketReader, ReadFault};
pub use summary::{CaptureSummary, MessagesLeftOut, PacketsLeftOut, TcpSummary};

use crate::error::StreamError;
use crate::input::{Watch, failure, open};
use crate::stream::QueryStream;
use queries::CapturedQueries;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Reads the queries of the capture at `path` (`-` is standard input; gzip, zstd and xz are decompressed).
///
/// The stream is in memory; beside it, reading takes a few MiB, and at most 100 MiB more for TCP connections. If times go
/// backwards, the queries are sorted, which takes the stream's memory a second time.
///
/// # Errors
/// [`StreamError::Read`], [`StreamError::NotACapture`], [`StreamError::DamagedCapture`] with the packet's number,
/// [`StreamError::NoQueries`], [`StreamError::ClockJump`], or [`StreamError::Interrupted`] once `cancel` is set.
pub fn read(
    path: &Path,
    options: &CaptureOptions,
    cancel: &AtomicBool,
) -> Result<(QueryStream, CaptureSummary), StreamError> {
    let input = open(path, Watch::uncounted(cancel)).map_err(|source| failure(path, source))?;
    let mut packets = 0;
    let (stream, summary) =
        read_from(input, options, &mut packets).map_err(|fault| match fault {
            ReadFault::Io(source) => failure(path, source),
            ReadFault::NotACapture(why) => StreamError::NotACapture {
                file: path.to_owned(),
                why,
            },
            ReadFault::Damaged(why) => StreamError::DamagedCapture {
                file: path.to_owned(),
                packet: packets + 1,
                why,
            },
            ReadFault::CutOff => StreamError::NotACapture {
                file: path.to_owned(),
                why: "is no capture: it ends before its first packet".to_owned(),
            },
        })?;
    if stream.is_empty() {
        let file = path.to_owned();
        return Err(match summary.packets == 0 && summary.ends_inside_packet {
            true => StreamError::NotACapture {
                file,
                why: "is cut off: it ends in its header or inside its first packet; give the whole file"
                    .to_owned(),
            },
            false => StreamError::NoQueries {
                file,
                found: summary.to_string(),
                ports: options.ports.clone(),
            },
        });
    }
    if let Some(jump) = summary.clock_jump {
        return Err(StreamError::ClockJump {
            file: path.to_owned(),
            place: "packet",
            jump,
            advice: "leave those packets out, such as with 'editcap -A START -B STOP', or correct their times with 'editcap -t SECONDS'",
        });
    }
    Ok((stream, summary))
}

/// Reads the queries of a capture from `input`, which is not decompressed; `packets` counts the packets read, also when
/// there is an error.
///
/// # Errors
/// A [`ReadFault`]; a file that ends inside a packet is none, as what is before it can be used.
pub fn read_from(
    input: impl Read,
    options: &CaptureOptions,
    packets: &mut u64,
) -> Result<(QueryStream, CaptureSummary), ReadFault> {
    let mut reader = PacketReader::new(input)?;
    let mut queries = CapturedQueries::new(options);
    loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                *packets += 1;
                if !queries.packet(&packet)? {
                    break;
                }
            }
            Ok(None) => break,
            Err(ReadFault::CutOff) => {
                queries.ends_inside_packet();
                break;
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(queries.finish()?)
}

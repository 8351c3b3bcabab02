//! The pcap file format (draft-ietf-opsawg-pcap).

use super::packet::{ByteOrder, CapturedPacket, MAX_LEN, ReadFault};
use super::window::Window;
use std::io::Read;

/// The first four octets of a file with times in microseconds, in the order of a big-endian machine.
const MICROSECONDS: [u8; 4] = [0xA1, 0xB2, 0xC3, 0xD4];
/// The same with times in nanoseconds.
const NANOSECONDS: [u8; 4] = [0xA1, 0xB2, 0x3C, 0x4D];
/// Octets of the file's header after the first four.
const FILE_HEADER_LEN: usize = 20;
const PACKET_HEADER_LEN: usize = 16;

/// Reads a pcap file.
#[derive(Debug)]
pub struct PcapReader<R> {
    window: Window<R>,
    order: ByteOrder,
    /// Nanoseconds in one unit of the fraction of a second.
    fraction_ns: i64,
    link_type: u16,
}

/// What a file is that begins with `magic`, and what to do.
fn foreign(magic: [u8; 4]) -> String {
    let kind = match &magic {
        b"PAR1" => "Parquet",
        // The first control frame of Frame Streams.
        [0, 0, 0, 0] => "dnstap, as it seems",
        // An array of three, or of any number; then "C-DNS".
        [0x83 | 0x9F, 0x65, b'C', b'-'] => "C-DNS",
        [a, b, c, d] => {
            return format!(
                "is no capture in pcap or pcapng format: it begins with {a:02x} {b:02x} {c:02x} {d:02x}; if Wireshark reads it, 'editcap -F pcapng' converts it"
            );
        }
    };
    format!(
        "is no capture in pcap or pcapng format, but {kind}: 'dnsrig traffic convert' makes a capture of it"
    )
}

impl<R: Read> PcapReader<R> {
    /// Reads the rest of the file's header, of which `magic` has been read.
    pub(super) fn new(mut window: Window<R>, magic: [u8; 4]) -> Result<Self, ReadFault> {
        let mut swapped = magic;
        swapped.reverse();
        let (order, fraction_ns) = match (magic, swapped) {
            (MICROSECONDS, _) => (ByteOrder::Big, 1000),
            (NANOSECONDS, _) => (ByteOrder::Big, 1),
            (_, MICROSECONDS) => (ByteOrder::Little, 1000),
            (_, NANOSECONDS) => (ByteOrder::Little, 1),
            _ => {
                return Err(ReadFault::NotACapture(foreign(magic)));
            }
        };
        let header = window.take(FILE_HEADER_LEN)?.ok_or_else(|| {
            ReadFault::NotACapture("is no capture: it ends in the header of a pcap file".to_owned())
        })?;
        Ok(Self {
            order,
            fraction_ns,
            // The upper 16 bits tell the length of a frame check sequence.
            link_type: order.u32(header, 16) as u16,
            window,
        })
    }

    pub(super) fn next_packet(&mut self) -> Result<Option<CapturedPacket<'_>>, ReadFault> {
        let order = self.order;
        let Some(header) = self.window.take(PACKET_HEADER_LEN)? else {
            return match self.window.is_at_end()? {
                true => Ok(None),
                false => Err(ReadFault::CutOff),
            };
        };
        let (seconds, fraction) = (order.u32(header, 0), order.u32(header, 4));
        let (captured, original) = (order.u32(header, 8), order.u32(header, 12));
        if captured as usize > MAX_LEN {
            return Err(ReadFault::Damaged(format!(
                "its length is said to be {captured} octets"
            )));
        }
        let octets = self
            .window
            .take(captured as usize)?
            .ok_or(ReadFault::CutOff)?;
        Ok(Some(CapturedPacket {
            time_ns: Some(
                i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.fraction_ns,
            ),
            link_type: self.link_type,
            octets,
            is_cut: original > captured,
        }))
    }
}

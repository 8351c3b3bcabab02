//! The pcap file format (draft-ietf-opsawg-pcap).

use super::super::ChunkBuffer;
use super::super::buffer::PacketAt;
use super::filling::{ByteOrder, Filling, Item};
use super::{Fault, MAX_PACKET_LEN, Source};
use std::io::Read;

/// The first four octets of a file with times in microseconds, in the order of a big-endian machine.
const MICROSECONDS: [u8; 4] = [0xA1, 0xB2, 0xC3, 0xD4];
/// The same with times in nanoseconds.
const NANOSECONDS: [u8; 4] = [0xA1, 0xB2, 0x3C, 0x4D];
/// The version since 1998; before it, packets had other headers.
const MAJOR_VERSION: u16 = 2;
const FILE_HEADER_LEN: usize = 24;
const PACKET_HEADER_LEN: usize = 16;

/// Reads a pcap file.
pub struct Pcap<R> {
    filling: Filling<R>,
    order: ByteOrder,
    /// Nanoseconds in one unit of the fraction of a second.
    fraction_ns: i64,
    link_type: u16,
    packets: u64,
}

/// The byte order of a file that begins with `magic`, and nanoseconds in one unit of its fraction of a second; `None` if it is
/// no pcap file.
fn order_of(magic: [u8; 4]) -> Option<(ByteOrder, i64)> {
    let [a, b, c, d] = magic;
    [(magic, ByteOrder::Big), ([d, c, b, a], ByteOrder::Little)]
        .into_iter()
        .find_map(|(magic, order)| match magic {
            MICROSECONDS => Some((order, 1000)),
            NANOSECONDS => Some((order, 1)),
            _ => None,
        })
}

/// Whether a file that begins with `magic` is a pcap file.
pub fn is_pcap(magic: [u8; 4]) -> bool {
    order_of(magic).is_some()
}

impl<R: Read> Pcap<R> {
    /// Reads the file's header from `input`.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn new(input: R) -> Result<Self, Fault> {
        let mut filling = Filling::new(input);
        let mut header = [0; FILE_HEADER_LEN];
        filling.header(&mut header).map_err(|fault| match fault {
            Fault::CutOff => {
                Fault::NotACapture("is no capture: it ends in the header of a pcap file".to_owned())
            }
            fault => fault,
        })?;
        let [a, b, c, d, .., w, x, y, z] = header;
        let (order, fraction_ns) = order_of([a, b, c, d])
            .ok_or_else(|| Fault::NotACapture("is no pcap file".to_owned()))?;
        let [major, minor] =
            [[header[4], header[5]], [header[6], header[7]]].map(|at| order.u16(&at));
        if major != MAJOR_VERSION {
            return Err(Fault::NotACapture(format!(
                "is a pcap file of version {major}.{minor}, and only version 2 is known; if Wireshark reads it, 'editcap -F pcapng' converts it"
            )));
        }
        Ok(Self {
            filling,
            order,
            fraction_ns,
            // The upper 16 bits tell the length of a frame check sequence.
            link_type: order.u32(&[w, x, y, z]) as u16,
            packets: 0,
        })
    }
}

impl<R: Read + Send> Source for Pcap<R> {
    fn format(&self) -> &'static str {
        "pcap"
    }

    fn fill(&mut self, chunk: &mut ChunkBuffer) -> Result<(), Fault> {
        let Self {
            filling,
            order,
            fraction_ns,
            link_type,
            packets: number,
        } = self;
        filling.fill(chunk, |octets, at, packets| {
            let Some(header) = octets[at..].first_chunk::<PACKET_HEADER_LEN>() else {
                return Ok(Item::Needs(PACKET_HEADER_LEN));
            };
            let (fields, _) = header.as_chunks::<4>();
            let [seconds, fraction, captured, original] =
                [0, 1, 2, 3].map(|place| order.u32(&fields[place]));
            if captured as usize > MAX_PACKET_LEN {
                return Err(Fault::Damaged(format!(
                    "its length is said to be {captured} octets"
                )));
            }
            let start = at + PACKET_HEADER_LEN;
            let end = start + captured as usize;
            if end > octets.len() {
                return Ok(Item::Needs(end - at));
            }
            *number += 1;
            packets.push(PacketAt {
                time_ns: i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * *fraction_ns,
                number: *number,
                start: start as u32,
                len: captured,
                original_len: original,
                link_type: *link_type,
                file: 0,
            });
            Ok(Item::Whole(end - at))
        })
    }
}

//! The pcapng file format (draft-ietf-opsawg-pcapng).

mod interface;

use super::super::ChunkBuffer;
use super::super::buffer::PacketAt;
use super::filling::{ByteOrder, Filling, Item};
use super::{Fault, MAX_PACKET_LEN, Source};
use interface::Interface;
use std::io::Read;

/// The type of a Section Header Block, which begins the file; the same in either byte order.
const SECTION_HEADER: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// A section's first octets after type and length, in the order of a big-endian machine.
const BYTE_ORDER_MAGIC: [u8; 4] = [0x1A, 0x2B, 0x3C, 0x4D];
/// Octets of a block beside its body: type, length, and length again.
const FRAME_LEN: usize = 12;
/// Octets of a block before its body.
const BLOCK_HEADER_LEN: usize = 8;

/// Reads a pcapng file.
pub struct Pcapng<R> {
    filling: Filling<R>,
    blocks: Blocks,
}

/// What blocks so far say about those that follow.
struct Blocks {
    order: ByteOrder,
    /// The interfaces of the section so far.
    interfaces: Vec<Interface>,
    number: u64,
    without_time: u64,
    last_time_ns: i64,
}

/// Where a packet's fields stand in the body of its block.
struct PacketFields {
    interface: usize,
    timestamp: Option<u64>,
    captured: u32,
    original: u32,
    /// Where in the body its octets begin.
    data: usize,
}

/// Whether a file that begins with `magic` is a pcapng file.
pub fn is_pcapng(magic: [u8; 4]) -> bool {
    magic == SECTION_HEADER
}

impl<R: Read> Pcapng<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self {
            filling: Filling::new(input),
            blocks: Blocks {
                order: ByteOrder::Little,
                interfaces: Vec::new(),
                number: 0,
                without_time: 0,
                last_time_ns: 0,
            },
        }
    }
}

impl<R: Read + Send> Source for Pcapng<R> {
    fn format(&self) -> &'static str {
        "pcapng"
    }

    fn without_time(&self) -> u64 {
        self.blocks.without_time
    }

    fn fill(&mut self, chunk: &mut ChunkBuffer) -> Result<(), Fault> {
        let blocks = &mut self.blocks;
        self.filling.fill(chunk, |octets, at, packets| {
            blocks.item(octets, at, packets)
        })
    }
}

impl Blocks {
    /// Looks at the block that begins at `at`.
    fn item(
        &mut self,
        octets: &[u8],
        at: usize,
        packets: &mut Vec<PacketAt>,
    ) -> Result<Item, Fault> {
        let Some(header) = octets[at..].first_chunk::<FRAME_LEN>() else {
            return Ok(Item::Needs(FRAME_LEN));
        };
        let &[a, b, c, d, e, f, g, h, i, j, k, l] = header;
        let is_section = [a, b, c, d] == SECTION_HEADER;
        if is_section {
            self.begin_section([i, j, k, l])?;
        }
        let kind = self.order.u32(&[a, b, c, d]);
        let len = self.order.u32(&[e, f, g, h]) as usize;
        if len < FRAME_LEN || !len.is_multiple_of(4) {
            return Err(Fault::Damaged(format!(
                "a block is said to have {len} octets"
            )));
        }
        let is_packet = matches!(kind, ENHANCED_PACKET | SIMPLE_PACKET | OLD_PACKET);
        if is_section || !is_packet && kind != INTERFACE_DESCRIPTION {
            return Ok(Item::Skip(len as u64));
        }
        if len > MAX_PACKET_LEN {
            return Err(Fault::Damaged(format!(
                "its block is said to have {len} octets"
            )));
        }
        let Some(block) = octets.get(at..at + len) else {
            return Ok(Item::Needs(len));
        };
        let body = &block[BLOCK_HEADER_LEN..len - 4];
        if is_packet {
            self.packet(kind, body, at + BLOCK_HEADER_LEN, packets)?;
        } else {
            let interface = Interface::read(body, self.order).ok_or_else(|| {
                Fault::Damaged("an interface's description is too short".to_owned())
            })?;
            self.interfaces.push(interface);
        }
        Ok(Item::Whole(len))
    }

    /// Takes the byte order of what follows from a section's header.
    fn begin_section(&mut self, magic: [u8; 4]) -> Result<(), Fault> {
        let [a, b, c, d] = magic;
        self.order = if magic == BYTE_ORDER_MAGIC {
            ByteOrder::Big
        } else if [d, c, b, a] == BYTE_ORDER_MAGIC {
            ByteOrder::Little
        } else {
            let why = "a section's header says no byte order".to_owned();
            return Err(Fault::Damaged(why));
        };
        self.interfaces.clear();
        Ok(())
    }

    /// Adds the packet whose block has `body`, which begins at `start`.
    fn packet(
        &mut self,
        kind: u32,
        body: &[u8],
        start: usize,
        packets: &mut Vec<PacketAt>,
    ) -> Result<(), Fault> {
        let fields = PacketFields::read(kind, body, self.order, &self.interfaces)
            .ok_or_else(|| Fault::Damaged("its block is too short".to_owned()))?;
        let interface = self.interfaces.get(fields.interface).ok_or_else(|| {
            Fault::Damaged(format!(
                "its interface {} is not described",
                fields.interface
            ))
        })?;
        if fields.captured as usize > body.len() - fields.data {
            return Err(Fault::Damaged("it is longer than its block".to_owned()));
        }
        match fields.timestamp {
            Some(timestamp) => self.last_time_ns = interface.clock.time_ns(timestamp),
            None => self.without_time += 1,
        }
        self.number += 1;
        packets.push(PacketAt {
            time_ns: self.last_time_ns,
            number: self.number,
            start: (start + fields.data) as u32,
            len: fields.captured,
            original_len: fields.original,
            link_type: interface.link_type,
            file: 0,
        });
        Ok(())
    }
}

impl PacketFields {
    /// Reads the fields of a packet's block; `None` if it is too short for them.
    fn read(kind: u32, body: &[u8], order: ByteOrder, interfaces: &[Interface]) -> Option<Self> {
        if kind == SIMPLE_PACKET {
            let original = order.u32(body.first_chunk()?);
            let snap_len = interfaces.first().map_or(0, |first| first.snap_len);
            let most = if snap_len == 0 { u32::MAX } else { snap_len };
            return Some(Self {
                interface: 0,
                timestamp: None,
                captured: original.min(most),
                original,
                data: 4,
            });
        }
        let (fields, _) = body.first_chunk::<20>()?.as_chunks::<4>();
        let interface = match kind {
            // The old block has 16 bits, and after them a count of drops.
            OLD_PACKET => order.u16(body.first_chunk()?).into(),
            _ => order.u32(&fields[0]) as usize,
        };
        let [high, low] = [1, 2].map(|place| u64::from(order.u32(&fields[place])));
        Some(Self {
            interface,
            timestamp: Some(high << 32 | low),
            captured: order.u32(&fields[3]),
            original: order.u32(&fields[4]),
            data: 20,
        })
    }
}

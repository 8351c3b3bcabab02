//! The pcapng file format (draft-ietf-opsawg-pcapng).

use super::packet::{ByteOrder, CapturedPacket, MAX_LEN, ReadFault};
use super::window::Window;
use std::io::Read;

/// The type of a Section Header Block, which begins the file; the same in either byte order.
pub(super) const SECTION_HEADER: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
const SECTION: u32 = u32::from_be_bytes(SECTION_HEADER);
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// A section's first octets after type and length, in the order of a big-endian machine.
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// Octets of a block beside its body: type, length, and length again.
const BLOCK_FRAME_LEN: u32 = 12;
const OPTION_END: u16 = 0;
const OPTION_TSRESOL: u16 = 9;
const OPTION_TSOFFSET: u16 = 14;

/// Reads a pcapng file.
#[derive(Debug)]
pub struct PcapngReader<R> {
    window: Window<R>,
    order: ByteOrder,
    /// The interfaces of the section so far.
    interfaces: Vec<Interface>,
    /// Whether the type of the next block has been read: it is that of a section.
    is_in_section_header: bool,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u16,
    /// 0 if there is no limit.
    snap_len: u32,
    clock: Clock,
}

/// How an interface's timestamps become ns since 1970.
#[derive(Clone, Copy, Debug)]
struct Clock {
    unit: Unit,
    offset_s: i64,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    /// So many ns are one unit.
    Nanoseconds(u64),
    /// So many units are one ns.
    PerNanosecond(u128),
    /// A second has two to this power of units.
    PowerOfTwo(u32),
}

/// Where a packet's fields stand in the body of its block.
struct PacketFields {
    interface: usize,
    timestamp: Option<u64>,
    captured: u32,
    original: u32,
    data: usize,
}

impl<R: Read> PcapngReader<R> {
    /// Reads the first section's header from `window`, of which the block's type has been taken.
    pub(super) fn new(window: Window<R>) -> Result<Self, ReadFault> {
        let mut reader = Self {
            window,
            order: ByteOrder::Little,
            interfaces: Vec::new(),
            is_in_section_header: false,
        };
        reader.section_header().map_err(|fault| match fault {
            ReadFault::CutOff => ReadFault::NotACapture(
                "is no capture: it ends in the header of a pcapng file".to_owned(),
            ),
            fault => fault,
        })?;
        Ok(reader)
    }

    pub(super) fn next_packet(&mut self) -> Result<Option<CapturedPacket<'_>>, ReadFault> {
        loop {
            let Some((kind, len)) = self.next_block()? else {
                return Ok(None);
            };
            match kind {
                INTERFACE_DESCRIPTION => {
                    let order = self.order;
                    let body = take_body(&mut self.window, len)?;
                    let interface = Interface::read(body, order)?;
                    self.interfaces.push(interface);
                }
                ENHANCED_PACKET | SIMPLE_PACKET | OLD_PACKET => {
                    return self.packet(kind, len).map(Some);
                }
                _ => {
                    if !self.window.skip(u64::from(len) + 4)? {
                        return Err(ReadFault::CutOff);
                    }
                }
            }
        }
    }

    /// The type of the next block and the length of its body; section headers are dealt with here.
    fn next_block(&mut self) -> Result<Option<(u32, u32)>, ReadFault> {
        loop {
            if std::mem::take(&mut self.is_in_section_header) {
                self.section_header()?;
            }
            let order = self.order;
            let Some(kind) = self.window.take(4)? else {
                return match self.window.is_at_end()? {
                    true => Ok(None),
                    false => Err(ReadFault::CutOff),
                };
            };
            let kind = order.u32(kind, 0);
            if kind == SECTION {
                self.is_in_section_header = true;
                continue;
            }
            let len = self.window.take(4)?.ok_or(ReadFault::CutOff)?;
            return Ok(Some((kind, body_len(order.u32(len, 0))?)));
        }
    }

    /// Reads a section header after its type: it says the byte order of what follows.
    fn section_header(&mut self) -> Result<(), ReadFault> {
        let header = self.window.take(8)?.ok_or(ReadFault::CutOff)?;
        self.order = match ByteOrder::Big.u32(header, 4) {
            BYTE_ORDER_MAGIC => ByteOrder::Big,
            magic if magic.swap_bytes() == BYTE_ORDER_MAGIC => ByteOrder::Little,
            _ => {
                let why = "a section's header says no byte order".to_owned();
                return Err(ReadFault::Damaged(why));
            }
        };
        let len = body_len(self.order.u32(header, 0))?;
        let Some(rest) = len.checked_sub(4) else {
            return Err(ReadFault::Damaged(
                "a section's header is too short".to_owned(),
            ));
        };
        self.interfaces.clear();
        match self.window.skip(u64::from(rest) + 4)? {
            true => Ok(()),
            false => Err(ReadFault::CutOff),
        }
    }

    fn packet(&mut self, kind: u32, len: u32) -> Result<CapturedPacket<'_>, ReadFault> {
        let body = take_body(&mut self.window, len)?;
        let fields = PacketFields::read(kind, body, self.order, &self.interfaces)
            .ok_or_else(|| ReadFault::Damaged("its block is too short".to_owned()))?;
        let interface = self.interfaces.get(fields.interface).ok_or_else(|| {
            ReadFault::Damaged(format!(
                "its interface {} is not described",
                fields.interface
            ))
        })?;
        let octets = body[fields.data..]
            .get(..fields.captured as usize)
            .ok_or_else(|| ReadFault::Damaged("it is longer than its block".to_owned()))?;
        Ok(CapturedPacket {
            time_ns: fields
                .timestamp
                .map(|timestamp| interface.clock.time_ns(timestamp)),
            link_type: interface.link_type,
            octets,
            is_cut: fields.original > fields.captured,
        })
    }
}

/// The length of a block's body, of which `len` is the length with all around it.
fn body_len(len: u32) -> Result<u32, ReadFault> {
    len.checked_sub(BLOCK_FRAME_LEN)
        .filter(|len| len.is_multiple_of(4))
        .ok_or_else(|| ReadFault::Damaged(format!("a block is said to have {len} octets")))
}

/// The body of a block, of which type and length have been taken; takes the length after it, too.
fn take_body<R: Read>(window: &mut Window<R>, len: u32) -> Result<&[u8], ReadFault> {
    if len as usize > MAX_LEN {
        return Err(ReadFault::Damaged(format!(
            "its block is said to have {len} octets"
        )));
    }
    let block = window.take(len as usize + 4)?.ok_or(ReadFault::CutOff)?;
    Ok(&block[..len as usize])
}

impl PacketFields {
    /// Reads the fields of a packet's block; `None` if it is too short for them.
    fn read(kind: u32, body: &[u8], order: ByteOrder, interfaces: &[Interface]) -> Option<Self> {
        if kind == SIMPLE_PACKET {
            let original = body.get(..4).map(|_| order.u32(body, 0))?;
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
        body.get(..20)?;
        let interface = match kind {
            // The old block has 16 bits, and after them a count of drops.
            OLD_PACKET => order.u16(body, 0).into(),
            _ => order.u32(body, 0) as usize,
        };
        let (high, low) = (order.u32(body, 4), order.u32(body, 8));
        Some(Self {
            interface,
            timestamp: Some(u64::from(high) << 32 | u64::from(low)),
            captured: order.u32(body, 12),
            original: order.u32(body, 16),
            data: 20,
        })
    }
}

impl Interface {
    fn read(body: &[u8], order: ByteOrder) -> Result<Self, ReadFault> {
        let mut options = body.get(8..).ok_or_else(|| {
            ReadFault::Damaged("an interface's description is too short".to_owned())
        })?;
        let mut clock = Clock::default();
        while let Some(header) = options.get(..4) {
            let (code, len) = (order.u16(header, 0), usize::from(order.u16(header, 2)));
            let Some(value) = options.get(4..4 + len).filter(|_| code != OPTION_END) else {
                break;
            };
            match (code, value) {
                (OPTION_TSRESOL, &[resolution]) => clock.unit = Unit::of(resolution),
                (OPTION_TSOFFSET, &[_, _, _, _, _, _, _, _]) => {
                    clock.offset_s = order.i64(value, 0);
                }
                _ => {}
            }
            options = options
                .get(4 + len.next_multiple_of(4)..)
                .unwrap_or_default();
        }
        Ok(Self {
            link_type: order.u16(body, 0),
            snap_len: order.u32(body, 4),
            clock,
        })
    }
}

impl Default for Clock {
    /// Microseconds since 1970.
    fn default() -> Self {
        Self {
            unit: Unit::Nanoseconds(1000),
            offset_s: 0,
        }
    }
}

impl Unit {
    /// Reads the value of `if_tsresol`: a negative power of 10, or of 2 if the first bit is set.
    fn of(resolution: u8) -> Self {
        let exponent = u32::from(resolution & 0x7F);
        if resolution & 0x80 != 0 {
            Self::PowerOfTwo(exponent)
        } else if exponent <= 9 {
            Self::Nanoseconds(10_u64.pow(9 - exponent))
        } else {
            // Units that are too small for a u128 are too small for a timestamp to reach one ns.
            Self::PerNanosecond(10_u128.saturating_pow(exponent - 9))
        }
    }
}

impl Clock {
    fn time_ns(self, timestamp: u64) -> i64 {
        const NS_PER_S: i128 = 1_000_000_000;
        let timestamp = i128::from(timestamp);
        let since_offset = match self.unit {
            Unit::Nanoseconds(ns) => timestamp * i128::from(ns),
            Unit::PerNanosecond(units) => {
                i128::try_from(units).map_or(0, |units| timestamp / units)
            }
            Unit::PowerOfTwo(exponent) => (timestamp * NS_PER_S).checked_shr(exponent).unwrap_or(0),
        };
        let time_ns = since_offset + i128::from(self.offset_s) * NS_PER_S;
        time_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_ns(resolution: u8, offset_s: i64, timestamp: u64) -> i64 {
        let unit = Unit::of(resolution);
        Clock { unit, offset_s }.time_ns(timestamp)
    }

    #[test]
    fn timestamps_follow_resolution_and_offset() {
        assert_eq!(
            Clock::default().time_ns(1_700_000_000_123_456),
            1_700_000_000_123_456_000
        );
        assert_eq!(time_ns(0, 0, 7), 7_000_000_000);
        assert_eq!(time_ns(9, 0, 7), 7);
        assert_eq!(time_ns(12, 0, 7_999), 7);
        assert_eq!(time_ns(127, 5, u64::MAX), 5_000_000_000);
        assert_eq!(time_ns(0x80 | 10, 0, 512), 500_000_000);
        assert_eq!(time_ns(0x80 | 127, 0, u64::MAX), 0);
        assert_eq!(time_ns(6, -3, 1), -2_999_999_000);
        assert_eq!(time_ns(0, i64::MAX, u64::MAX), i64::MAX);
        assert_eq!(time_ns(0, i64::MIN, 0), i64::MIN);
    }
}

//! Interfaces of a pcapng file, and their clocks (draft-ietf-opsawg-pcapng section 4.2).

use super::ByteOrder;

const OPTION_END: u16 = 0;
const OPTION_TSRESOL: u16 = 9;
const OPTION_TSOFFSET: u16 = 14;

/// What an Interface Description Block says.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The link type.
    pub link_type: u16,
    /// The most octets that are captured of a packet; 0 if there is no limit.
    pub snap_len: u32,
    /// How its timestamps are read.
    pub clock: Clock,
}

/// How an interface's timestamps become ns since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
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

impl Interface {
    /// Reads the body of the block; `None` if it is too short.
    pub fn read(body: &[u8], order: ByteOrder) -> Option<Self> {
        let (fixed, mut options) = body.split_first_chunk::<8>()?;
        let mut clock = Clock::default();
        while let Some((&[a, b, c, d], rest)) = options.split_first_chunk::<4>() {
            let (code, len) = (order.u16(&[a, b]), usize::from(order.u16(&[c, d])));
            let Some(value) = rest.get(..len).filter(|_| code != OPTION_END) else {
                break;
            };
            match (code, value) {
                (OPTION_TSRESOL, &[resolution]) => clock.unit = Unit::of(resolution),
                (OPTION_TSOFFSET, &[a, b, c, d, e, f, g, h]) => {
                    let octets = [a, b, c, d, e, f, g, h];
                    clock.offset_s = match order {
                        ByteOrder::Little => i64::from_le_bytes(octets),
                        ByteOrder::Big => i64::from_be_bytes(octets),
                    };
                }
                _ => {}
            }
            options = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        }
        let &[a, b, _, _, e, f, g, h] = fixed;
        Some(Self {
            link_type: order.u16(&[a, b]),
            snap_len: order.u32(&[e, f, g, h]),
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
    /// The time that `timestamp` means, in ns since 1970.
    #[inline]
    pub fn time_ns(self, timestamp: u64) -> i64 {
        const NS_PER_S: i128 = 1_000_000_000;
        if let (Unit::Nanoseconds(ns), 0) = (self.unit, self.offset_s)
            && let Some(time_ns) = timestamp.checked_mul(ns)
            && let Ok(time_ns) = i64::try_from(time_ns)
        {
            return time_ns;
        }
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
        assert_eq!(time_ns(0, 0, u64::MAX), i64::MAX);
        assert_eq!(time_ns(0, i64::MAX, u64::MAX), i64::MAX);
        assert_eq!(time_ns(0, i64::MIN, 0), i64::MIN);
    }
}

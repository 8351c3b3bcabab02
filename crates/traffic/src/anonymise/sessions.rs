//! TCP connections as they are written: every segment stays, with sequence numbers of our own, without options, and with the
//! messages that ended in it, whole and encoded anew.

use super::packets::{Packet, Way};
use crate::write::holds_time;
use crate::write::packet::{ACK, FIN, PSH, RST, SYN, TcpFields, longest_segment};
use foldhash::fast::RandomState;
use std::collections::HashMap;

const FLAGS: u8 = FIN | SYN | RST | PSH | ACK;
/// Ways in one generation; there are two, and those that are idle for long are forgotten first.
const MAX_WAYS: usize = 256 << 10;

/// The ways between clients and servers, with the sequence number that comes next on each.
#[derive(Default)]
pub struct Sessions {
    young: HashMap<Way, u32, RandomState>,
    old: HashMap<Way, u32, RandomState>,
}

impl Sessions {
    /// Appends a segment with `flags` and `data` on `way`; data that one packet cannot hold go on in a second one.
    pub fn segment(
        &mut self,
        way: Way,
        flags: u8,
        data: &[u8],
        time_ns: i64,
        output: &mut Vec<u8>,
    ) {
        if !holds_time(time_ns) {
            // Its messages are counted as left out.
            return;
        }
        let flags = flags & FLAGS;
        let acknowledged = match flags & ACK {
            0 => 0,
            _ => self.next(way.back()),
        };
        let mut sequence = match flags & SYN {
            0 => self.next(way),
            _ => 0,
        };
        let longest = longest_segment(way.source, way.destination);
        let mut rest = data;
        loop {
            let (now, later) = rest.split_at(rest.len().min(longest));
            rest = later;
            let fields = TcpFields {
                sequence,
                acknowledged,
                // The connection's end comes with its last data.
                flags: if rest.is_empty() { flags } else { flags & !FIN },
            };
            let packet = Packet::begin(way, Some(fields), output);
            output.extend_from_slice(now);
            packet.finish(time_ns, output);
            sequence = sequence.wrapping_add(now.len() as u32);
            if rest.is_empty() {
                break;
            }
        }
        let ends = u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        self.set(way, sequence.wrapping_add(ends));
    }

    /// Appends messages of which it is not known in which segment they ended.
    pub fn data(&mut self, way: Way, data: &[u8], time_ns: i64, output: &mut Vec<u8>) {
        self.segment(way, PSH | ACK, data, time_ns, output);
    }

    fn next(&self, way: Way) -> u32 {
        let known = self.young.get(&way).or_else(|| self.old.get(&way));
        // A connection whose opening was not captured goes on as if it had been.
        *known.unwrap_or(&1)
    }

    fn set(&mut self, way: Way, next: u32) {
        if self.young.len() >= MAX_WAYS {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(way, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Endpoint;

    fn numbers(records: &[u8]) -> Vec<(u32, u32, u8, usize)> {
        let mut found = Vec::new();
        let mut rest = records;
        while let Some((header, after)) = rest.split_first_chunk::<16>() {
            let len = u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize;
            let (packet, after) = after.split_at(len);
            let number = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
            found.push((number(24), number(28), packet[33], len - 40));
            rest = after;
        }
        found
    }

    #[test]
    fn numbers_of_both_ways_follow_from_what_is_written() {
        let way = Way {
            source: Endpoint::new([192, 0, 2, 1], 4096),
            destination: Endpoint::new([192, 0, 2, 2], 53),
        };
        let mut sessions = Sessions::default();
        let mut output = Vec::new();
        for (way, flags, data) in [
            (way, SYN, 0),
            (way.back(), SYN | ACK, 0),
            (way, ACK, 0),
            (way, PSH | ACK, 30),
            (way.back(), PSH | ACK | 0xC0, 70_000),
            (way, FIN | ACK, 0),
            (way.back(), FIN | ACK, 0),
            (way, ACK, 0),
        ] {
            sessions.segment(way, flags, &vec![7; data], 0, &mut output);
        }
        let longest = longest_segment(way.source, way.destination);
        let wanted = [
            (0, 0, SYN, 0),
            (0, 1, SYN | ACK, 0),
            (1, 1, ACK, 0),
            (1, 1, PSH | ACK, 30),
            (1, 31, PSH | ACK, longest),
            (1 + longest as u32, 31, PSH | ACK, 70_000 - longest),
            (31, 70_001, FIN | ACK, 0),
            (70_001, 32, FIN | ACK, 0),
            (32, 70_002, ACK, 0),
        ];
        assert_eq!(numbers(&output), wanted);
    }

    #[test]
    fn a_connection_without_its_opening_begins_after_it() {
        let way = Way {
            source: Endpoint::new([192, 0, 2, 1], 4096),
            destination: Endpoint::new([192, 0, 2, 2], 53),
        };
        let mut output = Vec::new();
        Sessions::default().data(way, b"data", 0, &mut output);
        assert_eq!(numbers(&output), [(1, 1, PSH | ACK, 4)]);
    }
}

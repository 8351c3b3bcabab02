//! Packets as they are written: pcap records of IP packets whose headers hold nothing but what is needed.
//!
//! Ethernet addresses, tags of VLANs, IP and TCP options, time to live, flow labels and identifications are not carried over.

use crate::message::Endpoint;
use crate::write::packet::{Headers, TcpFields};
use crate::write::{PACKET_HEADER_LEN, set_time};

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// Who sends it.
    pub source: Endpoint,
    /// To whom.
    pub destination: Endpoint,
}

impl Way {
    /// The way of answers.
    pub fn back(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
        }
    }
}

/// A packet that is being appended to records, its payload after [`Packet::begin`].
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    start: usize,
    headers: Headers,
}

impl Packet {
    /// Leaves room for headers, of UDP unless `tcp` says what those of TCP are, at the end of `output`.
    pub fn begin(way: Way, tcp: Option<TcpFields>, output: &mut Vec<u8>) -> Self {
        let start = output.len();
        output.resize(start + PACKET_HEADER_LEN, 0);
        let headers = Headers::begin(way.source, way.destination, tcp, output);
        Self { start, headers }
    }

    /// Takes the packet away again.
    pub fn drop_from(self, output: &mut Vec<u8>) {
        output.truncate(self.start);
    }

    /// Writes the headers before the payload, which is all that is in `output` after them. Says whether the packet can be
    /// as long as it is; if not, it is taken away.
    pub fn finish(self, time_ns: i64, output: &mut Vec<u8>) -> bool {
        if !self.headers.finish(output) {
            self.drop_from(output);
            return false;
        }
        let (header, packet) = output[self.start..].split_at_mut(PACKET_HEADER_LEN);
        let len = (packet.len() as u32).to_le_bytes();
        set_time(time_ns, header);
        header[8..12].copy_from_slice(&len);
        header[12..].copy_from_slice(&len);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    const WAY: Way = Way {
        source: Endpoint {
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            port: 4096,
        },
        destination: Endpoint {
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
            port: 53,
        },
    };

    #[test]
    fn records_tell_time_and_length() {
        let mut record = b"before".to_vec();
        let packet = Packet::begin(WAY, None, &mut record);
        record.extend_from_slice(b"payload");
        assert!(packet.finish(1_700_000_000_123_456_789, &mut record));
        let fields: Vec<u32> = record[6..22]
            .as_chunks()
            .0
            .iter()
            .map(|&field| u32::from_le_bytes(field))
            .collect();
        assert_eq!(fields, [1_700_000_000, 123_456_789, 35, 35]);
        assert_eq!(record.len(), 6 + 16 + 35);
    }

    #[test]
    fn packets_that_cannot_be_as_long_are_taken_away() {
        let mut output = vec![1];
        let packet = Packet::begin(WAY, None, &mut output);
        output.resize(70_000, 0);
        assert!(!packet.finish(0, &mut output));
        assert_eq!(output, [1]);
    }
}

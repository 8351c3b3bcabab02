//! What a chunk hands to the fold.

use crate::read::{Packet, PacketAt};
use crate::write::push_record;

/// What a chunk hands to the fold, in the order of the capture.
#[derive(Default)]
pub struct Part {
    pub octets: Vec<u8>,
    pub pieces: Vec<Piece>,
}

pub struct Piece {
    /// Where it ends in the part's octets; it begins where the one before it ends.
    pub end: usize,
    pub kind: Kind,
}

pub enum Kind {
    /// Packets as they were captured, with headers of pcap.
    Records {
        place: usize,
        link_type: u16,
        packets: u64,
    },
    /// A packet of a time that no pcap file can hold.
    OddTime { place: usize, at: PacketAt },
    /// A packet that needs those before it.
    InOrder(PacketAt),
    /// A packet that holds several UDP datagrams.
    Merged(PacketAt),
    /// A message of a format without packets.
    Bare { place: usize, at: PacketAt },
}

impl Part {
    /// Appends a packet as it was captured, for the output number `to`.
    pub fn record(&mut self, packet: &Packet<'_>, to: usize) {
        push_record(
            packet.at.time_ns,
            packet.octets,
            packet.at.original_len,
            &mut self.octets,
        );
        let end = self.octets.len();
        if let Some(last) = self.pieces.last_mut()
            && let Kind::Records {
                place,
                link_type,
                packets,
            } = &mut last.kind
            && (*place, *link_type) == (to, packet.at.link_type)
        {
            *packets += 1;
            last.end = end;
            return;
        }
        let kind = Kind::Records {
            place: to,
            link_type: packet.at.link_type,
            packets: 1,
        };
        self.pieces.push(Piece { end, kind });
    }

    /// Appends a packet for the fold to look at.
    pub fn set_aside(&mut self, packet: &Packet<'_>, kind: Kind) {
        self.octets.extend_from_slice(packet.octets);
        let end = self.octets.len();
        self.pieces.push(Piece { end, kind });
    }
}

impl Part {
    /// Takes everything out, and keeps the memory.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.pieces.clear();
    }
}

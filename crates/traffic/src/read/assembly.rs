//! What needs the packets before it: TCP connections and IP fragments.

use super::{Packet, Ports};
use crate::message::Message;
use serde::{Deserialize, Serialize};

/// What was seen of TCP to and from DNS ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCounts {
    /// Segments, those without data included.
    pub packets: u64,
    /// Connections whose opening (SYN) was captured.
    pub opened: u64,
}

/// What was put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssemblyCounts {
    /// TCP.
    pub tcp: TcpCounts,
}

/// Puts together TCP connections and fragments; memory is bounded.
#[derive(Debug, Default)]
pub struct Assembly {
    counts: AssemblyCounts,
}

impl Assembly {
    /// Takes a packet that [`super::decode`] calls [`super::Decoded::InOrder`]; messages that are whole now go to `sink`.
    pub fn packet(
        &mut self,
        packet: &Packet<'_>,
        ports: &Ports,
        sink: &mut impl FnMut(Message<'_>),
    ) {
        let _ = (packet, ports, sink);
        unimplemented!()
    }

    /// Ends everything that is open, which may give further messages to `sink`; gives what was counted.
    pub fn finish(self, sink: &mut impl FnMut(Message<'_>)) -> AssemblyCounts {
        let _ = sink;
        self.counts
    }
}

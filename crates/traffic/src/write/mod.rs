//! Writing captures, query files and the load's binary form.
//!
//! [`PcapWriter`] writes packets as they were or around messages, [`text`] lines that `dnsrig load` reads back to the same
//! octets, [`binary`] messages after their length. All go to an [`OutputFile`], which has its name only when it is complete.

pub mod binary;
pub mod link;
mod output;
pub mod packet;
mod pcap;
pub mod text;

pub use output::{OutputFile, write_error};
pub use pcap::{
    LATEST_NS, NoPacket, PACKET_HEADER_LEN, PcapWriter, file_header, holds_time, push_record,
    set_time,
};

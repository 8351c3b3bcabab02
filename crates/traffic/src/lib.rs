//! DNS traffic of any size: captures are read at disk speed, and characterised, cut, anonymised or synthesised.
//!
//! [`read`] opens captures (pcap, pcapng, dnstap, C-DNS; compressed or not) and gives their packets in chunks to all cores, or
//! their DNS messages one after the other; [`stats`] says what is in them. [`wire`] looks into a DNS message without copying it.

pub mod anonymise;
pub mod error;
pub mod message;
pub mod read;
pub mod stats;
pub mod wire;

pub use error::TrafficError;
pub use message::{Endpoint, Message, Transport};

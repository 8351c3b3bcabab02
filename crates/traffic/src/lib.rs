//! DNS traffic of any size: captures are read at disk speed, and characterised, cut, anonymised or synthesised.
//!
//! [`read`] opens captures (pcap, pcapng, dnstap, C-DNS; compressed or not) and gives their packets in chunks to all cores, or
//! their DNS messages one after the other; [`stats`] says what is in them. [`wire`] looks into a DNS message without copying it.
//! [`write`] writes captures, query files and the load's binary form. [`select`] makes streams of captures: filtered, partitioned,
//! sampled, mixed, converted, at other times. [`profile`] describes traffic in figures, [`synthesise`] makes it, and [`fit`]
//! makes such a profile of captures.

pub mod anonymise;
pub mod error;
pub mod fit;
mod memory;
pub mod message;
mod paths;
pub mod profile;
pub mod read;
pub mod select;
pub mod stats;
pub mod synthesise;
pub mod wire;
pub mod write;

pub use error::TrafficError;
pub use message::{Endpoint, Message, SentLen, Transport};

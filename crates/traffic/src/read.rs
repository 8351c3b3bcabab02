//! Captures of any size, read by all cores in bounded memory.
//!
//! A file is a [`source::Source`], which fills chunks of about half a MiB with packets. [`run`] hands chunks to threads, whose
//! parts are folded in the order of the capture; [`messages`] is the simple way to all DNS messages in order. [`decode`] tells
//! what one packet holds, and [`Assembly`] puts together what needs the packets before it: TCP and IP fragments.
//!
//! Formats that hold messages instead of packets (dnstap, C-DNS) come as packets of a link type of our own
//! ([`ChunkBuffer::push_message`]), which [`decode`] turns back into messages; so everything that reads packets reads those, too.

mod assembly;
mod buffer;
pub mod cdns;
mod decode;
pub mod dnstap;
mod in_order;
mod merged;
mod run;
pub mod source;
mod summary;

pub use assembly::{Assembly, AssemblyCounts, FragmentCounts, SessionCounts, TcpCounts};
pub use buffer::{Chunk, ChunkBuffer, LINK_TYPE_MESSAGE, Packet, PacketAt};
pub use decode::{Decoded, LeftOut, Ports, decode};
pub use in_order::messages;
pub use merged::Datagrams;
pub use run::{PerChunk, run};
pub use summary::{FileSummary, PacketCounts, ReadSummary};
pub(crate) use summary::{found, of_which};

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;

/// What is to be read, and how.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The files, read in the order of their first packets; those whose times overlap are merged. `-` is standard input.
    pub files: &'a [PathBuf],
    /// The ports of DNS servers.
    pub ports: &'a Ports,
    /// How many threads work; `None` for as many as there are processors.
    pub threads: Option<NonZeroUsize>,
    /// Once it is set, reading ends with [`crate::TrafficError::Interrupted`].
    pub cancel: &'a AtomicBool,
    /// Is told now and then how many octets of the files, as they are stored, have been read.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Reading<'_> {
    /// The files by their names, for an error about all of them.
    pub fn names(&self) -> String {
        let names = self.files.iter().map(|file| file.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }

    /// How many threads work.
    pub fn thread_count(&self) -> usize {
        let all = || thread::available_parallelism().ok();
        self.threads.or_else(all).map_or(1, NonZeroUsize::get)
    }
}

//! Chunks on all cores, folded in order.

use super::buffer::Chunk;
use super::{ReadSummary, Reading};
use crate::error::TrafficError;
use std::ops::ControlFlow;

/// What is done with every chunk, on whichever thread takes it.
pub trait PerChunk: Sync {
    /// What a thread keeps from chunk to chunk, in no order: counts that add up, memory used again. `()` for nothing.
    type Worker: Send;
    /// What a chunk hands to the fold.
    type Part: Send;

    /// The state of a thread that begins.
    fn worker(&self) -> Self::Worker;

    /// Works on one chunk.
    fn chunk(&self, worker: &mut Self::Worker, chunk: &Chunk<'_>) -> Self::Part;
}

/// Reads everything: `per_chunk` works on chunks on all cores, `fold` gets their parts one at a time in the order of the capture,
/// and ends the reading by breaking. Gives what was read, and what the threads kept.
///
/// At most a few chunks and parts for each thread are in memory.
///
/// # Errors
/// [`TrafficError::Read`], [`TrafficError::NotACapture`], [`TrafficError::DamagedCapture`], [`TrafficError::Threads`], or
/// [`TrafficError::Interrupted`]. A file that ends inside a packet is none, but said in the summary.
pub fn run<P: PerChunk>(
    reading: &Reading<'_>,
    per_chunk: &P,
    fold: impl FnMut(P::Part) -> ControlFlow<()> + Send,
) -> Result<(ReadSummary, Vec<P::Worker>), TrafficError> {
    let _ = (reading, per_chunk, fold);
    unimplemented!()
}

//! Chunks on all cores, folded in order.

use super::buffer::{Chunk, ChunkBuffer};
use super::source::{InTimeOrder, Watch};
use super::{ReadSummary, Reading};
use crate::error::TrafficError;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

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
/// [`TrafficError::Read`], [`TrafficError::NotACapture`], [`TrafficError::TooManyFiles`], [`TrafficError::Threads`], or
/// [`TrafficError::Interrupted`]. A file that ends inside a packet is none, but said in the summary.
pub fn run<P: PerChunk>(
    reading: &Reading<'_>,
    per_chunk: &P,
    fold: impl FnMut(P::Part) -> ControlFlow<()> + Send,
) -> Result<(ReadSummary, Vec<P::Worker>), TrafficError> {
    let octets = AtomicU64::new(0);
    let watch = Watch {
        cancel: reading.cancel,
        octets: &octets,
    };
    let threads = reading.thread_count();
    let shared = Shared {
        input: Mutex::new(InTimeOrder::new(reading.files, watch)?),
        queue: Mutex::new(Queue {
            next: 0,
            parts: BTreeMap::new(),
        }),
        fold: Mutex::new(fold),
        is_stopped: AtomicBool::new(false),
        most_waiting: 2 * threads,
    };
    let one = || {
        shared.work(per_chunk, &|| {
            (reading.progress)(octets.load(Ordering::Relaxed))
        })
    };
    let workers = thread::scope(|scope| {
        let others: Result<Vec<_>, _> = (1..threads)
            .map(|_| thread::Builder::new().spawn_scoped(scope, one))
            .collect();
        let others = others.map_err(|source| {
            shared.is_stopped.store(true, Ordering::Relaxed);
            TrafficError::Threads { source }
        })?;
        let own = one();
        let joined = others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        std::iter::once(own)
            .chain(joined)
            .collect::<Result<Vec<_>, _>>()
    })?;
    let input = shared.input.into_inner();
    let summary = input.unwrap_or_else(PoisonError::into_inner).summary();
    Ok((summary, workers))
}

/// What the threads share.
struct Shared<'a, Part, Fold> {
    input: Mutex<InTimeOrder<'a>>,
    queue: Mutex<Queue<Part>>,
    fold: Mutex<Fold>,
    /// Whether the fold has seen enough, or something failed.
    is_stopped: AtomicBool,
    /// Parts that may wait for the fold.
    most_waiting: usize,
}

/// Parts that wait for those before them.
struct Queue<Part> {
    next: u64,
    parts: BTreeMap<u64, Part>,
}

impl<Part: Send, Fold: FnMut(Part) -> ControlFlow<()>> Shared<'_, Part, Fold> {
    /// What one thread does until all is read.
    fn work<P: PerChunk<Part = Part>>(
        &self,
        per_chunk: &P,
        on_chunk: &impl Fn(),
    ) -> Result<P::Worker, TrafficError> {
        let mut worker = per_chunk.worker();
        let mut buffer = ChunkBuffer::default();
        while !self.is_stopped.load(Ordering::Relaxed) {
            match lock(&self.input).next(&mut buffer) {
                Ok(true) => on_chunk(),
                Ok(false) => break,
                Err(error) => {
                    self.is_stopped.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            let part = per_chunk.chunk(&mut worker, &buffer.chunk());
            self.put(buffer.chunk().number, part);
        }
        Ok(worker)
    }

    /// Hands over the part of chunk `number`, and folds what can be folded, unless another thread is at it.
    fn put(&self, number: u64, part: Part) {
        let is_crowded = {
            let mut queue = lock(&self.queue);
            queue.parts.insert(number, part);
            queue.parts.len() > self.most_waiting
        };
        loop {
            let fold = match self.fold.try_lock() {
                Ok(fold) => fold,
                // Parts come faster than they are folded: wait, so that they do not fill the memory.
                Err(TryLockError::WouldBlock) if is_crowded => lock(&self.fold),
                Err(TryLockError::WouldBlock) => return,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            };
            self.fold_waiting(fold);
            // A part that came after the last look, while the fold was still held, is nobody else's.
            if !lock(&self.queue).has_next() {
                return;
            }
        }
    }

    fn fold_waiting(&self, mut fold: MutexGuard<'_, Fold>) {
        loop {
            let Some(part) = lock(&self.queue).take_next() else {
                return;
            };
            if self.is_stopped.load(Ordering::Relaxed) {
                continue;
            }
            if fold(part).is_break() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl<Part> Queue<Part> {
    fn has_next(&self) -> bool {
        self.parts.contains_key(&self.next)
    }

    fn take_next(&mut self) -> Option<Part> {
        let part = self.parts.remove(&self.next)?;
        self.next += 1;
        Some(part)
    }
}

/// A panic on another thread goes on when that thread is joined; until then its data are only dropped.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Parts of a zone made on all cores, and written in their order.

use super::sink::{Message, Sink};
use super::{Progress, Watch};
use crate::Statistics;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};

/// Pieces of text that a worker may be ahead of the writer.
const AHEAD: usize = 8;

/// A zone's text as parts, each made alone; their order is that of the zone.
pub(super) trait Parts: Sync {
    /// How many parts there are.
    fn count(&self) -> usize;

    /// Makes part `index`; may end early once [`Sink::is_over`].
    fn make(&self, index: usize, sink: &mut Sink);
}

/// Makes all parts on `watch.threads` threads, which take turns, and gives their lines to `write` in order.
///
/// The text is the same for any number of threads, and a thread is only a few pieces of text ahead of `write`.
///
/// # Errors
/// Those of `write`, and one if the work was cancelled.
pub(super) fn run(
    parts: &dyn Parts,
    watch: &Watch,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Statistics> {
    let threads = watch.threads.get().min(parts.count().max(1));
    let cancel = watch.cancel;
    std::thread::scope(|scope| {
        let mut receivers = Vec::new();
        let mut workers = Vec::new();
        for worker in 0..threads {
            let (sender, receiver) = sync_channel(AHEAD);
            receivers.push(receiver);
            workers.push(scope.spawn(move || {
                let mut sink = Sink::new(&sender, cancel);
                for part in (worker..parts.count()).step_by(threads) {
                    if sink.is_over() {
                        break;
                    }
                    parts.make(part, &mut sink);
                    sink.part_done();
                }
                sink.counts
            }));
        }
        let written = collect(&receivers, parts.count(), watch, &mut write);
        // Workers that wait for the writer are to end.
        drop(receivers);
        let mut total = Statistics::default();
        for worker in workers {
            match worker.join() {
                Ok(counts) => add(&mut total, counts),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        written.map(|()| total)
    })
}

fn collect(
    receivers: &[Receiver<Message>],
    parts: usize,
    watch: &Watch,
    write: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut so_far = Progress::default();
    for part in 0..parts {
        loop {
            // A worker that ends early was cancelled.
            match receivers[part % receivers.len()].recv() {
                Ok(Message::Lines(lines, progress)) => {
                    watch.check()?;
                    write(&lines)?;
                    so_far.names += progress.names;
                    so_far.octets += progress.octets;
                    (watch.progress)(so_far);
                }
                Ok(Message::PartDone) => break,
                Err(_) => return Err(Watch::cancelled()),
            }
        }
    }
    watch.check()
}

fn add(total: &mut Statistics, part: Statistics) {
    total.records += part.records;
    total.rrsets += part.rrsets;
    total.names += part.names;
    total.delegations += part.delegations;
    total.signed_delegations += part.signed_delegations;
    total.glue_records += part.glue_records;
    total.wildcards += part.wildcards;
    total.empty_non_terminals += part.empty_non_terminals;
    for (rtype, records) in part.types {
        *total.types.entry(rtype).or_default() += records;
    }
}

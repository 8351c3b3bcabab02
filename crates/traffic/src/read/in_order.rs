//! The simple way: all DNS messages, one after the other.

use super::buffer::{Chunk, ChunkBuffer};
use super::source::{InTimeOrder, Watch};
use super::{Assembly, Datagrams, Decoded, PacketCounts, Ports, ReadSummary, Reading, decode};
use crate::error::TrafficError;
use crate::message::Message;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Chunks that are read ahead.
const AHEAD: usize = 3;

/// Gives every DNS message of the captures to `sink` in order: of UDP, of each datagram of a packet that holds several, of TCP and of
/// fragments put together, of dnstap and C-DNS. `sink` ends the reading by breaking.
///
/// Nothing is checked but where messages begin and end: [`crate::wire::View::parse`] tells whether they are whole.
///
/// # Errors
/// Those of [`super::run`].
pub fn messages(
    reading: &Reading<'_>,
    mut sink: impl FnMut(Message<'_>) -> ControlFlow<()>,
) -> Result<ReadSummary, TrafficError> {
    let octets = AtomicU64::new(0);
    let watch = Watch {
        cancel: reading.cancel,
        octets: &octets,
    };
    let mut input = InTimeOrder::new(reading.files, watch)?;
    let (filled, to_use) = sync_channel::<ChunkBuffer>(AHEAD);
    let (used, to_fill) = sync_channel::<ChunkBuffer>(AHEAD);
    for _ in 0..AHEAD {
        // There is room for all of them.
        let _ = used.try_send(ChunkBuffer::default());
    }
    thread::scope(|scope| {
        let reader = thread::Builder::new()
            .spawn_scoped(scope, move || {
                read_ahead(&mut input, &to_fill, &filled).map(|()| input)
            })
            .map_err(|source| TrafficError::Threads { source })?;
        let mut assembly = Assembly::default();
        let mut left_out = PacketCounts::default();
        let mut flow = ControlFlow::Continue(());
        for buffer in to_use {
            (reading.progress)(octets.load(Ordering::Relaxed));
            let chunk = buffer.chunk();
            flow = messages_of(
                &chunk,
                reading.ports,
                &mut assembly,
                &mut left_out,
                &mut sink,
            );
            // The reader has gone only where all is read.
            let _ = used.try_send(buffer);
            if flow.is_break() {
                break;
            }
        }
        drop(used);
        let input = reader
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let counts = assembly.finish(&mut |message| {
            if flow.is_continue() {
                flow = sink(message);
            }
        });
        Ok(ReadSummary {
            left_out,
            assembly: counts,
            ..input.summary()
        })
    })
}

/// Fills the chunks that come, until everything is read or nobody wants more.
fn read_ahead(
    input: &mut InTimeOrder<'_>,
    to_fill: &Receiver<ChunkBuffer>,
    filled: &SyncSender<ChunkBuffer>,
) -> Result<(), TrafficError> {
    for mut buffer in to_fill {
        if !input.next(&mut buffer)? || filled.send(buffer).is_err() {
            break;
        }
    }
    Ok(())
}

fn messages_of(
    chunk: &Chunk<'_>,
    ports: &Ports,
    assembly: &mut Assembly,
    left_out: &mut PacketCounts,
    sink: &mut impl FnMut(Message<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for packet in chunk.iter() {
        match decode(&packet, ports) {
            Decoded::Message(message) => Datagrams::or_itself(message).try_for_each(&mut *sink)?,
            Decoded::LeftOut(why) => left_out.count(why),
            Decoded::InOrder => {
                let mut flow = ControlFlow::Continue(());
                assembly.packet(&packet, ports, &mut |message| {
                    if flow.is_continue() {
                        flow = sink(message);
                    }
                });
                flow?;
            }
        }
    }
    ControlFlow::Continue(())
}

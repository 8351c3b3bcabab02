//! The queries of one session: a stream each, in order (RFC 9250 section 4.2).

use super::frames;
use crate::answer::Malformed;
use crate::refusal::Refusal;
use crate::transport::Events;
use bytes::Bytes;
use quinn_proto::{Connection, Dir, ReadError, StreamEvent, StreamId, VarInt, WriteError};
use std::collections::VecDeque;

/// Error codes of RFC 9250 section 4.3.
pub const DOQ_NO_ERROR: VarInt = VarInt::from_u32(0);
const DOQ_PROTOCOL_ERROR: VarInt = VarInt::from_u32(2);
const DOQ_REQUEST_CANCELLED: VarInt = VarInt::from_u32(3);

/// Octets of an answer in flight, at most: one message with its length.
const LONGEST_ANSWER: usize = 2 + u16::MAX as usize;

/// Whom to tell what became of a query.
pub struct Teller<'a, E> {
    /// Who asked.
    pub client: usize,
    /// When the datagram arrived that is being worked on.
    pub received_ns: u64,
    /// Room for an answer whose ID is replaced.
    pub answer: &'a mut Vec<u8>,
    /// The accounting.
    pub events: &'a mut E,
}

impl<E: Events> Teller<'_, E> {
    /// The datagram refused a query.
    pub fn refuse(&mut self, id: u16, refusal: Refusal) {
        self.events
            .refused(self.client, id, refusal, self.received_ns);
    }
}

/// A query and its answer on their way.
#[derive(Debug)]
struct Stream {
    /// The engine's ID of the query.
    id: u16,
    /// An answer is awaited.
    live: bool,
    /// What flow control has not let out yet.
    unsent: Bytes,
    /// What has come of an answer that is longer than a datagram.
    partial: Vec<u8>,
}

/// The client's streams of one connection.
#[derive(Debug, Default)]
pub struct Streams {
    /// Number of the first one in `open`.
    first: u64,
    /// Those from the oldest that is still of interest on.
    open: VecDeque<Stream>,
    /// The next stream, if the server permits one more.
    spare: Option<StreamId>,
    /// Streams that flow control holds up.
    held_up: usize,
    /// An answer has come, or a query been refused.
    pub used: bool,
}

impl Streams {
    /// Whether a query can be sent now.
    pub fn has_room(&self) -> bool {
        self.spare.is_some() && self.held_up == 0
    }

    /// Looks whether the server permits another stream.
    pub fn look_for_room(&mut self, connection: &mut Connection) {
        if self.spare.is_none() {
            self.spare = connection.streams().open(Dir::Bi);
        }
    }

    /// Sends a query, with its length before it; gives the number of its stream, or `None` without room.
    pub fn send(&mut self, connection: &mut Connection, id: u16, octets: Bytes) -> Option<u64> {
        let stream_id = self.spare.take()?;
        let mut stream = Stream {
            id,
            live: true,
            unsent: octets,
            partial: Vec::new(),
        };
        write(connection, stream_id, &mut stream.unsent);
        self.held_up += usize::from(!stream.unsent.is_empty());
        self.open.push_back(stream);
        self.look_for_room(connection);
        Some(stream_id.index())
    }

    fn get(&mut self, number: u64) -> Option<&mut Stream> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.open.get_mut(place).filter(|stream| stream.live)
    }

    /// Nothing more is expected of a stream.
    fn end(&mut self, number: u64) {
        if let Some(stream) = self.get(number) {
            stream.live = false;
            stream.partial = Vec::new();
            let was_held_up = !std::mem::take(&mut stream.unsent).is_empty();
            self.held_up -= usize::from(was_held_up);
        }
        while self.open.front().is_some_and(|stream| !stream.live) {
            self.open.pop_front();
            self.first += 1;
        }
    }

    /// Gives up a query (RFC 9250 section 4.3.1). Says whether a part of its answer had come.
    pub fn cancel(&mut self, connection: &mut Connection, number: u64) -> bool {
        let Some(stream) = self.get(number) else {
            return false;
        };
        let has_begun = !stream.partial.is_empty();
        let is_held_up = !stream.unsent.is_empty();
        self.abandon(connection, number, is_held_up, DOQ_REQUEST_CANCELLED);
        has_begun
    }

    /// Tells the server to stop answering, and that the query will not be completed if it `is_held_up`.
    fn abandon(
        &mut self,
        connection: &mut Connection,
        number: u64,
        is_held_up: bool,
        code: VarInt,
    ) {
        let stream_id = StreamId::new(connection.side(), Dir::Bi, number);
        // A stream that is closed already needs neither.
        let _ = connection.recv_stream(stream_id).stop(code);
        if is_held_up {
            let _ = connection.send_stream(stream_id).reset(code);
        }
        self.end(number);
    }

    /// Does what an event of QUIC asks for.
    pub fn handle<E: Events>(
        &mut self,
        connection: &mut Connection,
        event: StreamEvent,
        teller: &mut Teller<'_, E>,
    ) {
        match event {
            StreamEvent::Readable { id } => self.read(connection, id, teller),
            StreamEvent::Writable { id } => self.write_on(connection, id),
            StreamEvent::Stopped { id, error_code } => {
                self.stopped(connection, id, error_code, teller);
            }
            StreamEvent::Available { dir: Dir::Bi } => self.look_for_room(connection),
            StreamEvent::Available { dir: Dir::Uni }
            | StreamEvent::Opened { .. }
            | StreamEvent::Finished { .. } => {}
        }
    }

    fn write_on(&mut self, connection: &mut Connection, stream_id: StreamId) {
        if let Some(stream) = self.get(stream_id.index())
            && !stream.unsent.is_empty()
        {
            write(connection, stream_id, &mut stream.unsent);
            let is_out = stream.unsent.is_empty();
            self.held_up -= usize::from(is_out);
        }
    }

    /// The server does not want the rest of a query. Some servers say so, without an error, when they have read the
    /// message but not the end of the stream, and answer all the same.
    fn stopped<E: Events>(
        &mut self,
        connection: &mut Connection,
        stream_id: StreamId,
        code: VarInt,
        teller: &mut Teller<'_, E>,
    ) {
        let Some(stream) = self.get(stream_id.index()) else {
            return;
        };
        let (id, is_held_up) = (stream.id, !stream.unsent.is_empty());
        if code == DOQ_NO_ERROR && !is_held_up {
            return;
        }
        self.used = true;
        self.abandon(
            connection,
            stream_id.index(),
            is_held_up,
            DOQ_REQUEST_CANCELLED,
        );
        teller.refuse(id, Refusal::StreamReset);
    }

    fn read<E: Events>(
        &mut self,
        connection: &mut Connection,
        stream_id: StreamId,
        teller: &mut Teller<'_, E>,
    ) {
        let Some(stream) = self.get(stream_id.index()) else {
            return;
        };
        let mut received = connection.recv_stream(stream_id);
        let Ok(mut chunks) = received.read(true) else {
            return;
        };
        // An answer that fits one datagram, as nearly all do, is not copied.
        let mut whole = Bytes::new();
        let stop = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) if stream.partial.is_empty() && whole.is_empty() => {
                    whole = chunk.bytes;
                }
                Ok(Some(chunk)) => {
                    stream
                        .partial
                        .extend_from_slice(&std::mem::take(&mut whole));
                    stream.partial.extend_from_slice(&chunk.bytes);
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let _ = chunks.finalize();
        match stop {
            None => {
                let octets = if stream.partial.is_empty() {
                    &whole[..]
                } else {
                    &stream.partial
                };
                frames::deliver(octets, stream.id, teller);
            }
            Some(ReadError::Blocked) => {
                stream.partial.extend_from_slice(&whole);
                if stream.partial.len() > LONGEST_ANSWER {
                    let (id, is_held_up) = (stream.id, !stream.unsent.is_empty());
                    self.used = true;
                    self.abandon(
                        connection,
                        stream_id.index(),
                        is_held_up,
                        DOQ_PROTOCOL_ERROR,
                    );
                    teller.events.malformed(teller.client, Malformed::Cut);
                    teller.refuse(id, Refusal::ProtocolError);
                }
                return;
            }
            Some(ReadError::Reset(_)) => {
                teller.refuse(stream.id, Refusal::StreamReset);
            }
        }
        self.used = true;
        self.end(stream_id.index());
    }

    /// The connection has ended: tells of answers that it cut.
    pub fn tell_cut<E: Events>(&self, client: usize, events: &mut E) {
        for _ in self.open.iter().filter(|stream| !stream.partial.is_empty()) {
            events.malformed(client, Malformed::Cut);
        }
    }
}

/// Writes as much as flow control lets out, and the end of the stream if that is all.
fn write(connection: &mut Connection, stream_id: StreamId, unsent: &mut Bytes) {
    let mut stream = connection.send_stream(stream_id);
    while !unsent.is_empty() {
        match stream.write_chunks(std::slice::from_mut(unsent)) {
            Ok(_) => {}
            // It says when there is room again.
            Err(WriteError::Blocked) => return,
            // The server wants no more of it, which comes as an event of its own.
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return,
        }
    }
    let _ = stream.finish();
}

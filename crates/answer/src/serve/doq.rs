//! DNS over QUIC (RFC 9250): each query on a stream of its own.

use super::workspace::{LENGTH_LEN, RunningTransfer, Workspace};
use crate::query::{HEADER_LEN, has_tcp_keepalive};
use crate::{Reply, Transport};
use quinn_proto::{Connection, Dir, ReadError, StreamEvent, StreamId, VarInt, WriteError};
use std::collections::HashMap;

/// Octets of incomplete queries that a connection may have, over all streams.
const INCOMING_LIMIT: usize = 1 << 20;

/// Error codes of RFC 9250 section 8.4.
pub(super) const NO_ERROR: VarInt = VarInt::from_u32(0);
const PROTOCOL_ERROR: VarInt = VarInt::from_u32(2);
const REQUEST_CANCELLED: VarInt = VarInt::from_u32(3);
const EXCESSIVE_LOAD: VarInt = VarInt::from_u32(4);

/// Reads what a client sent on a stream, up to its end: one query after its length (RFC 9250 section 4.2), with message ID 0
/// (section 4.2.1). `None` is a protocol error.
pub fn read_stream_query(octets: &[u8]) -> Option<&[u8]> {
    let (length, query) = octets.split_first_chunk::<LENGTH_LEN>()?;
    let is_whole = query.len() == usize::from(u16::from_be_bytes(*length));
    let header: &[u8; HEADER_LEN] = query.first_chunk()?;
    (is_whole && header.starts_with(&[0, 0])).then_some(query)
}

/// Whether a stream has more octets than the one query that belongs there.
fn is_too_long(octets: &[u8]) -> bool {
    octets
        .split_first_chunk::<LENGTH_LEN>()
        .is_some_and(|(length, query)| query.len() > usize::from(u16::from_be_bytes(*length)))
}

/// The open streams of one connection.
#[derive(Default)]
pub(super) struct Streams {
    open: HashMap<StreamId, Stream>,
    /// Octets of the streams that receive.
    received: usize,
    /// Memory for the next query.
    spare: Vec<u8>,
}

enum Stream {
    /// A query that is not complete.
    Receiving(Vec<u8>),
    /// A response that waits for the client.
    Sending(Sending),
}

/// Octets to send, those before `sent` are, and the zone transfer that goes on after them.
struct Sending {
    octets: Vec<u8>,
    sent: usize,
    transfer: Option<RunningTransfer>,
}

impl Streams {
    /// Does what an event asks for; an error is the code to close the connection with.
    pub fn handle(
        &mut self,
        quic: &mut Connection,
        event: StreamEvent,
        workspace: &mut Workspace<'_>,
    ) -> Result<(), VarInt> {
        match event {
            StreamEvent::Opened { dir: Dir::Bi } => {
                while let Some(id) = quic.streams().accept(Dir::Bi) {
                    self.receive(quic, id, workspace)?;
                }
            }
            StreamEvent::Readable { id } => self.receive(quic, id, workspace)?,
            StreamEvent::Writable { id } => {
                if let Some(Stream::Sending(sending)) = self.open.remove(&id) {
                    self.send(quic, id, sending, workspace);
                }
            }
            StreamEvent::Stopped { id, .. } => {
                self.forget(id);
                reset(quic, id);
            }
            StreamEvent::Opened { dir: Dir::Uni }
            | StreamEvent::Finished { .. }
            | StreamEvent::Available { .. } => {}
        }
        Ok(())
    }

    fn receive(
        &mut self,
        quic: &mut Connection,
        id: StreamId,
        workspace: &mut Workspace<'_>,
    ) -> Result<(), VarInt> {
        let mut octets = match self.open.remove(&id) {
            None => std::mem::take(&mut self.spare),
            Some(Stream::Receiving(octets)) => {
                self.received -= octets.len();
                octets
            }
            Some(sending @ Stream::Sending(_)) => {
                self.open.insert(id, sending);
                return Ok(());
            }
        };
        match read(quic, id, &mut octets)? {
            Received::Part => {
                self.received += octets.len();
                self.open.insert(id, Stream::Receiving(octets));
                if self.received > INCOMING_LIMIT {
                    return Err(EXCESSIVE_LOAD);
                }
                return Ok(());
            }
            Received::Whole => self.answer(quic, id, &octets, workspace)?,
            Received::GivenUp => reset(quic, id),
            Received::Closed => {}
        }
        octets.clear();
        self.spare = octets;
        Ok(())
    }

    fn answer(
        &mut self,
        quic: &mut Connection,
        id: StreamId,
        octets: &[u8],
        workspace: &mut Workspace<'_>,
    ) -> Result<(), VarInt> {
        let query = read_stream_query(octets).ok_or(PROTOCOL_ERROR)?;
        // RFC 9250 section 5.5.2 forbids the option, and section 4.3.3 says what follows.
        if has_tcp_keepalive(query, &mut workspace.scratch.name) {
            return Err(PROTOCOL_ERROR);
        }
        match workspace.answer(query, Transport::Quic) {
            Reply::Nothing => return Err(PROTOCOL_ERROR),
            Reply::Message { len, .. } => {
                let response = workspace.framed(len);
                let sent = match quic.send_stream(id).write(response) {
                    Ok(sent) if sent == response.len() => {
                        finish(quic, id);
                        return Ok(());
                    }
                    Ok(sent) => sent,
                    Err(_) => 0,
                };
                let sending = Sending {
                    octets: response[sent..].to_vec(),
                    sent: 0,
                    transfer: None,
                };
                self.send(quic, id, sending, workspace);
            }
            Reply::Transfer(transfer) => {
                let sending = Sending {
                    octets: Vec::new(),
                    sent: 0,
                    transfer: Some(workspace.begin(transfer)),
                };
                self.send(quic, id, sending, workspace);
            }
        }
        Ok(())
    }

    /// Sends until all is sent or the client has to read first.
    fn send(
        &mut self,
        quic: &mut Connection,
        id: StreamId,
        mut sending: Sending,
        workspace: &mut Workspace<'_>,
    ) {
        loop {
            let rest = &sending.octets[sending.sent..];
            if !rest.is_empty() {
                match quic.send_stream(id).write(rest) {
                    Ok(sent) => sending.sent += sent,
                    Err(WriteError::Blocked) => {
                        self.open.insert(id, Stream::Sending(sending));
                        return;
                    }
                    Err(WriteError::Stopped(_)) => return reset(quic, id),
                    Err(WriteError::ClosedStream) => return,
                }
                continue;
            }
            let next = sending.transfer.as_mut();
            let Some(len) = next.and_then(|transfer| workspace.next_of(transfer)) else {
                return finish(quic, id);
            };
            sending.octets.clear();
            sending.octets.extend_from_slice(workspace.framed(len));
            sending.sent = 0;
        }
    }

    fn forget(&mut self, id: StreamId) {
        if let Some(Stream::Receiving(octets)) = self.open.remove(&id) {
            self.received -= octets.len();
        }
    }
}

/// How much of a query has come.
enum Received {
    Part,
    Whole,
    /// The client does not want it answered.
    GivenUp,
    /// It was read before.
    Closed,
}

/// Appends what a stream has to `octets`.
fn read(quic: &mut Connection, id: StreamId, octets: &mut Vec<u8>) -> Result<Received, VarInt> {
    let mut stream = quic.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else {
        return Ok(Received::Closed);
    };
    loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => octets.extend_from_slice(&chunk.bytes),
            Ok(None) => return Ok(Received::Whole),
            Err(ReadError::Blocked) => return Ok(Received::Part),
            Err(ReadError::Reset(_)) => return Ok(Received::GivenUp),
        }
        if is_too_long(octets) {
            return Err(PROTOCOL_ERROR);
        }
    }
}

/// A stream that the client has closed meanwhile needs neither of these.
fn finish(quic: &mut Connection, id: StreamId) {
    let _ = quic.send_stream(id).finish();
}

/// Ends a response that is not wanted any more (RFC 9250 section 4.3.1).
fn reset(quic: &mut Connection, id: StreamId) {
    let _ = quic.send_stream(id).reset(REQUEST_CANCELLED);
}

//! TCP without anything more: pipelined messages with their lengths before them, answers in any order (RFC 7766).

use crate::refusal::Refusal;
use crate::transport::frame::{self, FrameReader};
use crate::transport::layer::{Layer, LayerEvents, LayerFactory, Outgoing};

/// No further query is taken while there is more than this to write: the server does not read.
pub const UNWRITTEN_LIMIT: usize = 64 * 1024;

/// Messages in frames.
#[derive(Debug, Default)]
pub struct Frames {
    outgoing: Outgoing,
    reader: FrameReader,
}

impl Layer for Frames {
    fn queue(&mut self, id: u16, message: &[u8]) {
        frame::append(self.outgoing.end(), id, message);
    }

    fn has_room(&self) -> bool {
        self.outgoing.unwritten().len() < UNWRITTEN_LIMIT
    }

    fn is_open(&self) -> bool {
        true
    }

    fn receive(&mut self, octets: &[u8], events: &mut impl LayerEvents) -> Result<(), Refusal> {
        self.reader.feed(octets, |message| events.answer(message));
        Ok(())
    }

    fn outgoing(&mut self) -> Result<&mut Outgoing, Refusal> {
        Ok(&mut self.outgoing)
    }

    /// A record a message, as clients commonly send them. Servers may expect it: NSD 4.6.1 answers the first message of a
    /// record, and the next one when another record arrives.
    fn record_len(&self, octets: &[u8]) -> usize {
        match octets.first_chunk() {
            Some(len) => octets.len().min(2 + usize::from(u16::from_be_bytes(*len))),
            None => octets.len(),
        }
    }

    fn query_ended(&mut self, _id: u16) {}

    fn is_inside_message(&self) -> bool {
        self.reader.is_inside_message()
    }

    fn say_goodbye(&mut self) {}

    fn release_buffers(&mut self) {
        self.outgoing.release();
        self.reader.release();
    }
}

/// Makes [`Frames`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FramesFactory;

impl LayerFactory for FramesFactory {
    type Layer = Frames;

    fn layer(&mut self, _client: usize) -> Result<Frames, Refusal> {
        Ok(Frames::default())
    }
}

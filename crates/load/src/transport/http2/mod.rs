//! DoH, the client's side (RFC 8484) of HTTP/2 (RFC 9113) without I/O: queries in, octets out, octets in, answers out.
//!
//! - A query is a stream. Its ID is 0 on the wire; answers get the ID of their stream's query.
//! - Queries are sent before the server's SETTINGS arrive, up to [`FIRST_STREAMS`] at once, the least that a server
//!   ought to permit.
//! - A query that ends without an answer has its stream reset, so that the server has it among its concurrent streams
//!   no longer. An answer that comes after that is not noticed.
//! - After GOAWAY, or when stream identifiers run out, no query is taken, and the connection ends with the last stream.
//! - Content of a status other than 200, or of another type, is passed over. Such an answer ends its query when the stream
//!   ends, or when there is more of it than a DNS message can have.
//! - A message that is empty, or not as long as `content-length` says, is malformed; as over other transports, its query
//!   then times out.

mod control;
mod frame;
mod hpack;
mod huffman;
mod incoming;
mod request;
mod static_table;
mod streams;
mod upload;

pub use request::HttpRequests;

use super::layer::{Layer, LayerEvents, Outgoing};
use crate::refusal::Refusal;
use frame::{
    DATA, END_STREAM, ErrorCode, Frame, GOAWAY, MAX_31_BITS, RST_STREAM, SETTINGS,
    SETTINGS_ENABLE_PUSH, SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_UPDATE,
};
use hpack::Decoder;
use request::Encoder;
use std::sync::Arc;
use streams::Streams;
use upload::Uploads;

/// Streams at once before the server has said how many it permits: RFC 9113 section 6.5.2 recommends to permit no fewer.
const FIRST_STREAMS: usize = 100;

/// Window of each stream: content is passed over or given up long before it is used up.
const STREAM_WINDOW: u32 = 1 << 20;

/// Size of all windows before anything is said (RFC 9113 section 6.9.2).
const FIRST_WINDOW: u32 = 65_535;

/// Buffers that are kept are made smaller than this.
const KEPT_CAPACITY: usize = 16 * 1024;

/// HTTP/2 with queries as requests.
#[derive(Debug)]
pub struct Http2 {
    requests: Arc<HttpRequests>,
    outgoing: Outgoing,
    encoder: Encoder,
    decoder: Decoder,
    streams: Streams,
    uploads: Uploads,
    /// Streams that the server permits at once.
    max_streams: usize,
    /// Longest payload that the server takes.
    max_payload: usize,
    /// Octets of content that the server may still send.
    receive_window: u32,
    /// The beginning of a frame whose rest has not come.
    partial: Vec<u8>,
    /// A header block whose rest has not come: its stream, whether it ends that, and what has come.
    unfinished: Option<(u32, bool)>,
    block: Vec<u8>,
    /// Buffers for messages.
    spare: Vec<Vec<u8>>,
    /// The server's SETTINGS have come.
    has_settings: bool,
    /// The server takes no further streams.
    going_away: bool,
}

impl Http2 {
    /// A connection for `requests`, of which nothing has been sent.
    pub fn new(requests: Arc<HttpRequests>) -> Self {
        let mut outgoing = Outgoing::default();
        let octets = outgoing.end();
        octets.extend_from_slice(frame::PREFACE);
        frame::append_header(octets, 2 * frame::PARAMETER_LEN, SETTINGS, 0, 0);
        frame::append_parameter(octets, SETTINGS_ENABLE_PUSH, 0);
        frame::append_parameter(octets, SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW);
        let increment = MAX_31_BITS - FIRST_WINDOW;
        frame::append(octets, WINDOW_UPDATE, 0, 0, &increment.to_be_bytes());
        Self {
            requests,
            outgoing,
            encoder: Encoder::default(),
            decoder: Decoder::default(),
            streams: Streams::default(),
            uploads: Uploads::default(),
            max_streams: FIRST_STREAMS,
            max_payload: frame::MAX_PAYLOAD,
            receive_window: MAX_31_BITS,
            partial: Vec::new(),
            unfinished: None,
            block: Vec::new(),
            spare: Vec::new(),
            has_settings: false,
            going_away: false,
        }
    }

    /// Whether no stream can be opened, ever.
    fn takes_no_more(&self) -> bool {
        self.going_away || self.streams.next().is_none()
    }

    /// No stream is left, nor can one be opened.
    fn check_end(&self) -> Result<(), Refusal> {
        if self.streams.open_count() == 0 && self.takes_no_more() {
            return Err(Refusal::ConnectionLost);
        }
        Ok(())
    }

    /// Takes a whole frame.
    fn take(&mut self, frame: Frame<'_>, events: &mut impl LayerEvents) -> Result<(), Refusal> {
        self.handle(frame, events).map_err(|code| self.fail(code))?;
        self.check_end()
    }

    /// The server broke the rules for the connection, which is to be told so (RFC 9113 section 5.4.1).
    fn fail(&mut self, code: ErrorCode) -> Refusal {
        self.append_goaway(code);
        Refusal::ProtocolError
    }

    /// The server has opened no streams, so the last one that was processed is 0.
    fn append_goaway(&mut self, code: ErrorCode) {
        let payload = u64::from(code as u32).to_be_bytes();
        frame::append(self.outgoing.end(), GOAWAY, 0, 0, &payload);
    }

    /// Takes the frame that `self.partial` holds, if it is whole. Says whether it is.
    fn take_partial(&mut self, events: &mut impl LayerEvents) -> Result<bool, Refusal> {
        let mut partial = std::mem::take(&mut self.partial);
        let split = Frame::split_off(&partial).map_err(|code| self.fail(code))?;
        let is_whole = split.is_some();
        if let Some((frame, _)) = split {
            self.take(frame, events)?;
            partial.clear();
        }
        self.partial = partial;
        Ok(is_whole)
    }

    /// Ends a stream and gives it up.
    fn reset(&mut self, stream: u32, code: ErrorCode) {
        self.end(stream);
        let octets = self.outgoing.end();
        frame::append(octets, RST_STREAM, 0, stream, &(code as u32).to_be_bytes());
    }

    /// Ends a stream.
    fn end(&mut self, stream: u32) {
        if let Some(message) = self.streams.end(stream) {
            self.keep(message);
        }
        if let Some(content) = self.uploads.end(stream) {
            self.keep(content);
        }
    }

    /// Keeps a buffer for later.
    fn keep(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() > 0 {
            buffer.clear();
            buffer.shrink_to(KEPT_CAPACITY);
            self.spare.push(buffer);
        }
    }

    /// Sends the content of a request: at once as a rule, as the server's windows open otherwise.
    fn upload(&mut self, stream: u32, message: &[u8]) {
        let octets = self.outgoing.end();
        if self.uploads.take_window(message.len(), self.max_payload) {
            frame::append_header(octets, message.len(), DATA, END_STREAM, stream);
            octets.extend_from_slice(&[0, 0]);
            octets.extend_from_slice(&message[2..]);
            return;
        }
        let mut content = self.spare.pop().unwrap_or_default();
        content.extend_from_slice(&[0, 0]);
        content.extend_from_slice(&message[2..]);
        self.uploads.add(stream, content);
        self.go_on_uploading();
    }

    fn go_on_uploading(&mut self) {
        loop {
            let octets = self.outgoing.end();
            let Some(content) = self.uploads.write(octets, self.max_payload) else {
                return;
            };
            self.keep(content);
        }
    }
}

impl Layer for Http2 {
    /// After GOAWAY a query is not sent, but refused when the connection ends.
    fn queue(&mut self, id: u16, message: &[u8]) {
        if self.going_away {
            return;
        }
        let Some(stream) = self.streams.open(id) else {
            return;
        };
        let octets = self.outgoing.end();
        self.encoder
            .append(octets, &self.requests, stream, message, self.max_payload);
        if self.requests.has_content() {
            self.upload(stream, message);
        }
    }

    fn has_room(&self) -> bool {
        let is_permitted = self.streams.open_count() < self.max_streams;
        is_permitted && !self.uploads.any() && !self.takes_no_more()
    }

    fn is_open(&self) -> bool {
        true
    }

    fn receive(&mut self, mut octets: &[u8], events: &mut impl LayerEvents) -> Result<(), Refusal> {
        if !self.partial.is_empty() {
            let completed = frame::complete(&mut self.partial, octets);
            octets = completed.map_err(|code| self.fail(code))?;
            if !self.take_partial(events)? {
                return Ok(());
            }
        }
        loop {
            match Frame::split_off(octets).map_err(|code| self.fail(code))? {
                Some((frame, rest)) => {
                    self.take(frame, events)?;
                    octets = rest;
                }
                None => {
                    self.partial.extend_from_slice(octets);
                    return Ok(());
                }
            }
        }
    }

    fn outgoing(&mut self) -> Result<&mut Outgoing, Refusal> {
        self.check_end()?;
        Ok(&mut self.outgoing)
    }

    fn query_ended(&mut self, id: u16) {
        if let Some(stream) = self.streams.of_query(id) {
            self.reset(stream, ErrorCode::Cancel);
        }
    }

    fn is_inside_message(&self) -> bool {
        !self.partial.is_empty() || self.unfinished.is_some() || self.streams.any_inside_answer()
    }

    fn say_goodbye(&mut self) {
        self.append_goaway(ErrorCode::NoError);
    }

    fn release_buffers(&mut self) {
        self.outgoing.release();
        self.streams.release();
        self.spare = Vec::new();
        if self.unfinished.is_none() {
            self.block = Vec::new();
        }
        if self.partial.is_empty() {
            self.partial = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests;

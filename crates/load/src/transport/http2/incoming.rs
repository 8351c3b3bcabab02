//! Frames about streams: what becomes of answers.

use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, ErrorCode, Frame, GOAWAY, HEADERS, PING,
    PRIORITY, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use super::hpack::Head;
use super::streams::{Content, Found};
use super::{Http2, LayerEvents};
use crate::answer::Malformed;
use crate::refusal::Refusal;

/// Longest header block that is taken.
const MAX_BLOCK: usize = 64 * 1024;

/// Longest DNS message.
const MAX_MESSAGE: usize = 65_535;

impl Http2 {
    /// Does what a frame asks for.
    ///
    /// # Errors
    /// A connection error.
    pub(super) fn handle(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        let is_expected = match self.unfinished {
            Some((stream, _)) => frame.kind == CONTINUATION && frame.stream == stream,
            None => self.has_settings || (frame.kind == SETTINGS && !frame.has(ACK)),
        };
        if !is_expected {
            return Err(ErrorCode::Protocol);
        }
        match frame.kind {
            DATA => self.handle_data(frame, events),
            HEADERS => self.handle_headers(frame, events),
            PRIORITY => match (frame.stream, frame.payload.len()) {
                (0, _) => Err(ErrorCode::Protocol),
                (_, 5) => Ok(()),
                _ => Err(ErrorCode::FrameSize),
            },
            RST_STREAM => self.handle_reset(frame, events),
            SETTINGS => self.handle_settings(frame),
            PUSH_PROMISE => Err(ErrorCode::Protocol),
            PING => self.handle_ping(frame),
            GOAWAY => self.handle_goaway(frame, events),
            WINDOW_UPDATE => self.handle_window_update(frame, events),
            CONTINUATION => self.handle_continuation(frame, events),
            // Extensions (RFC 9113 section 5.5).
            _ => Ok(()),
        }
    }

    fn handle_headers(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        let block = frame.block()?;
        let ends_stream = frame.has(END_STREAM);
        if frame.has(END_HEADERS) {
            return self.take_block(frame.stream, ends_stream, block, events);
        }
        self.unfinished = Some((frame.stream, ends_stream));
        self.block.clear();
        self.block.extend_from_slice(block);
        Ok(())
    }

    fn handle_continuation(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        let (stream, ends_stream) = self.unfinished.ok_or(ErrorCode::Protocol)?;
        if self.block.len() + frame.payload.len() > MAX_BLOCK {
            return Err(ErrorCode::EnhanceYourCalm);
        }
        self.block.extend_from_slice(frame.payload);
        if !frame.has(END_HEADERS) {
            return Ok(());
        }
        self.unfinished = None;
        let block = std::mem::take(&mut self.block);
        let result = self.take_block(stream, ends_stream, &block, events);
        self.block = block;
        result
    }

    /// Takes a whole header block: that of an interim or final answer, or trailers.
    fn take_block(
        &mut self,
        id: u32,
        ends_stream: bool,
        block: &[u8],
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        // Blocks of ended streams have their part in the state of the compression, too.
        let decoded = self.decoder.decode(block);
        let head = decoded.map_err(|_| ErrorCode::Compression)?;
        let stream = match self.streams.find(id) {
            Found::Idle => return Err(ErrorCode::Protocol),
            Found::Ended => return Ok(()),
            Found::Open(stream) => stream,
        };
        if stream.content != Content::Awaited {
            let are_trailers = ends_stream && head.status.is_none();
            if !are_trailers {
                self.refuse_broken(id, events);
                return Ok(());
            }
        } else {
            match content_of(&head) {
                Some(Content::Awaited) if !ends_stream => return Ok(()),
                None | Some(Content::Awaited) => {
                    self.refuse_broken(id, events);
                    return Ok(());
                }
                Some(content) => {
                    stream.content = content;
                    stream.announced = head.content_length;
                }
            }
        }
        if ends_stream {
            self.finish(id, &[], events);
        }
        Ok(())
    }

    fn handle_data(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        self.count_received(frame.payload.len())?;
        let data = frame.unpadded()?;
        let stream = match self.streams.find(frame.stream) {
            Found::Idle => return Err(ErrorCode::Protocol),
            Found::Ended => return Ok(()),
            Found::Open(stream) => stream,
        };
        if stream.content == Content::Awaited {
            self.refuse_broken(frame.stream, events);
            return Ok(());
        }
        stream.received += data.len();
        let is_dns_message = stream.content == Content::DnsMessage;
        let announced = stream.announced.filter(|_| is_dns_message);
        let most = announced.map_or(MAX_MESSAGE, |len| MAX_MESSAGE.min(len as usize));
        if stream.received > most {
            self.give_up(frame.stream, events);
        } else if frame.has(END_STREAM) {
            self.finish(frame.stream, data, events);
        } else if is_dns_message {
            if stream.message.capacity() == 0 {
                stream.message = self.spare.pop().unwrap_or_default();
            }
            stream.message.extend_from_slice(data);
        }
        Ok(())
    }

    fn handle_reset(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        frame.fixed::<4>()?;
        match self.streams.find(frame.stream) {
            Found::Idle => Err(ErrorCode::Protocol),
            Found::Ended => Ok(()),
            Found::Open(stream) => {
                let query = stream.query;
                self.end(frame.stream);
                events.refused(query, Refusal::StreamReset);
                Ok(())
            }
        }
    }

    /// The server broke the rules for one stream (RFC 9113 section 8.1.1).
    fn refuse_broken(&mut self, id: u32, events: &mut impl LayerEvents) {
        if let Found::Open(stream) = self.streams.find(id) {
            let query = stream.query;
            self.reset(id, ErrorCode::Protocol);
            events.refused(query, Refusal::ProtocolError);
        }
    }

    /// More content has come than there may be.
    fn give_up(&mut self, id: u32, events: &mut impl LayerEvents) {
        if let Found::Open(stream) = self.streams.find(id) {
            let (query, content) = (stream.query, stream.content);
            self.reset(id, ErrorCode::Cancel);
            match content {
                Content::Awaited | Content::DnsMessage => events.malformed(Malformed::Long),
                Content::Other | Content::Refused(_) => refuse_content(query, content, events),
            }
        }
    }

    /// The server has ended a stream whose header fields have come, with `last` as the last of its content.
    fn finish(&mut self, id: u32, last: &[u8], events: &mut impl LayerEvents) {
        let Found::Open(stream) = self.streams.find(id) else {
            return;
        };
        let (query, content) = (stream.query, stream.content);
        let announced = stream.announced.unwrap_or(0);
        let is_cut = stream.received < announced as usize;
        let mut message = std::mem::take(&mut stream.message);
        if self.uploads.is_waiting(id) {
            self.reset(id, ErrorCode::Cancel);
        } else {
            self.end(id);
        }
        if content != Content::DnsMessage {
            return refuse_content(query, content, events);
        }
        if message.capacity() == 0 {
            message = self.spare.pop().unwrap_or_default();
        }
        message.extend_from_slice(last);
        match message.first_chunk_mut() {
            _ if is_cut => events.malformed(Malformed::Cut),
            None => events.malformed(Malformed::Short),
            Some(id) => {
                *id = query.to_be_bytes();
                events.answer(&message);
            }
        }
        self.keep(message);
    }
}

/// What an answer with this head has as content: `Awaited` if it is an interim one, `None` if it is malformed.
fn content_of(head: &Head) -> Option<Content> {
    match head.status? {
        _ if head.is_malformed => None,
        100..=199 => Some(Content::Awaited),
        200 if head.is_dns_message => Some(Content::DnsMessage),
        200 => Some(Content::Other),
        status => Some(Content::Refused(status)),
    }
}

fn refuse_content(query: u16, content: Content, events: &mut impl LayerEvents) {
    if let Content::Refused(status) = content {
        events.http_status(status);
        events.refused(query, Refusal::HttpStatus);
    } else {
        events.refused(query, Refusal::HttpContent);
    }
}

//! Frames about the connection: SETTINGS, PING, GOAWAY, WINDOW_UPDATE.

use super::frame::{
    self, ACK, ErrorCode, Frame, MAX_31_BITS, MAX_PAYLOAD, PARAMETER_LEN, PING, SETTINGS,
    SETTINGS_ENABLE_PUSH, SETTINGS_HEADER_TABLE_SIZE, SETTINGS_INITIAL_WINDOW_SIZE,
    SETTINGS_MAX_CONCURRENT_STREAMS, SETTINGS_MAX_FRAME_SIZE, WINDOW_UPDATE,
};
use super::streams::Found;
use super::{Http2, LayerEvents};
use crate::refusal::Refusal;

/// A server that asks for replies but does not read them is given up when there are this many octets to write.
const MAX_UNREAD: usize = 1 << 20;

/// Longest payload that a server can permit (RFC 9113 section 6.5.2).
const LARGEST_MAX_FRAME_SIZE: u32 = (1 << 24) - 1;

impl Http2 {
    pub(super) fn handle_settings(&mut self, frame: Frame<'_>) -> Result<(), ErrorCode> {
        if frame.stream != 0 {
            return Err(ErrorCode::Protocol);
        }
        if frame.has(ACK) {
            return frame.fixed::<0>().map(|_| ());
        }
        let (parameters, []) = frame.payload.as_chunks::<PARAMETER_LEN>() else {
            return Err(ErrorCode::FrameSize);
        };
        if !self.has_settings {
            self.has_settings = true;
            self.max_streams = usize::MAX;
        }
        for [name_high, name_low, value @ ..] in parameters {
            let name = u16::from_be_bytes([*name_high, *name_low]);
            self.set(name, u32::from_be_bytes(*value))?;
        }
        self.reply(SETTINGS, &[])?;
        self.go_on_uploading();
        Ok(())
    }

    fn set(&mut self, parameter: u16, value: u32) -> Result<(), ErrorCode> {
        match parameter {
            SETTINGS_HEADER_TABLE_SIZE => self.encoder.limit_table(value, &self.requests),
            SETTINGS_ENABLE_PUSH if value != 0 => return Err(ErrorCode::Protocol),
            // A client that waits for more than none might wait for ever; the server refuses the stream then.
            SETTINGS_MAX_CONCURRENT_STREAMS => self.max_streams = value.max(1) as usize,
            SETTINGS_INITIAL_WINDOW_SIZE => self.uploads.set_stream_window(value)?,
            SETTINGS_MAX_FRAME_SIZE => {
                if !(MAX_PAYLOAD as u32..=LARGEST_MAX_FRAME_SIZE).contains(&value) {
                    return Err(ErrorCode::Protocol);
                }
                self.max_payload = value as usize;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn handle_ping(&mut self, frame: Frame<'_>) -> Result<(), ErrorCode> {
        let payload = frame.fixed::<8>()?;
        if frame.stream != 0 {
            return Err(ErrorCode::Protocol);
        }
        if frame.has(ACK) {
            return Ok(());
        }
        self.reply(PING, &payload)
    }

    /// Acknowledges a frame.
    fn reply(&mut self, kind: u8, payload: &[u8]) -> Result<(), ErrorCode> {
        if self.outgoing.unwritten().len() > MAX_UNREAD {
            return Err(ErrorCode::EnhanceYourCalm);
        }
        frame::append(self.outgoing.end(), kind, ACK, 0, payload);
        Ok(())
    }

    /// Streams above the one that GOAWAY names have not been and will not be processed.
    pub(super) fn handle_goaway(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        let (last, _) = frame
            .payload
            .split_first_chunk::<8>()
            .ok_or(ErrorCode::FrameSize)?;
        if frame.stream != 0 {
            return Err(ErrorCode::Protocol);
        }
        let [last @ .., _, _, _, _] = *last;
        self.going_away = true;
        let last = u32::from_be_bytes(last) & MAX_31_BITS;
        self.streams.end_above(last, |stream, query| {
            self.uploads.end(stream);
            events.refused(query, Refusal::ConnectionLost);
        });
        Ok(())
    }

    pub(super) fn handle_window_update(
        &mut self,
        frame: Frame<'_>,
        events: &mut impl LayerEvents,
    ) -> Result<(), ErrorCode> {
        let increment = u32::from_be_bytes(frame.fixed()?) & MAX_31_BITS;
        if frame.stream == 0 {
            if increment == 0 {
                return Err(ErrorCode::Protocol);
            }
            self.uploads.widen_connection(increment)?;
        } else {
            let query = match self.streams.find(frame.stream) {
                Found::Idle => return Err(ErrorCode::Protocol),
                Found::Ended => return Ok(()),
                Found::Open(stream) => stream.query,
            };
            let widened = match increment {
                0 => Err(ErrorCode::Protocol),
                _ => self.uploads.widen_stream(frame.stream, increment),
            };
            if let Err(code) = widened {
                self.reset(frame.stream, code);
                events.refused(query, Refusal::ProtocolError);
            }
        }
        self.go_on_uploading();
        Ok(())
    }

    /// Counts content, padding included, on the connection's window, and opens that again when half of it is used.
    pub(super) fn count_received(&mut self, len: usize) -> Result<(), ErrorCode> {
        let left = self.receive_window.checked_sub(len as u32);
        self.receive_window = left.ok_or(ErrorCode::FlowControl)?;
        if self.receive_window < MAX_31_BITS / 2 {
            let increment = MAX_31_BITS - self.receive_window;
            self.receive_window = MAX_31_BITS;
            frame::append(
                self.outgoing.end(),
                WINDOW_UPDATE,
                0,
                0,
                &increment.to_be_bytes(),
            );
        }
        Ok(())
    }
}

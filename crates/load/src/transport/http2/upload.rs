//! Flow control of what the client sends (RFC 9113 section 5.2).

use super::FIRST_WINDOW;
use super::frame::{self, DATA, END_STREAM, ErrorCode, MAX_31_BITS};
use std::collections::VecDeque;

/// Content that the windows did not let pass at once.
#[derive(Debug)]
struct Upload {
    stream: u32,
    window: i64,
    content: Vec<u8>,
    sent: usize,
}

/// The server's windows, and what waits for them.
#[derive(Debug)]
pub struct Uploads {
    /// Of the connection.
    window: i64,
    /// Of each new stream.
    stream_window: i64,
    waiting: VecDeque<Upload>,
}

impl Default for Uploads {
    fn default() -> Self {
        Self {
            window: i64::from(FIRST_WINDOW),
            stream_window: i64::from(FIRST_WINDOW),
            waiting: VecDeque::new(),
        }
    }
}

impl Uploads {
    /// Whether content waits.
    pub fn any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether content of a stream waits.
    pub fn is_waiting(&self, stream: u32) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|upload| upload.stream == stream)
    }

    /// Takes `len` octets from the connection's window if a new stream can send all of them at once in one frame.
    pub fn take_window(&mut self, len: usize, max_payload: usize) -> bool {
        let needed = len as i64;
        let fits = len <= max_payload && needed <= self.window && needed <= self.stream_window;
        if fits && self.waiting.is_empty() {
            self.window -= needed;
            return true;
        }
        false
    }

    /// Lets the content of a new stream wait.
    pub fn add(&mut self, stream: u32, content: Vec<u8>) {
        self.waiting.push_back(Upload {
            stream,
            window: self.stream_window,
            content,
            sent: 0,
        });
    }

    /// Appends what the windows let pass, up to the end of one content, whose buffer it gives back.
    pub fn write(&mut self, octets: &mut Vec<u8>, max_payload: usize) -> Option<Vec<u8>> {
        for at in 0..self.waiting.len() {
            let upload = &mut self.waiting[at];
            loop {
                let rest = &upload.content[upload.sent..];
                let window = usize::try_from(self.window.min(upload.window)).unwrap_or(0);
                let len = rest.len().min(window).min(max_payload);
                if len == 0 {
                    break;
                }
                let is_last = len == rest.len();
                let flags = if is_last { END_STREAM } else { 0 };
                frame::append(octets, DATA, flags, upload.stream, &rest[..len]);
                upload.sent += len;
                upload.window -= len as i64;
                self.window -= len as i64;
                if is_last {
                    return self.waiting.remove(at).map(|upload| upload.content);
                }
            }
        }
        None
    }

    /// Forgets what a stream has not sent, and gives back its buffer.
    pub fn end(&mut self, stream: u32) -> Option<Vec<u8>> {
        let mut waiting = self.waiting.iter();
        let at = waiting.position(|upload| upload.stream == stream)?;
        self.waiting.remove(at).map(|upload| upload.content)
    }

    /// The server sets the window of new streams, which moves those of the others.
    ///
    /// # Errors
    /// [`ErrorCode::FlowControl`], a connection error.
    pub fn set_stream_window(&mut self, window: u32) -> Result<(), ErrorCode> {
        if window > MAX_31_BITS {
            return Err(ErrorCode::FlowControl);
        }
        let change = i64::from(window) - self.stream_window;
        self.stream_window += change;
        for upload in &mut self.waiting {
            widen(&mut upload.window, change)?;
        }
        Ok(())
    }

    /// The server widens the connection's window.
    ///
    /// # Errors
    /// [`ErrorCode::FlowControl`], a connection error.
    pub fn widen_connection(&mut self, increment: u32) -> Result<(), ErrorCode> {
        widen(&mut self.window, i64::from(increment))
    }

    /// The server widens the window of a stream; without effect if all of it has been sent.
    ///
    /// # Errors
    /// [`ErrorCode::FlowControl`], a stream error.
    pub fn widen_stream(&mut self, stream: u32, increment: u32) -> Result<(), ErrorCode> {
        let mut waiting = self.waiting.iter_mut();
        match waiting.find(|upload| upload.stream == stream) {
            Some(upload) => widen(&mut upload.window, i64::from(increment)),
            None => Ok(()),
        }
    }
}

fn widen(window: &mut i64, change: i64) -> Result<(), ErrorCode> {
    *window += change;
    if *window > i64::from(MAX_31_BITS) {
        return Err(ErrorCode::FlowControl);
    }
    Ok(())
}

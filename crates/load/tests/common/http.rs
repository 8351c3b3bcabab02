//! The least of HTTP/2 (RFC 9113) that a server needs, by hand, so that every rule can be broken.

use crate::common::answer;
use crate::link::Link;
use std::collections::HashMap;

const PREFACE_LEN: usize = 24;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const GOAWAY: u8 = 7;
const PING: u8 = 6;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
const ACK: u8 = 1;
const PADDED: u8 = 8;

/// The server's side of a connection.
pub struct Http<'l> {
    pub link: &'l mut dyn Link,
    contents: HashMap<u32, Vec<u8>>,
}

impl<'l> Http<'l> {
    /// Takes the client's preface and sends `settings`; `None` if the client goes away.
    pub fn accept(link: &'l mut dyn Link, settings: &[u8]) -> Option<Self> {
        link.shake_hands().ok()?;
        let mut preface = [0; PREFACE_LEN];
        link.read_exact(&mut preface).ok()?;
        assert!(preface.starts_with(b"PRI * HTTP/2.0"));
        let mut http = Self {
            link,
            contents: HashMap::new(),
        };
        http.frame(SETTINGS, 0, 0, settings);
        Some(http)
    }

    /// Sends a frame.
    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let len = (payload.len() as u32).to_be_bytes();
        let head = [&len[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        let written = self.link.write_all(&[&head, payload].concat());
        let _ = written.and_then(|()| self.link.flush());
    }

    /// The next query and its stream, from requests with POST; `None` at the end of the connection.
    pub fn query(&mut self) -> Option<(u32, Vec<u8>)> {
        loop {
            let mut head = [0; 9];
            self.link.read_exact(&mut head).ok()?;
            let [a, b, c, kind, flags, stream @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            self.link.read_exact(&mut payload).ok()?;
            let stream = u32::from_be_bytes(stream);
            match kind {
                SETTINGS if flags & ACK == 0 => self.frame(SETTINGS, ACK, 0, &[]),
                PING if flags & ACK == 0 => self.frame(PING, ACK, 0, &payload),
                DATA => {
                    assert_eq!(flags & PADDED, 0, "the client does not pad");
                    self.contents.entry(stream).or_default().extend(payload);
                    if flags & END_STREAM != 0 {
                        return Some((stream, self.contents.remove(&stream)?));
                    }
                }
                _ => {}
            }
        }
    }

    /// Sends a response.
    pub fn respond(&mut self, stream: u32, status: &str, content_type: &str, content: &[u8]) {
        self.head(stream, status, &[("content-type", content_type)]);
        self.frame(DATA, END_STREAM, stream, content);
    }

    /// Sends the head of a response.
    pub fn head(&mut self, stream: u32, status: &str, fields: &[(&str, &str)]) {
        let literal = |name: &str, value: &str| {
            let string = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
            [&[0][..], &string(name), &string(value)].concat()
        };
        let mut block = literal(":status", status);
        for (name, value) in fields {
            block.extend(literal(name, value));
        }
        self.frame(HEADERS, END_HEADERS, stream, &block);
    }

    /// Sends a good answer.
    pub fn answer(&mut self, stream: u32, query: &[u8]) {
        self.respond(stream, "200", "application/dns-message", &answer(query));
    }
}

/// Answers all queries of a connection.
pub fn serve(link: &mut dyn Link) -> bool {
    if let Some(mut http) = Http::accept(link, &[]) {
        while let Some((stream, query)) = http.query() {
            http.answer(stream, &query);
        }
    }
    true
}

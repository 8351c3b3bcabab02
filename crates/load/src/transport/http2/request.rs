//! The requests of one connection: what is the same in all of them is encoded once.

use super::frame::{self, CONTINUATION, END_HEADERS, END_STREAM, HEADERS};
use super::hpack::{ENTRY_OVERHEAD, TABLE_SIZE, append_integer, append_string};
use super::static_table::index_of;
use crate::config::{HttpMethod, HttpSettings};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::net::SocketAddr;

/// Port that an https URI need not name (RFC 9110 section 4.2.2).
const HTTPS_PORT: u16 = 443;

const MEDIA_TYPE: &str = "application/dns-message";

/// Fields of the static table with their values (RFC 7541 appendix A).
const METHOD_GET: u8 = 2;
const METHOD_POST: u8 = 3;
const SCHEME_HTTPS: u8 = 7;

/// Names in it.
const PATH: usize = index_of(":path");
const CONTENT_LENGTH: usize = index_of("content-length");

/// First index of the dynamic table.
const DYNAMIC: usize = 62;

/// How the fields that are the same in all requests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Such that the server puts them into its dynamic table.
    Inserting,
    /// By their indices in it.
    Indexed,
    /// As they are, since the server's table is too small for them.
    Literal,
}

/// What is the same in all requests to one resource.
#[derive(Debug)]
pub struct HttpRequests {
    method: HttpMethod,
    /// For GET: the path and the beginning of its query part.
    path: Vec<u8>,
    /// By form: fields before the one that differs, and after it.
    forms: [(Vec<u8>, Vec<u8>); 3],
    /// Size of the entries that the first request puts into the server's dynamic table.
    table_size: usize,
}

impl HttpRequests {
    /// The requests of `settings` to `server`, which is called `server_name` if it has a name.
    ///
    /// The path is that of an absolute URI: it begins with a slash and has only characters of RFC 3986 section 3.3.
    pub fn new(settings: &HttpSettings, server_name: Option<&str>, server: SocketAddr) -> Self {
        let authority = (":authority", authority(server_name, server));
        let path = (":path", settings.path.clone());
        let accept = ("accept", MEDIA_TYPE.to_owned());
        let content_type = ("content-type", MEDIA_TYPE.to_owned());
        // Pseudo-header fields come first (RFC 9113 section 8.3). What differs is :path with GET, and content-length,
        // which comes last, with POST.
        let (method, fields, count_before) = match settings.method {
            HttpMethod::Get => (METHOD_GET, vec![authority, accept], 1),
            HttpMethod::Post => (METHOD_POST, vec![authority, path, accept, content_type], 4),
        };
        let forms = [Form::Inserting, Form::Indexed, Form::Literal].map(|form| {
            let mut before = vec![0x80 | method, 0x80 | SCHEME_HTTPS];
            let mut after = Vec::new();
            for (place, (name, value)) in fields.iter().enumerate() {
                let block = if place < count_before {
                    &mut before
                } else {
                    &mut after
                };
                // The newest entry has the lowest index.
                let index = DYNAMIC + fields.len() - 1 - place;
                append_field(block, form, index, name, value);
            }
            (before, after)
        });
        let sizes = fields
            .iter()
            .map(|(name, value)| name.len() + value.len() + ENTRY_OVERHEAD);
        let separator = if settings.path.contains('?') {
            '&'
        } else {
            '?'
        };
        Self {
            method: settings.method,
            path: format!("{}{separator}dns=", settings.path).into_bytes(),
            forms,
            table_size: sizes.sum(),
        }
    }

    /// Whether queries travel as content.
    pub fn has_content(&self) -> bool {
        self.method == HttpMethod::Post
    }
}

fn authority(server_name: Option<&str>, server: SocketAddr) -> String {
    match (server_name, server.port()) {
        (Some(name), HTTPS_PORT) => name.to_owned(),
        (Some(name), port) => format!("{name}:{port}"),
        (None, HTTPS_PORT) if server.is_ipv6() => format!("[{}]", server.ip()),
        (None, HTTPS_PORT) => server.ip().to_string(),
        (None, _) => server.to_string(),
    }
}

/// Appends a field whose name is in the static table, and which has `index` once it is in the dynamic table.
fn append_field(block: &mut Vec<u8>, form: Form, index: usize, name: &str, value: &str) {
    let name = index_of(name);
    match form {
        Form::Inserting => append_integer(block, 0x40, 6, name),
        Form::Indexed => return append_integer(block, 0x80, 7, index),
        Form::Literal => append_integer(block, 0, 4, name),
    }
    append_string(block, value.as_bytes());
}

/// Writes the header blocks of one connection's requests, in order.
#[derive(Debug)]
pub struct Encoder {
    form: Form,
    /// Size of the server's dynamic table as the client uses it.
    table_size: usize,
    /// The next block begins with a dynamic table size update (RFC 7541 section 4.2).
    tell_size: bool,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            form: Form::Inserting,
            table_size: TABLE_SIZE,
            tell_size: false,
        }
    }
}

impl Encoder {
    /// The server limits its dynamic table. A larger one than before is not made use of.
    pub fn limit_table(&mut self, limit: u32, requests: &HttpRequests) {
        let limit = limit as usize;
        if limit >= self.table_size {
            return;
        }
        self.tell_size = true;
        self.table_size = limit;
        if limit < requests.table_size {
            self.table_size = 0;
            self.form = Form::Literal;
        }
    }

    /// Appends the HEADERS frame of a request for `message`, and CONTINUATION frames if its block is longer than
    /// `max_payload`.
    pub fn append(
        &mut self,
        octets: &mut Vec<u8>,
        requests: &HttpRequests,
        stream: u32,
        message: &[u8],
        max_payload: usize,
    ) {
        let flags = if requests.has_content() {
            0
        } else {
            END_STREAM
        };
        let start = octets.len();
        frame::append_header(octets, 0, HEADERS, flags | END_HEADERS, stream);
        let block_start = octets.len();
        if std::mem::take(&mut self.tell_size) {
            append_integer(octets, 0x20, 5, self.table_size);
        }
        let (before, after) = &requests.forms[self.form as usize];
        octets.extend_from_slice(before);
        match requests.method {
            HttpMethod::Get => append_path(octets, &requests.path, message),
            HttpMethod::Post => append_content_length(octets, message.len()),
        }
        octets.extend_from_slice(after);
        if self.form == Form::Inserting {
            self.form = Form::Indexed;
        }
        let len = octets.len() - block_start;
        if len <= max_payload {
            frame::set_len(&mut octets[start..], len);
        } else {
            let block = octets.split_off(block_start);
            octets.truncate(start);
            append_in_pieces(octets, stream, flags, &block, max_payload);
        }
    }
}

fn append_in_pieces(
    octets: &mut Vec<u8>,
    stream: u32,
    flags: u8,
    block: &[u8],
    max_payload: usize,
) {
    let last = block.len().div_ceil(max_payload) - 1;
    for (number, piece) in block.chunks(max_payload).enumerate() {
        let (kind, flags) = if number == 0 {
            (HEADERS, flags)
        } else {
            (CONTINUATION, 0)
        };
        let end = if number == last { END_HEADERS } else { 0 };
        frame::append(octets, kind, flags | end, stream, piece);
    }
}

/// Appends the field :path with `message`, its ID 0 so that answers can be cached (RFC 8484 section 4.1), in base64url.
fn append_path(block: &mut Vec<u8>, path: &[u8], message: &[u8]) {
    append_integer(block, 0, 4, PATH);
    let encoded_len = (message.len() * 4).div_ceil(3);
    append_integer(block, 0, 7, path.len() + encoded_len);
    block.extend_from_slice(path);
    let start = block.len();
    block.resize(start + encoded_len, 0);
    // The first three octets are four characters of their own, so the rest can be encoded where it is.
    let (first, rest) = block[start..].split_at_mut(4);
    let encoded = URL_SAFE_NO_PAD.encode_slice([0, 0, message[2]], first);
    debug_assert_eq!(encoded, Ok(4));
    let encoded = URL_SAFE_NO_PAD.encode_slice(&message[3..], rest);
    debug_assert_eq!(encoded, Ok(encoded_len - 4));
}

/// Appends the field content-length, which servers such as BIND 9.18 insist on.
fn append_content_length(block: &mut Vec<u8>, len: usize) {
    append_integer(block, 0, 4, CONTENT_LENGTH);
    let mut digits = [0; 5];
    let (mut first, mut rest) = (digits.len(), len);
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 || first == 0 {
            break;
        }
    }
    append_string(block, &digits[first..]);
}

#[cfg(test)]
mod tests;

//! The HTTP/2 layer against servers that share no code with it.

mod named;
mod oracle;

use dnsrig_load::answer::Malformed;
use dnsrig_load::{Http2, HttpMethod, HttpRequests, HttpSettings, LayerEvents, Refusal};
use std::net::SocketAddr;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Answer(Vec<u8>),
    Refused(u16, Refusal),
    HttpStatus(u16),
    Malformed(Malformed),
}

#[derive(Default)]
struct Recorded(Vec<Event>);

impl LayerEvents for Recorded {
    fn answer(&mut self, message: &[u8]) {
        self.0.push(Event::Answer(message.to_vec()));
    }

    fn refused(&mut self, id: u16, refusal: Refusal) {
        self.0.push(Event::Refused(id, refusal));
    }

    fn http_status(&mut self, status: u16) {
        self.0.push(Event::HttpStatus(status));
    }

    fn malformed(&mut self, malformed: Malformed) {
        self.0.push(Event::Malformed(malformed));
    }
}

/// A connection to the resource `path` of `server`, nothing of it written.
fn connection(server: SocketAddr, path: &str, method: HttpMethod) -> Http2 {
    let path = path.to_owned();
    let requests = HttpRequests::new(&HttpSettings { path, method }, None, server);
    Http2::new(Arc::new(requests))
}

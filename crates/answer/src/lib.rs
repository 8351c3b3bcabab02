//! An authoritative server: answers from (signed) zones over UDP, TCP, TLS (DoT), HTTPS (DoH) and QUIC (DoQ).
//!
//! [`Responder`] turns a query's octets into a response's octets and knows no sockets; [`serve`] does the input and output,
//! and [`Server`] does it in the background.

mod answering;
mod error;
mod message;
mod names;
mod query;
mod responder;
mod serve;
mod transfer;
mod wire;

pub use error::AnswerError;
pub use responder::{Answers, Options, Reply, Responder, Scratch, Transport};
pub use serve::{
    Certificate, Counters, CountersSnapshot, Encrypted, ListenAddresses, ServeConfig, Server,
    SharedResponder, read_get_query, read_stream_query, send_all, serve,
};
pub use transfer::Transfer;

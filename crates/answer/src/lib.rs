//! An authoritative server: answers from (signed) zones over UDP and TCP.
//!
//! [`Responder`] turns a query's octets into a response's octets and knows no sockets; [`serve`] does the input and output.

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
pub use serve::{Counters, CountersSnapshot, ServeConfig, SharedResponder, serve};
pub use transfer::Transfer;

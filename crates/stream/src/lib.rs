//! Query streams: read, generate, make from a zone and a query log, write.
//!
//! [`capture`] takes the queries out of pcap and pcapng files, [`text`] reads and writes dnsperf's query files and reads its
//! dynamic updates, [`binary`] reads messages as they are, [`generate`] makes names from patterns, [`synthesis`] makes
//! streams by JPRS-2010's method, [`asked`] keeps who asked when for what, and writes it with other names. [`message`] turns questions into the wire messages of a [`QueryStream`], which is what a
//! load sends.

pub mod asked;
pub mod binary;
pub mod capture;
mod edns;
pub mod error;
pub mod generate;
mod halt;
pub mod input;
mod look_up;
pub mod message;
mod names;
mod prefix;
pub mod questions;
mod stream;
pub mod synthesis;
pub mod text;
mod timed;

pub use edns::{EdnsOption, EdnsOptions};
pub use error::StreamError;
pub use message::{CookiePlace, MessageOptions, cookie_place, messages};
pub use prefix::Prefix;
pub use questions::{Question, Questions};
pub use stream::{LongestMessage, MAX_QUERIES, QueryStream};
pub use synthesis::{StreamKind, StreamSummary, synthesise};
pub use text::QueryLog;
pub use timed::ClockJump;

//! Query streams: read, make from a zone and a query log, write.
//!
//! [`text`] reads and writes dnsperf's query files, [`synthesis`] makes streams by JPRS-2010's method, [`message`]
//! turns questions into the wire messages of a [`QueryStream`], which is what a load sends.

pub mod error;
mod look_up;
pub mod message;
mod names;
pub mod questions;
mod stream;
pub mod synthesis;
pub mod text;

pub use error::StreamError;
pub use message::{MessageOptions, messages};
pub use questions::{Question, Questions};
pub use stream::QueryStream;
pub use synthesis::{StreamKind, StreamSummary, synthesise};
pub use text::QueryLog;

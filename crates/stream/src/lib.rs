//! Query streams: read, make from a zone and a query log, write.

mod stream;

pub use stream::QueryStream;

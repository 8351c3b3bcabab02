//! Captures whose contents are known: read, counted, added up, and made into streams. One program: each more links all again.

mod common;
mod merging;
mod read;
mod select;
mod stats;
mod types;

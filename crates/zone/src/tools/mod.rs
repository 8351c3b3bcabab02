//! What can be done with zone files of any size, a batch of names at a time.

mod sort;
mod statistics;

pub use sort::{Sorted, sort};
pub use statistics::statistics;

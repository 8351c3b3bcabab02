//! Making streams of captures: parts of them, samples, mixtures, and other times.
//!
//! [`filter`], [`partition`] and [`sample`] read captures once on all cores and write pcap files. UDP datagrams that are
//! wanted are written as they were captured. TCP segments are, too, where who sent them decides; where it is what messages say, or when,
//! each message that is wanted is taken out of its connection and written as a segment of its own. Datagrams that came in
//! fragments are written whole.

pub mod clients;
mod convert;
pub mod expression;
mod filter;
mod input;
mod mix;
mod partition;
mod pass;
mod sample;
pub mod transactions;
mod warp;

pub use convert::{Converted, Converting, StreamWriter, convert};
pub use expression::{Expression, Travel};
pub use filter::{Filtered, filter};
pub use input::{Form, StandIns};
pub use mix::{Mixed, Mixing, mix};
pub use partition::{Partition, Partitioned, partition};
pub use pass::Passed;
pub use sample::{SampleSize, Sampled, Sampling, sample};
pub use warp::{Warped, Warping, warp};

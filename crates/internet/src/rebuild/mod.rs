//! An Internet rebuilt from responses of name servers, as a capture of what a resolver or an authoritative server saw has them.
//!
//! [`Collector`] takes responses and sorts their RRsets; [`Collector::rebuild`] makes zones of them, each with the addresses of
//! its servers, and completes what resolving needs and no response had. [`Rebuilt`] answers from such zones. The idea is that of
//! LDplayer's zone constructor (Zhu and Heidemann, IMC 2018).

mod collect;
mod complete;
mod message;
mod owners;
mod served;
mod world;

pub use collect::{Collector, Counts};
pub use complete::{RebuiltZone, Reconstruction};
pub use world::{Rebuilt, RebuiltOptions};

//! Zone data: read, write, generate, canonical order, look up.
//!
//! A [`Zone`] is a master file in memory (RFC 1035 section 5), its records in canonical order.

mod record;
mod zone;

pub use record::{Name, Record};
pub use zone::Zone;

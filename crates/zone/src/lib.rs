//! Zone data: read, write, generate, canonical order, look up.
//!
//! A [`Zone`] is a master file in memory (RFC 1035 section 5), its records in canonical order.

mod check;
mod error;
pub mod generate;
pub mod lookup;
mod names;
mod presentation;
mod rdata;
mod read;
mod record;
mod statistics;
mod unsigned;
mod whole_file;
mod write;
mod zone;

pub use error::{Position, Warning, ZoneError};
pub use names::{NameKind, OwnerRecords};
pub use presentation::{PresentationName, PresentationRecord};
pub use rdata::{canonical_rdata, embedded_names};
pub use read::{ReadZone, read_records};
pub use record::{Name, Record};
pub use statistics::Statistics;
pub use whole_file::write_whole;
pub use zone::Zone;

//! Zone data: read, write, generate, canonical order, look up.
//!
//! A [`Zone`] is a master file in memory (RFC 1035 section 5), its records in canonical order.

mod canonical;
mod check;
pub mod dates;
mod error;
pub mod flow;
pub mod generate;
pub mod lookup;
pub mod memory;
mod names;
pub mod output;
mod packed;
pub mod pool;
mod presentation;
mod rdata;
mod read;
mod readable;
mod record;
pub mod splitmix;
mod statistics;
pub mod text;
mod texts;
pub mod tools;
mod types;
mod unsigned;
mod whole_file;
mod write;
mod zone;
pub mod zonemd;

pub use canonical::{
    compare_names, empty_non_terminals, is_at_or_below, label_count, parent, same_name,
};
pub use error::{Position, Warning, ZoneError};
pub use names::{NameKind, OwnerRecords};
pub use packed::{FilePlace, PackedRecord, PackedRecords};
pub use presentation::{PresentationName, PresentationRecord};
pub use rdata::{canonical_rdata, compare_rdata, embedded_names, push_canonical_rdata};
pub use read::{ReadZone, read_rdata, read_records};
pub use record::{Name, Record};
pub use statistics::Statistics;
pub use texts::{NumberedTexts, Texts};
pub use types::{bitmap_types, is_bitmap, push_type_bitmap};
pub use whole_file::{CompleteFile, NamedFile, WholeFile, write_whole};
pub use zone::Zone;

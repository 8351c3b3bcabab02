//! What is in captures: everything that ISC-2008 says of its captures, and more.
//!
//! [`gather`] reads captures into [`Statistics`], which add up ([`Statistics::merge`]) whatever captures and machines they come
//! from; [`Report`] is what they say. Memory is bounded by [`StatsOptions`].

mod batch;
mod clients;
mod counter;
mod distinct;
mod frequent;
mod gathering;
pub(crate) mod hashing;
mod histogram;
mod in_order;
mod matching;
mod names;
mod random_label;
mod rates;
mod report;
mod shapes;
mod side;
mod statistics;
mod stored;
mod stored_items;
mod tally;
mod tlds;
mod zipf;

pub use counter::{Counter, TypeCounter};
pub use distinct::Distinct;
pub use gathering::{StatsOptions, gather};
pub use histogram::Histogram;
pub use matching::TIMEOUT_NS as ANSWER_TIMEOUT_NS;
pub use rates::{RateSummary, Rates, Window};
pub use report::{
    Activity, AnswerReport, ClientReport, ClockReport, EdnsReport, Failing, FlagReport, NameReport,
    PacketReport, Quantiles, Report, SizeReport, TcpReport, Throughput, TopList, TypeReport,
};
pub use side::{Edns, Flags, Side};
pub use statistics::{Answered, ClientStatistics, CountedFrom, NameStatistics, Statistics};
pub use stored::{merge_stored, parse as parse_stored};
pub use stored_items::StoredItems;
pub use tally::MalformedCounts;

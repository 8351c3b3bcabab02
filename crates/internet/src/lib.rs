//! The simulated Internet: a signed hierarchy of zones that is generated from a seed as it is asked for, and one responder
//! for every server address of it.
//!
//! [`Internet`] turns a query to an address into an answer and the time it takes, and knows no sockets; [`InternetServer`]
//! does the input and output. What there is says a [`Profile`]. docs/decisions/simulated-internet.md explains how.

mod answer;
mod build;
mod cache;
mod chain;
mod content;
mod error;
mod excerpt;
mod hosting;
mod internet;
mod keys;
mod labels;
mod limits;
mod memory;
mod names;
mod outages;
mod presign;
mod profile;
mod query;
mod random;
mod ready;
mod rebuild;
mod registry;
mod registry_zone;
mod reverse;
mod serve;
mod servers;
mod signatures;
mod stand_ins;
mod wire;
mod zones;

pub use answer::{Answer, Arrived, QUERY_LEN_MAX, Scratch};
pub use error::InternetError;
pub use internet::{Internet, InternetOptions};
pub use memory::Memory;
pub use names::{Asked, QueryNames, type_name};
pub use profile::{
    Addresses, Clients, Denial, Faults, Hosting, Latency, NAMED_PROFILES, Operator, OtherTlds,
    Outage, Profile, RateLimit, Registry, Reverse, SecondLevel, Signing, Tld, WeightedAlgorithm,
    WeightedHost, WeightedIterations, WeightedTtl, WeightedType, Zones, profile_text,
};
pub use rebuild::{Collector, Counts, Rebuilt, RebuiltOptions, RebuiltZone, Reconstruction};
pub use serve::{
    Account, AccountKey, EthernetLink, InternetServer, Responding, SIZE_BOUNDS, ServeOptions,
    ServedBy,
};
pub use servers::{NameServer, ServerId, ServerTable, SetId};
pub use stand_ins::{Draw, StandIn, StandIns};

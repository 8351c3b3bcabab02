//! The load generator: sends a query stream to a server and accounts for every query of it.
//!
//! A load is put together from independent parts, none of which knows the others:
//!
//! | part | trait or type | says |
//! |---|---|---|
//! | schedule | `schedule::Schedule`: `ClosedLoop`, `FixedRate`, `Poisson`, `Planned`, `Replay` | when the next query is due |
//! | order | `order::Order` | which query of the stream that is |
//! | choice | `choice::Choice` | which client sends it |
//! | dress | `dress::Dresser` | what is changed in it: cookie, letter case, TSIG |
//! | transport | `transport::Transport`: `Udp`; `Tcp`, `Dot`, `Doh`, `Doq`; `Mix` | how messages travel |
//! | stop condition | `stop::Stop` | when sending ends |
//! | accounting | `account::Account` | what became of each query |
//! | clock | `clock::Clock` | what time it is |
//!
//! `engine::Engine` brings them together in one thread and is compiled for each schedule, over plain UDP and over a `Mix`
//! of any transports. Tests run it in virtual time over a transport that does harm on purpose. [`find_breaking_point`]
//! makes many loads for one result.
//!
//! # What the figures mean
//!
//! - Every query sent ends as exactly one of answered, timed out, refused; or abandoned, where the caller cancels the
//!   load and so cuts the drain short. An answer counts if it parses to its last octet, and has the ID and the question of
//!   a query in flight of the same client (RFC 5452 section 9.1; letter case aside, which is counted), or is an error
//!   without a question section.
//! - Latency counts from the send in a closed loop, from the *scheduled* send in every other schedule, so that a generator
//!   that falls behind cannot hide it. It includes the wait for a session to open. The time-out counts from the send.
//! - *Send times*: up to 64 queries are handed over in one go, which is timed before and after; each query's time is
//!   found by its place in the batch. The error is at most the length of the call, about 100 us for a full batch over the
//!   loopback interface, and a few microseconds as a rule. Over sessions it is the time at which the query was handed to
//!   its session, open or not.
//! - The estimate goes by the order of the stream, the kernel by client and length, so that a single send time may lie
//!   after the arrival of its answer: such a latency is recorded as 0, and does not count as the least one.
//! - *Send-time error* of a closed loop is the time for which places in the window stood empty: from the arrival of the
//!   answer that freed a place to the send that filled it.
//! - *Arrival times* over UDP and QUIC are the kernel's (`SO_TIMESTAMPNS`), not those of the read, so the generator may
//!   sleep while answers arrive. Over TCP they are taken after the read.
//! - A fixed rate above 16,000 queries per second and thread sends those due within 60 us together; that part of the
//!   send-time error is in the latency, which counts from the scheduled time. Random times and those of a capture are
//!   kept to the query.
//! - A closed loop whose queries queue at the server sleeps for up to 50 us, at most a third of the time that they queue,
//!   before it takes answers and sends again, so that the window is not full to the last place; the send-time error shows
//!   it. Over TCP, DoT and DoH up to that much of the latency is the generator's.
//! - Over UDP, the queries of one batch go by client and length, not in the order of the stream: those of one length
//!   share a system call (UDP segmentation offload). Each is a datagram of its own.
//! - Latency is recorded with three significant digits.

mod account;
pub mod answer;
mod breaking_point;
mod choice;
mod clock;
mod collector;
mod config;
pub mod dress;
mod engine;
mod error;
pub mod histogram;
mod in_flight;
mod interval;
mod kernel_drops;
mod limits;
mod memory;
mod order;
mod plan;
mod probe;
mod queries;
mod rcode;
mod refusal;
pub mod report;
mod run;
mod schedule;
pub mod search;
pub mod sink;
mod stop;
mod summary;
mod tally;
mod target;
#[cfg(test)]
mod test_clocks;
mod transport;
pub mod verdict;
mod wake_up;

pub use breaking_point::find_breaking_point;
pub use config::{
    Certificates, HttpMethod, HttpSettings, LoadConfig, Route, ScheduleKind, SessionSettings,
    StopCondition, TlsSettings, TlsVersions, TransportKind,
};
pub use error::LoadError;
pub use interval::{Interval, IntervalFigures};
pub use refusal::{Refusal, RefusedBy};
pub use report::LoadReport;
pub use run::{Progress, run};
pub use schedule::Step;
pub use tally::Connections;
pub use transport::{
    FrameReader, HandshakeFault, Http2, HttpRequests, Layer, LayerEvents, Outgoing, Wire,
};
pub use verdict::Bottleneck;

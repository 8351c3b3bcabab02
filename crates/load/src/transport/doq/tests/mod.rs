//! Clients against real QUIC servers that behave well and badly.

mod answers;
mod driver;
mod faults;
mod handshakes;
#[path = "../../../../tests/common/quic.rs"]
mod server;
mod sessions;

//! Whole loads against servers on loopback: one program, since each would link all of the transports again.

mod caller;
#[path = "../common/mod.rs"]
mod common;
mod dnspython;
mod doq;
mod dot;
mod fallback;
mod faults_dress;
mod faults_http;
mod faults_quic;
mod faults_streams;
mod faults_udp;
#[path = "../common/good.rs"]
mod good;
#[path = "../common/http.rs"]
mod http;
#[path = "../common/link.rs"]
mod link;
mod mix;
#[path = "../common/quic.rs"]
mod quic;
mod replay;
mod schedules;
mod search;
mod sessions_only;
#[path = "../common/small_namespace.rs"]
mod small_namespace;
mod tcp;
mod udp;

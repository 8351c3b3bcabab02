//! Serving: UDP and TCP on one address and port, and the encrypted transports beside them.

mod batch;
mod certificate;
mod config;
mod connection;
mod counters;
mod datagrams;
mod doh;
mod doq;
mod framed;
mod http;
mod link;
mod listen;
mod outgoing;
mod quic;
mod server;
mod shared;
mod tcp;
mod udp;
mod workspace;

use crate::AnswerError;
use listen::Listeners;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub use batch::send_all;
pub use certificate::Certificate;
pub use config::{Encrypted, ListenAddresses, ServeConfig};
pub use counters::{Counters, CountersSnapshot};
pub use doh::read_get_query;
pub use doq::read_stream_query;
pub use server::Server;
pub use shared::SharedResponder;

/// How often a thread without traffic looks whether it should stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// What the threads of a server have in common.
struct Service<'a> {
    config: &'a ServeConfig,
    responder: &'a SharedResponder,
    counters: &'a Counters,
    stop: &'a AtomicBool,
    /// Set when one thread fails, so that the others end as well.
    failed: AtomicBool,
    failure: Mutex<Option<AnswerError>>,
    /// Connections that are open.
    connections: AtomicUsize,
}

impl Service<'_> {
    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    fn fail(&self, error: AnswerError) {
        self.failed.store(true, Ordering::Relaxed);
        let mut failure = self
            .failure
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        failure.get_or_insert(error);
    }

    /// Takes room for one connection; false if there is none left.
    fn admit_connection(&self) -> bool {
        let admitted =
            self.connections.fetch_add(1, Ordering::Relaxed) < self.config.max_connections;
        if !admitted {
            self.release_connections(1);
        }
        admitted
    }

    fn release_connections(&self, count: usize) {
        self.connections.fetch_sub(count, Ordering::Relaxed);
    }
}

fn socket_error(
    protocol: &'static str,
    address: SocketAddr,
) -> impl Fn(std::io::Error) -> AnswerError {
    move |source| AnswerError::Socket {
        protocol,
        address,
        source,
    }
}

/// Serves until `stop` is set; that takes effect within about 50 ms.
///
/// `on_ready` is called once with the addresses and ports when queries are being received. Give `responder` new zones at
/// any time with [`SharedResponder::replace`].
///
/// # Errors
/// [`AnswerError::Listen`] and [`AnswerError::Certificate`] before `on_ready`; [`AnswerError::Socket`] and
/// [`AnswerError::Thread`] when serving breaks off.
pub fn serve(
    config: &ServeConfig,
    responder: &SharedResponder,
    counters: &Counters,
    stop: &AtomicBool,
    on_ready: impl FnOnce(ListenAddresses),
) -> Result<(), AnswerError> {
    let listeners = listen::listen(config)?;
    run(config, listeners, responder, counters, stop, on_ready)
}

fn run(
    config: &ServeConfig,
    listeners: Listeners,
    responder: &SharedResponder,
    counters: &Counters,
    stop: &AtomicBool,
    on_ready: impl FnOnce(ListenAddresses),
) -> Result<(), AnswerError> {
    let service = Service {
        config,
        responder,
        counters,
        stop,
        failed: AtomicBool::new(false),
        failure: Mutex::new(None),
        connections: AtomicUsize::new(0),
    };
    let addresses = listeners.addresses;
    thread::scope(|scope| {
        let service = &service;
        for socket in listeners.udp {
            start(scope, service, "answer-udp", move || {
                udp::run(service, socket, addresses.dns)
            });
        }
        for (protocol, listener) in listeners.tcp {
            start(scope, service, protocol.thread_name(), move || {
                tcp::run(service, listener, &protocol)
            });
        }
        for (settings, socket) in listeners.quic {
            start(scope, service, "answer-doq", move || {
                quic::run(service, socket, &settings)
            });
        }
        on_ready(addresses);
    });
    let failure = service
        .failure
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    failure.map_or(Ok(()), Err)
}

fn start<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    service: &'scope Service<'_>,
    name: &str,
    work: impl FnOnce() -> Result<(), AnswerError> + Send + 'scope,
) {
    let run = move || work().unwrap_or_else(|error| service.fail(error));
    if let Err(source) = thread::Builder::new()
        .name(name.into())
        .spawn_scoped(scope, run)
    {
        service.fail(AnswerError::Thread { source });
    }
}

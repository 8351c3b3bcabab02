//! Serving over UDP and TCP on one address and port.

mod batch;
mod connection;
mod counters;
mod listen;
mod shared;
mod tcp;
mod udp;

use crate::AnswerError;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub use counters::{Counters, CountersSnapshot};
pub use shared::SharedResponder;

/// How often a thread without traffic looks whether it should stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Where and how to serve.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// Address and port for UDP and TCP; port 0 takes one that is free for both. Responses to a wildcard address may
    /// come from another address than was asked, so name one.
    pub address: SocketAddr,
    /// Threads for UDP, and as many for TCP, each with a socket of its own on the same port (SO_REUSEPORT).
    pub threads: NonZeroUsize,
    /// TCP connections open at once, over all threads; further ones are closed as they come.
    pub max_connections: usize,
    /// How long a TCP connection may be idle before it is closed (RFC 7766 section 6.2.3).
    pub idle_timeout: Duration,
}

impl ServeConfig {
    /// One thread, 10,000 connections, 10 seconds idle time.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            threads: NonZeroUsize::MIN,
            max_connections: 10_000,
            idle_timeout: Duration::from_secs(10),
        }
    }
}

/// What the threads of a server have in common.
struct Service<'a> {
    config: &'a ServeConfig,
    address: SocketAddr,
    responder: &'a SharedResponder,
    counters: &'a Counters,
    stop: &'a AtomicBool,
    /// Set when one thread fails, so that the others end as well.
    failed: AtomicBool,
    failure: Mutex<Option<AnswerError>>,
    connections: std::sync::atomic::AtomicUsize,
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

    fn socket_error(&self, protocol: &'static str) -> impl Fn(std::io::Error) -> AnswerError {
        let address = self.address;
        move |source| AnswerError::Socket {
            protocol,
            address,
            source,
        }
    }
}

/// Serves until `stop` is set; that takes effect within about 50 ms.
///
/// `on_ready` is called once with the address and port when queries are being received. Give `responder` new zones at
/// any time with [`SharedResponder::replace`].
///
/// # Errors
/// [`AnswerError::Listen`] before `on_ready`; [`AnswerError::Socket`] and [`AnswerError::Thread`] when serving breaks off.
pub fn serve(
    config: &ServeConfig,
    responder: &SharedResponder,
    counters: &Counters,
    stop: &AtomicBool,
    on_ready: impl FnOnce(SocketAddr),
) -> Result<(), AnswerError> {
    let sockets = listen::listen(config)?;
    let service = Service {
        config,
        address: sockets.address,
        responder,
        counters,
        stop,
        failed: AtomicBool::new(false),
        failure: Mutex::new(None),
        connections: 0.into(),
    };
    thread::scope(|scope| {
        let service = &service;
        for socket in sockets.udp {
            start(scope, service, "answer-udp", move || {
                udp::run(service, socket)
            });
        }
        for listener in sockets.tcp {
            start(scope, service, "answer-tcp", move || {
                tcp::run(service, listener)
            });
        }
        on_ready(service.address);
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

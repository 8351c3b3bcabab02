//! Serving: UDP and TCP on one port of all addresses.

mod accounts;
mod arrivals;
mod datagrams;
mod delayed;
mod gathering;
mod listen;
mod packets;
mod spare;
mod tcp;
mod udp;

use crate::InternetError;
use crate::answer::{Answer, Arrived, Scratch};
use crate::servers::ServerId;
use accounts::Accounts;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use accounts::{Account, AccountKey, SIZE_BOUNDS, ServedBy};
pub use packets::EthernetLink;

/// How often a thread without traffic looks whether it should stop, and hands on its account.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Shorter ones make nothing more exact that matters.
const SHORTEST_BEAT: Duration = Duration::from_micros(200);
/// Single servers are nearer than the median of the nearest ones.
const LONGEST_BEAT: Duration = Duration::from_millis(1);
/// Added to the niceness of threads that give way: their weight is then a third of that of others on their processor.
const NICER: libc::c_int = 5;
/// Beats between two looks for queries over UDP.
const LOOK_BEATS: u32 = 4;
/// An answer over UDP may be early or late by this part of its way, or by the time between two looks, so that those leave together that
/// are due at about the same time, as long as few are: to be woken costs as much as several answers.
const EXACTNESS: u32 = 5;

/// What can be served: it turns queries to addresses into answers.
pub trait Responding: Send + Sync {
    /// Answers a query, writing to `out`, which has 65,535 octets.
    fn answer(&self, arrived: &Arrived<'_>, scratch: &mut Scratch, out: &mut [u8]) -> Answer;

    /// Whether any server has an IPv6 address.
    fn has_ipv6(&self) -> bool;

    /// How long answers of the nearest servers are on their way, in the median; none: answers take no time.
    fn nearest(&self) -> Option<Duration>;

    /// What accounts call a server that answers came from.
    fn served_by(&self, server: ServerId) -> ServedBy;

    /// Has its schedule of outages, if there is one, be `elapsed` old at `now` of the clock that queries arrive by.
    fn begin_outages(&self, _now: Duration, _elapsed: Duration) {}

    /// Has all servers answer until the schedule begins again.
    fn hold_outages(&self) {}

    /// Signatures made so far.
    fn signatures_made(&self) -> u64;

    /// Zones made so far, or parts of those that are made in parts; one that was dropped and made again counts twice.
    fn zones_made(&self) -> u64;

    /// Octets that zones, signatures and answers take now, about.
    fn octets(&self) -> usize;
}

/// How an Internet is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// UDP and TCP port; 0 takes a free one. Resolvers ask port 53.
    pub port: u16,
    /// Threads for UDP; TCP has one more.
    pub threads: NonZeroUsize,
    /// Receives from this machine alone: only what comes over the loopback device.
    pub on_loopback: bool,
    /// Gives way to others on its processors, such as a load generator, whose queries have to leave at their times.
    pub gives_way: bool,
    /// A link over which answers to what came by it may leave as whole packets; none: the system sends all. That is faster and needs
    /// CAP_NET_RAW, without which the system sends them as well.
    pub link: Option<EthernetLink>,
    /// Memory for answers that wait for their time, in each thread; further ones are dropped.
    pub delayed_octets_max: usize,
    /// TCP connections open at once; further ones are closed as they come.
    pub max_connections: usize,
    /// How long a connection may be idle before it is closed.
    pub idle_timeout: Duration,
}

impl ServeOptions {
    /// Port 53 with a thread for each processor.
    pub fn new() -> Self {
        Self {
            port: 53,
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            on_loopback: false,
            gives_way: false,
            link: None,
            delayed_octets_max: 128 << 20,
            max_connections: 20_000,
            idle_timeout: Duration::from_secs(10),
        }
    }
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What the threads have in common.
struct Service {
    internet: Arc<dyn Responding>,
    /// What all times are multiples of; none: answers take no time.
    ///
    /// Half of it is how exact times can be: a tenth of the way to the nearest servers in the median, 0.5 ms at most. Queries over
    /// UDP are looked for at every [`LOOK_BEATS`]th, and where few answers leave, it is mostly then.
    beat: Option<Duration>,
    options: ServeOptions,
    began: Instant,
    accounts: Mutex<Accounts>,
    /// Queries in the accounts.
    queries: AtomicU64,
    /// Answers that were dropped: no room to wait, or the system refused to send them.
    dropped: AtomicU64,
    /// For how long queries over UDP are gathered where no server has a distance, in ns.
    gathers_ns: AtomicU64,
    stop: AtomicBool,
    failure: Mutex<Option<InternetError>>,
}

impl Service {
    /// Begins now, with empty accounts.
    fn new(internet: Arc<dyn Responding>, options: ServeOptions) -> Self {
        let beat = |nearest: Duration| (nearest / 5).clamp(SHORTEST_BEAT, LONGEST_BEAT);
        Self {
            beat: internet.nearest().map(beat),
            internet,
            options,
            began: Instant::now(),
            accounts: Mutex::default(),
            queries: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            gathers_ns: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How long it is at least from one look for queries over UDP to the next, when some came; zero: whenever one comes.
    fn between_looks(&self) -> Duration {
        self.beat.map_or_else(
            || Duration::from_nanos(self.gathers_ns.load(Ordering::Relaxed)),
            |beat| beat * LOOK_BEATS,
        )
    }

    fn fail(&self, error: InternetError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut failure = self
            .failure
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        failure.get_or_insert(error);
    }

    /// Takes down answers that could not be sent.
    fn count_dropped(&self, answers: usize) {
        if answers > 0 {
            self.dropped.fetch_add(answers as u64, Ordering::Relaxed);
        }
    }

    fn hand_on(&self, accounts: &mut Accounts) {
        if !accounts.is_empty() {
            let mut all = self
                .accounts
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            let queries = all.take(accounts);
            self.queries.fetch_add(queries, Ordering::Relaxed);
        }
    }
}

/// An Internet that is served in the background until it is stopped or dropped.
pub struct InternetServer {
    service: Arc<Service>,
    sends_packets: bool,
    port: u16,
    threads: Vec<JoinHandle<()>>,
}

impl InternetServer {
    /// Starts serving; queries are received when this returns. Its sockets belong to the network namespace of the calling
    /// thread.
    ///
    /// # Errors
    /// [`InternetError::Listen`], [`InternetError::Thread`].
    pub fn start(
        internet: Arc<dyn Responding>,
        options: ServeOptions,
    ) -> Result<Self, InternetError> {
        let has_ipv6 = internet.has_ipv6();
        internet.begin_outages(Duration::ZERO, Duration::ZERO);
        let service = Arc::new(Service::new(internet, options));
        let stamps = service.beat.is_some();
        let sockets = listen::listen(&options, has_ipv6, stamps)?;
        let mut packet_sockets = packets::sockets(&options)?;
        let mut server = Self {
            service,
            sends_packets: !packet_sockets.is_empty(),
            port: sockets.port,
            threads: Vec::new(),
        };
        for of_thread in sockets.udp {
            let of_packets = packet_sockets.pop();
            server.spawn("internet-udp", move |service| {
                udp::run(service, &of_thread, of_packets)
            })?;
        }
        let listeners = sockets.tcp;
        server.spawn("internet-tcp", move |service| tcp::run(service, listeners))?;
        Ok(server)
    }

    fn spawn(
        &mut self,
        name: &str,
        work: impl FnOnce(&Service) -> Result<(), InternetError> + Send + 'static,
    ) -> Result<(), InternetError> {
        let service = Arc::clone(&self.service);
        let run = move || {
            if service.options.gives_way {
                give_way();
            }
            work(&service).unwrap_or_else(|error| service.fail(error));
        };
        let thread = thread::Builder::new()
            .name(name.into())
            .spawn(run)
            .map_err(|source| InternetError::Thread { source })?;
        self.threads.push(thread);
        Ok(())
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What is served.
    pub fn internet(&self) -> &dyn Responding {
        &*self.service.internet
    }

    /// Whether it serves; if not, [`InternetServer::stop`] says why.
    pub fn is_running(&self) -> bool {
        !self.service.should_stop()
    }

    /// Queries since the beginning; the last 50 ms may be missing. It takes no time, as it is asked for while somebody measures.
    pub fn queries(&self) -> u64 {
        self.service.queries.load(Ordering::Relaxed)
    }

    /// Queries and answers since the beginning, by who was asked, type and transport; the last 50 ms may be missing.
    pub fn accounts(&self) -> Vec<(AccountKey, Account)> {
        let accounts = self
            .service
            .accounts
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        accounts.rows(&*self.service.internet)
    }

    /// Has queries over UDP that come one after the other gathered for so long at most, to be answered at one waking, if no server has
    /// a distance; zero, as at the start: each is answered as it comes. One that comes after a pause is answered at once.
    pub fn gather(&self, most: Duration) {
        let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        self.service.gathers_ns.store(most, Ordering::Relaxed);
    }

    /// Whether answers leave as whole packets where they can: [`ServeOptions::link`] is told, and the system permits it.
    pub fn sends_packets(&self) -> bool {
        self.sends_packets
    }

    /// Begins the schedule of outages once more: it is `elapsed` old now. Without this it began when serving did. It is the
    /// Internet's: another server of the same one has it, too.
    pub fn begin_outages(&self, elapsed: Duration) {
        let internet = &self.service.internet;
        internet.begin_outages(self.service.began.elapsed(), elapsed);
    }

    /// Has all servers answer until the schedule begins again.
    pub fn hold_outages(&self) {
        self.service.internet.hold_outages();
    }

    /// Answers that were made and not sent: too many were waiting, or the system refused them. Of whole packets it also refuses those
    /// that find no room on the other side, which it does not tell of datagrams.
    pub fn dropped(&self) -> u64 {
        self.service.dropped.load(Ordering::Relaxed)
    }

    /// Stops it; the accounts are complete then.
    ///
    /// # Errors
    /// [`InternetError::Socket`] if serving had broken off before.
    pub fn stop(&mut self) -> Result<(), InternetError> {
        self.service.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        let mut failure = self
            .service
            .failure
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        failure.take().map_or(Ok(()), Err)
    }
}

/// Lowers the priority of the calling thread: on Linux niceness is each thread's own (setpriority(2)). That needs no permission.
fn give_way() {
    // SAFETY: takes no pointers.
    unsafe { libc::nice(NICER) };
}

impl Drop for InternetServer {
    fn drop(&mut self) {
        self.service.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Who wants to know the error calls `stop`.
            let _ = thread.join();
        }
    }
}

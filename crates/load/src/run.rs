//! Running a load: threads, their parts, and the caller's view of them.

use crate::account::Account;
use crate::clock::{Clock, MonotonicClock};
use crate::collector::{Collector, seconds};
use crate::config::{LoadConfig, ScheduleKind, TransportKind};
use crate::engine::{Engine, IntervalPart, Outcome, Task};
use crate::in_flight::InFlight;
use crate::kernel_drops::udp_receive_drops;
use crate::probe::probe;
use crate::queries::{Part, Queries};
use crate::report::{Interval, LoadReport};
use crate::rotation::Rotation;
use crate::schedule::{ClosedLoop, FixedRate, Pace, Schedule};
use crate::stop::Stop;
use crate::summary::summarise;
use crate::transport::{self, BATCH, Tcp, Transport, Udp};
use crate::{LoadError, target};
use dnsrig_stream::QueryStream;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Longest time between two calls of the progress function.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Time for all threads to get ready before the first query.
const HEAD_START_NS: u64 = 5_000_000;

/// How far a load has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Seconds since the first query.
    pub elapsed_s: f64,
    /// An interval that has just ended, in order, each given once.
    pub interval: Option<&'a Interval>,
}

/// Sends `stream` to the configured server and accounts for every query.
///
/// The server is first asked the stream's first query; if it gives no sign of life within about 3 s, there is no load.
/// Then `config.threads` threads send their parts of the stream, which begins again at its end, until the stop
/// condition is met or `cancel` is set; each query still in flight then gets the rest of its time-out.
///
/// `on_progress` is called on the caller's thread, for each interval that ends and at least every 100 ms; breaking is
/// as good as setting `cancel`. A cancelled load has a report, too.
///
/// # Errors
/// [`LoadError`]; none once the load has begun, except [`LoadError::System`] if a thread cannot be pinned.
pub fn run(
    stream: &QueryStream,
    config: &LoadConfig,
    cancel: &AtomicBool,
    on_progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<LoadReport, LoadError> {
    config.check()?;
    target::check(config.server, config.allow_any_target)?;
    let queries = Queries::new(stream)?;
    probe(config.server, config.transport, queries.message(0))?;
    match config.transport {
        TransportKind::Udp => run_over(Udp::open, &queries, config, cancel, on_progress),
        _ => run_over(Tcp::open, &queries, config, cancel, on_progress),
    }
}

/// Runs the load over the transport that `open` opens for a server and a number of clients.
fn run_over<T: Transport + Send>(
    open: impl Fn(std::net::SocketAddr, usize) -> Result<T, LoadError>,
    queries: &Queries<'_>,
    config: &LoadConfig,
    cancel: &AtomicBool,
    on_progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<LoadReport, LoadError> {
    let threads = config.thread_count();
    let transports = (0..threads)
        .map(|thread| open(config.server, share(config.client_count(), thread, threads)));
    let transports = transports.collect::<Result<Vec<_>, _>>()?;
    let drops_before = udp_receive_drops();
    let start_ns = MonotonicClock.now_ns() + HEAD_START_NS;
    let (parts, received) = mpsc::channel();
    let mut collector = Collector::new(threads, start_ns);
    let outcomes = thread::scope(|scope| {
        let workers: Vec<_> = transports
            .into_iter()
            .enumerate()
            .map(|(thread, transport)| {
                let worker = Worker {
                    queries,
                    config,
                    thread,
                    threads,
                    start_ns,
                };
                let parts = parts.clone();
                scope.spawn(move || worker.run(transport, cancel, parts))
            })
            .collect();
        drop(parts);
        watch(&received, &mut collector, start_ns, cancel, on_progress);
        workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let outcomes: Result<Vec<Outcome>, LoadError> = outcomes;
    let drops = udp_receive_drops().saturating_sub(drops_before);
    Ok(summarise(config, start_ns, collector, &outcomes?, drops))
}

/// Collects what the threads deliver until all have ended.
fn watch(
    received: &Receiver<IntervalPart>,
    collector: &mut Collector,
    start_ns: u64,
    cancel: &AtomicBool,
    mut on_progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>,
) {
    loop {
        let known = collector.intervals.len();
        match received.recv_timeout(PROGRESS_EVERY) {
            Ok(part) => collector.add(part),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let elapsed_s = seconds(MonotonicClock.now_ns().saturating_sub(start_ns));
        let ended = collector.intervals[known..].iter().map(Some);
        let none = std::iter::once(None).filter(|_| collector.intervals.len() == known);
        for interval in ended.chain(none) {
            if on_progress(&Progress {
                elapsed_s,
                interval,
            })
            .is_break()
            {
                cancel.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// One of `threads` generator threads.
struct Worker<'a> {
    queries: &'a Queries<'a>,
    config: &'a LoadConfig,
    thread: usize,
    threads: usize,
    start_ns: u64,
}

impl Worker<'_> {
    fn run(
        &self,
        transport: impl Transport,
        cancel: &AtomicBool,
        parts: Sender<IntervalPart>,
    ) -> Result<Outcome, LoadError> {
        let cpus = &self.config.cpus;
        if !cpus.is_empty()
            && let Err(error) = transport::pin_to_cpu(cpus[self.thread % cpus.len()])
        {
            cancel.store(true, Ordering::Relaxed);
            return Err(error);
        }
        transport::wake_precisely();
        let clients = transport.clients();
        match self.config.schedule {
            ScheduleKind::ClosedLoop {
                outstanding,
                max_rate_qps,
            } => {
                let window = share(outstanding, self.thread, self.threads);
                let pace = max_rate_qps.map(|rate| self.pace(rate));
                let schedule = ClosedLoop::new(self.start_ns, window, pace);
                let per_client = window.div_ceil(clients);
                let rotation = Rotation::new(clients, per_client.min(BATCH));
                Ok(self.drive(schedule, transport, rotation, cancel, &parts))
            }
            ScheduleKind::FixedRate { rate_qps } => {
                let schedule = FixedRate::new(self.pace(rate_qps));
                Ok(self.drive(
                    schedule,
                    transport,
                    Rotation::new(clients, BATCH),
                    cancel,
                    &parts,
                ))
            }
        }
    }

    fn drive(
        &self,
        schedule: impl Schedule,
        transport: impl Transport,
        rotation: Rotation,
        cancel: &AtomicBool,
        parts: &Sender<IntervalPart>,
    ) -> Outcome {
        let task = Task {
            part: Part::new(self.thread, self.threads, self.queries.len()),
            start_ns: self.start_ns,
            stop: Stop::share(
                &self.config.stop,
                self.start_ns,
                self.queries.len(),
                self.thread as u64,
                self.threads as u64,
            ),
        };
        let in_flight = InFlight::new(transport.clients(), self.config.slots_per_client());
        let account = Account::new(
            self.queries,
            self.config.timeout.as_nanos() as u64,
            in_flight,
        );
        let engine = Engine::new(task, schedule, transport, MonotonicClock, account, rotation);
        // The receiver lives until all threads have ended.
        engine.run(cancel, |part| drop(parts.send(part)))
    }

    fn pace(&self, rate_qps: f64) -> Pace {
        Pace::new(
            self.start_ns,
            rate_qps,
            self.thread as u64,
            self.threads as u64,
        )
    }
}

/// The share of thread number `thread` in `total` things.
fn share(total: usize, thread: usize, threads: usize) -> usize {
    total / threads + usize::from(thread < total % threads)
}

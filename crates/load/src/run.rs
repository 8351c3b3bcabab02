//! Running a load: threads, their parts, and the caller's view of them.

use crate::account::{Account, Routes};
use crate::choice::Rotation;
use crate::clock::{Clock, MonotonicClock, realtime_ns};
use crate::collector::{Collector, seconds};
use crate::config::{LoadConfig, Route, ScheduleKind, StreamTimes, TransportKind};
use crate::dress::{DressSettings, Dresser};
use crate::engine::{Engine, IntervalPart, Outcome, Task, Work};
use crate::in_flight::InFlight;
use crate::interval::Interval;
use crate::kernel_drops::udp_receive_drops;
use crate::limits::raise_file_limit;
use crate::memory::resident_bytes;
use crate::plan::{Plan, kinds, share};
use crate::probe::probe;
use crate::queries::Queries;
use crate::report::LoadReport;
use crate::schedule::{
    ClosedLoop, FixedRate, Pace, Planned, Poisson, RatePlan, Replay, Schedule, Timeline,
};
use crate::stop::Stop;
use crate::summary::{Whole, summarise};
use crate::transport::{self, AnyTransport, Mix, Transport, Udp};
use crate::{LoadError, target};
use dnsrig_stream::QueryStream;
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Longest time between two calls of the progress function.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Time between all threads' being ready and the first query, in which they measure how late they are woken up.
const HEAD_START_NS: u64 = 30_000_000;

/// Where threads wait for each other to be ready, and learn when the load begins.
struct Start {
    ready: Barrier,
    is_set: Barrier,
    at_ns: AtomicU64,
}

impl Start {
    fn new(waiting: usize) -> Self {
        Self {
            ready: Barrier::new(waiting),
            is_set: Barrier::new(waiting),
            at_ns: AtomicU64::new(0),
        }
    }

    /// Waits for all; gives the time at which the load begins.
    fn wait(&self) -> u64 {
        if self.ready.wait().is_leader() {
            let at_ns = MonotonicClock.now_ns() + HEAD_START_NS;
            self.at_ns.store(at_ns, Ordering::Relaxed);
        }
        self.is_set.wait();
        self.at_ns.load(Ordering::Relaxed)
    }
}

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
/// `on_progress` is called on the caller's thread as the load begins, for each interval that ends and at least every 100 ms; breaking is
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
    let queries = Queries::new(stream)?;
    config.check_messages(stream)?;
    let plans = Plan::make(config, stream)?;
    raise_file_limit(plans.iter().map(|plan| plan.places.len()).sum());
    check_servers(config, &queries, cancel)?;
    // Plain UDP is the fastest, and compiled on its own.
    match config.routes.as_slice() {
        [route] if route.transport == TransportKind::Udp && !config.tcp_fallback => {
            let open = |plan: &Plan| Udp::open(route.server, plan.clients[0], &config.sources);
            run_over(open, plans, &queries, config, cancel, on_progress)
        }
        _ => {
            let open = |plan: &Plan| open_mix(config, plan);
            run_over(open, plans, &queries, config, cancel, on_progress)
        }
    }
}

/// Checks that the servers may be loaded, and that each gives a sign of life.
///
/// # Errors
/// [`LoadError::ForeignTarget`], [`LoadError::Unreachable`], [`LoadError::Silent`]
pub fn check_servers(
    config: &LoadConfig,
    queries: &Queries<'_>,
    cancel: &AtomicBool,
) -> Result<(), LoadError> {
    for route in &config.routes {
        target::check(route.server, config.allow_any_target)?;
        if !config.sessions_only {
            probe(route, &config.sources, queries.message(0), cancel)?;
        }
    }
    Ok(())
}

/// Opens the transports of one thread.
fn open_mix(config: &LoadConfig, plan: &Plan) -> Result<Mix, LoadError> {
    let mut routes: Vec<Route> = config.routes.clone();
    if config.tcp_fallback {
        let of_udp = |route: &&Route| route.transport == TransportKind::Udp;
        let server = routes.iter().find(of_udp).map(|route| route.server);
        routes.extend(server.map(Route::of_truncated));
    }
    let transports = routes
        .iter()
        .zip(&plan.clients)
        .map(|(route, clients)| AnyTransport::open(route, *clients, &config.sources));
    Mix::new(transports.collect::<Result<_, _>>()?)
}

/// Runs the load over the transport that `open` opens for each thread's plan.
fn run_over<T: Transport + Send>(
    open: impl Fn(&Plan) -> Result<T, LoadError>,
    plans: Vec<Plan>,
    queries: &Queries<'_>,
    config: &LoadConfig,
    cancel: &AtomicBool,
    on_progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<LoadReport, LoadError> {
    let threads = plans.len();
    let memory_before = resident_bytes();
    let transports = plans.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let drops_before = udp_receive_drops();
    let start = Start::new(threads + 1);
    let (parts, received) = mpsc::channel();
    let clients: Vec<usize> = (0..kinds(config).len())
        .map(|route| plans.iter().map(|plan| plan.clients[route]).sum())
        .collect();
    let (outcomes, collector, start_ns, start_unix_ns) = thread::scope(|scope| {
        let workers: Vec<_> = transports
            .into_iter()
            .zip(plans)
            .enumerate()
            .map(|(thread, (transport, plan))| {
                let worker = Worker {
                    queries,
                    config,
                    thread,
                    threads,
                };
                let start = &start;
                let parts = parts.clone();
                scope.spawn(move || worker.run(plan, transport, start, cancel, parts))
            })
            .collect();
        drop(parts);
        let start_ns = start.wait();
        let start_unix_ns = realtime_ns() + start_ns.saturating_sub(MonotonicClock.now_ns());
        let mut collector = Collector::new(threads, kinds(config), start_ns);
        watch(&received, &mut collector, start_ns, cancel, on_progress);
        let outcomes: Result<Vec<Outcome>, LoadError> = workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect();
        (outcomes, collector, start_ns, start_unix_ns)
    });
    let outcomes = outcomes?;
    let memory_after = outcomes
        .iter()
        .filter_map(|outcome| outcome.resident_bytes)
        .max();
    let drops = udp_receive_drops().saturating_sub(drops_before);
    let whole = Whole {
        start_ns,
        start_unix_ns,
        collector,
        outcomes,
        clients,
        udp_drops: drops,
        memory_bytes: memory_before
            .zip(memory_after)
            .map(|(before, after)| after.saturating_sub(before)),
    };
    Ok(summarise(config, queries.stream(), whole))
}

/// Collects what the threads deliver until all have ended.
fn watch(
    received: &Receiver<IntervalPart>,
    collector: &mut Collector,
    start_ns: u64,
    cancel: &AtomicBool,
    mut on_progress: impl FnMut(&Progress<'_>) -> ControlFlow<()>,
) {
    let since_start_s = || seconds(MonotonicClock.now_ns().saturating_sub(start_ns));
    let begun = Progress {
        elapsed_s: since_start_s(),
        interval: None,
    };
    if on_progress(&begun).is_break() {
        cancel.store(true, Ordering::Relaxed);
    }
    loop {
        let part = match received.recv_timeout(PROGRESS_EVERY) {
            Ok(part) => Some(part),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let elapsed_s = since_start_s();
        let mut tell = |interval: Option<&Interval>| {
            let progress = Progress {
                elapsed_s,
                interval,
            };
            if on_progress(&progress).is_break() {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let mut finished = false;
        if let Some(part) = part {
            collector.add(part, |interval| {
                finished = true;
                tell(Some(interval));
            });
        }
        if !finished {
            tell(None);
        }
    }
}

/// What a thread has when the load begins.
struct Rest<'a, T> {
    start_ns: u64,
    plan: Plan,
    transport: T,
    account: Account<'a>,
    cancel: &'a AtomicBool,
    parts: Sender<IntervalPart>,
}

/// One of `threads` generator threads.
struct Worker<'a> {
    queries: &'a Queries<'a>,
    config: &'a LoadConfig,
    thread: usize,
    threads: usize,
}

impl Worker<'_> {
    fn run(
        &self,
        plan: Plan,
        transport: impl Transport,
        start: &Start,
        cancel: &AtomicBool,
        parts: Sender<IntervalPart>,
    ) -> Result<Outcome, LoadError> {
        let cpus = &self.config.cpus;
        let pinned = match cpus.len() {
            0 => Ok(()),
            count => transport::pin_to_cpu(cpus[self.thread % count]),
        };
        transport::wake_precisely();
        // In a closed loop answers say when to send, at most so many a second, and to be woken for each would cost more.
        if !matches!(self.config.schedule, ScheduleKind::ClosedLoop { .. }) {
            transport::take_short_turns();
        }
        let ready = pinned.and_then(|()| self.account(&plan));
        if ready.is_err() {
            cancel.store(true, Ordering::Relaxed);
        }
        let start_ns = start.wait();
        let account = ready?;
        let rest = Rest {
            start_ns,
            plan,
            transport,
            account,
            cancel,
            parts,
        };
        let (thread, threads) = (self.thread as u64, self.threads as u64);
        Ok(match &self.config.schedule {
            ScheduleKind::ClosedLoop {
                outstanding,
                max_rate_qps,
            } => {
                let window = share(*outstanding, self.thread, self.threads);
                let pace = max_rate_qps.map(|rate| Pace::new(start_ns, rate, thread, threads));
                let schedule = ClosedLoop::new(start_ns, window, pace);
                self.drive(schedule, rest)
            }
            ScheduleKind::FixedRate { rate_qps } => {
                let schedule = FixedRate::new(Pace::new(start_ns, *rate_qps, thread, threads));
                self.drive(schedule, rest)
            }
            ScheduleKind::Poisson { rate_qps } => {
                let seed = self.config.seed;
                let schedule = Poisson::new(start_ns, *rate_qps, seed, thread, threads);
                self.drive(schedule, rest)
            }
            ScheduleKind::Ramp {
                from_qps,
                to_qps,
                span_s,
            } => {
                let rates = RatePlan::ramp(*from_qps, *to_qps, *span_s);
                let schedule = Planned::new(rates, start_ns, thread, threads);
                self.drive(schedule, rest)
            }
            ScheduleKind::Steps { steps } => {
                let rates = RatePlan::steps(steps);
                let schedule = Planned::new(rates, start_ns, thread, threads);
                self.drive(schedule, rest)
            }
            ScheduleKind::Replay { speed } => {
                let timeline = Timeline::new(StreamTimes(self.queries.stream()), *speed);
                let numbers = rest.plan.order.numbers();
                let schedule = Replay::new(timeline, numbers, start_ns);
                self.drive(schedule, rest)
            }
        })
    }

    /// The account of the thread, ready for the first query.
    fn account(&self, plan: &Plan) -> Result<Account<'_>, LoadError> {
        let config = self.config;
        let advice = match config.schedule {
            ScheduleKind::ClosedLoop { .. } => " (lower -q)",
            _ => " (lower the rate, or the time-out with -t)",
        };
        let mut account = Account::new(
            self.queries,
            config.timeout.as_nanos() as u64,
            InFlight::try_new(plan.places.iter().copied(), advice)?,
            Routes::new(&plan.clients),
        );
        if config.tcp_fallback {
            let is_udp = |route: &Route| route.transport == TransportKind::Udp;
            account.move_truncated(config.routes.iter().position(is_udp));
        }
        if config.sessions_only {
            account.count_sessions(plan.clients[0]);
        }
        let places = plan.places.iter().map(|count| count.next_power_of_two());
        account.dress(Dresser::new(
            &DressSettings {
                // Clients of other threads have other cookies.
                seed: config.seed ^ (self.thread as u64) << 48,
                ..config.dress.clone()
            },
            plan.places.len(),
            places.sum(),
        ));
        Ok(account)
    }

    fn drive<T: Transport>(&self, schedule: impl Schedule, rest: Rest<'_, T>) -> Outcome {
        let config = self.config;
        let Rest {
            start_ns,
            mut plan,
            transport,
            account,
            cancel,
            parts,
        } = rest;
        let stop = Stop::share(&config.stop, start_ns, self.queries.len(), &plan.order);
        let work = if config.sessions_only {
            Work::Sessions {
                rotation: Rotation::new(0..plan.clients[0], 1),
                hold: config.hold_sessions,
            }
        } else {
            let choice = plan.choice(config, self.thread);
            Work::Queries {
                order: plan.order,
                choice,
            }
        };
        let task = Task {
            work,
            start_ns,
            stop,
            fallback: plan.fallback,
        };
        let engine = Engine::new(task, schedule, transport, MonotonicClock, account);
        // The receiver lives until all threads have ended.
        engine.run(cancel, |part| drop(parts.send(part)))
    }
}

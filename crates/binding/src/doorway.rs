//! The one way from Python into long work: without the interpreter's lock, and open to Ctrl-C.

use crate::errors::{Kind, exception};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the calling thread looks for signals while the work goes on.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);
/// How often the calling thread is told how far the work is: each time it has to be woken, and on one processor takes it from the work.
const PROGRESS: Duration = Duration::from_millis(50);
/// Events that wait for the calling thread; more are dropped, as the next ones replace them.
const WAITING_EVENTS: usize = 64;

/// Runs `work` on a thread of its own without the interpreter's lock.
///
/// `work` gets a cancel flag, set when a signal handler of Python raises (Ctrl-C), and a function that passes an event
/// to `on_event` on the calling thread. Returns what `work` returned, and the exception that the handler or `on_event`
/// raised meanwhile.
pub fn detached<T, Event, Work>(
    py: Python<'_>,
    work: Work,
    mut on_event: impl FnMut(Event) -> PyResult<()>,
) -> PyResult<(T, PyResult<()>)>
where
    T: Send,
    Event: Send,
    Work: FnOnce(&AtomicBool, &(dyn Fn(Event) + Sync)) -> T + Send,
{
    let cancel = AtomicBool::new(false);
    let (sender, mut receiver) = sync_channel::<Event>(WAITING_EVENTS);
    thread::scope(|scope| {
        let cancelled = &cancel;
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            let pass_on = |event| drop(sender.try_send(event));
            work(cancelled, &pass_on)
        });
        let worker = worker.map_err(|error| {
            exception(
                Kind::EnvironmentLacks,
                format!(
                    "cannot start a thread: {error}; let the process have more threads or memory"
                ),
            )
        })?;
        let mut raised = Ok(());
        loop {
            let receiver = &mut receiver;
            let received = py.detach(move || receiver.recv_timeout(SIGNAL_CHECK));
            let outcome = match received {
                Ok(event) => on_event(event),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = outcome.and_then(|()| py.check_signals()) {
                cancel.store(true, Ordering::Relaxed);
                raised = raised.and(Err(error));
            }
        }
        let result = py.detach(|| worker.join()).map_err(|_| {
            pyo3::exceptions::PyRuntimeError::new_err("dnsrig's core failed; please report this")
        })?;
        Ok((result, raised))
    })
}

/// Runs `work` as [`detached`] does, whose events say how far it is: now and then `on_progress` gets the latest, and at the end the
/// last.
pub fn with_progress<T, Event, Work>(
    py: Python<'_>,
    work: Work,
    mut on_progress: impl FnMut(Event) -> PyResult<()>,
) -> PyResult<(T, PyResult<()>)>
where
    T: Send,
    Event: Send,
    Work: FnOnce(&AtomicBool, &(dyn Fn(Event) + Sync)) -> T + Send,
{
    let (latest, pace) = (Latest::default(), Pace::new());
    let mut tell = |()| latest.take().map_or(Ok(()), &mut on_progress);
    let (result, raised) = detached(
        py,
        |cancel, wake: &(dyn Fn(()) + Sync)| {
            work(cancel, &|event| {
                latest.put(event);
                if pace.is_due() {
                    wake(());
                }
            })
        },
        &mut tell,
    )?;
    Ok((result, raised.and_then(tell)))
}

/// The latest event that was not told yet.
struct Latest<Event>(Mutex<Option<Event>>);

impl<Event> Default for Latest<Event> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<Event> Latest<Event> {
    fn put(&self, event: Event) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(event);
    }

    fn take(&self) -> Option<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Says once in [`PROGRESS`] that it is time, whichever thread asks.
struct Pace {
    began: Instant,
    next_ms: AtomicU64,
}

impl Pace {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            next_ms: AtomicU64::new(0),
        }
    }

    fn is_due(&self) -> bool {
        let (now_ms, next_ms) = (
            self.began.elapsed().as_millis() as u64,
            self.next_ms.load(Ordering::Relaxed),
        );
        let later_ms = now_ms + PROGRESS.as_millis() as u64;
        now_ms >= next_ms
            && self
                .next_ms
                .compare_exchange(next_ms, later_ms, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

/// Runs `work`, which can neither be cancelled nor leaves anything behind, on a thread of its own without the interpreter's
/// lock.
///
/// When a signal handler of Python raises (Ctrl-C), that exception is returned at once, and the thread is left to itself.
pub fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    thread::Builder::new().spawn(move || drop(sender.send(work())))?;
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(SIGNAL_CHECK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(pyo3::exceptions::PyRuntimeError::new_err(
                    "dnsrig's core failed; please report this",
                ));
            }
        }
    }
}

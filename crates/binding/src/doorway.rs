//! The one way from Python into long work: without the interpreter's lock, and open to Ctrl-C.

use crate::errors::{Kind, exception};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How often the calling thread looks for signals while the work goes on.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);
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

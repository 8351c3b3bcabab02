//! `_core.serve`: the embedded server.

use crate::arguments::{parse_address, parse_name};
use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_answer::{Answers, Counters, Options, Responder, ServeConfig, SharedResponder};
use dnsrig_zone::{Name, ReadZone};
use pyo3::prelude::*;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often signals are looked for.
const SIGNAL_CHECK: Duration = Duration::from_millis(20);

/// What happens while a server runs.
enum Event {
    Ready(u16),
    ReloadFailed(String),
}

/// Serves `zones` (name, file) until SIGTERM or Ctrl-C; `on_ready` gets the port. SIGHUP reads the files again.
///
/// A reload that fails leaves the zones as they were and prints the error.
#[pyfunction]
pub fn serve(
    py: Python<'_>,
    zones: Vec<(String, PathBuf)>,
    address: &str,
    port: u16,
    threads: usize,
    minimal: bool,
    on_ready: Bound<'_, PyAny>,
) -> PyResult<()> {
    let threads = NonZeroUsize::new(threads)
        .ok_or_else(|| exception(Kind::Input, "a server needs at least one thread"))?;
    let config = ServeConfig {
        threads,
        ..ServeConfig::new(SocketAddr::new(parse_address(address)?, port))
    };
    let zones = zones
        .into_iter()
        .map(|(origin, path)| Ok((parse_name(&origin)?, path)))
        .collect::<PyResult<Vec<_>>>()?;
    let answers = if minimal {
        Answers::Minimal
    } else {
        Answers::Full
    };
    let options = Options {
        answers,
        ..Options::default()
    };
    let responder = SharedResponder::new(py.detach(|| responder(&zones, options))?);
    let terminate = flag(signal_hook::consts::SIGTERM)?;
    let reload = flag(signal_hook::consts::SIGHUP)?;
    let counters = Counters::default();
    let (served, raised) = detached(
        py,
        |cancel, pass_on| {
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        std::thread::sleep(SIGNAL_CHECK);
                        if reload.swap(false, Ordering::Relaxed) {
                            match self::responder(&zones, options) {
                                Ok(new) => responder.replace(new),
                                Err(error) => pass_on(Event::ReloadFailed(error.to_string())),
                            }
                        }
                        if cancel.load(Ordering::Relaxed) || terminate.load(Ordering::Relaxed) {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                });
                let served = dnsrig_answer::serve(
                    &config,
                    &responder,
                    &counters,
                    &stop,
                    |bound: SocketAddr| {
                        pass_on(Event::Ready(bound.port()));
                    },
                );
                stop.store(true, Ordering::Relaxed);
                served
            })
        },
        |event| match event {
            Event::Ready(port) => on_ready.call1((port,)).map(drop),
            Event::ReloadFailed(message) => {
                eprintln!("error: not reloaded, the zones are served as before: {message}");
                Ok(())
            }
        },
    )?;
    raised.and(served.or_raise())
}

fn responder(zones: &[(Name, PathBuf)], options: Options) -> PyResult<Responder> {
    let mut read = Vec::with_capacity(zones.len());
    for (origin, path) in zones {
        read.push(Arc::new(
            ReadZone::from_file(path, Some(origin)).or_raise()?.zone,
        ));
    }
    Responder::new(read, options).or_raise()
}

fn flag(signal: i32) -> PyResult<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(|error| {
        exception(
            Kind::EnvironmentLacks,
            format!("cannot wait for signal {signal}: {error}"),
        )
    })?;
    Ok(flag)
}

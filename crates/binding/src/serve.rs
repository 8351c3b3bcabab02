//! `_core.serve`: the embedded server.

use crate::arguments::{parse_address, parse_name};
use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_answer::{
    Answers, Certificate, Counters, Encrypted, ListenAddresses, Options, Responder, ServeConfig,
    SharedResponder,
};
use dnsrig_zone::{Name, ReadZone};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often signals are looked for.
const SIGNAL_CHECK: Duration = Duration::from_millis(20);

/// What happens while a server runs.
enum Event {
    Ready(ListenAddresses),
    ReloadFailed(String),
}

/// Serves `zones` (name, file) until SIGTERM or Ctrl-C; `on_ready` gets the ports by transport: `dns` (UDP and TCP), `dot`,
/// `doh`, `doq`. SIGHUP reads the files again.
///
/// The encrypted transports need `certificate` and `key`, PEM files. A reload that fails leaves the zones as they were and
/// prints the error.
#[pyfunction]
#[pyo3(signature = (zones, address, port, threads, minimal, on_ready, *, dot_port=None, doh_port=None, doq_port=None, certificate=None, key=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub fn serve(
    py: Python<'_>,
    zones: Vec<(String, PathBuf)>,
    address: &str,
    port: u16,
    threads: usize,
    minimal: bool,
    on_ready: Bound<'_, PyAny>,
    dot_port: Option<u16>,
    doh_port: Option<u16>,
    doq_port: Option<u16>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> PyResult<()> {
    let threads = NonZeroUsize::new(threads)
        .ok_or_else(|| exception(Kind::Input, "a server needs at least one thread"))?;
    let address = parse_address(address)?;
    let config = ServeConfig {
        threads,
        encrypted: encrypted(address, [dot_port, doh_port, doq_port], certificate, key)?,
        ..ServeConfig::new(SocketAddr::new(address, port))
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
                let served =
                    dnsrig_answer::serve(&config, &responder, &counters, &stop, |addresses| {
                        pass_on(Event::Ready(addresses))
                    });
                stop.store(true, Ordering::Relaxed);
                served
            })
        },
        |event| match event {
            Event::Ready(addresses) => on_ready.call1((ports(py, addresses)?,)).map(drop),
            Event::ReloadFailed(message) => {
                eprintln!("error: not reloaded, the zones are served as before: {message}");
                Ok(())
            }
        },
    )?;
    raised.and(served.or_raise())
}

/// The encrypted transports whose ports are given (DoT, DoH, DoQ), if there are any.
fn encrypted(
    address: IpAddr,
    ports: [Option<u16>; 3],
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> PyResult<Option<Encrypted>> {
    let [dot, doh, doq] = ports.map(|port| port.map(|port| SocketAddr::new(address, port)));
    if dot.or(doh).or(doq).is_none() {
        return Ok(None);
    }
    let (Some(certificate), Some(key)) = (certificate, key) else {
        let lacking = "DoT, DoH and DoQ need a certificate and its key; name a PEM file for each";
        return Err(exception(Kind::Input, lacking));
    };
    let certificate = Certificate::from_pem_files(&certificate, &key).or_raise()?;
    Ok(Some(Encrypted {
        certificate,
        dot,
        doh,
        doq,
    }))
}

/// The ports by transport, those that are served.
fn ports(py: Python<'_>, addresses: ListenAddresses) -> PyResult<Bound<'_, PyDict>> {
    let ports = PyDict::new(py);
    let served = [
        ("dns", Some(addresses.dns)),
        ("dot", addresses.dot),
        ("doh", addresses.doh),
        ("doq", addresses.doq),
    ];
    for (transport, address) in served {
        if let Some(address) = address {
            ports.set_item(transport, address.port())?;
        }
    }
    Ok(ports)
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

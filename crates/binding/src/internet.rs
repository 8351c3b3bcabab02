//! `_core.Internet` and `_core.InternetServer`.

use crate::doorway::{abandonable, detached};
use crate::errors::{Kind, OrRaise, exception};
use crate::internet_rebuilt::RebuiltInternet;
use crate::stream::QueryStream;
use dnsrig_internet::{
    EthernetLink, InternetError, InternetOptions, InternetServer as Server, Profile, QueryNames,
    Responding, SIZE_BOUNDS, ServeOptions, ServedBy, profile_text,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// A simulated Internet.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct Internet {
    pub(crate) internet: Arc<dnsrig_internet::Internet>,
}

#[pymethods]
impl Internet {
    /// Makes the Internet of a profile: a name, or a file that ends in `.toml`. `domains` replaces the profile's number of
    /// second-level domains; distances are those from `vantage`, which the profile names; `loopback` puts all servers into 127.0.0.0/8; without `distances` no answer is delayed or lost.
    #[new]
    #[pyo3(signature = (profile, *, seed, signed_at_s, domains=None, vantage=None, memory_octets=1 << 30, distances=true, loopback=false))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn new(
        py: Python<'_>,
        profile: &str,
        seed: u64,
        signed_at_s: u64,
        domains: Option<u64>,
        vantage: Option<&str>,
        memory_octets: usize,
        distances: bool,
        loopback: bool,
    ) -> PyResult<Self> {
        let mut profile = Profile::load(profile).or_raise()?;
        profile.domains = domains.unwrap_or(profile.domains);
        if let Some(vantage) = vantage {
            profile.see_from(vantage).or_raise()?;
        }
        let options = InternetOptions {
            memory_octets,
            has_distances: distances,
            on_loopback: loopback,
            ..InternetOptions::new(seed, signed_at_s)
        };
        let made = py.detach(|| dnsrig_internet::Internet::new(&profile, options));
        Ok(Self {
            internet: Arc::new(made.or_raise()?),
        })
    }

    /// The text of a profile that can be: a named one, or that of a file that ends in `.toml`.
    #[staticmethod]
    fn profile_text(name: &str) -> PyResult<Cow<'static, str>> {
        let text = profile_text(name).or_raise()?;
        Profile::parse(name, &text).or_raise()?;
        Ok(text)
    }

    /// Makes what every resolver needs: the root zone with its signatures and the NSEC3 chains of the top-level domains.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        // A chain of a hundred million hashes, or a key, is made in one piece; none of it is left anywhere but in memory.
        let internet = Arc::clone(&self.internet);
        abandonable(py, move || internet.prepare())?.or_raise()
    }

    /// Makes the zones of the most popular domains, with all signatures, as far as memory reaches.
    fn presign(&self, py: Python<'_>, domains: u64, threads: usize) -> PyResult<()> {
        let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        let presign = |cancel: &AtomicBool, _: &(dyn Fn(()) + Sync)| {
            self.internet.presign(domains, threads, cancel)
        };
        let (presigned, raised) = detached(py, presign, |(): ()| Ok(()))?;
        raised?;
        presigned.or_raise()
    }

    /// Makes the zones that the questions of a stream lead to, with all signatures, as far as memory reaches.
    fn presign_for(&self, py: Python<'_>, stream: &QueryStream, threads: usize) -> PyResult<()> {
        let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        let stream = &stream.stream;
        let presign = |cancel: &AtomicBool, _: &(dyn Fn(()) + Sync)| {
            let message = |place| stream.message(place);
            let internet = &self.internet;
            internet.presign_for(stream.len(), message, threads, cancel)
        };
        let (presigned, raised) = detached(py, presign, |(): ()| Ok(()))?;
        raised?;
        presigned.or_raise()
    }

    /// The root's servers, as a file of root hints.
    #[getter]
    fn root_hints(&self) -> String {
        self.internet.root_hints()
    }

    /// The root's DS record, as a file of trust anchors; empty if the root is not signed.
    #[getter]
    fn trust_anchor(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.internet.trust_anchor()).or_raise()
    }

    /// What there is: `profile`, `domains`, `servers`, and the `prefixes` of all server addresses.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let addresses = self.internet.profile().addresses;
        let mut prefixes = vec![format!("{}/{}", addresses.ipv4, addresses.ipv4_length)];
        if addresses.ipv6_share > 0.0 {
            prefixes.push(format!("{}/{}", addresses.ipv6, addresses.ipv6_length));
        }
        let summary = PyDict::new(py);
        summary.set_item("profile", &self.internet.profile().name)?;
        summary.set_item("domains", self.internet.domains())?;
        summary.set_item("servers", self.internet.servers().servers().len())?;
        summary.set_item("prefixes", prefixes)?;
        Ok(summary)
    }

    /// What precedes domains in the questions of clients; "" is the domain itself.
    #[getter]
    fn hosts(&self) -> Vec<String> {
        let hosts = self.internet.profile().clients.hosts.iter();
        hosts.map(|one| one.host.clone()).collect()
    }

    /// Octets by what they hold, about: `zones`, `keys`, `to_sign`, `signatures`, `answers`, and `chains`, which memory does not bound.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let memory = py.detach(|| self.internet.memory());
        let by_kind = PyDict::new(py);
        for (kind, octets) in [
            ("zones", memory.zones),
            ("keys", memory.keys),
            ("to_sign", memory.to_sign),
            ("signatures", memory.signatures),
            ("answers", memory.answers),
            ("chains", memory.chains),
        ] {
            by_kind.set_item(kind, octets)?;
        }
        Ok(by_kind)
    }

    /// `count` questions that clients would ask, a line `name type` for each; `missing_share` of the names do not exist.
    fn questions(
        &self,
        py: Python<'_>,
        count: usize,
        seed: u64,
        missing_share: f64,
    ) -> PyResult<String> {
        let make = |cancel: &AtomicBool, _: &(dyn Fn(()) + Sync)| {
            let mut text = String::with_capacity(count * 32);
            let all = QueryNames::new(&self.internet, seed, missing_share).take(count);
            for asked in all.take_while(|_| !cancel.load(Ordering::Relaxed)) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{} {}", asked.name.fmt_with_dot(), asked.rtype);
            }
            text
        };
        let (text, raised) = detached(py, make, |(): ()| Ok(()))?;
        raised?;
        Ok(text)
    }
}

/// What can be served.
#[derive(FromPyObject)]
enum Served<'py> {
    Made(PyRef<'py, Internet>),
    Rebuilt(PyRef<'py, RebuiltInternet>),
}

/// An Internet being served in the background, from the network namespace of the thread that made it.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct InternetServer {
    server: Mutex<Server>,
}

impl InternetServer {
    fn lock(&self) -> MutexGuard<'_, Server> {
        // A panic elsewhere leaves the server as it is.
        self.server
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[pymethods]
impl InternetServer {
    /// Starts serving on a port of all addresses; with `loopback`, only what comes over the loopback device is received; with
    /// `gives_way`, others get most of its processors' time.
    #[new]
    #[pyo3(signature = (internet, *, port, threads, loopback=false, gives_way=false, link=None))]
    fn new(
        internet: Served<'_>,
        port: u16,
        threads: usize,
        loopback: bool,
        gives_way: bool,
        link: Option<(u32, [u8; 6])>,
    ) -> PyResult<Self> {
        let threads = NonZeroUsize::new(threads)
            .ok_or_else(|| exception(Kind::Input, "a server needs at least one thread"))?;
        let options = ServeOptions {
            port,
            threads,
            on_loopback: loopback,
            gives_way,
            link: link.map(|(index, neighbour)| EthernetLink { index, neighbour }),
            ..ServeOptions::new()
        };
        let served: Arc<dyn Responding> = match internet {
            Served::Made(made) => Arc::clone(&made.internet) as _,
            Served::Rebuilt(rebuilt) => Arc::clone(&rebuilt.internet) as _,
        };
        let server = Server::start(served, options).or_raise()?;
        Ok(Self {
            server: Mutex::new(server),
        })
    }

    /// The port.
    #[getter]
    fn port(&self) -> u16 {
        self.lock().port()
    }

    /// Whether answers leave as whole packets where they can.
    #[getter]
    fn sends_packets(&self) -> bool {
        self.lock().sends_packets()
    }

    /// Has queries over UDP gathered for so many microseconds at most, where no server has a distance.
    fn gather(&self, us: u64) {
        self.lock().gather(Duration::from_micros(us));
    }

    /// Whether it serves; if not, `stop` raises why.
    #[getter]
    fn running(&self) -> bool {
        self.lock().is_running()
    }

    /// How many queries it was asked; those of the last 50 ms may be missing.
    fn queries(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().queries())
    }

    /// What was asked and answered since the beginning: a dictionary for each server, type and transport.
    fn accounts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = py.detach(|| self.lock().accounts());
        rows.into_iter()
            .map(|(key, account)| {
                let (operator, server) = match key.server {
                    ServedBy::Server(operator, name) => (operator, Some(name)),
                    ServedBy::OwnServers => ("own servers".to_owned(), None),
                    ServedBy::Nobody => ("nobody".to_owned(), None),
                };
                let row = PyDict::new(py);
                row.set_item("operator", operator)?;
                row.set_item("server", server)?;
                row.set_item("type", type_name(key.rtype))?;
                row.set_item("transport", if key.is_tcp { "tcp" } else { "udp" })?;
                row.set_item("queries", account.queries)?;
                row.set_item("query_octets", account.query_octets)?;
                row.set_item("answers", account.answers)?;
                row.set_item("answer_octets", account.answer_octets)?;
                row.set_item("truncated", account.truncated)?;
                let sizes = PyDict::new(py);
                for (bound, count) in SIZE_BOUNDS.iter().zip(account.sizes) {
                    sizes.set_item(bound.to_string(), count)?;
                }
                row.set_item("answer_sizes", sizes)?;
                Ok(row)
            })
            .collect()
    }

    /// Begins the schedule of outages once more: it is `elapsed_s` old now. Without this it began when serving did.
    #[pyo3(signature = (elapsed_s=0.0))]
    fn begin_outages(&self, elapsed_s: f64) -> PyResult<()> {
        let elapsed = Duration::try_from_secs_f64(elapsed_s);
        let elapsed = elapsed.map_err(|error| exception(Kind::Input, error.to_string()))?;
        self.lock().begin_outages(elapsed);
        Ok(())
    }

    /// Has all servers answer until the schedule begins again.
    fn hold_outages(&self) {
        self.lock().hold_outages();
    }

    /// How it goes: `signatures` and `zones` made, `memory_octets` in use by these and by answers, answers `dropped`.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (signatures, zones, octets, dropped) = py.detach(|| {
            let server = self.lock();
            let internet = server.internet();
            (
                internet.signatures_made(),
                internet.zones_made(),
                internet.octets(),
                server.dropped(),
            )
        });
        let state = PyDict::new(py);
        state.set_item("signatures", signatures)?;
        state.set_item("zones", zones)?;
        state.set_item("memory_octets", octets)?;
        state.set_item("dropped", dropped)?;
        Ok(state)
    }

    /// Stops it; the accounts are complete then. Raises what it broke off with, if it had.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.lock().stop()).or_raise()
    }
}

/// A type as users write it.
fn type_name(rtype: u16) -> String {
    match rtype {
        u16::MAX => "other".to_owned(),
        rtype => dnsrig_internet::type_name(rtype),
    }
}

impl crate::errors::IntoPython for InternetError {
    fn kind(&self) -> Kind {
        match self {
            Self::Sign(error) => error.kind(),
            Self::Answer(error) => error.kind(),
            Self::Listen { .. } | Self::Socket { .. } | Self::Thread { .. } | Self::NoMemory => {
                Kind::EnvironmentLacks
            }
            _ => Kind::Input,
        }
    }
}

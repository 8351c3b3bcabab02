//! `_core.AskedQueries` and `_core.StandIns`.

use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception, system_error};
use crate::internet::Internet;
use crate::traffic::from_json;
use dnsrig_internet::{Draw, StandIn};
use dnsrig_stream::StreamError;
use dnsrig_stream::asked::{AskedQuery, Form, Part};
use dnsrig_stream::text::queries::Client;
use dnsrig_traffic::profile::Profile;
use dnsrig_traffic::synthesise::{Plan, Watch, synthesise_asked};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Queries of clients: when, by whom, for what.
#[pyclass(module = "dnsrig._core")]
#[derive(Default)]
pub struct AskedQueries {
    asked: dnsrig_stream::asked::AskedQueries,
}

#[pymethods]
impl AskedQueries {
    /// None yet.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Makes traffic as a profile, by name or path, describes it; `plan` is as `traffic_synthesise` takes it.
    #[staticmethod]
    fn synthesise(py: Python<'_>, profile: &str, plan: &str) -> PyResult<Self> {
        let profile = Profile::open(profile).or_raise()?;
        let plan: Plan = from_json("the plan of traffic", plan)?;
        let (made, raised) = detached(
            py,
            |cancel, _| {
                let progress = &|_| ();
                synthesise_asked(&profile, &plan, &Watch { cancel, progress })
            },
            |(): ()| Ok(()),
        )?;
        raised?;
        Ok(Self {
            asked: made.or_raise()?,
        })
    }

    /// Appends a query; one that is earlier than the last is as late.
    #[pyo3(signature = (time_ns, client, name, rtype, edns_size=None, do_bit=false))]
    fn push(
        &mut self,
        time_ns: u64,
        client: u32,
        name: &str,
        rtype: u16,
        edns_size: Option<u16>,
        do_bit: bool,
    ) -> PyResult<()> {
        let query = AskedQuery {
            time_ns,
            client: Client::Number(client),
            name: name.as_bytes(),
            form: Form::new(rtype, edns_size, do_bit),
        };
        self.asked.push(&query).or_raise()
    }

    /// The number of queries.
    fn __len__(&self) -> usize {
        self.asked.len()
    }

    /// How many clients ask; they are numbered in the order of their first queries.
    #[getter]
    fn client_count(&self) -> usize {
        self.asked.client_count()
    }

    /// How many different names are asked for; they are numbered in the order in which they are first asked for.
    #[getter]
    fn name_count(&self) -> usize {
        self.asked.name_count()
    }

    /// The time from the first query to the last in ns.
    #[getter]
    fn span_ns(&self) -> u64 {
        self.asked.span_ns()
    }

    /// An octet for each name: 1 if it is that of an address, else 0.
    fn addresses<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let octets: Vec<u8> = self.asked.are_addresses().map(u8::from).collect();
        PyBytes::new(py, &octets)
    }

    /// How many queries come less than `end_ns` after the first.
    fn count_before(&self, end_ns: u64) -> usize {
        self.asked.count_before(end_ns)
    }

    /// Writes the queries from `start_ns` to before `end_ns` after the first as a query file with `stand_ins` for names, of
    /// clients for which `kept` has an octet that is not 0; gives how many there are.
    #[pyo3(signature = (path, stand_ins, *, start_ns, end_ns, kept=None))]
    fn write_text(
        &self,
        py: Python<'_>,
        path: PathBuf,
        stand_ins: &StandIns,
        start_ns: u64,
        end_ns: u64,
        kept: Option<&[u8]>,
    ) -> PyResult<u64> {
        let stand_ins = &stand_ins.stand_ins;
        if stand_ins.len() < self.asked.name_count() {
            let message = "there is not a question for each name of the traffic";
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        let part = Part {
            span_ns: start_ns..end_ns.max(start_ns),
            kept,
        };
        let question = |number: u32| {
            let found = stand_ins.question(number as usize);
            found.unwrap_or((b".", 0))
        };
        let write = |cancel: &AtomicBool, _: &(dyn Fn(()) + Sync)| {
            self.asked.write(&path, &part, question, cancel)
        };
        let (written, raised) = detached(py, write, |(): ()| Ok(()))?;
        raised?;
        match written {
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                Err(exception(Kind::Input, StreamError::Interrupted))
            }
            Err(error) => Err(system_error(py, error)?),
        }
    }
}

/// Questions of an Internet that stand in the place of the names of other traffic.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct StandIns {
    stand_ins: dnsrig_internet::StandIns,
}

#[pymethods]
impl StandIns {
    /// Draws a question for each name, of which `kinds` has an octet: 0 for a name that exists, 1 for an address, 2 for a
    /// missing name. `batch` questions have one seed, the next ones the next.
    #[staticmethod]
    #[pyo3(signature = (internet, kinds, *, batch, seed, missing_seed))]
    fn draw(
        py: Python<'_>,
        internet: &Internet,
        kinds: &[u8],
        batch: usize,
        seed: u64,
        missing_seed: u64,
    ) -> PyResult<Self> {
        let draw = Draw {
            batch,
            seed,
            missing_seed,
        };
        let kinds = kinds.iter().map(|kind| match kind {
            0 => StandIn::Existing,
            1 => StandIn::Address,
            _ => StandIn::Missing,
        });
        let internet = &internet.internet;
        let work = |cancel: &AtomicBool, _: &(dyn Fn(()) + Sync)| {
            dnsrig_internet::StandIns::draw(internet, kinds, &draw, cancel)
        };
        let (made, raised) = detached(py, work, |(): ()| Ok(()))?;
        raised?;
        Ok(Self {
            stand_ins: made.or_raise()?,
        })
    }

    /// The number of names that have one.
    fn __len__(&self) -> usize {
        self.stand_ins.len()
    }

    /// The question that stands in the place of name `number`: `name type`.
    fn question(&self, number: usize) -> PyResult<String> {
        let (name, rtype) = self.stand_ins.question(number).ok_or_else(|| {
            let message = format!("name {number} of {}", self.stand_ins.len());
            pyo3::exceptions::PyIndexError::new_err(message)
        })?;
        let rtype = dnsrig_internet::type_name(rtype);
        Ok(format!("{} {rtype}", String::from_utf8_lossy(name)))
    }
}

//! `_core.QueryLog` and `_core.QueryStream`.

use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use crate::zone::Zone;
use dnsrig_stream::capture::{self, CaptureOptions};
use dnsrig_stream::generate::{self, GenerationPlan};
use dnsrig_stream::{MessageOptions, Questions, StreamError, StreamKind, binary, text};
use dnsrig_zone::lookup::ZoneIndex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The questions of a query file in dnsperf's format.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct QueryLog {
    log: dnsrig_stream::QueryLog,
}

#[pymethods]
impl QueryLog {
    /// Reads a query file; with `skip_bad`, bad lines are left out and counted.
    #[staticmethod]
    #[pyo3(signature = (path, skip_bad=false))]
    fn read(py: Python<'_>, path: PathBuf, skip_bad: bool) -> PyResult<Self> {
        let read = |cancel: &AtomicBool| dnsrig_stream::QueryLog::read(&path, skip_bad, cancel);
        let log = interruptible(py, read)?;
        Ok(Self { log })
    }

    /// How many bad lines were left out.
    #[getter]
    fn skipped(&self) -> u64 {
        self.log.skipped
    }

    /// The number of questions.
    fn __len__(&self) -> usize {
        self.log.questions.len()
    }

    /// Makes query messages of the questions, as they are and in their order.
    #[pyo3(signature = (*, edns_size=None, do_bit=false))]
    fn to_stream(
        &self,
        py: Python<'_>,
        edns_size: Option<u16>,
        do_bit: bool,
    ) -> PyResult<QueryStream> {
        py.detach(|| QueryStream::of(&self.log.questions, edns_size, do_bit))
            .or_raise()
    }
}

/// Query messages in an order.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct QueryStream {
    pub(crate) stream: dnsrig_stream::QueryStream,
}

impl QueryStream {
    fn of(
        questions: &Questions,
        edns_size: Option<u16>,
        do_bit: bool,
    ) -> Result<Self, StreamError> {
        let options = MessageOptions {
            edns_size,
            do_bit,
            ..MessageOptions::default()
        };
        let stream = dnsrig_stream::messages(questions, &options)?;
        Ok(Self { stream })
    }
}

/// Does `work`, which stops early once its flag is set; Ctrl-C sets it and is raised.
fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<T, StreamError> + Send,
) -> PyResult<T> {
    let (made, raised) = detached(py, |cancel, _| work(cancel), |(): ()| Ok(()))?;
    raised?;
    made.or_raise()
}

/// Makes a stream by `work` as [`interruptible`] does; gives it with its summary as JSON.
fn stream_by<Summary: Serialize + Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<(dnsrig_stream::QueryStream, Summary), StreamError> + Send,
) -> PyResult<(QueryStream, String)> {
    let (stream, summary) = interruptible(py, work)?;
    Ok((QueryStream { stream }, to_json(&summary)?))
}

/// Reads options that Python wrote as JSON; `what` they are stands in the error.
fn from_json<Options: DeserializeOwned>(what: &str, json: &str) -> PyResult<Options> {
    serde_json::from_str(json)
        .map_err(|error| exception(Kind::Input, format!("{what} cannot be used: {error}")))
}

fn message_options(json: &str) -> PyResult<MessageOptions> {
    from_json("the options of messages", json)
}

fn to_json(summary: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(summary)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// What a stream without other facts holds.
#[derive(Serialize)]
struct Count {
    queries: usize,
}

fn counted(stream: dnsrig_stream::QueryStream) -> (dnsrig_stream::QueryStream, Count) {
    let queries = stream.len();
    (stream, Count { queries })
}

#[pymethods]
impl QueryStream {
    /// Makes a stream for `zone` by JPRS-2010's method; returns it with a summary of what is in it.
    #[staticmethod]
    #[pyo3(signature = (zone, log, *, kind, queries, seed, denial_share=0.08, edns_size=None, do_bit=false))]
    #[allow(clippy::too_many_arguments)]
    fn synthesise<'py>(
        py: Python<'py>,
        zone: &Bound<'py, Zone>,
        log: Option<&Bound<'py, QueryLog>>,
        kind: &str,
        queries: usize,
        seed: u64,
        denial_share: f64,
        edns_size: Option<u16>,
        do_bit: bool,
    ) -> PyResult<(Self, Bound<'py, PyDict>)> {
        let kind = match kind {
            "existence" => StreamKind::Existence,
            "denial" => StreamKind::Denial,
            "normal" => StreamKind::Normal { denial_share },
            other => {
                let message =
                    format!("'{other}' is no stream; there are existence, denial and normal");
                return Err(exception(Kind::Input, message));
            }
        };
        let zone = &zone.get().zone;
        let log = log.map(|log| &log.get().log.questions);
        let (made, summary) = interruptible(py, |cancel| {
            let index = ZoneIndex::new(zone.clone());
            let (questions, summary) =
                dnsrig_stream::synthesise(&index, log, kind, queries, seed, cancel)?;
            Ok((Self::of(&questions, edns_size, do_bit)?, summary))
        })?;
        let facts = PyDict::new(py);
        facts.set_item("queries", summary.queries)?;
        facts.set_item("unique_names", summary.unique_names)?;
        facts.set_item("answer_share", summary.answer_share)?;
        facts.set_item("nodata_share", summary.nodata_share)?;
        facts.set_item("nxdomain_share", summary.nxdomain_share)?;
        facts.set_item("referral_share", summary.referral_share)?;
        facts.set_item("outside_zone", summary.outside_zone)?;
        Ok((made, facts))
    }

    /// Reads the queries of a pcap or pcapng file; returns them with a summary as JSON.
    #[staticmethod]
    #[pyo3(signature = (path, options="{}"))]
    fn from_capture(py: Python<'_>, path: PathBuf, options: &str) -> PyResult<(Self, String)> {
        let options: CaptureOptions = from_json("the options of the capture", options)?;
        stream_by(py, |cancel| capture::read(&path, &options, cancel))
    }

    /// Reads a query file whose lines may have a class and options; returns its queries with a summary as JSON. With
    /// `most_clients`, what further ones ask is asked by those, in turn.
    #[staticmethod]
    #[pyo3(signature = (path, *, message="{}", skip_bad=false, most_clients=None))]
    fn from_text(
        py: Python<'_>,
        path: PathBuf,
        message: &str,
        skip_bad: bool,
        most_clients: Option<u32>,
    ) -> PyResult<(Self, String)> {
        let options = message_options(message)?;
        stream_by(py, |cancel| {
            let (mut stream, summary) = text::queries::read(&path, &options, skip_bad, cancel)?;
            if let Some(most) = most_clients {
                stream.share_clients(most);
            }
            Ok((stream, summary))
        })
    }

    /// Reads dynamic updates in dnsperf's format; returns them with a summary as JSON.
    #[staticmethod]
    #[pyo3(signature = (path, *, message="{}", skip_bad=false))]
    fn from_updates(
        py: Python<'_>,
        path: PathBuf,
        message: &str,
        skip_bad: bool,
    ) -> PyResult<(Self, String)> {
        let options = message_options(message)?;
        stream_by(py, |cancel| {
            text::updates::read(&path, &options, skip_bad, cancel)
        })
    }

    /// Reads messages that have their length before them; returns them with a summary as JSON.
    #[staticmethod]
    fn from_binary(py: Python<'_>, path: PathBuf) -> PyResult<(Self, String)> {
        stream_by(py, |cancel| binary::read(&path, cancel).map(counted))
    }

    /// Makes queries for names from patterns; returns them with a summary as JSON.
    #[staticmethod]
    #[pyo3(signature = (plan, *, message="{}"))]
    fn generate(py: Python<'_>, plan: &str, message: &str) -> PyResult<(Self, String)> {
        let plan: GenerationPlan = from_json("the plan of names", plan)?;
        let options = message_options(message)?;
        stream_by(py, |cancel| {
            generate::generate(&plan, &options, cancel).map(counted)
        })
    }

    /// The number of messages.
    fn __len__(&self) -> usize {
        self.stream.len()
    }

    /// Whether every query has a time and a client.
    #[getter]
    fn is_timed(&self) -> bool {
        self.stream.is_timed()
    }

    /// How many clients a timed stream has; else 0.
    #[getter]
    fn client_count(&self) -> u32 {
        self.stream.client_count()
    }

    /// The time from the first query to the last in ns; 0 unless the stream is timed.
    #[getter]
    fn span_ns(&self) -> u64 {
        self.stream.span_ns()
    }

    /// The time of the query at `index` in ns since the first one.
    fn time_ns(&self, index: usize) -> Option<u64> {
        self.stream.time_ns(index)
    }

    /// The number of the client of the query at `index`.
    fn client(&self, index: usize) -> Option<u32> {
        self.stream.client(index)
    }

    /// The message at `index` in wire format, its ID zero.
    fn message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        if index >= self.stream.len() {
            let message = format!("message {index} of a stream of {}", self.stream.len());
            return Err(pyo3::exceptions::PyIndexError::new_err(message));
        }
        Ok(PyBytes::new(py, self.stream.message(index)))
    }

    /// Writes the questions as a query file in dnsperf's format: beside, then renamed; to standard output if `path` is `-`.
    fn write_text(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| text::write(&Questions::of_stream(&self.stream)?, &path))
            .or_raise()
    }
}

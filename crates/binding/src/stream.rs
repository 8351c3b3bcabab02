//! `_core.QueryLog` and `_core.QueryStream`.

use crate::errors::{Kind, OrRaise, exception};
use crate::zone::Zone;
use dnsrig_stream::{MessageOptions, Questions, StreamKind};
use dnsrig_zone::lookup::ZoneIndex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

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
        let log = py
            .detach(|| dnsrig_stream::QueryLog::read(&path, skip_bad))
            .or_raise()?;
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
    fn to_stream(&self, py: Python<'_>, edns_size: Option<u16>, do_bit: bool) -> QueryStream {
        let questions = self.log.questions.clone();
        py.detach(|| QueryStream::of(questions, edns_size, do_bit))
    }
}

/// Query messages in an order.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct QueryStream {
    questions: Questions,
    pub(crate) stream: dnsrig_stream::QueryStream,
}

impl QueryStream {
    fn of(questions: Questions, edns_size: Option<u16>, do_bit: bool) -> Self {
        let options = MessageOptions {
            edns_size,
            do_bit,
            ..MessageOptions::default()
        };
        let stream = dnsrig_stream::messages(&questions, options);
        Self { questions, stream }
    }
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
        let (made, summary) = py
            .detach(|| {
                let index = ZoneIndex::new(zone.clone());
                let (questions, summary) =
                    dnsrig_stream::synthesise(&index, log, kind, queries, seed)?;
                Ok::<_, dnsrig_stream::StreamError>((
                    Self::of(questions, edns_size, do_bit),
                    summary,
                ))
            })
            .or_raise()?;
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

    /// The number of messages.
    fn __len__(&self) -> usize {
        self.stream.len()
    }

    /// The message at `index` in wire format, its ID zero.
    fn message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        if index >= self.stream.len() {
            let message = format!("message {index} of a stream of {}", self.stream.len());
            return Err(pyo3::exceptions::PyIndexError::new_err(message));
        }
        Ok(PyBytes::new(py, self.stream.message(index)))
    }

    /// Writes the questions as a query file in dnsperf's format: beside, then renamed.
    fn write_text(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| dnsrig_stream::text::write(&self.questions, &path))
            .or_raise()
    }
}

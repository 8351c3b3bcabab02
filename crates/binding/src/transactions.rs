//! `_core.TransactionReader` and `_core.TransactionWriter`: columns of transactions as Arrow lays them out.

use crate::errors::{Kind, OrRaise, exception};
use crate::traffic::{ReadOptions, from_json, to_json};
use dnsrig_traffic::select::transactions::{Batch, Column, Transactions, transactions};
use dnsrig_traffic::select::{Form, StandIns, StreamWriter};
use dnsrig_traffic::{Endpoint, Message, SentLen, TrafficError, Transport};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often the calling thread looks for signals while it waits.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);
/// Batches that are read ahead.
const AHEAD: usize = 1;

/// A column: its name, its kind, its values, and where each ends if they have different lengths.
type PyColumn<'py> = (
    &'static str,
    &'static str,
    Bound<'py, PyBytes>,
    Option<Bound<'py, PyBytes>>,
);
/// Values of different lengths: where each ends (after where the first begins), and all of them.
type Values<'a> = (&'a [u8], &'a [u8]);

/// What the reading thread hands over.
enum Handed {
    Batch(Box<Batch>),
    Done(Box<Transactions>),
    Failed(TrafficError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    from: Form,
    #[serde(default)]
    stand_ins: StandIns,
}

/// Gives transactions a batch of columns at a time.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct TransactionReader {
    receiver: Mutex<Receiver<Handed>>,
    cancel: Arc<AtomicBool>,
    made: Mutex<Option<Box<Transactions>>>,
}

#[pymethods]
impl TransactionReader {
    /// Begins to read the files `paths` as `read` and `settings` (JSON) say.
    #[new]
    fn new(paths: Vec<PathBuf>, read: &str, settings: &str) -> PyResult<Self> {
        let read: ReadOptions = from_json("the options of reading", read)?;
        let settings: Settings = from_json("the settings", settings)?;
        let (sender, receiver) = sync_channel(AHEAD);
        let cancel = Arc::new(AtomicBool::new(false));
        let cancelled = cancel.clone();
        let work = move || read_all(&paths, &read, &settings, &cancelled, &sender);
        thread::Builder::new().spawn(work).map_err(|error| {
            let message = format!("cannot start a thread: {error}; let the process have more");
            exception(Kind::EnvironmentLacks, message)
        })?;
        Ok(Self {
            receiver: Mutex::new(receiver),
            cancel,
            made: Mutex::new(None),
        })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next batch; ends after the last.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<PyColumn<'py>>>> {
        loop {
            let received = py.detach(|| lock(&self.receiver).recv_timeout(SIGNAL_CHECK));
            match received {
                Ok(Handed::Batch(batch)) => return Ok(Some(to_python(py, *batch))),
                Ok(Handed::Done(made)) => {
                    *lock(&self.made) = Some(made);
                    return Ok(None);
                }
                Ok(Handed::Failed(error)) => return Err(error).or_raise(),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// What was read and made, as JSON, after the last batch.
    fn counts(&self) -> PyResult<String> {
        let made = lock(&self.made);
        let made = made.as_ref();
        to_json(made.ok_or_else(|| PyRuntimeError::new_err("not all has been read"))?)
    }
}

impl Drop for TransactionReader {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_all(
    paths: &[PathBuf],
    read: &ReadOptions,
    settings: &Settings,
    cancel: &AtomicBool,
    sender: &SyncSender<Handed>,
) {
    let reading = read.reading(paths, cancel, &|_| ());
    let read = transactions(
        &reading,
        settings.from,
        &settings.stand_ins,
        |batch| match sender.send(Handed::Batch(Box::new(batch))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        },
    );
    // If nobody takes it, nobody wants to know.
    let _ = sender.send(match read {
        Ok(made) => Handed::Done(Box::new(made)),
        Err(error) => Handed::Failed(error),
    });
}

fn to_python(py: Python<'_>, batch: Batch) -> Vec<PyColumn<'_>> {
    let columns = batch.into_columns().into_iter();
    columns
        .map(|(name, column)| {
            let bytes = |octets: &[u8]| PyBytes::new(py, octets);
            let longs = |values: &[i64]| bytes(&octets_of(values, |value| value.to_ne_bytes()));
            let shorts = |values: &[u16]| bytes(&octets_of(values, |value| value.to_ne_bytes()));
            let ends = |values: &[i32]| bytes(&octets_of(values, |value| value.to_ne_bytes()));
            let (kind, values, offsets) = match column {
                Column::TimeNs(values) => ("time", longs(&values), None),
                Column::DurationNs(values) => ("duration", longs(&values), None),
                Column::Numbers {
                    values,
                    has_none: false,
                } => ("number", shorts(&values), None),
                Column::Numbers { values, .. } => ("number_or_none", shorts(&values), None),
                Column::Text(values) => ("text", bytes(&values.data), Some(ends(&values.offsets))),
                Column::Octets(values) => {
                    ("octets", bytes(&values.data), Some(ends(&values.offsets)))
                }
            };
            (name, kind, values, offsets)
        })
        .collect()
}

fn octets_of<T: Copy, const N: usize>(values: &[T], octets: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| octets(value)).collect()
}

/// Writes the queries of transactions into a capture, a query file or binary messages.
#[pyclass(frozen, module = "dnsrig._core")]
pub struct TransactionWriter {
    writer: Mutex<Option<StreamWriter>>,
}

#[pymethods]
impl TransactionWriter {
    /// Begins to write `path`; `form` is `capture`, `text` or `binary`.
    #[new]
    fn new(path: PathBuf, form: &str) -> PyResult<Self> {
        let form: Form = from_json("the form", &format!("\"{form}\""))?;
        let writer = StreamWriter::create(&path, form).or_raise()?;
        Ok(Self {
            writer: Mutex::new(Some(writer)),
        })
    }

    /// Writes a batch, which begins at `first_row` of `file`: times and numbers as Arrow has them, values of different lengths
    /// after their ends.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        py: Python<'_>,
        file: PathBuf,
        first_row: usize,
        times_ns: &[u8],
        ids: &[u8],
        client_ports: &[u8],
        server_ports: &[u8],
        client_ends: &[u8],
        clients: &[u8],
        server_ends: &[u8],
        servers: &[u8],
        transport_ends: &[u8],
        transports: &[u8],
        query_ends: &[u8],
        queries: &[u8],
    ) -> PyResult<()> {
        let columns = Columns {
            times_ns,
            ids,
            client_ports,
            server_ports,
            clients: (client_ends, clients),
            servers: (server_ends, servers),
            transports: (transport_ends, transports),
            queries: (query_ends, queries),
        };
        py.detach(|| {
            let mut writer = lock(&self.writer);
            let Some(writer) = writer.as_mut() else {
                return Err(TrafficError::Setting {
                    why: "the file is finished".into(),
                });
            };
            let rows = times_ns.len() / 8;
            (0..rows).try_for_each(|row| {
                let mut octets = Vec::new();
                match columns.message(row, &mut octets) {
                    Ok(message) => writer.message(&message, true),
                    Err(column) => Err(TrafficError::NotACapture {
                        file: file.clone(),
                        why: format!(
                            "row {} (counted from 0): column {column} cannot be used; give a file that 'dnsrig traffic convert' wrote",
                            first_row + row
                        ),
                    }),
                }
            })
        })
        .or_raise()
    }

    /// Ends the file and gives it its name; returns what was written as JSON. If that is nothing, no file is left.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let writer = lock(&self.writer).take();
        let writer = writer.ok_or_else(|| PyRuntimeError::new_err("the file is finished"))?;
        if writer.written().messages_written == 0 {
            return to_json(writer.written());
        }
        let written = py.detach(|| writer.finish()).or_raise()?;
        to_json(&written)
    }
}

/// The columns of a batch as Python gives them.
struct Columns<'a> {
    times_ns: &'a [u8],
    ids: &'a [u8],
    client_ports: &'a [u8],
    server_ports: &'a [u8],
    clients: Values<'a>,
    servers: Values<'a>,
    transports: Values<'a>,
    queries: Values<'a>,
}

impl Columns<'_> {
    /// The query of a row, whose octets go to `octets`.
    ///
    /// # Errors
    /// The column whose value cannot be used.
    fn message<'o>(
        &self,
        row: usize,
        octets: &'o mut Vec<u8>,
    ) -> Result<Message<'o>, &'static str> {
        let time_ns = self.times_ns.get(row * 8..).and_then(<[u8]>::first_chunk);
        let address = |column, values: Values<'_>| -> Result<IpAddr, &'static str> {
            let text = value(values, row).and_then(|text| str::from_utf8(text).ok());
            text.and_then(|text| text.parse().ok()).ok_or(column)
        };
        let named = value(self.transports, row);
        let mut transports = Transport::ALL.into_iter();
        let transport = transports.find(|one| named == Some(one.name().as_bytes()));
        octets.extend_from_slice(value(self.queries, row).ok_or("query")?);
        let id = number(self.ids, row).ok_or("id")?;
        let start = octets.get_mut(..2).ok_or("query (fewer than 2 octets)")?;
        start.copy_from_slice(&id.to_be_bytes());
        let client = address("client (no address)", self.clients)?;
        let server = address("server (no address)", self.servers)?;
        let client_port = number(self.client_ports, row).ok_or("client_port")?;
        let server_port = number(self.server_ports, row).ok_or("server_port")?;
        Ok(Message {
            time_ns: i64::from_ne_bytes(*time_ns.ok_or("time")?),
            source: Endpoint::new(client, client_port),
            destination: Endpoint::new(server, server_port),
            transport: transport.ok_or("transport (none that is known)")?,
            octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number: row as u64 + 1,
        })
    }
}

fn number(values: &[u8], row: usize) -> Option<u16> {
    let octets = values.get(row * 2..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*octets))
}

fn value((ends, data): Values<'_>, row: usize) -> Option<&[u8]> {
    let end = |row: usize| -> Option<usize> {
        let octets = ends.get(row * 4..)?.first_chunk()?;
        i32::from_ne_bytes(*octets).try_into().ok()
    };
    data.get(end(row)?..end(row + 1)?)
}

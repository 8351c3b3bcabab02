//! How zone files are read: limits, progress and interruption.

use crate::arguments::parse_name;
use crate::doorway::with_progress;
use crate::errors::{IntoPython, exception};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::memory::default_memory;
use dnsrig_zone::pool::Pool;
use dnsrig_zone::{Name, ZoneError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::available_parallelism;

/// How zone files are to be read: the attributes of `dnsrig.cli.zone_reading.Reading`.
#[derive(FromPyObject)]
pub struct Reading<'py> {
    origin: Option<String>,
    memory: Option<usize>,
    threads: Option<NonZeroUsize>,
    on_progress: Option<Bound<'py, PyAny>>,
}

impl Reading<'_> {
    /// The zone's name, if it was given.
    pub fn origin(&self) -> PyResult<Option<Name>> {
        self.origin.as_deref().map(parse_name).transpose()
    }

    /// Runs `work` on `paths`, opened so; an exception is what a signal handler or the progress raised.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        paths: &[PathBuf],
        work: impl FnOnce(Vec<Opening<'_>>, &Pool) -> T + Send,
    ) -> PyResult<T> {
        let origin = self.origin()?;
        let memory = self.memory.unwrap_or_else(default_memory);
        let threads = self
            .threads
            .or_else(|| available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN);
        let (result, raised) = with_progress(
            py,
            |cancel, pass_on| {
                let pool = Pool::new(threads)?;
                Ok(with_openings(
                    paths,
                    origin.as_ref(),
                    memory,
                    cancel,
                    pass_on,
                    |openings| work(openings, &pool),
                ))
            },
            |octets: u64| match &self.on_progress {
                Some(callback) => callback.call1((octets,)).map(drop),
                None => Ok(()),
            },
        )?;
        raised?;
        result.map_err(|error: ZoneError| exception(error.kind(), error))
    }
}

/// Opens `paths`; `pass_on` is told the octets read of all together.
fn with_openings<T>(
    paths: &[PathBuf],
    origin: Option<&Name>,
    memory: usize,
    cancel: &AtomicBool,
    pass_on: &(dyn Fn(u64) + Sync),
    work: impl FnOnce(Vec<Opening<'_>>) -> T,
) -> T {
    let read: Vec<AtomicU64> = paths.iter().map(|_| AtomicU64::new(0)).collect();
    let sums: Vec<_> = read
        .iter()
        .map(|own| {
            |octets: u64| {
                own.store(octets, Ordering::Relaxed);
                pass_on(read.iter().map(|file| file.load(Ordering::Relaxed)).sum());
            }
        })
        .collect();
    let openings = paths.iter().zip(&sums).map(|(path, progress)| Opening {
        memory,
        cancel,
        progress,
        ..Opening::new(path, origin)
    });
    work(openings.collect())
}

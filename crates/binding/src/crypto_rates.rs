//! How fast this machine signs, without anything else that a signer of zones does.

use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_sign::Algorithm;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

/// Longest measurement, in seconds; an interruption waits for its end.
const SECONDS_MAX: f64 = 60.0;

/// Signatures a second with a new key on `threads` threads, measured for `seconds`; `bits` is the size of an RSA key.
#[pyfunction]
pub fn signing_rate(
    py: Python<'_>,
    algorithm: &str,
    bits: Option<u32>,
    threads: usize,
    seconds: f64,
) -> PyResult<f64> {
    let algorithm = Algorithm::from_str(algorithm).or_raise()?;
    let threads = NonZeroUsize::new(threads)
        .ok_or_else(|| exception(Kind::Input, "0 threads sign nothing; give at least 1"))?;
    if !(seconds > 0.0 && seconds <= SECONDS_MAX) {
        let message = format!("{seconds} s is no time to measure; give up to {SECONDS_MAX} s");
        return Err(exception(Kind::Input, message));
    }
    let (rate, raised) = detached(
        py,
        |_, _: &(dyn Fn(()) + Sync)| {
            let duration = Duration::from_secs_f64(seconds);
            dnsrig_sign::signing_rate(algorithm, bits, threads, duration)
        },
        |()| Ok(()),
    )?;
    raised?;
    Ok(rate.or_raise()?.per_second())
}

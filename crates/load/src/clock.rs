//! Time as integer nanoseconds.

use std::fs;
use std::ptr;

/// A source of time. The load's parts take it as a parameter, so that tests run in virtual time.
pub trait Clock {
    /// Nanoseconds since an arbitrary fixed moment; never goes back.
    fn now_ns(&self) -> u64;

    /// Blocks until `deadline_ns` of this clock.
    fn sleep_until(&self, deadline_ns: u64);

    /// CPU time that the calling thread has used, in nanoseconds.
    fn thread_cpu_ns(&self) -> u64;

    /// Nanoseconds for which the calling thread was ready to run while its CPU ran something else; 0 where unknown.
    fn thread_run_delay_ns(&self) -> u64;
}

/// `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        read(libc::CLOCK_MONOTONIC)
    }

    fn sleep_until(&self, deadline_ns: u64) {
        let deadline = to_timespec(deadline_ns);
        loop {
            // SAFETY: `deadline` is a valid timespec that outlives the call; no remainder is asked for.
            let error = unsafe {
                libc::clock_nanosleep(
                    libc::CLOCK_MONOTONIC,
                    libc::TIMER_ABSTIME,
                    &deadline,
                    ptr::null_mut(),
                )
            };
            if error != libc::EINTR {
                return;
            }
        }
    }

    fn thread_cpu_ns(&self) -> u64 {
        read(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    fn thread_run_delay_ns(&self) -> u64 {
        // Time on a CPU, time waiting for one, and time slices (kernel documentation, sched-stats).
        fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse().ok())
            .unwrap_or(0)
    }
}

/// Nanoseconds of `CLOCK_REALTIME`, the clock of the kernel's packet time stamps.
pub(crate) fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Seconds since 1970, as TSIG counts.
pub(crate) fn unix_time_s() -> u64 {
    realtime_ns() / 1_000_000_000
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec that outlives the call; the three clocks used here always exist on Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    timespec_ns(time)
}

/// A time of the kernel as nanoseconds.
pub(crate) fn timespec_ns(time: libc::timespec) -> u64 {
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// A span as the kernel takes it.
pub(crate) fn to_timespec(span_ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (span_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (span_ns % 1_000_000_000) as libc::c_long,
    }
}

//! How long ago datagrams arrived, by the kernel's stamps: what waited to be read has waited a part of its distance already.

use std::time::Duration;

/// Older stamps mean that the clock was set meanwhile.
const AGE_MAX: Duration = Duration::from_millis(100);

/// How long before `read` a datagram arrived that was stamped `arrived`, both by the clock of the day, which may be set.
pub(super) fn age(read: Duration, arrived: Duration) -> Duration {
    match read.checked_sub(arrived) {
        Some(age) if age <= AGE_MAX => age,
        _ => Duration::ZERO,
    }
}

/// The clock of the day, which the kernel stamps datagrams with.
pub(super) fn clock() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes a timespec, which lives. The clock exists, so that it cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    since_1970(now)
}

/// A time as the kernel has it.
pub(super) fn since_1970(time: libc::timespec) -> Duration {
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_makes_nothing_old() {
        let at = Duration::from_millis;
        assert_eq!(age(at(5000), at(4999)), at(1));
        assert_eq!(age(at(5000), at(5001)), at(0), "it was set back");
        assert_eq!(age(at(9000), at(5001)), at(0), "it was set forward");
    }
}

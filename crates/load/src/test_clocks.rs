//! Clocks for tests: one that stands until it is slept through, and one that tests put forward.

use crate::clock::{Clock, MonotonicClock};
use std::cell::Cell;
use std::rc::Rc;

/// Time that passes only where it is slept through. Clones share it.
#[derive(Clone, Default)]
pub struct VirtualClock(Rc<Cell<u64>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        self.0.set(self.0.get().max(deadline_ns));
    }

    fn thread_cpu_ns(&self) -> u64 {
        0
    }

    fn thread_run_delay_ns(&self) -> u64 {
        0
    }
}

/// The monotonic clock, which tests may put forward.
#[derive(Default)]
pub struct LeapingClock {
    ahead_ns: Cell<u64>,
}

impl LeapingClock {
    /// Puts it forward.
    pub fn leap(&self, span_ns: u64) {
        self.ahead_ns.set(self.ahead_ns.get() + span_ns);
    }
}

impl Clock for LeapingClock {
    fn now_ns(&self) -> u64 {
        MonotonicClock.now_ns() + self.ahead_ns.get()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        MonotonicClock.sleep_until(deadline_ns - self.ahead_ns.get());
    }

    fn thread_cpu_ns(&self) -> u64 {
        MonotonicClock.thread_cpu_ns()
    }

    fn thread_run_delay_ns(&self) -> u64 {
        0
    }
}

//! How late this machine wakes a thread up: what no generator that sleeps between queries can do better.

use crate::clock::Clock;
use crate::tally::empty_histogram;
use hdrhistogram::Histogram;

/// Length of one sleep.
const SLEEP_NS: u64 = 100_000;

/// Sleeps until `until_ns` in short sleeps; gives how late they ended, in nanoseconds.
pub fn measure(clock: &impl Clock, until_ns: u64) -> Histogram<u64> {
    let mut late_ns = empty_histogram();
    loop {
        let due_ns = clock.now_ns() + SLEEP_NS;
        if due_ns >= until_ns {
            return late_ns;
        }
        clock.sleep_until(due_ns);
        late_ns.saturating_record(clock.now_ns().saturating_sub(due_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Wakes up 7 us late.
    struct Late(Cell<u64>);

    impl Clock for Late {
        fn now_ns(&self) -> u64 {
            self.0.get()
        }

        fn sleep_until(&self, deadline_ns: u64) {
            self.0.set(deadline_ns + 7_000);
        }

        fn thread_cpu_ns(&self) -> u64 {
            0
        }

        fn thread_run_delay_ns(&self) -> u64 {
            0
        }
    }

    #[test]
    fn lateness_is_measured_until_the_time_is_up() {
        let clock = Late(Cell::new(0));
        let late_ns = measure(&clock, 1_000_000);
        assert_eq!((late_ns.len(), late_ns.count_at(7_000)), (9, 9));
        assert!(clock.now_ns() < 1_000_000 + 7_000);
    }
}

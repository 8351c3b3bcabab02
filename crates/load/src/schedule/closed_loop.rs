//! As many queries in flight as asked.

use super::{Due, Pace, Schedule};
use std::collections::VecDeque;

/// How long a closed loop pauses after a refusal, so that a dead server is not met by a storm of queries.
const REFUSAL_PAUSE_NS: u64 = 10_000_000;

/// Keeps a number of queries in flight, and optionally its mean rate since the start below a limit.
///
/// A query is due when its place in the window became free: with the arrival of the answer that freed it, not when the
/// generator took that answer. So the send-time error is the time for which a place stood empty.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    start_ns: u64,
    /// Places that no query has had yet; free since the start.
    unused: usize,
    /// When the other free places became free, in the order in which they are to be filled.
    freed_ns: VecDeque<u64>,
    pace: Option<Pace>,
    /// End of the pause after a refusal: nothing is due before.
    pause_end_ns: u64,
}

impl ClosedLoop {
    /// A window of `outstanding` queries, limited by `pace`.
    pub fn new(start_ns: u64, outstanding: usize, pace: Option<Pace>) -> Self {
        Self {
            start_ns,
            unused: outstanding,
            freed_ns: VecDeque::new(),
            pace,
            pause_end_ns: 0,
        }
    }
}

impl Schedule for ClosedLoop {
    fn next(&self) -> Due {
        let free_ns = match (self.unused, self.freed_ns.front()) {
            (0, None) => return Due::WhenFreed,
            (0, Some(freed_ns)) => *freed_ns,
            _ => self.start_ns,
        };
        let paced_ns = self.pace.as_ref().map_or(0, Pace::due_ns);
        Due::At(free_ns.max(paced_ns).max(self.pause_end_ns))
    }

    fn advance(&mut self) {
        if self.unused > 0 {
            self.unused -= 1;
        } else {
            self.freed_ns.pop_front();
        }
        if let Some(pace) = &mut self.pace {
            pace.advance();
        }
    }

    fn freed(&mut self, at_ns: u64) {
        self.freed_ns.push_back(at_ns);
    }

    fn refused(&mut self, now_ns: u64) {
        self.pause_end_ns = now_ns + REFUSAL_PAUSE_NS;
    }

    fn latency_from_schedule(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_loop_fills_its_window_and_waits() {
        let mut schedule = ClosedLoop::new(1_000, 2, None);
        assert_eq!(schedule.next(), Due::At(1_000));
        schedule.advance();
        assert_eq!(schedule.next(), Due::At(1_000));
        schedule.advance();
        assert_eq!(schedule.next(), Due::WhenFreed);
        schedule.freed(8_000);
        schedule.freed(9_000);
        assert_eq!(schedule.next(), Due::At(8_000));
        schedule.advance();
        assert_eq!(
            schedule.next(),
            Due::At(9_000),
            "each place has a time of its own"
        );
        schedule.advance();
        assert_eq!(schedule.next(), Due::WhenFreed);
    }

    #[test]
    fn closed_loop_pauses_after_a_refusal() {
        let mut schedule = ClosedLoop::new(0, 1, None);
        schedule.advance();
        schedule.freed(5_000);
        schedule.refused(5_000);
        assert_eq!(schedule.next(), Due::At(5_000 + REFUSAL_PAUSE_NS));
    }

    #[test]
    fn capped_closed_loop_keeps_the_mean_rate_and_its_window() {
        let mut schedule = ClosedLoop::new(0, 1, Some(Pace::new(0, 1_000.0, 0, 1)));
        assert_eq!(schedule.next(), Due::At(0));
        schedule.advance();
        assert_eq!(schedule.next(), Due::WhenFreed);
        schedule.freed(20);
        assert_eq!(schedule.next(), Due::At(1_000_000));
        schedule.advance();
        schedule.freed(7_000_000);
        assert_eq!(
            schedule.next(),
            Due::At(7_000_000),
            "waiting for the window is no fault of the sender"
        );
    }
}

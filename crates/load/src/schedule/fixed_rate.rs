//! An even rate.

use super::{Due, GATHER_NS, Pace, Schedule};

/// Sends evenly spaced queries without regard to answers.
#[derive(Clone, Debug)]
pub struct FixedRate {
    pace: Pace,
    /// Span of the queries that are sent in one batch, less one spacing.
    gather_ns: u64,
}

impl FixedRate {
    /// One query at each tick of `pace`.
    pub fn new(pace: Pace) -> Self {
        let spacing_ns = pace.spacing_ns().max(1);
        Self {
            gather_ns: GATHER_NS / spacing_ns * spacing_ns,
            pace,
        }
    }
}

impl Schedule for FixedRate {
    fn next(&self) -> Due {
        Due::At(self.pace.due_ns())
    }

    fn advance(&mut self) {
        self.pace.advance();
    }

    fn wake_ns(&self, due_ns: u64) -> u64 {
        due_ns + self.gather_ns
    }

    fn latency_from_schedule(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rates_are_not_gathered() {
        let schedule = FixedRate::new(Pace::new(0, 1_000.0, 0, 1));
        assert_eq!(schedule.wake_ns(5_000_000), 5_000_000);
    }

    #[test]
    fn fast_rates_wake_at_the_time_of_a_query() {
        let schedule = FixedRate::new(Pace::new(0, 50_000.0, 0, 1));
        assert_eq!(schedule.wake_ns(1_000_000), 1_000_000 + GATHER_NS);
    }
}

//! The load's clock as `quinn-proto` takes it: nanoseconds as `Instant` and back.

use crate::clock::Clock;
use std::time::{Duration, Instant};

/// One moment in both measures, fixed at the first look at the clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeline {
    origin: Option<(Instant, u64)>,
}

impl Timeline {
    /// The time now, in nanoseconds of `clock`.
    pub fn now_ns(&mut self, clock: &impl Clock) -> u64 {
        let now_ns = clock.now_ns();
        self.origin.get_or_insert_with(|| (Instant::now(), now_ns));
        now_ns
    }

    /// The moment `at_ns`, which is not before the first look at the clock.
    pub fn instant(&self, at_ns: u64) -> Instant {
        let (origin, origin_ns) = self.origin.unwrap_or_else(|| (Instant::now(), at_ns));
        origin + Duration::from_nanos(at_ns.saturating_sub(origin_ns))
    }

    /// The nanoseconds of a moment.
    pub fn ns(&self, moment: Instant) -> u64 {
        self.origin.map_or(0, |(origin, origin_ns)| {
            origin_ns + moment.saturating_duration_since(origin).as_nanos() as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MonotonicClock;

    #[test]
    fn moments_survive_the_way_there_and_back() {
        let mut timeline = Timeline::default();
        let now_ns = timeline.now_ns(&MonotonicClock);
        for after_ns in [0, 1, 999_999_999, 3_600_000_000_000] {
            let moment = timeline.instant(now_ns + after_ns);
            assert_eq!(timeline.ns(moment), now_ns + after_ns);
        }
    }
}

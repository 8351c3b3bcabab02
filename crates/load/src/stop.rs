//! When sending ends.

use crate::config::StopCondition;
use crate::order::Order;

/// One thread's share of a stop condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Sending ends at this time.
    pub until_ns: u64,
    /// Sending ends after so many queries.
    pub queries: u64,
}

/// Why sending ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The asked duration was over.
    Duration,
    /// The asked number of queries had been sent.
    Exhausted,
    /// The caller asked for it.
    Cancelled,
}

impl Stop {
    /// The share of a thread that sends the queries of `order`, of a stream of `stream_len` queries.
    pub fn share(
        condition: &StopCondition,
        start_ns: u64,
        stream_len: usize,
        order: &Order,
    ) -> Self {
        let passes = condition
            .passes
            .map(|passes| passes.saturating_mul(stream_len as u64));
        let total = condition
            .queries
            .unwrap_or(u64::MAX)
            .min(passes.unwrap_or(u64::MAX));
        let queries = match (total, order.next()) {
            (_, None) => 0,
            (u64::MAX, _) => u64::MAX,
            _ => order.share_of(total),
        };
        let until_ns = condition.duration.map_or(u64::MAX, |duration| {
            start_ns.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
        });
        Self { until_ns, queries }
    }

    /// Whether sending has ended, given the time and the number of queries sent.
    pub fn reached(&self, now_ns: u64, sent: u64) -> Option<Stopped> {
        if sent >= self.queries {
            Some(Stopped::Exhausted)
        } else if now_ns >= self.until_ns {
            Some(Stopped::Duration)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn shares_add_up_to_the_whole() {
        for (queries, passes, expected) in [
            (Some(7), None, 7),
            (None, Some(3), 15),
            (Some(100), Some(2), 10),
        ] {
            let condition = StopCondition {
                duration: None,
                queries,
                passes,
            };
            for threads in 1..5 {
                let sum: u64 = (0..threads)
                    .map(|thread| {
                        let order = Order::every(thread, threads, 5);
                        Stop::share(&condition, 0, 5, &order).queries
                    })
                    .sum();
                assert_eq!(sum, expected);
            }
        }
    }

    #[test]
    fn whichever_comes_first() {
        let condition = StopCondition {
            duration: Some(Duration::from_secs(1)),
            queries: Some(10),
            passes: None,
        };
        let order = Order::every(0, 1, 5);
        let stop = Stop::share(&condition, 500, 5, &order);
        assert_eq!(stop.reached(1_000_000_499, 9), None);
        assert_eq!(stop.reached(1_000_000_500, 9), Some(Stopped::Duration));
        assert_eq!(stop.reached(501, 10), Some(Stopped::Exhausted));
        assert_eq!(
            Stop::share(&StopCondition::default(), 0, 5, &order)
                .reached(u64::MAX - 1, u64::MAX - 1),
            None
        );
    }
}

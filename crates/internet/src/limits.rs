//! How many answers over UDP each server gives per second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Servers whose numbers are the same modulo this share a limit.
const PLACES: usize = 1 << 17;

/// What to do with an answer over UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limited {
    /// Send it.
    Send,
    /// Send that it is truncated, so that a resolver comes back by TCP.
    Truncate,
    /// Send nothing.
    Drop,
}

/// Counts answers of the current second by server.
#[derive(Debug)]
pub(crate) struct RateLimits {
    limit_qps: Option<u32>,
    /// The second in the upper half, the answers in it in the lower.
    counts: Box<[AtomicU64]>,
}

impl RateLimits {
    pub fn new(limit_qps: Option<u32>) -> Self {
        let places = limit_qps.map_or(0, |_| PLACES);
        Self {
            limit_qps,
            counts: (0..places).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts an answer of server number `server`, and says what is to become of it.
    pub fn count(&self, server: u32, now: Duration) -> Limited {
        let Some(limit) = self.limit_qps else {
            return Limited::Send;
        };
        let second = now.as_secs() << 32;
        let place = &self.counts[server as usize % PLACES];
        let next = |count: u64| match count & !0xffff_ffff == second {
            true => count + 1,
            false => second | 1,
        };
        let before = place.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            Some(next(count))
        });
        let count = next(before.unwrap_or_else(|count| count)) as u32;
        match count.checked_sub(limit) {
            None | Some(0) => Limited::Send,
            Some(beyond) if beyond % 2 == 1 => Limited::Truncate,
            Some(_) => Limited::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_has_its_answers() {
        let limits = RateLimits::new(Some(2));
        for second in [0, 1, 5] {
            let now = Duration::from_secs(second);
            let all: Vec<Limited> = (0..5).map(|_| limits.count(9, now)).collect();
            let expected = [
                Limited::Send,
                Limited::Send,
                Limited::Truncate,
                Limited::Drop,
                Limited::Truncate,
            ];
            assert_eq!(all, expected);
            assert_eq!(limits.count(10, now), Limited::Send);
        }
        assert_eq!(
            RateLimits::new(None).count(1, Duration::ZERO),
            Limited::Send
        );
    }
}

//! How many answers over UDP each server gives per second.

use crate::servers::ServerId;
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
    /// Of the servers that have an address of their own, by number.
    listed_qps: Box<[Option<u32>]>,
    /// Of domains' own servers.
    own_qps: Option<u32>,
    /// The second in the upper half, the answers in it in the lower.
    counts: Box<[AtomicU64]>,
}

impl RateLimits {
    pub fn new(listed_qps: Box<[Option<u32>]>, own_qps: Option<u32>) -> Self {
        let is_limited = own_qps.is_some() || listed_qps.iter().any(Option::is_some);
        let places = if is_limited { PLACES } else { 0 };
        Self {
            listed_qps,
            own_qps,
            counts: (0..places).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts an answer of a server, and says what is to become of it.
    pub fn count(&self, server: ServerId, now: Duration) -> Limited {
        let (number, limit) = match server {
            ServerId::Listed(number) => (number, self.listed_qps[number as usize]),
            ServerId::Own(number) => (number, self.own_qps),
        };
        let Some(limit) = limit else {
            return Limited::Send;
        };
        let second = now.as_secs() << 32;
        let place = &self.counts[number as usize % PLACES];
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
        let limits = RateLimits::new([Some(2), Some(1), None].into(), Some(2));
        for second in [0, 1, 5] {
            let now = Duration::from_secs(second);
            let all: Vec<Limited> = (0..5)
                .map(|_| limits.count(ServerId::Own(9), now))
                .collect();
            let expected = [
                Limited::Send,
                Limited::Send,
                Limited::Truncate,
                Limited::Drop,
                Limited::Truncate,
            ];
            assert_eq!(all, expected);
            assert_eq!(limits.count(ServerId::Own(10), now), Limited::Send);
            let two = |number| [(); 2].map(|()| limits.count(ServerId::Listed(number), now));
            assert_eq!(two(0), [Limited::Send; 2]);
            assert_eq!(two(1), [Limited::Send, Limited::Truncate]);
            assert_eq!(two(2), [Limited::Send; 2]);
        }
        let unlimited = RateLimits::new([None].into(), None);
        assert_eq!(
            unlimited.count(ServerId::Listed(0), Duration::ZERO),
            Limited::Send
        );
    }
}

//! Queries that wait for their answers.

use super::habits::Habit;
use crate::stats::ANSWER_TIMEOUT_NS;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Queries that wait at most. With more, all are given up that wait.
const MOST: usize = 1 << 20;

/// What of a query matters when its answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub time_ns: i64,
    pub has_rd: bool,
    pub habit: Habit,
}

/// Queries by hash of endpoints, ID and question.
#[derive(Debug, Default)]
pub(super) struct PendingQueries {
    waiting: HashMap<u64, Pending, RandomState>,
    next_look_ns: i64,
}

impl PendingQueries {
    /// A query waits. One that is sent again takes the place of the first.
    pub fn add(&mut self, hash: u64, query: Pending) {
        let is_time = query.time_ns >= self.next_look_ns;
        if is_time || self.waiting.len() >= MOST {
            let least_ns = query.time_ns.saturating_sub(ANSWER_TIMEOUT_NS);
            self.waiting
                .retain(|_, waiting| waiting.time_ns >= least_ns);
            if self.waiting.len() >= MOST {
                self.waiting.clear();
            }
            self.next_look_ns = query.time_ns.saturating_add(ANSWER_TIMEOUT_NS);
        }
        self.waiting.insert(hash, query);
    }

    /// Takes the query to which an answer has come.
    pub fn take(&mut self, hash: u64) -> Option<Pending> {
        self.waiting.remove(&hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(time_s: i64) -> Pending {
        Pending {
            time_ns: time_s * 1_000_000_000,
            has_rd: true,
            habit: Habit::default(),
        }
    }

    #[test]
    fn answers_take_queries_and_old_ones_are_given_up() {
        let mut pending = PendingQueries::default();
        pending.add(1, query(0));
        pending.add(2, query(5));
        assert_eq!(pending.take(1), Some(query(0)));
        assert_eq!(pending.take(1), None);
        pending.add(3, query(16));
        assert_eq!(pending.take(2), None);
        pending.add(3, query(17));
        assert_eq!(pending.take(3), Some(query(17)));
    }
}

//! When each of many clients is to be looked at again, without a look at all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No time.
pub const NEVER_NS: u64 = u64::MAX;

/// One alarm a client, at most.
///
/// Alarms are never taken back or moved to later, since most of them would be (QUIC's timers move with each packet): a
/// client whose alarm goes off looks whether anything is due, and sets the next one. An alarm later than the one that is
/// set is without effect, so that a busy client costs one entry for each of its spans of time, not for each of its queries.
#[derive(Debug)]
pub struct Timers {
    /// When the alarm of each client goes off.
    set_ns: Vec<u64>,
    /// The alarms in order, and those that an earlier one took the place of.
    alarms: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Timers {
    /// Of `clients` clients, none of them set.
    pub fn new(clients: usize) -> Self {
        Self {
            set_ns: vec![NEVER_NS; clients],
            alarms: BinaryHeap::new(),
        }
    }

    /// Sets the alarm of `client`, unless an earlier one is set; [`NEVER_NS`] asks for nothing.
    pub fn set(&mut self, client: usize, at_ns: u64) {
        if at_ns < self.set_ns[client] {
            self.set_ns[client] = at_ns;
            self.alarms.push(Reverse((at_ns, client as u32)));
        }
    }

    /// Takes a client whose alarm has gone off by `now_ns`.
    pub fn take(&mut self, now_ns: u64) -> Option<usize> {
        while let Some(&Reverse((at_ns, client))) = self.alarms.peek()
            && at_ns <= now_ns
        {
            self.alarms.pop();
            let client = client as usize;
            if self.set_ns[client] == at_ns {
                self.set_ns[client] = NEVER_NS;
                return Some(client);
            }
        }
        None
    }

    /// When the next alarm goes off, which may turn out to be one that no longer counts.
    pub fn next_ns(&self) -> u64 {
        self.alarms
            .peek()
            .map_or(NEVER_NS, |Reverse((at_ns, _))| *at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_busy_client_has_one_alarm() {
        let mut timers = Timers::new(1);
        for query in 0..1_000 {
            timers.set(0, 5_000 + query);
        }
        assert_eq!((timers.alarms.len(), timers.next_ns()), (1, 5_000));
        assert_eq!((timers.take(4_999), timers.take(5_000)), (None, Some(0)));
        assert_eq!((timers.take(9_999), timers.next_ns()), (None, NEVER_NS));
    }

    proptest! {
        #[test]
        fn each_alarm_goes_off_once_and_in_time(steps in proptest::collection::vec((0usize..5, 0u64..50), 1..200)) {
            let mut timers = Timers::new(5);
            let mut model = [NEVER_NS; 5];
            let mut now_ns = 0;
            for (client, span_ns) in steps {
                timers.set(client, now_ns + span_ns);
                model[client] = model[client].min(now_ns + span_ns);
                now_ns += span_ns / 4;
                prop_assert!(timers.next_ns() <= *model.iter().min().unwrap());
                while let Some(client) = timers.take(now_ns) {
                    prop_assert!(model[client] <= now_ns);
                    model[client] = NEVER_NS;
                }
                prop_assert!(model.iter().all(|at_ns| *at_ns > now_ns));
            }
        }
    }
}

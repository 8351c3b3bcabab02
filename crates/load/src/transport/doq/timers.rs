//! When each client is to be looked at, without a look at all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Alarms of many clients.
///
/// QUIC's timers move with each packet, mostly to later. An alarm is therefore never moved to later: it goes off early,
/// and its client is armed again with the time that then holds.
#[derive(Debug)]
pub struct Timers {
    alarms: BinaryHeap<Reverse<(u64, usize)>>,
    /// For each client, its earliest alarm that counts; `u64::MAX` for none.
    armed_ns: Vec<u64>,
}

impl Timers {
    /// No alarms, for `clients` clients.
    pub fn new(clients: usize) -> Self {
        Self {
            alarms: BinaryHeap::new(),
            armed_ns: vec![u64::MAX; clients],
        }
    }

    /// Has `client` looked at no later than at `due_ns`; `u64::MAX` asks for nothing.
    pub fn arm(&mut self, client: usize, due_ns: u64) {
        if due_ns < self.armed_ns[client] {
            self.armed_ns[client] = due_ns;
            self.alarms.push(Reverse((due_ns, client)));
        }
    }

    /// When the next alarm goes off, which may turn out to be one that no longer counts.
    pub fn due_ns(&self) -> u64 {
        self.alarms
            .peek()
            .map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns)
    }

    /// Takes a client whose alarm has gone off by `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<usize> {
        while let Some(&Reverse((due_ns, client))) = self.alarms.peek()
            && due_ns <= now_ns
        {
            self.alarms.pop();
            if self.armed_ns[client] == due_ns {
                self.armed_ns[client] = u64::MAX;
                return Some(client);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is asked for, a client is looked at no later than asked, and once for each time that counts.
        #[test]
        fn nobody_is_forgotten(steps in proptest::collection::vec((0usize..4, 1u64..100, any::<bool>()), 1..200)) {
            let mut timers = Timers::new(4);
            let mut model = [u64::MAX; 4];
            let mut now_ns = 0;
            for (client, span_ns, passes) in steps {
                if passes {
                    now_ns += span_ns;
                    while let Some(due) = timers.take_due(now_ns) {
                        prop_assert!(model[due] <= now_ns);
                        model[due] = u64::MAX;
                    }
                    prop_assert!(model.iter().all(|due_ns| *due_ns > now_ns));
                } else {
                    timers.arm(client, now_ns + span_ns);
                    model[client] = model[client].min(now_ns + span_ns);
                }
                prop_assert!(timers.due_ns() <= *model.iter().min().unwrap());
            }
        }
    }
}

//! A rate that changes as planned: ramps and steps.

use super::{Due, GATHER_NS, NEVER_NS, RatePlan, Schedule};

/// Sends queries at the rate of a [`RatePlan`], without regard to answers.
#[derive(Clone, Debug)]
pub struct Planned {
    plan: RatePlan,
    start_ns: u64,
    /// Number of the next query in the common sequence of all threads.
    number: u64,
    step: u64,
    due_ns: u64,
}

impl Planned {
    /// The queries `first`, `first + step`, ... of those that `plan` asks for from `start_ns` on.
    pub fn new(plan: RatePlan, start_ns: u64, first: u64, step: u64) -> Self {
        let mut schedule = Self {
            plan,
            start_ns,
            number: first,
            step,
            due_ns: start_ns,
        };
        schedule.due_ns = schedule.due_ns_of(first);
        schedule
    }

    fn due_ns_of(&self, number: u64) -> u64 {
        self.plan
            .due_ns(number)
            .map_or(NEVER_NS, |since_ns| self.start_ns.saturating_add(since_ns))
    }
}

impl Schedule for Planned {
    fn next(&self) -> Due {
        Due::At(self.due_ns)
    }

    fn advance(&mut self) {
        self.number += self.step;
        // Two times that differ by less than a nanosecond may be rounded the other way round.
        self.due_ns = self.due_ns_of(self.number).max(self.due_ns);
    }

    fn wake_ns(&self, due_ns: u64) -> u64 {
        let since_s = due_ns.saturating_sub(self.start_ns) as f64 / 1e9;
        let gathered = self.plan.rate_qps(since_s) / self.step as f64 * (GATHER_NS as f64 / 1e9);
        let last = self.number + gathered as u64 * self.step;
        self.due_ns_of(last)
            .clamp(due_ns, due_ns.saturating_add(GATHER_NS))
    }

    fn latency_from_schedule(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::rate_plan::Step;
    use crate::schedule::{FixedRate, Pace};
    use proptest::prelude::*;

    fn due_ns(schedule: &impl Schedule) -> u64 {
        match schedule.next() {
            Due::At(due_ns) => due_ns,
            Due::WhenFreed => panic!("an open loop waits for no answer"),
        }
    }

    #[test]
    fn what_is_never_due_stays_so() {
        let mut schedule = Planned::new(RatePlan::ramp(4.0, 0.0, 1.0), 7, 0, 1);
        for _ in 0..2 {
            assert!(due_ns(&schedule) < 1_000_000_007);
            schedule.advance();
        }
        for _ in 0..3 {
            assert_eq!(schedule.next(), Due::At(NEVER_NS));
            assert_eq!(schedule.wake_ns(NEVER_NS), NEVER_NS);
            schedule.advance();
        }
    }

    #[test]
    fn fast_rates_are_gathered_and_slow_ones_are_not() {
        let steps = [(1_000.0, 1.0), (50_000.0, 1.0)];
        let steps = steps.map(|(rate_qps, span_s)| Step { rate_qps, span_s });
        let mut schedule = Planned::new(RatePlan::steps(&steps), 0, 0, 1);
        assert_eq!(schedule.wake_ns(0), 0);
        (0..1_000).for_each(|_| schedule.advance());
        assert_eq!(due_ns(&schedule), 1_000_000_000);
        assert_eq!(schedule.wake_ns(1_000_000_000), 1_000_000_000 + GATHER_NS);
    }

    #[test]
    fn a_thread_gathers_its_own_queries() {
        let schedule = Planned::new(RatePlan::constant(50_000.0), 0, 0, 4);
        assert_eq!(
            schedule.wake_ns(0),
            0,
            "its next query is 80 us after this one"
        );
    }

    proptest! {
        #[test]
        fn a_constant_plan_is_a_fixed_rate(rate in 0.01f64..1e6, first in 0u64..8, step in 1u64..8) {
            let rate = (rate * 1e6).round() / 1e6;
            let mut planned = Planned::new(RatePlan::constant(rate), 1_000, first, step);
            let mut fixed = FixedRate::new(Pace::new(1_000, rate, first, step));
            for _ in 0..1_000 {
                prop_assert!(due_ns(&planned).abs_diff(due_ns(&fixed)) <= 1);
                planned.advance();
                fixed.advance();
            }
        }

        #[test]
        fn threads_together_send_the_whole_plan(threads in 1u64..6, from in 0.0f64..1e5, to in 1.0f64..1e5) {
            let plan = RatePlan::ramp(from, to, 0.01);
            let mut whole = Planned::new(plan.clone(), 5, 0, 1);
            let mut parts: Vec<_> = (0..threads).map(|first| Planned::new(plan.clone(), 5, first, threads)).collect();
            for number in 0..500 {
                let part = &mut parts[(number % threads) as usize];
                prop_assert!(due_ns(part) <= due_ns(&whole), "the whole may have been held back by rounding");
                prop_assert!(due_ns(&whole) - due_ns(part) <= 1);
                prop_assert!(part.wake_ns(due_ns(part)) >= due_ns(part));
                part.advance();
                whole.advance();
            }
        }
    }
}

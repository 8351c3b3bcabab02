//! Answers that wait for their time: a timer wheel.

use std::time::Duration;

/// How exact times are.
const TICK_NS: u128 = 250_000;
/// Slots of the wheel; what waits longer than a turn, 4 s, goes round more than once.
const SLOTS: usize = 1 << 14;

/// Things that wait for their time, in virtual time.
pub(super) struct Delayed<T> {
    slots: Vec<Vec<(u64, T)>>,
    /// A bit for each slot that has something.
    filled: Vec<u64>,
    waiting: usize,
    /// Everything before this tick has been given out.
    tick: u64,
}

fn tick_of(time: Duration) -> u64 {
    (time.as_nanos() / TICK_NS) as u64
}

impl<T> Delayed<T> {
    pub fn new() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            filled: vec![0; SLOTS / 64],
            waiting: 0,
            tick: 0,
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Lets `thing` wait until `due`.
    pub fn put(&mut self, due: Duration, thing: T) {
        // The tick after, so that nothing comes early.
        let tick = (tick_of(due) + 1).max(self.tick);
        let slot = tick as usize % SLOTS;
        self.slots[slot].push((tick, thing));
        self.filled[slot / 64] |= 1 << (slot % 64);
        self.waiting += 1;
    }

    /// Hands what is due at `now` to `give`, in order of time.
    pub fn take_due(&mut self, now: Duration, mut give: impl FnMut(T)) {
        let now = tick_of(now);
        if self.waiting == 0 {
            self.tick = self.tick.max(now + 1);
            return;
        }
        while self.tick <= now {
            let slot = self.tick as usize % SLOTS;
            if self.filled[slot / 64] >> (slot % 64) & 1 == 1 {
                self.take_slot(slot, &mut give);
            }
            self.tick += 1;
        }
    }

    fn take_slot(&mut self, slot: usize, give: &mut impl FnMut(T)) {
        let tick = self.tick;
        let mut all = std::mem::take(&mut self.slots[slot]);
        let before = all.len();
        for (_, thing) in all.extract_if(.., |(due, _)| *due <= tick) {
            give(thing);
        }
        self.waiting -= before - all.len();
        if all.is_empty() {
            self.filled[slot / 64] &= !(1 << (slot % 64));
        }
        // Its memory is used again.
        self.slots[slot] = all;
    }

    /// How long from `now` until something may be due; none if nothing waits.
    pub fn next(&self, now: Duration) -> Option<Duration> {
        if self.waiting == 0 {
            return None;
        }
        let start = self.tick as usize % SLOTS;
        let is_filled = |slot: usize| self.filled[slot / 64] >> (slot % 64) & 1 == 1;
        let mut ahead = 0;
        while ahead < SLOTS {
            let slot = (start + ahead) % SLOTS;
            if slot.is_multiple_of(64) && self.filled[slot / 64] == 0 {
                ahead += 64;
                continue;
            }
            if is_filled(slot) {
                break;
            }
            ahead += 1;
        }
        let due = u128::from(self.tick + ahead as u64) * TICK_NS;
        Some(Duration::from_nanos(due as u64).saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_comes_once_in_time(delays in proptest::collection::vec(0..9_000_000u64, 1..50), step_us in 100..70_000u64) {
            let mut wheel = Delayed::new();
            for (number, delay_us) in delays.iter().enumerate() {
                wheel.put(Duration::from_micros(*delay_us), number);
            }
            let mut now = Duration::ZERO;
            let mut taken = Vec::new();
            while wheel.len() > 0 {
                now += Duration::from_micros(step_us).max(wheel.next(now).unwrap());
                wheel.take_due(now, |number| taken.push((number, now)));
            }
            prop_assert_eq!(taken.len(), delays.len());
            for (number, at) in &taken {
                let due = Duration::from_micros(delays[*number]);
                prop_assert!(*at >= due);
                prop_assert!(*at <= due + Duration::from_micros(step_us + 600));
            }
            prop_assert!(wheel.next(now).is_none());
        }
    }
}

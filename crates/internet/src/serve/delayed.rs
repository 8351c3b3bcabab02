//! Answers that wait for their time: a timer wheel.

use std::time::Duration;

/// Slots of the wheel; what waits longer than a turn, 3 s with the shortest ticks, goes round more than once.
const SLOTS: usize = 1 << 14;

/// Things that wait for their time, in virtual time.
pub(super) struct Delayed<T> {
    tick_ns: u64,
    slots: Vec<Vec<(u64, T)>>,
    /// A bit for each slot that has something.
    filled: Vec<u64>,
    waiting: usize,
    /// Everything before this tick has been given out.
    tick: u64,
}

impl<T> Delayed<T> {
    /// Things come at the tick that is nearest to their time.
    pub fn new(tick: Duration) -> Self {
        Self {
            tick_ns: tick.as_nanos() as u64,
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            filled: vec![0; SLOTS / 64],
            waiting: 0,
            tick: 0,
        }
    }

    fn tick_of(&self, time: Duration) -> u64 {
        time.as_nanos() as u64 / self.tick_ns
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Lets `thing` wait until `due`.
    pub fn put(&mut self, due: Duration, thing: T) {
        // The nearest, not the next: times shall be right in the mean.
        let half = Duration::from_nanos(self.tick_ns / 2);
        let tick = self.tick_of(due + half).max(self.tick);
        let slot = tick as usize % SLOTS;
        self.slots[slot].push((tick, thing));
        self.filled[slot / 64] |= 1 << (slot % 64);
        self.waiting += 1;
    }

    /// Hands what is due at `now` to `give`, in order of time.
    pub fn take_due(&mut self, now: Duration, mut give: impl FnMut(T)) {
        let now = self.tick_of(now);
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
        let due = (self.tick + ahead as u64) * self.tick_ns;
        Some(Duration::from_nanos(due).saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_comes_once_in_time(delays in proptest::collection::vec(0..9_000_000u64, 1..50), step_us in 100..70_000u64, tick_us in 200..1001u64) {
            let mut wheel = Delayed::new(Duration::from_micros(tick_us));
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
                prop_assert!(*at + Duration::from_micros(tick_us / 2 + 1) >= due);
                prop_assert!(*at <= due + Duration::from_micros(step_us + 2 * tick_us));
            }
            prop_assert!(wheel.next(now).is_none());
        }
    }
}

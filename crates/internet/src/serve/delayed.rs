//! Answers that wait for their time: a timer wheel.

use std::time::Duration;

/// Slots of the wheel; what waits longer than a turn, 0.8 s with the shortest ticks, goes round more than once.
const SLOTS: usize = 1 << 12;
/// So many that come together save what is to be saved: with more of them pauses between their times need not be longer.
const TOGETHER: u64 = 32;
/// The longest such pause: 16 ticks.
const GRAIN_MAX: u32 = 4;
/// Ticks after which it is counted anew how many come in one.
const COUNTED_TICKS: u64 = 64;
/// No place.
const NONE: u32 = u32::MAX;

/// A place for something that waits. Places are used again, the last one that became free first: it is in the caches still,
/// and the wheel takes no more memory than the most that waited at once.
struct Place<T> {
    /// Nothing in a free place.
    thing: Option<T>,
    /// What it takes, about.
    octets: u32,
    tick: u64,
    /// The next place of the same slot, of the last one the first; of a free place the next free one.
    next: u32,
}

/// Things that wait for their time, in virtual time.
pub(super) struct Delayed<T> {
    tick_ns: u64,
    places: Vec<Place<T>>,
    /// The free place that is used next.
    free: u32,
    /// The last place of each slot.
    slots: Vec<u32>,
    /// A bit for each slot that has something.
    filled: Vec<u64>,
    waiting: usize,
    /// What all that waits takes, with its places.
    octets: usize,
    /// Everything before this tick has been given out.
    tick: u64,
    recent: Recent,
}

/// How many things were put in of late.
#[derive(Default)]
struct Recent {
    /// From this tick on `count` were put in.
    since: u64,
    count: u64,
    /// Ticks in which [`TOGETHER`] come, by the count before.
    apart: Option<u64>,
}

impl Recent {
    /// Counts one that is put in at a tick.
    fn note(&mut self, tick: u64) {
        let ticks = tick.saturating_sub(self.since);
        if ticks >= COUNTED_TICKS {
            self.apart = (TOGETHER * ticks).checked_div(self.count);
            (self.since, self.count) = (tick, 0);
        }
        self.count += 1;
    }
}

impl<T> Delayed<T> {
    /// Things come at the tick that is nearest to their time.
    pub fn new(tick: Duration) -> Self {
        Self {
            tick_ns: tick.as_nanos() as u64,
            places: Vec::new(),
            free: NONE,
            slots: vec![NONE; SLOTS],
            filled: vec![0; SLOTS / 64],
            waiting: 0,
            octets: 0,
            tick: 0,
            recent: Recent::default(),
        }
    }

    fn tick_of(&self, time: Duration) -> u64 {
        time.as_nanos() as u64 / self.tick_ns
    }

    /// Memory that all that waits takes, about: places that are free, and room for more, are not counted.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Lets `thing`, which takes `octets` beside its place, wait until `due`, to `exact` or half a tick: it comes at the tick that
    /// is nearest to `due` of those whose number can be divided by the highest power of two that this allows, so that many come
    /// together; where many come at every tick anyway, at the nearest one. Fewer than 2^32 - 1 may wait at once.
    pub fn put(&mut self, due: Duration, exact: Duration, thing: T, octets: usize) {
        self.recent.note(self.tick);
        // The nearest, not the next: times shall be right in the mean.
        let grain = self.grain(exact);
        let half = Duration::from_nanos(self.tick_ns * grain / 2);
        let tick = (self.tick_of(due + half) / grain * grain).max(self.tick);
        let octets = octets + size_of::<Place<T>>();
        self.octets += octets;
        let place = self.take_place(thing, octets as u32, tick);
        self.append(tick as usize % SLOTS, place);
        self.waiting += 1;
    }

    /// How many ticks apart those are that are near enough to every time, and as far as is of use.
    fn grain(&self, exact: Duration) -> u64 {
        let between = 2 * exact.as_nanos() as u64 / self.tick_ns;
        between
            .min(self.recent.apart.unwrap_or(u64::MAX))
            .checked_ilog2()
            .map_or(1, |power| 1 << power.min(GRAIN_MAX))
    }

    fn take_place(&mut self, thing: T, octets: u32, tick: u64) -> u32 {
        let filled = Place {
            thing: Some(thing),
            octets,
            tick,
            next: NONE,
        };
        let place = self.free;
        if let Some(free) = self.places.get_mut(place as usize) {
            self.free = free.next;
            *free = filled;
            return place;
        }
        self.places.push(filled);
        (self.places.len() - 1) as u32
    }

    /// Puts a place behind all others of a slot.
    fn append(&mut self, slot: usize, place: u32) {
        let last = self.slots[slot];
        let first = match self.places.get_mut(last as usize) {
            Some(last) => std::mem::replace(&mut last.next, place),
            None => place,
        };
        self.places[place as usize].next = first;
        self.slots[slot] = place;
        self.filled[slot / 64] |= 1 << (slot % 64);
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
        let last = std::mem::replace(&mut self.slots[slot], NONE);
        self.filled[slot / 64] &= !(1 << (slot % 64));
        let mut next = self.places[last as usize].next;
        loop {
            let one = next;
            let place = &mut self.places[one as usize];
            next = place.next;
            if place.tick <= self.tick {
                place.next = self.free;
                self.free = one;
                self.waiting -= 1;
                self.octets -= place.octets as usize;
                if let Some(thing) = place.thing.take() {
                    give(thing);
                }
            } else {
                self.append(slot, one);
            }
            if one == last {
                return;
            }
        }
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
        fn everything_comes_once_in_time(delays in proptest::collection::vec((0..9_000_000u64, 0..50_000u64), 1..50), step_us in 100..70_000u64, tick_us in 200..1001u64) {
            let mut wheel = Delayed::new(Duration::from_micros(tick_us));
            for (number, (delay_us, exact_us)) in delays.iter().enumerate() {
                wheel.put(Duration::from_micros(*delay_us), Duration::from_micros(*exact_us), number, number);
            }
            let places = delays.len() * size_of::<Place<usize>>();
            prop_assert_eq!(wheel.octets(), (0..delays.len()).sum::<usize>() + places);
            let mut now = Duration::ZERO;
            let mut taken = Vec::new();
            while wheel.waiting > 0 {
                now += Duration::from_micros(step_us).max(wheel.next(now).unwrap());
                wheel.take_due(now, |number| taken.push((number, now)));
            }
            prop_assert_eq!(taken.len(), delays.len());
            for (number, at) in &taken {
                let (due, exact) = delays[*number];
                let (due, exact) = (Duration::from_micros(due), Duration::from_micros(exact.max(tick_us / 2 + 1)));
                prop_assert!(*at + exact >= due);
                prop_assert!(*at <= due + exact + Duration::from_micros(step_us + 2 * tick_us));
            }
            prop_assert!(wheel.next(now).is_none());
            prop_assert_eq!(wheel.octets(), 0);
        }
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_due_at_about_the_same_time_comes_together() {
        let mut wheel = Delayed::new(MS);
        // 4 ms either way: at multiples of 8 ms.
        for due in [37, 38, 40, 43] {
            wheel.put(due * MS, 4 * MS, due, 0);
        }
        wheel.put(37 * MS, Duration::ZERO, 1, 0);
        let mut taken = Vec::new();
        wheel.take_due(39 * MS, |number| taken.push(number));
        assert_eq!(taken, [1]);
        wheel.take_due(40 * MS, |number| taken.push(number));
        assert_eq!(taken, [1, 37, 38, 40, 43]);
    }

    #[test]
    fn where_many_come_they_come_at_their_time() {
        let lateness = |each_ms: u64| {
            let mut wheel = Delayed::new(MS);
            let mut greatest = 0;
            for now in 0..1000_u64 {
                for _ in 0..each_ms {
                    wheel.put((now + 37) as u32 * MS, 8 * MS, now + 37, 0);
                }
                // Not what was put in before it was known how many come.
                wheel.take_due(now as u32 * MS, |due| {
                    greatest = greatest.max(if due < 300 { 0 } else { now.abs_diff(due) });
                });
            }
            greatest
        };
        assert_eq!(lateness(1), 8);
        assert_eq!(lateness(TOGETHER / 4), 2, "every 4 ms");
        assert_eq!(lateness(TOGETHER), 0);
        assert_eq!(lateness(2 * TOGETHER), 0);
    }

    #[test]
    fn takes_no_more_places_than_wait_at_once() {
        let mut wheel = Delayed::new(MS);
        let mut taken = 0;
        for now in 0..1000 {
            // A turn of the wheel and more.
            wheel.put((now + 5000) * MS, MS, (), 0);
            wheel.put((now + 1) * MS, MS, (), 0);
            wheel.take_due(now * MS, |()| taken += 1);
        }
        assert!((900..1100).contains(&taken), "{taken}");
        assert!(wheel.places.len() <= 1102, "{}", wheel.places.len());
    }
}

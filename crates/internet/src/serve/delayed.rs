//! Answers that wait for their time: a timer wheel.

use crate::random::scale;
use dnsrig_zone::splitmix::mix;
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
    /// Things come at multiples of `tick`.
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

    /// Lets `thing`, which takes `octets` beside its place, wait until `due`, up to `exact` earlier or later, or half a tick: it comes at
    /// one of those ticks that can be divided by the highest power of two that this allows, so that many come together; where many
    /// come anyway, by a lower one. Fewer than 2^32 - 1 may wait at once.
    pub fn put(&mut self, due: Duration, exact: Duration, thing: T, octets: usize) {
        self.recent.note(self.tick);
        let tick = self.rounded(due, self.grain(exact)).max(self.tick);
        let octets = octets + size_of::<Place<T>>();
        self.octets += octets;
        let place = self.take_place(thing, octets as u32, tick);
        self.append(tick as usize % SLOTS, place);
        self.waiting += 1;
    }

    /// How many ticks apart those are that are near enough to every time, and as far as is of use.
    fn grain(&self, exact: Duration) -> u64 {
        let between = exact.as_nanos() as u64 / self.tick_ns;
        between
            .min(self.recent.apart.unwrap_or(u64::MAX))
            .checked_ilog2()
            .map_or(1, |power| 1 << power.min(GRAIN_MAX))
    }

    /// The tick for a time, of those that are `grain` apart: the nearest one of all; of every second or fewer the one before or after,
    /// which is as likely as the time is near to it. The nearest one would be off by the same each time for who asks again as soon as
    /// it has an answer: that is at such a tick, too.
    fn rounded(&self, time: Duration, grain: u64) -> u64 {
        let (time_ns, apart_ns) = (time.as_nanos() as u64, grain * self.tick_ns);
        let more_ns = match grain {
            1 => apart_ns / 2,
            // As good as drawn: that follows from the nanoseconds, which have no pattern.
            _ => scale(mix(time_ns), apart_ns),
        };
        (time_ns + more_ns) / apart_ns * grain
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

    /// Takes what is due up to `now` whenever something is, and tells when that was.
    fn take_until<T>(wheel: &mut Delayed<T>, now: Duration, mut give: impl FnMut(T, Duration)) {
        let mut at = Duration::from_nanos(wheel.tick * wheel.tick_ns).min(now);
        while let Some(next) = wheel.next(at).filter(|next| at + *next <= now) {
            at += next.max(Duration::from_nanos(1));
            wheel.take_due(at, |thing| give(thing, at));
        }
        wheel.take_due(now, |thing| give(thing, now));
    }

    proptest! {
        #[test]
        fn everything_comes_once_in_time(
            bursts in proptest::collection::vec((0..200_000u64, 0..3_000_000u64, 0..50_000u64, 1..40usize), 1..60),
            tick_us in 200..1001u64,
        ) {
            let mut wheel = Delayed::new(Duration::from_micros(tick_us));
            let (mut now, mut put) = (Duration::ZERO, Vec::new());
            let mut taken = Vec::new();
            for (pause_us, delay_us, exact_us, count) in bursts {
                now += Duration::from_micros(pause_us);
                take_until(&mut wheel, now, |number, at| taken.push((number, at)));
                for more_us in 0..count as u64 {
                    let due = now + Duration::from_micros(delay_us + 37 * more_us);
                    wheel.put(due, Duration::from_micros(exact_us), put.len(), put.len());
                    put.push((now, due, exact_us));
                }
            }
            let last = now + Duration::from_secs(4);
            take_until(&mut wheel, last, |number, at| taken.push((number, at)));
            prop_assert_eq!(taken.len(), put.len());
            prop_assert!(taken.is_sorted_by_key(|(_, at)| *at));
            for (number, at) in &taken {
                let (asked, due, exact_us) = put[*number];
                let exact = Duration::from_micros(exact_us.max(tick_us / 2 + 1));
                prop_assert!(*at + exact >= due, "{at:?} is too early for {due:?}");
                // What is due before the wheel's next tick comes with it.
                let possible = due.max(asked + Duration::from_micros(tick_us));
                prop_assert!(*at <= possible + exact, "{at:?} is too late for {due:?}");
            }
            prop_assert!(wheel.next(last).is_none());
            prop_assert_eq!(wheel.octets(), 0);
        }
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_due_at_about_the_same_time_comes_together() {
        let mut wheel = Delayed::new(MS);
        // Up to 4 ms early or late: at multiples of 4 ms.
        for due in [36, 37, 38, 39, 40] {
            wheel.put(due * MS, 4 * MS, due, 0);
        }
        wheel.put(37 * MS, Duration::ZERO, 1, 0);
        let mut times = std::collections::BTreeMap::<_, Vec<_>>::new();
        take_until(&mut wheel, 50 * MS, |due, at| {
            times.entry(at).or_default().push(due);
        });
        assert_eq!(
            times.keys().copied().collect::<Vec<_>>(),
            [36 * MS, 37 * MS, 40 * MS]
        );
        assert_eq!(times[&(37 * MS)], [1]);
        assert!(times[&(36 * MS)].contains(&36) && times[&(40 * MS)].contains(&40));
    }

    #[test]
    fn who_asks_again_at_once_waits_as_long_as_is_due_in_the_mean() {
        for way_us in [4500, 5500, 6000, 7900] {
            let mut wheel = Delayed::new(MS);
            let way = Duration::from_micros(way_us);
            let mut now = Duration::ZERO;
            const ASKED: u32 = 2000;
            for number in 0..ASKED {
                // What comes between an answer and the next query is not always the same.
                let between = Duration::from_nanos(u64::from(200_000 + number * 7919 % 1009));
                wheel.put(now + between + way, 4 * MS, (), 0);
                now += between;
                let mut came = now;
                take_until(&mut wheel, now + 20 * MS, |(), at| came = at);
                // The wheel has gone further than that: time goes on where it is.
                wheel.tick = (came.as_millis() as u64) + 1;
                now = came;
            }
            let mean = now / ASKED;
            let wanted = way + Duration::from_nanos(200_500);
            assert!(mean.abs_diff(wanted) < MS / 5, "{mean:?} for {wanted:?}");
        }
    }

    #[test]
    fn where_many_come_they_come_at_their_time() {
        let mut wheel = Delayed::new(MS);
        // Most of the lateness at so many each millisecond, in a second after others.
        let mut now_ms = 0;
        let mut lateness_at = |each_ms: u64| {
            let (mut greatest, began) = (0, now_ms);
            for now in began..began + 1000 {
                for _ in 0..each_ms {
                    wheel.put((now + 37) as u32 * MS, 8 * MS, now + 37, 0);
                }
                // Those that were put in when it was known how many come.
                wheel.take_due(now as u32 * MS, |due| {
                    let is_known = due > began + 37 + 2 * COUNTED_TICKS;
                    greatest = greatest.max(if is_known { now.abs_diff(due) } else { 0 });
                });
            }
            now_ms += 1000;
            greatest
        };
        assert_eq!(lateness_at(1), 7, "every 8 ms");
        assert_eq!(lateness_at(TOGETHER / 4), 3, "every 4 ms");
        assert_eq!(lateness_at(2 * TOGETHER), 0);
        assert_eq!(lateness_at(TOGETHER / 2), 1, "every 2 ms");
        assert_eq!(lateness_at(1), 7, "every 8 ms again");
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

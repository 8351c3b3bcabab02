//! How often each name or address came: exact while there is room, then with a stated error.
//!
//! When the table is full, the median of all counts is subtracted from every count and what has none left is dropped, as in
//! Misra and Gries 1982 with the step of Anderson and others 2017 (arXiv:1705.07001). So every count is too small by at most the
//! sum of what was subtracted, which is the error, and tables merge with the sum of their errors.

use crate::memory::{prefetch, table};
use std::collections::HashMap;

/// Slots of an empty table.
const FIRST_SLOTS: usize = 1 << 10;

/// An item's place; empty if the count is zero. Items are told apart by 64 bits of hash: with ten million of them, the probability
/// that any two are taken for one is below 1 in 300,000.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    count: u32,
    /// Where in the arena the item stands, after its length in one octet.
    at: u32,
}

/// Counts of items of up to 255 octets.
#[derive(Clone, Debug)]
pub struct FrequentItems {
    /// A power of two of them.
    slots: Vec<Slot>,
    arena: Vec<u8>,
    len: usize,
    most: usize,
    /// How often a count has passed over 2^32, by hash.
    carried: HashMap<u64, u32>,
    error: u64,
}

impl FrequentItems {
    /// A table of at most `most` items, each with up to 48 octets of memory beside its own length.
    pub fn new(most: usize) -> Self {
        Self {
            slots: table(Slot::default, FIRST_SLOTS),
            arena: Vec::new(),
            len: 0,
            most: most.max(FIRST_SLOTS / 2),
            carried: HashMap::new(),
            error: 0,
        }
    }

    /// Items in the table.
    pub fn len(&self) -> usize {
        self.len
    }

    /// By how much counts can be too small; 0 if all are exact.
    pub fn error(&self) -> u64 {
        self.error
    }

    /// Fetches the place of the item with `hash` into the cache.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, self.place(hash));
    }

    /// Whether the next new item needs [`FrequentItems::make_room`].
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len >= self.most || self.arena.len() >= u32::MAX as usize - 256
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Counts the item with `hash` once; `write` appends it where it is new.
    #[inline]
    pub fn add(&mut self, hash: u64, write: impl FnOnce(&mut Vec<u8>)) {
        self.add_count(hash, 1, write);
    }

    /// Counts the item with `hash` `count` times.
    #[inline]
    fn add_count(&mut self, hash: u64, count: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let mask = self.slots.len() - 1;
        let mut place = self.place(hash);
        loop {
            let slot = &mut self.slots[place];
            if slot.count == 0 {
                break;
            }
            if slot.hash == hash {
                let (sum, has_passed) = slot.count.overflowing_add(count);
                slot.count = sum.max(1);
                if has_passed {
                    *self.carried.entry(hash).or_default() += 1;
                }
                return;
            }
            place = (place + 1) & mask;
        }
        let at = self.arena.len();
        self.arena.push(0);
        write(&mut self.arena);
        self.arena[at] = (self.arena.len() - at - 1) as u8;
        self.slots[place] = Slot {
            hash,
            count,
            at: at as u32,
        };
        self.len += 1;
        if self.len * 4 > self.slots.len() * 3 {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let slots = table(Slot::default, self.slots.len() * 2);
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.count > 0 {
                self.insert(slot);
            }
        }
    }

    /// Puts `slot` into the first free place.
    fn insert(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut place = self.place(slot.hash);
        while self.slots[place].count > 0 {
            place = (place + 1) & mask;
        }
        self.slots[place] = slot;
    }

    fn item(&self, slot: &Slot) -> &[u8] {
        let at = slot.at as usize;
        &self.arena[at + 1..][..usize::from(self.arena[at])]
    }

    fn count(&self, slot: &Slot) -> u64 {
        let carried = self.carried.get(&slot.hash).copied().unwrap_or(0);
        u64::from(carried) << 32 | u64::from(slot.count)
    }

    /// All items with their counts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let used = self.slots.iter().filter(|slot| slot.count > 0);
        used.map(|slot| (self.item(slot), self.count(slot)))
    }

    /// Drops at least half of the items; `leave` is told what every item loses of its count, and what that count was.
    pub fn make_room(&mut self, leave: &mut impl FnMut(&[u8], u64, u64)) {
        let mut counts: Vec<u64> = self.iter().map(|(_, count)| count).collect();
        if counts.is_empty() {
            return;
        }
        let middle = counts.len() / 2;
        let median = *counts.select_nth_unstable(middle).1;
        self.error += median;
        let slots = table(Slot::default, self.slots.len());
        let (old, arena) = (
            std::mem::replace(&mut self.slots, slots),
            std::mem::take(&mut self.arena),
        );
        let carried = std::mem::take(&mut self.carried);
        self.len = 0;
        for slot in old.into_iter().filter(|slot| slot.count > 0) {
            let upper = carried.get(&slot.hash).copied().unwrap_or(0);
            let count = u64::from(upper) << 32 | u64::from(slot.count);
            let at = slot.at as usize;
            let item = &arena[at + 1..][..usize::from(arena[at])];
            leave(item, count.min(median), count);
            let left = count.saturating_sub(median);
            if left > 0 {
                self.put(slot.hash, left, item);
            }
        }
    }

    /// Adds what is in `other`, whose hashes have the same seed; `leave` is told what is lost where there is no room for both.
    pub fn merge(&mut self, other: &Self, leave: &mut impl FnMut(&[u8], u64, u64)) {
        self.error += other.error;
        for slot in other.slots.iter().filter(|slot| slot.count > 0) {
            if self.is_full() {
                self.make_room(leave);
            }
            self.put(slot.hash, other.count(slot), other.item(slot));
        }
    }

    /// Counts `item` `count` times.
    pub fn put(&mut self, hash: u64, count: u64, item: &[u8]) {
        let (upper, lower) = ((count >> 32) as u32, count as u32);
        if upper > 0 {
            *self.carried.entry(hash).or_default() += upper;
        }
        // A slot in use has a count: one too many in 2^32, where the lower half is zero.
        self.add_count(hash, lower.max(1), |arena| arena.extend_from_slice(item));
    }

    /// The `most` items with the greatest counts, those first; items with the same count are in order.
    pub fn top(&self, most: usize) -> Vec<(&[u8], u64)> {
        let mut items: Vec<_> = self.iter().collect();
        let order = |a: &(&[u8], u64), b: &(&[u8], u64)| b.1.cmp(&a.1).then(a.0.cmp(b.0));
        if items.len() > most {
            items.select_nth_unstable_by(most, order);
            items.truncate(most);
        }
        items.sort_unstable_by(order);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::hashing::Hashing;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const HASHING: Hashing = Hashing::fixed();

    fn add(items: &mut FrequentItems, item: &[u8], lost: &mut HashMap<Vec<u8>, u64>) {
        if items.is_full() {
            items.make_room(&mut |item, count, _| *lost.entry(item.to_vec()).or_default() += count);
        }
        items.add(HASHING.octets(item), |arena| arena.extend_from_slice(item));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_count_is_wrong_by_more_than_the_error(
            numbers in prop::collection::vec(0..2000_u32, 1..6000),
            cut in 0..6000_usize,
        ) {
            let mut expected: HashMap<Vec<u8>, u64> = HashMap::new();
            let mut lost = HashMap::new();
            let mut parts = [FrequentItems::new(0), FrequentItems::new(0)];
            for (place, number) in numbers.iter().enumerate() {
                // A square makes some much more frequent than others.
                let item = (number * number / 2000).to_string().into_bytes();
                add(&mut parts[usize::from(place > cut)], &item, &mut lost);
                *expected.entry(item).or_default() += 1;
            }
            let [mut items, other] = parts;
            items.merge(&other, &mut |item, count, _| *lost.entry(item.to_vec()).or_default() += count);
            let counts: HashMap<Vec<u8>, u64> = items.iter().map(|(item, count)| (item.to_vec(), count)).collect();
            prop_assert_eq!(counts.len(), items.len());
            for (item, expected) in expected {
                let count = counts.get(&item).copied().unwrap_or(0);
                prop_assert!(count + items.error() >= expected);
                prop_assert_eq!(count + lost.get(&item).copied().unwrap_or(0), expected);
            }
        }
    }

    #[test]
    fn the_most_frequent_come_first() {
        let mut items = FrequentItems::new(1 << 20);
        for number in 0..5000_u32 {
            let name = number.to_be_bytes();
            for _ in 0..=number % 7 {
                items.add(HASHING.octets(&name), |arena| {
                    arena.extend_from_slice(&name)
                });
            }
        }
        assert_eq!((items.len(), items.error()), (5000, 0));
        let top = items.top(3);
        let expected = [6_u32, 13, 20].map(|number| (number.to_be_bytes(), 7));
        assert_eq!(
            top,
            expected.each_ref().map(|(name, count)| (&name[..], *count))
        );
        assert_eq!(items.top(9000).len(), 5000);
    }

    #[test]
    fn counts_pass_over_32_bits() {
        let mut items = FrequentItems::new(0);
        items.put(7, u64::from(u32::MAX), b"a");
        items.put(7, 5, b"a");
        items.put(9, 3 << 33, b"b");
        let expected = [(&b"b"[..], (3 << 33) + 1), (b"a", (1 << 32) + 4)];
        assert_eq!(items.top(2), expected);
    }
}

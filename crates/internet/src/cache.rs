//! A cache of bounded size that drops what has not been used for long.

use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Mutex;

/// Locks of a cache at most, a power of two; threads seldom want the same.
const SHARDS_MAX: usize = 32;
/// What a generation of a shard has room for, as far as the whole has: the zones of large operators take half a megabyte, and one
/// that finds no room would be made again for each query.
const ROOM: usize = 4 << 20;

/// Values by key, of at most a number of octets together.
///
/// It holds two generations: what is used is kept in the younger, and when that has half of the octets, the older is
/// dropped and the younger becomes the older. So keeping it in order costs nothing per use.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    shards: Vec<Mutex<Shard<K, V>>>,
    hashing: FixedState,
    octets_per_generation: usize,
}

#[derive(Debug)]
struct Shard<K, V> {
    young: HashMap<K, (V, usize), FixedState>,
    old: HashMap<K, (V, usize), FixedState>,
    young_octets: usize,
    old_octets: usize,
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    /// A cache of `octets`, as values say that they take.
    pub fn new(octets: usize) -> Self {
        let with_room = (octets / 2 / ROOM).clamp(1, SHARDS_MAX);
        Self::in_shards(octets, 1 << with_room.ilog2())
    }

    /// One of `shards` parts, a power of two.
    fn in_shards(octets: usize, shards: usize) -> Self {
        let shard = || Shard {
            young: HashMap::default(),
            old: HashMap::default(),
            young_octets: 0,
            old_octets: 0,
        };
        Self {
            shards: (0..shards).map(|_| Mutex::new(shard())).collect(),
            hashing: FixedState::with_seed(0x5eed),
            octets_per_generation: octets / 2 / shards,
        }
    }

    fn shard(&self, key: &K) -> std::sync::MutexGuard<'_, Shard<K, V>> {
        let place = self.hashing.hash_one(key) >> 32;
        let shard = &self.shards[place as usize & (self.shards.len() - 1)];
        // A panic elsewhere leaves a map that is whole.
        shard
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let mut shard = self.shard(key);
        if let Some((value, _)) = shard.young.get(key) {
            return Some(value.clone());
        }
        let (value, octets) = shard.old.remove(key)?;
        shard.old_octets -= octets;
        shard.put(
            key.clone(),
            value.clone(),
            octets,
            self.octets_per_generation,
        );
        Some(value)
    }

    /// Keeps `value`, which takes `octets`.
    pub fn put(&self, key: K, value: V, octets: usize) {
        let mut shard = self.shard(&key);
        shard.put(key, value, octets, self.octets_per_generation);
    }

    /// Looks at all values.
    pub fn for_each(&self, mut look: impl FnMut(&V)) {
        for shard in &self.shards {
            let shard = shard
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            let values = shard.young.values().chain(shard.old.values());
            values.for_each(|(value, _)| look(value));
        }
    }

    /// Octets of all values.
    pub fn octets(&self) -> usize {
        let of_shard = |shard: &Mutex<Shard<K, V>>| {
            let shard = shard
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            shard.young_octets + shard.old_octets
        };
        self.shards.iter().map(of_shard).sum()
    }
}

impl<K: Hash + Eq, V> Shard<K, V> {
    fn put(&mut self, key: K, value: V, octets: usize, limit: usize) {
        if octets > limit {
            return;
        }
        if self.young_octets + octets > limit {
            self.old = std::mem::take(&mut self.young);
            self.old_octets = std::mem::take(&mut self.young_octets);
        }
        self.young_octets += octets;
        if let Some((_, replaced)) = self.young.insert(key, (value, octets)) {
            self.young_octets -= replaced;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_used_and_no_more_than_it_may() {
        const OCTETS: usize = 32 * 2 * 100;
        let cache = Cache::in_shards(OCTETS, 32);
        for number in 0..100_000u32 {
            cache.put(number, number, 10);
            assert_eq!(cache.get(&7).is_some(), number >= 7);
            assert_eq!(cache.get(&number), Some(number));
        }
        assert!(cache.octets() <= OCTETS);
        assert!(cache.octets() >= OCTETS / 2);
        assert_eq!(cache.get(&8), None);
        let mut count = 0;
        cache.for_each(|_| count += 1);
        assert_eq!(10 * count, cache.octets());
        cache.put(1, 1, 101);
        assert_eq!(cache.get(&1), None, "more than there is room for");
    }

    #[test]
    fn a_small_one_has_room_for_large_values() {
        for mib in [10, 100, 10_000] {
            let cache = Cache::new(mib << 20);
            cache.put(1, 1, ROOM);
            assert_eq!(cache.get(&1), Some(1));
            for number in 2..10_000u32 {
                cache.put(number, number, ROOM);
            }
            assert!(cache.octets() <= mib << 20);
        }
    }
}

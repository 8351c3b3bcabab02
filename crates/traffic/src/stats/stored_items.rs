//! The most frequent names or addresses, as they are stored and merged.

use super::frequent::FrequentItems;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Items that are kept where not all are wanted.
const KEPT: usize = 10_000;

/// The most frequent items with their counts, the greatest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredItems {
    /// Items in text, with their counts.
    pub items: Vec<(String, u64)>,
    /// By how much any count can be too small, those of items that are not here included; 0 if all items are here with exact
    /// counts.
    pub error: u64,
    /// Whether all items that there was memory for are here, and not the most frequent alone.
    pub has_all: bool,
}

impl StoredItems {
    /// The most frequent items of `table`, or all of them, written by `show`.
    pub fn of(table: &FrequentItems, has_all: bool, show: impl Fn(&[u8]) -> String) -> Self {
        Self::of_keeping(
            table,
            if has_all { table.len() } else { KEPT },
            has_all,
            show,
        )
    }

    fn of_keeping(
        table: &FrequentItems,
        kept: usize,
        has_all: bool,
        show: impl Fn(&[u8]) -> String,
    ) -> Self {
        let mut top = table.top(kept + 1);
        let left_out = top.get(kept).map_or(0, |(_, count)| *count);
        top.truncate(kept);
        let mut items: Vec<_> = top
            .into_iter()
            .map(|(item, count)| (show(item), count))
            .collect();
        sort(&mut items);
        Self {
            items,
            error: table.error() + left_out,
            has_all,
        }
    }

    /// Whether all items are here with exact counts.
    pub fn is_exact(&self) -> bool {
        self.error == 0
    }

    /// Adds what is in `other`. All items stay where either has all.
    ///
    /// In any order the sum of exact items is the same as long as it is exact. Otherwise counts and the error depend on the order,
    /// and no count is wrong by more than the error.
    pub fn merge(&mut self, other: Self) {
        self.merge_keeping(other, KEPT);
    }

    fn merge_keeping(&mut self, other: Self, kept: usize) {
        let own = std::mem::take(&mut self.items);
        let mut counts: HashMap<String, u64> =
            HashMap::with_capacity(own.len().max(other.items.len()));
        for (item, count) in own.into_iter().chain(other.items) {
            *counts.entry(item).or_default() += count;
        }
        self.items.extend(counts);
        sort(&mut self.items);
        self.error += other.error;
        self.has_all |= other.has_all;
        if self.items.len() > kept && !self.has_all {
            self.error += self.items[kept].1;
            self.items.truncate(kept);
        }
    }
}

/// The greatest count first; items with the same count in the order of their texts.
fn sort(items: &mut [(String, u64)]) {
    items.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Items that are kept, so that a few go over it.
    const FEW: usize = 5;

    /// A part: how often items came, and whether all of them are stored.
    fn a_part() -> impl Strategy<Value = (BTreeMap<u8, u64>, bool)> {
        (
            prop::collection::btree_map(0..12_u8, 1..20_u64, 0..8),
            any::<bool>(),
        )
    }

    fn stored((counts, has_all): &(BTreeMap<u8, u64>, bool)) -> StoredItems {
        let mut table = FrequentItems::new(1 << 20);
        for (item, count) in counts {
            table.put(
                u64::from(*item).wrapping_mul(0x9E37_79B9_7F4A_7C15),
                *count,
                &[*item],
            );
        }
        let kept = if *has_all { table.len() } else { FEW };
        StoredItems::of_keeping(&table, kept, *has_all, |item| item[0].to_string())
    }

    /// Merges neighbours, as `picks` says, until one is left.
    fn merged(mut parts: Vec<StoredItems>, picks: &[usize]) -> StoredItems {
        let mut picks = picks.iter().cycle();
        while parts.len() > 1 {
            let place = picks.next().unwrap() % (parts.len() - 1);
            let next = parts.remove(place + 1);
            parts[place].merge_keeping(next, FEW);
        }
        parts.remove(0)
    }

    proptest! {
        #[test]
        fn sums_in_any_order_and_grouping_are_exact_or_say_by_how_much_they_are_not(
            parts in prop::collection::vec(a_part(), 1..6),
            order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
            picks in prop::collection::vec(0..6_usize, 6),
        ) {
            let mut truth: BTreeMap<String, u64> = BTreeMap::new();
            for (item, count) in parts.iter().flat_map(|(counts, _)| counts) {
                *truth.entry(item.to_string()).or_default() += count;
            }
            let in_order = merged(parts.iter().map(stored).collect(), &[0]);
            let shuffled = order.iter().filter_map(|place| parts.get(*place));
            let sum = merged(shuffled.map(stored).collect(), &picks);
            let found: BTreeMap<String, u64> = sum.items.iter().cloned().collect();
            prop_assert_eq!(found.len(), sum.items.len());
            for (item, expected) in &truth {
                let count = found.get(item).copied().unwrap_or(0);
                prop_assert!(count <= *expected && count + sum.error >= *expected);
            }
            if sum.is_exact() {
                prop_assert_eq!(&found, &truth);
            }
            // Nothing need be left out.
            if truth.len() <= FEW || parts.iter().all(|(_, has_all)| *has_all) {
                prop_assert!(sum.is_exact());
                prop_assert_eq!(sum, in_order);
            }
        }
    }

    #[test]
    fn no_count_is_wrong_by_more_than_the_error() {
        let part = |numbers: std::ops::Range<u64>, times: u64, has_all: bool| {
            let mut table = FrequentItems::new(1 << 20);
            for number in numbers {
                table.put(
                    number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
                    times * (number % 5 + 1),
                    number.to_string().as_bytes(),
                );
            }
            StoredItems::of(&table, has_all, |item| {
                String::from_utf8_lossy(item).into_owned()
            })
        };
        let (mut small, second) = (part(0..6000, 1, false), part(3000..9000, 2, false));
        small.merge(second);
        assert!(small.is_exact());
        assert_eq!(small.items.len(), 9000);
        assert_eq!(small.items[0], ("3004".to_owned(), 15));
        let mut large = part(0..15_000, 1, false);
        assert_eq!((large.items.len(), large.error), (10_000, 2));
        large.merge(part(0..20_000, 1, false));
        assert_eq!(large.items.len(), 10_000);
        for (item, count) in &large.items {
            let number: u64 = item.parse().unwrap();
            let expected = (number % 5 + 1) * if number < 15_000 { 2 } else { 1 };
            assert!(count + large.error >= expected);
        }
        let mut all = part(0..15_000, 1, true);
        all.merge(part(5000..20_000, 1, true));
        assert!(all.is_exact());
        assert_eq!(all.items.len(), 20_000);
        let sum: u64 = all.items.iter().map(|(_, count)| count).sum();
        assert_eq!(sum, 2 * 3 * 15_000);
    }
}

//! The most frequent names or addresses, as they are stored and merged.

use super::frequent::FrequentItems;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Items that are kept.
const KEPT: usize = 10_000;

/// The most frequent items with their counts, the greatest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredItems {
    /// Items in text, with their counts.
    pub items: Vec<(String, u64)>,
    /// By how much any count can be too small, those of items that are not here included; 0 if all items are here with exact
    /// counts.
    pub error: u64,
}

impl StoredItems {
    /// The most frequent items of `table`, written by `show`.
    pub fn of(table: &FrequentItems, show: impl Fn(&[u8]) -> String) -> Self {
        let mut top = table.top(KEPT + 1);
        let left_out = top.get(KEPT).map_or(0, |(_, count)| *count);
        top.truncate(KEPT);
        let mut items: Vec<_> = top
            .into_iter()
            .map(|(item, count)| (show(item), count))
            .collect();
        sort(&mut items);
        Self {
            items,
            error: table.error() + left_out,
        }
    }

    /// Whether all items are here with exact counts.
    pub fn is_exact(&self) -> bool {
        self.error == 0
    }

    /// Adds what is in `other`.
    pub fn merge(&mut self, other: &Self) {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (item, count) in self.items.iter().chain(&other.items) {
            *counts.entry(item).or_default() += count;
        }
        let mut items: Vec<(String, u64)> = counts
            .into_iter()
            .map(|(item, count)| (item.to_owned(), count))
            .collect();
        sort(&mut items);
        self.error += other.error;
        if items.len() > KEPT {
            self.error += items[KEPT].1;
            items.truncate(KEPT);
        }
        self.items = items;
    }
}

/// The greatest count first; items with the same count in the order of their texts.
fn sort(items: &mut [(String, u64)]) {
    items.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_count_is_wrong_by_more_than_the_error() {
        let part = |numbers: std::ops::Range<u64>, times: u64| {
            let mut table = FrequentItems::new(1 << 20);
            for number in numbers {
                table.put(
                    number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
                    times * (number % 5 + 1),
                    number.to_string().as_bytes(),
                );
            }
            StoredItems::of(&table, |item| String::from_utf8_lossy(item).into_owned())
        };
        let (mut small, second) = (part(0..6000, 1), part(3000..9000, 2));
        small.merge(&second);
        assert!(small.is_exact());
        assert_eq!(small.items.len(), 9000);
        assert_eq!(small.items[0], ("3004".to_owned(), 15));
        let mut large = part(0..15_000, 1);
        assert_eq!((large.items.len(), large.error), (10_000, 2));
        large.merge(&part(0..20_000, 1));
        assert_eq!(large.items.len(), 10_000);
        for (item, count) in &large.items {
            let number: u64 = item.parse().unwrap();
            let expected = (number % 5 + 1) * if number < 15_000 { 2 } else { 1 };
            assert!(count + large.error >= expected);
        }
    }
}

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
    #[serde(default)]
    pub has_all: bool,
}

impl StoredItems {
    /// The most frequent items of `table`, or all of them, written by `show`.
    pub fn of(table: &FrequentItems, has_all: bool, show: impl Fn(&[u8]) -> String) -> Self {
        let kept = if has_all { table.len() } else { KEPT };
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
    pub fn merge(&mut self, other: &Self) {
        let mut counts: HashMap<&str, u64> = HashMap::with_capacity(self.items.len());
        for (item, count) in self.items.iter().chain(&other.items) {
            *counts.entry(item).or_default() += count;
        }
        let mut items: Vec<(String, u64)> = counts
            .into_iter()
            .map(|(item, count)| (item.to_owned(), count))
            .collect();
        sort(&mut items);
        self.error += other.error;
        self.has_all |= other.has_all;
        if items.len() > KEPT && !self.has_all {
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
        small.merge(&second);
        assert!(small.is_exact());
        assert_eq!(small.items.len(), 9000);
        assert_eq!(small.items[0], ("3004".to_owned(), 15));
        let mut large = part(0..15_000, 1, false);
        assert_eq!((large.items.len(), large.error), (10_000, 2));
        large.merge(&part(0..20_000, 1, false));
        assert_eq!(large.items.len(), 10_000);
        for (item, count) in &large.items {
            let number: u64 = item.parse().unwrap();
            let expected = (number % 5 + 1) * if number < 15_000 { 2 } else { 1 };
            assert!(count + large.error >= expected);
        }
        let mut all = part(0..15_000, 1, true);
        all.merge(&part(5000..20_000, 1, true));
        assert!(all.is_exact());
        assert_eq!(all.items.len(), 20_000);
        let sum: u64 = all.items.iter().map(|(_, count)| count).sum();
        assert_eq!(sum, 2 * 3 * 15_000);
        // What was stored before there was a choice has the most frequent alone.
        let old: StoredItems =
            serde_json::from_str(r#"{"items": [["a", 1]], "error": 0}"#).unwrap();
        assert!(!old.has_all);
    }
}

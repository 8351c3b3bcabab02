//! How often each number came, and each pair of class and type.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers below have a place in an array; EDNS's usual sizes and all usual types are among them.
const LOW: usize = 4608;

/// How often each number of 16 bits came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<u16, u64>", from = "BTreeMap<u16, u64>")]
pub struct Counter {
    low: Vec<u64>,
    high: BTreeMap<u16, u64>,
}

impl Counter {
    /// Counts `number` once.
    #[inline]
    pub fn add(&mut self, number: u16) {
        self.add_count(number, 1);
    }

    /// Counts `number` `count` times.
    #[inline]
    pub fn add_count(&mut self, number: u16, count: u64) {
        let place = usize::from(number);
        if let Some(own) = self.low.get_mut(place) {
            *own += count;
        } else if place < LOW {
            self.low.resize(place + 1, 0);
            self.low[place] = count;
        } else {
            *self.high.entry(number).or_default() += count;
        }
    }

    /// Adds what is in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (number, count) in other.iter() {
            self.add_count(number, count);
        }
    }

    /// How often `number` came.
    pub fn get(&self, number: u16) -> u64 {
        let low = self.low.get(usize::from(number));
        low.or_else(|| self.high.get(&number)).copied().unwrap_or(0)
    }

    /// Numbers that came, in order, with how often.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        let low = (0..).zip(self.low.iter().copied());
        let high = self.high.iter().map(|(number, count)| (*number, *count));
        low.filter(|(_, count)| *count > 0).chain(high)
    }

    /// How often all came together.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }
}

impl From<Counter> for BTreeMap<u16, u64> {
    fn from(counter: Counter) -> Self {
        counter.iter().collect()
    }
}

impl From<BTreeMap<u16, u64>> for Counter {
    fn from(counts: BTreeMap<u16, u64>) -> Self {
        let mut counter = Self::default();
        for (number, count) in counts {
            counter.add_count(number, count);
        }
        counter
    }
}

const CLASS_IN: u16 = 1;

/// How often each pair of QCLASS and QTYPE came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(u16, u16, u64)>", from = "Vec<(u16, u16, u64)>")]
pub struct TypeCounter {
    internet: Counter,
    others: BTreeMap<(u16, u16), u64>,
}

impl TypeCounter {
    /// Counts a question once.
    #[inline]
    pub fn add(&mut self, qclass: u16, qtype: u16) {
        self.add_count(qclass, qtype, 1);
    }

    #[inline]
    fn add_count(&mut self, qclass: u16, qtype: u16, count: u64) {
        match qclass {
            CLASS_IN => self.internet.add_count(qtype, count),
            _ => *self.others.entry((qclass, qtype)).or_default() += count,
        }
    }

    /// Adds what is in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (qclass, qtype, count) in other.iter() {
            self.add_count(qclass, qtype, count);
        }
    }

    /// How often a question came.
    pub fn get(&self, qclass: u16, qtype: u16) -> u64 {
        match qclass {
            CLASS_IN => self.internet.get(qtype),
            _ => self.others.get(&(qclass, qtype)).copied().unwrap_or(0),
        }
    }

    /// Class, type and how often they came; class IN first.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u16, u64)> {
        let internet = self.internet.iter();
        let others = self.others.iter();
        internet
            .map(|(qtype, count)| (CLASS_IN, qtype, count))
            .chain(others.map(|((qclass, qtype), count)| (*qclass, *qtype, *count)))
    }
}

impl From<TypeCounter> for Vec<(u16, u16, u64)> {
    fn from(counter: TypeCounter) -> Self {
        counter.iter().collect()
    }
}

impl From<Vec<(u16, u16, u64)>> for TypeCounter {
    fn from(counts: Vec<(u16, u16, u64)>) -> Self {
        let mut counter = Self::default();
        for (qclass, qtype, count) in counts {
            counter.add_count(qclass, qtype, count);
        }
        counter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(numbers in prop::collection::vec(prop_oneof![0..40_u16, 4000..5000_u16, any::<u16>()], 0..200)) {
            let mut expected: BTreeMap<u16, u64> = BTreeMap::new();
            let (mut counter, mut half) = (Counter::default(), Counter::default());
            for number in numbers {
                if number % 2 == 0 { &mut counter } else { &mut half }.add(number);
                *expected.entry(number).or_default() += 1;
            }
            counter.merge(&half);
            prop_assert_eq!(counter.total(), expected.values().sum::<u64>());
            for (number, count) in &expected {
                prop_assert_eq!(counter.get(*number), *count);
            }
            prop_assert_eq!(BTreeMap::from(counter), expected);
        }
    }

    #[test]
    fn the_internet_class_comes_first() {
        let mut counter = TypeCounter::default();
        for (qclass, qtype) in [(3, 16), (1, 1), (255, 1), (1, 65_280), (1, 1)] {
            counter.add(qclass, qtype);
        }
        let expected = [(1, 1, 2), (1, 65_280, 1), (3, 16, 1), (255, 1, 1)];
        assert_eq!(counter.iter().collect::<Vec<_>>(), expected);
        let stored = serde_json::to_string(&counter).unwrap();
        let read: TypeCounter = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), expected);
        assert_eq!((counter.get(3, 16), counter.get(3, 1)), (1, 0));
    }
}

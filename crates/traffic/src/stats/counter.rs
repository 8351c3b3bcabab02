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
/// Classes beside IN that are in use: CH, HS, NONE and ANY.
const CLASSES_IN_USE: [u16; 4] = [3, 4, 254, 255];
/// Pairs of other classes that are counted each for itself, far more than are in use.
const MAX_OTHERS: usize = 1024;

/// How often each pair of QCLASS and QTYPE came. Where nonsense brings more than 1,024 pairs of other classes than IN, those count each
/// for itself that have a class in use, or else the lowest numbers; all others count together as [`TypeCounter::REST`].
///
/// So it is the same pairs that have a count of their own in whatever order they come and are merged, and their counts are exact. If one
/// counter counts a part of what another does, as failures are of requests, then of the pairs that have a count of their own in the larger
/// none has a higher one in the smaller, and neither have all others together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(u16, u16, u64)>", from = "Vec<(u16, u16, u64)>")]
pub struct TypeCounter {
    internet: Counter,
    others: BTreeMap<Other, u64>,
    /// Questions of pairs that have no room.
    rest: u64,
}

/// A pair of another class than IN; the less, the rather it has a count of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Other {
    is_unusual: bool,
    qclass: u16,
    qtype: u16,
}

impl Other {
    fn new(qclass: u16, qtype: u16) -> Self {
        Self {
            is_unusual: !CLASSES_IN_USE.contains(&qclass),
            qclass,
            qtype,
        }
    }
}

impl TypeCounter {
    /// Class and type of all pairs that have no room: both are reserved (RFC 6895), so that what has them anyway is the same nonsense.
    pub const REST: (u16, u16) = (0, 0);

    /// Counts a question once.
    pub fn add(&mut self, qclass: u16, qtype: u16) {
        self.add_count(qclass, qtype, 1);
    }

    /// Counts a question `count` times.
    pub fn add_count(&mut self, qclass: u16, qtype: u16, count: u64) {
        match (qclass, qtype) {
            (CLASS_IN, _) => self.internet.add_count(qtype, count),
            Self::REST => self.rest += count,
            _ => self.add_other(Other::new(qclass, qtype), count),
        }
    }

    fn add_other(&mut self, pair: Other, count: u64) {
        *self.others.entry(pair).or_default() += count;
        if self.others.len() > MAX_OTHERS {
            // A pair that goes never comes back: as many as there is room for are before it.
            self.rest += self.others.pop_last().map_or(0, |(_, count)| count);
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
        match (qclass, qtype) {
            (CLASS_IN, _) => self.internet.get(qtype),
            Self::REST => self.rest,
            _ => {
                let own = self.others.get(&Other::new(qclass, qtype));
                own.copied().unwrap_or(0)
            }
        }
    }

    /// Class, type and how often they came; class IN first, then classes in use, [`TypeCounter::REST`] last.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u16, u64)> {
        let internet = self.internet.iter();
        let others = self.others.iter();
        let (qclass, qtype) = Self::REST;
        internet
            .map(|(qtype, count)| (CLASS_IN, qtype, count))
            .chain(others.map(|(pair, count)| (pair.qclass, pair.qtype, *count)))
            .chain((self.rest > 0).then_some((qclass, qtype, self.rest)))
    }

    /// All questions that were counted.
    pub fn total(&self) -> u64 {
        self.iter().map(|(.., count)| count).sum()
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

    #[test]
    fn pairs_of_other_classes_are_bounded_and_none_is_lost() {
        let (mut counter, mut other) = (TypeCounter::default(), TypeCounter::default());
        for number in 0..5000 {
            counter.add(9999 - number, 16);
            other.add(9000, number);
            counter.add(3, 16);
        }
        counter.merge(&other);
        let all: Vec<_> = counter.iter().collect();
        assert_eq!(all.len(), MAX_OTHERS + 1);
        assert_eq!(counter.total(), 15_000);
        // Beside that of the class in use, the lowest.
        assert_eq!((counter.get(3, 16), counter.get(5000, 16)), (5000, 1));
        assert_eq!((counter.get(6023, 16), counter.get(9000, 0)), (0, 0));
        let (qclass, qtype) = TypeCounter::REST;
        assert_eq!(counter.get(qclass, qtype), 10_001 - MAX_OTHERS as u64);
    }

    /// Questions, each with whether it failed: of class IN, of classes in use, and nonsense.
    fn questions() -> impl Strategy<Value = Vec<(u16, u16, bool)>> {
        let class = prop_oneof![Just(1_u16), Just(3), Just(255), 0..3000_u16];
        prop::collection::vec((class, 0..3_u16, any::<bool>()), 0..4000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn a_part_counts_no_pair_more_often_than_the_whole_whoever_counted(
            questions in questions(),
            counted_by in prop::collection::vec((0..3_usize, 0..2_usize), 4000),
        ) {
            // Who counts the questions, and who their failures, has nothing to do with one another.
            let mut all = vec![TypeCounter::default(); 3];
            let mut failed = vec![TypeCounter::default(); 2];
            let mut truth: BTreeMap<(u16, u16), u64> = BTreeMap::new();
            for ((qclass, qtype, has_failed), (one, other)) in questions.iter().zip(counted_by) {
                all[one].add(*qclass, *qtype);
                *truth.entry((*qclass, *qtype)).or_default() += 1;
                if *has_failed {
                    failed[other].add(*qclass, *qtype);
                }
            }
            let together = |counters: Vec<TypeCounter>| {
                counters.iter().fold(TypeCounter::default(), |mut sum, counter| {
                    sum.merge(counter);
                    sum
                })
            };
            let (all, failed) = (together(all), together(failed));
            prop_assert_eq!(all.total(), questions.len() as u64);
            let mut left = failed.total();
            for (qclass, qtype, count) in all.iter() {
                if (qclass, qtype) != TypeCounter::REST {
                    prop_assert_eq!(Some(&count), truth.get(&(qclass, qtype)));
                    let failed = failed.get(qclass, qtype);
                    prop_assert!(failed <= count);
                    left -= failed;
                }
            }
            let (qclass, qtype) = TypeCounter::REST;
            prop_assert!(left <= all.get(qclass, qtype));
        }
    }
}

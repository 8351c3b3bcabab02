//! Which answer belongs to which query.
//!
//! An answer belongs to the earliest query without one that has the same ends, transport and ID, and, where the answer has a
//! question, the same question. It must come within ten seconds, by the times of the capture.

use crate::memory::{prefetch, table};

/// How long an answer is waited for, in ns.
pub const TIMEOUT_NS: i64 = 10_000_000_000;
/// Queries in a bucket, which is as long as a line of the cache.
const WAYS: usize = 4;
const FIRST_BUCKETS: usize = 1 << 12;
/// Buckets of the largest table, 256 MiB: sixteen million queries that wait.
const MAX_BUCKETS: usize = 1 << 22;
/// The same of queries of other classes than IN, of which a server gets few: 72 MiB, four million queries.
const MAX_BUCKETS_OF_OTHERS: usize = 1 << 20;
/// The time of a place without a query.
const FREE: i64 = i64::MIN;
const CLASS_IN: u16 = 1;

/// What matching needs of a query or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The hash of ends, transport and ID.
    pub key: u64,
    /// When it was captured, in ns since 1970.
    pub time_ns: i64,
    /// A hash of the question; nothing if there is none.
    pub question: u16,
    /// QTYPE.
    pub qtype: u16,
    /// QCLASS.
    pub qclass: u16,
    /// The RCODE of an answer, and beside it what the constants of this type say.
    pub bits: u16,
}

impl Event {
    /// The bits that hold the RCODE.
    pub const RCODE: u16 = 0x0FFF;
    /// It is an answer.
    pub const ANSWER: u16 = 0x1000;
    /// It has a question.
    pub const QUESTION: u16 = 0x2000;
    /// RD.
    pub const RECURSION_DESIRED: u16 = 0x4000;

    /// Whether all of `bits` are set.
    pub fn has(&self, bits: u16) -> bool {
        self.bits & bits == bits
    }
}

/// A query that has its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Time from query to answer in ns.
    pub latency_ns: u64,
    /// QCLASS and QTYPE of the query, if it has a question: its answer need not have one.
    pub question: Option<(u16, u16)>,
    /// Whether the query has RD, whatever the answer has.
    pub recursion_desired: bool,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    times_ns: [i64; WAYS],
    /// A part of the key, and below it the two bits that follow.
    tags: [u32; WAYS],
    questions: [u16; WAYS],
    qtypes: [u16; WAYS],
}

/// The bits below the part of the key in a tag.
const TAG_BITS: u32 = 0b11;
/// The query has a question.
const TAG_QUESTION: u32 = 0b01;
/// The query has RD.
const TAG_RECURSION_DESIRED: u32 = 0b10;
/// By how much lower they stand than the bits of an event that they are.
const TAG_SHIFT: u32 = 13;
const _: () = assert!(
    TAG_QUESTION << TAG_SHIFT == Event::QUESTION as u32
        && TAG_RECURSION_DESIRED << TAG_SHIFT == Event::RECURSION_DESIRED as u32
);

const EMPTY: Bucket = Bucket {
    times_ns: [FREE; WAYS],
    tags: [0; WAYS],
    questions: [0; WAYS],
    qtypes: [0; WAYS],
};

impl Bucket {
    /// The ways with this tag, a bit for each.
    #[inline]
    fn with_tag(&self, tag: u32) -> u32 {
        let mut same = 0;
        for (way, own) in self.tags.iter().enumerate() {
            same |= u32::from(own & !TAG_BITS == tag) << way;
        }
        same
    }
}

/// Queries that wait for answers.
#[derive(Debug)]
pub struct Matching {
    /// Queries of class IN, and those without a question: nearly all.
    internet: Waiting,
    /// Those of other classes, beside which their classes stand.
    others: Waiting,
}

/// Queries of one kind that wait.
#[derive(Debug)]
struct Waiting {
    table: Table,
    /// The tables before each growth, and when what is in them is too old: so growing moves nothing.
    old: Vec<(Table, i64)>,
    most_buckets: usize,
    /// Queries that were given up although their time was not over.
    given_up: u64,
}

#[derive(Debug)]
struct Table {
    /// A power of two of them.
    buckets: Vec<Bucket>,
    /// The classes of the queries of each bucket; empty where all are of class IN.
    classes: Vec<[u16; WAYS]>,
}

/// Where a query stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    bucket: usize,
    way: usize,
    time_ns: i64,
}

impl Default for Matching {
    fn default() -> Self {
        Self {
            internet: Waiting::new(false, MAX_BUCKETS),
            others: Waiting::new(true, MAX_BUCKETS_OF_OTHERS),
        }
    }
}

impl Matching {
    /// Where queries with the question of `event` wait.
    #[inline]
    fn waiting(&mut self, event: &Event) -> &mut Waiting {
        match event.has(Event::QUESTION) && event.qclass != CLASS_IN {
            true => &mut self.others,
            false => &mut self.internet,
        }
    }

    /// Fetches what `event` needs into the cache.
    #[inline]
    pub fn prefetch(&mut self, event: &Event) {
        let buckets = &self.waiting(event).table.buckets;
        for place in places(buckets, event.key) {
            prefetch(buckets, place);
        }
    }

    /// Lets the query `event` wait for its answer.
    #[inline]
    pub fn query(&mut self, event: &Event) {
        self.waiting(event).query(event);
    }

    /// Finds the query of the answer `event`, which then waits no longer.
    #[inline]
    pub fn answer(&mut self, event: &Event) -> Option<Matched> {
        if event.has(Event::QUESTION) {
            let (table, place) = self.waiting(event).find(event)?;
            return Some(table.take(place, event.time_ns));
        }
        // Without a question it may be the answer to one of any class: to the earliest.
        let found = [&mut self.internet, &mut self.others].map(|waiting| waiting.find(event));
        let earliest = found.into_iter().flatten();
        let (table, place) = earliest.min_by_key(|(_, place)| place.time_ns)?;
        Some(table.take(place, event.time_ns))
    }

    /// Queries that were given up although their time was not over.
    pub fn given_up(&self) -> u64 {
        self.internet.given_up + self.others.given_up
    }
}

impl Waiting {
    fn new(has_classes: bool, most_buckets: usize) -> Self {
        Self {
            table: Table::new(FIRST_BUCKETS, has_classes),
            old: Vec::new(),
            most_buckets,
            given_up: 0,
        }
    }

    #[inline]
    fn query(&mut self, event: &Event) {
        let oldest_ns = event.time_ns.saturating_sub(TIMEOUT_NS);
        for bucket in places(&self.table.buckets, event.key) {
            let mut times_ns = self.table.buckets[bucket].times_ns.iter();
            if let Some(way) = times_ns.position(|time_ns| *time_ns < oldest_ns) {
                self.table.put(bucket, way, event);
                return;
            }
        }
        self.make_room(event);
    }

    /// Puts a query where there is no room for it: into a larger table, or in the place of the oldest.
    #[cold]
    fn make_room(&mut self, event: &Event) {
        let buckets = self.table.buckets.len();
        let mut way = 0;
        if buckets < self.most_buckets {
            let larger = Table::new(buckets * 4, !self.table.classes.is_empty());
            let before = std::mem::replace(&mut self.table, larger);
            self.old
                .push((before, event.time_ns.saturating_add(TIMEOUT_NS)));
        } else {
            self.given_up += 1;
            let [bucket, _] = places(&self.table.buckets, event.key);
            let times_ns = self.table.buckets[bucket].times_ns;
            way = (0..WAYS).min_by_key(|way| times_ns[*way]).unwrap_or(0);
        }
        let [bucket, _] = places(&self.table.buckets, event.key);
        self.table.put(bucket, way, event);
    }

    /// The earliest query of `event`, an answer, in the first table that has one.
    #[inline]
    fn find(&mut self, event: &Event) -> Option<(&mut Table, Place)> {
        if let Some(place) = self.table.find(event) {
            return Some((&mut self.table, place));
        }
        self.old.retain(|(_, until_ns)| event.time_ns <= *until_ns);
        self.old
            .iter_mut()
            .find_map(|(table, _)| table.find(event).map(|place| (table, place)))
    }
}

/// The two buckets in which a query with `key` may be: neighbours, which the processor fetches together.
#[inline]
fn places(buckets: &[Bucket], key: u64) -> [usize; 2] {
    let place = key as usize & (buckets.len() - 1);
    [place, place ^ 1]
}

/// The part of a key that is stored; the place of its bucket tells another part.
#[inline]
fn tag(key: u64) -> u32 {
    (key >> 32) as u32 & !TAG_BITS
}

impl Table {
    fn new(buckets: usize, has_classes: bool) -> Self {
        Self {
            buckets: table(|| EMPTY, buckets),
            classes: vec![[0; WAYS]; if has_classes { buckets } else { 0 }],
        }
    }

    #[inline]
    fn put(&mut self, bucket: usize, way: usize, event: &Event) {
        let own = &mut self.buckets[bucket];
        own.times_ns[way] = event.time_ns;
        own.tags[way] = tag(event.key) | u32::from(event.bits >> TAG_SHIFT) & TAG_BITS;
        own.questions[way] = event.question;
        own.qtypes[way] = event.qtype;
        if let Some(classes) = self.classes.get_mut(bucket) {
            classes[way] = event.qclass;
        }
    }

    #[inline]
    fn class(&self, bucket: usize, way: usize) -> u16 {
        self.classes
            .get(bucket)
            .map_or(CLASS_IN, |classes| classes[way])
    }

    /// The earliest query of `event`, an answer.
    #[inline]
    fn find(&self, event: &Event) -> Option<Place> {
        let tag = tag(event.key);
        let mut found: Option<Place> = None;
        for place in places(&self.buckets, event.key) {
            let bucket = &self.buckets[place];
            // All tags of a bucket are compared at once; hardly ever is there more than one.
            let mut same = bucket.with_tag(tag);
            while same != 0 {
                let way = same.trailing_zeros() as usize;
                same &= same - 1;
                let time_ns = bucket.times_ns[way];
                let is_earliest = found.is_none_or(|earliest| time_ns < earliest.time_ns);
                if is_earliest && self.waits(place, way, event) {
                    found = Some(Place {
                        bucket: place,
                        way,
                        time_ns,
                    });
                }
            }
        }
        found
    }

    /// Whether the query at a place, whose tag is that of `event`, waits for it.
    #[inline]
    fn waits(&self, place: usize, way: usize, event: &Event) -> bool {
        let bucket = &self.buckets[place];
        let time_ns = bucket.times_ns[way];
        if time_ns == FREE || event.time_ns.saturating_sub(time_ns) > TIMEOUT_NS {
            return false;
        }
        // What a query failed with counts where the query does, so class and type are not left to the hash.
        !event.has(Event::QUESTION)
            || bucket.questions[way] == event.question
                && bucket.qtypes[way] == event.qtype
                && bucket.tags[way] & TAG_QUESTION != 0
                && self.class(place, way) == event.qclass
    }

    /// Takes out the query at `place`, the answer to which came at `answered_ns`.
    #[inline]
    fn take(&mut self, place: Place, answered_ns: i64) -> Matched {
        let class = self.class(place.bucket, place.way);
        let bucket = &mut self.buckets[place.bucket];
        bucket.times_ns[place.way] = FREE;
        let flags = bucket.tags[place.way];
        let has_question = flags & TAG_QUESTION != 0;
        Matched {
            // Clocks of two interfaces may differ.
            latency_ns: answered_ns.saturating_sub(place.time_ns).max(0) as u64,
            question: has_question.then_some((class, bucket.qtypes[place.way])),
            recursion_desired: flags & TAG_RECURSION_DESIRED != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::hashing::Hashing;

    fn event(id: u32, time_ns: i64, question: u16, bits: u16) -> Event {
        Event {
            key: Hashing::fixed().octets(&id.to_be_bytes()),
            time_ns,
            question,
            qtype: 28,
            qclass: 1,
            bits: bits | Event::QUESTION,
        }
    }

    fn query(matching: &mut Matching, id: u32, time_ns: i64, question: u16) {
        matching.query(&event(id, time_ns, question, 0));
    }

    fn latency(matching: &mut Matching, id: u32, time_ns: i64, question: u16) -> Option<u64> {
        let matched = matching.answer(&event(id, time_ns, question, Event::ANSWER));
        matched.map(|matched| matched.latency_ns)
    }

    #[test]
    fn answers_find_their_queries_once_and_in_time() {
        let mut matching = Matching::default();
        query(&mut matching, 1, 100, 5);
        query(&mut matching, 1, 150, 5);
        query(&mut matching, 1, 160, 6);
        query(&mut matching, 2, 200, 5);
        assert_eq!(latency(&mut matching, 3, 300, 5), None);
        assert_eq!(latency(&mut matching, 1, 300, 7), None);
        assert_eq!(latency(&mut matching, 1, 300, 6), Some(140));
        assert_eq!(latency(&mut matching, 1, 310, 5), Some(210));
        assert_eq!(latency(&mut matching, 1, 310, 5), Some(160));
        assert_eq!(latency(&mut matching, 1, 310, 5), None);
        assert_eq!(latency(&mut matching, 2, 190, 5), Some(0));
        query(&mut matching, 4, 0, 5);
        query(&mut matching, 5, 0, 5);
        assert_eq!(
            latency(&mut matching, 4, TIMEOUT_NS, 5),
            Some(TIMEOUT_NS as u64)
        );
        assert_eq!(latency(&mut matching, 5, TIMEOUT_NS + 1, 5), None);
    }

    #[test]
    fn an_answer_without_a_question_is_to_the_earliest_query_of_any_class() {
        let mut matching = Matching::default();
        let asked = |time_ns, question, qclass, bits| Event {
            qclass,
            ..event(1, time_ns, question, bits)
        };
        matching.query(&asked(110, 5, 1, 0));
        matching.query(&asked(100, 6, 3, Event::RECURSION_DESIRED));
        let mut without = asked(120, 0, 0, 0);
        without.bits &= !Event::QUESTION;
        matching.query(&without);
        let mut answer = Event {
            time_ns: 200,
            ..without
        };
        answer.bits |= Event::ANSWER;
        let questions = [
            (Some((3, 28)), 100, true),
            (Some((1, 28)), 90, false),
            (None, 80, false),
        ];
        for (question, latency_ns, recursion_desired) in questions {
            let expected = Matched {
                latency_ns,
                question,
                recursion_desired,
            };
            assert_eq!(matching.answer(&answer), Some(expected));
        }
        assert_eq!(matching.answer(&answer), None);
    }

    #[test]
    fn class_and_type_are_not_left_to_the_hash() {
        let mut matching = Matching::default();
        let asked = |qclass, qtype, bits| Event {
            qclass,
            qtype,
            ..event(1, 100, 5, bits)
        };
        matching.query(&asked(3, 28, 0));
        matching.query(&asked(4, 28, 0));
        for (qclass, qtype) in [(1, 28), (3, 1), (255, 28)] {
            assert_eq!(
                matching.answer(&asked(qclass, qtype, Event::ANSWER)),
                None,
                "{qclass} {qtype}"
            );
        }
        let matched = matching.answer(&asked(4, 28, Event::ANSWER)).unwrap();
        assert_eq!(matched.question, Some((4, 28)));
    }

    #[test]
    fn many_queries_of_any_class_wait_at_once() {
        let mut matching = Matching::default();
        let many = 300_000;
        let asked = |id: u32, time_ns, bits| Event {
            qclass: 1 + (id % 5) as u16,
            ..event(id, time_ns, 1, bits)
        };
        for id in 0..many {
            matching.query(&asked(id, id.into(), 0));
        }
        for id in 0..many {
            let later = i64::from(id) + 7;
            let matched = matching.answer(&asked(id, later, Event::ANSWER)).unwrap();
            let question = Some((1 + (id % 5) as u16, 28));
            assert_eq!((matched.latency_ns, matched.question), (7, question));
        }
        assert_eq!(matching.given_up(), 0);
    }

    #[test]
    fn places_of_queries_whose_time_is_over_are_used_again() {
        let mut matching = Matching::default();
        for round in 0..200 {
            for id in 0..1000 {
                query(&mut matching, id, round * (TIMEOUT_NS + 1), 1);
            }
        }
        assert_eq!(matching.internet.table.buckets.len(), FIRST_BUCKETS);
    }

    #[test]
    fn queries_of_other_classes_are_bounded_and_those_given_up_are_counted() {
        let mut waiting = Waiting::new(true, FIRST_BUCKETS);
        let many = 3 * (FIRST_BUCKETS * WAYS) as u32;
        for id in 0..many {
            waiting.query(&event(id, id.into(), 1, 0));
        }
        assert!(waiting.old.is_empty() && waiting.table.buckets.len() == FIRST_BUCKETS);
        let left = (0..many).filter(|id| {
            let answer = event(*id, i64::from(*id) + 7, 1, Event::ANSWER);
            waiting.find(&answer).is_some()
        });
        assert_eq!(left.count() as u64 + waiting.given_up, u64::from(many));
    }
}

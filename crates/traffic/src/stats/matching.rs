//! Which answer belongs to which query.
//!
//! An answer belongs to the earliest query without one that has the same ends, transport and ID, and, where the answer has a
//! question, the same question. It must come within ten seconds, by the times of the capture.

use super::memory::{prefetch, table};

/// How long an answer is waited for, in ns.
pub const TIMEOUT_NS: i64 = 10_000_000_000;
/// Queries in a bucket, which is as long as a line of the cache.
const WAYS: usize = 4;
const FIRST_BUCKETS: usize = 1 << 12;
/// Buckets of the largest table, 256 MiB: sixteen million queries that wait.
const MAX_BUCKETS: usize = 1 << 22;
/// The time of a place without a query.
const FREE: i64 = i64::MIN;

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
    /// QTYPE of the query; of an answer without a question this is all that is known.
    pub qtype: u16,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    times_ns: [i64; WAYS],
    tags: [u32; WAYS],
    questions: [u16; WAYS],
    qtypes: [u16; WAYS],
}

const EMPTY: Bucket = Bucket {
    times_ns: [FREE; WAYS],
    tags: [0; WAYS],
    questions: [0; WAYS],
    qtypes: [0; WAYS],
};

/// Queries that wait for answers.
#[derive(Debug)]
pub struct Matching {
    /// A power of two of them.
    buckets: Vec<Bucket>,
    /// The tables before each growth, and when what is in them is too old: so growing moves nothing.
    old: Vec<(Vec<Bucket>, i64)>,
    /// Queries that were given up although their time was not over.
    pub given_up: u64,
}

impl Default for Matching {
    fn default() -> Self {
        Self {
            buckets: table(EMPTY, FIRST_BUCKETS),
            old: Vec::new(),
            given_up: 0,
        }
    }
}

/// The two buckets in which a query with `key` may be: neighbours, which the processor fetches together.
#[inline]
fn places(buckets: &[Bucket], key: u64) -> [usize; 2] {
    let place = key as usize & (buckets.len() - 1);
    [place, place ^ 1]
}

impl Matching {
    /// Fetches what `event` needs into the cache.
    #[inline]
    pub fn prefetch(&self, event: &Event) {
        for place in places(&self.buckets, event.key) {
            prefetch(&self.buckets, place);
        }
    }

    /// Lets the query `event` wait for its answer.
    #[inline]
    pub fn query(&mut self, event: &Event) {
        let oldest_ns = event.time_ns.saturating_sub(TIMEOUT_NS);
        for place in places(&self.buckets, event.key) {
            let bucket = &mut self.buckets[place];
            if let Some(way) = bucket
                .times_ns
                .iter()
                .position(|time_ns| *time_ns < oldest_ns)
            {
                bucket.put(way, event);
                return;
            }
        }
        self.make_room(event);
    }

    /// Finds the query of the answer `event`, which then waits no longer.
    #[inline]
    pub fn answer(&mut self, event: &Event) -> Option<Matched> {
        if let Some(matched) = take(&mut self.buckets, event) {
            return Some(matched);
        }
        self.old.retain(|(_, until_ns)| event.time_ns <= *until_ns);
        self.old
            .iter_mut()
            .find_map(|(buckets, _)| take(buckets, event))
    }

    /// Puts a query where there is no room for it: into a larger table, or in the place of the oldest.
    #[cold]
    fn make_room(&mut self, event: &Event) {
        if self.buckets.len() < MAX_BUCKETS {
            let larger = table(EMPTY, self.buckets.len() * 4);
            let before = std::mem::replace(&mut self.buckets, larger);
            self.old
                .push((before, event.time_ns.saturating_add(TIMEOUT_NS)));
            let [place, _] = places(&self.buckets, event.key);
            self.buckets[place].put(0, event);
            return;
        }
        self.given_up += 1;
        let [place, _] = places(&self.buckets, event.key);
        let bucket = &mut self.buckets[place];
        let oldest = (0..WAYS).min_by_key(|way| bucket.times_ns[*way]);
        bucket.put(oldest.unwrap_or(0), event);
    }
}

/// Takes the earliest query of `event`, an answer, out of `buckets`.
#[inline]
fn take(buckets: &mut [Bucket], event: &Event) -> Option<Matched> {
    let tag = tag(event.key);
    let has_question = event.has(Event::QUESTION);
    let mut found: Option<(usize, usize, i64)> = None;
    for place in places(buckets, event.key) {
        let bucket = &buckets[place];
        for way in 0..WAYS {
            let time_ns = bucket.times_ns[way];
            if bucket.tags[way] == tag
                && time_ns != FREE
                && (!has_question || bucket.questions[way] == event.question)
                && found.is_none_or(|(_, _, earliest_ns)| time_ns < earliest_ns)
                && event.time_ns.saturating_sub(time_ns) <= TIMEOUT_NS
            {
                found = Some((place, way, time_ns));
            }
        }
    }
    let (place, way, time_ns) = found?;
    buckets[place].times_ns[way] = FREE;
    Some(Matched {
        // Clocks of two interfaces may differ.
        latency_ns: event.time_ns.saturating_sub(time_ns).max(0) as u64,
        qtype: buckets[place].qtypes[way],
    })
}

/// The part of a key that is stored; the place of its bucket tells another part.
#[inline]
fn tag(key: u64) -> u32 {
    (key >> 32) as u32
}

impl Bucket {
    #[inline]
    fn put(&mut self, way: usize, event: &Event) {
        self.times_ns[way] = event.time_ns;
        self.tags[way] = tag(event.key);
        self.questions[way] = event.question;
        self.qtypes[way] = event.qtype;
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
    fn an_answer_without_a_question_has_the_type_of_its_query() {
        let mut matching = Matching::default();
        query(&mut matching, 1, 100, 5);
        let mut answer = event(1, 200, 0, Event::ANSWER);
        answer.bits &= !Event::QUESTION;
        let expected = Matched {
            latency_ns: 100,
            qtype: 28,
        };
        assert_eq!(matching.answer(&answer), Some(expected));
    }

    #[test]
    fn many_queries_wait_at_once() {
        let mut matching = Matching::default();
        let many = 300_000;
        for id in 0..many {
            query(&mut matching, id, id.into(), 1);
        }
        for id in 0..many {
            let later = i64::from(id) + 7;
            assert_eq!(latency(&mut matching, id, later, 1), Some(7), "{id}");
        }
        assert_eq!(matching.given_up, 0);
    }

    #[test]
    fn places_of_queries_whose_time_is_over_are_used_again() {
        let mut matching = Matching::default();
        for round in 0..200 {
            for id in 0..1000 {
                query(&mut matching, id, round * (TIMEOUT_NS + 1), 1);
            }
        }
        assert_eq!(matching.buckets.len(), FIRST_BUCKETS);
    }
}

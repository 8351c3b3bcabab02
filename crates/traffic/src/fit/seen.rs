//! Whether a capture has the answers that there were, where it has few.
//!
//! Few queries of a server that is overloaded, or drops what it takes for an attack, are answered; a capture from where answers take
//! another way has few of many. The former are met all the time and by any client; the latter at times, or by the few clients
//! whose answers come this way, and those have an answer to nearly everything.

/// The fewest answers of which this can be told.
const LEAST: u64 = 100;
/// The capture is looked at in so many parts of equally many queries, or up to twice as many.
const PARTS: usize = 16;
/// Client and server by so many bits of hash, 1 MiB in all.
const PAIR_BITS: u32 = 23;

/// Where in a capture answers are met.
#[derive(Debug)]
pub(super) struct AnswersSeen {
    /// Whether each part has an answer.
    parts: Vec<bool>,
    /// Queries in each but the last.
    part_len: u64,
    /// Queries in the last.
    in_last: u64,
    answers: u64,
    /// Pairs of client and server with an answer.
    pairs: Vec<u64>,
    /// Queries of such pairs after the first answer.
    asked_again: u64,
    /// Answers to such pairs after the first.
    answered_again: u64,
}

impl Default for AnswersSeen {
    fn default() -> Self {
        Self {
            parts: vec![false],
            part_len: 1,
            in_last: 0,
            answers: 0,
            pairs: Vec::new(),
            asked_again: 0,
            answered_again: 0,
        }
    }
}

impl AnswersSeen {
    /// Counts a query; `pair` is the hash of client and server.
    #[inline]
    pub fn query(&mut self, pair: u64) {
        if self.in_last == self.part_len {
            if self.parts.len() == 2 * PARTS {
                let joined = self.parts.chunks(2).map(|two| two.contains(&true));
                self.parts = joined.collect();
                self.part_len *= 2;
            }
            self.parts.push(false);
            self.in_last = 0;
        }
        self.in_last += 1;
        self.asked_again += u64::from(self.has(pair));
    }

    /// Counts the answer to a query.
    #[inline]
    pub fn answer(&mut self, pair: u64) {
        self.answers += 1;
        if let Some(last) = self.parts.last_mut() {
            *last = true;
        }
        if self.has(pair) {
            self.answered_again += 1;
            return;
        }
        if self.pairs.is_empty() {
            self.pairs.resize(1 << (PAIR_BITS - u64::BITS.ilog2()), 0);
        }
        let (word, bit) = place(pair);
        self.pairs[word] |= bit;
    }

    fn has(&self, pair: u64) -> bool {
        let (word, bit) = place(pair);
        self.pairs.get(word).is_some_and(|own| own & bit != 0)
    }

    /// Whether answers are met all the time and by any client, so that those which are missing were not sent.
    pub fn are_all(&self) -> bool {
        let with_answer = self.parts.iter().filter(|has_answer| **has_answer).count();
        let is_throughout = 8 * with_answer >= 7 * self.parts.len();
        let is_of_some = 2 * self.answered_again >= self.asked_again.max(1);
        self.answers >= LEAST && is_throughout && !is_of_some
    }
}

fn place(pair: u64) -> (usize, u64) {
    let bit = pair >> (u64::BITS - PAIR_BITS);
    ((bit / 64) as usize, 1 << (bit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::tally::hash_of;

    /// What is seen of 40,000 queries of 200 clients, of which those are answered that `is_answered` says by number and client.
    fn seen(is_answered: impl Fn(u64, u64) -> bool) -> AnswersSeen {
        let mut seen = AnswersSeen::default();
        for number in 0..40_000 {
            let client = hash_of(&number) % 200;
            seen.query(hash_of(&client));
            if is_answered(number, client) {
                seen.answer(hash_of(&client));
            }
        }
        seen
    }

    #[test]
    fn few_answers_are_all_where_they_are_met_by_anybody_at_any_time() {
        assert!(seen(|number, _| number % 20 == 0).are_all());
        assert!(seen(|number, _| number % 100 == 0 || number < 500).are_all());
        assert!(!seen(|number, _| number < 2000).are_all());
        assert!(!seen(|number, _| number % 8000 < 400).are_all());
        assert!(!seen(|_, client| client < 10).are_all());
        assert!(!seen(|number, client| client < 20 && number % 10 > 0).are_all());
        assert!(!seen(|number, _| number % 1000 == 0).are_all());
        assert!(!AnswersSeen::default().are_all());
    }

    #[test]
    fn parts_are_of_equally_many_queries() {
        let seen = seen(|number, _| number == 39_999);
        assert_eq!((seen.part_len, seen.parts.len()), (2048, 20));
        assert_eq!(
            seen.parts.iter().position(|has_answer| *has_answer),
            Some(19)
        );
    }
}

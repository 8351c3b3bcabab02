//! Transactions as columns: a row for each query, with what is known of its answer.
//!
//! An answer belongs to the earliest query without one that has the same client, server, ports, transport, ID and question
//! (letter case aside), and is at most [`ANSWER_TIMEOUT_NS`] younger. An answer without a question, as some servers send on
//! errors, belongs to one of any question. Answers without a query are counted.

mod batch;

pub use batch::{BATCH_ROWS, Batch, Column, Values};

use super::input::{Form, InputSummary, StandIns, each_message};
use crate::error::TrafficError;
use crate::message::{Endpoint, Message, Transport};
use crate::read::Reading;
use crate::stats::ANSWER_TIMEOUT_NS;
use crate::stats::hashing::Hashing;
use crate::wire::View;
use batch::Answer;
use foldhash::fast::RandomState;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

/// Batches that wait for answers.
const WAITING: usize = 16;
/// Rows of the same key among which that of an answer is looked for.
const LONGEST_LOOK: usize = 1000;

/// What was made into rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransactionCounts {
    /// Rows: queries.
    pub queries: u64,
    /// Those of them with an answer.
    pub answered: u64,
    /// Answers without a query.
    pub unmatched_answers: u64,
    /// Messages that are not whole, or have fewer octets than were sent; they are left out.
    pub malformed: u64,
}

/// What was read, and what was made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transactions {
    /// What was read.
    #[serde(flatten)]
    pub input: InputSummary,
    /// What was made.
    #[serde(flatten)]
    pub counts: TransactionCounts,
}

/// What an answer has in common with its query, beside the question.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    client: Endpoint,
    server: Endpoint,
    transport: Transport,
    id: u16,
}

/// Rows with the same key: each knows the next one.
#[derive(Clone, Copy)]
struct Chain {
    first: u64,
    last: u64,
}

/// Queries that wait for answers, and rows that wait to be given on.
#[derive(Default)]
struct Matcher {
    /// The rows of each key, from the earliest without an answer on.
    open: HashMap<Key, Chain, RandomState>,
    batches: VecDeque<Batch>,
    /// Rows so far.
    rows: u64,
    counts: TransactionCounts,
}

/// Gives the transactions of the files to `sink`, a batch at a time, in the order of the queries; `sink` ends the reading by
/// breaking.
///
/// At most 16 batches of 65,536 rows or 16 MiB of queries wait for answers.
///
/// # Errors
/// Those of [`crate::read::run`], and [`TrafficError::Stream`].
pub fn transactions(
    reading: &Reading<'_>,
    form: Form,
    stand_ins: &StandIns,
    mut sink: impl FnMut(Batch) -> ControlFlow<()>,
) -> Result<Transactions, TrafficError> {
    let mut matcher = Matcher::default();
    let input = each_message(reading, form, stand_ins, |incoming| {
        matcher.message(&incoming.message);
        match matcher.ripe(incoming.message.time_ns) {
            Some(batch) => sink(batch),
            None => ControlFlow::Continue(()),
        }
    })?;
    for batch in matcher.batches {
        if sink(batch).is_break() {
            break;
        }
    }
    Ok(Transactions {
        input,
        counts: matcher.counts,
    })
}

impl Matcher {
    fn message(&mut self, message: &Message<'_>) {
        let view = View::parse(message.octets).ok();
        match view.filter(|_| !message.is_cut) {
            None => self.counts.malformed += 1,
            Some(view) if view.header.is_answer() => self.answer(message, &view),
            Some(view) => self.query(message, &view),
        }
    }

    fn query(&mut self, message: &Message<'_>, view: &View<'_>) {
        if self.batches.back().is_none_or(Batch::is_full) {
            self.batches.push_back(Batch::new(self.rows));
        }
        let row = self.rows;
        if let Some(batch) = self.batches.back_mut() {
            batch.push(message, view, question_of(view));
        }
        self.rows += 1;
        self.counts.queries += 1;
        let key = key(message.source, message.destination, message, view);
        let begun = Chain {
            first: row,
            last: row,
        };
        let chain = *self.open.entry(key).or_insert(begun);
        if chain.last != row {
            if let Some((batch, place)) = self.place(chain.last) {
                self.batches[batch].set_next(place, row);
            }
            self.open.insert(key, Chain { last: row, ..chain });
        }
    }

    /// The batch of a row, and its place in it; none if it was given on.
    fn place(&self, row: u64) -> Option<(usize, usize)> {
        let after = self
            .batches
            .partition_point(|batch| batch.first_row() <= row);
        let batch = after.checked_sub(1)?;
        Some((batch, (row - self.batches[batch].first_row()) as usize))
    }

    fn answer(&mut self, message: &Message<'_>, view: &View<'_>) {
        let key = key(message.destination, message.source, message, view);
        let Some((batch, place)) = self.row_of(&key, question_of(view), message.time_ns) else {
            self.counts.unmatched_answers += 1;
            return;
        };
        self.counts.answered += 1;
        let opt = view.opt().unwrap_or_default();
        let answer = Answer {
            time_ns: message.time_ns,
            rcode: view.rcode(opt.as_ref()),
            flags: view.header.flags,
            octets: message.sent_octets(),
        };
        self.batches[batch].set_answer(place, &answer);
        self.shorten(&key);
    }

    /// Where the earliest row is that an answer of `key` belongs to; `question` is 0 for any.
    fn row_of(&self, key: &Key, question: u64, time_ns: i64) -> Option<(usize, usize)> {
        let mut row = Some(self.open.get(key)?.first);
        for _ in 0..LONGEST_LOOK {
            let (batch, place) = self.place(row?)?;
            if self.batches[batch].waits(place, question, time_ns) {
                return Some((batch, place));
            }
            row = self.batches[batch].next(place);
        }
        None
    }

    /// Lets the chain of `key` begin at a row without an answer.
    fn shorten(&mut self, key: &Key) {
        while let Some(chain) = self.open.get(key)
            && let Some((batch, place)) = self.place(chain.first)
            && self.batches[batch].is_answered(place)
        {
            let (next, last) = (self.batches[batch].next(place), chain.last);
            match next {
                Some(first) => self.open.insert(*key, Chain { first, last }),
                None => self.open.remove(key),
            };
        }
    }

    /// The first batch, if no answer is waited for any more, or too many others wait.
    fn ripe(&mut self, now_ns: i64) -> Option<Batch> {
        let first = self.batches.front().filter(|first| first.is_full())?;
        let is_ripe = first.last_time_ns().saturating_add(ANSWER_TIMEOUT_NS) < now_ns;
        if !is_ripe && self.batches.len() <= WAITING {
            return None;
        }
        let end = first.first_row() + first.len() as u64;
        self.open.retain(|_, chain| {
            let mut next = Some(chain.first);
            while let Some(row) = next.filter(|row| *row < end) {
                next = first.next((row - first.first_row()) as usize);
            }
            chain.first = next.unwrap_or(chain.first);
            next.is_some()
        });
        self.batches.pop_front()
    }
}

fn key(client: Endpoint, server: Endpoint, message: &Message<'_>, view: &View<'_>) -> Key {
    Key {
        client,
        server,
        transport: message.transport,
        id: view.header.id,
    }
}

/// The hash of a message's question; 0 for one without.
fn question_of(view: &View<'_>) -> u64 {
    view.question.map_or(0, |question| {
        let hashing = Hashing::fixed();
        hashing
            .question(question.name, question.qtype, question.qclass)
            .max(1)
    })
}

#[cfg(test)]
mod tests;

//! Accounting: every query ends as exactly one of answered, timed out or refused.

use crate::answer::{Answer, Malformed};
use crate::in_flight::{Found, InFlight, SlotIndex};
use crate::queries::Queries;
use crate::rcode;
use crate::refusal::Refusal;
use crate::tally::Tally;
use crate::transport::{BATCH, Events, SessionEvent};

/// Weight of a new latency in the running mean, as a power of two below one.
const MEAN_SHIFT: u32 = 4;

/// What one thread has in flight and has counted.
pub struct Account<'a> {
    queries: &'a Queries<'a>,
    timeout_ns: u64,
    /// The queries in flight.
    pub in_flight: InFlight,
    /// Counts since the tally was last taken.
    pub tally: Tally,
    /// When the last answer arrived; 0 before the first.
    pub last_answer_ns: u64,
    /// When each query that has ended since this was last emptied did so.
    pub freed_ns: Vec<u64>,
    /// Answers since this was last set to 0.
    pub answers_lately: u64,
    /// Running mean of latency in nanoseconds.
    mean_latency_ns: u64,
    least_latency_ns: u64,
    /// Answered queries over all tallies.
    answered: u64,
    refused_lately: bool,
}

impl<'a> Account<'a> {
    /// An empty account for queries that time out `timeout_ns` after their send.
    pub fn new(queries: &'a Queries<'a>, timeout_ns: u64, in_flight: InFlight) -> Self {
        Self {
            queries,
            timeout_ns,
            in_flight,
            tally: Tally::default(),
            last_answer_ns: 0,
            freed_ns: Vec::with_capacity(BATCH),
            answers_lately: 0,
            mean_latency_ns: 0,
            least_latency_ns: u64::MAX,
            answered: 0,
            refused_lately: false,
        }
    }

    /// Begins query number `index` of the stream for `client`; `None` if the client has no room.
    pub fn begin(
        &mut self,
        client: usize,
        index: usize,
        now_ns: u64,
    ) -> Option<(SlotIndex, u16, &'a [u8])> {
        let (slot, id) = self.in_flight.take(client, index)?;
        self.in_flight.stamp(slot, id, now_ns, now_ns);
        let message = self.queries.message(index);
        self.tally.counts.sent += 1;
        self.tally.counts.bytes_sent += message.len() as u64;
        Some((slot, id, message))
    }

    /// A query has been handed to the kernel; without effect if that refused it.
    pub fn sent(
        &mut self,
        slot: SlotIndex,
        id: u16,
        scheduled_ns: u64,
        sent_ns: u64,
        latency_from_ns: u64,
    ) {
        if self.in_flight.stamp(slot, id, sent_ns, latency_from_ns) {
            self.tally
                .send_error
                .saturating_record(sent_ns.saturating_sub(scheduled_ns));
        }
    }

    /// Ends the queries whose time is up.
    pub fn expire(&mut self, now_ns: u64) {
        while let Some((slot, sent_ns)) = self.in_flight.oldest() {
            if now_ns < sent_ns + self.timeout_ns {
                return;
            }
            self.time_out(slot, now_ns);
        }
    }

    fn time_out(&mut self, slot: SlotIndex, now_ns: u64) {
        let query = self.in_flight.time_out(slot);
        self.freed_ns.push(now_ns);
        self.tally.counts.timed_out += 1;
        let waited_ns = now_ns.saturating_sub(query.latency_from_ns);
        self.tally.timed_out.saturating_record(waited_ns);
    }

    /// Ends all queries in flight without a result.
    pub fn abandon(&mut self) {
        while let Some((slot, _)) = self.in_flight.oldest() {
            self.in_flight.release(slot);
            self.tally.counts.abandoned += 1;
        }
    }

    /// When the next query times out.
    pub fn next_deadline_ns(&self) -> Option<u64> {
        self.in_flight
            .oldest()
            .map(|(_, sent_ns)| sent_ns + self.timeout_ns)
    }

    /// Answered queries over all tallies.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// The part of latency that queries lately spent waiting for other queries: its mean over the least ever seen.
    pub fn queueing_ns(&self) -> u64 {
        self.mean_latency_ns.saturating_sub(self.least_latency_ns)
    }

    /// Whether a query has been refused since the last call, other than by a lost connection.
    pub fn take_refused(&mut self) -> bool {
        std::mem::take(&mut self.refused_lately)
    }

    fn end_answered(
        &mut self,
        slot: SlotIndex,
        answer: Answer<'_>,
        len: usize,
        question_len: usize,
        received_ns: u64,
    ) {
        let query = self.in_flight.release(slot);
        let latency_ns = received_ns.saturating_sub(query.latency_from_ns);
        self.freed_ns.push(received_ns.max(query.sent_ns));
        let counts = &mut self.tally.counts;
        counts.answered += 1;
        counts.answer_bytes += len as u64;
        counts.truncated += u64::from(answer.is_truncated());
        counts.rcodes[usize::from(answer.rcode(question_len)).min(rcode::COUNTED - 1)] += 1;
        self.tally.latency.saturating_record(latency_ns);
        self.answered += 1;
        self.answers_lately += 1;
        self.mean_latency_ns = self.mean_latency_ns - (self.mean_latency_ns >> MEAN_SHIFT)
            + (latency_ns >> MEAN_SHIFT);
        // An estimated send time may lie after the arrival: such a latency of 0 says nothing about the server.
        if latency_ns > 0 {
            self.least_latency_ns = self.least_latency_ns.min(latency_ns);
        }
        self.last_answer_ns = self.last_answer_ns.max(received_ns);
    }

    /// Counts an answer that fits no query in flight, unless it is malformed.
    fn stray(&mut self, answer: Answer<'_>) {
        match answer.question() {
            Ok(_) => self.tally.counts.unmatched += 1,
            Err(malformed) => self.count_malformed(malformed),
        }
    }

    fn count_malformed(&mut self, malformed: Malformed) {
        self.tally.counts.malformed[malformed as usize] += 1;
    }

    fn refuse(&mut self, slot: SlotIndex, refusal: Refusal) {
        let query = self.in_flight.release(slot);
        // Nobody says when that was; the pause after refusals makes it a matter of no weight.
        self.freed_ns.push(query.sent_ns);
        self.tally.counts.refused[refusal as usize] += 1;
        self.refused_lately |= !refusal.pauses_client();
    }
}

impl Events for Account<'_> {
    fn answer(&mut self, client: usize, message: &[u8], received_ns: u64) {
        self.tally.counts.bytes_received += message.len() as u64;
        let answer = match Answer::new(message) {
            Ok(answer) => answer,
            Err(malformed) => return self.count_malformed(malformed),
        };
        let found = self.in_flight.find(client, answer.id());
        let slot = match found {
            Found::InFlight(slot) => slot,
            Found::TimedOut(slot, query) => {
                let (count, question) = self.queries.question(query);
                if !answer.asks(count, question) && !answer.is_bare_error() {
                    return self.stray(answer);
                }
                self.in_flight.late_answer_came(slot);
                self.tally.counts.late += 1;
                return;
            }
            Found::Nothing => return self.stray(answer),
        };
        let (count, question) = self.queries.question(self.in_flight.query(slot));
        let question_len = if answer.asks(count, question) {
            question.len()
        } else if answer.is_bare_error() {
            0
        } else {
            return self.stray(answer);
        };
        let deadline_ns = self.in_flight.sent_ns(slot) + self.timeout_ns;
        if received_ns < deadline_ns {
            self.end_answered(slot, answer, message.len(), question_len, received_ns);
        } else {
            self.time_out(slot, deadline_ns);
            self.in_flight.late_answer_came(slot);
            self.tally.counts.late += 1;
        }
    }

    fn refused(&mut self, client: usize, id: u16, refusal: Refusal) {
        if let Found::InFlight(slot) = self.in_flight.find(client, id) {
            self.refuse(slot, refusal);
        }
    }

    fn all_refused(&mut self, client: usize, refusal: Refusal) {
        for slot in self.in_flight.slots_of(client) {
            if self.in_flight.len_of(client) == 0 {
                return;
            }
            if self.in_flight.is_used(slot) {
                self.refuse(slot, refusal);
            }
        }
    }

    fn malformed(&mut self, _client: usize, malformed: Malformed) {
        self.count_malformed(malformed);
    }

    fn session(&mut self, _client: usize, event: SessionEvent) {
        self.tally.session(event);
    }
}

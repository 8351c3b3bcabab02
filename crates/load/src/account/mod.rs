//! Accounting: every query ends as exactly one of answered, timed out, refused, or abandoned.

mod routes;
mod sessions;

pub use routes::Routes;
pub use sessions::{ClientSessions, SessionState};

use crate::answer::{Answer, Malformed, QuestionMatch};
use crate::clock::unix_time_s;
use crate::dress::{Dresser, Sending};
use crate::in_flight::{Found, InFlight, Query, SlotIndex};
use crate::queries::Queries;
use crate::rcode;
use crate::refusal::Refusal;
use crate::tally::Tally;
use crate::transport::{BATCH, Events, SessionEvent};
use std::mem;

/// Weight of a new latency in the running mean, as a power of two below one.
const MEAN_SHIFT: u32 = 4;

/// The end of a query, or of an attempt to open a session that nobody waits for.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// When.
    pub at_ns: u64,
    /// Whose.
    pub client: usize,
    /// The query's message ID; `None` if the transport never had it.
    pub id: Option<u16>,
}

/// A query whose answer had TC set, to be sent over TCP.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The UDP client that got the answer.
    pub client: usize,
    /// Its index in the stream.
    pub index: usize,
    /// When its latency counts from.
    pub latency_from_ns: u64,
}

/// When a query was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTime {
    /// Arrival of the answer.
    pub at_ns: u64,
    /// The query's route.
    pub route: usize,
}

/// What one thread has in flight and has counted.
pub struct Account<'a> {
    queries: &'a Queries<'a>,
    timeout_ns: u64,
    routes: Routes,
    /// Changes queries as they are sent, if the settings ask for that.
    dresser: Option<Dresser>,
    /// The queries in flight.
    pub in_flight: InFlight,
    /// Counts of each route since they were last taken.
    tallies: Vec<Tally>,
    /// When the last answer arrived; 0 before the first.
    pub last_answer_ns: u64,
    /// Each query that has ended since this was last emptied.
    pub ended: Vec<Ended>,
    /// Queries to be sent over TCP, if the load has a way for them.
    pub moved: Vec<Moved>,
    /// The route whose truncated answers have their queries put there.
    moves_from: Option<usize>,
    /// The session of each client, where the end of an attempt to open one counts as the end of a query does.
    sessions: Option<ClientSessions>,
    /// Answers since this was last set to 0.
    pub answers_lately: u64,
    /// Running mean of latency in nanoseconds.
    mean_latency_ns: u64,
    least_latency_ns: u64,
    /// Answered queries of each route over all tallies.
    answered: Vec<u64>,
    /// The answers since sending stopped.
    answers_after_stop: Option<Vec<AnswerTime>>,
    refused_lately: bool,
}

impl<'a> Account<'a> {
    /// An empty account for queries that time out `timeout_ns` after their send.
    pub fn new(
        queries: &'a Queries<'a>,
        timeout_ns: u64,
        in_flight: InFlight,
        routes: Routes,
    ) -> Self {
        Self {
            queries,
            timeout_ns,
            dresser: None,
            in_flight,
            tallies: vec![Tally::default(); routes.count()],
            answered: vec![0; routes.count()],
            routes,
            last_answer_ns: 0,
            ended: Vec::with_capacity(BATCH),
            moved: Vec::new(),
            moves_from: None,
            sessions: None,
            answers_lately: 0,
            mean_latency_ns: 0,
            least_latency_ns: u64::MAX,
            answers_after_stop: None,
            refused_lately: false,
        }
    }

    /// Has queries of this route whose answer has TC set put into `moved` instead of ending them.
    pub fn move_truncated(&mut self, route: Option<usize>) {
        self.moves_from = route;
    }

    /// Has the end of each attempt to open a session put into `ended`.
    pub fn count_sessions(&mut self, clients: usize) {
        self.sessions = Some(ClientSessions::new(clients));
    }

    /// Has queries changed as they are sent.
    pub fn dress(&mut self, dresser: Option<Dresser>) {
        self.dresser = dresser;
    }

    /// The counts of each route since they were last taken.
    pub fn take_tallies(&mut self) -> Vec<Tally> {
        // Each made anew, and not one copied: histograms begin as memory that the kernel has not filled yet.
        let fresh = self.tallies.iter().map(|_| Tally::default()).collect();
        mem::replace(&mut self.tallies, fresh)
    }

    fn tally(&mut self, client: usize) -> &mut Tally {
        let route = self.routes.of(client);
        &mut self.tallies[route]
    }

    /// Begins query number `index` of the stream for `client`, and gives its place, ID and message; `None` if the client
    /// has no room.
    pub fn begin(
        &mut self,
        client: usize,
        index: usize,
        now_ns: u64,
    ) -> Option<(SlotIndex, u16, &[u8])> {
        let (slot, id) = self.in_flight.take(client, index)?;
        self.in_flight.stamp(slot, id, now_ns, now_ns);
        let message = self.queries.message(index);
        let message = match &mut self.dresser {
            None => message,
            Some(dresser) => {
                let sending = Sending {
                    client,
                    slot,
                    id,
                    query: index,
                };
                dresser.dress(sending, message, unix_time_s())
            }
        };
        let route = self.routes.of(client);
        let counts = &mut self.tallies[route].counts;
        counts.sent += 1;
        counts.bytes_sent += message.len() as u64;
        Some((slot, id, message))
    }

    /// The client that the stream names for its query number `index`, if it names clients.
    pub fn client_of_stream(&self, index: usize) -> Option<u32> {
        self.queries.client(index)
    }

    /// The session of each client, where these are counted.
    pub fn sessions(&self) -> Option<&ClientSessions> {
        self.sessions.as_ref()
    }

    /// Counts a query that `client` could not take.
    pub fn turn_away(&mut self, client: usize, refusal: Refusal, at_ns: u64) {
        let counts = &mut self.tally(client).counts;
        counts.sent += 1;
        counts.refused[refusal as usize] += 1;
        self.ended.push(Ended {
            at_ns,
            client,
            id: None,
        });
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
            let client = self.in_flight.client(slot);
            self.tally(client)
                .send_error
                .saturating_record(sent_ns.saturating_sub(scheduled_ns));
        }
    }

    /// A query that was moved to TCP has been handed over: its latency goes on counting.
    pub fn sent_again(&mut self, slot: SlotIndex, id: u16, sent_ns: u64, latency_from_ns: u64) {
        self.in_flight.stamp(slot, id, sent_ns, latency_from_ns);
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
        self.end(&query, now_ns);
        let tally = self.tally(query.client);
        tally.counts.timed_out += 1;
        let waited_ns = now_ns.saturating_sub(query.latency_from_ns);
        tally.timed_out.saturating_record(waited_ns);
    }

    /// Ends all queries in flight without a result.
    pub fn abandon(&mut self) {
        while let Some((slot, _)) = self.in_flight.oldest() {
            let query = self.in_flight.release(slot);
            self.tally(query.client).counts.abandoned += 1;
        }
    }

    /// How long after its send a query times out.
    pub fn timeout_ns(&self) -> u64 {
        self.timeout_ns
    }

    /// When the next query times out.
    pub fn next_deadline_ns(&self) -> Option<u64> {
        self.in_flight
            .oldest()
            .map(|(_, sent_ns)| sent_ns + self.timeout_ns)
    }

    /// Answered queries of each route over all tallies.
    pub fn answered(&self) -> &[u64] {
        &self.answered
    }

    /// Has the time of each answer kept from now on.
    pub fn keep_answer_times(&mut self) {
        self.answers_after_stop = Some(Vec::new());
    }

    /// The times of the answers since they are kept.
    pub fn take_answer_times(&mut self) -> Vec<AnswerTime> {
        self.answers_after_stop.take().unwrap_or_default()
    }

    /// The part of latency that queries lately spent waiting for other queries: its mean over the least ever seen.
    pub fn queueing_ns(&self) -> u64 {
        self.mean_latency_ns.saturating_sub(self.least_latency_ns)
    }

    /// Whether a query has been refused since the last call, other than by a lost connection.
    pub fn take_refused(&mut self) -> bool {
        mem::take(&mut self.refused_lately)
    }

    fn end(&mut self, query: &Query, at_ns: u64) {
        self.ended.push(Ended {
            at_ns,
            client: query.client,
            id: Some(query.id),
        });
    }

    fn end_answered(&mut self, slot: SlotIndex, answer: Answer<'_>, len: usize, received_ns: u64) {
        let query = self.in_flight.release(slot);
        let latency_ns = received_ns.saturating_sub(query.latency_from_ns);
        let route = self.routes.of(query.client);
        self.answered[route] += 1;
        let tally = &mut self.tallies[route];
        let counts = &mut tally.counts;
        counts.answer_bytes += len as u64;
        counts.truncated += u64::from(answer.is_truncated());
        counts.answered += 1;
        counts.rcodes[usize::from(answer.rcode()).min(rcode::COUNTED - 1)] += 1;
        tally.latency.saturating_record(latency_ns);
        self.end(&query, received_ns.max(query.sent_ns));
        self.answers_lately += 1;
        self.mean_latency_ns = self.mean_latency_ns - (self.mean_latency_ns >> MEAN_SHIFT)
            + (latency_ns >> MEAN_SHIFT);
        // An estimated send time may lie after the arrival: such a latency of 0 says nothing about the server.
        if latency_ns > 0 {
            self.least_latency_ns = self.least_latency_ns.min(latency_ns);
        }
        self.last_answer_ns = self.last_answer_ns.max(received_ns);
        if let Some(times) = &mut self.answers_after_stop {
            times.push(AnswerTime {
                at_ns: received_ns,
                route,
            });
        }
    }

    /// A truncated answer came for a query that now goes over TCP.
    fn move_over(&mut self, slot: SlotIndex) {
        let query = self.in_flight.release(slot);
        self.tally(query.client).counts.moved += 1;
        self.moved.push(Moved {
            client: query.client,
            index: query.index,
            latency_from_ns: query.latency_from_ns,
        });
    }

    /// Whether an answer is one to the query of `sending`, which has timed out.
    fn answers_late(&mut self, answer: &Answer<'_>, sending: Sending) -> bool {
        let (count, question) = self.queries.question(sending.query);
        let matched = match &mut self.dresser {
            None => answer.compare_question(count, question),
            Some(dresser) => dresser.compare_question(sending, count, question, answer),
        };
        matched != QuestionMatch::Other
    }

    /// Whether an answer is one to the query of `sending`, which is in flight.
    fn answers(&mut self, answer: &Answer<'_>, sending: Sending) -> bool {
        let (count, question) = self.queries.question(sending.query);
        let route = self.routes.of(sending.client);
        let counts = &mut self.tallies[route].counts;
        let (matched, must_ignore) = match &mut self.dresser {
            None => (answer.compare_question(count, question), false),
            Some(dresser) => {
                let found = dresser.inspect(sending, (count, question), answer, unix_time_s());
                if let Some(check) = found.tsig {
                    counts.tsig[check as usize] += 1;
                }
                if let Some(check) = found.cookie {
                    counts.cookies[check as usize] += 1;
                }
                (found.question, found.must_ignore())
            }
        };
        counts.case_changed += u64::from(matched == QuestionMatch::OtherCase);
        matched != QuestionMatch::Other && !must_ignore
    }

    /// Counts an answer that fits no query in flight.
    fn stray(&mut self, client: usize) {
        self.tally(client).counts.unmatched += 1;
    }

    fn refuse(&mut self, slot: SlotIndex, refusal: Refusal, at_ns: u64) {
        let query = self.in_flight.release(slot);
        self.end(&query, at_ns.max(query.sent_ns));
        self.tally(query.client).counts.refused[refusal as usize] += 1;
        self.refused_lately |= !refusal.pauses_client();
    }
}

impl Events for Account<'_> {
    fn answer(&mut self, client: usize, message: &[u8], received_ns: u64) {
        self.tally(client).counts.bytes_received += message.len() as u64;
        let answer = match Answer::new(message) {
            Ok(answer) => answer,
            Err(malformed) => return self.malformed(client, malformed),
        };
        let id = answer.id();
        let sending = |slot, query| Sending {
            client,
            slot,
            id,
            query,
        };
        let found = self.in_flight.find(client, id);
        let slot = match found {
            Found::InFlight(slot) => slot,
            Found::TimedOut(slot, query) => {
                if !self.answers_late(&answer, sending(slot, query)) {
                    return self.stray(client);
                }
                self.in_flight.late_answer_came(slot);
                self.tally(client).counts.late += 1;
                return;
            }
            Found::Nothing => return self.stray(client),
        };
        if !self.answers(&answer, sending(slot, self.in_flight.query(slot))) {
            return self.stray(client);
        }
        let deadline_ns = self.in_flight.sent_ns(slot) + self.timeout_ns;
        if received_ns >= deadline_ns {
            self.time_out(slot, deadline_ns);
            self.in_flight.late_answer_came(slot);
            self.tally(client).counts.late += 1;
        } else if answer.is_truncated() && self.moves_from == Some(self.routes.of(client)) {
            self.move_over(slot);
        } else {
            self.end_answered(slot, answer, message.len(), received_ns);
        }
    }

    fn refused(&mut self, client: usize, id: u16, refusal: Refusal, at_ns: u64) {
        if let Found::InFlight(slot) = self.in_flight.find(client, id) {
            self.refuse(slot, refusal, at_ns);
        }
    }

    fn all_refused(&mut self, client: usize, refusal: Refusal, at_ns: u64) {
        for slot in self.in_flight.slots_of(client) {
            if self.in_flight.len_of(client) == 0 {
                return;
            }
            if self.in_flight.is_used(slot) {
                self.refuse(slot, refusal, at_ns);
            }
        }
    }

    fn http_status(&mut self, client: usize, status: u16) {
        *self
            .tally(client)
            .counts
            .http_statuses
            .entry(status)
            .or_default() += 1;
    }

    fn malformed(&mut self, client: usize, malformed: Malformed) {
        self.tally(client).counts.malformed[malformed as usize] += 1;
    }

    fn session(&mut self, client: usize, event: SessionEvent) {
        self.tally(client).session(event);
        let sessions = self.sessions.as_mut();
        if sessions.is_some_and(|sessions| sessions.note(client, event)) {
            // When that was matters to no figure: it only lets the next attempt begin.
            self.ended.push(Ended {
                at_ns: 0,
                client,
                id: None,
            });
        }
    }
}

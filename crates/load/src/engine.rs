//! The loop of one generator thread: schedule, transport, stop condition and accounting brought together.
//!
//! It knows time only through [`Clock`] and the network only through [`Transport`], so tests drive it in virtual time.

mod held;
mod task;

pub use task::{IntervalPart, Outcome, Task, Work};

use crate::account::{Account, ClientSessions, Moved, SessionState};
use crate::choice::Pick;
use crate::clock::Clock;
use crate::memory::resident_bytes;
use crate::refusal::Refusal;
use crate::schedule::{Due, Schedule};
use crate::stop::Stopped;
use crate::tally::empty_histogram;
use crate::transport::{BATCH, Transport};
use crate::wake_up;
use hdrhistogram::Histogram;
use held::{Held, HeldQuery};
use std::sync::atomic::{AtomicBool, Ordering};

/// Length of the intervals of the series.
pub const INTERVAL_NS: u64 = 1_000_000_000;

/// Longest time without a look at the cancel flag.
const CANCEL_CHECK_NS: u64 = 100_000_000;

/// Longest drain after a cancellation, and time between two looks at the cancel flag while draining.
const CANCELLED_DRAIN_NS: u64 = 40_000_000;

/// Calls of `receive` in a row that leave something, after which time-outs wait no longer. They have taken more than the
/// kernel keeps: each takes 256 kB, or 512 datagrams, of each client that has so much.
const UNDRAINED_CALLS: u32 = 256;

/// With arrival times from the kernel, waits up to this long are slept through without being woken by each answer.
const SLEEP_THROUGH_NS: u64 = 1_000_000;

/// Nap of a closed loop whose window is full, as a part of the time that queries lately spent queueing: long enough to
/// take and send several at once, short enough that the server's queue does not run dry.
///
/// Measured with a window of 100 on loopback, CPU per query with and without: 1.4 and 1.8 us (bare echo), 1.7 and
/// 1.9 us (NSD), at the same rate.
const NAP_PART: u64 = 3;

/// Shortest nap that is worth a timer, and longest nap.
const NAP_NS: std::ops::RangeInclusive<u64> = 20_000..=50_000;

/// A query of the batch that is being sent.
struct Pending {
    slot: u32,
    id: u16,
    scheduled_ns: u64,
}

/// What the engine waits for when it cannot send at once.
enum Next {
    /// Nothing.
    Now,
    /// The time at which queries are to be sent.
    At(u64),
    /// The end of a query in flight.
    Freed,
}

/// One generator thread.
pub struct Engine<'a, S, T, C> {
    schedule: S,
    transport: T,
    clock: C,
    account: Account<'a>,
    task: Task,
    sent: u64,
    batch: Vec<Pending>,
    held: Held,
    interval: u64,
    blocked_ns: u64,
    napped_ns: u64,
    wake_up_ns: Histogram<u64>,
    /// Calls of `receive` since the last one that took all there was.
    undrained: u32,
}

impl<'a, S: Schedule, T: Transport, C: Clock> Engine<'a, S, T, C> {
    /// Brings the parts together.
    pub fn new(task: Task, schedule: S, transport: T, clock: C, account: Account<'a>) -> Self {
        Self {
            schedule,
            transport,
            clock,
            account,
            task,
            sent: 0,
            batch: Vec::with_capacity(BATCH),
            held: Held::default(),
            interval: 0,
            blocked_ns: 0,
            napped_ns: 0,
            wake_up_ns: empty_histogram(),
            undrained: 0,
        }
    }

    /// Sends until the stop condition or `cancel` says otherwise, then waits until every query has ended.
    ///
    /// Each finished interval is given to `emit`, the drain last; their tallies add up to the whole.
    pub fn run(mut self, cancel: &AtomicBool, mut emit: impl FnMut(IntervalPart)) -> Outcome {
        let wake_up_ns = wake_up::measure(&self.clock, self.task.start_ns);
        self.clock.sleep_until(self.task.start_ns);
        let cpu_start_ns = self.clock.thread_cpu_ns();
        let run_delay_start_ns = self.clock.thread_run_delay_ns();
        let (stopped, stopped_ns) = self.send_until_stopped(cancel, &mut emit);
        self.give_up_held(stopped_ns);
        let answered_before_stop = self.account.answered().to_vec();
        self.account.keep_answer_times();
        let sending_cpu_ns = self.clock.thread_cpu_ns() - cpu_start_ns;
        let run_delay_ns = self.clock.thread_run_delay_ns();
        let resident_bytes = resident_bytes();
        let sending_run_delay_ns = run_delay_ns.saturating_sub(run_delay_start_ns);
        emit(IntervalPart {
            number: Some(self.interval),
            last: true,
            end_ns: stopped_ns,
            tallies: self.account.take_tallies(),
        });
        let ended_ns = self.drain(stopped_ns, cancel);
        // Sessions that were closed with their last query are told of now.
        self.transport.flush(&self.clock, &mut self.account);
        emit(IntervalPart {
            number: None,
            last: true,
            end_ns: ended_ns,
            tallies: self.account.take_tallies(),
        });
        Outcome {
            stopped,
            stopped_ns,
            sent: self.sent,
            last_answer_ns: self.account.last_answer_ns.max(self.task.start_ns),
            answered_before_stop,
            answers_after_stop: self.account.take_answer_times(),
            ended_ns,
            blocked_ns: self.blocked_ns,
            napped_ns: self.napped_ns,
            sending_run_delay_ns,
            sending_cpu_ns,
            cpu_ns: self.clock.thread_cpu_ns() - cpu_start_ns,
            resident_bytes,
            wake_up_ns,
            wake_up_in_load_ns: self.wake_up_ns,
            transports: self.transport.totals_of_parts(),
        }
    }

    fn send_until_stopped(
        &mut self,
        cancel: &AtomicBool,
        emit: &mut impl FnMut(IntervalPart),
    ) -> (Stopped, u64) {
        loop {
            let now_ns = self.collect();
            let asked = cancel.load(Ordering::Relaxed).then_some(Stopped::Cancelled);
            let sent = self.sent - self.held.len() as u64;
            if let Some(stopped) = asked.or(self.task.stop.reached(now_ns, sent)) {
                return (stopped, now_ns);
            }
            while now_ns >= self.interval_end_ns() {
                let end_ns = self.interval_end_ns();
                emit(IntervalPart {
                    number: Some(self.interval),
                    last: false,
                    end_ns,
                    tallies: self.account.take_tallies(),
                });
                self.interval += 1;
            }
            let next = self.send(now_ns);
            self.wait(next);
        }
    }

    /// Waits until every query has ended. Once `cancel` is set, those that go on for longer than a moment are abandoned.
    fn drain(&mut self, stopped_ns: u64, cancel: &AtomicBool) -> u64 {
        let mut now_ns = stopped_ns;
        let mut cancelled_ns = None;
        while let Some(deadline_ns) = self.drain_until_ns(stopped_ns, now_ns) {
            if cancel.load(Ordering::Relaxed) {
                let since_ns = *cancelled_ns.get_or_insert(now_ns);
                if now_ns >= since_ns + CANCELLED_DRAIN_NS {
                    self.account.abandon();
                    break;
                }
            }
            let until_ns = deadline_ns.min(now_ns + CANCELLED_DRAIN_NS);
            self.transport.wait(&self.clock, until_ns);
            now_ns = self.collect();
        }
        now_ns
    }

    /// Takes what has arrived and ends what has waited too long.
    fn collect(&mut self) -> u64 {
        self.account.answers_lately = 0;
        let now_ns = self.clock.now_ns();
        let drained = self.transport.receive(&self.clock, &mut self.account);
        // What had arrived in time has been taken by now, unless more is there than one call takes: then time-outs wait,
        // but not for a server that never stops sending.
        self.undrained = if drained { 0 } else { self.undrained + 1 };
        if drained || self.undrained > UNDRAINED_CALLS {
            self.account.expire(now_ns);
        }
        let now_ns = self.clock.now_ns();
        for ended in self.account.ended.drain(..) {
            self.schedule.freed(ended.at_ns);
            if let Some(id) = ended.id {
                self.transport.query_ended(ended.client, id, &self.clock);
            }
        }
        if !self.account.moved.is_empty() {
            self.send_moved(now_ns);
        }
        if self.account.take_refused() {
            self.schedule.refused(now_ns);
        }
        now_ns
    }

    /// When the next query in flight times out; when attempts to open sessions must have ended, where those are the load.
    fn drain_until_ns(&self, stopped_ns: u64, now_ns: u64) -> Option<u64> {
        let opening_ns = stopped_ns + self.account.timeout_ns();
        let sessions = self.account.sessions();
        let is_opening = sessions.is_some_and(ClientSessions::has_opening) && now_ns < opening_ns;
        let query_ns = self.account.next_deadline_ns();
        query_ns.or(is_opening.then_some(opening_ns))
    }

    /// Does what is due, at most a batch.
    fn send(&mut self, now_ns: u64) -> Next {
        let mut count = self.send_held(now_ns);
        let next = loop {
            if count == BATCH {
                break Next::Now;
            }
            if self.sent >= self.task.stop.queries {
                break if self.held.is_empty() {
                    Next::Now
                } else {
                    Next::At(u64::MAX)
                };
            }
            let scheduled_ns = match self.schedule.next() {
                Due::At(due_ns) if due_ns <= now_ns => due_ns,
                Due::At(due_ns) => break Next::At(self.schedule.wake_ns(due_ns)),
                Due::WhenFreed => break Next::Freed,
            };
            let done = match &mut self.task.work {
                Work::Queries { .. } => self.queue_next(now_ns, scheduled_ns),
                Work::Sessions { .. } => self.open_next(),
            };
            if !done {
                if !self.holds_all() {
                    break Next::Freed;
                }
                if !self.schedule.latency_from_schedule() {
                    break Next::At(u64::MAX);
                }
                // There is nothing to open at this time.
                self.schedule.advance();
                continue;
            }
            self.schedule.advance();
            self.sent += 1;
            count += 1;
        };
        if !self.batch.is_empty() {
            self.flush();
        }
        next
    }

    /// Queues the next query; says whether it could be, or could not be but is done with.
    fn queue_next(&mut self, now_ns: u64, scheduled_ns: u64) -> bool {
        let Work::Queries { order, choice } = &mut self.task.work else {
            return false;
        };
        let Some(index) = order.next() else {
            return false;
        };
        let of_stream = self.account.client_of_stream(index);
        let client = match choice.pick(of_stream, &self.account.in_flight, &self.transport) {
            Pick::Client(client) => client,
            Pick::Wait => return false,
            Pick::Hold(route) => {
                let query = HeldQuery {
                    index,
                    scheduled_ns,
                };
                if !self.held.push(route, query) {
                    let client = choice.client_of(route);
                    self.account.turn_away(client, Refusal::NoPlace, now_ns);
                }
                choice.took();
                order.advance();
                return true;
            }
            Pick::Refused(client, refusal) => {
                self.account.turn_away(client, refusal, now_ns);
                choice.took();
                order.advance();
                return true;
            }
        };
        let Some((slot, id, message)) = self.account.begin(client, index, now_ns) else {
            return false;
        };
        self.transport.queue(client, id, message);
        self.batch.push(Pending {
            slot,
            id,
            scheduled_ns,
        });
        choice.took();
        order.advance();
        true
    }

    /// Whether sessions are to be held open, and all are or soon will be.
    fn holds_all(&self) -> bool {
        matches!(self.task.work, Work::Sessions { hold: true, .. })
            && self.account.sessions().is_some_and(ClientSessions::has_all)
    }

    /// Opens the next session, of the next client that neither is opening one nor pauses; says whether there is such a
    /// client.
    fn open_next(&mut self) -> bool {
        if self.holds_all() {
            return false;
        }
        let Work::Sessions { rotation, hold } = &mut self.task.work else {
            return false;
        };
        let Some(sessions) = self.account.sessions() else {
            return false;
        };
        let transport = &self.transport;
        let is_free = |client| match sessions.state(client) {
            SessionState::None => transport.has_room(client),
            SessionState::Opening => false,
            SessionState::Open => !*hold && transport.has_room(client),
        };
        let Some(client) = rotation.pick(is_free) else {
            return false;
        };
        self.transport.close(client, &self.clock, &mut self.account);
        self.transport.open(client, &self.clock, &mut self.account);
        true
    }

    /// Sends queries whose answer was truncated again, over TCP.
    fn send_moved(&mut self, now_ns: u64) {
        let Some(clients) = self.task.fallback.clone() else {
            return;
        };
        let mut moved = std::mem::take(&mut self.account.moved);
        for Moved {
            client,
            index,
            latency_from_ns,
        } in moved.drain(..)
        {
            let client = clients.start + client % clients.len();
            let begun = self
                .transport
                .has_room(client)
                .then(|| self.account.begin(client, index, now_ns));
            match begun.flatten() {
                Some((slot, id, message)) => {
                    self.transport.queue(client, id, message);
                    self.account.sent_again(slot, id, now_ns, latency_from_ns);
                }
                None => self.account.turn_away(client, Refusal::NoPlace, now_ns),
            }
        }
        self.account.moved = moved;
        self.transport.flush(&self.clock, &mut self.account);
    }

    /// Hands the batch to the kernel. Each query's send time is found by the place at which it left, between the times before
    /// and after, since the kernel sends them one after the other.
    fn flush(&mut self) {
        let before_ns = self.clock.now_ns();
        self.transport.flush(&self.clock, &mut self.account);
        let span_ns = self.clock.now_ns() - before_ns;
        let count = self.batch.len() as u64;
        let from_schedule = self.schedule.latency_from_schedule();
        for (index, pending) in self.batch.drain(..).enumerate() {
            let place = self.transport.sent_place(index);
            let sent_ns = before_ns + span_ns * place as u64 / count;
            let latency_from_ns = if from_schedule {
                pending.scheduled_ns
            } else {
                sent_ns
            };
            self.account.sent(
                pending.slot,
                pending.id,
                pending.scheduled_ns,
                sent_ns,
                latency_from_ns,
            );
        }
        if let Work::Queries { choice, .. } = &mut self.task.work {
            choice.end_batch();
        }
    }

    fn wait(&mut self, next: Next) {
        let now_ns = self.clock.now_ns();
        let mut until_ns = self
            .interval_end_ns()
            .min(self.task.stop.until_ns)
            .min(now_ns + CANCEL_CHECK_NS);
        if let Some(deadline_ns) = self.account.next_deadline_ns() {
            until_ns = until_ns.min(deadline_ns);
        }
        match next {
            Next::Now => return,
            Next::At(due_ns) => {
                until_ns = until_ns.min(due_ns);
                let is_short = until_ns < now_ns + SLEEP_THROUGH_NS;
                if T::STAMPS_ARRIVAL && is_short && self.held.is_empty() {
                    self.sleep(now_ns, until_ns);
                    return;
                }
            }
            Next::Freed => {
                if let Some(nap_ns) = self.nap_ns() {
                    self.napped_ns += self.sleep(now_ns, until_ns.min(now_ns + nap_ns)) - now_ns;
                } else if until_ns > now_ns {
                    self.transport.wait(&self.clock, until_ns);
                    self.blocked_ns += self.clock.now_ns() - now_ns;
                }
                return;
            }
        }
        if until_ns > now_ns {
            self.transport.wait(&self.clock, until_ns);
            if !self.held.is_empty() {
                self.blocked_ns += self.clock.now_ns() - now_ns;
            }
        }
    }

    /// Sleeps whatever arrives, and takes note of how late that ended; gives the time.
    fn sleep(&mut self, now_ns: u64, until_ns: u64) -> u64 {
        self.clock.sleep_until(until_ns);
        let woken_ns = self.clock.now_ns();
        // A time that had come before the sleep began says nothing of waking up.
        if until_ns > now_ns {
            self.wake_up_ns
                .saturating_record(woken_ns.saturating_sub(until_ns));
        }
        woken_ns
    }

    /// How long to sleep, rather than be woken by the next answer, while nothing can be sent. `None` if the last sleep
    /// brought no answer, or if queries do not queue: then each place that is free for a moment is a query less.
    fn nap_ns(&self) -> Option<u64> {
        let nap_ns = (self.account.queueing_ns() / NAP_PART).min(*NAP_NS.end());
        (self.account.answers_lately > 0 && nap_ns >= *NAP_NS.start()).then_some(nap_ns)
    }

    fn interval_end_ns(&self) -> u64 {
        self.task.start_ns + (self.interval + 1) * INTERVAL_NS
    }
}

#[cfg(test)]
mod harmful;
#[cfg(test)]
mod tests;

//! Counting queries and answers.

use domain::base::iana::OptRcode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Response codes counted one by one: 0 to 15, and BADVERS (16).
const RCODES: usize = 17;

/// What a server has received and sent since it was started. Threads add to it after each batch.
#[derive(Debug, Default)]
pub struct Counters {
    queries_udp: AtomicU64,
    queries_tcp: AtomicU64,
    unanswered: AtomicU64,
    send_errors: AtomicU64,
    transfers: AtomicU64,
    connections: AtomicU64,
    connections_refused: AtomicU64,
    answers: [AtomicU64; RCODES],
}

/// The counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountersSnapshot {
    /// Messages received over UDP.
    pub queries_udp: u64,
    /// Messages received over TCP.
    pub queries_tcp: u64,
    /// Messages that were no query and got no answer.
    pub unanswered: u64,
    /// Answers that the system refused to send.
    pub send_errors: u64,
    /// Zone transfers begun.
    pub transfers: u64,
    /// TCP connections accepted.
    pub connections: u64,
    /// TCP connections closed at once for want of room.
    pub connections_refused: u64,
    /// Answers by response code, 0 to 16, zone transfers not included.
    pub answers: [u64; RCODES],
}

/// One thread's counts since the last time it added them up; plain numbers cost nothing per query.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub counts: CountersSnapshot,
}

impl Tally {
    pub fn answered(&mut self, rcode: OptRcode) {
        if let Some(count) = self.counts.answers.get_mut(usize::from(rcode.to_int())) {
            *count += 1;
        }
    }

    /// Adds what was counted to the server's counters and begins again.
    pub fn add_to(&mut self, counters: &Counters) {
        let add = |to: &AtomicU64, count: &mut u64| {
            if *count > 0 {
                to.fetch_add(std::mem::take(count), Ordering::Relaxed);
            }
        };
        let counts = &mut self.counts;
        add(&counters.queries_udp, &mut counts.queries_udp);
        add(&counters.queries_tcp, &mut counts.queries_tcp);
        add(&counters.unanswered, &mut counts.unanswered);
        add(&counters.send_errors, &mut counts.send_errors);
        add(&counters.transfers, &mut counts.transfers);
        add(&counters.connections, &mut counts.connections);
        add(
            &counters.connections_refused,
            &mut counts.connections_refused,
        );
        for (to, count) in counters.answers.iter().zip(&mut counts.answers) {
            add(to, count);
        }
    }
}

impl Counters {
    /// The counters now.
    pub fn snapshot(&self) -> CountersSnapshot {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CountersSnapshot {
            queries_udp: get(&self.queries_udp),
            queries_tcp: get(&self.queries_tcp),
            unanswered: get(&self.unanswered),
            send_errors: get(&self.send_errors),
            transfers: get(&self.transfers),
            connections: get(&self.connections),
            connections_refused: get(&self.connections_refused),
            answers: self.answers.each_ref().map(get),
        }
    }
}

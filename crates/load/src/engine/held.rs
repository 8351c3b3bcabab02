//! Queries that were due while the transport whose turn it was had no room: they wait for it, and hold up no other.

use super::{Engine, Pending, Work};
use crate::clock::Clock;
use crate::refusal::Refusal;
use crate::schedule::Schedule;
use crate::transport::{BATCH, Transport};
use std::collections::VecDeque;

/// Queries that wait for one transport, at most: as many as one client can have in flight, twice.
const MOST: usize = 1 << 16;

/// A query that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldQuery {
    /// Its index in the stream.
    pub index: usize,
    /// When it was due.
    pub scheduled_ns: u64,
}

/// What waits for each route, in order.
#[derive(Debug, Default)]
pub struct Held {
    routes: Vec<VecDeque<HeldQuery>>,
    count: usize,
}

impl Held {
    /// The number of queries.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of routes that have ever had one.
    pub fn routes(&self) -> usize {
        self.routes.len()
    }

    /// Adds a query that waits for a route; says whether there was room.
    pub fn push(&mut self, route: usize, query: HeldQuery) -> bool {
        if self.routes.len() <= route {
            self.routes.resize_with(route + 1, VecDeque::new);
        }
        let has_room = self.routes[route].len() < MOST;
        if has_room {
            self.routes[route].push_back(query);
            self.count += 1;
        }
        has_room
    }

    /// The query that has waited for a route the longest.
    pub fn first(&self, route: usize) -> Option<HeldQuery> {
        self.routes[route].front().copied()
    }

    /// Takes that query away.
    pub fn take_first(&mut self, route: usize) -> Option<HeldQuery> {
        let first = self.routes[route].pop_front();
        self.count -= usize::from(first.is_some());
        first
    }
}

impl<S: Schedule, T: Transport, C: Clock> Engine<'_, S, T, C> {
    /// Queues what waited for a route that has room by now, at most a batch, and gives up what has waited for as long as an
    /// answer is waited for. Gives the number of queries queued.
    pub(super) fn send_held(&mut self, now_ns: u64) -> usize {
        let Work::Queries { choice, .. } = &mut self.task.work else {
            return 0;
        };
        let timeout_ns = self.account.timeout_ns();
        for route in 0..self.held.routes() {
            while let Some(query) = self.held.first(route) {
                if self.batch.len() == BATCH {
                    return BATCH;
                }
                if now_ns >= query.scheduled_ns.saturating_add(timeout_ns) {
                    let client = choice.client_of(route);
                    self.account.turn_away(client, Refusal::NoPlace, now_ns);
                    self.held.take_first(route);
                    continue;
                }
                let client = choice.pick_of(route, &self.account.in_flight, &self.transport);
                let begun = client.and_then(|client| {
                    let (slot, id, message) = self.account.begin(client, query.index, now_ns)?;
                    self.transport.queue(client, id, message);
                    Some((slot, id))
                });
                let Some((slot, id)) = begun else {
                    break;
                };
                self.batch.push(Pending {
                    slot,
                    id,
                    scheduled_ns: query.scheduled_ns,
                });
                self.held.take_first(route);
            }
        }
        self.batch.len()
    }

    /// Sending has stopped: what still waited is refused.
    pub(super) fn give_up_held(&mut self, now_ns: u64) {
        let Work::Queries { choice, .. } = &self.task.work else {
            return;
        };
        for route in 0..self.held.routes() {
            while self.held.take_first(route).is_some() {
                let client = choice.client_of(route);
                self.account.turn_away(client, Refusal::NoPlace, now_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_route_has_its_own_order_and_limit() {
        let query = |index| HeldQuery {
            index,
            scheduled_ns: 0,
        };
        let mut held = Held::default();
        for index in 0..MOST {
            assert!(held.push(1, query(index)));
        }
        assert!(!held.push(1, query(MOST)) && held.push(0, query(7)));
        assert_eq!((held.len(), held.routes()), (MOST + 1, 2));
        assert_eq!(held.first(1), Some(query(0)));
        assert_eq!(held.take_first(1), Some(query(0)));
        assert_eq!(
            (held.take_first(0), held.take_first(0)),
            (Some(query(7)), None)
        );
        assert_eq!(held.len(), MOST - 1);
    }
}

//! Sessions as the engine sees them.

use super::connection::State;
use super::{LayerFactory, Refusal, SessionEvent, Sessions};
use crate::clock::Clock;
use crate::transport::layer::Layer;
use crate::transport::timers::NEVER_NS;
use crate::transport::{Events, Obstacle, Transport, TransportTotals};
use std::os::fd::BorrowedFd;

impl<F: LayerFactory> Transport for Sessions<F> {
    const STAMPS_ARRIVAL: bool = false;

    fn clients(&self) -> usize {
        self.clients.len()
    }

    fn has_room(&self, client: usize) -> bool {
        self.clients[client].has_room(self.policy, self.now_ns)
    }

    fn obstacle(&self, client: usize) -> Obstacle {
        self.clients[client].obstacle()
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        if let Some(connection) = self.want_connection(client) {
            connection.layer.queue(id, message);
            connection.queries += 1;
        }
        let queued = &mut self.clients[client];
        queued.in_flight += 1;
        if !queued.queued {
            queued.queued = true;
            self.queued.push(client);
        }
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        self.tell_closed(events);
        let mut queued = std::mem::take(&mut self.queued);
        for index in queued.drain(..) {
            self.clients[index].queued = false;
            self.flush_client(index, clock, events);
        }
        self.queued = queued;
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        self.tell_closed(events);
        let mut drained = self.epoll.look();
        while let Some(ready) = self.epoll.next_ready() {
            drained &= self.handle(ready, clock, events);
        }
        self.now_ns = clock.now_ns();
        self.pass_time(events);
        drained
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        let until_ns = until_ns.min(self.due_ns());
        self.epoll.wait(until_ns.saturating_sub(clock.now_ns()));
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn due_ns(&self) -> u64 {
        self.timers.next_ns()
    }

    fn query_ended(&mut self, client: usize, id: u16, clock: &impl Clock) {
        let ended = &mut self.clients[client];
        ended.in_flight = ended.in_flight.saturating_sub(1);
        let Some(connection) = &mut ended.connection else {
            return;
        };
        connection.layer.query_ended(id);
        if connection.state == State::Open && ended.in_flight == 0 {
            let never_idle = self.policy.idle_ns == NEVER_NS;
            self.rest(client, if never_idle { 0 } else { clock.now_ns() });
        }
    }

    fn open(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        self.tell_closed(events);
        let now_ns = clock.now_ns();
        let idle = &self.clients[client];
        if idle.connection.is_some() || now_ns < idle.retry_ns {
            return;
        }
        if self.want_connection(client).is_some() {
            self.connect(client, now_ns, events);
        }
    }

    fn close(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        let Some(connection) = &self.clients[client].connection else {
            return;
        };
        if connection.opened {
            self.end_session(client);
            self.tell_closed(events);
        } else {
            if connection.state != State::Wanted {
                events.session(client, SessionEvent::Failed(Refusal::ConnectionLost));
            }
            self.drop_connection(client);
        }
        events.all_refused(client, Refusal::ConnectionLost, clock.now_ns());
    }

    fn totals(&self) -> TransportTotals {
        let mut wire = self.wire;
        let open = self.clients.iter().flat_map(|client| &client.connection);
        open.for_each(|connection| wire += connection.wire());
        TransportTotals {
            wire,
            ..TransportTotals::default()
        }
    }
}

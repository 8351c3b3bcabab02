//! Who sends, and what becomes of queries that nobody can take.

use super::*;
use crate::clock::Clock;
use crate::transport::{Events, TransportTotals};
use std::os::fd::BorrowedFd;

/// Clients that take no query, for these reasons; `None` takes all.
struct Obstacles(Vec<Option<Obstacle>>);

impl Transport for Obstacles {
    const STAMPS_ARRIVAL: bool = false;

    fn clients(&self) -> usize {
        self.0.len()
    }

    fn has_room(&self, client: usize) -> bool {
        self.0[client].is_none()
    }

    fn obstacle(&self, client: usize) -> Obstacle {
        self.0[client].unwrap_or(Obstacle::Busy)
    }

    fn queue(&mut self, _: usize, _: u16, _: &[u8]) {}

    fn flush(&mut self, _: &impl Clock, _: &mut impl Events) {}

    fn receive(&mut self, _: &impl Clock, _: &mut impl Events) -> bool {
        true
    }

    fn wait(&mut self, _: &impl Clock, _: u64) {}

    fn ready_fd(&self) -> BorrowedFd<'_> {
        unreachable!("only a mix of transports asks")
    }

    fn totals(&self) -> TransportTotals {
        TransportTotals::default()
    }
}

const PAUSING: Option<Obstacle> = Some(Obstacle::Pausing(Refusal::ConnectFailed));

fn two_routes(waits: bool) -> Choice {
    let routes = [(1.0, Rotation::new(0..1, 8)), (1.0, Rotation::new(1..2, 8))];
    Choice::Weighted {
        routes: Box::new(Weighted::new(routes, 1)),
        waits,
    }
}

#[test]
fn a_route_without_room_holds_up_no_other_unless_all_wait() {
    let in_flight = InFlight::new([64, 64]);
    for (obstacle, expected) in [
        (PAUSING, Pick::Refused(1, Refusal::ConnectFailed)),
        (Some(Obstacle::Busy), Pick::Hold(1)),
    ] {
        let transport = Obstacles(vec![None, obstacle]);
        let mut choice = two_routes(false);
        let mut picked = [0, 0];
        for _ in 0..1_000 {
            match choice.pick(None, &in_flight, &transport) {
                Pick::Client(0) => picked[0] += 1,
                other if other == expected => picked[1] += 1,
                other => panic!("{other:?}"),
            }
            choice.took();
        }
        assert!((490..=510).contains(&picked[0]), "{picked:?}");
        assert_eq!(choice.pick_of(0, &in_flight, &transport), Some(0));
        assert_eq!(choice.pick_of(1, &in_flight, &transport), None);
        let mut choice = two_routes(true);
        while choice.pick(None, &in_flight, &transport) == Pick::Client(0) {
            choice.took();
        }
        assert_eq!(choice.pick(None, &in_flight, &transport), Pick::Wait);
    }
}

#[test]
fn a_client_of_the_stream_is_refused_for_what_keeps_it() {
    let mut choice = Choice::Stream(vec![1, 0, 2]);
    let transport = Obstacles(vec![PAUSING, Some(Obstacle::Busy), Some(Obstacle::Spent)]);
    let mut in_flight = InFlight::new([1, 1, 1]);
    let mut pick =
        |of_stream, in_flight: &InFlight| choice.pick(Some(of_stream), in_flight, &transport);
    assert_eq!(
        pick(1, &in_flight),
        Pick::Refused(0, Refusal::ConnectFailed)
    );
    assert_eq!(pick(0, &in_flight), Pick::Refused(1, Refusal::NoPlace));
    assert_eq!(pick(2, &in_flight), Pick::Client(2));
    in_flight.take(2, 0).unwrap();
    assert_eq!(pick(2, &in_flight), Pick::Refused(2, Refusal::NoPlace));
}

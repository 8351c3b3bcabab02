//! Transports by weight, and within each its clients in turn.

use super::Rotation;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Sets these random numbers apart from others that are drawn from the same seed.
const STREAM: u64 = u32::from_be_bytes(*b"rout") as u64;

/// Spreads queries over routes so that each one's share is its weight, at any time to a few queries.
///
/// The next route is drawn by lot among those that have had less than their share, so that no route always gets the same
/// queries of a stream that begins again and again. A route whose turn it is keeps it until [`Self::took`] is called.
#[derive(Debug)]
pub struct Weighted {
    routes: Vec<Route>,
    /// The route whose turn it is.
    current: usize,
    random: ChaCha8Rng,
}

#[derive(Debug)]
struct Route {
    rotation: Rotation,
    /// Share of the queries; all add up to 1.
    share: f64,
    /// Queries that it should have had so far with the next one, less those that it has had; all add up to 1.
    owed: f64,
}

impl Weighted {
    /// Routes of these weights, above 0, and clients.
    pub fn new(routes: impl IntoIterator<Item = (f64, Rotation)>, seed: u64) -> Self {
        let mut routes: Vec<Route> = routes
            .into_iter()
            .map(|(share, rotation)| Route {
                rotation,
                share,
                owed: 0.0,
            })
            .collect();
        let sum: f64 = routes.iter().map(|route| route.share).sum();
        for route in &mut routes {
            route.share /= sum;
            route.owed = route.share;
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM << 32);
        let mut weighted = Self {
            routes,
            current: 0,
            random,
        };
        weighted.draw();
        weighted
    }

    /// The client to send the next query, or `None` if its route has no room.
    pub fn pick(&mut self, has_room: impl Fn(usize) -> bool) -> Option<usize> {
        self.pick_of(self.current, has_room)
    }

    /// The route whose turn it is.
    pub fn next_route(&self) -> usize {
        self.current
    }

    /// The client of `route` that is the next one of it.
    pub fn client_of(&self, route: usize) -> usize {
        self.routes[route].rotation.next_client()
    }

    /// The client of `route`, whose turn it need not be, to send a query, or `None` if the route has no room.
    pub fn pick_of(&mut self, route: usize, has_room: impl Fn(usize) -> bool) -> Option<usize> {
        self.routes[route].rotation.pick(has_room)
    }

    /// The picked client has got its query: it is the next route's turn.
    pub fn took(&mut self) {
        self.routes[self.current].owed -= 1.0;
        for route in &mut self.routes {
            route.owed += route.share;
        }
        self.draw();
    }

    /// The batch is over: each route's next one begins with its next client.
    pub fn end_batch(&mut self) {
        for route in &mut self.routes {
            route.rotation.end_batch();
        }
    }

    /// Draws the route whose turn it is, each with a chance as large as what it is owed.
    fn draw(&mut self) {
        let owed = |route: &Route| route.owed.max(0.0);
        let sum: f64 = self.routes.iter().map(owed).sum();
        let uniform = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut lot = uniform * sum;
        for (number, route) in self.routes.iter().enumerate() {
            if route.owed > 0.0 {
                // Rounding may leave a lot that is above all of them: then it falls on the last.
                self.current = number;
                if lot < route.owed {
                    return;
                }
                lot -= route.owed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_are_kept_to_a_few_queries(weights in proptest::collection::vec(0.01f64..10.0, 1..5), queries in 1usize..2_000, seed: u64) {
            let routes = weights.iter().enumerate().map(|(route, weight)| (*weight, Rotation::new(route..route + 1, 1)));
            let mut weighted = Weighted::new(routes, seed);
            let mut had = vec![0usize; weights.len()];
            for _ in 0..queries {
                had[weighted.pick(|_| true).unwrap()] += 1;
                weighted.took();
            }
            let sum: f64 = weights.iter().sum();
            for (had, weight) in had.iter().zip(&weights) {
                let due = queries as f64 * weight / sum;
                prop_assert!((*had as f64 - due).abs() <= 10.0, "{had} of {due}");
            }
        }
    }

    #[test]
    fn routes_do_not_lock_to_the_stream() {
        let routes = [(1.0, Rotation::new(0..1, 8)), (1.0, Rotation::new(1..2, 8))];
        let mut weighted = Weighted::new(routes, 1);
        let of_even_queries = (0..1_000).filter(|query| {
            let client = weighted.pick(|_| true).unwrap();
            weighted.took();
            query % 2 == 0 && client == 0
        });
        assert!((150..350).contains(&of_even_queries.count()));
    }

    #[test]
    fn a_full_route_keeps_its_turn() {
        let routes = [(1.0, Rotation::new(0..1, 8)), (1.0, Rotation::new(1..2, 8))];
        let mut weighted = Weighted::new(routes, 1);
        let first = weighted.pick(|_| true).unwrap();
        assert_eq!(weighted.pick(|client| client != first), None);
        assert_eq!(weighted.pick(|_| true), Some(first));
    }
}

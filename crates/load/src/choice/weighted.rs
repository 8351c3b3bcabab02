//! Transports by weight, and within each its clients in turn.

use super::Rotation;

/// Spreads queries over routes so that each one's share is its weight at any time, as even as whole queries permit.
///
/// A route whose turn it is keeps it until it has room: shares are kept, at the speed of the slowest.
#[derive(Debug)]
pub struct Weighted {
    routes: Vec<Route>,
    /// The route whose turn it is.
    current: usize,
}

#[derive(Debug)]
struct Route {
    rotation: Rotation,
    /// Share of the queries; all add up to 1.
    share: f64,
    /// Queries that it should have had so far, less those that it has had.
    owed: f64,
}

impl Weighted {
    /// Routes of these weights, above 0, and clients.
    pub fn new(routes: impl IntoIterator<Item = (f64, Rotation)>) -> Self {
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
        let mut weighted = Self { routes, current: 0 };
        weighted.current = weighted.most_owed();
        weighted
    }

    /// The client to send the next query, or `None` if its route has no room.
    pub fn pick(&mut self, has_room: impl Fn(usize) -> bool) -> Option<usize> {
        self.routes[self.current].rotation.pick(has_room)
    }

    /// The picked client has got its query: it is the next route's turn.
    pub fn took(&mut self) {
        self.routes[self.current].owed -= 1.0;
        for route in &mut self.routes {
            route.owed += route.share;
        }
        self.current = self.most_owed();
    }

    /// The batch is over: each route's next one begins with its next client.
    pub fn end_batch(&mut self) {
        for route in &mut self.routes {
            route.rotation.end_batch();
        }
    }

    fn most_owed(&self) -> usize {
        let owed = |route: usize| self.routes[route].owed;
        (1..self.routes.len()).fold(0, |most, route| {
            if owed(route) > owed(most) {
                route
            } else {
                most
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_are_kept_to_a_query(weights in proptest::collection::vec(0.01f64..10.0, 1..5), queries in 1usize..2_000) {
            let routes = weights.iter().enumerate().map(|(route, weight)| (*weight, Rotation::new(route..route + 1, 1)));
            let mut weighted = Weighted::new(routes);
            let mut had = vec![0usize; weights.len()];
            for _ in 0..queries {
                had[weighted.pick(|_| true).unwrap()] += 1;
                weighted.took();
            }
            let sum: f64 = weights.iter().sum();
            for (had, weight) in had.iter().zip(&weights) {
                let due = queries as f64 * weight / sum;
                prop_assert!((*had as f64 - due).abs() <= weights.len() as f64, "{had} of {due}");
            }
        }
    }

    #[test]
    fn a_full_route_keeps_its_turn() {
        let routes = [(1.0, Rotation::new(0..1, 8)), (1.0, Rotation::new(1..2, 8))];
        let mut weighted = Weighted::new(routes);
        assert_eq!(weighted.pick(|_| true), Some(0));
        weighted.took();
        assert_eq!(weighted.pick(|client| client == 0), None);
        assert_eq!(weighted.pick(|_| true), Some(1));
    }
}

//! Which clients belong to which route.

/// Which route, a transport to a server, each client belongs to.
#[derive(Clone, Debug)]
pub struct Routes {
    /// The first client of each route but the first, in order.
    later_first: Vec<usize>,
}

impl Routes {
    /// Routes with so many clients each, in order.
    pub fn new(clients: &[usize]) -> Self {
        let mut first = 0;
        let firsts = clients.iter().map(|count| {
            let this = first;
            first += count;
            this
        });
        Self {
            later_first: firsts.skip(1).collect(),
        }
    }

    /// The number of routes.
    pub fn count(&self) -> usize {
        self.later_first.len() + 1
    }

    /// The route of `client`.
    pub fn of(&self, client: usize) -> usize {
        let mut route = 0;
        while let Some(first) = self.later_first.get(route)
            && *first <= client
        {
            route += 1;
        }
        route
    }
}
